// The types of the visible keys, for the marks in the tree.
//
// SCAN does not return types. They are requested in one pipeline when scrolling stops, only for visible rows, and cached
// for a few thousand keys.

import { signal } from '@preact/signals';
import { connection } from '../connection/state.ts';
import { bytesOf, type Name } from './names.ts';
import { textIn } from './replies.ts';

const REST_MS = 120;
/** When the cache is larger than this, it is emptied; the visible rows request their types again. */
const KEPT_MAX = 5000;

const known = new Map<Name, string>();
/** Counts up when types have arrived. */
export const typesKnown = signal(0);
let resting: ReturnType<typeof setTimeout> | undefined;

export function typeOf(name: Name): string | undefined {
  return known.get(name);
}

/** Notes a type that another request has shown; `undefined` if the type is no longer known. */
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
    // The tree works without the marks, and the next stop of the scrolling requests them again.
  }
}
