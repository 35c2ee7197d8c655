// JSON in a message, formatted for reading.

import { utf8 } from '../parts/bytes.ts';
import { checkJson, depthOf, prettyJson as format } from '../parts/json.ts';

/** Longer payloads are not formatted. */
const JSON_MAX_BYTES = 1024 * 1024;

/** Deeper documents are not formatted either: indentation would grow with the square of the depth. */
const DEPTH_MAX = 64;

/** A JSON object or array, formatted; null for any other payload. */
export function prettyJson(payload: Uint8Array): string | null {
  const first = payload.find((byte) => byte > 32);
  if ((first !== 0x7b && first !== 0x5b) || payload.length > JSON_MAX_BYTES) return null;
  const text = utf8(payload);
  if (text === undefined || !checkJson(text).valid || depthOf(text) > DEPTH_MAX) return null;
  return format(text);
}
