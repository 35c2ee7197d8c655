// A hash as a table of fields and values.

import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { connection } from '../connection/state.ts';
import { confirm } from '../parts/confirm.tsx';
import type { Argument } from '../resp/reply.ts';
import { BytesInput } from './bytes-input.tsx';
import { draftBytes, draftOf, EMPTY } from './drafts.ts';
import { shownStart } from './escapes.ts';
import { Grid } from './grid.tsx';
import { afterwards, callIfSure, CHANGED, LongValue, MemberBar, MemberForm, OpenButton, tooLong } from './member-form.tsx';
import { nameOf, sameBytes } from './names.ts';
import { bytesIn, bytesOrNone, itemsOf, numberIn, pairsOf, textIn } from './replies.ts';
import { scanPage } from './scan.ts';
import { changeIf } from './transaction.ts';
import { Problem, useAction } from './use-action.tsx';
import { useScannedPages } from './use-pages.ts';
import type { ValueProps } from './value-props.ts';

type Pair = { field: Uint8Array; value: Uint8Array };

export function HashView(props: ValueProps): VNode {
  const { keyBytes, metadata } = props;
  const [filter, setFilter] = useState('');
  const [open, setOpen] = useState<Pair | 'new' | undefined>(undefined);
  const pages = useScannedPages<Pair>(filter, async (client, cursor) => {
    const [next, flat] = itemsOf(await client.call(scanPage('HSCAN', keyBytes, cursor, filter)));
    const found = pairsOf(flat).map(([field, value]) => {
      const row = { field: bytesIn(field), value: bytesIn(value) };
      return { name: nameOf(row.field), row };
    });
    return { cursor: textIn(next), found };
  });
  const done = afterwards(() => setOpen(undefined), pages, props);
  return (
    <div class="keys-value">
      <MemberBar
        filter={filter}
        onFilter={setFilter}
        shown={pages.rows.length}
        total={metadata.length}
        done={pages.done}
        full={pages.full}
      >
        <OpenButton text="Add field" isOpen={open === 'new'} onOpen={() => setOpen('new')} />
      </MemberBar>
      {open === undefined ? null : (
        <FieldForm
          key={open === 'new' ? 'new' : nameOf(open.field)}
          keyBytes={keyBytes}
          pair={open === 'new' ? undefined : open}
          onDone={done}
          onCancel={() => setOpen(undefined)}
        />
      )}
      <Problem text={pages.problem} />
      <Grid<Pair>
        label="Fields"
        count={pages.rows.length}
        rowAt={(index) => pages.rows[index]}
        onWindow={(_, end) => {
          if (end >= pages.rows.length) pages.more();
        }}
        onOpen={setOpen}
        isOpen={(row) => row === open}
        empty={pages.busy ? 'Reading…' : 'No field fits the filter.'}
        columns={[
          { title: 'Field', class: 'keys-col-name', cell: (row) => <bdi>{shownStart(row.field)}</bdi> },
          { title: 'Value', class: 'keys-col-value', cell: (row) => <bdi>{shownStart(row.value)}</bdi> },
        ]}
      />
    </div>
  );
}

function FieldForm(props: {
  keyBytes: Uint8Array;
  pair: Pair | undefined;
  onDone(text: string): void;
  onCancel(): void;
}): VNode {
  const { keyBytes, pair } = props;
  const long = tooLong(pair?.value) || tooLong(pair?.field);
  const [field, setField] = useState(pair === undefined || long ? EMPTY : draftOf(pair.field));
  const [value, setValue] = useState(pair === undefined || long ? EMPTY : draftOf(pair.value, 'many'));
  const action = useAction();
  const unchanged = (of: Pair) => ({
    command: ['HGET', keyBytes, of.field],
    same: (reply: Parameters<typeof bytesOrNone>[0]) => {
      const now = bytesOrNone(reply);
      return now !== undefined && sameBytes(now, of.value);
    },
  });
  const save = (): Promise<void> =>
    action.run(async () => {
      const newField = draftBytes(field);
      const newValue = draftBytes(value);
      const client = await connection.client();
      const renamed = pair === undefined || !sameBytes(newField, pair.field);
      if (renamed && numberIn(await client.call(['HEXISTS', keyBytes, newField])) === 1) {
        const sure = await confirm({
          title: 'Overwrite the field?',
          text: `There is a field ${shownStart(newField)} already. Its value would be lost.`,
          action: 'Overwrite',
          danger: true,
        });
        if (!sure) return;
      }
      if (pair === undefined) {
        await client.call(['HSET', keyBytes, newField, newValue]);
      } else {
        const writes: Argument[][] = [['HSET', keyBytes, newField, newValue]];
        if (renamed) writes.push(['HDEL', keyBytes, pair.field]);
        if ((await changeIf(keyBytes, [unchanged(pair)], writes)) === 'changed') throw new Error(CHANGED);
      }
      props.onDone('Saved');
    });
  const remove = (of: Pair): Promise<void> =>
    action.run(async () => {
      const question = {
        title: 'Delete this field?',
        text: `${shownStart(of.field)} and its value will be gone.`,
        action: 'Delete',
      };
      if ((await callIfSure(question, ['HDEL', keyBytes, of.field])) === undefined) return;
      props.onDone('Deleted');
    });
  return (
    <MemberForm
      title={pair === undefined ? 'New field' : 'Edit field'}
      action={action}
      submit={long ? '' : 'Save'}
      onSubmit={() => void save()}
      onCancel={props.onCancel}
      what="field"
      onDelete={pair === undefined ? undefined : () => void remove(pair)}
    >
      {pair !== undefined && long ? (
        <LongValue bytes={pair.value} />
      ) : (
        <>
          <BytesInput label="Field" draft={field} onDraft={setField} focus={pair === undefined} />
          <BytesInput
            label="Value"
            lines="many"
            draft={value}
            onDraft={setValue}
            focus={pair !== undefined}
          />
        </>
      )}
    </MemberForm>
  );
}
