// A library: its functions, its code, and the forms that change or delete it.

import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Library, LibraryFunction } from '../connection/function-list.ts';
import { utf8 } from '../parts/bytes.ts';
import { confirm } from '../parts/confirm.tsx';
import { Editor } from '../parts/editor.tsx';
import { Icon } from '../parts/icon.tsx';
import * as format from '../parts/format.ts';
import { toast } from '../parts/toast.tsx';
import { problemOf } from '../resp/values.ts';
import { choose as chooseFunction } from './call.tsx';
import { discard, drafts, keep, NEW } from './drafts.ts';
import { load, loadChanged } from './load.ts';
import { isText, lineOf, moduleSize, nameIn } from './model.ts';
import { ModuleForm } from './module.tsx';
import { change, read } from './store.ts';

/** A library to begin with. */
const EXAMPLE = `#!lua name=mylib

redis.register_function{
  function_name = 'add',
  description = 'Adds a number to a key',
  callback = function(keys, args)
    return redis.call('INCRBY', keys[1], args[1])
  end,
}
`;

type Choose = (name: string | undefined) => void;

export function NewLibrary({ choose }: { choose: Choose }): VNode {
  return (
    <section class="live-panel" aria-label="New library">
      <header>
        <h2>New library</h2>
      </header>
      <CodeForm library={undefined} shown={EXAMPLE} choose={choose} />
    </section>
  );
}

export function LibraryPanel({ library, choose }: { library: Library; choose: Choose }): VNode {
  return (
    <section class="live-panel" aria-label={library.name}>
      <header>
        <h2>{library.name}</h2>
        <span class="functions-engine">{library.engine}</span>
        <span class="tools">
          <button type="button" class="button small" onClick={() => void remove(library).then((isGone) => isGone && choose(undefined))}>
            <Icon name="trash" /> Delete
          </button>
        </span>
      </header>
      <Members functions={library.functions} />
      <Code library={library} choose={choose} />
    </section>
  );
}

async function remove(library: Library): Promise<boolean> {
  const names = library.functions.map(({ name }) => name).join(', ');
  const text = `Its functions are gone for every client: ${names}`;
  if (!(await confirm({ title: `Delete ${library.name}?`, text, action: 'Delete', danger: true }))) return false;
  try {
    await change(['FUNCTION', 'DELETE', library.name]);
    discard(library.name);
    toast(`${library.name} is deleted.`);
    return true;
  } catch (error) {
    toast(problemOf(error), 'error');
    return false;
  }
}

function Members({ functions }: { functions: LibraryFunction[] }): VNode {
  return (
    <ul class="functions-list" aria-label="Functions of the library">
      {functions.map((each) => (
        <li key={each.name} class="functions-member">
          <code class="functions-name">{each.name}</code>
          <span class="functions-flags">{each.flags.join(' · ')}</span>
          <button type="button" class="button small" aria-label={`Choose ${each.name} to call it`} onClick={() => callNext(each)}>
            Call…
          </button>
          {each.description !== '' && <span class="functions-description">{each.description}</span>}
        </li>
      ))}
    </ul>
  );
}

/** Puts a function into the form below, and the focus on its keys. */
function callNext(each: LibraryFunction): void {
  chooseFunction(each);
  document.querySelector<HTMLInputElement>('.functions-call input')?.focus();
}

/** The code of a library, read when it is first shown. */
function Code({ library, choose }: { library: Library; choose: Choose }): VNode {
  const [code, setCode] = useState<Uint8Array>();
  const [problem, setProblem] = useState('');
  /** Counts up when the code is read again, which makes a new editor. */
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isWanted = true;
    read(library.name).then(
      (found) => isWanted && setCode(found?.code ?? new Uint8Array()),
      (error: unknown) => isWanted && setProblem(problemOf(error)),
    );
    return () => {
      isWanted = false;
    };
  }, [round]);
  if (problem !== '') return <p class="nothing bad" role="alert">{problem}</p>;
  if (!code) return <p class="nothing" aria-busy="true">Loading…</p>;
  const again = () => {
    setCode(undefined);
    setRound((now) => now + 1);
  };
  if (!isText(library.engine)) {
    return (
      <>
        <p class="nothing">A module of {format.bytes(moduleSize(code))}.</p>
        <ModuleForm name={library.name} loaded={again} />
      </>
    );
  }
  const text = utf8(code);
  if (text === undefined) return <p class="nothing">Its code of {format.bytes(code.length)} is not UTF-8, so it cannot be edited here.</p>;
  return <CodeForm key={round} library={library} shown={text} choose={choose} discarded={again} />;
}

/** The editor of Lua code. `shown` is the code that the server has, or an example for a new library; it is read once. */
function CodeForm(props: { library: Library | undefined; shown: string; choose: Choose; discarded?(): void }): VNode {
  const { library } = props;
  const key = library?.name ?? NEW;
  const [start] = useState(() => drafts.value.get(key));
  const [shown, setShown] = useState(start?.shown ?? props.shown);
  const [problem, setProblem] = useState('');
  const [wrong, setWrong] = useState<{ line: number }>();
  const [isBusy, setBusy] = useState(false);
  const [isLoaded, setLoaded] = useState(false);
  const draft = drafts.value.get(key);
  const save = async () => {
    if (isBusy) return;
    const source = drafts.value.get(key)?.text ?? shown;
    setBusy(true);
    setProblem('');
    setWrong(undefined);
    setLoaded(false);
    try {
      // Under another name it is another library: the one that is shown stays.
      const isSame = library !== undefined && nameIn(source) === library.name;
      const name = await (isSame ? loadChanged(library.name, source, shown) : load(source));
      if (name !== undefined) {
        // What was typed while the server answered stays a draft.
        const typed = drafts.value.get(key)?.text ?? source;
        if (typed === source) discard(key);
        else if (isSame) keep(key, { text: typed, shown: source });
        if (isSame) {
          setShown(source);
          setLoaded(true);
        } else {
          toast(`${name} is loaded.`);
          props.choose(name);
        }
      }
    } catch (error) {
      const text = problemOf(error);
      const line = lineOf(text);
      setProblem(line === undefined ? text : `Line ${line}: ${text}`);
      if (line !== undefined) setWrong({ line });
    } finally {
      setBusy(false);
    }
  };
  return (
    <div class="functions-code">
      <Editor
        text={start?.text ?? props.shown}
        label={library ? `Code of ${library.name}` : 'Code of the new library'}
        language="lua"
        wrong={wrong}
        onText={(text) => (text === shown && library ? discard(key) : keep(key, { text, shown: library && shown }))}
        onSave={() => void save()}
      />
      {problem !== '' && <p class="bad" role="alert">{problem}</p>}
      <div class="form-end">
        <output>{isLoaded && !draft && 'Loaded.'}</output>
        {draft && props.discarded && (
          <button type="button" class="button" onClick={() => { discard(key); props.discarded?.(); }}>
            Discard changes
          </button>
        )}
        <button type="button" class="button primary" disabled={isBusy || (library !== undefined && !draft)} onClick={() => void save()}>
          {library ? 'Load changes' : 'Load'}
        </button>
      </div>
    </div>
  );
}
