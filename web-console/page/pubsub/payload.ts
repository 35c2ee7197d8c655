// A payload as people read it.

import { showBytes } from '../parts/bytes.ts';

const strict = new TextDecoder('utf-8', { fatal: true });

/** Characters that a text may hold and still be shown as one. */
const UNPRINTABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/;

/** Text with its line ends, or redis-cli's escapes for everything else. */
export function readable(bytes: Uint8Array): string {
  try {
    const text = strict.decode(bytes);
    return UNPRINTABLE.test(text) ? showBytes(bytes) : text;
  } catch {
    return showBytes(bytes);
  }
}

/** The beginning of a long value, never cut inside a character. */
export function beginning(bytes: Uint8Array, most: number): Uint8Array {
  if (bytes.length <= most) return bytes;
  let end = most;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  // No text has so many continuation bytes in a row.
  return bytes.subarray(0, most - end > 3 ? most : end);
}
