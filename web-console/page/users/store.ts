// The users and the denials of the server, as the page has read them last.

import { signal } from '@preact/signals';
import { connection } from '../connection/state.ts';
import type { Argument, Reply } from '../resp/reply.ts';
import { itemsOf, problemOf, textOf } from '../resp/values.ts';
import { type Denial, parseLog, parseUser, type User } from './model.ts';

/** So many entries of the log are shown. */
const DENIALS_MAX = 100;

export const users = signal<User[]>([]);
export const denials = signal<Denial[]>([]);
/** The name of this page's own user. */
export const own = signal('');
/** Why users cannot be shown, or empty. */
export const usersProblem = signal('');
/** The same for denials. */
export const denialsProblem = signal('');

function errorOf(reply: Reply | undefined): string {
  return reply?.type === 'error' ? reply.text.replace(/^ERR /, '') : '';
}

/** Reads everything again. */
export async function refresh(): Promise<void> {
  try {
    const client = await connection.client();
    const [whoami, names, log] = await client.pipeline([
      ['ACL', 'WHOAMI'],
      ['ACL', 'USERS'],
      ['ACL', 'LOG', String(DENIALS_MAX)],
    ]);
    own.value = whoami?.type === 'bulk' ? textOf(whoami) : '';
    usersProblem.value = errorOf(names);
    denialsProblem.value = errorOf(log);
    denials.value = log ? parseLog(log, Date.now()) : [];
    const all = itemsOf(names).map(textOf);
    const replies = all.length === 0 ? [] : await client.pipeline(all.map((name) => ['ACL', 'GETUSER', name]));
    users.value = all.flatMap((name, at) => parseUser(name, replies[at]) ?? []);
  } catch (error) {
    usersProblem.value = problemOf(error);
  }
}

/** Runs a command and reads everything again. Throws the server's error. */
export async function change(args: Argument[]): Promise<Reply> {
  const client = await connection.client();
  const reply = await client.call(args);
  await refresh();
  return reply;
}
