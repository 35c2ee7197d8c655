// The content of an input for bytes: its text, and whether escapes in the text mean bytes.

import { unescaped } from '../resp/codec.ts';
import { escaped, plainText } from './escapes.ts';

export type Draft = { text: string; escapes: boolean };

export const EMPTY: Draft = { text: '', escapes: false };

/** A draft that stands for exactly these bytes. A field of one line cannot hold line feeds as they are. */
export function draftOf(bytes: Uint8Array, lines: 'one' | 'many' = 'one'): Draft {
  const text = plainText(bytes);
  if (text !== undefined && (lines === 'many' || !/[\n\t]/.test(text))) return { text, escapes: false };
  return { text: escaped(bytes), escapes: true };
}

/** The bytes that the draft stands for. Throws an Error that names a mistake in the escapes. */
export function draftBytes(draft: Draft): Uint8Array {
  return draft.escapes ? unescaped(draft.text) : new TextEncoder().encode(draft.text);
}

/** The same bytes written the other way. Throws if they are not text and so need escapes. */
export function switched(draft: Draft, lines: 'one' | 'many' = 'one'): Draft {
  const bytes = draftBytes(draft);
  if (!draft.escapes) return { text: escaped(bytes), escapes: true };
  const plain = draftOf(bytes, lines);
  if (plain.escapes) throw new Error('These bytes cannot be written without escapes.');
  return plain;
}
