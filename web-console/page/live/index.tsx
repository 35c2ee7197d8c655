// The live page: the server's figures in tiles, charts and tables.

import type { VNode } from 'preact';
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { connection } from '../connection/state.ts';
import { Chart } from './chart.tsx';
import * as format from '../parts/format.ts';
import { databases, infoText, infoNumber, type Info } from './info.ts';
import { Clients, Cluster, Commands, Disk, Keyspace, SlowLog } from './panels.tsx';
import type { Point, Reading, Series } from './reading.ts';
import { hasProcess, isTimed, NO_PROCESSOR, NOT_TIMED, sleepsWhenIdle } from './unknown.ts';
import { history, INTERVALS_S, intervalS, isPaused, samples, problem, watch } from './sampler.ts';
import '../parts/panels.css';
import './live.css';

const WINDOWS_MIN = [1, 5, 30] as const;
const windowMin = signal<number>(1);

export function Live(): VNode {
  useEffect(watch, []);
  // The history changes in place; this signal makes the component draw again.
  void samples.value;
  const { now, before } = history;
  const last = history.last();
  return (
    <div class="live">
      <Head now={now} />
      {now === null || last === undefined ? (
        <p class="nothing" role="status">
          {problem.value === '' ? 'Waiting for the first figures…' : problem.value}
        </p>
      ) : (
        <>
          <Tiles now={now} last={last} />
          <Charts info={now.info} />
          <div class="live-columns">
            <Commands before={before} now={now} />
            <div class="live-stack">
              <Disk info={now.info} />
              <Cluster info={now.info} />
              <Keyspace info={now.info} />
            </div>
          </div>
          <Clients />
          <SlowLog info={now.info} />
        </>
      )}
    </div>
  );
}

export default Live;

function Head({ now }: { now: Reading | null }): VNode {
  const version = now === null ? undefined : infoText(now.info, 'edgecask_version');
  const redis = now === null ? undefined : infoText(now.info, 'redis_version');
  const uptime = now === null ? null : infoNumber(now.info, 'uptime_in_seconds');
  const facts = [
    version ? `EdgeCask ${version}` : redis ? `Redis ${redis}` : '',
    uptime === null || now === null
      ? ''
      : `${sleepsWhenIdle(now.info) ? 'awake, and counting, for' : 'up'} ${format.duration(uptime)}`,
  ];
  return (
    <header class="live-head">
      <h1>Live</h1>
      <span class="detail">{facts.filter((text) => text !== '').join(' · ')}</span>
      <State />
      <span class="tools">
        <Choice label="Every" unit="s" choices={INTERVALS_S} value={intervalS} />
        <Choice label="Show" unit="min" choices={WINDOWS_MIN} value={windowMin} />
        <button
          type="button"
          class="button"
          aria-pressed={isPaused.value}
          onClick={() => (isPaused.value = !isPaused.value)}
        >
          {isPaused.value ? 'Resume' : 'Pause'}
        </button>
      </span>
    </header>
  );
}

function State(): VNode | null {
  if (isPaused.value) return <span class="live-state">paused</span>;
  if (connection.status.value !== 'open') return <span class="live-state">waiting for the connection</span>;
  return problem.value === '' ? null : <span class="live-state bad">{problem.value}</span>;
}

function Choice({
  label,
  unit,
  choices,
  value,
}: {
  label: string;
  unit: string;
  choices: readonly number[];
  value: { value: number };
}): VNode {
  return (
    <label class="live-choice">
      <span>{label}</span>
      <select
        class="select"
        value={String(value.value)}
        onChange={(event) => (value.value = Number(event.currentTarget.value))}
      >
        {choices.map((choice) => (
          <option key={choice} value={String(choice)}>
            {choice} {unit}
          </option>
        ))}
      </select>
    </label>
  );
}

