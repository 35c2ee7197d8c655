// What comes by itself: subscriptions and MONITOR, as async iterables.

import type { RawFlow } from '../pkg/client.js';

export interface Message<Text> {
  kind: 'message';
  /** The channel it was published to. */
  channel: string;
  /** The pattern of the subscription, if it has one. */
  pattern: string | undefined;
  payload: Text;
}

/** So many things, older than the next one, were dropped because their reader was slow. */
export interface Lost {
  kind: 'lost';
  count: number;
}

/** The connection was lost and is there again; what happened meanwhile has not come. */
export interface Reconnected {
  kind: 'reconnected';
}

/** A request as the server writes it for MONITOR. */
export interface Observed {
  kind: 'request';
  line: string;
}

abstract class Flow<Item, Seen> {
  readonly #raw: RawFlow;
  // Who asked first gets what comes first.
  #before: Promise<unknown> = Promise.resolve();

  /** @internal */
  constructor(raw: RawFlow) {
    this.#raw = raw;
  }

  protected abstract isSeen(item: Item | Seen): item is Seen;

  /** The next thing, notices of loss included; undefined once it is closed. */
  next(): Promise<Item | Seen | undefined> {
    const next = this.#before.then(() => this.#raw.next()) as Promise<Item | Seen | undefined>;
    this.#before = next.catch(() => {});
    return next;
  }

  /** Everything that comes, notices of loss included. Closed when the loop is left. */
  async *all(): AsyncGenerator<Item | Seen, void, undefined> {
    try {
      for (let item = await this.next(); item !== undefined; item = await this.next()) yield item;
    } finally {
      this.close();
    }
  }

  /** What comes, without notices of loss. Closed when the loop is left. */
  async *[Symbol.asyncIterator](): AsyncGenerator<Seen, void, undefined> {
    for await (const item of this.all()) {
      if (this.isSeen(item)) yield item;
    }
  }

  /** Ends it: loops over it end, too. */
  close(): void {
    this.#raw.close();
  }
}

/** The messages of some channels, over a connection that all subscriptions of a client share. */
export class Subscription<Text> extends Flow<Lost | Reconnected, Message<Text>> {
  protected override isSeen(item: Lost | Reconnected | Message<Text>): item is Message<Text> {
    return item.kind === 'message';
  }
}

/** What the server runs, over a connection of its own. */
export class Monitor extends Flow<Lost | Reconnected, Observed> {
  protected override isSeen(item: Lost | Reconnected | Observed): item is Observed {
    return item.kind === 'request';
  }
}
