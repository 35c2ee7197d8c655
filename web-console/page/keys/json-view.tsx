// A JSON document: what a path finds in it, and the only match of a path in an editor.

import type { VNode } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { connection } from '../connection/state.ts';
import { showSize, utf8 } from '../parts/bytes.ts';
import { confirm } from '../parts/confirm.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { Editor } from '../parts/editor.tsx';
import { toast } from '../parts/toast.tsx';
import { type Found, isStillThere, readFound } from './json-document.ts';
import { InsideView } from './json-inside.tsx';
import { type JsonEditProps, JsonPartEdit } from './json-part-edit.tsx';
import { isNarrow, isOldForm, pathOf, ROOT, typesText } from './json-paths.ts';
import { mayLeave, unsaved } from './leaving.ts';
import { countOf } from './sizes.ts';
import { changeIf } from './transaction.ts';
import { Problem, useAction } from './use-action.tsx';
import type { ValueProps } from './value-props.ts';

export function JsonView(props: ValueProps): VNode {
  const { keyBytes } = props;
  const [typed, setTyped] = useState('');
  const [found, setFound] = useState<Found | undefined>(undefined);
  const reading = useAction();
  const load = useCallback(
    (path: string, isWanted = false) =>
      reading.run(async () => {
        setFound(undefined);
        setFound(await readFound(await connection.client(), keyBytes, path, isWanted));
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
  const type = (text: string): void => {
    setTyped(text);
    // The cross in the field emptied it: the person does not type on.
    if (text === '' && !unsaved.peek()) void show('');
  };
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
          onInput={(event) => type(event.currentTarget.value)}
        />
        <button type="submit" class="button small" disabled={reading.busy}>
          Show
        </button>
        {(found?.path ?? path) !== ROOT ? (
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
        <FoundView key={found.path} {...props} found={found} isOther={path !== found.path} onFound={setFound} onPath={(next) => void show(next)} onWanted={() => void load(found.path, true)} />
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

type FoundProps = Omit<JsonEditProps, 'remove'> & { onPath(path: string): void; onWanted(): void };

function FoundView(props: FoundProps): VNode {
  const { found, keyBytes } = props;
  const { path } = found;
  const [adding, setAdding] = useState(false);
  const deleting = useAction();
  const drop = (): Promise<void> =>
    deleting.run(async () => {
      const sure = await confirm({
        title: found.types.length === 1 ? 'Delete this part?' : 'Delete all matches?',
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
  // A path of the older form shows its first match, and would delete all of them.
  const isClear = !isOldForm(path) || isNarrow(path);
  const remove =
    path === ROOT || found.types.length === 0 || !isClear ? null : (
      <button type="button" class="button small keys-danger" disabled={deleting.busy} onClick={() => void drop()}>
        {found.types.length === 1 ? 'Delete this part' : 'Delete all matches'}
      </button>
    );
  const text = found.read === undefined ? undefined : utf8(found.read);
  return (
    <>
      {found.tooLarge === '' ? null : (
        <p class="keys-json-note">
          {found.tooLarge}{' '}
          {found.sizeBytes === undefined && !found.isWanted ? (
            <button type="button" class="button small" onClick={props.onWanted}>
              Load it
            </button>
          ) : null}
        </p>
      )}
      {found.inside === undefined ? null : <InsideView path={path} inside={found.inside} onPath={props.onPath} />}
      {found.one !== undefined || adding ? (
        <JsonPartEdit {...props} remove={remove} />
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
