// What this page listens to, on a session of its own: opened with the first subscription, closed with the last one. If
// the session ends, it is opened again with growing waits and subscribes to everything again; messages published in
// between are lost, as pub/sub has it.

import type { Argument, Reply } from '../resp/reply.ts';
import { parsePush, type Kind, type Push } from './message.ts';

/** The part of a connection's session that listening needs. */
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

/** Waits between attempts double from the first to the last of these. */
const FIRST_WAIT_MS = 500;
const LAST_WAIT_MS = 15_000;

export class Listener {
  private readonly wanted = new Map<string, Subscription>();
  private session: Session | null = null;
  /** Counts sessions, so that what an old one still says is not heeded. */
  private turn = 0;
  private waitMs = FIRST_WAIT_MS;

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
    this.tell();
    if (this.session) this.subscribe(this.session, subscription);
    else if (this.wanted.size === 1) void this.start();
  }

  remove(subscription: Subscription): void {
    if (!this.wanted.delete(keyOf(subscription))) return;
    this.tell();
    if (this.wanted.size === 0) this.stop();
    // Whether it arrives does not matter: a session that has ended listens to nothing.
    else this.session?.send([VERBS[subscription.kind][1], subscription.name]).catch(() => undefined);
  }

  /** Listens with a new session, for instance to another server. */
  restart(): void {
    if (this.wanted.size === 0) return;
    this.end();
    this.waitMs = FIRST_WAIT_MS;
    void this.start();
  }

  private stop(): void {
    this.end();
    this.events.onState('idle', '');
  }

  private end(): void {
    this.turn += 1;
    this.session?.close();
    this.session = null;
  }

  private async start(): Promise<void> {
    this.turn += 1;
    const turn = this.turn;
    this.events.onState('connecting', '');
    let session: Session;
    try {
      session = await this.open();
    } catch (error) {
      if (turn === this.turn) this.retry(error instanceof Error ? error.message : String(error));
      return;
    }
    if (turn !== this.turn) {
      session.close();
      return;
    }
    this.session = session;
    this.waitMs = FIRST_WAIT_MS;
    session.onPush((items) => {
      const push = turn === this.turn ? parsePush(items) : null;
      if (push?.type === 'message') this.events.onMessage(push);
    });
    for (const subscription of this.wanted.values()) this.subscribe(session, subscription);
    this.events.onState('open', '');
    const why = await session.closed;
    if (turn !== this.turn) return;
    this.session = null;
    this.retry(why);
  }

  private retry(why: string): void {
    this.turn += 1;
    const turn = this.turn;
    this.events.onState('waiting', why);
    this.later(() => {
      if (turn === this.turn) void this.start();
    }, this.waitMs);
    this.waitMs = Math.min(this.waitMs * 2, LAST_WAIT_MS);
  }

  private subscribe(session: Session, subscription: Subscription): void {
    session.send([VERBS[subscription.kind][0], subscription.name]).then(
      (reply) => {
        if (reply.type !== 'error' || !this.wanted.delete(keyOf(subscription))) return;
        this.events.onRefused(subscription, reply.text);
        this.tell();
        if (this.wanted.size === 0) this.stop();
      },
      // The session has ended: the next one subscribes.
      () => undefined,
    );
  }

  private tell(): void {
    this.events.onSubscriptions([...this.wanted.values()]);
  }
}

/** One text for each subscription: names are bytes, which as Latin-1 stay apart. */
export function keyOf({ kind, name }: Subscription): string {
  return `${kind}:${Array.from(name, (byte) => String.fromCharCode(byte)).join('')}`;
}
