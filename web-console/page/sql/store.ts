// The database that is chosen, its schema, and the text that ran last with its result. All of it outlives the page.
//
// A text that reads is read by a cursor, so that a result of any size is shown from its beginning. Cursors belong to a session: one of
// the page's own keeps it until the next text runs.

import { signal } from '@preact/signals';
import type { Client } from '../connection/client.ts';
import { readTables, type Table } from '../connection/sql-schema.ts';
import { connection } from '../connection/state.ts';
import { showBytes } from '../parts/bytes.ts';
import { CommandError, type Reply } from '../resp/reply.ts';
import { bytesOf, itemsOf, problemOf, textOf } from '../resp/values.ts';
import { type Cell, cellOf, planOf, type Step } from './model.ts';
import { remember } from './saved.ts';

/** Rows that are read first, and by each click. */
const ROWS_FIRST = 200;
const ROWS_MORE = 1000;
/** Rows that are shown, at most: the browser has each in memory, and in the page. */
export const ROWS_MAX = 5000;
/** Tables whose columns are read, for completion. */
const TABLES_MAX = 500;
const DATABASES_MAX = 1000;
const KEYS_AT_ONCE = 1000;
/** What the server says to a cursor of a text that needs no cursor. Nothing has run then. */
const NO_CURSOR = /^ERR (the statement changes the database|a cursor is of one statement|no such database|the text has no statement)/;

export interface Database {
  key: Uint8Array;
  label: string;
}

export interface Result {
  columns: string[];
  rows: Cell[][];
  /** The cursor that has more rows. */
  cursor: string | undefined;
}

export type Outcome =
  | { kind: 'rows'; result: Result; elapsedMs: number }
  | { kind: 'changed'; changed: string; elapsedMs: number }
  | { kind: 'plan'; steps: Step[]; elapsedMs: number }
  | { kind: 'problem'; problem: string };

export const databases = signal<Database[]>([]);
/** The name as it is typed or chosen. */
export const label = signal('');
export const tables = signal<Table[]>([]);
/** Why databases or tables cannot be shown, or empty. */
export const problem = signal('');
/** Whether the server has no SQL. */
export const isUnknown = signal(false);
/** The text in the editor, which follows what is typed; another number puts another text into it. */
export const draft = signal({ text: '', number: 0 });
export const isRunning = signal(false);
export const outcome = signal<Outcome | undefined>(undefined);

/** The session of the text that ran last. */
let session: Client | undefined;

/** Puts a text into the editor. */
export function edit(text: string): void {
  draft.value = { text, number: draft.value.number + 1 };
}

export function databaseOf(name: string): Database {
  return databases.value.find((each) => each.label === name) ?? { key: new TextEncoder().encode(name), label: name };
}

/** Reads which databases there are, and the tables of the chosen one. */
export async function refresh(): Promise<void> {
  try {
    const client = await connection.client();
    const found = new Map<string, Database>();
    let cursor = '0';
    do {
      const reply = await client.call(['SCAN', cursor, 'TYPE', 'sqldb', 'COUNT', String(KEYS_AT_ONCE)]);
      const [next, names] = itemsOf(reply);
      cursor = textOf(next);
      for (const name of itemsOf(names)) {
        const key = bytesOf(name);
        found.set(showBytes(key), { key, label: showBytes(key) });
      }
    } while (cursor !== '0' && cursor !== '' && found.size < DATABASES_MAX);
    databases.value = [...found.values()].sort((a, b) => a.label.localeCompare(b.label));
    if (label.value === '') label.value = databases.value[0]?.label ?? '';
    problem.value = '';
    await readSchema();
  } catch (error) {
    problem.value = problemOf(error);
  }
}

/** Reads the tables of the chosen database and their columns. */
async function readSchema(): Promise<void> {
  const { key, label: name } = databaseOf(label.value);
  if (name === '') {
    tables.value = [];
    return;
  }
  const client = await connection.client();
  try {
    const read = await readTables(client, key, TABLES_MAX);
    isUnknown.value = false;
    problem.value = '';
    if (name === label.value) tables.value = read.tables;
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    isUnknown.value = /^ERR unknown command/i.test(error.message);
    tables.value = [];
    problem.value = isUnknown.value ? 'This server has no SQL: it does not know the command SQL.TABLES.' : problemOf(error);
  }
}

/** Chooses a database by its name. */
export function choose(name: string): void {
  label.value = name;
  readSchema().catch((error: unknown) => (problem.value = problemOf(error)));
}

/** Chooses a database by its key. */
export function chooseKey(key: Uint8Array): void {
  const name = showBytes(key);
  list({ key, label: name });
  choose(name);
}

