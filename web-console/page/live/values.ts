// Reading replies without trusting their shape: what is not there reads as nothing.
// Never throws: the server may be of another kind or version than this page.

import type { Reply } from '../resp/reply.ts';

const decoder = new TextDecoder();

/** The text of anything that is text or a number; bytes that are no UTF-8 come with replacement characters. */
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

/** A number, or null for what is none. */
export function numberOf(reply: Reply | undefined): number | null {
  return reply?.type === 'integer' ? Number(reply.value) : number(textOf(reply));
}

/** A decimal number, or null: unlike Number(), an empty text is none. */
export function number(text: string | undefined): number | null {
  const value = text === undefined || text.trim() === '' ? Number.NaN : Number(text);
  return Number.isFinite(value) ? value : null;
}

const encoder = new TextEncoder();

/** The bytes of anything that is text. */
export function bytesOf(reply: Reply | undefined): Uint8Array {
  return reply?.type === 'bulk' || reply?.type === 'verbatim' ? reply.bytes : encoder.encode(textOf(reply));
}

export function itemsOf(reply: Reply | undefined): Reply[] {
  return reply?.type === 'array' || reply?.type === 'set' || reply?.type === 'push' ? reply.items : [];
}

/** The pairs of a map, also of one that comes as a flat array, as RESP2 has it. */
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
