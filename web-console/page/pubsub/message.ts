// Pushes to a subscriber, parsed without trusting their shape.

import type { Reply } from '../resp/reply.ts';
import { bytesOf, numberOf, textOf } from '../resp/values.ts';

export type Kind = 'channel' | 'pattern' | 'shard';

export interface Message {
  /** The number of the message: it identifies its row. */
  serial: number;
  atMs: number;
  kind: Kind;
  channel: Uint8Array;
  /** The pattern that matched, or null for a plain subscription. */
  pattern: Uint8Array | null;
  payload: Uint8Array;
}

export type Push =
  | { type: 'message'; kind: Kind; channel: Uint8Array; pattern: Uint8Array | null; payload: Uint8Array }
  | { type: 'subscribed' | 'unsubscribed'; kind: Kind; name: Uint8Array; count: number };

const KINDS: Record<string, Kind> = { '': 'channel', p: 'pattern', s: 'shard' };

/** Null for pushes of other kinds (invalidations, or ones of a later server). */
export function parsePush(items: Reply[]): Push | null {
  const named = /^([ps]?)(message|subscribe|unsubscribe)$/.exec(textOf(items[0]));
  const kind = KINDS[named?.[1] ?? ''];
  if (!named || !kind) return null;
  const rest = items.slice(1);
  if (named[2] !== 'message') {
    const type = named[2] === 'subscribe' ? 'subscribed' : 'unsubscribed';
    return { type, kind, name: bytesOf(rest[0]), count: numberOf(rest[1]) ?? 0 };
  }
  const pattern = kind === 'pattern' ? bytesOf(rest.shift()) : null;
  return { type: 'message', kind, pattern, channel: bytesOf(rest[0]), payload: bytesOf(rest[1]) };
}
