// The command line's work: it runs what was typed on a session of its own and keeps what came of it.
//
// A session of its own, because MULTI, a blocking command or CLIENT REPLY OFF would hold up the other pages. SELECT is
// told to the shell, and the shell's choice of a database is followed.

import { effect, signal } from '@preact/signals';
import type { Client } from '../connection/client.ts';
import { connection } from '../connection/state.ts';
import { splitInput } from '../resp/codec.ts';
import type { Reply } from '../resp/reply.ts';
import { type Step, selects, stepsOf, textOf } from './words.ts';

/** Older results make room: they may hold large values. */
const ENTRIES_MAX = 100;
/** A stream keeps its last messages. */
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
  /** How many outcomes of a stream are not kept any more. */
  dropped: number;
  elapsedMs?: number;
  /** How many commands it was. */
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

// Another database chosen in the header, or a lost connection.
effect(() => {
  const db = connection.db.value;
  if (session && sessionDb !== db) {
    sessionDb = db;
    session.send(['SELECT', String(db)]).catch(() => undefined);
  }
});

// Another server: what runs on the old one is of no use any more.
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

/** Runs an input of one or more commands. False if its quotes are not closed: nothing was done then. */
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

/** Ends what runs: a stream, or a command that waits. */
export function stop(id: number): void {
  stops.get(id)?.();
}

/** The newest entry that runs. */
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

/** Notes what a command changed about the session. */
function observe(client: Client, args: Uint8Array[], reply: Reply): void {
  if (reply.type === 'error') {
    // A transaction that cannot run any more is over with EXEC.
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
  // The session is as new after RESET, without user and RESP3: a new one has them.
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
  // A busy server sends thousands a second: they are shown a frame at a time.
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
    // Frames stop in a hidden tab, but memory must not grow there.
    if (document.hidden) setTimeout(show, 200);
    else requestAnimationFrame(show);
  };
  client.onPush((items) => add({ reply: { type: 'push', items } }));
  client.onStatus((status) => add({ status }));
  const answered = client.send(step.args).then((reply) => {
    if (reply.type !== 'push') add({ reply });
    // Refused, or queued in nothing: there is nothing to wait for.
    if (reply.type === 'error') client.close();
  });
  answered.catch(() => undefined);
  const reason = await client.closed;
  show();
  const refused = entries.value.find((entry) => entry.id === id)?.outcomes.some((outcome) => 'reply' in outcome && outcome.reply.type === 'error');
  finish(id, stopped || refused ? [] : [{ problem: reason }]);
}
