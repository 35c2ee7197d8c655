// Compare and set: a change is made only if the value is still the one that was read (WATCH, compare, MULTI, EXEC).
//
// These transactions run on a session of their own, one after another: WATCH belongs to a session, and on the shared one
// a command of another page could come between. If the comparison fails, nothing is written.

import type { Client } from '../connection/client.ts';
import { connection } from '../connection/state.ts';
import type { Argument, Reply } from '../resp/reply.ts';
import { itemsOf, okay } from './replies.ts';

/** The session is closed this long after the last change. */
const IDLE_MS = 30_000;

export type Check = { command: Argument[]; same: (reply: Reply) => boolean };

let session: { client: Promise<Client>; settings: unknown } | undefined;
let idle: ReturnType<typeof setTimeout> | undefined;
let last: Promise<unknown> = Promise.resolve();

/** 'changed' if a check fails or another client wrote the key meanwhile; then nothing was written. */
export function changeIf(
  key: Uint8Array,
  checks: Check[],
  writes: Argument[][],
): Promise<'done' | 'changed'> {
  const run = last.then(() => attempt(key, checks, writes));
  last = run.catch(() => undefined);
  return run;
}

async function attempt(key: Uint8Array, checks: Check[], writes: Argument[][]): Promise<'done' | 'changed'> {
  const client = await open();
  try {
    const before = await client.pipeline([
      ['SELECT', String(connection.db.value)],
      ['WATCH', key],
      ...checks.map((check) => check.command),
    ]);
    before.forEach(okay);
    const same = checks.every((check, at) => check.same(okay(before[at + 2])));
    if (!same) {
      await client.call(['UNWATCH']);
      return 'changed';
    }
    const answers = await client.pipeline([['MULTI'], ...writes, ['EXEC']]);
    answers.forEach(okay);
    const executed = okay(answers[answers.length - 1]);
    if (executed.type === 'null') return 'changed';
    itemsOf(executed).forEach(okay);
    return 'done';
  } catch (error) {
    // The state of the session is unknown now: the next change opens a new one.
    close();
    throw error;
  } finally {
    clearTimeout(idle);
    idle = setTimeout(close, IDLE_MS);
  }
}

async function open(): Promise<Client> {
  const settings = connection.settings.value;
  if (session !== undefined && session.settings !== settings) close();
  if (session === undefined) {
    const opened = { client: connection.dedicated(), settings };
    session = opened;
    const forget = (): void => {
      if (session === opened) session = undefined;
    };
    opened.client.then((client) => client.closed.then(forget), forget);
  }
  return session.client;
}

function close(): void {
  const closing = session;
  session = undefined;
  closing?.client.then(
    (client) => client.close(),
    () => undefined,
  );
}
