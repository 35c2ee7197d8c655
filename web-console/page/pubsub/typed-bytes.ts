// The text that a person types for a channel or a message. In double quotes it has redis-cli's escapes (`"\x00\n"`), so
// that every byte string can be typed; any other text is sent unchanged.

import { splitInput } from '../resp/codec.ts';

/** The bytes meant, or null if quotes are open or something follows them. */
export function typedBytes(text: string): Uint8Array | null {
  if (!text.startsWith('"')) return new TextEncoder().encode(text);
  const [words = [], ...others] = splitInput(text) ?? [];
  const [word, ...more] = words;
  const isOneWord = text.endsWith('"') && more.length === 0 && others.length === 0;
  return isOneWord && word !== undefined ? word : null;
}
