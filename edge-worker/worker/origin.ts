// Asks the core which pages of a browser may talk to this worker (core/src/origin.rs). The worker decides before it calls an
// object, so a refused request costs no object time and writes no row. The instance that decides has no rows.

import module from './edgecask.wasm';
import { Instance, type Imports } from './instance';
import type { Env } from './object';

// The numbers of edge-worker/src/origin.rs.
enum Answer {
  Own,
  Listed,
  RefusedOrigin,
  RefusedHost,
  BadList,
}

export interface Verdict {
  refused?: { status: number; text: string };
  // The page on the list that is allowed to read the response.
  origin?: string;
}

const DENIED =
  'DENIED This worker has no password and is in protected mode, in which it serves only its own machine. Set a password ' +
  '(npx wrangler secret put EDGECASK_PASSWORD).';

let instance: Instance | undefined;

export function decide(headers: Headers, host: string, env: Env): Verdict {
  instance ??= new Instance(module, NO_ROWS);
  const isOpen = Boolean(env.EDGECASK_PASSWORD) || env.EDGECASK_PROTECTED_MODE === 'no';
  const origin = headers.get('origin');
  instance.give(env.EDGECASK_ORIGINS ?? '');
  for (const field of [host, origin, headers.get('sec-fetch-site')]) instance.give(field === null ? '' : `=${field}`);
  switch (instance.exports.edgecask_decide_origin(Number(isOpen)) as Answer) {
    case Answer.Own:
      return {};
    case Answer.Listed:
      return { origin: origin! };
    case Answer.RefusedHost:
      return { refused: { status: 403, text: DENIED } };
    case Answer.RefusedOrigin:
      return { refused: { status: 403, text: 'this origin is not allowed; see EDGECASK_ORIGINS' } };
    case Answer.BadList:
      return { refused: { status: 500, text: 'ERR EDGECASK_ORIGINS is not a list of origins such as https://app.example' } };
  }
}

const unused = (): never => {
  throw new Error('the instance that decides about origins has no rows');
};
const NO_ROWS: Imports = {
  insert_chunk: unused,
  read_chunks: unused,
  remove_chunks: unused,
  read_entries: unused,
  insert_entry: unused,
  remove_entry: unused,
  stored_bytes: unused,
  read_random: unused,
  deliver: unused,
  write_log: unused,
};
