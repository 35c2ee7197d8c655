// The page of functions: libraries and their code, loading and deleting them, calls, and the script that runs.

import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Library } from '../connection/function-list.ts';
import { connection } from '../connection/state.ts';
import { Icon } from '../parts/icon.tsx';
import { Call } from './call.tsx';
import { drafts, NEW } from './drafts.ts';
import { LibraryPanel, NewLibrary } from './library.tsx';
import { isUnknown, libraries, librariesProblem, refresh, watch } from './store.ts';
import { RunningPanel } from './running.tsx';
import { NewModule } from './module.tsx';
import '../parts/panels.css';
import './functions.css';

/** The forms of a library that is not there yet. */
type Chosen = { name: string } | 'new' | 'module' | undefined;

export function Functions(): VNode {
  const [chosen, setChosen] = useState<Chosen>(() => (drafts.value.has(NEW) ? 'new' : undefined));
  const isOpen = connection.status.value === 'open';
  useEffect(() => void refresh(), [isOpen, connection.settings.value]);
  useEffect(watch, [connection.settings.value]);
  if (isUnknown.value) {
    return (
      <div class="functions">
        <header class="live-head">
          <h1>Functions</h1>
        </header>
        <p class="notice" role="status">{librariesProblem.value}</p>
      </div>
    );
  }
  const library = typeof chosen === 'object' ? libraries.value.find(({ name }) => name === chosen.name) : undefined;
  const choose = (name: string | undefined) => setChosen(name === undefined ? undefined : { name });
  const hasDetails = chosen === 'new' || chosen === 'module' || library !== undefined;
  return (
    <div class="functions">
      <header class="live-head">
        <h1>Functions</h1>
        <span class={`live-state ${librariesProblem.value === '' ? '' : 'bad'}`} role="status">
          {librariesProblem.value}
        </span>
        <span class="tools">
          <button type="button" class="button" onClick={() => setChosen('new')}>
            <Icon name="add" /> New library
          </button>
          <button type="button" class="button" onClick={() => setChosen('module')}>
            <Icon name="upload" /> WebAssembly
          </button>
          <button type="button" class="button" onClick={() => void refresh()}>
            <Icon name="refresh" /> Refresh
          </button>
        </span>
      </header>
      <div class={`functions-columns ${hasDetails ? 'split' : ''}`}>
        <Libraries chosen={library?.name} choose={choose} />
        {hasDetails && (
          <div class="functions-details">
            {chosen === 'new' && <NewLibrary choose={choose} />}
            {chosen === 'module' && <NewModule choose={choose} />}
            {library && <LibraryPanel key={library.name} library={library} choose={choose} />}
          </div>
        )}
        <Call />
        <RunningPanel />
      </div>
    </div>
  );
}

export default Functions;

function Libraries(props: { chosen: string | undefined; choose(name: string): void }): VNode {
  const all = libraries.value;
  return (
    <section class="live-panel" aria-label="Libraries">
      <header>
        <h2>Libraries</h2>
      </header>
      <ul class="functions-list">
        {all.map((library) => (
          <li key={library.name}>
            <Row library={library} isChosen={library.name === props.chosen} choose={() => props.choose(library.name)} />
          </li>
        ))}
      </ul>
      {all.length === 0 && <p class="nothing">{librariesProblem.value === '' ? 'No libraries are loaded.' : 'No libraries are shown.'}</p>}
    </section>
  );
}

function Row({ library, isChosen, choose }: { library: Library; isChosen: boolean; choose(): void }): VNode {
  return (
    <button type="button" class="functions-row" aria-pressed={isChosen} onClick={choose}>
      <span class="functions-name">{library.name}</span>
      <span class="functions-engine">{library.engine}</span>
      {drafts.value.has(library.name) && <span class="functions-changed">not loaded</span>}
      <code class="functions-members">{library.functions.map(({ name }) => name).join(' · ')}</code>
    </button>
  );
}
