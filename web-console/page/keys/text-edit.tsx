// The editors of a whole string: text, JSON, hexadecimal. Each starts with bytes and reports after every change the
// bytes of its content, or the mistake in it.

import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { draftBytes, draftOf, switched, type Draft } from './drafts.ts';
import { plainText } from './escapes.ts';
import { hexBytes, hexText } from './hexadecimal.ts';
import { Editor } from '../parts/editor.tsx';
import { checkJson, compactJson, prettyJson } from '../parts/json.ts';
import { PART_BYTES } from './ranges.ts';
import { problemIn } from './replies.ts';
import { useWrongLine } from './use-wrong-line.ts';

export type Edited = Uint8Array | Error;
export type EditProps = { bytes: Uint8Array; onEdit(edited: Edited): void; onSave(): void };

export function TextEdit(props: EditProps): VNode {
  const [draft, setDraft] = useState<Draft>(() => draftOf(props.bytes, 'many'));
  const [round, setRound] = useState(0);
  const [problem, setProblem] = useState('');
  const onText = (text: string): void => {
    const next = { ...draft, text };
    setDraft(next);
    props.onEdit(tried(() => draftBytes(next)));
    setProblem('');
  };
  const flip = (): void => {
    try {
      if (draft.text.length > PART_BYTES)
        throw new Error('This text is too long to be written with escapes.');
      setDraft(switched(draft, 'many'));
      setRound((now) => now + 1);
      setProblem('');
    } catch (error) {
      setProblem(problemIn(error));
    }
  };
  return (
    <>
      <div class="keys-edit-bar">
        <label class="keys-switch" title="\n, \xff and the like stand for bytes, as in redis-cli">
          <input
            type="checkbox"
            checked={draft.escapes}
            onClick={(event) => {
              event.preventDefault();
              flip();
            }}
          />
          escapes
        </label>
        {problem === '' ? null : (
          <span class="keys-problem" role="alert">
            {problem}
          </span>
        )}
      </div>
      <Editor
        key={round}
        text={draft.text}
        label="Value"
        language="none"
        onText={onText}
        onSave={props.onSave}
      />
    </>
  );
}

export function JsonEdit(props: EditProps): VNode {
  const [start] = useState(() => {
    const text = plainText(props.bytes);
    const valid = text !== undefined && checkJson(text).valid;
    return { text: valid ? prettyJson(text) : text, compact: valid && compactJson(text) === text };
  });
  const [text, setText] = useState(start.text ?? '');
  const checked = checkJson(text);
  const wrong = useWrongLine(checked);
  if (start.text === undefined) return <p class="keys-empty">This value is not text, so it cannot be JSON.</p>;
  const onText = (next: string): void => {
    setText(next);
    // A compact document is saved compact, though it is shown over several lines.
    const compact = start.compact && checkJson(next).valid;
    props.onEdit(new TextEncoder().encode(compact ? compactJson(next) : next));
  };
  return (
    <>
      <div class="keys-edit-bar">
        <span role="status" class={checked.valid ? 'keys-faint' : 'keys-problem'}>
          {checked.valid ? `Valid JSON${start.compact ? ', saved without spaces' : ''}` : checked.problem}
        </span>
      </div>
      <Editor text={start.text} label="Value as JSON" language="json" wrong={wrong} onText={onText} onSave={props.onSave} />
    </>
  );
}

export function HexEdit(props: EditProps): VNode {
  const [text, setText] = useState(() => hexText(props.bytes));
  return (
    <textarea
      class="keys-hex-edit"
      aria-label="Value in hexadecimal"
      spellcheck={false}
      value={text}
      rows={Math.max(4, Math.min(20, text.split('\n').length + 1))}
      onInput={(event) => {
        setText(event.currentTarget.value);
        props.onEdit(tried(() => hexBytes(event.currentTarget.value)));
      }}
    />
  );
}

function tried(work: () => Uint8Array): Edited {
  try {
    return work();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
