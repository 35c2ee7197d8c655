// A payload as people read it.

import { printable, showBytes } from '../parts/bytes.ts';

/** Text with its line ends, or redis-cli's escapes for everything else. */
export function readable(bytes: Uint8Array): string {
  return printable(bytes, true) ?? showBytes(bytes);
}

/** The beginning of a long value, never cut inside a character. */
export function beginning(bytes: Uint8Array, most: number): Uint8Array {
  if (bytes.length <= most) return bytes;
  let end = most;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  // No text has so many continuation bytes in a row.
  return bytes.subarray(0, most - end > 3 ? most : end);
}
