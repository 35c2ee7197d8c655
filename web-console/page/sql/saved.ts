// Texts that the browser keeps: saved queries by name, and those that ran last. Both belong to a database's name, whatever the server.

import { signal } from '@preact/signals';

const SAVED = 'edgecask.sql.saved';
const PAST = 'edgecask.sql.past';
const PAST_MAX = 50;
/** A longer text is not kept among those that ran. */
const PAST_CHARACTERS_MAX = 10_000;

export interface Saved {
  database: string;
  name: string;
  text: string;
}

export interface Past {
  database: string;
  text: string;
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** What is stored may be anything: another version wrote it, or a person did. */
function stored(name: string): Record<string, unknown>[] {
  try {
    const found: unknown = JSON.parse(localStorage.getItem(name) ?? '[]');
    return Array.isArray(found) ? found.filter((each) => typeof each === 'object' && each !== null) : [];
  } catch {
    return [];
  }
}

export const saved = signal<Saved[]>(
  stored(SAVED).flatMap(({ database, name, text }) => (isText(database) && isText(name) && isText(text) ? [{ database, name, text }] : [])),
);
export const past = signal<Past[]>(
  stored(PAST).flatMap(({ database, text }) => (isText(database) && isText(text) ? [{ database, text }] : [])),
);

/** False if the browser has no room for it. */
function store(name: string, value: unknown): boolean {
  try {
    localStorage.setItem(name, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

/** Saves a text under a name, in the place of another one of this name. False if the browser does not keep it. */
export function save(entry: Saved): boolean {
  const others = saved.value.filter((each) => each.database !== entry.database || each.name !== entry.name);
  const next = [...others, entry].sort((a, b) => a.name.localeCompare(b.name));
  if (!store(SAVED, next)) return false;
  saved.value = next;
  return true;
}

export function forget(entry: Saved): void {
  saved.value = saved.value.filter((each) => each !== entry);
  store(SAVED, saved.value);
}

/** Puts a text before those that ran earlier. */
export function remember(entry: Past): void {
  if (entry.text.length > PAST_CHARACTERS_MAX) return;
  const others = past.value.filter((each) => each.database !== entry.database || each.text !== entry.text);
  past.value = [entry, ...others].slice(0, PAST_MAX);
  store(PAST, past.value);
}
