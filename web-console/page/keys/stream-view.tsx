// A stream: its entries, newest first, and its consumer groups.

import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { connection } from '../connection/state.ts';
import { moment } from '../parts/times.ts';
import type { Argument, Reply } from '../resp/reply.ts';
import { BytesInput } from './bytes-input.tsx';
import { draftBytes, EMPTY, type Draft } from './drafts.ts';
import { shownStart } from './escapes.ts';
import { Grid } from './grid.tsx';
import { afterwards, callIfSure, MemberForm, OpenButton } from './member-form.tsx';
import { PAGE } from './paging.ts';
import { bytesIn, itemsOf, numberIn, pairsOf, textIn } from './replies.ts';
import { countOf, countText } from './sizes.ts';
import { StreamGroups } from './stream-groups.tsx';
import { timeOfId } from './stream-ids.ts';
import { Problem, useAction } from './use-action.tsx';
import { useScannedPages } from './use-pages.ts';
import type { ValueProps } from './value-props.ts';

type Entry = { id: string; fields: [Uint8Array, Uint8Array][] };

export function StreamView(props: ValueProps): VNode {
  const { keyBytes, metadata } = props;
  const [open, setOpen] = useState<Entry | 'new' | undefined>(undefined);
  const [groups, setGroups] = useState(false);
  // The "cursor" is the oldest ID read so far: the next page ends before it.
  const pages = useScannedPages<Entry>('', async (client, cursor) => {
    const end = cursor === '0' ? '+' : `(${cursor}`;
    const entries = itemsOf(await client.call(['XREVRANGE', keyBytes, end, '-', 'COUNT', String(PAGE)])).map(
      entryOf,
    );
    const oldest = entries[entries.length - 1];
    return {
      cursor: entries.length < PAGE || oldest === undefined ? '0' : oldest.id,
      found: entries.map((row) => ({ name: row.id, row })),
    };
  });
  const done = afterwards(() => setOpen(undefined), pages, props);
  return (
    <div class="keys-value">
      <div class="keys-bar">
        <OpenButton text="Add entry" isOpen={open === 'new'} onOpen={() => setOpen('new')} />
        <button type="button" class="button small" aria-expanded={groups} onClick={() => setGroups(!groups)}>
          Groups
        </button>
        <span class="keys-faint keys-last">
          {countText(pages.rows.length)} of {countOf(metadata.length, 'entry', 'entries')}, newest first
        </span>
      </div>
      {groups ? <StreamGroups keyBytes={keyBytes} changed={props.changed} /> : null}
      {open === 'new' ? (
        <NewEntry keyBytes={keyBytes} onDone={done} onCancel={() => setOpen(undefined)} />
      ) : null}
      {open !== undefined && open !== 'new' ? (
        <EntryDetail
          key={open.id}
          keyBytes={keyBytes}
          entry={open}
          onDone={done}
          onCancel={() => setOpen(undefined)}
        />
      ) : null}
      <Problem text={pages.problem} />
      <Grid<Entry>
        label="Entries"
        count={pages.rows.length}
        rowAt={(index) => pages.rows[index]}
        onWindow={(_, end) => {
          if (end >= pages.rows.length) pages.more();
        }}
        onOpen={setOpen}
        isOpen={(row) => row === open}
        empty={pages.busy ? 'Reading…' : 'The stream has no entries.'}
        columns={[
          { title: 'ID', class: 'keys-col-id', cell: (row) => row.id },
          { title: 'Time', class: 'keys-col-time', cell: (row) => <IdTime id={row.id} /> },
          { title: 'Fields', class: 'keys-col-value', cell: (row) => <Fields fields={row.fields} /> },
        ]}
      />
    </div>
  );
}

function entryOf(reply: Reply): Entry {
  const [id, fields] = itemsOf(reply);
  return { id: textIn(id), fields: pairsOf(fields).map(([field, value]) => [bytesIn(field), bytesIn(value)]) };
}

function IdTime(props: { id: string }): VNode {
  const time = timeOfId(props.id);
  return time === undefined ? <>–</> : <time dateTime={time.toISOString()}>{moment(time.getTime())}</time>;
}

