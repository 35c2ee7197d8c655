// Keyspace notifications: the switches for the events of keys that the server publishes.

import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { connection } from '../connection/state.ts';
import { pairsOf, textOf } from '../resp/values.ts';
import { confirm } from '../parts/confirm.tsx';
import { toast } from '../parts/toast.tsx';
import { CLASSES, EXTRAS, lettersOf, PLACES, settingOf, type EventClass } from './events.ts';
import { listener } from './store.ts';

const NAME = 'notify-keyspace-events';

async function currentSetting(): Promise<string> {
  const client = await connection.client();
  const reply = await client.call(['CONFIG', 'GET', NAME]);
  return textOf(pairsOf(reply)[0]?.[1]);
}

export function KeyEvents(): VNode {
  const [current, setCurrent] = useState<string | null>(null);
  const [letters, setLetters] = useState<ReadonlySet<string>>(new Set());
  const load = async () => {
    try {
      const setting = await currentSetting();
      setCurrent(setting);
      setLetters(lettersOf(setting));
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), 'error');
    }
  };
  const isOpened = (event: Event) => {
    if ((event.currentTarget as HTMLDetailsElement).open) void load();
  };
  return (
    <details class="live-panel key-events" onToggle={isOpened}>
      <summary>
        <h2>Events of keys</h2>
        <span class="detail">{current === null ? NAME : current === '' ? 'off' : current}</span>
      </summary>
      <p class="hint">
        The server can publish an event for each change of a key. This slows down every command that changes one.
      </p>
      <Letters classes={PLACES} letters={letters} change={setLetters} label="Where" />
      <Letters classes={CLASSES} letters={letters} change={setLetters} label="What" />
      <Letters classes={EXTRAS} letters={letters} change={setLetters} label="Also" />
      <Ends current={current} wanted={settingOf(letters)} setLetters={setLetters} reload={load} />
    </details>
  );
}

function Ends({
  current,
  wanted,
  setLetters,
  reload,
}: {
  current: string | null;
  wanted: string;
  setLetters(letters: ReadonlySet<string>): void;
  reload(): Promise<void>;
}): VNode {
  const isSame = current !== null && settingOf(lettersOf(current)) === wanted;
  const apply = async () => {
    const isSure = await confirm({
      title: wanted === '' ? 'Switch the events of keys off?' : 'Change the published events?',
      text: `${NAME} becomes "${wanted}" for all clients of this server, until it is changed again.`,
      action: 'Change it',
    });
    if (!isSure) return;
    try {
      const client = await connection.client();
      await client.call(['CONFIG', 'SET', NAME, wanted]);
      await reload();
    } catch (error) {
      toast(error instanceof Error ? error.message : String(error), 'error');
    }
  };
  const listen = () => {
    const place = (current ?? '').includes('E') ? 'keyevent' : 'keyspace';
    listener.add({
      kind: 'pattern',
      name: new TextEncoder().encode(`__${place}@${connection.db.value}__:*`),
    });
  };
  return (
    <div class="form-end">
      <button type="button" class="button small" onClick={() => setLetters(lettersOf('KEA'))}>
        All
      </button>
      <button type="button" class="button small" onClick={() => setLetters(new Set())}>
        None
      </button>
      <output>{wanted === '' ? 'off' : <code>{wanted}</code>}</output>
      <button type="button" class="button small" disabled={!current} onClick={listen}>
        Listen to db{connection.db.value}
      </button>
      <button type="button" class="button primary small" disabled={isSame} onClick={apply}>
        Apply…
      </button>
    </div>
  );
}

function Letters({
  classes,
  letters,
  change,
  label,
}: {
  classes: readonly EventClass[];
  letters: ReadonlySet<string>;
  change(letters: ReadonlySet<string>): void;
  label: string;
}): VNode {
  const toggle = (letter: string) => {
    const next = new Set(letters);
    if (!next.delete(letter)) next.add(letter);
    change(next);
  };
  return (
    <fieldset>
      <legend>{label}</legend>
      {classes.map(({ letter, label: words }) => (
        <label key={letter} class="check">
          <input type="checkbox" checked={letters.has(letter)} onChange={() => toggle(letter)} />
          <code>{letter}</code> {words}
        </label>
      ))}
    </fieldset>
  );
}
