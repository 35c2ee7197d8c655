// The console's connection: one session that all pages share, opened again when it is lost, and its state for display.
//
// Promises: `client()` waits for an open session as long as that takes, or rejects when a person must act (a wrong
// password). Every session opened here has the chosen database selected.

import { signal } from '@preact/signals';
import { CommandError } from '../resp/reply.ts';
import { type Address, Client } from './client.ts';
import { loadDatabase, loadSettings, saveDatabase, saveSettings, type Settings } from './settings.ts';

export type { Settings } from './settings.ts';

/** `waiting`: lost, the next attempt follows a pause. `closed`: refused, a person must act. */
export type Status = 'connecting' | 'open' | 'waiting' | 'closed';

const RETRY_FIRST_MS = 250;
const RETRY_MAX_MS = 15_000;

const status = signal<Status>('connecting');
const problem = signal('');
const retryAt = signal(0);
const server = signal('');
const db = signal(loadDatabase(localStorage));
const settings = signal<Settings>(loadSettings(localStorage, location));

let current: Client | undefined;
/** Resolves with the next open session; replaced whenever the session is lost. */
let pending = deferred<Client>();
/** Attempts of an older generation are abandoned. */
let generation = 0;
let failures = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

function deferred<T>() {
  let resolve!: (value: T) => void;
  let reject!: (error: Error) => void;
  const promise = new Promise<T>((yes, no) => ([resolve, reject] = [yes, no]));
  // If nobody waits for it, a rejection is no error of the page.
  promise.catch(() => undefined);
  return { promise, resolve, reject };
}

function address(): Address {
  const { url, user, password } = settings.value;
  return { url, db: db.value, ...(user && { user }), ...(password && { password }) };
}

async function connect(): Promise<void> {
  const mine = ++generation;
  clearTimeout(timer);
  status.value = 'connecting';
  let client: Client;
  try {
    client = await Client.connect(address());
  } catch (error) {
    if (mine === generation) failed(error instanceof Error ? error : new Error(String(error)));
    return;
  }
  if (mine !== generation) return client.close();
  failures = 0;
  problem.value = '';
  server.value = client.server;
  current = client;
  status.value = 'open';
  pending.resolve(client);
  const reason = await client.closed;
  if (mine === generation) lost(reason);
}

function lost(reason: string): void {
  current = undefined;
  pending = deferred();
  retry(reason);
}

function failed(error: Error): void {
  // The server answered and refused: another attempt would not help.
  if (error instanceof CommandError && !/^(LOADING|BUSY|MASTERDOWN)/.test(error.message)) {
    problem.value = error.message;
    status.value = 'closed';
    pending.reject(error);
    pending = deferred();
    return;
  }
  retry(error.message);
}

function retry(reason: string): void {
  problem.value = reason;
  const pause = Math.min(RETRY_FIRST_MS * 2 ** failures, RETRY_MAX_MS);
  failures += 1;
  retryAt.value = Date.now() + pause;
  status.value = 'waiting';
  timer = setTimeout(() => void connect(), pause);
}

export const connection = {
  status,
  /** Why there is no connection, or empty. */
  problem,
  /** When the next attempt begins, in ms since 1970; valid while waiting. */
  retryAt,
  /** Name and version of the server, from the reply of HELLO. */
  server,
  /** The database of the shared session. Change it with `select`. */
  db,
  settings,

  /** The shared session, once it is open. Rejects if the server refuses the user or the password. */
  client(): Promise<Client> {
    return current ? Promise.resolve(current) : pending.promise;
  },

  /** A separate session with the same settings, for SUBSCRIBE and MONITOR. The caller closes it. */
  dedicated(): Promise<Client> {
    return Client.connect(address());
  },

  /** Selects a database in the shared session and in later ones. Throws the server's error. */
  async select(database: number): Promise<void> {
    const client = await connection.client();
    await client.call(['SELECT', String(database)]);
    connection.selected(database);
  },

  /** Notes that the shared session has another database now. */
  selected(database: number): void {
    db.value = database;
    saveDatabase(localStorage, database);
  },

  /** Connects with new settings, and stores them. */
  use(next: Settings): void {
    saveSettings(localStorage, next, location);
    if (next.url !== settings.value.url) connection.selected(0);
    settings.value = next;
    connection.reconnect();
  },

  /** Opens a new session now, without a pause. */
  reconnect(): void {
    const old = current;
    failures = 0;
    if (old) {
      current = undefined;
      pending = deferred();
    }
    void connect();
    old?.close();
  },
};
