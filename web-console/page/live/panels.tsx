// The panels below the charts: commands, clients, slow log, disk or cluster, keyspace.

import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { connection } from '../connection/state.ts';
import { confirm } from '../parts/confirm.tsx';
import { toast } from '../parts/toast.tsx';
import { showBytes } from '../parts/bytes.ts';
import type { Argument } from '../resp/reply.ts';
import { matches, type ClientLine } from '../connection/client-list.ts';
import { commandRates, type CommandRate } from './commands.ts';
import { clusterFigures, clusterName, silentSeconds } from './cluster.ts';
import { diskFigures, diskUse, isReadOnly, mergeProgress } from './disk.ts';
import * as format from '../parts/format.ts';
import { databases, type Info } from './info.ts';
import { secondsBetween, type Reading } from './reading.ts';
import { clients, ownId, slowLength, slowLog } from './sampler.ts';
import type { SlowEntry } from './slow.ts';
import { Table, type Column } from './table.tsx';
import { isTimed } from './unknown.ts';

function Panel({
  title,
  detail,
  tools,
  children,
}: {
  title: string;
  detail?: string;
  tools?: ComponentChildren;
  children: ComponentChildren;
}): VNode {
  return (
    <section class="live-panel" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {detail !== undefined && <span class="detail">{detail}</span>}
        <span class="tools">{tools}</span>
      </header>
      {children}
    </section>
  );
}

/** Sends a command that changes something, and reports the outcome. */
async function act(command: Argument[], done: string): Promise<void> {
  try {
    const client = await connection.client();
    const reply = await client.call(command);
    const isNothing = reply.type === 'integer' && reply.value === 0n;
    toast(isNothing ? 'It was gone already.' : done);
  } catch (error) {
    toast(error instanceof Error ? error.message : String(error), 'error');
  }
}

const COMMAND_COLUMNS: Column<CommandRate>[] = [
  { label: 'Command', by: (row) => row.name, render: (row) => <code>{row.name.replace('|', ' ')}</code> },
  {
    label: 'Calls/s',
    by: (row) => row.perSecond,
    render: (row) => format.count(row.perSecond),
    isNumber: true,
  },
  { label: 'Each', by: (row) => row.eachUs, render: (row) => format.micros(row.eachUs), isNumber: true },
  { label: 'Time', by: (row) => row.share, render: (row) => <Share of={row.share} />, isNumber: true },
  { label: 'Calls', by: (row) => row.calls, render: (row) => format.count(row.calls), isNumber: true },
  { label: 'Failed', by: (row) => row.failed + row.rejected, render: failures, isNumber: true },
];

/** What each command asks of a cluster. */
const CLUSTER_COLUMNS: Column<CommandRate>[] = [
  {
    label: 'Rounds each',
    by: (row) => row.roundsEach ?? 0,
    render: (row) => (row.roundsEach ?? 0).toFixed(2),
    isNumber: true,
  },
  {
    label: 'Run again',
    by: (row) => row.retries ?? 0,
    render: (row) => format.count(row.retries ?? 0),
    isNumber: true,
  },
];

/** The columns without those in `times` if the server does not time its commands. */
function timed<Row>(columns: Column<Row>[], info: Info, times: string[]): Column<Row>[] {
  return isTimed(info) ? columns : columns.filter(({ label }) => !times.includes(label));
}

function failures(row: CommandRate): VNode | string {
  const all = row.failed + row.rejected;
  const spoken = `${row.failed} failed, ${row.rejected} rejected`;
  return all === 0 ? (
    '0'
  ) : (
    <span class="bad" title={spoken}>
      {format.count(all)}
    </span>
  );
}

function Share({ of }: { of: number }): VNode | null {
  if (of === 0) return null;
  return (
    <span class="share">
      <span>{format.percent(Math.round(of * 1000) / 1000)}</span>
      <Bar of={of} />
    </span>
  );
}

function Bar({ of }: { of: number }): VNode {
  return (
    <span class="share-bar" aria-hidden="true">
      <span style={{ width: `${of * 100}%` }} />
    </span>
  );
}

