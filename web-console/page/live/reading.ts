// One reading of the server's figures, and the chart's point between two readings.

import { infoNumber, infoText, type Info } from './info.ts';
import { between, percentile, type Histogram } from './latency.ts';
import { commandCounters, type CommandCounters } from './commands.ts';
import { growth, rate, share } from './rates.ts';
import { hasProcess, isTimed } from './unknown.ts';

export interface Reading {
  atMs: number;
  info: Info;
  commands: Map<string, CommandCounters>;
  /** Null if the server has none. */
  histograms: Map<string, Histogram> | null;
}

export const SERIES = [
  'operations',
  'errors',
  'p50',
  'p99',
  'p999',
  'input',
  'output',
  'cpuUser',
  'cpuSystem',
  'memory',
  'resident',
  'clients',
  'blocked',
  'hits',
  'liveBytes',
  'deadBytes',
] as const;

export type Series = (typeof SERIES)[number];

/** The charts' values at a time (seconds since 1970); null is a gap. */
export type Point = { at: number } & Record<Series, number | null>;

/** The commands of this page, left out of the latencies: those are about the server's other work. */
const OWN = new Set(['info', 'latency|histogram', 'slowlog|len', 'slowlog|get', 'client|list']);

export function reading(atMs: number, info: Info, histograms: Map<string, Histogram> | null): Reading {
  return { atMs, info, commands: commandCounters(info), histograms: isTimed(info) ? histograms : null };
}

/** Whether both readings are of the same run of the same server. */
export function isSameRun(before: Reading, now: Reading): boolean {
  return infoText(before.info, 'run_id') === infoText(now.info, 'run_id');
}

/** The seconds between two readings, by the server's clock if it reports one. */
export function secondsBetween(before: Reading, now: Reading): number {
  const micros = growth(infoNumber(before.info, 'server_time_usec'), infoNumber(now.info, 'server_time_usec'));
  return micros !== null && micros > 0 ? micros / 1e6 : (now.atMs - before.atMs) / 1000;
}

/** The point of a reading. Rates need an earlier reading of the same run; levels do not. */
export function pointBetween(before: Reading | null, now: Reading): Point {
  const seconds = before === null ? 0 : secondsBetween(before, now);
  const level = (name: string) => infoNumber(now.info, name);
  const grown = (name: string) => (before === null ? null : growth(infoNumber(before.info, name), level(name)));
  const speed = (name: string) =>
    before === null ? null : rate(infoNumber(before.info, name), level(name), seconds);
  const latencies =
    before?.histograms && now.histograms
      ? between(before.histograms, now.histograms, (name) => OWN.has(name))
      : null;
  const latency = (percent: number) => (latencies === null ? null : percentile(latencies, percent));
  const [data, dead] = [level('datafile_bytes'), level('datafile_dead_bytes')];
  return {
    at: now.atMs / 1000,
    operations: speed('total_commands_processed'),
    errors: speed('total_error_replies'),
    p50: latency(50),
    p99: latency(99),
    p999: latency(99.9),
    input: speed('total_net_input_bytes'),
    output: speed('total_net_output_bytes'),
    cpuUser: hasProcess(now.info) ? speed('used_cpu_user') : null,
    cpuSystem: hasProcess(now.info) ? speed('used_cpu_sys') : null,
    memory: level('used_memory'),
    resident: level('used_memory_rss'),
    clients: level('connected_clients'),
    blocked: level('blocked_clients'),
    hits: share(grown('keyspace_hits'), grown('keyspace_misses')),
    liveBytes: data === null || dead === null ? null : Math.max(0, data - dead),
    deadBytes: dead,
  };
}

/** A point that breaks the lines. */
export function gap(atMs: number): Point {
  const nothing = Object.fromEntries(SERIES.map((name) => [name, null])) as Record<Series, null>;
  return { at: atMs / 1000, ...nothing };
}
