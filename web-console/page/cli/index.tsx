// The command line page: the results above, the input line below.

import './cli.css';
import { signal, useSignal } from '@preact/signals';
import type { EditorView } from '@codemirror/view';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { connection } from '../connection/state.ts';
import { CopyButton } from '../parts/copy.tsx';
import { Icon } from '../parts/icon.tsx';
import { type Assistance, commands, splitInput } from '../resp/codec.ts';
import { createEditor, setText } from './editor.ts';
import { HelpView } from './help-view.tsx';
import { History } from './history.ts';
import { copyOf } from '../replies/lines.ts';
import { ReplyView } from '../replies/reply-view.tsx';
import { clear, entries, type Entry, type Outcome, run, running, stop, transaction } from './session.ts';
import { showDuration } from './words.ts';

/** A longer input is cut above its results. */
const INPUT_SHOWN_CHARACTERS = 2000;

const history = new History(localStorage);
/** The text of the line, also while another page is shown. */
const draft = signal('');

export default function CommandLinePage() {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(undefined);
  const help = useSignal<Assistance | undefined>(undefined);
  const problem = useSignal('');
  const searching = useSignal(false);
  const output = useRef<HTMLDivElement>(null);
  /** Whether the end of the output is visible: then new results scroll to the end. */
  const following = useRef(true);

  const submit = () => {
    const text = draft.value;
    if (text.trim() === '') return;
    following.current = true;
    if (!run(text)) {
      problem.value = 'A quote is not closed, or text follows a closing quote. Shift-Enter begins a new line within quotes.';
      return;
    }
    history.add(text);
    if (editor.current) setText(editor.current, '');
  };

  useEffect(() => {
    if (!host.current) return;
    const view = createEditor(host.current, {
      run: submit,
      previous: (line) => history.previous(line),
      next: () => history.next(),
      search: () => (searching.value = true),
      clear,
      interrupt() {
        const entry = running();
        if (entry) stop(entry.id);
        else setText(view, '');
      },
      changed(text, assistance) {
        if (draft.value !== text) problem.value = '';
        draft.value = text;
        help.value = assistance;
      },
    });
    editor.current = view;
    if (draft.value) setText(view, draft.value);
    view.focus();
    return () => view.destroy();
  }, []);

  const all = entries.value;
  useLayoutEffect(() => {
    const box = output.current;
    if (box && following.current) box.scrollTop = box.scrollHeight;
  }, [all]);
  useEffect(() => {
    const box = output.current;
    if (!box) return;
    const observer = new ResizeObserver(() => {
      if (following.current) box.scrollTop = box.scrollHeight;
    });
    observer.observe(box);
    return () => observer.disconnect();
  }, []);

  /** The editor handles these keys itself; this handles them when the focus is elsewhere. */
  const shortcut = (event: KeyboardEvent) => {
    if (!event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return;
    const entry = running();
    if (event.key === 'l') clear();
    else if (event.key === 'r') searching.value = true;
    else if (event.key === 'c' && entry && getSelection()?.isCollapsed) stop(entry.id);
    else return;
    event.preventDefault();
  };

  const pick = (text: string | undefined) => {
    searching.value = false;
    if (editor.current && text !== undefined) setText(editor.current, text);
    editor.current?.focus();
  };
  return (
    <div class="cli" onKeyDown={shortcut}>
      <div
        class="cli-output" ref={output} role="log" aria-label="Results" aria-live="polite" tabIndex={0}
        onScroll={(event) => {
          const box = event.currentTarget;
          following.current = box.scrollHeight - box.scrollTop - box.clientHeight < 24;
        }}
        onClick={(event) => {
          // As in a terminal, a click focuses the line, unless it selects text or is on a control.
          if (!(event.target as Element).closest('button, a') && getSelection()?.isCollapsed) editor.current?.focus();
        }}
      >
        {all.length === 0 && <Welcome />}
        {all.map((entry) => <EntryView entry={entry} key={entry.id} again={(text) => pick(text)} />)}
      </div>
      <div class="cli-line">
        {searching.value && <Search pick={pick} />}
        <div class="cli-input">
          <span class="cli-prompt" aria-hidden="true">{prompt(connection.db.value, transaction.value)}</span>
          <div class="cli-editor" ref={host} />
          <button type="button" class="icon-button cli-run" title="Run (Enter)" aria-label="Run" onClick={submit}><Icon name="play" /></button>
        </div>
        <Below help={help.value} problem={problem.value} text={draft.value} />
      </div>
    </div>
  );
}

function prompt(db: number, inTransaction: boolean): string {
  return `${db > 0 ? `[${db}]` : ''}${inTransaction ? '(TX)' : ''}>`;
}

/** Below the line: a problem, the number of commands, or the summary of the command. */
function Below(props: { help: Assistance | undefined; problem: string; text: string }) {
  const { help, problem, text } = props;
  const count = text.includes('\n') ? (splitInput(text)?.length ?? 0) : 0;
  const command = help?.command ? commands().find((each) => each.name === help.command) : undefined;
  return (
    <p class="cli-below" id="cli-summary">
      {problem ? <span class="v-error" role="alert">{problem}</span>
        : count > 1 ? <span><b>{count} commands</b>: Enter runs them as one pipeline</span>
        : command ? (
          <>
            <b>{command.name}</b> <span>{command.summary}</span>
            <span class="cli-since">{command.deprecated ? `deprecated since ${command.deprecated.since}` : `since ${command.since}`}</span>
            <span class="off-screen">{help?.hint}</span>
          </>
        ) : (
          <span class="cli-keys">
            <span><kbd>Tab</kbd> completes</span>
            <span><kbd>↑</kbd> history</span>
            <span><kbd>Ctrl-R</kbd> search</span>
            <span><kbd>Shift-Enter</kbd> new line</span>
          </span>
        )}
    </p>
  );
}

function Welcome() {
  return (
    <div class="cli-welcome">
      <p>{connection.status.value === 'open' ? `Connected to ${connection.settings.value.url}` : 'There is no connection yet: commands will wait for it.'}</p>
      <p>Type a command below. <b>HELP</b> explains more.</p>
    </div>
  );
}

function EntryView(props: { entry: Entry; again(text: string): void }) {
  const { entry } = props;
  const copied = () => entry.outcomes.map(textOf).join('\n');
  const shown = entry.input.length > INPUT_SHOWN_CHARACTERS ? `${entry.input.slice(0, INPUT_SHOWN_CHARACTERS)}…` : entry.input;
  return (
    <section class="entry" aria-label={shown.slice(0, 100)}>
      <div class="entry-head">
        <span class="cli-prompt">{prompt(entry.db, entry.inTransaction)}</span>
        <pre class="entry-input">{shown}</pre>
        <span class="entry-facts">
          <span class="entry-tools">
            <button type="button" class="icon-button" title="Type again" aria-label="Type again" onClick={() => props.again(entry.input)}><Icon name="edit" /></button>
            <CopyButton text={copied} label="Copy the result" />
          </span>
          {entry.running ? <Stop entry={entry} /> : entry.elapsedMs !== undefined && (
            <span class="entry-time" title="From sending to the last reply">
              {entry.commands > 1 && `${entry.commands} commands, `}{showDuration(entry.elapsedMs)}
            </span>
          )}
        </span>
      </div>
      {entry.dropped > 0 && <p class="v-type">{entry.dropped.toLocaleString('en')} earlier messages were dropped</p>}
      {entry.outcomes.map((outcome, at) => <OutcomeView outcome={outcome} key={entry.dropped + at} />)}
    </section>
  );
}

function Stop(props: { entry: Entry }) {
  return (
    <>
      <span class="entry-time running">{props.entry.stream ? 'listening' : 'running'}</span>
      <button type="button" class="button small" onClick={() => stop(props.entry.id)}><Icon name="stop" />Stop</button>
    </>
  );
}

function OutcomeView(props: { outcome: Outcome }) {
  const { outcome } = props;
  if ('reply' in outcome) return <ReplyView reply={outcome.reply} />;
  if ('help' in outcome) return <div class="help"><HelpView topic={outcome.help} /></div>;
  if ('status' in outcome) return <pre class="v-text">{outcome.status}</pre>;
  return <p class="entry-problem">{outcome.problem}</p>;
}

function textOf(outcome: Outcome): string {
  if ('reply' in outcome) return copyOf(outcome.reply);
  return 'status' in outcome ? outcome.status : 'problem' in outcome ? outcome.problem : '';
}

/** How many matches are listed. */
const MATCHES_MAX = 8;

/** Ctrl-R: a search in the history, newest first. */
function Search(props: { pick(text: string | undefined): void }) {
  const wanted = useSignal('');
  const at = useSignal(0);
  const matches = history.search(wanted.value, MATCHES_MAX);
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => field.current?.focus(), []);
  const move = (by: number) => (at.value = Math.max(0, Math.min(matches.length - 1, at.value + by)));
  return (
    <div class="cli-search">
      <ul role="listbox" id="cli-matches" aria-label="Commands typed before">
        {matches.map((text, index) => (
          <li
            key={text} id={`match-${index}`} role="option" aria-selected={index === at.value}
            onMouseDown={(event) => event.preventDefault()} onClick={() => props.pick(text)}
          >
            {text.slice(0, 300)}
          </li>
        ))}
        {matches.length === 0 && <li class="cli-none">Nothing found</li>}
      </ul>
      <label class="cli-search-field">
        <Icon name="search" />
        <input
          ref={field} class="mono" value={wanted.value} placeholder="Search the history" aria-label="Search the history" role="combobox"
          aria-expanded aria-controls="cli-matches" aria-activedescendant={`match-${at.value}`} spellcheck={false} autocapitalize="off"
          onInput={(event) => {
            wanted.value = event.currentTarget.value;
            at.value = 0;
          }}
          onBlur={() => props.pick(undefined)}
          onKeyDown={(event) => {
            if (event.key === 'Enter' || event.key === 'Tab') props.pick(matches[at.value]);
            else if (event.key === 'Escape' || (event.ctrlKey && event.key === 'c')) props.pick(undefined);
            else if (event.key === 'ArrowDown' || (event.ctrlKey && event.key === 'r')) move(1);
            else if (event.key === 'ArrowUp' || (event.ctrlKey && event.key === 's')) move(-1);
            else return;
            event.preventDefault();
          }}
        />
      </label>
    </div>
  );
}
