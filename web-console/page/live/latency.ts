// Latencies of an interval, from two readings of LATENCY HISTOGRAM.
//
// A histogram has, for each bound (microseconds, doubling), the number of calls since the start that took at most that
// long. The difference of two readings is the histogram of the interval. Calls count as evenly spread inside a bucket, so
// a percentile is exact to its bucket.

import type { Reply } from '../resp/reply.ts';
import { numberOf, pairsOf, textOf } from '../resp/values.ts';

/** The calls of each bucket by its upper bound in microseconds, not cumulative. */
export type Histogram = Map<number, number>;

/** Histograms by command. */
export function parseHistograms(reply: Reply): Map<string, Histogram> {
  const all = new Map<string, Histogram>();
  for (const [name, histogramReply] of pairsOf(reply)) {
    const buckets = pairsOf(pairsOf(histogramReply).find(([field]) => textOf(field) === 'histogram_usec')?.[1]);
    const histogram: Histogram = new Map();
    let below = 0;
    for (const [bound, calls] of buckets) {
      const [bound_us, cumulated] = [numberOf(bound), numberOf(calls)];
      if (bound_us === null || cumulated === null) continue;
      histogram.set(bound_us, Math.max(0, cumulated - below));
      below = Math.max(below, cumulated);
    }
    all.set(textOf(name), histogram);
  }
  return all;
}

/**
 * The calls between two readings of all commands together, without the ignored ones; null if a command has fewer calls
 * than before (its counters were reset).
 */
export function between(
  before: Map<string, Histogram>,
  now: Map<string, Histogram>,
  isIgnored: (command: string) => boolean = () => false,
): Histogram | null {
  const sum: Histogram = new Map();
  for (const name of before.keys()) {
    if (!now.has(name) && !isIgnored(name)) return null;
  }
  for (const [name, histogram] of now) {
    if (isIgnored(name)) continue;
    const old = before.get(name);
    if (old && total(old) > total(histogram)) return null;
    for (const [bound, calls] of histogram) {
      const grown = calls - (old?.get(bound) ?? 0);
      if (grown > 0) sum.set(bound, (sum.get(bound) ?? 0) + grown);
    }
  }
  return sum;
}

function total(histogram: Histogram): number {
  let calls = 0;
  for (const count of histogram.values()) calls += count;
  return calls;
}

/** The time in microseconds that `percent` of the calls do not exceed; null without calls. */
export function percentile(histogram: Histogram, percent: number): number | null {
  const calls = total(histogram);
  if (calls === 0) return null;
  const rank = Math.max(1, (calls * percent) / 100);
  const bounds = [...histogram.keys()].sort((a, b) => a - b);
  let below = 0;
  for (const bound of bounds) {
    const inside = histogram.get(bound) ?? 0;
    if (inside > 0 && below + inside >= rank) {
      // Bounds double, so this bucket begins at half of its bound; the first one begins at zero.
      const from = bound <= 1 ? 0 : bound / 2;
      return from + ((bound - from) * (rank - below)) / inside;
    }
    below += inside;
  }
  return bounds[bounds.length - 1] ?? null;
}
