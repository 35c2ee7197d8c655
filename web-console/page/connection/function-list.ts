// The reply of FUNCTION LIST.

import type { Reply } from '../resp/reply.ts';
import { bytesOf, fieldsOf, itemsOf, textOf } from '../resp/values.ts';

export interface LibraryFunction {
  name: string;
  description: string;
  flags: string[];
}

export interface Library {
  name: string;
  /** The language, as the server writes it: `LUA`. */
  engine: string;
  functions: LibraryFunction[];
  /** The source with its first line, `#!lua name=…`; only WITHCODE has it. */
  code: Uint8Array | undefined;
}

/** The libraries, sorted by name, each with its functions sorted by name. */
export function parseLibraries(reply: Reply | undefined): Library[] {
  return itemsOf(reply)
    .map((entry) => {
      const fields = fieldsOf(entry);
      const code = fields.get('library_code');
      return {
        name: textOf(fields.get('library_name')),
        engine: textOf(fields.get('engine')),
        functions: itemsOf(fields.get('functions')).map(functionOf).sort(byName),
        code: code && bytesOf(code),
      };
    })
    .sort(byName);
}

function functionOf(reply: Reply): LibraryFunction {
  const fields = fieldsOf(reply);
  return {
    name: textOf(fields.get('name')),
    description: textOf(fields.get('description')),
    flags: itemsOf(fields.get('flags')).map(textOf),
  };
}

function byName(one: { name: string }, other: { name: string }): number {
  return one.name < other.name ? -1 : one.name > other.name ? 1 : 0;
}
