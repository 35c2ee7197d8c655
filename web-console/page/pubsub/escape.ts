// What a person types for a channel or a message. In double quotes it has redis-cli's escapes (`"\x00\n"`), so every
// byte string can be typed; anything else is taken as it stands.

import { ESCAPE_MEANING } from '../parts/bytes.ts';

const encoder = new TextEncoder();

/** The bytes meant, or null if quotes are open or something follows them. */
export function typedBytes(text: string): Uint8Array | null {
  if (!text.startsWith('"')) return encoder.encode(text);
  const bytes: number[] = [];
  let at = 1;
  while (at < text.length) {
    const char = String.fromCodePoint(text.codePointAt(at) ?? 0);
    if (char === '"') return at + 1 === text.length ? Uint8Array.from(bytes) : null;
    if (char !== '\\') {
      bytes.push(...encoder.encode(char));
      at += char.length;
      continue;
    }
    const hex = /^x([0-9a-fA-F]{2})/.exec(text.slice(at + 1, at + 4))?.[1];
    const escaped = text.slice(at + 1, at + 2);
    if (escaped === '') return null;
    const meaning = hex ? Number.parseInt(hex, 16) : ESCAPE_MEANING.get(escaped);
    bytes.push(...(meaning === undefined ? encoder.encode(escaped) : [meaning]));
    at += hex ? 4 : 2;
  }
  return null;
}
