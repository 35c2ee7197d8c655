// Reading a string in parts: of a value of gigabytes only the shown bytes are read.

import type { Client } from '../connection/client.ts';
import { joined } from '../parts/bytes.ts';
import { bytesIn, numberIn } from './replies.ts';

/** The first part, and each part of “load more”. */
export const PART_BYTES = 64 * 1024;
/** The longest part shown of a value that is too long to edit: laying out more text would block the page. */
export const VIEW_MAX_BYTES = 256 * 1024;
/** The longest value that is edited as a whole. */
export const EDIT_MAX_BYTES = 1024 * 1024;
/** The longest value that is decoded as an image. */
export const IMAGE_MAX_BYTES = 16 * 1024 * 1024;

/** Bytes of a string from offset `from` on; `total` is the length of the whole value. */
export type Part = { from: number; bytes: Uint8Array; total: number };

export async function readPart(client: Client, key: Uint8Array, from: number, length: number): Promise<Part> {
  const [total, bytes] = await client.pipeline([
    ['STRLEN', key],
    ['GETRANGE', key, String(from), String(from + length - 1)],
  ]);
  return { from, bytes: bytesIn(bytes), total: numberIn(total) };
}

/** The part and the `length` bytes that follow it. */
export async function readOn(client: Client, key: Uint8Array, part: Part, length: number): Promise<Part> {
  const next = await readPart(client, key, part.from + part.bytes.length, length);
  return { from: part.from, bytes: joined([part.bytes, next.bytes]), total: next.total };
}

/** All of it, in pieces of the size of EDIT_MAX_BYTES. */
export async function readWhole(client: Client, key: Uint8Array): Promise<Part> {
  let part = await readPart(client, key, 0, EDIT_MAX_BYTES);
  while (part.bytes.length < part.total && part.total <= IMAGE_MAX_BYTES) {
    const more = await readOn(client, key, part, EDIT_MAX_BYTES);
    // The value became shorter meanwhile: these bytes are all of it.
    if (more.bytes.length === part.bytes.length) return { ...more, total: more.bytes.length };
    part = more;
  }
  return part;
}

export function isWhole(part: Part): boolean {
  return part.from === 0 && part.bytes.length >= part.total;
}

/** The part without the incomplete characters at its ends. */
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
