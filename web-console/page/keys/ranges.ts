// Reading a string in parts, so that one of gigabytes costs what is looked at.

import type { Client } from '../connection/client.ts';
import { bytesIn, numberIn } from './replies.ts';
import { joined } from './escapes.ts';

/** What is read at first and with each “load more”. */
export const PART_BYTES = 64 * 1024;
/** The most that is shown at a time of a value too long to edit: laying out more text holds up the page. */
export const VIEW_MAX_BYTES = 256 * 1024;
/** The longest value that is edited as a whole. */
export const EDIT_MAX_BYTES = 1024 * 1024;
/** The longest value that is decoded as an image. */
export const IMAGE_MAX_BYTES = 16 * 1024 * 1024;

/** Bytes of a string from `from` on; `total` is the length of the whole. */
export type Part = { from: number; bytes: Uint8Array; total: number };

export async function readPart(client: Client, key: Uint8Array, from: number, length: number): Promise<Part> {
  const [total, bytes] = await client.pipeline([
    ['STRLEN', key],
    ['GETRANGE', key, String(from), String(from + length - 1)],
  ]);
  return { from, bytes: bytesIn(bytes), total: numberIn(total) };
}

/** The part with what follows it. */
export async function readOn(client: Client, key: Uint8Array, part: Part, length: number): Promise<Part> {
  const next = await readPart(client, key, part.from + part.bytes.length, length);
  return { from: part.from, bytes: joined([part.bytes, next.bytes]), total: next.total };
}

/** All of it, in pieces of the size of EDIT_MAX_BYTES. */
export async function readWhole(client: Client, key: Uint8Array): Promise<Part> {
  let part = await readPart(client, key, 0, EDIT_MAX_BYTES);
  while (part.bytes.length < part.total && part.total <= IMAGE_MAX_BYTES) {
    const more = await readOn(client, key, part, EDIT_MAX_BYTES);
    // It became shorter meanwhile: what there is now is all.
    if (more.bytes.length === part.bytes.length) return { ...more, total: more.bytes.length };
    part = more;
  }
  return part;
}

export function isWhole(part: Part): boolean {
  return part.from === 0 && part.bytes.length >= part.total;
}

/** The part without the pieces of characters at its ends that lie mostly in other parts. */
export function trimmed(part: Part): Uint8Array {
  const { bytes } = part;
  let from = 0;
  if (part.from > 0) while (from < 3 && ((bytes[from] ?? 0) & 0xc0) === 0x80) from += 1;
  let end = bytes.length;
  if (part.from + end < part.total) {
    let back = 1;
    while (back < 4 && ((bytes[end - back] ?? 0) & 0xc0) === 0x80) back += 1;
    const lead = bytes[end - back] ?? 0;
    const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
    if (length > back) end -= back;
  }
  return bytes.subarray(from, end);
}
