// Loads a WebAssembly library from a file. Its bytes are sent as they are, behind the line `#!wasm name=…`.

import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import * as format from '../parts/format.ts';
import { toast } from '../parts/toast.tsx';
import { problemOf, textOf } from '../resp/values.ts';
import { load } from './load.ts';
import { nameForFile, wasmSource } from './model.ts';
import { change } from './store.ts';

export function NewModule({ choose }: { choose(name: string): void }): VNode {
  return (
    <section class="live-panel" aria-label="WebAssembly library">
      <header>
        <h2>WebAssembly library</h2>
      </header>
      <ModuleForm loaded={choose} />
    </section>
  );
}

/** With a name, the form replaces the library of that name. */
export function ModuleForm(props: { name?: string; loaded(name: string): void }): VNode {
  const [typed, setTyped] = useState(props.name ?? '');
  const [file, setFile] = useState<File>();
  const [problem, setProblem] = useState('');
  const [isBusy, setBusy] = useState(false);
  const choose = (chosen: File | undefined) => {
    setFile(chosen);
    setProblem('');
    if (chosen && typed === '') setTyped(nameForFile(chosen.name));
  };
  const save = async (event: Event) => {
    event.preventDefault();
    if (!file || isBusy) return;
    setBusy(true);
    setProblem('');
    try {
      const source = wasmSource(typed, new Uint8Array(await file.arrayBuffer()));
      const name = props.name === undefined ? await load(source) : textOf(await change(['FUNCTION', 'LOAD', 'REPLACE', source]));
      if (name !== undefined) {
        toast(`${name} is loaded.`);
        props.loaded(name);
      }
    } catch (error) {
      setProblem(problemOf(error));
    } finally {
      setBusy(false);
    }
  };
  return (
    <form class="functions-form" onSubmit={(event) => void save(event)}>
      <label class="field">
        <span>{props.name === undefined ? 'File' : 'Replace with the file'}</span>
        <input type="file" required accept=".wasm,application/wasm" onChange={(event) => choose(event.currentTarget.files?.[0])} />
      </label>
      {props.name === undefined && (
        <label class="field">
          <span>Name</span>
          <input
            class="input mono" required pattern="\w+" title="Letters, digits and underscores" autocomplete="off" spellcheck={false}
            value={typed} onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </label>
      )}
      {problem !== '' && <p class="bad" role="alert">{problem}</p>}
      <div class="form-end">
        {file && <span class="detail">{format.bytes(file.size)}</span>}
        <button type="submit" class="button primary" disabled={isBusy}>{props.name === undefined ? 'Load' : 'Replace'}</button>
      </div>
    </form>
  );
}
