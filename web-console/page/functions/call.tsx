// Calls a function. Each call has a session of its own: a function may run for long, and the shared session must stay
// free to look at it and to end it.

import { signal } from '@preact/signals';
import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import type { LibraryFunction } from '../connection/function-list.ts';
import { connection } from '../connection/state.ts';
import * as format from '../parts/format.ts';
import { ReplyView } from '../replies/reply-view.tsx';
import { splitInput } from '../resp/codec.ts';
import type { Argument, Reply } from '../resp/reply.ts';
import { problemOf } from '../resp/values.ts';
import { libraries } from './store.ts';

type Outcome = { reply: Reply; elapsedMs: number } | { problem: string };

// They outlive the page, as the call does.
const name = signal('');
const keys = signal('');
const values = signal('');
const isReadOnly = signal(false);
const isRunning = signal(false);
const outcome = signal<Outcome | undefined>(undefined);

/** Chooses the function that the form calls. */
export function choose(chosen: LibraryFunction): void {
  name.value = chosen.name;
  isReadOnly.value = chosen.flags.includes('no-writes');
  outcome.value = undefined;
}

/** Words as on the command line; undefined if a quote is not closed. */
function wordsOf(typed: string): Uint8Array[] | undefined {
  return splitInput(typed)?.flat();
}

async function call(): Promise<void> {
  const [keyWords, valueWords] = [wordsOf(keys.value), wordsOf(values.value)];
  if (!keyWords || !valueWords) {
    outcome.value = { problem: 'A quote is not closed, or text follows a closing quote.' };
    return;
  }
  const command = isReadOnly.value ? 'FCALL_RO' : 'FCALL';
  const args: Argument[] = [command, name.value, String(keyWords.length), ...keyWords, ...valueWords];
  isRunning.value = true;
  outcome.value = undefined;
  try {
    const client = await connection.dedicated();
    const startedAtMs = performance.now();
    try {
      const reply = await client.send(args);
      outcome.value = { reply, elapsedMs: performance.now() - startedAtMs };
    } finally {
      client.close();
    }
  } catch (error) {
    outcome.value = { problem: problemOf(error) };
  }
  isRunning.value = false;
}

export function Call(): VNode | null {
  const all = libraries.value.flatMap((library) => library.functions);
  const first = all[0];
  const isKnown = all.some((each) => each.name === name.value);
  useEffect(() => {
    if (first && !isKnown) choose(first);
  }, [first, isKnown]);
  if (!first) return null;
  return (
    <section class="live-panel functions-call" aria-label="Call">
      <header>
        <h2>Call</h2>
      </header>
      <form class="functions-form" onSubmit={(event) => { event.preventDefault(); void call(); }}>
        <label class="field">
          <span>Function</span>
          <select
            class="select mono" value={name.value}
            onChange={(event) => choose(all.find((each) => each.name === event.currentTarget.value) ?? first)}
          >
            {libraries.value.filter((library) => library.functions.length > 0).map((library) => (
              <optgroup key={library.name} label={library.name}>
                {library.functions.map((each) => <option key={each.name} value={each.name}>{each.name}</option>)}
              </optgroup>
            ))}
          </select>
        </label>
        <Words label="Keys" words={keys} />
        <Words label="Arguments" words={values} />
        <p class="hint">Separated by spaces; quotes and escapes as on the command line.</p>
        <div class="form-end">
          <label class="check">
            <input type="checkbox" checked={isReadOnly.value} onChange={(event) => (isReadOnly.value = event.currentTarget.checked)} />
            Read only
          </label>
          <button type="submit" class="button primary" disabled={isRunning.value}>
            {isRunning.value ? 'Running…' : 'Call'}
          </button>
        </div>
      </form>
      <div class="functions-outcome" role="status">
        {outcome.value && <OutcomeView outcome={outcome.value} />}
      </div>
    </section>
  );
}

function Words(props: { label: string; words: typeof keys }): VNode {
  const { label, words } = props;
  return (
    <label class="field">
      <span>{label}</span>
      <input
        class="input mono" autocomplete="off" autocapitalize="off" spellcheck={false} value={words.value}
        onInput={(event) => (words.value = event.currentTarget.value)}
      />
    </label>
  );
}

function OutcomeView(props: { outcome: Outcome }): VNode {
  const { outcome: shown } = props;
  if ('problem' in shown) return <p class="bad">{shown.problem}</p>;
  return (
    <>
      <p class="detail">{format.micros(shown.elapsedMs * 1000)}</p>
      <div class="mono"><ReplyView reply={shown.reply} /></div>
    </>
  );
}
