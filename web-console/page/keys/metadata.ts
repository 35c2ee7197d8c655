// The metadata of one key: type, encoding, length, memory, time to live.

import type { Client } from '../connection/client.ts';
import { fieldsOf, numberIn, numberOrNone, okay, textIn } from './replies.ts';

/** The types of keys that are made here. */
export const MADE_TYPES = ['string', 'hash', 'list', 'set', 'zset', 'stream', 'ReJSON-RL'] as const;
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
  'ReJSON-RL': 'JSON',
  sqldb: 'SQL database',
  trietype0: 'Suggestions',
};

/** The unit in which each type counts its length. Of a JSON document the type of its root decides. */
const LENGTH_UNITS: Record<KeyType, string> = {
  string: 'byte',
  hash: 'field',
  list: 'element',
  set: 'member',
  zset: 'member',
  stream: 'entry',
  'ReJSON-RL': 'value',
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
  'ReJSON-RL': 'JSON.TYPE',
  sqldb: 'SQL.STATS',
  trietype0: 'FT.SUGLEN',
};

/** The message of an action whose key has gone meanwhile. */
export const KEY_GONE = 'The key is gone: it may have expired, or another client has deleted it.';

export type Metadata = {
  type: KeyType;
  encoding: string;
  length: number;
  /** What `length` counts. */
  unit: string;
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
  const { length, unit } = await readLength(client, key, type);
  const ttl = numberIn(ttlReply);
  return {
    type,
    length,
    unit,
    encoding: encodingReply?.type === 'bulk' ? textIn(encodingReply) : 'unknown',
    memoryBytes: memoryReply?.type === 'error' ? undefined : numberOrNone(okay(memoryReply)),
    expiresAt: ttl >= 0 ? Date.now() + ttl : undefined,
  };
}

async function readLength(client: Client, key: Uint8Array, type: KeyType): Promise<{ length: number; unit: string }> {
  const counted = await client.call([LENGTH_COMMANDS[type], key]);
  const unit = LENGTH_UNITS[type];
  if (type === 'sqldb') return { length: numberIn(fieldsOf(counted).get('pages')), unit };
  if (type !== 'ReJSON-RL') return { length: numberIn(counted), unit };
  // The protocol's version 3 has a list around it.
  const root = okay(counted);
  const [command, of] = JSON_LENGTHS[textIn(root.type === 'array' ? root.items[0] : root)] ?? [undefined, unit];
  return { length: command === undefined ? 1 : numberIn(await client.call([command, key])), unit: of };
}

/** How the length of a document is counted, by the type of its root. */
const JSON_LENGTHS: Record<string, [command: string, unit: string]> = {
  object: ['JSON.OBJLEN', 'member'],
  array: ['JSON.ARRLEN', 'element'],
  string: ['JSON.STRLEN', 'character'],
};

export function isKeyType(type: string): type is KeyType {
  return (TYPES as readonly string[]).includes(type);
}
