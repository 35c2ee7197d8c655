// The table of commands: how its lines become methods, how long a command may block, and which keys it reads.

import type { Arg, Args } from './types.js';
import { COMMANDS, CONNECTION_COMMANDS } from './commands.js';

/** A line of the table. */
export interface Row {
  words: string[];
  method: string;
  /** Where the time stands for which it may block, and its unit; `BLOCK` for the word before it. */
  blocks: string | undefined;
  /** Where the first key stands; with `*` all arguments from there on are keys. */
  keys: string | undefined;
}

function rows(table: string): Row[] {
  return table.split('\n').map((line) => {
    const [name, ...marks] = line.split(';');
    const [first, ...rest] = name!.toLowerCase().split(/[^a-z0-9]+/);
    const method = first + rest.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('');
    const mark = (letter: string) => marks.find((mark) => mark[0] === letter)?.slice(1);
    return { words: name!.split(' '), method, blocks: mark('b'), keys: mark('k') };
  });
}

export const OF_ALL = rows(COMMANDS);
export const OF_CONNECTIONS = rows(CONNECTION_COMMANDS);
const BY_NAME = new Map([...OF_ALL, ...OF_CONNECTIONS].map((row) => [row.words.join(' '), row]));

/** Gives a class a method for each of these commands. */
export function addMethods<Sender extends object>(
  prototype: object,
  rows: readonly Row[],
  send: (sender: Sender, words: Arg[], row: Row) => unknown,
): void {
  for (const row of rows) {
    // What the class has itself counts.
    if (row.method in prototype) continue;
    Object.defineProperty(prototype, row.method, {
      configurable: true,
      writable: true,
      value(this: Sender, ...more: Arg[]) {
        return send(this, flat([...row.words, ...more]), row);
      },
    });
  }
}

/** Arguments without lists among them. */
export function flat(args: Readonly<Args>): Arg[] {
  return args.some(Array.isArray) ? (args.flat() as Arg[]) : (args as Arg[]);
}

/** The row of a request. */
export function rowOf(words: readonly Arg[]): Row | undefined {
  const [first, second] = words.slice(0, 2).map((word) => String(word).toUpperCase());
  return BY_NAME.get(`${first} ${second}`) ?? BY_NAME.get(first ?? '');
}

/** For how many milliseconds a request may block, 0 for ever; undefined if it does not block. */
export function blockingMs(words: readonly Arg[], row: Row | undefined): number | undefined {
  if (row?.blocks === undefined) return undefined;
  if (row.blocks === 'BLOCK') {
    // Options stand behind the names of the group and consumer, if there are any, and before the keys, which may be called so, too.
    const texts = words.map((word) => String(word).toUpperCase());
    const first = texts[1] === 'GROUP' ? 4 : 1;
    const place = texts.slice(0, texts.indexOf('STREAMS', first)).indexOf('BLOCK', first);
    return place < 0 ? undefined : numberOf(words[place + 1], 1);
  }
  const place = parseInt(row.blocks, 10);
  const word = place < 0 ? words.at(place) : words[row.words.length - 1 + place];
  return numberOf(word, row.blocks.endsWith('ms') ? 1 : 1000);
}

/** For how many milliseconds requests may block one after the other, 0 for ever; undefined if none of them blocks. */
export function blockingMsOf(requests: readonly Arg[][]): number | undefined {
  const times = requests.map((words) => blockingMs(words, rowOf(words))).filter((time) => time !== undefined);
  if (times.length === 0) return undefined;
  return times.includes(0) ? 0 : times.reduce((sum, time) => sum + time);
}

// A text that is no number is for the server to refuse.
function numberOf(word: Arg | undefined, unit: number): number | undefined {
  const time = Number(word) * unit;
  return Number.isNaN(time) ? undefined : time;
}

/** The keys that a request reads and nothing else; undefined if it does more, or the table does not say. */
export function keysOf(words: readonly Arg[], row: Row | undefined): readonly Arg[] | undefined {
  if (row?.keys === undefined) return undefined;
  const first = parseInt(row.keys, 10);
  const keys = words.slice(first, row.keys.endsWith('*') ? undefined : first + 1);
  return keys.length > 0 ? keys : undefined;
}