/** More fields of an entry do not fit into a row. */
const FIELDS_SHOWN = 8;

function Fields(props: { fields: [Uint8Array, Uint8Array][] }): VNode {
  return (
    <>
      {props.fields.slice(0, FIELDS_SHOWN).map(([field, value], at) => (
        <span key={at} class="keys-pair">
          <bdi class="keys-faint">{shownStart(field, 60)}</bdi> <bdi>{shownStart(value, 120)}</bdi>
        </span>
      ))}
      {props.fields.length > FIELDS_SHOWN ? '…' : null}
    </>
  );
}

function EntryDetail(props: {
  keyBytes: Uint8Array;
  entry: Entry;
  onDone(text: string): void;
  onCancel(): void;
}): VNode {
  const { keyBytes, entry } = props;
  const action = useAction();
  const remove = (): Promise<void> =>
    action.run(async () => {
      const question = {
        title: 'Delete this entry?',
        text: `Entry ${entry.id} will be gone.`,
        action: 'Delete',
      };
      const deleted = await callIfSure(question, ['XDEL', keyBytes, entry.id]);
      if (deleted === undefined) return;
      if (numberIn(deleted) === 0) throw new Error('The entry is gone already.');
      props.onDone('Deleted');
    });
  return (
    <MemberForm
      title={`Entry ${entry.id}`}
      action={action}
      submit=""
      onSubmit={props.onCancel}
      onCancel={props.onCancel}
      what="entry"
      onDelete={() => void remove()}
    >
      <dl class="keys-entry">
        {entry.fields.map(([field, value], at) => (
          <div key={at}>
            <dt>
              <bdi>{shownStart(field)}</bdi>
            </dt>
            <dd>
              <bdi>{shownStart(value, 10_000)}</bdi>
            </dd>
          </div>
        ))}
      </dl>
    </MemberForm>
  );
}

function NewEntry(props: { keyBytes: Uint8Array; onDone(text: string): void; onCancel(): void }): VNode {
  const [id, setId] = useState('*');
  const [pairs, setPairs] = useState<[Draft, Draft][]>([[EMPTY, EMPTY]]);
  const action = useAction();
  const add = (): Promise<void> =>
    action.run(async () => {
      const command: Argument[] = ['XADD', props.keyBytes, id.trim()];
      for (const [field, value] of pairs) command.push(draftBytes(field), draftBytes(value));
      await (await connection.client()).call(command);
      props.onDone('Added');
    });
  return (
    <MemberForm
      title="New entry"
      action={action}
      submit="Add"
      onSubmit={() => void add()}
      onCancel={props.onCancel}
    >
      <label class="keys-field keys-narrow">
        <span>ID (* is now)</span>
        <input type="text" class="input" value={id} onInput={(event) => setId(event.currentTarget.value)} />
      </label>
      <PairInputs pairs={pairs} onPairs={setPairs} />
    </MemberForm>
  );
}

/** Inputs for fields and values, one pair per row. */
export function PairInputs(props: {
  pairs: [Draft, Draft][];
  onPairs(pairs: [Draft, Draft][]): void;
}): VNode {
  const { pairs, onPairs } = props;
  const put = (at: number, pair: [Draft, Draft]): void =>
    onPairs(pairs.map((old, index) => (index === at ? pair : old)));
  return (
    <>
      {pairs.map(([field, value], at) => (
        <div key={at} class="keys-pair-row">
          <BytesInput
            label="Field"
            draft={field}
            onDraft={(draft) => put(at, [draft, value])}
            focus={at > 0}
          />
          <BytesInput label="Value" draft={value} onDraft={(draft) => put(at, [field, draft])} />
          {pairs.length > 1 ? (
            <button
              type="button"
              class="button small keys-remove"
              aria-label="Leave this field out"
              onClick={() => onPairs(pairs.filter((_, index) => index !== at))}
            >
              ×
            </button>
          ) : null}
        </div>
      ))}
      <div>
        <button type="button" class="button small" onClick={() => onPairs([...pairs, [EMPTY, EMPTY]])}>
          One more field
        </button>
      </div>
    </>
  );
}
