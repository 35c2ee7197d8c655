// Bytes as text that can be typed back: redis-cli's escapes.
//
// `escaped` and `unescaped` are inverse to each other for every sequence of bytes.

import { ESCAPE_MEANING, printable, quoteText, showBytes } from '../parts/bytes.ts';

/** The bytes as they are typed between redis-cli's double quotes, without these. */
export function escaped(bytes: Uint8Array): string {
  return quoteText(bytes).slice(1, -1);
}

/** The bytes that a text with escapes stands for. A mistake in it is an Error for the one who typed it. */
export function unescaped(text: string): Uint8Array {
  const encoder = new TextEncoder();
  const pieces: Uint8Array[] = [];
  let plain = 0;
  for (let at = text.indexOf('\\'); at >= 0; at = text.indexOf('\\', plain)) {
    pieces.push(encoder.encode(text.slice(plain, at)));
    const letter = text[at + 1];
    if (letter === undefined) throw new Error('A backslash at the end: write \\\\ for the character itself.');
    if (letter === 'x') {
      const digits = text.slice(at + 2, at + 4);
      if (!/^[0-9a-fA-F]{2}$/.test(digits)) {
        throw new Error(`\\x at character ${at + 1} needs two hexadecimal digits.`);
      }
      pieces.push(Uint8Array.of(Number.parseInt(digits, 16)));
      plain = at + 4;
    } else {
      const meaning = ESCAPE_MEANING.get(letter);
      if (meaning !== undefined) pieces.push(Uint8Array.of(meaning));
      // Any other character stands for itself, as in redis-cli; it goes on as plain text.
      plain = meaning === undefined ? at + 1 : at + 2;
      if (letter === '\\') {
        pieces.push(Uint8Array.of(0x5c));
        plain = at + 2;
      }
    }
  }
  pieces.push(encoder.encode(text.slice(plain)));
  return joined(pieces);
}

/**
 * The text that these bytes are, if it can be shown and edited without loss: printable characters, line feeds
 * and tabs. A carriage return is none of them: an input field would drop it.
 */
export function plainText(bytes: Uint8Array): string | undefined {
  const text = printable(bytes, true);
  return text?.includes('\r') === true ? undefined : text;
}

/** For a row of a list: only so much of a long value that the row is filled. */
export function shownStart(bytes: Uint8Array, limit = 300): string {
  if (bytes.length <= limit) return showBytes(bytes);
  let end = limit;
  // Not in the middle of a character: at most three bytes of it can be before the cut.
  while (end > limit - 3 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return `${showBytes(bytes.subarray(0, end))}…`;
}

export function joined(pieces: Uint8Array[]): Uint8Array {
  const all = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
