// Bytes as text that can be typed back: redis-cli's escapes.
//
// `escaped` and `unescaped` are inverse to each other for every sequence of bytes. What would not be seen or
// would change how its neighbours are seen (controls, marks of writing direction) is escaped, everything
// else that is valid UTF-8 stays readable.

const NAMED: ReadonlyMap<number, string> = new Map([
  [7, '\\a'], [8, '\\b'], [9, '\\t'], [10, '\\n'], [13, '\\r'], [34, '\\"'], [92, '\\\\'],
]);
const MEANING: ReadonlyMap<string, number> = new Map([
  ['a', 7], ['b', 8], ['t', 9], ['n', 10], ['r', 13],
]);

/** The bytes as they are typed between redis-cli's double quotes, without these. */
export function escaped(bytes: Uint8Array): string {
  const out: string[] = [];
  for (let at = 0; at < bytes.length; ) {
    const byte = bytes[at] ?? 0;
    const named = NAMED.get(byte);
    const length = sequenceLength(bytes, at);
    if (named !== undefined) {
      out.push(named);
      at += 1;
    } else if (length === 0) {
      out.push(hexEscape(byte));
      at += 1;
    } else {
      const code = codePoint(bytes, at, length);
      if (isSeen(code)) out.push(String.fromCodePoint(code));
      else for (const one of bytes.subarray(at, at + length)) out.push(hexEscape(one));
      at += length;
    }
  }
  return out.join('');
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
      const meaning = MEANING.get(letter);
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
 * The text that these bytes are, if it can be shown and edited without loss: valid UTF-8 of characters that are
 * seen, line feeds and tabs. A carriage return is none of them: an input field would drop it.
 */
export function plainText(bytes: Uint8Array): string | undefined {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
  return UNSEEN.test(text) ? undefined : text;
}

/** For showing: the text itself, or escapes in quotes. */
export function shown(bytes: Uint8Array): string {
  const text = plainText(bytes);
  return text !== undefined && !/[\n\t]/.test(text) ? text : `"${escaped(bytes)}"`;
}

/** For a row of a list: only so much of a long value that the row is filled. */
export function shownStart(bytes: Uint8Array, limit = 300): string {
  if (bytes.length <= limit) return shown(bytes);
  let end = limit;
  // Not in the middle of a character: at most three bytes of it can be before the cut.
  while (end > limit - 3 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return `${shown(bytes.subarray(0, end))}…`;
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

// Controls, zero width space, marks and overrides of direction, separators of lines, the byte order mark.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;

function isSeen(code: number): boolean {
  return code > 31 && !UNSEEN.test(String.fromCodePoint(code));
}

function hexEscape(byte: number): string {
  return `\\x${byte.toString(16).padStart(2, '0')}`;
}

/** How long the UTF-8 sequence at this place is; 0 when it is not a valid one. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  const length = first < 0x80 ? 1 : first >= 0xc2 && first < 0xe0 ? 2 : first >= 0xe0 && first < 0xf0 ? 3
    : first >= 0xf0 && first < 0xf5 ? 4 : 0;
  for (let next = 1; next < length; next += 1) if (((bytes[at + next] ?? 0) & 0xc0) !== 0x80) return 0;
  if (length < 3) return length;
  const code = codePoint(bytes, at, length);
  const valid = length === 3 ? code >= 0x800 && (code < 0xd800 || code > 0xdfff) : code >= 0x10000 && code <= 0x10ffff;
  return valid ? length : 0;
}

function codePoint(bytes: Uint8Array, at: number, length: number): number {
  const first = bytes[at] ?? 0;
  if (length === 1) return first;
  let code = first & (0xff >> (length + 1));
  for (let next = 1; next < length; next += 1) code = (code << 6) | ((bytes[at + next] ?? 0) & 0x3f);
  return code;
}
