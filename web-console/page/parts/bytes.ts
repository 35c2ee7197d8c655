// Bytes as text. What is shown is always text, never markup.

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * What a person would rather see escaped: control characters, separators that break lines, marks that reorder or hide
 * text (a value must not look like another one), private use and unassigned characters.
 */
const UNPRINTABLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cn}\p{Co}\p{Cs}]/u;
const UNPRINTABLE_BUT_LINES = /(?![\n\r\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cn}\p{Co}\p{Cs}]/u;
/** Joiners and variation selectors are format characters that emoji and many scripts need. */
const HARMLESS = /[\u200c\u200d]/g;

/** The text that the bytes are, or undefined if they are no UTF-8. */
export function utf8(bytes: Uint8Array): string | undefined {
  try {
    return strict.decode(bytes);
  } catch {
    return undefined;
  }
}

/** The text that the bytes are if it can be shown as it is, over several lines where `lines` allows it. */
export function printable(bytes: Uint8Array, lines = false): string | undefined {
  const text = utf8(bytes);
  const unprintable = lines ? UNPRINTABLE_BUT_LINES : UNPRINTABLE;
  return text === undefined || unprintable.test(text.replace(HARMLESS, '')) ? undefined : text;
}

/** UTF-8 text if it is valid and printable, else redis-cli escapes in quotes. */
export function showBytes(bytes: Uint8Array): string {
  return printable(bytes) ?? quoteBytes(bytes);
}

/** The letters that stand for a byte behind a backslash. */
export const ESCAPE_MEANING: ReadonlyMap<string, number> = new Map([['a', 7], ['b', 8], ['t', 9], ['n', 10], ['r', 13]]);

const ESCAPES: Record<number, string> = { 34: '\\"', 92: '\\\\' };
for (const [letter, byte] of ESCAPE_MEANING) ESCAPES[byte] = `\\${letter}`;

/** Bytes in quotes as redis-cli prints them and takes them back. */
export function quoteBytes(bytes: Uint8Array): string {
  let out = '"';
  for (const byte of bytes) {
    out += ESCAPES[byte] ?? (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`);
  }
  return `${out}"`;
}

/**
 * Bytes in quotes, but readable: characters beyond ASCII stay as they are where the bytes are UTF-8 (as `redis-cli`
 * would show them with a quoted, printable terminal); the same escapes read them back.
 */
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
