// A string as text, JSON, hexadecimal or image. Only its first part is read until the person asks for more.

import type { VNode } from 'preact';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { connection } from '../connection/state.ts';
import { showSize } from '../parts/bytes.ts';
import { confirm } from '../parts/confirm.tsx';
import { toast } from '../parts/toast.tsx';
import { escaped, plainText } from './escapes.ts';
import { HexView } from './hex-view.tsx';
import { ImageView } from './image-view.tsx';
import { imageType } from './image.ts';
import { looksLikeJson } from '../parts/json.ts';
import { unsaved } from './leaving.ts';
import { sameBytes } from './names.ts';
import {
  EDIT_MAX_BYTES,
  isWhole,
  PART_BYTES,
  readOn,
  readPart,
  readWhole,
  trimmed,
  type Part,
  VIEW_MAX_BYTES,
} from './ranges.ts';
import { bytesOrNone } from './replies.ts';
import { HexEdit, JsonEdit, TextEdit, type Edited } from './text-edit.tsx';
import { changeIf } from './transaction.ts';
import { Problem, useAction } from './use-action.tsx';
import type { ValueProps } from './value-props.ts';

type Mode = 'text' | 'json' | 'hex' | 'image';

export function StringView(props: ValueProps): VNode {
  const { keyBytes } = props;
  const [part, setPart] = useState<Part | undefined>(undefined);
  const [mode, setMode] = useState<Mode>('text');
  /** Counts up when the editors must start again with the value. */
  const [round, setRound] = useState(0);
  const [edited, setEdited] = useState<Edited | undefined>(undefined);
  const [editingHex, setEditingHex] = useState(false);
  const reading = useAction();
  const saving = useAction();

  const load = useCallback(
    (read: () => Promise<Part>, first = false) =>
      reading.run(async () => {
        const next = await read();
        setPart(next);
        setEdited(undefined);
        setRound((now) => now + 1);
        if (first) setMode(bestMode(next));
      }),
    [],
  );
  useEffect(() => {
    void load(async () => readPart(await connection.client(), keyBytes, 0, PART_BYTES), true);
  }, []);

  const start = part?.bytes ?? new Uint8Array(0);
  const editable = part !== undefined && isWhole(part) && part.total <= EDIT_MAX_BYTES;
  // Long binary values are hard to read as escapes, and typing among them would be slow.
  const asText = useMemo(() => start.length <= PART_BYTES || plainText(start) !== undefined, [part]);
  const dirty = edited !== undefined && (edited instanceof Error || !sameBytes(edited, start));
  const content = edited instanceof Error || edited === undefined ? start : edited;

  useEffect(() => {
    unsaved.value = dirty;
    return () => {
      unsaved.value = false;
    };
  }, [dirty]);

  const show = (next: Mode): void => {
    saving.clear();
    if (edited instanceof Error) {
      void saving.run(() => Promise.reject(edited));
      return;
    }
    setMode(next);
    setEditingHex(false);
  };
  const save = (): Promise<void> =>
    saving.run(async () => {
      if (edited === undefined || !editable) return;
      if (edited instanceof Error) throw edited;
      const write = ['SET', keyBytes, edited, 'KEEPTTL'];
      const check = {
        command: ['GET', keyBytes],
        same: (reply: Parameters<typeof bytesOrNone>[0]) => {
          const now = bytesOrNone(reply);
          return now !== undefined && sameBytes(now, start);
        },
      };
      if ((await changeIf(keyBytes, [check], [write])) === 'changed') {
        const sure = await confirm({
          title: 'Overwrite the newer value?',
          text:
            'The value was changed or deleted since it was read here. Saving would lose that change; ' +
            'if you cancel, your text is still here.',
          action: 'Overwrite',
          danger: true,
        });
        if (!sure) return;
        await (await connection.client()).call(write);
      }
      setPart({ from: 0, bytes: edited, total: edited.length });
      // A text that was typed during the save stays unsaved.
      setEdited((now) => (now === edited ? undefined : now));
      props.changed();
      toast('Saved');
    });
  const revert = (): void => {
    setEdited(undefined);
    saving.clear();
    setRound((now) => now + 1);
  };

  if (part === undefined) return <Problem text={reading.problem} />;
  const editor = { bytes: content, onEdit: setEdited, onSave: () => void save() };
  return (
    <div class="keys-value">
      <Tabs mode={mode} image={imageType(start) !== undefined} onMode={show} />
      <div class="keys-content" role="tabpanel">
        {mode === 'text' && editable && asText ? <TextEdit key={round} {...editor} /> : null}
        {mode === 'text' && !(editable && asText) ? <TextPart part={part} /> : null}
        {mode === 'text' && editable && !asText ? (
          <p class="keys-faint">
            These bytes are not text: the first {showSize(PART_BYTES)} are shown with escapes, and Hex edits
            them.
          </p>
        ) : null}
        {mode === 'json' ? (
          editable ? (
            <JsonEdit key={round} {...editor} />
          ) : (
            <p class="keys-empty">JSON is checked once the whole value is loaded.</p>
          )
        ) : null}
        {mode === 'hex' ? (
          editingHex && editable ? (
            <HexEdit key={round} {...editor} />
          ) : (
            <HexView
              part={{ ...part, bytes: content }}
              keyBytes={keyBytes}
              mayEdit={editable && content.length <= PART_BYTES}
              mayOverwrite={!dirty}
              onEdit={() => setEditingHex(true)}
              onWritten={() => {
                props.changed();
                void load(async () =>
                  readPart(
                    await connection.client(),
                    keyBytes,
                    part.from,
                    Math.max(PART_BYTES, start.length),
                  ),
                );
              }}
            />
          )
        ) : null}
        {mode === 'image' ? <ImageView keyBytes={keyBytes} start={start} /> : null}
      </div>
      {mode === 'image' ? null : (
        <Parts part={part} busy={reading.busy} load={(read) => void load(read)} keyBytes={keyBytes} />
      )}
      <Problem text={reading.problem} />
      {editable && mode !== 'image' ? (
        <div class="keys-save">
          <button
            type="button"
            class="button small primary"
            disabled={!dirty || saving.busy}
            onClick={() => void save()}
          >
            Save
          </button>
          <button type="button" class="button small" disabled={!dirty} onClick={revert}>
            Discard changes
          </button>
          {dirty ? (
            <span class="keys-faint">
              {edited instanceof Error ? edited.message : `${showSize(content.length)}, not saved`}
            </span>
          ) : null}
        </div>
      ) : null}
      <Problem text={saving.problem} />
    </div>
  );
}

