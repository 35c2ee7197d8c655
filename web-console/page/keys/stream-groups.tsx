// The consumer groups of a stream: their consumers and pending entries; forms that create and destroy groups.

import type { VNode } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { connection } from '../connection/state.ts';
import { confirm } from '../parts/confirm.tsx';
import { toast } from '../parts/toast.tsx';
import { BytesInput } from './bytes-input.tsx';
import { draftBytes, EMPTY } from './drafts.ts';
import { durationText } from './durations.ts';
import { shownStart } from './escapes.ts';
import { nameOf } from './names.ts';
import { bytesIn, fieldsOf, itemsOf, numberIn, numberOrNone, textIn } from './replies.ts';
import { countOf, countText } from './sizes.ts';
import { Problem, useAction } from './use-action.tsx';

/** How many pending entries of a group are listed, the oldest first. */
const PENDING_SHOWN = 50;

type Group = {
  name: Uint8Array;
  consumers: number;
  pending: number;
  lastId: string;
  lag: number | undefined;
};
type Consumer = { name: Uint8Array; pending: number; idleMs: number };
type Pending = { id: string; consumer: Uint8Array; idleMs: number; deliveries: number };

export function StreamGroups(props: { keyBytes: Uint8Array; changed(): void }): VNode {
  const { keyBytes } = props;
  const [groups, setGroups] = useState<Group[] | undefined>(undefined);
  const [open, setOpen] = useState<string | undefined>(undefined);
  const reading = useAction();
  const read = useCallback(
    () =>
      reading.run(async () => {
        const reply = await (await connection.client()).call(['XINFO', 'GROUPS', keyBytes]);
        setGroups(
          itemsOf(reply).map((item) => {
            const fields = fieldsOf(item);
            return {
              name: bytesIn(fields.get('name')),
              consumers: numberIn(fields.get('consumers')),
              pending: numberIn(fields.get('pending')),
              lastId: textIn(fields.get('last-delivered-id')),
              lag: fields.has('lag') ? numberOrNone(fields.get('lag')) : undefined,
            };
          }),
        );
      }),
    [],
  );
  useEffect(() => void read(), []);
  const changed = (): void => {
    void read();
    props.changed();
  };
  return (
    <section class="keys-groups" aria-label="Groups">
      <Problem text={reading.problem} />
      {groups?.map((group) => {
        const name = nameOf(group.name);
        return (
          <div key={name} class="keys-group">
            <div class="keys-group-head">
              <button
                type="button"
                class="keys-inline"
                aria-expanded={open === name}
                onClick={() => setOpen(open === name ? undefined : name)}
              >
                <bdi>{shownStart(group.name)}</bdi>
              </button>
              <span class="keys-faint">
                {countOf(group.consumers, 'consumer')}, {countText(group.pending)} pending, read to{' '}
                {group.lastId}
                {group.lag === undefined ? '' : `, ${countText(group.lag)} to read`}
              </span>
              <Destroy keyBytes={keyBytes} group={group} changed={changed} />
            </div>
            {open === name ? <GroupDetail keyBytes={keyBytes} group={group.name} /> : null}
          </div>
        );
      })}
      {groups?.length === 0 ? <p class="keys-faint">The stream has no groups.</p> : null}
      <NewGroup keyBytes={keyBytes} changed={changed} />
    </section>
  );
}

function Destroy(props: { keyBytes: Uint8Array; group: Group; changed(): void }): VNode {
  const action = useAction();
  const destroy = (): Promise<void> =>
    action.run(async () => {
      const sure = await confirm({
        title: 'Destroy this group?',
        text:
          `${shownStart(props.group.name)} with ${countOf(props.group.consumers, 'consumer')} and ` +
          `${countOf(props.group.pending, 'pending entry', 'pending entries')} will be gone; ` +
          'the entries of the stream stay.',
        action: 'Destroy',
        danger: true,
      });
      if (!sure) return;
      await (await connection.client()).call(['XGROUP', 'DESTROY', props.keyBytes, props.group.name]);
      toast('Destroyed');
      props.changed();
    });
  return (
    <>
      <button
        type="button"
        class="button small keys-danger keys-last"
        disabled={action.busy}
        onClick={() => void destroy()}
      >
        Destroy
      </button>
      <Problem text={action.problem} />
    </>
  );
}

