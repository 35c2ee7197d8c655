// A list by position: each page is read when it becomes visible.

import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { connection } from '../connection/state.ts';
import { confirm } from '../parts/confirm.tsx';
import { BytesInput } from './bytes-input.tsx';
import { draftBytes, draftOf, EMPTY } from './drafts.ts';
import { shownStart } from './escapes.ts';
import { Grid } from './grid.tsx';
import { afterwards, CHANGED, LongValue, MemberForm, OpenButton, tooLong } from './member-form.tsx';
import { sameBytes } from './names.ts';
import { bytesIn, bytesOrNone, itemsOf } from './replies.ts';
import { countOf } from './sizes.ts';
import { changeIf } from './transaction.ts';
import { Problem, useAction } from './use-action.tsx';
import { useIndexedPages } from './use-pages.ts';
import type { ValueProps } from './value-props.ts';

type Element = { index: number; value: Uint8Array };

export function ListView(props: ValueProps): VNode {
  const { keyBytes, metadata } = props;
  const [open, setOpen] = useState<Element | 'head' | 'tail' | undefined>(undefined);
  const pages = useIndexedPages<Element>(metadata.length, '', async (client, start, stop) =>
    itemsOf(await client.call(['LRANGE', keyBytes, String(start), String(stop)])).map((value, offset) => ({
      index: start + offset,
      value: bytesIn(value),
    })),
  );
  const done = afterwards(() => setOpen(undefined), pages, props);
  return (
    <div class="keys-value">
      <div class="keys-bar">
        <OpenButton text="Add at the head" isOpen={open === 'head'} onOpen={() => setOpen('head')} />
        <OpenButton text="Add at the tail" isOpen={open === 'tail'} onOpen={() => setOpen('tail')} />
        <span class="keys-faint keys-last">{countOf(metadata.length, 'element')}</span>
      </div>
      {open === undefined ? null : (
        <ElementForm
          key={typeof open === 'string' ? open : open.index}
          keyBytes={keyBytes}
          element={open}
          onDone={done}
          onCancel={() => setOpen(undefined)}
        />
      )}
      <Problem text={pages.problem} />
      <Grid<Element>
        label="Elements"
        count={metadata.length}
        rowAt={pages.at}
        onWindow={pages.onWindow}
        onOpen={setOpen}
        isOpen={(row) => row === open}
        empty="The list is empty."
        columns={[
          { title: 'Index', class: 'keys-col-number', cell: (_, index) => index },
          { title: 'Value', class: 'keys-col-value', cell: (row) => <bdi>{shownStart(row.value)}</bdi> },
        ]}
      />
    </div>
  );
}

function ElementForm(props: {
  keyBytes: Uint8Array;
  element: Element | 'head' | 'tail';
  onDone(text: string): void;
  onCancel(): void;
}): VNode {
  const { keyBytes, element } = props;
  const long = typeof element !== 'string' && tooLong(element.value);
  const [draft, setDraft] = useState(
    typeof element === 'string' || long ? EMPTY : draftOf(element.value, 'many'),
  );
  const action = useAction();
  const unchanged = (of: Element) => ({
    command: ['LINDEX', keyBytes, String(of.index)],
    same: (reply: Parameters<typeof bytesOrNone>[0]) => {
      const now = bytesOrNone(reply);
      return now !== undefined && sameBytes(now, of.value);
    },
  });
  const save = (): Promise<void> =>
    action.run(async () => {
      const value = draftBytes(draft);
      if (typeof element === 'string') {
        await (await connection.client()).call([element === 'head' ? 'LPUSH' : 'RPUSH', keyBytes, value]);
      } else {
        const write = ['LSET', keyBytes, String(element.index), value];
        if ((await changeIf(keyBytes, [unchanged(element)], [write])) === 'changed') throw new Error(CHANGED);
      }
      props.onDone('Saved');
    });
  const remove = (of: Element): Promise<void> =>
    action.run(async () => {
      const sure = await confirm({
        title: `Delete element ${of.index}?`,
        text: `${shownStart(of.value)} will be gone, and those after it move up.`,
        action: 'Delete',
        danger: true,
      });
      if (!sure) return;
      // Redis deletes elements by value only: this one gets a random value first, and LREM deletes that value.
      const marker = crypto.getRandomValues(new Uint8Array(32));
      const writes = [
        ['LSET', keyBytes, String(of.index), marker],
        ['LREM', keyBytes, '1', marker],
      ];
      if ((await changeIf(keyBytes, [unchanged(of)], writes)) === 'changed') throw new Error(CHANGED);
      props.onDone('Deleted');
    });
  const title =
    element === 'head'
      ? 'New element at the head'
      : element === 'tail'
        ? 'New element at the tail'
        : `Element ${element.index}`;
  return (
    <MemberForm
      title={title}
      action={action}
      submit={long ? '' : 'Save'}
      onSubmit={() => void save()}
      onCancel={props.onCancel}
      what="element"
      onDelete={typeof element === 'string' ? undefined : () => void remove(element)}
    >
      {typeof element !== 'string' && long ? (
        <LongValue bytes={element.value} />
      ) : (
        <BytesInput label="Value" lines="many" draft={draft} onDraft={setDraft} focus />
      )}
    </MemberForm>
  );
}
