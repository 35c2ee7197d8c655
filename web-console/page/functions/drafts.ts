// Code that was typed and not loaded yet. It stays while another library or page is shown.

import { signal } from '@preact/signals';

export interface Draft {
  text: string;
  /** The code that the server had when typing began; undefined for a new library. */
  shown: string | undefined;
}

/** The key of the library that is not there yet. */
export const NEW = '';

export const drafts = signal<ReadonlyMap<string, Draft>>(new Map());

export function keep(name: string, draft: Draft): void {
  drafts.value = new Map(drafts.value).set(name, draft);
}

export function discard(name: string): void {
  const rest = new Map(drafts.value);
  rest.delete(name);
  drafts.value = rest;
}