function GroupDetail(props: { keyBytes: Uint8Array; group: Uint8Array }): VNode {
  const { keyBytes, group } = props;
  const [detail, setDetail] = useState<{ consumers: Consumer[]; pending: Pending[] } | undefined>(undefined);
  const reading = useAction();
  useEffect(
    () =>
      void reading.run(async () => {
        const [consumers, pending] = await (
          await connection.client()
        ).pipeline([
          ['XINFO', 'CONSUMERS', keyBytes, group],
          ['XPENDING', keyBytes, group, '-', '+', String(PENDING_SHOWN)],
        ]);
        setDetail({
          consumers: itemsOf(consumers).map((item) => {
            const fields = fieldsOf(item);
            return {
              name: bytesIn(fields.get('name')),
              pending: numberIn(fields.get('pending')),
              idleMs: numberIn(fields.get('idle')),
            };
          }),
          pending: itemsOf(pending).map((item) => {
            const [id, consumer, idle, deliveries] = itemsOf(item);
            return {
              id: textIn(id),
              consumer: bytesIn(consumer),
              idleMs: numberIn(idle),
              deliveries: numberIn(deliveries),
            };
          }),
        });
      }),
    [],
  );
  return (
    <div class="keys-group-detail">
      <Problem text={reading.problem} />
      {detail === undefined ? null : (
        <>
          <table>
            <caption>Consumers</caption>
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Pending</th>
                <th scope="col">Idle</th>
              </tr>
            </thead>
            <tbody>
              {detail.consumers.map((consumer) => (
                <tr key={nameOf(consumer.name)}>
                  <td>
                    <bdi>{shownStart(consumer.name)}</bdi>
                  </td>
                  <td>{countText(consumer.pending)}</td>
                  <td>{durationText(consumer.idleMs)}</td>
                </tr>
              ))}
              {detail.consumers.length === 0 ? (
                <tr>
                  <td colSpan={3} class="keys-faint">
                    none
                  </td>
                </tr>
              ) : null}
            </tbody>
          </table>
          <table>
            <caption>
              Pending{detail.pending.length === PENDING_SHOWN ? `, the first ${PENDING_SHOWN}` : ''}
            </caption>
            <thead>
              <tr>
                <th scope="col">ID</th>
                <th scope="col">Consumer</th>
                <th scope="col">Idle</th>
                <th scope="col">Deliveries</th>
              </tr>
            </thead>
            <tbody>
              {detail.pending.map((entry) => (
                <tr key={entry.id}>
                  <td>{entry.id}</td>
                  <td>
                    <bdi>{shownStart(entry.consumer)}</bdi>
                  </td>
                  <td>{durationText(entry.idleMs)}</td>
                  <td>{countText(entry.deliveries)}</td>
                </tr>
              ))}
              {detail.pending.length === 0 ? (
                <tr>
                  <td colSpan={4} class="keys-faint">
                    none
                  </td>
                </tr>
              ) : null}
            </tbody>
          </table>
        </>
      )}
    </div>
  );
}

function NewGroup(props: { keyBytes: Uint8Array; changed(): void }): VNode {
  const [name, setName] = useState(EMPTY);
  const [start, setStart] = useState('$');
  const action = useAction();
  const create = (): Promise<void> =>
    action.run(async () => {
      await (
        await connection.client()
      ).call(['XGROUP', 'CREATE', props.keyBytes, draftBytes(name), start.trim()]);
      setName(EMPTY);
      toast('Group created');
      props.changed();
    });
  return (
    <form
      class="keys-new-group"
      onSubmit={(event) => {
        event.preventDefault();
        void create();
      }}
    >
      <BytesInput label="New group" draft={name} onDraft={setName} />
      <label class="keys-field keys-narrow">
        <span>Reads from ($ new, 0 all)</span>
        <input
          type="text"
          class="input"
          value={start}
          onInput={(event) => setStart(event.currentTarget.value)}
        />
      </label>
      <button type="submit" class="button small" disabled={action.busy || name.text === ''}>
        Create
      </button>
      <Problem text={action.problem} />
    </form>
  );
}
