// A list that forgets its oldest items: bounded by their number and by their weight together, so that neither many
// small nor a few huge ones fill the browser's memory. Says how many were forgotten.

export class Ring<T> {
  private items: (T | undefined)[] = [];
  private start = 0;
  private heavy = 0;
  private forgotten = 0;

  private readonly most: number;
  private readonly mostWeight: number;
  private readonly weigh: (item: T) => number;

  constructor(most: number, mostWeight = Number.POSITIVE_INFINITY, weigh: (item: T) => number = () => 0) {
    this.most = most;
    this.mostWeight = mostWeight;
    this.weigh = weigh;
  }

  get length(): number {
    return this.items.length - this.start;
  }

  /** How many items were pushed out by newer ones since the last clear. */
  get dropped(): number {
    return this.forgotten;
  }

  get weight(): number {
    return this.heavy;
  }

  /** Adds an item; the newest one stays however heavy it is. */
  push(item: T): void {
    this.items.push(item);
    this.heavy += this.weigh(item);
    while (this.length > 1 && (this.length > this.most || this.heavy > this.mostWeight)) this.shift();
  }

  private shift(): void {
    const oldest = this.items[this.start];
    this.items[this.start] = undefined;
    this.start += 1;
    this.forgotten += 1;
    if (oldest !== undefined) this.heavy -= this.weigh(oldest);
    // Moving the rest down costs its length, so it is done once for as many items as there are.
    if (this.start > this.most) {
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

  /** A copy of those that are wanted, newest first. */
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
    this.heavy = 0;
    this.forgotten = 0;
  }
}
