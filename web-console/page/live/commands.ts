// How often each command ran and how long it took, from two readings of INFO commandstats.

import { fields, type Info } from './info.ts';
import { growth } from './rates.ts';

export interface CommandCounters {
  calls: number;
  took_us: number;
  rejected: number;
  failed: number;
}

export interface CommandRate {
  name: string;
  /** Calls a second in the interval. */
  perSecond: number;
  /** Microseconds a call: of the interval, or since the start if there was none in it. */
  eachUs: number;
  /** Since the start. */
  calls: number;
  rejected: number;
  failed: number;
  /** Share (0 to 1) of the time all commands took in the interval. */
  share: number;
}

export function commandCounters(info: Info): Map<string, CommandCounters> {
  const all = new Map<string, CommandCounters>();
  for (const [name, value] of info.get('commandstats') ?? []) {
    if (!name.startsWith('cmdstat_')) continue;
    const told = fields(value);
    all.set(name.slice('cmdstat_'.length), {
      calls: told.get('calls') ?? 0,
      took_us: told.get('usec') ?? 0,
      rejected: told.get('rejected_calls') ?? 0,
      failed: told.get('failed_calls') ?? 0,
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
    // A command that was not there before has just had its first calls.
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
