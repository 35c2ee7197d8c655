// The right side: one key with what is known of it and its content.

import type { VNode } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { connection } from '../connection/state.ts';
import { showBytes, showSize } from '../parts/bytes.ts';
import { confirm } from '../parts/confirm.tsx';
import { CopyButton } from '../parts/copy.tsx';
import { toast } from '../parts/toast.tsx';
import type { Argument } from '../resp/reply.ts';
import { BytesInput } from './bytes-input.tsx';
import { draftBytes, draftOf } from './drafts.ts';
import { durationInput, durationOf, durationText } from './durations.ts';
import { shownStart } from './escapes.ts';
import { factsOf, LENGTH_UNITS, TYPE_NAMES, type Facts } from './facts.ts';
import { HashView } from './hash-view.tsx';
import { leaveTo, mayLeave } from './leaving.ts';
import { ListView } from './list-view.tsx';
import { bytesOf, nameOf, sameBytes, type Name } from './names.ts';
import { numberIn } from './replies.ts';
import { SetView } from './set-view.tsx';
import { countOf } from './sizes.ts';
import { filtered, keyGone, keyMade, select } from './store.ts';
import { StreamView } from './stream-view.tsx';
import { StringView } from './string-view.tsx';
import { learnType } from './types.ts';
import { Problem, useAction } from './use-action.tsx';
import { ZsetView } from './zset-view.tsx';

/**
 * What a view of a value gets: `changed` is called after each write, so that length and memory are read
 * again.
 */
export type ValueProps = { keyBytes: Uint8Array; facts: Facts; changed(): void };

export function KeyPanel(props: { name: Name }): VNode {
  const [facts, setFacts] = useState<Facts | undefined>(undefined);
  const [gone, setGone] = useState(false);
  const [round, setRound] = useState(0);
  const reading = useAction();
  const key = bytesOf(props.name);
  const read = useCallback(
    () =>
      reading.run(async () => {
        const found = await factsOf(await connection.client(), bytesOf(props.name));
        learnType(props.name, found?.type);
        setGone(found === undefined);
        // The content stays when the key goes: something may be half typed in it.
        if (found === undefined) return keyGone(props.name);
        setFacts(found);
        // A filter may hide it; if nothing does, it has its row though the scan passed before it was made.
        if (!filtered()) keyMade(props.name);
      }),
    [props.name],
  );
  useEffect(() => void read(), [read]);
  const again = async (): Promise<void> => {
    if (!(await mayLeave())) return;
    setFacts(undefined);
    setRound((now) => now + 1);
    void read();
  };
  return (
    <section class="keys-panel" aria-label={`Key ${showBytes(key)}`}>
      <header class="keys-panel-head">
        <button type="button" class="button small keys-back" onClick={() => void leaveTo(undefined)}>
          ‹ Keys
        </button>
        <h2 class="keys-name">
          <bdi>{key.length === 0 ? '(empty name)' : shownStart(key, 2000)}</bdi>
        </h2>
        <CopyButton text={() => showBytes(key)} label="Copy the name" />
      </header>
      <Problem text={reading.problem} />
      {gone || (facts === undefined && reading.problem !== '') ? (
        <div class="keys-gone">
          {gone ? (
            <p role="alert">There is no such key. It may have expired, or somebody has deleted it.</p>
          ) : null}
          <button type="button" class="button small" onClick={() => void again()}>
            Look again
          </button>
        </div>
      ) : null}
      {facts === undefined ? null : (
        <>
          <KeyFacts
            key={round}
            name={props.name}
            facts={facts}
            changed={() => void read()}
            again={() => void again()}
          />
          <Value key={`${facts.type}${round}`} keyBytes={key} facts={facts} changed={() => void read()} />
        </>
      )}
    </section>
  );
}

function Value(props: ValueProps): VNode {
  switch (props.facts.type) {
    case 'string':
      return <StringView {...props} />;
    case 'hash':
      return <HashView {...props} />;
    case 'list':
      return <ListView {...props} />;
    case 'set':
      return <SetView {...props} />;
    case 'zset':
      return <ZsetView {...props} />;
    case 'stream':
      return <StreamView {...props} />;
  }
}

function KeyFacts(props: { name: Name; facts: Facts; changed(): void; again(): void }): VNode {
  const { facts, name } = props;
  const [form, setForm] = useState<'none' | 'ttl' | 'rename' | 'copy'>('none');
  const deleting = useAction();
  const key = bytesOf(name);
  const toggle = (next: typeof form): void => setForm(form === next ? 'none' : next);
  return (
    <>
      <div class="keys-facts">
        <dl>
          <Fact title="Type">{TYPE_NAMES[facts.type]}</Fact>
          <Fact title="Encoding">{facts.encoding}</Fact>
          <Fact title="Length">
            {countOf(facts.length, LENGTH_UNITS[facts.type], facts.type === 'stream' ? 'entries' : undefined)}
          </Fact>
          <Fact title="Memory">
            {facts.memoryBytes === undefined ? 'unknown' : showSize(facts.memoryBytes)}
          </Fact>
          <Fact title="Expires">
            <button
              type="button"
              class="keys-inline"
              aria-expanded={form === 'ttl'}
              onClick={() => toggle('ttl')}
            >
              <Countdown expiresAt={facts.expiresAt} onEnd={props.changed} />
            </button>
          </Fact>
        </dl>
        <div class="keys-actions">
          <button type="button" class="button small" onClick={props.again} title="Read the key again">
            Refresh
          </button>
          <button
            type="button"
            class="button small"
            aria-expanded={form === 'rename'}
            onClick={() => toggle('rename')}
          >
            Rename
          </button>
          <button
            type="button"
            class="button small"
            aria-expanded={form === 'copy'}
            onClick={() => toggle('copy')}
          >
            Duplicate
          </button>
          <button
            type="button"
            class="button small keys-danger"
            disabled={deleting.busy}
            onClick={() => void deleting.run(() => deleteKey(name))}
          >
            Delete
          </button>
        </div>
      </div>
      <Problem text={deleting.problem} />
      {form === 'ttl' ? (
        <TtlForm
          keyBytes={key}
          facts={facts}
          done={() => {
            setForm('none');
            props.changed();
          }}
        />
      ) : null}
      {form === 'rename' || form === 'copy' ? (
        <NameForm key={form} way={form} name={name} type={facts.type} done={() => setForm('none')} />
      ) : null}
    </>
  );
}

