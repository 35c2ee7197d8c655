// Patterns of SCAN MATCH: the pattern of a filter, and the one for all keys of a folder.

/** A text without wildcards matches anywhere in the name; an empty one means all keys. */
export function filterPattern(text: string): string | undefined {
  if (text === '') return undefined;
  return /[*?[\\]/.test(text) ? text : `*${text}*`;
}

/** Matches all keys that begin with these bytes: wildcards among them are escaped. */
export function prefixPattern(prefix: Uint8Array): Uint8Array {
  const out: number[] = [];
  for (const byte of prefix) {
    if (SPECIAL.has(byte)) out.push(BACKSLASH);
    out.push(byte);
  }
  out.push(STAR);
  return Uint8Array.from(out);
}

const STAR = 0x2a;
const BACKSLASH = 0x5c;
const SPECIAL: ReadonlySet<number> = new Set([STAR, BACKSLASH, 0x3f, 0x5b, 0x5d]);