function bestMode(part: Part): Mode {
  const whole = isWhole(part);
  if (imageType(part.bytes) !== undefined) return 'image';
  const text = plainText(trimmed(part));
  if (text === undefined) return whole && part.bytes.length < 200 ? 'text' : 'hex';
  return whole && looksLikeJson(text) ? 'json' : 'text';
}

const MODES: [Mode, string][] = [
  ['text', 'Text'],
  ['json', 'JSON'],
  ['hex', 'Hex'],
  ['image', 'Image'],
];

function Tabs(props: { mode: Mode; image: boolean; onMode(mode: Mode): void }): VNode {
  const modes = MODES.filter(([mode]) => mode !== 'image' || props.image);
  const list = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    const at = modes.findIndex(([mode]) => mode === props.mode);
    const next = modes[(at + step + modes.length) % modes.length];
    if (step === 0 || next === undefined) return;
    event.preventDefault();
    props.onMode(next[0]);
    list.current?.querySelectorAll('button')[modes.indexOf(next)]?.focus();
  };
  return (
    <div class="keys-tabs" role="tablist" aria-label="Show the value as" ref={list} onKeyDown={move}>
      {modes.map(([mode, title]) => (
        <button
          key={mode}
          type="button"
          role="tab"
          aria-selected={mode === props.mode}
          tabIndex={mode === props.mode ? 0 : -1}
          onClick={() => props.onMode(mode)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}

/** A part of a text, read-only. */
function TextPart(props: { part: Part }): VNode {
  const bytes = trimmed(props.part);
  return (
    <pre class="keys-text" tabIndex={0} aria-label="Value">
      {plainText(bytes) ?? escaped(bytes.subarray(0, PART_BYTES))}
    </pre>
  );
}

function Parts(props: {
  part: Part;
  keyBytes: Uint8Array;
  busy: boolean;
  load(read: () => Promise<Part>): void;
}): VNode | null {
  const { part, keyBytes } = props;
  const [from, setFrom] = useState('');
  if (isWhole(part) && part.total <= EDIT_MAX_BYTES) return null;
  const end = part.from + part.bytes.length;
  const more = (): void =>
    props.load(async () => {
      const client = await connection.client();
      return part.bytes.length + PART_BYTES <= VIEW_MAX_BYTES
        ? readOn(client, keyBytes, part, PART_BYTES)
        : readPart(client, keyBytes, end, PART_BYTES);
    });
  return (
    <div class="keys-parts">
      <p>
        Bytes {part.from.toLocaleString('en-US')} to {end.toLocaleString('en-US')} of{' '}
        {part.total.toLocaleString('en-US')}.{' '}
        {part.total > EDIT_MAX_BYTES
          ? `Values over ${showSize(EDIT_MAX_BYTES)} are not edited as a whole; Hex overwrites parts (SETRANGE).`
          : 'Load all to edit it.'}
      </p>
      <div class="keys-form-row">
        <button type="button" class="button small" disabled={props.busy || end >= part.total} onClick={more}>
          Load more
        </button>
        {part.total <= EDIT_MAX_BYTES ? (
          <button
            type="button"
            class="button small"
            disabled={props.busy}
            onClick={() => props.load(async () => readWhole(await connection.client(), keyBytes))}
          >
            Load all
          </button>
        ) : (
          <form
            class="keys-jump"
            onSubmit={(event) => {
              event.preventDefault();
              const wanted = Number(from);
              if (!/^\d+$/.test(from) || wanted >= part.total) return;
              props.load(async () => readPart(await connection.client(), keyBytes, wanted, PART_BYTES));
            }}
          >
            <label>
              From byte{' '}
              <input
                type="text"
                class="input"
                inputMode="numeric"
                value={from}
                pattern="\d+"
                onInput={(event) => setFrom(event.currentTarget.value)}
              />
            </label>
            <button type="submit" class="button small" disabled={props.busy}>
              Go
            </button>
          </form>
        )}
      </div>
    </div>
  );
}
