// Messages or lines as they arrive: kept in a ring buffer, and reported to the page at most ten times a second.

import { signal, type Signal } from '@preact/signals';
import { Ring } from './ring.ts';

/** Drawing more often would keep the browser from receiving, and nobody reads faster. */
const NOTIFY_EVERY_MS = 100;

export class Feed<T> {
  readonly ring: Ring<T>;
  /** Counts up when there is something new to draw. */
  readonly changed: Signal<number> = signal(0);
  /** How many items have arrived since the page was loaded. */
  total = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(lengthMax: number, weightMax: number, weigh: (item: T) => number) {
    this.ring = new Ring(lengthMax, weightMax, weigh);
  }

  push(item: T): void {
    this.ring.push(item);
    this.total += 1;
    this.timer ??= setTimeout(() => this.notify(), NOTIFY_EVERY_MS);
  }

  clear(): void {
    this.ring.clear();
    this.notify();
  }

  private notify(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.changed.value += 1;
  }
}
