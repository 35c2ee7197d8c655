// JSON in a message, laid out for reading.

import { utf8 } from '../parts/bytes.ts';
import { checkJson, depthOf, prettyJson as layOut } from '../parts/json.ts';

/** Longer texts are shown as they came. */
const MOST_BYTES = 1024 * 1024;

/** Deeper ones too: indentation would grow with the square of the depth. */
const MOST_DEPTH = 64;

/** Valid JSON that is an object or an array, laid out; null for everything else. */
export function prettyJson(payload: Uint8Array): string | null {
  const first = payload.find((byte) => byte > 32);
  if ((first !== 0x7b && first !== 0x5b) || payload.length > MOST_BYTES) return null;
  const text = utf8(payload);
  if (text === undefined || !checkJson(text).valid || depthOf(text) > MOST_DEPTH) return null;
  return layOut(text);
}
