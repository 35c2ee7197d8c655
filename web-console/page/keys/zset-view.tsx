// A sorted set by rank, lowest or highest score first: each page is read when it becomes visible.

import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { connection } from '../connection/state.ts';
import type { Argument } from '../resp/reply.ts';
import { BytesInput } from './bytes-input.tsx';
import { draftBytes, draftOf, EMPTY } from './drafts.ts';
import { shownStart } from './escapes.ts';
import { Grid } from './grid.tsx';
import { afterwards, callIfSure, CHANGED, LongValue, MemberForm, OpenButton, tooLong } from './member-form.tsx';
import { nameOf, sameBytes } from './names.ts';
import { bytesIn, numberIn, okay, pairsOf, textIn } from './replies.ts';
import { isScore } from './scores.ts';
import { countOf } from './sizes.ts';
import { changeIf } from './transaction.ts';
import { Problem, useAction } from './use-action.tsx';
import { useIndexedPages } from './use-pages.ts';
import type { ValueProps } from './value-props.ts';

/** The score is the server's text: the page shows and compares it unchanged. */
type Scored = { member: Uint8Array; score: string };

export function ZsetView(props: ValueProps): VNode {
  const { keyBytes, metadata } = props;
  const [order, setOrder] = useState<'up' | 'down'>('up');
  const [open, setOpen] = useState<Scored | 'new' | undefined>(undefined);
  const pages = useIndexedPages<Scored>(metadata.length, order, async (client, start, stop) => {
    const command: Argument[] = ['ZRANGE', keyBytes, String(start), String(stop)];
    if (order === 'down') command.push('REV');
    command.push('WITHSCORES');
    return pairsOf(await client.call(command)).map(([member, score]) => ({
      member: bytesIn(member),
      score: textIn(score),
    }));
  });
  const done = afterwards(() => setOpen(undefined), pages, props);
  return (
    <div class="keys-value">
      <div class="keys-bar">
        <OpenButton text="Add member" isOpen={open === 'new'} onOpen={() => setOpen('new')} />
        <button type="button" class="button small" onClick={() => setOrder(order === 'up' ? 'down' : 'up')}>
          {order === 'up' ? 'Lowest first ↑' : 'Highest first ↓'}
        </button>
        <span class="keys-faint keys-last">{countOf(metadata.length, 'member')}</span>
      </div>
      {open === undefined ? null : (
        <ScoreForm
          key={open === 'new' ? 'new' : `member ${nameOf(open.member)}`}
          keyBytes={keyBytes}
          scored={open === 'new' ? undefined : open}
          onDone={done}
          onCancel={() => setOpen(undefined)}
        />
      )}
      <Problem text={pages.problem} />
      <Grid<Scored>
        label="Members"
        count={metadata.length}
        rowAt={pages.at}
        onWindow={pages.onWindow}
        onOpen={setOpen}
        isOpen={(row) => row === open}
        empty="The sorted set is empty."
        columns={[
          {
            title: 'Rank',
            class: 'keys-col-number',
            cell: (_, index) => (order === 'up' ? index : metadata.length - 1 - index),
          },
          { title: 'Score', class: 'keys-col-number keys-col-score', cell: (row) => row.score },
          { title: 'Member', class: 'keys-col-value', cell: (row) => <bdi>{shownStart(row.member)}</bdi> },
        ]}
      />
    </div>
  );
}

function ScoreForm(props: {
  keyBytes: Uint8Array;
  scored: Scored | undefined;
  onDone(text: string): void;
  onCancel(): void;
}): VNode {
  const { keyBytes, scored } = props;
  const long = tooLong(scored?.member);
  const [member, setMember] = useState(scored === undefined || long ? EMPTY : draftOf(scored.member, 'many'));
  const [score, setScore] = useState(scored?.score ?? '');
  const action = useAction();
  const save = (): Promise<void> =>
    action.run(async () => {
      const next = draftBytes(member);
      if (!isScore(score)) throw new Error('Write a score: a number, inf or -inf.');
      if (scored === undefined) {
        const client = await connection.client();
        if (numberIn(await client.call(['ZADD', keyBytes, 'NX', score.trim(), next])) === 0) {
          throw new Error('The sorted set has this member already; open it to change its score.');
        }
      } else {
        const check = {
          command: ['ZSCORE', keyBytes, scored.member],
          same: (reply: Parameters<typeof okay>[0]) =>
            okay(reply).type !== 'null' && textIn(reply) === scored.score,
        };
        const writes: Argument[][] = sameBytes(next, scored.member)
          ? []
          : [['ZREM', keyBytes, scored.member]];
        writes.push(['ZADD', keyBytes, score.trim(), next]);
        if ((await changeIf(keyBytes, [check], writes)) === 'changed') throw new Error(CHANGED);
      }
      props.onDone('Saved');
    });
  const remove = (of: Scored): Promise<void> =>
    action.run(async () => {
      const question = {
        title: 'Remove this member?',
        text: `${shownStart(of.member)} will be gone from the sorted set.`,
        action: 'Remove',
      };
      if ((await callIfSure(question, ['ZREM', keyBytes, of.member])) === undefined) return;
      props.onDone('Removed');
    });
  return (
    <MemberForm
      title={scored === undefined ? 'New member' : 'Edit member'}
      action={action}
      submit={long ? '' : 'Save'}
      onSubmit={() => void save()}
      onCancel={props.onCancel}
      what="member"
      onDelete={scored === undefined ? undefined : () => void remove(scored)}
    >
      {scored !== undefined && long ? (
        <LongValue bytes={scored.member} />
      ) : (
        <>
          <label class="keys-field keys-narrow">
            <span>Score</span>
            <input
              type="text"
              class="input"
              inputMode="decimal"
              value={score}
              onInput={(event) => setScore(event.currentTarget.value)}
            />
          </label>
          <BytesInput label="Member" lines="many" draft={member} onDraft={setMember} focus />
        </>
      )}
    </MemberForm>
  );
}
