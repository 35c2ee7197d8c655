// A set: its members, in the order of SSCAN.

import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { connection } from '../connection/state.ts';
import { BytesInput } from './bytes-input.tsx';
import { draftBytes, draftOf, EMPTY } from './drafts.ts';
import { shownStart } from './escapes.ts';
import { Grid } from './grid.tsx';
import { afterwards, callIfSure, CHANGED, LongValue, MemberBar, MemberForm, OpenButton, tooLong } from './member-form.tsx';
import { nameOf, sameBytes } from './names.ts';
import { bytesIn, itemsOf, numberIn, textIn } from './replies.ts';
import { scanPage } from './scan.ts';
import { changeIf } from './transaction.ts';
import { Problem, useAction } from './use-action.tsx';
import { useScannedPages } from './use-pages.ts';
import type { ValueProps } from './value-props.ts';

export function SetView(props: ValueProps): VNode {
  const { keyBytes, metadata } = props;
  const [filter, setFilter] = useState('');
  const [open, setOpen] = useState<Uint8Array | 'new' | undefined>(undefined);
  const pages = useScannedPages<Uint8Array>(filter, async (client, cursor) => {
    const [next, members] = itemsOf(await client.call(scanPage('SSCAN', keyBytes, cursor, filter)));
    const found = itemsOf(members).map((member) => {
      const row = bytesIn(member);
      return { name: nameOf(row), row };
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
        <OpenButton text="Add member" isOpen={open === 'new'} onOpen={() => setOpen('new')} />
      </MemberBar>
      {open === undefined ? null : (
        <MemberEdit
          key={open === 'new' ? 'new' : `member ${nameOf(open)}`}
          keyBytes={keyBytes}
          member={open === 'new' ? undefined : open}
          onDone={done}
          onCancel={() => setOpen(undefined)}
        />
      )}
      <Problem text={pages.problem} />
      <Grid<Uint8Array>
        label="Members"
        count={pages.rows.length}
        rowAt={(index) => pages.rows[index]}
        onWindow={(_, end) => {
          if (end >= pages.rows.length) pages.more();
        }}
        onOpen={setOpen}
        isOpen={(row) => row === open}
        empty={pages.busy ? 'Reading…' : 'No member fits the filter.'}
        columns={[{ title: 'Member', class: 'keys-col-value', cell: (row) => <bdi>{shownStart(row)}</bdi> }]}
      />
    </div>
  );
}

function MemberEdit(props: {
  keyBytes: Uint8Array;
  member: Uint8Array | undefined;
  onDone(text: string): void;
  onCancel(): void;
}): VNode {
  const { keyBytes, member } = props;
  const long = tooLong(member);
  const [draft, setDraft] = useState(member === undefined || long ? EMPTY : draftOf(member, 'many'));
  const action = useAction();
  const save = (): Promise<void> =>
    action.run(async () => {
      const next = draftBytes(draft);
      if (member === undefined) {
        const added = numberIn(await (await connection.client()).call(['SADD', keyBytes, next]));
        if (added === 0) throw new Error('The set has this member already.');
      } else if (!sameBytes(next, member)) {
        const check = {
          command: ['SISMEMBER', keyBytes, member],
          same: (reply: Parameters<typeof numberIn>[0]) => numberIn(reply) === 1,
        };
        const writes = [
          ['SREM', keyBytes, member],
          ['SADD', keyBytes, next],
        ];
        if ((await changeIf(keyBytes, [check], writes)) === 'changed') throw new Error(CHANGED);
      }
      props.onDone('Saved');
    });
  const remove = (of: Uint8Array): Promise<void> =>
    action.run(async () => {
      const question = {
        title: 'Remove this member?',
        text: `${shownStart(of)} will be gone from the set.`,
        action: 'Remove',
      };
      if ((await callIfSure(question, ['SREM', keyBytes, of])) === undefined) return;
      props.onDone('Removed');
    });
  return (
    <MemberForm
      title={member === undefined ? 'New member' : 'Edit member'}
      action={action}
      submit={long ? '' : 'Save'}
      onSubmit={() => void save()}
      onCancel={props.onCancel}
      what="member"
      onDelete={member === undefined ? undefined : () => void remove(member)}
    >
      {member !== undefined && long ? (
        <LongValue bytes={member} />
      ) : (
        <BytesInput label="Member" lines="many" draft={draft} onDraft={setDraft} focus />
      )}
    </MemberForm>
  );
}