/** Puts a database into the list, if it is not there. */
function list(database: Database): void {
  if (!databases.value.some((each) => each.label === database.label)) databases.value = [...databases.value, database];
}

/** Runs a text, and shows its result or why there is none. */
export async function run(text: string): Promise<void> {
  await show(async (client, { key, label: database }) => {
    remember({ database, text });
    const startedAtMs = performance.now();
    const elapsedMs = () => performance.now() - startedAtMs;
    const opened = await client.send(['SQL.CURSOR', 'OPEN', key, text]);
    if (opened.type !== 'error') {
      const [cursor, names] = itemsOf(opened);
      const result = { columns: itemsOf(names).map(textOf), rows: [], cursor: textOf(cursor) };
      return { kind: 'rows', result: await fetched(client, key, result, ROWS_FIRST), elapsedMs: elapsedMs() };
    }
    if (!NO_CURSOR.test(opened.text)) throw new CommandError(opened.text);
    const reply = await client.call(['SQL.EXEC', key, text]);
    // The text may have made the database or a table. Looking for all databases walks over all keys.
    list({ key, label: database });
    readSchema().catch((error: unknown) => (problem.value = problemOf(error)));
    if (reply.type === 'integer') return { kind: 'changed', changed: String(reply.value), elapsedMs: elapsedMs() };
    const [names, ...rows] = itemsOf(reply);
    if (names === undefined) return { kind: 'changed', changed: textOf(reply) || '0', elapsedMs: elapsedMs() };
    const result = { columns: itemsOf(names).map(textOf), rows: rows.slice(0, ROWS_MAX).map(cellsOf), cursor: undefined };
    return { kind: 'rows', result, elapsedMs: elapsedMs() };
  });
}

/** Shows how a text would find its rows. */
export async function explain(text: string): Promise<void> {
  await show(async (client, { key }) => {
    const startedAtMs = performance.now();
    const lines = itemsOf(await client.call(['SQL.EXPLAIN', key, text])).map(textOf);
    return { kind: 'plan', steps: planOf(lines), elapsedMs: performance.now() - startedAtMs };
  });
}

/** Reads more rows of the result. */
export async function more(): Promise<void> {
  const shown = outcome.value;
  if (shown?.kind !== 'rows' || session === undefined || isRunning.value) return;
  isRunning.value = true;
  problem.value = '';
  try {
    const { key } = databaseOf(label.value);
    const result = await fetched(session, key, shown.result, Math.min(ROWS_MORE, ROWS_MAX - shown.result.rows.length));
    if (outcome.value === shown) outcome.value = { ...shown, result };
  } catch (error) {
    // The rows stay. A cursor that nobody used for some time is closed by the server.
    problem.value = `There are no more rows to read: ${problemOf(error)}`;
    if (outcome.value === shown) outcome.value = { ...shown, result: { ...shown.result, cursor: undefined } };
  }
  isRunning.value = false;
}

/** Ends what runs by closing its session. */
export function stop(): void {
  session?.close();
}

async function show(act: (client: Client, database: Database) => Promise<Outcome>): Promise<void> {
  if (isRunning.value) return;
  if (label.value === '') {
    outcome.value = { kind: 'problem', problem: 'Choose a database, or type the name of a new one.' };
    return;
  }
  isRunning.value = true;
  session?.close();
  try {
    session = await connection.dedicated();
    outcome.value = await act(session, databaseOf(label.value));
  } catch (error) {
    outcome.value = { kind: 'problem', problem: problemOf(error) };
  }
  isRunning.value = false;
}

/** Rows of the chosen database beside the result, for a text that reads few. Throws the server's error. */
export async function lookUp(text: string): Promise<Pick<Result, 'columns' | 'rows'>> {
  const client = await connection.client();
  const [names, ...rows] = itemsOf(await client.call(['SQL.QUERY', databaseOf(label.value).key, text]));
  return { columns: itemsOf(names).map(textOf), rows: rows.map(cellsOf) };
}

async function fetched(client: Client, key: Uint8Array, result: Result, count: number): Promise<Result> {
  if (result.cursor === undefined || result.cursor === '0') return { ...result, cursor: undefined };
  const [next, rows] = itemsOf(await client.call(['SQL.CURSOR', 'FETCH', key, result.cursor, 'COUNT', String(count)]));
  const cursor = textOf(next);
  return { ...result, rows: [...result.rows, ...itemsOf(rows).map(cellsOf)], cursor: cursor === '0' ? undefined : cursor };
}

function cellsOf(row: Reply): Cell[] {
  return itemsOf(row).map(cellOf);
}

