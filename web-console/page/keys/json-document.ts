// What a path finds in a JSON document, read within a bound: of a document of many megabytes only a part is loaded.

import type { Client } from '../connection/client.ts';
import { showSize, utf8 } from '../parts/bytes.ts';
import { CommandError, type Argument, type Reply } from '../resp/reply.ts';
import { INDENT, isNarrow, isOldForm, onlyMatch } from './json-paths.ts';
import { sameBytes } from './names.ts';
import { bytesIn, bytesOrNone, itemsOf, numberIn, okay, textIn } from './replies.ts';
import type { Check } from './transaction.ts';

/** Values that take more than this in the store are not loaded. Small numbers become ten times as long as an indented text. */
export const READ_MAX_BYTES = 512 * 1024;
/** A longer text is not shown: the editor checks all of it after every key. Indentation makes one of any value with deep nesting. */
const TEXT_MAX_BYTES = 2 * 1024 * 1024;
/** The names of an object with more members are not listed. */
const NAMES_MAX = 500;

export type Found = {
  path: string;
  /** The type of each match. */
  types: string[];
  /** What the matches take in the store; undefined if the server does not tell. */
  sizeBytes: number | undefined;
  /** What JSON.GET answered; undefined if there are no matches, or if they are too large. */
  read: Uint8Array | undefined;
  /** Why the matches are not shown, or empty. */
  tooLarge: string;
  /** They are read although the server does not tell their size: the person wants it so. */
  isWanted: boolean;
  /** The text of the only match; undefined if there is none, if there are several, or if it is too large. */
  one: string | undefined;
  /** What is inside the only match, if that is too large to be shown. */
  inside: Inside | undefined;
};

/** `names` is undefined for an object with too many members. */
export type Inside = { kind: 'object'; length: number; names: string[] | undefined } | { kind: 'array'; length: number };

/** The request whose answer is shown. A transaction sends it again to see whether the same is still there. */
export function getCommand(key: Uint8Array, path: string): Argument[] {
  return ['JSON.GET', key, 'INDENT', INDENT, 'NEWLINE', '\n', 'SPACE', ' ', path];
}

/** Types whose values are short. */
const SHORT = new Set(['null', 'boolean', 'integer', 'number']);

/** `isWanted` reads values of which the server does not tell the size. Throws the server's error, for instance about the path. */
export async function readFound(client: Client, key: Uint8Array, path: string, isWanted = false): Promise<Found> {
  const [typeReply, memoryReply] = await client.pipeline([
    ['JSON.TYPE', key, path],
    ['JSON.DEBUG', 'MEMORY', key, path],
  ]);
  const types = typesIn(typeReply);
  const sizes = memoryReply === undefined || memoryReply.type === 'error' ? undefined : flat(memoryReply).map(numberIn);
  const sizeBytes = sizes?.reduce((sum, size) => sum + size, 0);
  const found: Found = { path, types, sizeBytes, read: undefined, tooLarge: '', isWanted, one: undefined, inside: undefined };
  if (types.length === 0) return found;
  if (sizeBytes !== undefined && sizeBytes > READ_MAX_BYTES) {
    const whose = types.length === 1 ? 'This value takes' : `These ${types.length.toLocaleString('en-US')} values take`;
    const tooLarge = `${whose} ${showSize(sizeBytes)}, and up to ${showSize(READ_MAX_BYTES)} are shown. Choose a path to a part.`;
    return { ...found, tooLarge, inside: await readInside(client, key, found) };
  }
  if (sizeBytes === undefined && !isWanted && !types.every((type) => SHORT.has(type))) {
    const tooLarge = 'The server does not tell how large this is: JSON.DEBUG MEMORY is not known, or not allowed for this user.';
    return { ...found, tooLarge, inside: await readInside(client, key, found) };
  }
  const read = bytesOrNone(await client.call(getCommand(key, path)));
  // Another client deleted the key between the two requests.
  if (read === undefined) return { ...found, types: [] };
  if (read.length > TEXT_MAX_BYTES) {
    const tooLarge = `The text is ${showSize(read.length)} long, and up to ${showSize(TEXT_MAX_BYTES)} are shown. Choose a path to a part.`;
    return { ...found, tooLarge, inside: await readInside(client, key, found) };
  }
  return { ...found, read, one: oneIn(path, types, utf8(read)) };
}

function oneIn(path: string, types: string[], text: string | undefined): string | undefined {
  if (types.length !== 1 || text === undefined) return undefined;
  if (isOldForm(path)) return isNarrow(path) ? text : undefined;
  return onlyMatch(text);
}

async function readInside(client: Client, key: Uint8Array, found: Found): Promise<Inside | undefined> {
  const { path, types } = found;
  const [kind] = types;
  if (types.length !== 1 || (kind !== 'object' && kind !== 'array')) return undefined;
  try {
    const length = numberIn(flat(await client.call([kind === 'object' ? 'JSON.OBJLEN' : 'JSON.ARRLEN', key, path]))[0]);
    if (kind === 'array') return { kind, length };
    if (length > NAMES_MAX) return { kind, length, names: undefined };
    const names = flat(await client.call(['JSON.OBJKEYS', key, path])).map((name) => new TextDecoder().decode(bytesIn(name)));
    return { kind, length, names };
  } catch (error) {
    // Another client has changed the value meanwhile: a path can still be written.
    if (error instanceof CommandError) return undefined;
    throw error;
  }
}

/** Whether the path still finds what is shown; of values that are not loaded, whether it finds as many of the same types. */
export function isStillThere(key: Uint8Array, found: Found): Check {
  const { read, path, types } = found;
  if (read === undefined) {
    return {
      command: ['JSON.TYPE', key, path],
      same: (reply) => {
        const now = typesIn(reply);
        return now.length === types.length && now.every((type, at) => type === types[at]);
      },
    };
  }
  return {
    command: getCommand(key, path),
    same: (reply) => {
      const now = bytesOrNone(reply);
      return now !== undefined && sameBytes(now, read);
    },
  };
}

/** The types that JSON.TYPE answers, one a match. A path of the older form that finds nothing is answered with null. */
export function typesIn(reply: Reply | undefined): string[] {
  return flat(okay(reply)).filter((each) => each.type !== 'null').map(textIn);
}

/** The answers for all matches. The protocol's versions and the forms of paths wrap them in none, one or two lists. */
export function flat(reply: Reply): Reply[] {
  const isList = (each: Reply): boolean => each.type === 'array' || each.type === 'set';
  const outer = isList(reply) ? itemsOf(reply) : [reply];
  return outer.flatMap((each) => (isList(each) ? itemsOf(each) : [each]));
}
