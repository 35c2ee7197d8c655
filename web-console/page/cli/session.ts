// The session of the command line: it runs inputs and keeps their outcomes.
//
// The session is not the shared one, because MULTI, a blocking command or CLIENT REPLY OFF would disturb the other pages.
// SELECT changes the shell's database too, and the session follows the shell's choice of a database.

import { effect, signal } from '@preact/signals';
import type { Client } from '../connection/client.ts';
import { connection } from '../connection/state.ts';
import { splitInput } from '../resp/codec.ts';
import type { Reply } from '../resp/reply.ts';
import { type Step, selects, stepsOf, textOf } from './words.ts';

/** Older results are dropped: they may hold large values. */
const ENTRIES_MAX = 100;
/** A stream keeps only its last messages. */
const STREAM_MAX = 1000;

export type Outcome = { reply: Reply } | { status: string } | { problem: string } | { help: string };

export interface Entry {
  id: number;
  input: string;
  db: number;
  /** Whether the command is queued in a transaction. */
  inTransaction: boolean;
  running: boolean;
  outcomes: Outcome[];
  /** How many outcomes of a stream were dropped. */
  dropped: number;
  elapsedMs?: number;
  /** How many commands the input has. */
  commands: number;
  stream: boolean;
}

export const entries = signal<Entry[]>([]);
export const transaction = signal(false);

let lastId = 0;
let session: Client | undefined;
/** The database of the session, which follows the choice in the header. */
let sessionDb = 0;
const stops = new Map<number, () => void>();

// The person chose another database in the header, or the connection was lost.
effect(() => {
  const db = connection.db.value;
  if (session && sessionDb !== db) {
    sessionDb = db;
    session.send(['SELECT', String(db)]).catch(() => undefined);
  }
});

// Another server: commands on the old one are stopped.
let known = connection.settings.peek();
effect(() => {
  const settings = connection.settings.value;
  if (settings === known) return;
  known = settings;
  for (const end of [...stops.values()]) end();
  session?.close();
});

async function open(): Promise<Client> {
  if (session) return session;
  // Waits while the shell reconnects.
  await connection.client();
  const db = connection.db.value;
  const client = await connection.dedicated();
  session = client;
  sessionDb = db;
  void client.closed.then(() => {
    if (session !== client) return;
    session = undefined;
    transaction.value = false;
  });
  return client;
}

/** Runs an input of one or more commands. False if its quotes are not closed: then nothing runs. */
export function run(input: string): boolean {
  const commands = splitInput(input);
  if (!commands) return false;
  const steps = commands.flatMap(stepsOf);
  if (steps.length === 0) return true;
  if (steps.every((step) => step.kind === 'clear')) {
    clear();
    return true;
  }
  const stream = steps.length === 1 && steps[0]?.kind === 'stream';
  const entry: Entry = {
    id: ++lastId, input, db: connection.db.value, inTransaction: transaction.value, running: true, outcomes: [], dropped: 0,
    commands: steps.length, stream,
  };
  entries.value = [...entries.value, entry].slice(-ENTRIES_MAX);
  void (stream ? runStream(entry.id, steps[0] as Step & { kind: 'stream' }) : runSteps(entry.id, steps));
  return true;
}

/** Stops an entry: a stream, or a command that waits. */
export function stop(id: number): void {
  stops.get(id)?.();
}

/** The newest entry that is still running. */
export function running(): Entry | undefined {
  return entries.value.findLast((entry) => entry.running);
}

export function clear(): void {
  entries.value = entries.value.filter((entry) => entry.running);
}

function change(id: number, changed: (entry: Entry) => Partial<Entry>): void {
  entries.value = entries.value.map((entry) => (entry.id === id ? { ...entry, ...changed(entry) } : entry));
}