export function Commands({ before, now }: { before: Reading | null; now: Reading }): VNode {
  const seconds = before === null ? 0 : secondsBetween(before, now);
  const rows = commandRates(before?.commands ?? null, now.commands, seconds);
  const hasTimes = isTimed(now.info);
  const columns = clusterName(now.info) !== null ? [...COMMAND_COLUMNS, ...CLUSTER_COLUMNS] : COMMAND_COLUMNS;
  const detail = hasTimes ? 'busiest first; time is the share of the interval' : 'busiest first; durations are not measured';
  return (
    <Panel title="Commands" detail={detail}>
      <Table
        label="Commands"
        columns={timed(columns, now.info, ['Each', 'Time'])}
        rows={rows}
        keyOf={(row) => row.name}
        nothing="No command yet."
      />
    </Panel>
  );
}

const CLIENT_COLUMNS: Column<ClientLine>[] = [
  { label: 'Id', by: (row) => Number(row.id), render: (row) => row.id, isNumber: true },
  { label: 'Address', by: (row) => row.address, render: (row) => <code>{row.address}</code> },
  { label: 'Name', by: (row) => row.name, render: (row) => row.name },
  { label: 'User', by: (row) => row.user, render: (row) => row.user },
  { label: 'Age', by: (row) => row.ageS, render: (row) => format.duration(row.ageS), isNumber: true },
  { label: 'Idle', by: (row) => row.idleS, render: (row) => format.duration(row.idleS), isNumber: true },
  { label: 'Db', by: (row) => row.db, render: (row) => row.db, isNumber: true },
  {
    label: 'Last command',
    by: (row) => row.command,
    render: (row) => <code>{row.command.replace('|', ' ')}</code>,
  },
  { label: 'Subscribed', by: (row) => row.channels + row.patterns, render: subscriptions, isNumber: true },
  { label: 'Library', by: (row) => row.library, render: (row) => row.library, isWide: true },
  { label: '', render: (row) => <KillButton client={row} />, isNumber: true },
];

function subscriptions({ channels, patterns }: ClientLine): VNode | string {
  const spoken = `${channels} channels, ${patterns} patterns`;
  return channels + patterns === 0 ? '' : <span title={spoken}>{channels + patterns}</span>;
}

function KillButton({ client }: { client: ClientLine }): VNode {
  if (client.id === ownId.value) return <span class="own">this console</span>;
  const kill = async () => {
    const who = client.name === '' ? client.address : `${client.name} (${client.address})`;
    const isSure = await confirm({
      title: `Close connection ${client.id}?`,
      text: `${who} loses its connection and its running command. Most clients connect again at once.`,
      action: 'Close it',
      danger: true,
    });
    if (isSure) await act(['CLIENT', 'KILL', 'ID', client.id], `Connection ${client.id} was closed.`);
  };
  return (
    <button type="button" class="button small" aria-label={`Kill client ${client.id}`} onClick={kill}>
      Kill
    </button>
  );
}

export function Clients(): VNode {
  const [wanted, setWanted] = useState('');
  const rows = clients.value.filter((client) => wanted === '' || matches(client, wanted));
  const filter = (
    <input
      type="search"
      class="input"
      placeholder="Filter"
      aria-label="Filter clients"
      value={wanted}
      onInput={(event) => setWanted(event.currentTarget.value)}
    />
  );
  return (
    <Panel title="Clients" detail={`${rows.length} of ${clients.value.length}`} tools={filter}>
      <Table
        label="Clients"
        columns={CLIENT_COLUMNS}
        rows={rows}
        keyOf={(row) => row.id}
        nothing="No client matches the filter."
      />
    </Panel>
  );
}

const SLOW_COLUMNS: Column<SlowEntry>[] = [
  { label: 'Id', by: (row) => Number(row.id), render: (row) => row.id, isNumber: true },
  { label: 'Time', by: (row) => row.atMs, render: (row) => format.moment(row.atMs) },
  { label: 'Took', by: (row) => row.tookUs, render: (row) => format.micros(row.tookUs), isNumber: true },
  { label: 'Command', render: (row) => <code>{row.args.map(shownArgument).join(' ')}</code>, isWide: true },
  { label: 'Client', by: (row) => row.address, render: slowClient },
];

