// The MONITOR page: every command that the server runs. It warns before it starts, and leaving the page stops it.

import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import * as format from '../parts/format.ts';
import { Stream, StreamTools } from '../parts/stream.tsx';
import { feed, ownAddress, problem, start, state, stop, type Line } from './store.ts';
import '../parts/panels.css';
import '../parts/stream.css';
import './monitor.css';

export function Monitor(): VNode {
  const [isPaused, setPaused] = useState(false);
  const [wanted, setWanted] = useState('');
  const [hidesOwn, setHidesOwn] = useState(true);
  const [chosen, setChosen] = useState<Line | null>(null);
  useEffect(() => stop, []);
  const own = hidesOwn && ownAddress.value !== '' ? ` ${ownAddress.value}] ` : '';
  const isWanted = ({ text }: Line) =>
    (wanted === '' || text.toLowerCase().includes(wanted.toLowerCase())) &&
    // The address is at the beginning of the line: arguments are not searched.
    (own === '' || !text.slice(0, 120).includes(own));
  return (
    <div class="monitor">
      <header class="live-head">
        <h1>Monitor</h1>
        <State />
        <span class="tools">
          {state.value !== 'off' && (
            <button type="button" class="button" onClick={stop}>
              Stop
            </button>
          )}
        </span>
      </header>
      {state.value === 'off' && <Warning />}
      <section class="monitor-lines" aria-label="Commands">
        <StreamTools feed={feed} of="commands" hint="Filter by command, client or argument" isPaused={isPaused} setPaused={setPaused} wanted={wanted} setWanted={setWanted}>
          <label class="check">
            <input
              type="checkbox"
              checked={hidesOwn}
              onChange={(event) => setHidesOwn(event.currentTarget.checked)}
            />
            Hide this console
          </label>
        </StreamTools>
        <Stream
          feed={feed}
          isPaused={isPaused}
          filter={`${own} ${wanted}`}
          isWanted={isWanted}
          render={(line) => <Row line={line} isChosen={line === chosen} choose={setChosen} />}
          label="Commands, newest first"
          nothing={state.value === 'on' ? 'No command yet.' : 'Nothing here yet.'}
        />
        {chosen && <Detail line={chosen} close={() => setChosen(null)} />}
      </section>
    </div>
  );
}

export default Monitor;

function State(): VNode {
  const words = { off: 'not watching', connecting: 'connecting…', on: 'watching every command' };
  return (
    <span class={`live-state ${problem.value === '' ? '' : 'bad'}`} role="status">
      {problem.value === '' ? words[state.value] : problem.value}
    </span>
  );
}

function Warning(): VNode {
  return (
    <div class="warning" role="note">
      <div>
        <strong>MONITOR shows every command of every client.</strong>
        <p>
          Keys and values are readable here, including personal data and secrets. It also costs speed: the server
          writes each command a second time, which slows a busy server down much. Watch for a moment, then
          stop; leaving this page stops it.
        </p>
      </div>
      <button type="button" class="button primary" onClick={() => void start()}>
        Start watching
      </button>
    </div>
  );
}

/** The characters that fit into a row of the list. */
const PREVIEW = 400;

function Row({ line, isChosen, choose }: { line: Line; isChosen: boolean; choose(line: Line): void }): VNode {
  const { parts, text, serial } = line;
  return (
    <button
      type="button"
      class="stream-row monitor-row"
      aria-pressed={isChosen}
      data-serial={serial}
      onClick={() => choose(line)}
    >
      {parts === null ? (
        <span class="args">{text.slice(0, PREVIEW)}</span>
      ) : (
        <>
          <span class="time">{format.clock(parts.atMs, true)}</span>
          <span class="db">{parts.db}</span>
          <span class="client">{parts.client}</span>
          <span class="command">{parts.command.toUpperCase()}</span>
          <span class="args">{shortened(parts.args)}</span>
        </>
      )}
    </button>
  );
}

/** As many arguments as a row can show; quoted if they would not be one word otherwise. */
function shortened(args: string[]): string {
  let text = '';
  for (const arg of args) {
    if (text.length > PREVIEW) return `${text.slice(0, PREVIEW)}…`;
    text += `${text === '' ? '' : ' '}${shownArgument(arg.slice(0, PREVIEW))}`;
  }
  return text;
}

function shownArgument(arg: string): string {
  return /^[^\s"'\\]+$/.test(arg) ? arg : `"${arg}"`;
}

function Detail({ line, close }: { line: Line; close(): void }): VNode {
  const { parts, text } = line;
  return (
    <section class="stream-detail" aria-label="Command">
      <header>
        <code>{parts?.command.toUpperCase()}</code>
        {parts && (
          <span class="detail">
            {format.moment(parts.atMs)} · {parts.client} · db{parts.db} · {parts.args.length} arguments
          </span>
        )}
        <button type="button" class="button small" onClick={close}>
          Close
        </button>
      </header>
      <pre tabIndex={0}>{parts ? parts.args.map(shownArgument).join('\n') : text}</pre>
    </section>
  );
}
