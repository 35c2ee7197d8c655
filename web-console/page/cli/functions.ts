// The functions of the server, for completion behind FCALL. They are read when such a command is typed, and again when
// they were read a while ago.

import { type Library, parseLibraries } from '../connection/function-list.ts';
import { connection } from '../connection/state.ts';
import type { CalledFunction } from './words.ts';

/** A list this old is read again: another client may have loaded a library. */
const KNOWN_FOR_MS = 5000;

let libraries: Library[] = [];
let reading: Promise<void> | undefined;
let readAtMs = -Infinity;
let readFrom: unknown;

/** Resolves when the list is up to date. A server without functions, or one that refuses, has none. */
export function readFunctions(): Promise<void> {
  const from = connection.settings.value;
  if (reading === undefined || readFrom !== from || Date.now() - readAtMs > KNOWN_FOR_MS) {
    readFrom = from;
    readAtMs = Date.now();
    reading = read(from);
  }
  return reading;
}

async function read(from: unknown): Promise<void> {
  let found: Library[] = [];
  try {
    const client = await connection.client();
    found = parseLibraries(await client.send(['FUNCTION', 'LIST']));
  } catch {
    // Without a connection there is nothing to complete.
  }
  if (from === readFrom) libraries = found;
}

/** The functions that may be meant, as they were read last. FCALL_RO runs only those that do not write. */
export function functionsFor({ readOnly, typed }: CalledFunction): { word: string; detail: string }[] {
  const wanted = typed.toLowerCase();
  return libraries.flatMap((library) =>
    library.functions
      .filter(({ name, flags }) => name.toLowerCase().startsWith(wanted) && (!readOnly || flags.includes('no-writes')))
      .map(({ name, description }) => ({ word: name, detail: description || `of the library ${library.name}` })),
  );
}