function slowClient({ address, name }: SlowEntry): VNode {
  return <code>{name === '' ? address : `${name} ${address}`}</code>;
}

/** An argument in a form that can be typed: quoted if it would not be one word otherwise. */
function shownArgument(bytes: Uint8Array): string {
  const text = showBytes(bytes);
  const isOneWord = /^[^\s"']+$/.test(text);
  const isQuoted = text.startsWith('"');
  return isOneWord || isQuoted ? text : `"${text.replace(/["\\]/g, '\\$&')}"`;
}

export function SlowLog({ info }: { info: Info }): VNode {
  const hasTimes = isTimed(info);
  const reset = async () => {
    const isSure = await confirm({
      title: 'Empty the slow log?',
      text: 'Its entries are deleted for all clients of this server.',
      action: 'Empty it',
      danger: true,
    });
    if (isSure) await act(['SLOWLOG', 'RESET'], 'The slow log is empty.');
  };
  const button = (
    <button type="button" class="button small" disabled={slowLength.value === 0} onClick={reset}>
      Reset
    </button>
  );
  return (
    <Panel title="Slow log" detail={`${slowLength.value ?? 0} entries`} tools={button}>
      <Table
        label="Slow log"
        columns={timed(SLOW_COLUMNS, info, ['Took'])}
        rows={slowLog.value}
        keyOf={(row) => row.id}
        nothing={
          hasTimes
            ? 'No command was slow. The limit in microseconds is the setting slowlog-log-slower-than.'
            : 'No command was logged: durations are not measured here, so commands are logged only if slowlog-log-slower-than is 0.'
        }
      />
    </Panel>
  );
}

export function Disk({ info }: { info: Info }): VNode | null {
  const use = diskUse(info);
  const facts = diskFigures(info);
  const merge = mergeProgress(info);
  if (facts.length === 0) return null;
  const all = use === null ? 0 : use.live + use.dead;
  return (
    <Panel title="Disk" detail={use && all > 0 ? `${format.percent(use.dead / all)} dead` : ''}>
      {use && (
        <div class="disk-use">
          <Bar of={all === 0 ? 0 : use.live / all} />
        </div>
      )}
      {isReadOnly(info) && <p class="disk-note bad">Writes are refused because the disk has failed.</p>}
      {merge && (
        <div class="disk-note">
          <span>
            Merging: {format.bytes(merge.read)} of {format.bytes(merge.all)}
          </span>
          <Bar of={merge.read / merge.all} />
        </div>
      )}
      <dl class="facts">
        {use && (
          <div>
            <dt>Live</dt>
            <dd>{format.bytes(use.live)}</dd>
          </div>
        )}
        {facts.map(({ label, value }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}

export function Cluster({ info }: { info: Info }): VNode | null {
  const name = clusterName(info);
  const silent = silentSeconds(info);
  if (name === null) return null;
  return (
    <Panel title="Cluster" detail={name}>
      {silent !== null && <p class="disk-note bad">It has not answered for {format.duration(silent)}.</p>}
      <dl class="facts">
        {clusterFigures(info).map(({ label, value }) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}

export function Keyspace({ info }: { info: Info }): VNode {
  const rows = databases(info);
  const columns: Column<(typeof rows)[number]>[] = [
    { label: 'Database', by: (row) => row.db, render: (row) => `db${row.db}` },
    { label: 'Keys', by: (row) => row.keys, render: (row) => format.whole(row.keys), isNumber: true },
    {
      label: 'With TTL',
      by: (row) => row.expires,
      render: (row) => format.whole(row.expires),
      isNumber: true,
    },
    {
      label: 'Average TTL',
      by: (row) => row.averageTtlMs,
      render: (row) => averageTtl(row.averageTtlMs),
      isNumber: true,
    },
  ];
  return (
    <Panel title="Keyspace">
      <Table
        label="Keyspace"
        columns={columns}
        rows={rows}
        keyOf={(row) => String(row.db)}
        nothing="No keys yet."
      />
    </Panel>
  );
}

function averageTtl(ms: number): string {
  return ms === 0 ? format.NOTHING : format.duration(ms / 1000);
}
