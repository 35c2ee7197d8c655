// Replies as plain values, without trusting their shape: a missing or unexpected reply reads as empty or null.
// Never throws: the server may be of another kind or version than this page.

import { CommandError, type Reply } from './reply.ts';

const decoder = new TextDecoder();

/** A text or number as text, otherwise an empty text; bytes that are not UTF-8 become replacement characters. */
export function textOf(reply: Reply | undefined): string {
  switch (reply?.type) {
    case 'simple':
    case 'error':
    case 'double':
    case 'big':
      return reply.text;
    case 'bulk':
    case 'verbatim':
      return decoder.decode(reply.bytes);
    case 'integer':
    case 'boolean':
      return String(reply.value);
    default:
      return '';
  }
}

/** A number, or null if the reply is not one. */
export function numberOf(reply: Reply | undefined): number | null {
  return reply?.type === 'integer' ? Number(reply.value) : number(textOf(reply));
}

/** A decimal number, or null. Unlike Number(), it does not read an empty text as 0. */
export function number(text: string | undefined): number | null {
  const value = text === undefined || text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : null;
}

const encoder = new TextEncoder();

/** The bytes of a text or number, otherwise none. */
export function bytesOf(reply: Reply | undefined): Uint8Array {
  return reply?.type === 'bulk' || reply?.type === 'verbatim' ? reply.bytes : encoder.encode(textOf(reply));
}

export function itemsOf(reply: Reply | undefined): Reply[] {
  return reply?.type === 'array' || reply?.type === 'set' || reply?.type === 'push' ? reply.items : [];
}

/** The pairs of a map, or of the flat array that RESP2 sends instead. */
export function pairsOf(reply: Reply | undefined): [Reply, Reply][] {
  if (reply?.type === 'map') return reply.pairs;
  const items = itemsOf(reply);
  const pairs: [Reply, Reply][] = [];
  for (let at = 0; at + 1 < items.length; at += 2) {
    const [name, value] = [items[at], items[at + 1]];
    if (name && value) pairs.push([name, value]);
  }
  return pairs;
}

/** A map by the names of its fields, which are text. */
export function fieldsOf(reply: Reply | undefined): Map<string, Reply> {
  return new Map(pairsOf(reply).map(([name, value]) => [textOf(name), value]));
}

/** The text of an error for a person. */
export function problemOf(error: unknown): string {
  if (error instanceof CommandError) return error.message.replace(/^ERR /, '');
  return error instanceof Error ? error.message : String(error);
}