function finish(id: number, outcomes: Outcome[], elapsedMs?: number): void {
  stops.delete(id);
  change(id, (entry) => ({
    running: false,
    outcomes: [...entry.outcomes, ...outcomes],
    ...(elapsedMs !== undefined && { elapsedMs }),
  }));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function runSteps(id: number, steps: Step[]): Promise<void> {
  const requests = steps.flatMap((step) => (step.kind === 'send' ? [step.args] : []));
  if (requests.length === 0) return finish(id, steps.flatMap((step) => local(step)));
  let client: Client;
  let stopped = false;
  try {
    const cancelled = new Promise<never>((_, reject) => {
      stops.set(id, () => {
        stopped = true;
        reject(new Error('stopped'));
      });
    });
    client = await Promise.race([open(), cancelled]);
  } catch (error) {
    return finish(id, [{ problem: stopped ? 'stopped' : `not connected: ${messageOf(error)}` }]);
  }
  stops.set(id, () => {
    stopped = true;
    client.close();
  });
  const begun = performance.now();
  let replies: Reply[];
  try {
    replies = await client.pipeline(requests);
  } catch (error) {
    const problem = stopped ? 'stopped: the server may have run it' : `${messageOf(error)}: the server may have run it`;
    return finish(id, [{ problem }]);
  }
  const elapsedMs = performance.now() - begun;
  let next = 0;
  const outcomes = steps.flatMap((step): Outcome[] => {
    if (step.kind !== 'send') return local(step);
    const reply = replies[next];
    next += 1;
    if (!reply) return [];
    observe(client, step.args, reply);
    return [{ reply }];
  });
  finish(id, outcomes, elapsedMs);
}

function local(step: Step): Outcome[] {
  if (step.kind === 'help') return [{ help: step.topic }];
  if (step.kind === 'stream') return [{ problem: `${textOf(step.args[0]).toUpperCase()} takes over the line: run it alone` }];
  return [];
}

/** Notes the effects of a command on the session. */
function observe(client: Client, args: Uint8Array[], reply: Reply): void {
  if (reply.type === 'error') {
    // EXEC ends a transaction even if it refuses to run it.
    if (/^EXECABORT/.test(reply.text)) transaction.value = false;
    return;
  }
  const queued = reply.type === 'simple' && reply.text === 'QUEUED';
  const name = textOf(args[0]).toUpperCase();
  const db = queued ? undefined : selects(args);
  if (db !== undefined) {
    sessionDb = db;
    if (db !== connection.db.value) void connection.select(db).catch(() => undefined);
  } else if (name === 'MULTI') transaction.value = true;
  else if (name === 'EXEC' || name === 'DISCARD') transaction.value = false;
  // After RESET the session has no user and speaks RESP2: the next command opens a new one.
  else if (name === 'RESET' || name === 'QUIT') client.close();
}

async function runStream(id: number, step: Step & { kind: 'stream' }): Promise<void> {
  let client: Client;
  let stopped = false;
  stops.set(id, () => {
    stopped = true;
    finish(id, []);
  });
  try {
    await connection.client();
    client = await connection.dedicated();
  } catch (error) {
    if (!stopped) finish(id, [{ problem: `not connected: ${messageOf(error)}` }]);
    return;
  }
  if (stopped) return client.close();
  stops.set(id, () => {
    stopped = true;
    client.close();
  });
  // A busy server sends thousands of messages a second: they are shown once per frame.
  let fresh: Outcome[] = [];
  let scheduled = false;
  const show = () => {
    scheduled = false;
    const added = fresh;
    fresh = [];
    change(id, (entry) => {
      const outcomes = [...entry.outcomes, ...added];
      return { outcomes: outcomes.slice(-STREAM_MAX), dropped: entry.dropped + Math.max(0, outcomes.length - STREAM_MAX) };
    });
  };
  const add = (outcome: Outcome) => {
    fresh.push(outcome);
    if (scheduled) return;
    scheduled = true;
    // A hidden tab has no frames, but its memory must not grow.
    if (document.hidden) setTimeout(show, 200);
    else requestAnimationFrame(show);
  };
  client.onPush((items) => add({ reply: { type: 'push', items } }));
  client.onStatus((status) => add({ status }));
  const answered = client.send(step.args).then((reply) => {
    if (reply.type !== 'push') add({ reply });
    // The server refused: no message will come.
    if (reply.type === 'error') client.close();
  });
  answered.catch(() => undefined);
  const reason = await client.closed;
  show();
  const refused = entries.value.find((entry) => entry.id === id)?.outcomes.some((outcome) => 'reply' in outcome && outcome.reply.type === 'error');
  finish(id, stopped || refused ? [] : [{ problem: reason }]);
}
