// The points of the charts: a bounded number of samples, with gaps for the time in which the page did not sample.

import { gap, isSameRun, pointBetween, type Point, type Reading, type Series } from './reading.ts';
import { Ring } from '../parts/ring.ts';

/** Half an hour of seconds. */
export const POINTS_MAX = 1800;

/** After this many missed intervals the lines break: an average over a long pause would look like a measurement. */
const MISSED_INTERVALS = 3;

export class History {
  private readonly points = new Ring<Point>(POINTS_MAX);
  before: Reading | null = null;
  now: Reading | null = null;

  /** Adds a reading; `intervalMs` is the planned time between two readings. */
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

  /** Times (seconds since 1970) and the values of some series, in uPlot's format. */
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
