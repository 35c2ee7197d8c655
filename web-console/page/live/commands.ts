// Calls and durations of each command, from two readings of INFO commandstats.

import { fields, type Info } from './info.ts';
import { growth } from './rates.ts';

export interface CommandCounters {
  calls: number;
  took_us: number;
  rejected: number;
  failed: number;
  /** How often it waited for the cluster, and ran again after a conflict; none if the data is in no cluster. */
  rounds?: number | undefined;
  retries?: number | undefined;
}

export interface CommandRate {
  name: string;
  /** Calls per second in the interval. */
  perSecond: number;
  /** Microseconds per call: in the interval, or since the start if the interval has no call. */
  eachUs: number;
  /** Since the start. */
  calls: number;
  rejected: number;
  failed: number;
  /** Rounds to the cluster per call since the start, and runs after a conflict; null if the data is in no cluster. */
  roundsEach: number | null;
  retries: number | null;
  /** Share (0 to 1) of the time of all commands in the interval. */
  share: number;
}

export function commandCounters(info: Info): Map<string, CommandCounters> {
  const all = new Map<string, CommandCounters>();
  for (const [name, value] of info.get('commandstats') ?? []) {
    if (!name.startsWith('cmdstat_')) continue;
    const counters = fields(value);
    all.set(name.slice('cmdstat_'.length), {
      calls: counters.get('calls') ?? 0,
      took_us: counters.get('usec') ?? 0,
      rejected: counters.get('rejected_calls') ?? 0,
      failed: counters.get('failed_calls') ?? 0,
      rounds: counters.get('cluster_rounds'),
      retries: counters.get('cluster_retries'),
    });
  }
  return all;
}

/** Busiest first: by calls in the interval, then by calls since the start. */
export function commandRates(
  before: Map<string, CommandCounters> | null,
  now: Map<string, CommandCounters>,
  seconds: number,
): CommandRate[] {
  const none = { calls: 0, took_us: 0 };
  const rows = [...now].map(([name, counters]) => {
    // A command without earlier counters had its first calls in this interval.
    const old = before === null ? undefined : (before.get(name) ?? none);
    const calls = growth(old?.calls, counters.calls) ?? 0;
    const took = growth(old?.took_us, counters.took_us) ?? 0;
    const overall = counters.calls > 0 ? counters.took_us / counters.calls : 0;
    return {
      row: {
        name,
        perSecond: seconds > 0 ? calls / seconds : 0,
        eachUs: calls > 0 ? took / calls : overall,
        calls: counters.calls,
        rejected: counters.rejected,
        failed: counters.failed,
        roundsEach: counters.rounds === undefined ? null : counters.rounds / Math.max(1, counters.calls),
        retries: counters.retries ?? null,
        share: 0,
      },
      took,
    };
  });
  const all = rows.reduce((sum, { took }) => sum + took, 0);
  for (const { row, took } of rows) row.share = all > 0 ? took / all : 0;
  return rows
    .map(({ row }) => row)
    .sort((a, b) => b.perSecond - a.perSecond || b.calls - a.calls || a.name.localeCompare(b.name));
}
