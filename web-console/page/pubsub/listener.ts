// The subscriptions of this page, on a session of their own: opened for the first subscription, closed with the last one.
// If the session ends, it is opened again after growing pauses and subscribes to all of them again. Messages that are
// published in between are lost: pub/sub does not store them.

import type { Argument, Reply } from '../resp/reply.ts';
import { parsePush, type Kind, type Push } from './message.ts';

/** The part of a session that the listener needs. */
export interface Session {
  send(args: Argument[]): Promise<Reply>;
  onPush(listener: (items: Reply[]) => void): () => void;
  readonly closed: Promise<string>;
  close(): void;
}

export interface Subscription {
  kind: Kind;
  name: Uint8Array;
}

export type State = 'idle' | 'connecting' | 'open' | 'waiting';

export interface Events {
  onState(state: State, why: string): void;
  onSubscriptions(all: Subscription[]): void;
  onMessage(message: Extract<Push, { type: 'message' }>): void;
  /** Why a subscription was refused. */
  onRefused(subscription: Subscription, why: string): void;
}

const VERBS: Record<Kind, [on: string, off: string]> = {
  channel: ['SUBSCRIBE', 'UNSUBSCRIBE'],
  pattern: ['PSUBSCRIBE', 'PUNSUBSCRIBE'],
  shard: ['SSUBSCRIBE', 'SUNSUBSCRIBE'],
};

/** Pauses between attempts double from the first to the second of these. */
const FIRST_PAUSE_MS = 500;
const LAST_PAUSE_MS = 15_000;

export class Listener {
  private readonly wanted = new Map<string, Subscription>();
  private session: Session | null = null;
  /** Counts sessions: events of an older one are ignored. */
  private generation = 0;
  private pauseMs = FIRST_PAUSE_MS;

  private readonly open: () => Promise<Session>;
  private readonly events: Events;
  private readonly later: (run: () => void, ms: number) => unknown;

  constructor(
    open: () => Promise<Session>,
    events: Events,
    later: (run: () => void, ms: number) => unknown = (run, ms) => setTimeout(run, ms),
  ) {
    this.open = open;
    this.events = events;
    this.later = later;
  }

  add(subscription: Subscription): void {
    const key = keyOf(subscription);
    if (this.wanted.has(key)) return;
    this.wanted.set(key, subscription);
    this.notify();
    if (this.session) this.subscribe(this.session, subscription);
    else if (this.wanted.size === 1) void this.start();
  }

  remove(subscription: Subscription): void {
    if (!this.wanted.delete(keyOf(subscription))) return;
    this.notify();
    if (this.wanted.size === 0) this.stop();
    // A failure does not matter: a session that has ended has no subscriptions.
    else this.session?.send([VERBS[subscription.kind][1], subscription.name]).catch(() => undefined);
  }

  /** Subscribes again on a new session, for instance to another server. */
  restart(): void {
    if (this.wanted.size === 0) return;
    this.end();
    this.pauseMs = FIRST_PAUSE_MS;
    void this.start();
  }

  private stop(): void {
    this.end();
    this.events.onState('idle', '');
  }

  private end(): void {
    this.generation += 1;
    this.session?.close();
    this.session = null;
  }

  private async start(): Promise<void> {
    this.generation += 1;
    const generation = this.generation;
    this.events.onState('connecting', '');
    let session: Session;
    try {
      session = await this.open();
    } catch (error) {
      if (generation === this.generation) this.retry(error instanceof Error ? error.message : String(error));
      return;
    }
    if (generation !== this.generation) {
      session.close();
      return;
    }
    this.session = session;
    this.pauseMs = FIRST_PAUSE_MS;
    session.onPush((items) => {
      const push = generation === this.generation ? parsePush(items) : null;
      if (push?.type === 'message') this.events.onMessage(push);
    });
    for (const subscription of this.wanted.values()) this.subscribe(session, subscription);
    this.events.onState('open', '');
    const why = await session.closed;
    if (generation !== this.generation) return;
    this.session = null;
    this.retry(why);
  }

  private retry(why: string): void {
    this.generation += 1;
    const generation = this.generation;
    this.events.onState('waiting', why);
    this.later(() => {
      if (generation === this.generation) void this.start();
    }, this.pauseMs);
    this.pauseMs = Math.min(this.pauseMs * 2, LAST_PAUSE_MS);
  }

  private subscribe(session: Session, subscription: Subscription): void {
    session.send([VERBS[subscription.kind][0], subscription.name]).then(
      (reply) => {
        if (reply.type !== 'error' || !this.wanted.delete(keyOf(subscription))) return;
        this.events.onRefused(subscription, reply.text);
        this.notify();
        if (this.wanted.size === 0) this.stop();
      },
      // The session has ended: the next one subscribes again.
      () => undefined,
    );
  }

  private notify(): void {
    this.events.onSubscriptions([...this.wanted.values()]);
  }
}

/** A unique text for each subscription: its name as Latin-1, so that different bytes stay different. */
export function keyOf({ kind, name }: Subscription): string {
  return `${kind}:${Array.from(name, (byte) => String.fromCharCode(byte)).join('')}`;
}
