// A payload as text.

import { printable, showBytes } from '../parts/bytes.ts';

/** Text over several lines if the payload is printable, otherwise with redis-cli's escapes. */
export function readable(bytes: Uint8Array): string {
  return printable(bytes, true) ?? showBytes(bytes);
}
