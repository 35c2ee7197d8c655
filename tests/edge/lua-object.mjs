// The module of core/lua/tests/wasm in a Durable Object: an answer has the lines that it prints. Its hostile scripts are ended by a
// clock, which stands still here: scripts.test.mjs has others.

import { DurableObject } from 'cloudflare:workers';
import module from 'wasm_tests.wasm';

const RAISED = {};

export class Database extends DurableObject {
  async fetch() {
    const lines = [];
    const lua = {
      try(call, state, argument) {
        try {
          exports.lua_enter(call, state, argument);
        } catch (error) {
          if (error !== RAISED) throw error;
        }
      },
      throw() {
        throw RAISED;
      },
    };
    const print = (at, length) => lines.push(new TextDecoder().decode(new Uint8Array(exports.memory.buffer, at, length)));
    const { exports } = new WebAssembly.Instance(module, { lua, test: { clock: () => Date.now(), print } });
    const wrong = exports.conformity();
    return Response.json({ wrong, lines });
  }
}

export default {
  fetch: (request, env) => env.DATABASE.get(env.DATABASE.idFromName('lua')).fetch(request),
};
