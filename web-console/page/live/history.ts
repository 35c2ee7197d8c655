// The points of the charts, bounded: what was looked at while the page was open, with gaps where it was not.

import { gap, isSameRun, pointBetween, type Point, type Reading, type Series } from './reading.ts';
import { Ring } from './ring.ts';

/** Half an hour of seconds. */
export const MOST_POINTS = 1800;

/** After so many missed intervals the lines break: an average over a long pause would look like a measurement. */
const MISSED_INTERVALS = 3;

export class History {
  private readonly points = new Ring<Point>(MOST_POINTS);
  before: Reading | null = null;
  now: Reading | null = null;

  /** Takes a reading in; `intervalMs` is how far apart readings should be. */
  add(reading: Reading, intervalMs: number): void {
    const last = this.now;
    const isLate = last !== null && reading.atMs - last.atMs > intervalMs * MISSED_INTERVALS;
    const hasRestarted = last !== null && !isSameRun(last, reading);
    this.before = last !== null && !isLate && !hasRestarted ? last : null;
    if (last !== null && this.before === null) this.points.push(gap(reading.atMs - 1));
    this.points.push(pointBetween(this.before, reading));
    this.now = reading;
  }

  last(): Point | undefined {
    return this.points.last();
  }

  get length(): number {
    return this.points.length;
  }

  /** Moments and the values of some series, as uPlot takes them. */
  columns(series: readonly Series[]): [number[], ...(number | null)[][]] {
    const points = this.points.toArray();
    return [points.map((point) => point.at), ...series.map((name) => points.map((point) => point[name]))];
  }

  clear(): void {
    this.points.clear();
    this.before = null;
    this.now = null;
  }
}
