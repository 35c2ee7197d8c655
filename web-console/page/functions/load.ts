// Loads a library. Another one of the same name is replaced only if the person agrees, or if it is the one that the
// page has shown.

import { confirm } from '../parts/confirm.tsx';
import { utf8 } from '../parts/bytes.ts';
import { type Argument, CommandError } from '../resp/reply.ts';
import { textOf } from '../resp/values.ts';
import { change, read } from './store.ts';

/** The name of the loaded library; undefined if the person declined. Throws the server's error: then nothing changed. */
export async function load(source: Argument): Promise<string | undefined> {
  try {
    return textOf(await change(['FUNCTION', 'LOAD', source]));
  } catch (error) {
    const name = error instanceof CommandError ? /^ERR Library '(.*)' already exists/.exec(error.message)?.[1] : undefined;
    if (name === undefined) throw error;
    const text = 'There is a library of this name already. Its functions are gone then.';
    if (!(await confirm({ title: `Replace ${name}?`, text, action: 'Replace', danger: true }))) return undefined;
    return replace(source);
  }
}

async function replace(source: Argument): Promise<string> {
  return textOf(await change(['FUNCTION', 'LOAD', 'REPLACE', source]));
}

/** Loads a changed library in the place of the one with the code `shown`. As `load` otherwise. */
export async function loadChanged(name: string, source: string, shown: string): Promise<string | undefined> {
  const now = await read(name);
  if (!now) return load(source);
  if (now.code && utf8(now.code) !== shown) {
    const text = 'Somebody else has changed this library since it was shown here.';
    if (!(await confirm({ title: `Overwrite ${name}?`, text, action: 'Overwrite', danger: true }))) return undefined;
  }
  return replace(source);
}
