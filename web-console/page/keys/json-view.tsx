// A JSON document: what a path finds in it, and the only match of a path in an editor. Saving writes the match alone.

import type { VNode } from 'preact';
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { connection } from '../connection/state.ts';
import { showSize, utf8 } from '../parts/bytes.ts';
import { confirm } from '../parts/confirm.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { Editor } from '../parts/editor.tsx';
import { checkJson, compactJson } from '../parts/json.ts';
import { toast } from '../parts/toast.tsx';
import type { Argument } from '../resp/reply.ts';
import { type Found, getCommand, readFound, typesIn } from './json-document.ts';
import { InsideView } from './json-inside.tsx';
import { isOldForm, pathOf, ROOT, typesText } from './json-paths.ts';
import { mayLeave, unsaved } from './leaving.ts';
import { sameBytes } from './names.ts';
import { bytesOrNone } from './replies.ts';
import { countOf } from './sizes.ts';
import { changeIf, type Check } from './transaction.ts';
import { Problem, useAction } from './use-action.tsx';
import type { ValueProps } from './value-props.ts';

export function JsonView(props: ValueProps): VNode {
  const { keyBytes } = props;
  const [typed, setTyped] = useState('');
  const [found, setFound] = useState<Found | undefined>(undefined);
  const reading = useAction();
  const load = useCallback(
    (path: string) =>
      reading.run(async () => {
        setFound(undefined);
        setFound(await readFound(await connection.client(), keyBytes, path));
      }),
    [],
  );
  useEffect(() => void load(ROOT), []);
  const show = async (text: string): Promise<void> => {
    if (!(await mayLeave())) return;
    setTyped(text);
    void load(pathOf(text));
  };
  const path = pathOf(typed);
  return (
    <div class="keys-value">
      <form
        class="keys-bar"
        role="search"
        onSubmit={(event) => {
          event.preventDefault();
          void show(typed);
        }}
      >
        <input
          type="search"
          class="input keys-grow keys-json-path"
          aria-label="Path"
          placeholder="Whole document, or a path: $.items[?@.price < 10]"
          title="A JSONPath (RFC 9535) such as $..name, or RedisJSON's older form such as .items[0].name"
          value={typed}
          spellcheck={false}
          autocomplete="off"
          autocapitalize="off"
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <button type="submit" class="button small" disabled={reading.busy}>
          Show
        </button>
        {found !== undefined && found.path !== ROOT ? (
          <button type="button" class="button small" onClick={() => void show('')}>
            Whole document
          </button>
        ) : null}
        <span class="keys-faint" role="status">
          {found === undefined ? '' : summaryOf(found)}
        </span>
      </form>
      <Problem text={reading.problem} />
      {found === undefined ? null : (
        <FoundView key={found.path} {...props} found={found} isOther={path !== found.path} onFound={setFound} onPath={(next) => void show(next)} />
      )}
    </div>
  );
}

function summaryOf(found: Found): string {
  const { types, sizeBytes } = found;
  if (types.length === 0) return 'No match';
  const size = sizeBytes === undefined ? '' : `, ${showSize(sizeBytes)}`;
  // The server answers to the older form with its first match only.
  const count = isOldForm(found.path) ? 'First match' : countOf(types.length, 'match', 'matches');
  return `${count}: ${typesText(types)}${size}`;
}

type FoundProps = ValueProps & { found: Found; isOther: boolean; onFound(found: Found): void; onPath(path: string): void };

function FoundView(props: FoundProps): VNode {
  const { found, keyBytes } = props;
  const { path } = found;
  const [adding, setAdding] = useState(false);
  const deleting = useAction();
  const drop = (): Promise<void> =>
    deleting.run(async () => {
      const sure = await confirm({
        title: 'Delete this part?',
        text: `What ${path} finds is taken out of the document: ${summaryOf(found)}.`,
        action: 'Delete',
        danger: true,
      });
      if (!sure) return;
      if ((await changeIf(keyBytes, [isStillThere(keyBytes, found)], [['JSON.DEL', keyBytes, path]])) === 'changed')
        throw new Error('The value was changed since it was read here. Show it again before you delete it.');
      unsaved.value = false;
      toast('Deleted');
      props.changed();
      props.onPath('');
    });
  const remove =
    path === ROOT || found.types.length === 0 ? null : (
      <button type="button" class="button small keys-danger" disabled={deleting.busy} onClick={() => void drop()}>
        Delete this part
      </button>
    );
  const text = found.read === undefined ? undefined : utf8(found.read);
  return (
    <>
      {found.tooLarge === '' ? null : <p class="keys-json-note">{found.tooLarge}</p>}
      {found.inside === undefined ? null : <InsideView path={path} inside={found.inside} onPath={props.onPath} />}
      {found.one !== undefined || adding ? (
        <OneEdit {...props} remove={remove} />
      ) : (
        <>
          {text === undefined ? null : <Editor text={text} label="Matches" language="json" isReadOnly onText={() => undefined} onSave={() => undefined} />}
          {found.types.length === 0 ? (
            <p class="keys-empty">
              Nothing is there.{' '}
              {path === ROOT ? null : (
                <button type="button" class="button small" onClick={() => setAdding(true)}>
                  Put a value there
                </button>
              )}
            </p>
          ) : null}
          <div class="keys-save">
            {remove}
            {text === undefined ? null : <CopyButton text={() => text} label="Copy the matches" />}
            {found.types.length > 1 || (found.read !== undefined && found.types.length === 1) ? (
              <span class="keys-faint">To edit a value, choose a path that finds it alone.</span>
            ) : null}
          </div>
        </>
      )}
      <Problem text={deleting.problem} />
    </>
  );
}

/** Whether the path still finds what is shown; of values that are not loaded, whether it finds as many of the same types. */
function isStillThere(key: Uint8Array, found: Found): Check {
  const { read, path, types } = found;
  if (read === undefined) {
    return {
      command: ['JSON.TYPE', key, path],
      same: (reply) => {
        const now = typesIn(reply);
        return now.length === types.length && now.every((type, at) => type === types[at]);
      },
    };
  }
  return {
    command: getCommand(key, path),
    same: (reply) => {
      const now = bytesOrNone(reply);
      return now !== undefined && sameBytes(now, read);
    },
  };
}

/** Edits the only match of a path, or a value for a path that finds nothing yet. */
function OneEdit(props: FoundProps & { remove: VNode | null }): VNode {
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
      const now = await readFound(client, keyBytes, path);
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
  const line = checked.valid || text === '' ? undefined : checked.line;
  const wrong = useLine(line);
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

/** The line to mark, as an object that stays the same while the line does. */
function useLine(line: number | undefined): { line: number; isTyped: true } | undefined {
  const last = useRef<{ line: number; isTyped: true } | undefined>(undefined);
  if (last.current?.line !== line) last.current = line === undefined ? undefined : { line, isTyped: true };
  return last.current;
}
