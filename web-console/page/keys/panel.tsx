// The right side for a key: its metadata, its actions and its value.

import type { VNode } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { connection } from '../connection/state.ts';
import { showBytes, showSize } from '../parts/bytes.ts';
import { CopyButton } from '../parts/copy.tsx';
import { deleteKey } from './delete-key.ts';
import { durationText } from './durations.ts';
import { shownStart } from './escapes.ts';
import { readMetadata, TYPE_NAMES, type Metadata } from './metadata.ts';
import { HashView } from './hash-view.tsx';
import { JsonView } from './json-view.tsx';
import { leaveTo, mayLeave } from './leaving.ts';
import { ListView } from './list-view.tsx';
import { NameForm } from './name-form.tsx';
import { bytesOf, type Name } from './names.ts';
import { SetView } from './set-view.tsx';
import { countOf } from './sizes.ts';
import { filtered, keyGone, keyMade } from './store.ts';
import { SqlView } from './sql-view.tsx';
import { StreamView } from './stream-view.tsx';
import { StringView } from './string-view.tsx';
import { SuggestionsView } from './suggestions-view.tsx';
import { TtlForm } from './ttl-form.tsx';
import { learnType } from './types.ts';
import { Problem, useAction } from './use-action.tsx';
import type { ValueProps } from './value-props.ts';
import { ZsetView } from './zset-view.tsx';

export function KeyPanel(props: { name: Name }): VNode {
  const [metadata, setMetadata] = useState<Metadata | undefined>(undefined);
  const [gone, setGone] = useState(false);
  const [round, setRound] = useState(0);
  const reading = useAction();
  const key = bytesOf(props.name);
  const read = useCallback(
    () =>
      reading.run(async () => {
        const found = await readMetadata(await connection.client(), bytesOf(props.name));
        learnType(props.name, found?.type);
        setGone(found === undefined);
        // The content stays when the key goes: a form in it may hold text that is not saved.
        if (found === undefined) return keyGone(props.name);
        setMetadata(found);
        // The scan may have passed before the key was made: without a filter, it gets its row here.
        if (!filtered()) keyMade(props.name);
      }),
    [props.name],
  );
  useEffect(() => void read(), [read]);
  const again = async (): Promise<void> => {
    if (!(await mayLeave())) return;
    setMetadata(undefined);
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
      {gone || (metadata === undefined && reading.problem !== '') ? (
        <div class="keys-gone">
          {gone ? (
            <p role="alert">There is no such key. It may have expired, or another client has deleted it.</p>
          ) : null}
          <button type="button" class="button small" onClick={() => void again()}>
            Look again
          </button>
        </div>
      ) : null}
      {metadata === undefined ? null : (
        <>
          <KeyHeader
            key={round}
            name={props.name}
            metadata={metadata}
            changed={() => void read()}
            again={() => void again()}
          />
          <Value key={`${metadata.type}${round}`} keyBytes={key} metadata={metadata} changed={() => void read()} />
        </>
      )}
    </section>
  );
}

function Value(props: ValueProps): VNode {
  switch (props.metadata.type) {
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
    case 'ReJSON-RL':
      return <JsonView {...props} />;
    case 'sqldb':
      return <SqlView {...props} />;
    case 'trietype0':
      return <SuggestionsView {...props} />;
  }
}

function KeyHeader(props: { name: Name; metadata: Metadata; changed(): void; again(): void }): VNode {
  const { metadata, name } = props;
  const [form, setForm] = useState<'none' | 'ttl' | 'rename' | 'copy'>('none');
  const deleting = useAction();
  const key = bytesOf(name);
  const toggle = (next: typeof form): void => setForm(form === next ? 'none' : next);
  return (
    <>
      <div class="keys-facts">
        <dl>
          <Term title="Type">{TYPE_NAMES[metadata.type]}</Term>
          <Term title="Encoding">{metadata.encoding}</Term>
          <Term title="Length">
            {countOf(metadata.length, metadata.unit, metadata.type === 'stream' ? 'entries' : undefined)}
          </Term>
          <Term title="Memory">
            {metadata.memoryBytes === undefined ? 'unknown' : showSize(metadata.memoryBytes)}
          </Term>
          <Term title="Expires">
            <button
              type="button"
              class="keys-inline"
              aria-expanded={form === 'ttl'}
              onClick={() => toggle('ttl')}
            >
              <Countdown expiresAt={metadata.expiresAt} onEnd={props.changed} />
            </button>
          </Term>
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
          metadata={metadata}
          done={() => {
            setForm('none');
            props.changed();
          }}
        />
      ) : null}
      {form === 'rename' || form === 'copy' ? (
        <NameForm key={form} way={form} name={name} type={metadata.type} done={() => setForm('none')} />
      ) : null}
    </>
  );
}

function Term(props: { title: string; children: VNode | string }): VNode {
  return (
    <div>
      <dt>{props.title}</dt>
      <dd>{props.children}</dd>
    </div>
  );
}

/** The remaining time to live, updated every second. */
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
