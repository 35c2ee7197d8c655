// The types of the keys in sight, for the marks in the tree.
//
// SCAN does not tell them, so they are asked for in one pipeline once the scrolling rests, only for rows that
// are shown, and kept for a few thousand keys.

import { signal } from '@preact/signals';
import { connection } from '../connection/state.ts';
import { bytesOf, type Name } from './names.ts';
import { textIn } from './replies.ts';

const REST_MS = 120;
/** Kept types; when there are more, all are forgotten: those in sight are asked for again. */
const KEPT_MAX = 5000;

const known = new Map<Name, string>();
/** Counts up when types have come. */
export const typesKnown = signal(0);
let resting: ReturnType<typeof setTimeout> | undefined;

export function typeOf(name: Name): string | undefined {
  return known.get(name);
}

/** A type that was learned otherwise, or `undefined` when the key was written anew. */
export function learnType(name: Name, type: string | undefined): void {
  if (type === undefined) known.delete(name);
  else known.set(name, type);
}

export function forgetTypes(): void {
  known.clear();
}

export function wantTypes(names: Name[]): void {
  clearTimeout(resting);
  const missing = names.filter((name) => !known.has(name));
  if (missing.length === 0) return;
  resting = setTimeout(() => void ask(missing), REST_MS);
}

async function ask(names: Name[]): Promise<void> {
  try {
    const client = await connection.client();
    const replies = await client.pipeline(names.map((name) => ['TYPE', bytesOf(name)]));
    if (known.size > KEPT_MAX) known.clear();
    names.forEach((name, at) => known.set(name, textIn(replies[at])));
    typesKnown.value += 1;
  } catch {
    // The marks are a help only: without them the tree works as well, and the next rest asks again.
  }
}
