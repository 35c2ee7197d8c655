// Bytes as text that can be shown and edited.
//
// `escaped` writes redis-cli's escapes; `unescaped` of resp/codec.ts reads them back, for every sequence of bytes.

import { beginning, printable, quoteText, showBytes } from '../parts/bytes.ts';

/** The bytes as redis-cli writes them between double quotes, without the quotes. */
export function escaped(bytes: Uint8Array): string {
  return quoteText(bytes).slice(1, -1);
}

/**
 * The text of these bytes if an input can show and edit it without loss: printable characters, line feeds and tabs.
 * A carriage return is not allowed, because an input field would drop it.
 */
export function plainText(bytes: Uint8Array): string | undefined {
  const text = printable(bytes, true);
  return text?.includes('\r') === true ? undefined : text;
}

/** A value for a row of a list: at most about `limit` bytes of it. */
export function shownStart(bytes: Uint8Array, limit = 300): string {
  return bytes.length <= limit ? showBytes(bytes) : `${showBytes(beginning(bytes, limit))}…`;
}