function Fact(props: { title: string; children: VNode | string }): VNode {
  return (
    <div>
      <dt>{props.title}</dt>
      <dd>{props.children}</dd>
    </div>
  );
}

/** The rest of the time to live, second by second. */
function Countdown(props: { expiresAt: number | undefined; onEnd(): void }): VNode {
  const [, tick] = useState(0);
  const { expiresAt } = props;
  useEffect(() => {
    if (expiresAt === undefined) return undefined;
    let ended = false;
    const timer = setInterval(() => {
      tick((now) => now + 1);
      if (!ended && Date.now() > expiresAt) {
        ended = true;
        props.onEnd();
      }
    }, 1000);
    return () => clearInterval(timer);
  }, [expiresAt]);
  if (expiresAt === undefined) return <>never</>;
  return <span title={new Date(expiresAt).toLocaleString()}>in {durationText(expiresAt - Date.now())}</span>;
}

function TtlForm(props: { keyBytes: Uint8Array; facts: Facts; done(): void }): VNode {
  const { expiresAt } = props.facts;
  const [text, setText] = useState(
    expiresAt === undefined
      ? ''
      : durationInput(Math.max(1000, Math.round((expiresAt - Date.now()) / 1000) * 1000)),
  );
  const action = useAction();
  const put = (): Promise<void> =>
    action.run(async () => {
      const milliseconds = durationOf(text, Date.now());
      const client = await connection.client();
      if (numberIn(await client.call(['PEXPIRE', props.keyBytes, String(milliseconds)])) === 0)
        throw new Error(GONE);
      props.done();
    });
  const persist = (): Promise<void> =>
    action.run(async () => {
      await (await connection.client()).call(['PERSIST', props.keyBytes]);
      props.done();
    });
  return (
    <form
      class="keys-form"
      onSubmit={(event) => {
        event.preventDefault();
        void put();
      }}
    >
      <div class="keys-form-row">
        <label class="keys-field">
          <span>Expires after</span>
          <input
            type="text"
            class="input"
            value={text}
            placeholder="90s, 1h 30m, 2d or 2030-01-31 12:00"
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="button small primary" disabled={action.busy}>
          Set
        </button>
        <button
          type="button"
          class="button small"
          disabled={action.busy || expiresAt === undefined}
          onClick={() => void persist()}
        >
          Never expire
        </button>
      </div>
      <Problem text={action.problem} />
    </form>
  );
}

function NameForm(props: { way: 'rename' | 'copy'; name: Name; type: string; done(): void }): VNode {
  const key = bytesOf(props.name);
  const [draft, setDraft] = useState(draftOf(key));
  const action = useAction();
  const submit = (): Promise<void> =>
    action.run(async () => {
      const target = draftBytes(draft);
      if (sameBytes(target, key)) throw new Error('This is its name already.');
      const client = await connection.client();
      const gentle: Argument[] = props.way === 'rename' ? ['RENAMENX', key, target] : ['COPY', key, target];
      const forced: Argument[] =
        props.way === 'rename' ? ['RENAME', key, target] : ['COPY', key, target, 'REPLACE'];
      if (numberIn(await client.call(gentle)) === 0) {
        if (numberIn(await client.call(['EXISTS', key])) === 0) throw new Error(GONE);
        const sure = await confirm({
          title: 'Overwrite the other key?',
          text: `There is a key ${shownStart(target)} already. Its value would be lost.`,
          action: 'Overwrite',
          danger: true,
        });
        if (!sure) return;
        await client.call(forced);
      }
      const name = nameOf(target);
      learnType(name, props.type);
      if (props.way === 'rename') keyGone(props.name);
      keyMade(name);
      props.done();
      select({ kind: 'key', name });
      toast(props.way === 'rename' ? 'Renamed' : 'Duplicated');
    });
  return (
    <form
      class="keys-form"
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <BytesInput
        label={props.way === 'rename' ? 'New name' : 'Name of the copy'}
        draft={draft}
        onDraft={setDraft}
        focus
      />
      <div class="keys-form-row">
        <button type="submit" class="button small primary" disabled={action.busy}>
          {props.way === 'rename' ? 'Rename' : 'Duplicate'}
        </button>
        <button type="button" class="button small" onClick={props.done}>
          Cancel
        </button>
      </div>
      <Problem text={action.problem} />
    </form>
  );
}

export async function deleteKey(name: Name): Promise<void> {
  const key = bytesOf(name);
  const sure = await confirm({
    title: 'Delete this key?',
    text: `${shownStart(key)} and its value will be gone. This cannot be undone.`,
    action: 'Delete',
    danger: true,
  });
  if (!sure) return;
  await (await connection.client()).call(['UNLINK', key]);
  keyGone(name);
  learnType(name, undefined);
  select(undefined);
  toast('Deleted');
  setTimeout(() => document.querySelector<HTMLElement>('.keys-tree')?.focus());
}

const GONE = 'The key is gone: it may have expired, or somebody has deleted it.';
