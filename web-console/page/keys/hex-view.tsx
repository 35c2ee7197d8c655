// The bytes of a string in hexadecimal, sixteen a line, and a form that overwrites a part of it in place.

import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { toast } from '../parts/toast.tsx';
import { hexBytes, hexLine, hexLines } from './hexadecimal.ts';
import { sameBytes } from './names.ts';
import { isWhole, type Part } from './ranges.ts';
import { bytesIn, numberIn } from './replies.ts';
import { changeIf } from './transaction.ts';
import { Problem, useAction } from './use-action.tsx';
import { useWindow } from './use-window.ts';

const LINE_HEIGHT = 20;

export function HexView(props: {
  part: Part;
  keyBytes: Uint8Array;
  mayEdit: boolean;
  mayOverwrite: boolean;
  onEdit(): void;
  onWritten(): void;
}): VNode {
  const { part } = props;
  const view = useWindow(hexLines(part.bytes.length), LINE_HEIGHT);
  const [overwriting, setOverwriting] = useState(false);
  const lines: VNode[] = [];
  for (let line = view.first; line < view.end; line += 1) {
    const { offset, digits, characters } = hexLine(part.bytes, line, part.from);
    lines.push(
      <div key={line} class="keys-hex-line">
        <span class="keys-faint">{offset}</span>
        {'  '}
        {digits}
        {'  '}
        <span class="keys-hex-characters">{characters}</span>
      </div>,
    );
  }
  return (
    <>
      <div
        class="keys-hex"
        tabIndex={0}
        role="group"
        aria-label="Value in hexadecimal"
        ref={view.element}
        onScroll={view.onScroll}
      >
        <div class="keys-spacer" style={{ height: `${view.height}px` }}>
          <div class="keys-window" style={{ transform: `translateY(${view.top}px)` }}>
            {lines}
          </div>
        </div>
      </div>
      <div class="keys-form-row">
        {props.mayEdit ? (
          <button type="button" class="button small" onClick={props.onEdit}>
            Edit digits
          </button>
        ) : null}
        {props.mayOverwrite ? (
          <button
            type="button"
            class="button small"
            aria-expanded={overwriting}
            onClick={() => setOverwriting(!overwriting)}
          >
            Overwrite a part
          </button>
        ) : null}
      </div>
      {overwriting && props.mayOverwrite ? (
        <Overwrite part={part} keyBytes={props.keyBytes} onWritten={props.onWritten} />
      ) : null}
    </>
  );
}

/** Overwrites shown bytes with SETRANGE, if the server still has the same ones. */
function Overwrite(props: { part: Part; keyBytes: Uint8Array; onWritten(): void }): VNode {
  const { part, keyBytes } = props;
  const [offset, setOffset] = useState(String(part.from));
  const [digits, setDigits] = useState('');
  const action = useAction();
  const end = part.from + part.bytes.length;
  const write = (): Promise<void> =>
    action.run(async () => {
      const at = Number(offset.trim());
      if (!/^\d+$/.test(offset.trim()) || at < part.from || at > end) {
        throw new Error(
          `Write a byte number from ${part.from} to ${end}: only shown bytes can be overwritten.`,
        );
      }
      const bytes = hexBytes(digits);
      if (bytes.length === 0) throw new Error('Write the new bytes in hexadecimal.');
      if (at + bytes.length > end && !(part.from === 0 && isWhole(part)) && end < part.total) {
        throw new Error(`These bytes go beyond ${end}: load more first.`);
      }
      const old = part.bytes.subarray(at - part.from, at - part.from + bytes.length);
      const written = await changeIf(
        keyBytes,
        [
          { command: ['STRLEN', keyBytes], same: (reply) => numberIn(reply) === part.total },
          {
            command: ['GETRANGE', keyBytes, String(at), String(at + bytes.length - 1)],
            same: (reply) => sameBytes(bytesIn(reply), old),
          },
        ],
        [['SETRANGE', keyBytes, String(at), bytes]],
      );
      if (written === 'changed') {
        throw new Error(
          'The value has changed since it was read, so nothing was written. Refresh to see it.',
        );
      }
      toast('Saved');
      props.onWritten();
    });
  return (
    <form
      class="keys-form"
      onSubmit={(event) => {
        event.preventDefault();
        void write();
      }}
    >
      <div class="keys-form-row">
        <label class="keys-field keys-narrow">
          <span>At byte</span>
          <input
            type="text"
            class="input"
            inputMode="numeric"
            value={offset}
            onInput={(event) => setOffset(event.currentTarget.value)}
          />
        </label>
        <label class="keys-field">
          <span>Bytes in hexadecimal</span>
          <input
            type="text"
            class="input keys-bytes"
            value={digits}
            placeholder="00 ff 41"
            onInput={(event) => setDigits(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="button small primary" disabled={action.busy}>
          Overwrite
        </button>
      </div>
      <Problem text={action.problem} />
    </form>
  );
}
