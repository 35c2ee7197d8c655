// The metadata of one key: type, encoding, length, memory, time to live.

import type { Client } from '../connection/client.ts';
import type { Argument } from '../resp/reply.ts';
import { fieldsOf, numberIn, numberOrNone, okay, textIn } from './replies.ts';

/** The types of keys that are made here. */
export const MADE_TYPES = ['string', 'hash', 'list', 'set', 'zset', 'stream'] as const;
export type MadeType = (typeof MADE_TYPES)[number];

export const TYPES = [...MADE_TYPES, 'sqldb', 'trietype0'] as const;
export type KeyType = (typeof TYPES)[number];

export const TYPE_NAMES: Record<KeyType, string> = {
  string: 'String',
  hash: 'Hash',
  list: 'List',
  set: 'Set',
  zset: 'Sorted set',
  stream: 'Stream',
  sqldb: 'SQL database',
  trietype0: 'Suggestions',
};

/** The unit in which each type counts its length. */
export const LENGTH_UNITS: Record<KeyType, string> = {
  string: 'byte',
  hash: 'field',
  list: 'element',
  set: 'member',
  zset: 'member',
  stream: 'entry',
  sqldb: 'page',
  trietype0: 'suggestion',
};

const LENGTH_COMMANDS: Record<KeyType, string> = {
  string: 'STRLEN',
  hash: 'HLEN',
  list: 'LLEN',
  set: 'SCARD',
  zset: 'ZCARD',
  stream: 'XLEN',
  sqldb: 'SQL.STATS',
  trietype0: 'FT.SUGLEN',
};

/** The message of an action whose key has gone meanwhile. */
export const KEY_GONE = 'The key is gone: it may have expired, or another client has deleted it.';

export type Metadata = {
  type: KeyType;
  encoding: string;
  length: number;
  /** Undefined if the server does not report it. */
  memoryBytes: number | undefined;
  /** When the key expires, in ms since 1970 by this machine's clock; undefined for never. */
  expiresAt: number | undefined;
};

/** Undefined if the key does not exist. Throws the server's error, and for a type that the page cannot show. */
export async function readMetadata(client: Client, key: Uint8Array): Promise<Metadata | undefined> {
  const [typeReply, encodingReply, ttlReply, memoryReply] = await client.pipeline([
    ['TYPE', key],
    ['OBJECT', 'ENCODING', key],
    ['PTTL', key],
    ['MEMORY', 'USAGE', key],
  ]);
  const type = textIn(typeReply);
  if (type === 'none') return undefined;
  if (!isKeyType(type)) throw new Error(`Values of type “${type}” are not shown here.`);
  const lengthCommand: Argument[] = [LENGTH_COMMANDS[type], key];
  const counted = await client.call(lengthCommand);
  const length = numberIn(type === 'sqldb' ? fieldsOf(counted).get('pages') : counted);
  const ttl = numberIn(ttlReply);
  return {
    type,
    length,
    encoding: encodingReply?.type === 'bulk' ? textIn(encodingReply) : 'unknown',
    memoryBytes: memoryReply?.type === 'error' ? undefined : numberOrNone(okay(memoryReply)),
    expiresAt: ttl >= 0 ? Date.now() + ttl : undefined,
  };
}

export function isKeyType(type: string): type is KeyType {
  return (TYPES as readonly string[]).includes(type);
}
