// A ring buffer: it drops its oldest items. Their number and their total weight are bounded, so that neither many small
// nor a few huge items fill the browser's memory. It counts the dropped items.

export class Ring<T> {
  private items: (T | undefined)[] = [];
  private start = 0;
  private totalWeight = 0;
  private droppedCount = 0;

  private readonly lengthMax: number;
  private readonly weightMax: number;
  private readonly weigh: (item: T) => number;

  constructor(lengthMax: number, weightMax = Number.POSITIVE_INFINITY, weigh: (item: T) => number = () => 0) {
    this.lengthMax = lengthMax;
    this.weightMax = weightMax;
    this.weigh = weigh;
  }

  get length(): number {
    return this.items.length - this.start;
  }

  /** How many items newer ones have pushed out since the last clear. */
  get dropped(): number {
    return this.droppedCount;
  }

  get weight(): number {
    return this.totalWeight;
  }

  /** Adds an item. The newest item stays, whatever its weight. */
  push(item: T): void {
    this.items.push(item);
    this.totalWeight += this.weigh(item);
    while (this.length > 1 && (this.length > this.lengthMax || this.totalWeight > this.weightMax)) this.shift();
  }

  private shift(): void {
    const oldest = this.items[this.start];
    this.items[this.start] = undefined;
    this.start += 1;
    this.droppedCount += 1;
    if (oldest !== undefined) this.totalWeight -= this.weigh(oldest);
    // Moving the rest costs its length, so it happens once per `lengthMax` dropped items.
    if (this.start > this.lengthMax) {
      this.items = this.items.slice(this.start);
      this.start = 0;
    }
  }

  last(): T | undefined {
    return this.length > 0 ? this.items[this.items.length - 1] : undefined;
  }

  /** A copy, oldest first. */
  toArray(): T[] {
    return this.items.slice(this.start) as T[];
  }

  /** A copy of the wanted items, newest first. */
  newestFirst(isWanted: (item: T) => boolean = () => true): T[] {
    const wanted: T[] = [];
    for (let at = this.items.length - 1; at >= this.start; at -= 1) {
      const item = this.items[at] as T;
      if (isWanted(item)) wanted.push(item);
    }
    return wanted;
  }

  clear(): void {
    this.items = [];
    this.start = 0;
    this.totalWeight = 0;
    this.droppedCount = 0;
  }
}
