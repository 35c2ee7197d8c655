// The page of SQL: a database, a text that runs on it, its result, and the texts that are kept.

import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { connection } from '../connection/state.ts';
import { Editor } from '../parts/editor.tsx';
import { Icon } from '../parts/icon.tsx';
import { bytesOfPercent } from '../parts/percent.ts';
import { toast } from '../parts/toast.tsx';
import { ResultPanel } from './result.tsx';
import { forget, past, save, saved } from './saved.ts';
import { choose, chooseKey, databases, draft, edit, explain, isRunning, isUnknown, label, problem, refresh, run, stop, tables } from './store.ts';
import '../parts/panels.css';
import './sql.css';

/** The database that the address names: `#/sql/shop`. */
function chosenByAddress(): Uint8Array | undefined {
  const found = /^#\/sql\/(.+)$/s.exec(location.hash)?.[1];
  return found === undefined ? undefined : bytesOfPercent(found);
}

export default function Sql(): VNode {
  const isOpen = connection.status.value === 'open';
  useEffect(() => {
    const key = chosenByAddress();
    if (key) chooseKey(key);
    void refresh();
  }, [isOpen, connection.settings.value, connection.db.value]);
  return (
    <div class="sql">
      <header class="live-head">
        <h1>SQL</h1>
        <DatabaseField />
        <span class={`live-state ${problem.value === '' ? '' : 'sql-bad'}`} role="status">{problem.value}</span>
        <span class="tools">
          <button type="button" class="button" onClick={() => void refresh()}>
            <Icon name="refresh" /> Refresh
          </button>
        </span>
      </header>
      {!isUnknown.value && (
        <div class="sql-columns">
          <div class="sql-side">
            <Tables />
            <Kept />
          </div>
          <div class="sql-work">
            <TextPanel />
            <ResultPanel />
          </div>
        </div>
      )}
    </div>
  );
}

function DatabaseField(): VNode {
  const [typed, setTyped] = useState(label.value);
  useEffect(() => setTyped(label.value), [label.value]);
  return (
    <label class="sql-database">
      <span>SQL database</span>
      <input
        class="input mono" list="sql-databases" autocomplete="off" autocapitalize="off" spellcheck={false} placeholder="a new or known name"
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
        onChange={(event) => choose(event.currentTarget.value)}
      />
      <datalist id="sql-databases">
        {databases.value.map((each) => <option key={each.label} value={each.label} />)}
      </datalist>
    </label>
  );
}

function TextPanel(): VNode {
  const shown = draft.value;
  const selected = useRef('');
  const [name, setName] = useState('');
  // What is selected runs alone.
  const wanted = () => (selected.current.trim() === '' ? shown.text : selected.current);
  const runIt = () => void run(wanted());
  const isNamed = saved.value.some((each) => each.database === label.value && each.name === name);
  return (
    <section class="live-panel sql-text" aria-label="Text">
      <Editor
        key={shown.number} text={shown.text} label="SQL" language="sql" words={completions}
        onText={(next) => (shown.text = next)}
        onSelect={(part) => (selected.current = part)}
        onSave={() => undefined}
        onRun={runIt}
      />
      <div class="sql-actions">
        <button type="button" class="button primary" disabled={isRunning.value} onClick={runIt} title="Ctrl-Enter">
          <Icon name="play" /> Run
        </button>
        {isRunning.value ? (
          <button type="button" class="button" onClick={stop}><Icon name="stop" /> Stop</button>
        ) : (
          <button type="button" class="button" onClick={() => void explain(wanted())}>Plan</button>
        )}
        <form
          class="sql-save"
          onSubmit={(event) => {
            event.preventDefault();
            if (name.trim() === '' || shown.text.trim() === '') return;
            const isKept = save({ database: label.value, name: name.trim(), text: shown.text });
            toast(isKept ? `${name.trim()} is saved in this browser.` : 'The browser has no room for it.', isKept ? 'info' : 'error');
          }}
        >
          <input class="input" aria-label="Name of the query" placeholder="Name" value={name} onInput={(event) => setName(event.currentTarget.value)} />
          <button type="submit" class="button">{isNamed ? 'Save again' : 'Save'}</button>
        </form>
      </div>
    </section>
  );
}

/** The tables of the database and their columns, as words of the editor. */
function completions(): { label: string; detail: string; of?: string }[] {
  return tables.value.flatMap((table) => [
    { label: table.name, detail: table.kind },
    ...table.columns.map((column) => ({ label: column.name, detail: `${table.name} ${column.type}`.trim(), of: table.name })),
  ]);
}

function Tables(): VNode {
  const all = tables.value;
  return (
    <section class="live-panel" aria-label="Tables">
      <header>
        <h2>Tables</h2>
      </header>
      {all.map((table) => (
        <details key={table.name} class="sql-table-row">
          <summary>
            <span class="sql-name">{table.name}</span> <span class="sql-type">{table.kind === 'table' ? '' : table.kind}</span>
          </summary>
          <ul>
            {table.columns.map((column) => (
              <li key={column.name}><span class="sql-name">{column.name}</span> <span class="sql-type">{column.type}</span></li>
            ))}
          </ul>
          <button type="button" class="link" onClick={() => show(`SELECT * FROM "${table.name.replaceAll('"', '""')}"`)}>Show rows</button>
        </details>
      ))}
      {all.length === 0 && <p class="nothing">No tables. The first statement makes the database.</p>}
    </section>
  );
}

/** Puts a text into the editor and runs it. */
function show(text: string): void {
  edit(text);
  void run(text);
}

function Kept(): VNode {
  const mine = saved.value.filter((each) => each.database === label.value);
  const ran = past.value.filter((each) => each.database === label.value);
  return (
    <>
      <section class="live-panel" aria-label="Saved">
        <header>
          <h2>Saved</h2>
        </header>
        <ul class="sql-kept">
          {mine.map((each) => (
            <li key={each.name}>
              <button type="button" class="sql-kept-text" onClick={() => edit(each.text)}>{each.name}</button>
              <button type="button" class="icon-button" aria-label={`Forget ${each.name}`} onClick={() => forget(each)}><Icon name="trash" /></button>
            </li>
          ))}
        </ul>
        {mine.length === 0 && <p class="nothing">Queries that you save stay in this browser.</p>}
      </section>
      {ran.length > 0 && (
        <details class="live-panel sql-past">
          <summary>History</summary>
          <ul class="sql-kept">
            {ran.map((each) => (
              <li key={each.text}>
                <button type="button" class="sql-kept-text mono" onClick={() => edit(each.text)}>{each.text}</button>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}
