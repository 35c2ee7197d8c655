// Bytes as text. The page shows bytes only as text, never as markup.

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Characters that are escaped: control characters, line separators, marks that reorder or hide text (a value must not
 * look like another one), private use and unassigned characters.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cn}\p{Co}\p{Cs}]/u;
const UNPRINTABLE_BUT_LINES = /(?![\n\r\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cn}\p{Co}\p{Cs}]/u;
/** Joiners: format characters that emoji and many scripts need. */
const HARMLESS = /[\u200c\u200d]/g;

/** The bytes decoded as UTF-8; undefined if they are not UTF-8. */
export function utf8(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}

/** The bytes as text if every character is printable; `lines` also allows line ends and tabs. Undefined otherwise. */
export function printable(bytes: Uint8Array, lines = false): string | undefined {
  const text = utf8(bytes);
  const unprintable = lines ? UNPRINTABLE_BUT_LINES : UNPRINTABLE;
  return text === undefined || unprintable.test(text.replace(HARMLESS, '')) ? undefined : text;
}

/** The bytes as text if they are printable UTF-8; otherwise in quotes, with redis-cli's escapes. */
export function showBytes(bytes: Uint8Array): string {
  return printable(bytes) ?? quoteBytes(bytes);
}

/** The escapes of redis-cli that are shorter than `\xHH`. The core reads them back (core/src/resp/inline.rs). */
const ESCAPES: Record<number, string> = {
  7: '\\a', 8: '\\b', 9: '\\t', 10: '\\n', 13: '\\r', 34: '\\"', 92: '\\\\',
};

/** Bytes in quotes, as redis-cli prints and reads them. */
export function quoteBytes(bytes: Uint8Array): string {
  let out = '"';
  for (const byte of bytes) {
    out += ESCAPES[byte] ?? (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`);
  }
  return `${out}"`;
}

/** Bytes in quotes, but UTF-8 beyond ASCII stays readable. redis-cli reads the result back as the same bytes. */
export function quoteText(bytes: Uint8Array): string {
  const text = utf8(bytes);
  if (text === undefined) return quoteBytes(bytes);
  let out = '"';
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code < 128) out += ESCAPES[code] ?? (code >= 32 && code < 127 ? character : `\\x${code.toString(16).padStart(2, '0')}`);
    else if (UNPRINTABLE.test(character) && !'\u200c\u200d'.includes(character)) out += quoteBytes(new TextEncoder().encode(character)).slice(1, -1);
    else out += character;
  }
  return `${out}"`;
}

/** At most `limit` bytes from the beginning, not cut within a UTF-8 character. */
export function beginning(bytes: Uint8Array, limit: number): Uint8Array {
  if (bytes.length <= limit) return bytes;
  let end = limit;
  // A character has at most three continuation bytes: with more in a row, the value is not text.
  while (end > limit - 4 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end > limit - 4 ? end : limit);
}

/** The pieces as one array. */
export function joined(pieces: Uint8Array[]): Uint8Array {
  const all = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}

/** `1.5 kB`: decimal units, three digits. */
export function showSize(sizeBytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
  let value = sizeBytes;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return `${Number(value.toFixed(digits))} ${units[unit]}`;
}

/** Lines of offset, sixteen bytes in hex, and the same as ASCII. */
export function hexDump(bytes: Uint8Array, from = 0, lines = Infinity): string {
  const out: string[] = [];
  for (let at = from; at < bytes.length && out.length < lines; at += 16) {
    const row = [...bytes.subarray(at, at + 16)];
    const hex = row.map((byte) => byte.toString(16).padStart(2, '0'));
    const left = hex.slice(0, 8).join(' ').padEnd(23);
    const right = hex.slice(8).join(' ').padEnd(23);
    const ascii = row.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : '.')).join('');
    out.push(`${at.toString(16).padStart(8, '0')}  ${left}  ${right}  ${ascii}`);
  }
  return out.join('\n');
}
