// Replies as plain values. Each function throws the server's error for an error reply, and an Error for a reply of
// another type than the command is known to give.

import { CommandError, type Reply } from '../resp/reply.ts';

export function okay(reply: Reply | undefined): Reply {
  if (reply === undefined) throw new Error('The server sent fewer replies than requests.');
  if (reply.type === 'error') throw new CommandError(reply.text);
  return reply;
}

export function itemsOf(reply: Reply | undefined): Reply[] {
  const found = okay(reply);
  if (found.type === 'array' || found.type === 'set' || found.type === 'push') return found.items;
  if (found.type === 'map') return found.pairs.flat();
  if (found.type === 'null') return [];
  throw unexpected(found, 'a list');
}

export function bytesIn(reply: Reply | undefined): Uint8Array {
  const found = okay(reply);
  if (found.type === 'bulk' || found.type === 'verbatim') return found.bytes;
  const text = plain(found);
  if (text === undefined) throw unexpected(found, 'a string');
  return new TextEncoder().encode(text);
}

/** A string, or undefined for null. */
export function bytesOrNone(reply: Reply | undefined): Uint8Array | undefined {
  const found = okay(reply);
  return found.type === 'null' ? undefined : bytesIn(found);
}

export function textIn(reply: Reply | undefined): string {
  const found = okay(reply);
  return plain(found) ?? new TextDecoder().decode(bytesIn(found));
}

export function numberIn(reply: Reply | undefined): number {
  const found = okay(reply);
  const value = found.type === 'integer' ? Number(found.value) : Number(textIn(found));
  if (Number.isNaN(value)) throw unexpected(found, 'a number');
  return value;
}

/** A number, or undefined for null. */
export function numberOrNone(reply: Reply | undefined): number | undefined {
  const found = okay(reply);
  return found.type === 'null' ? undefined : numberIn(found);
}

/** The pairs of a map, or of the flat list that RESP2 sends instead. */
export function pairsOf(reply: Reply | undefined): [Reply, Reply][] {
  const found = okay(reply);
  if (found.type === 'map') return found.pairs;
  const items = itemsOf(found);
  if (items[0]?.type === 'array') {
    return items.map((item) => {
      const [one, other] = itemsOf(item);
      return [okay(one), okay(other)];
    });
  }
  const pairs: [Reply, Reply][] = [];
  for (let at = 0; at + 1 < items.length; at += 2) pairs.push([okay(items[at]), okay(items[at + 1])]);
  return pairs;
}

/** A map whose names are text, as XINFO replies. */
export function fieldsOf(reply: Reply | undefined): Map<string, Reply> {
  return new Map(pairsOf(reply).map(([name, value]) => [textIn(name), value]));
}

/** The message of an error, to show beside the control that caused it. */
export function problemIn(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function plain(reply: Reply): string | undefined {
  switch (reply.type) {
    case 'simple':
    case 'double':
    case 'big':
      return reply.text;
    case 'integer':
      return reply.value.toString();
    case 'boolean':
      return reply.value ? '1' : '0';
    default:
      return undefined;
  }
}

function unexpected(reply: Reply, wanted: string): Error {
  return new Error(`The server answered with ${reply.type} instead of ${wanted}.`);
}
