// What arrives line by line or message by message: kept in a ring, told to the page only some times a second.

import { signal, type Signal } from '@preact/signals';
import { Ring } from './ring.ts';

/** Nobody reads faster, and drawing more often would keep the browser from receiving. */
const TELL_EVERY_MS = 100;

export class Feed<T> {
  readonly ring: Ring<T>;
  /** Grows when there is something new to draw. */
  readonly changed: Signal<number> = signal(0);
  /** How many have arrived since the page was loaded. */
  total = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(most: number, mostWeight: number, weigh: (item: T) => number) {
    this.ring = new Ring(most, mostWeight, weigh);
  }

  push(item: T): void {
    this.ring.push(item);
    this.total += 1;
    this.timer ??= setTimeout(() => this.tell(), TELL_EVERY_MS);
  }

  clear(): void {
    this.ring.clear();
    this.tell();
  }

  private tell(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.changed.value += 1;
  }
}
