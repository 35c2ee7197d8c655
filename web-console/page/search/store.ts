// The indexes of the database, the chosen one, what is asked of it, and what the server has answered. All of it outlives the page.
//
// Searches have a session of their own: a search for each keystroke says LATEST, so that the server runs only the last of those that wait,
// and nothing else on the page waits for them.

import { signal } from '@preact/signals';
import type { Client } from '../connection/client.ts';
import { connection } from '../connection/state.ts';
import { showBytes } from '../parts/bytes.ts';
import { type Argument, CommandError } from '../resp/reply.ts';
import { bytesOf, itemsOf, problemOf, textOf } from '../resp/values.ts';
import { type Facet, facetOfGroups, facetOfHits, type Found, foundOf, type Index, indexOf, type Marks } from './model.ts';
import {
  type Asked, DOCUMENTS_COUNTED, explainArgs, FACET_VALUES_MAX, FACETS_MAX, freshFor, groupsArgs, hasWords, HITS_COUNTED, sampleArgs, searchArgs,
} from './query.ts';

/** Indexes that are described, at most; the server has 1,024. */
const INDEXES_MAX = 1024;
/** Facets and the explanation follow when nothing was typed for so long. */
const PAUSE_MS = 150;
/** How often the page looks how far an index is. */
const PROGRESS_EVERY_MS = 1000;

export interface Answer {
  found: Found;
  asked: Asked;
  elapsedMs: number;
}

export interface Facets {
  all: Facet[];
  /** So many of the results were counted, if not all. */
  counted: number | undefined;
}

export const indexes = signal<Index[]>([]);
/** Whether the list has been read: a server without search, or that refuses it, says so in `problem`. */
export const isKnown = signal(false);
/** Why indexes cannot be shown, or empty. */
export const problem = signal('');
/** The name of the chosen index. */
export const chosen = signal<Uint8Array | undefined>(undefined);
export const asked = signal<Asked>({ text: '', mode: 'language', chosen: {}, order: undefined, dialect: '', offset: 0 });
export const answer = signal<Answer | undefined>(undefined);
/** Why the last search has no answer, or empty. */
export const searchProblem = signal('');
export const facets = signal<Facets>({ all: [], counted: undefined });
export const facetsProblem = signal('');
/** The lines of FT.EXPLAIN, or its error; undefined while nobody wants them. */
export const explanation = signal<{ text: string; isProblem: boolean } | undefined>(undefined);

let session: Promise<Client> | undefined;
/** Counts searches up. */
let latest = 0;
/** The search whose answer is shown. */
let shown = 0;
let pause: ReturnType<typeof setTimeout> | undefined;
let progress: ReturnType<typeof setTimeout> | undefined;
let isExplained = false;

function marker(kind: string): string {
  const digits = crypto.getRandomValues(new Uint8Array(8));
  return `\u0001${kind}${Array.from(digits, (digit) => digit.toString(16).padStart(2, '0')).join('')}\u0002`;
}

export const marks: Marks = { open: marker('('), close: marker(')') };

export function chosenIndex(): Index | undefined {
  const key = chosen.value;
  return key && indexes.value.find((index) => index.label === showBytes(key));
}

async function client(): Promise<Client> {
  if (session) return session;
  const mine = connection.dedicated();
  session = mine;
  const forget = () => {
    if (session === mine) session = undefined;
  };
  mine.then((opened) => void opened.closed.then(forget), forget);
  return mine;
}

/** Ends the session: another server or database is asked next, or none. */
export function leave(): void {
  clearTimeout(pause);
  clearTimeout(progress);
  latest += 1;
  session?.then((opened) => opened.close(), () => undefined);
  session = undefined;
}

/** Forgets what belongs to another server or database. */
export function forget(): void {
  leave();
  indexes.value = [];
  isKnown.value = false;
  chosen.value = undefined;
  clearAnswer();
}

function clearAnswer(): void {
  answer.value = undefined;
  searchProblem.value = '';
  facets.value = { all: [], counted: undefined };
  facetsProblem.value = '';
  explanation.value = undefined;
  isExplained = false;
}

/** Reads which indexes there are, and what the server tells of each. */
async function readIndexes(): Promise<boolean> {
  try {
    const shared = await connection.client();
    const keys = itemsOf(await shared.call(['FT._LIST'])).map(bytesOf).slice(0, INDEXES_MAX);
    const infos = await shared.pipeline(keys.map((key): Argument[] => ['FT.INFO', key]));
    const all = keys.map((key, at) => indexOf(key, infos[at]));
    indexes.value = all.sort((one, other) => one.label.localeCompare(other.label));
    isKnown.value = true;
    problem.value = '';
    return true;
  } catch (error) {
    const isUnknown = error instanceof CommandError && /^ERR unknown command/i.test(error.message);
    problem.value = isUnknown ? 'This server has no search: it does not know the command FT._LIST.' : problemOf(error);
    // A connection that is lost for a moment says nothing about the indexes.
    if (error instanceof CommandError) {
      indexes.value = [];
      isKnown.value = false;
    }
    return false;
  }
}

/** Reads the indexes and searches again. `wanted`: the index that the address names. */
export async function refresh(wanted: Uint8Array | undefined): Promise<void> {
  if (!(await readIndexes())) return;
  const key = wanted ?? chosenIndex()?.key ?? indexes.value[0]?.key;
  if (key === undefined) {
    chosen.value = undefined;
    clearAnswer();
  } else if (chosen.value === undefined || showBytes(chosen.value) !== showBytes(key)) choose(key);
  else if (chosenIndex()) void run();
  else clearAnswer();
  watchProgress();
}

