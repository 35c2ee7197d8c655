// What ACL GETUSER and ACL LOG say, and rules as a person types them.

import type { Argument, Reply } from '../resp/reply.ts';
import { fieldsOf, itemsOf, numberOf, textOf } from '../resp/values.ts';

export interface Selector {
  commands: string;
  keys: string;
  channels: string;
}

export interface User extends Selector {
  name: string;
  flags: string[];
  /** How many passwords the user has. */
  passwords: number;
  selectors: Selector[];
}

export interface Denial {
  id: string;
  count: number;
  reason: string;
  context: string;
  object: string;
  user: string;
  /** When it happened last, in ms since 1970. */
  atMs: number;
  client: string;
}

function selectorOf(fields: Map<string, Reply>): Selector {
  // Redis before 7 has keys and channels as lists.
  const rules = (name: string) => {
    const reply = fields.get(name);
    return textOf(reply) || itemsOf(reply).map(textOf).join(' ');
  };
  return { commands: rules('commands'), keys: rules('keys'), channels: rules('channels') };
}

/** The reply of ACL GETUSER; null if there is no such user. */
export function parseUser(name: string, reply: Reply | undefined): User | null {
  const fields = fieldsOf(reply);
  if (fields.size === 0) return null;
  return {
    name,
    flags: itemsOf(fields.get('flags')).map(textOf),
    passwords: itemsOf(fields.get('passwords')).length,
    ...selectorOf(fields),
    selectors: itemsOf(fields.get('selectors')).map((selector) => selectorOf(fieldsOf(selector))),
  };
}

/** The reply of ACL LOG, newest first. `nowMs` stands in where the server tells only ages. */
export function parseLog(reply: Reply, nowMs: number): Denial[] {
  return itemsOf(reply).map((entry, at) => {
    const fields = fieldsOf(entry);
    const ageMs = (numberOf(fields.get('age-seconds')) ?? 0) * 1000;
    return {
      id: textOf(fields.get('entry-id')) || String(at),
      count: numberOf(fields.get('count')) ?? 1,
      reason: textOf(fields.get('reason')),
      context: textOf(fields.get('context')),
      object: textOf(fields.get('object')),
      user: textOf(fields.get('username')),
      atMs: numberOf(fields.get('timestamp-last-updated')) ?? nowMs - ageMs,
      client: textOf(fields.get('client-info')),
    };
  });
}

/** The address in a line of CLIENT INFO. */
export function addressOf(client: string): string {
  return /(?:^| )addr=(\S*)/.exec(client)?.[1] ?? '';
}

/** In words: what the reason of a denial is about. */
export function describe({ reason, object }: Denial): string {
  switch (reason) {
    case 'command':
      return `may not run ${object.toUpperCase().replace('|', ' ')}`;
    case 'key':
      return `may not use the key ${object}`;
    case 'channel':
      return `may not use the channel ${object}`;
    case 'auth':
      return `could not log in with ${object.toUpperCase()}`;
    default:
      return `${reason}: ${object}`;
  }
}

/** Typed rules, with white space between them: a selector in parentheses stays together on the server. */
export function rulesOf(typed: string): string[] {
  return typed.split(/\s+/).filter((rule) => rule !== '');
}

/** The request that makes or changes a user. A password of the form's own field may have spaces. */
export function setUser(name: string, typed: string, password: string): Argument[] {
  return ['ACL', 'SETUSER', name, ...rulesOf(typed), ...(password === '' ? [] : [`>${password}`])];
}
