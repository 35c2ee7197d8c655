// The editor of the only match of a path, or of a value for a path that finds nothing yet. Saving writes this part of the document alone.

import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { connection } from '../connection/state.ts';
import { confirm } from '../parts/confirm.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { Editor } from '../parts/editor.tsx';
import { checkJson, compactJson } from '../parts/json.ts';
import { toast } from '../parts/toast.tsx';
import type { Argument } from '../resp/reply.ts';
import { type Found, isStillThere, readFound } from './json-document.ts';
import { ROOT } from './json-paths.ts';
import { unsaved } from './leaving.ts';
import { changeIf } from './transaction.ts';
import { Problem, useAction } from './use-action.tsx';
import { useWrongLine } from './use-wrong-line.ts';
import type { ValueProps } from './value-props.ts';

export type JsonEditProps = ValueProps & {
  found: Found;
  /** The field has another path by now. */
  isOther: boolean;
  onFound(found: Found): void;
  /** A button that stands beside those of the editor. */
  remove: VNode | null;
};

export function JsonPartEdit(props: JsonEditProps): VNode {
  const { found, keyBytes } = props;
  const { path } = found;
  /** The text that is saved, as it stands in the editor. */
  const [saved, setSaved] = useState(found.one ?? '');
  const [text, setText] = useState(saved);
  /** Counts up when the editor must start again with `saved`. */
  const [round, setRound] = useState(0);
  const latest = useRef(text);
  latest.current = text;
  const saving = useAction();
  const checked = checkJson(text);
  const dirty = text !== saved;
  useEffect(() => {
    unsaved.value = dirty;
    return () => {
      unsaved.value = false;
    };
  }, [dirty]);

  const save = (): Promise<void> =>
    saving.run(async () => {
      if (!dirty) return;
      const wanted = text;
      const valid = checkJson(wanted);
      if (!valid.valid) throw new Error(valid.problem);
      const write: Argument[] = ['JSON.SET', keyBytes, path, wanted];
      const client = await connection.client();
      if ((await changeIf(keyBytes, [isStillThere(keyBytes, found)], [write])) === 'changed') {
        const sure = await confirm({
          title: 'Overwrite the newer value?',
          text:
            'The value was changed or deleted since it was read here. Saving would lose that change; ' +
            'if you cancel, your text is still here.',
          action: 'Overwrite',
          danger: true,
        });
        if (!sure) return;
        await client.call(write);
      }
      const now = await readFound(client, keyBytes, path, found.isWanted);
      // A value that was there was set, even if a filter of the path does not find it any more.
      if (now.types.length === 0 && found.types.length === 0)
        throw new Error(`Nothing was set: ${path} needs an object that it adds a member to.`);
      // The server may write a number or a character in another way, and the page shows what is stored. Blanks are not worth losing the cursor.
      const isSame = now.one !== undefined && compactJson(now.one) === compactJson(wanted);
      const base = isSame ? wanted : (now.one ?? wanted);
      setSaved(base);
      // A text that was typed during the save stays unsaved.
      if (latest.current === wanted && base !== wanted) {
        setText(base);
        setRound((count) => count + 1);
      }
      props.onFound(now);
      props.changed();
      toast('Saved');
    });
  const revert = (): void => {
    setText(saved);
    saving.clear();
    setRound((count) => count + 1);
  };
  const wrong = useWrongLine(text === '' ? { valid: true } : checked);
  return (
    <>
      <div class="keys-edit-bar">
        {props.isOther ? <span>Value at <code>{path}</code></span> : null}
        <span role="status" class={checked.valid || text === '' ? 'keys-faint' : 'keys-problem'}>
          {text === '' ? 'Write a value: a number, a text in double quotes, an object …' : checked.valid ? 'Valid JSON' : checked.problem}
        </span>
      </div>
      <Editor
        key={round}
        text={text}
        label="Value as JSON"
        language="json"
        wrong={wrong}
        onText={setText}
        onSave={() => void save()}
      />
      <div class="keys-save">
        <button type="button" class="button small primary" disabled={!dirty || !checked.valid || saving.busy} onClick={() => void save()}>
          Save
        </button>
        <button type="button" class="button small" disabled={!dirty} onClick={revert}>
          Discard changes
        </button>
        {props.remove}
        <CopyButton text={() => latest.current} label="Copy the value" />
        {dirty ? (
          <span class="keys-faint">{path === ROOT ? 'Not saved' : `Not saved; only ${path} is written`}</span>
        ) : null}
      </div>
      <Problem text={saving.problem} />
    </>
  );
}