/** Looks every second how far indexes are that are being made. */
function watchProgress(): void {
  clearTimeout(progress);
  if (!indexes.value.some((index) => index.isIndexing)) return;
  progress = setTimeout(() => {
    if (document.hidden) return watchProgress();
    void readIndexes().then((isRead) => {
      const index = chosenIndex();
      if (isRead && index && !index.isIndexing) void run();
      watchProgress();
    });
  }, PROGRESS_EVERY_MS);
}

/** Chooses the index that the address names now. */
export function follow(key: Uint8Array): void {
  if (indexes.value.some((index) => index.label === showBytes(key))) choose(key);
  else void refresh(key);
}

function choose(key: Uint8Array): void {
  chosen.value = key;
  clearAnswer();
  const index = chosenIndex();
  latest += 1;
  if (index === undefined) return;
  asked.value = freshFor(index);
  void run();
}

/** Changes what is asked and searches, from the first result on unless the change says another offset. */
export function ask(change: Partial<Asked>): void {
  asked.value = { ...asked.value, offset: 0, ...change };
  void run();
}

/** Notes what is typed without searching. */
export function type(text: string): void {
  asked.value = { ...asked.value, text };
}

/** Chooses or gives up a value of a TAG field. */
export function toggle(field: string, value: string): void {
  const values = asked.value.chosen[field] ?? [];
  const next = values.includes(value) ? values.filter((other) => other !== value) : [...values, value];
  ask({ chosen: { ...asked.value.chosen, [field]: next } });
}

/** Whether a text is that of an error to a search that a newer one has followed. */
function isSuperseded(error: unknown): boolean {
  return error instanceof CommandError && error.message.startsWith('SUPERSEDED');
}

async function run(): Promise<void> {
  const index = chosenIndex();
  if (index === undefined) return;
  clearTimeout(pause);
  const mine = ++latest;
  const what = asked.value;
  try {
    const opened = await client();
    const startedAtMs = performance.now();
    const reply = await opened.call(searchArgs(index, what, marks));
    // Answers come in order, and those on the way to the last one are shown as well.
    if (mine < shown || index.label !== chosenIndex()?.label) return;
    shown = mine;
    answer.value = { found: foundOf(reply, index.fields), asked: what, elapsedMs: performance.now() - startedAtMs };
    searchProblem.value = '';
  } catch (error) {
    if (isSuperseded(error) || mine !== latest) return;
    shown = mine;
    answer.value = undefined;
    searchProblem.value = problemOf(error);
    facets.value = { all: [], counted: undefined };
  }
  if (mine !== latest) return;
  pause = setTimeout(() => void settle(index, what, mine), PAUSE_MS);
}

/** What follows a search when nothing more is typed. */
async function settle(index: Index, what: Asked, mine: number): Promise<void> {
  if (isExplained) await readExplanation(index, what, mine);
  if (searchProblem.value !== '' || mine !== latest) return;
  try {
    const read = await readFacets(index, what);
    if (mine !== latest) return;
    facets.value = read;
    facetsProblem.value = '';
  } catch (error) {
    if (mine !== latest) return;
    facets.value = { all: [], counted: undefined };
    facetsProblem.value = problemOf(error);
  }
}

async function readFacets(index: Index, what: Asked): Promise<Facets> {
  const fields = index.fields.filter((field) => field.kind === 'TAG' && !field.isUnindexed).slice(0, FACETS_MAX);
  if (fields.length === 0) return { all: [], counted: undefined };
  const opened = await client();
  const total = answer.value?.found.total ?? 0;
  const chosenOf = (name: string) => what.chosen[name] ?? [];
  // FT.AGGREGATE ranks no words as one types, and takes no JSON apart.
  if (!hasWords(what) && !fields.some((field) => field.isJson)) {
    const replies = await opened.pipeline(fields.map((field) => groupsArgs(index, what, field)));
    const failed = replies.find((reply) => reply.type === 'error');
    if (failed) throw new CommandError(textOf(failed));
    const all = fields.map((field, at) => facetOfGroups(replies[at], field, chosenOf(field.name)));
    return { all, counted: total > DOCUMENTS_COUNTED ? DOCUMENTS_COUNTED : undefined };
  }
  // A field with chosen values is counted as if none were.
  const [filtered, free] = [fields.filter((field) => chosenOf(field.name).length > 0), fields.filter((field) => chosenOf(field.name).length === 0)];
  const groups = [...filtered.map((field) => [field]), ...(free.length > 0 ? [free] : [])];
  const replies = await opened.pipeline(
    groups.map((group) => sampleArgs(index, what, group, group === free ? undefined : group[0]?.name)),
  );
  const failed = replies.find((reply) => reply.type === 'error');
  if (failed) throw new CommandError(textOf(failed));
  const found = replies.map((reply) => foundOf(reply, index.fields));
  const all = fields.map((field) => {
    const hits = found[groups.findIndex((group) => group.includes(field))]?.hits ?? [];
    return facetOfHits(hits, field, chosenOf(field.name), FACET_VALUES_MAX);
  });
  return { all, counted: found.some((each) => each.total > each.hits.length) ? HITS_COUNTED : undefined };
}

/** Shows how the server understands the query, now and after each search, or no longer. */
export function explain(isWanted: boolean): void {
  isExplained = isWanted;
  explanation.value = undefined;
  const index = chosenIndex();
  if (isWanted && index) void readExplanation(index, asked.value, latest);
}

async function readExplanation(index: Index, what: Asked, mine: number): Promise<void> {
  let next: typeof explanation.value;
  try {
    const opened = await client();
    next = { text: textOf(await opened.call(explainArgs(index, what))).trimEnd(), isProblem: false };
  } catch (error) {
    next = { text: problemOf(error), isProblem: true };
  }
  if (isExplained && mine === latest) explanation.value = next;
}