function Tiles({ now, last }: { now: Reading; last: Point }): VNode {
  const keys = databases(now.info).reduce((sum, database) => sum + database.keys, 0);
  const cpu = last.cpuUser === null || last.cpuSystem === null ? null : last.cpuUser + last.cpuSystem;
  const tiles: [label: string, value: string, more: string][] = [
    // The unit is in the label, so that the number fits.
    ['Operations /s', format.count(last.operations), `${format.count(last.errors)} errors`],
    ['Latency', format.micros(last.p99), isTimed(now.info) ? `p99 · p50 ${format.micros(last.p50)}` : 'not measured'],
    ['Clients', format.count(last.clients), `${format.count(last.blocked)} blocked`],
    ['Keys', format.count(keys), `${format.count(infoNumber(now.info, 'expired_keys'))} expired`],
    ['Hits', format.percent(last.hits), 'of lookups'],
    ['Memory', format.bytes(last.memory), `${format.bytes(last.resident)} resident`],
    ['Received /s', format.bytes(last.input), `${format.bytes(last.output)} sent`],
    ['CPU', format.percent(cpu), hasProcess(now.info) ? 'of a core' : 'not measured'],
  ];
  return (
    <dl class="tiles">
      {tiles.map(([label, value, more]) => (
        <div key={label} class="tile">
          <dt>{label}</dt>
          <dd class="tile-value">{value}</dd>
          <dd class="tile-more">{more}</dd>
        </div>
      ))}
    </dl>
  );
}

interface ChartPlan {
  title: string;
  lines: [series: Series, label: string][];
  show(value: number | null): string;
  axis?(value: number): string;
  kind?: 'share' | 'logarithmic';
}

const perSecond = (show: (value: number | null) => string) => (value: number | null) => `${show(value)}/s`;

const CHARTS: ChartPlan[] = [
  {
    title: 'Operations',
    lines: [
      ['operations', 'all'],
      ['errors', 'errors'],
    ],
    show: perSecond(format.count),
    axis: format.count,
  },
  {
    title: 'Latency',
    lines: [
      ['p50', 'p50'],
      ['p99', 'p99'],
      ['p999', 'p99.9'],
    ],
    show: format.micros,
    kind: 'logarithmic',
  },
  {
    title: 'Network',
    lines: [
      ['input', 'in'],
      ['output', 'out'],
    ],
    show: perSecond(format.bytes),
    axis: format.bytes,
  },
  {
    title: 'CPU',
    lines: [
      ['cpuUser', 'user'],
      ['cpuSystem', 'system'],
    ],
    show: format.percent,
  },
  {
    title: 'Memory',
    lines: [
      ['memory', 'used'],
      ['resident', 'resident'],
    ],
    show: format.bytes,
  },
  {
    title: 'Clients',
    lines: [
      ['clients', 'connected'],
      ['blocked', 'blocked'],
    ],
    show: format.count,
  },
  { title: 'Hits', lines: [['hits', 'of lookups']], show: format.percent, kind: 'share' },
  {
    title: 'Datafiles',
    lines: [
      ['liveBytes', 'live'],
      ['deadBytes', 'dead'],
    ],
    show: format.bytes,
  },
];

function Charts({ info }: { info: Info }): VNode {
  // The history changes in place; this signal makes the component draw again.
  void samples.value;
  const plans = CHARTS.filter(({ title }) => title !== 'Datafiles' || history.last()?.liveBytes !== null);
  return (
    <div class="charts">
      {plans.map(({ title, lines, show, axis, kind }) => {
        const missing = whyMissing(title, info);
        if (missing !== null) return <Missing key={title} title={title} why={missing} />;
        const [at, ...values] = history.columns(lines.map(([series]) => series));
        return (
          <Chart
            key={title}
            title={title}
            at={at}
            lines={lines.map(([, label], index) => ({ label, values: values[index] ?? [] }))}
            show={show}
            {...(axis ? { axis } : {})}
            {...(kind ? { kind } : {})}
            windowS={windowMin.value * 60}
          />
        );
      })}
    </div>
  );
}

/** Why a chart has no values on this server; null if it has some. */
function whyMissing(title: string, info: Info): string | null {
  if (title === 'Latency' && !isTimed(info)) return NOT_TIMED;
  if (title === 'CPU' && !hasProcess(info)) return NO_PROCESSOR;
  return null;
}

function Missing({ title, why }: { title: string; why: string }): VNode {
  return (
    <figure class="chart">
      <figcaption>
        <h3>{title}</h3>
      </figcaption>
      <p class="chart-note">{why}</p>
    </figure>
  );
}
