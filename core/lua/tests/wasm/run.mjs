// Runs the corpora of the tests in the module that `cargo build -p edgecask-lua --example wasm_tests --target
// wasm32-unknown-unknown` makes: node run.mjs MODULE
import { runCorpora } from "../../../../tests/wasm/corpora.mjs";

/** What lua.throw throws; nothing else is caught by lua.try. */
class LuaError {}
const thrown = new LuaError();

const lua = (exports) => ({
  try(call, state, argument) {
    try {
      exports().lua_enter(call, state, argument);
    } catch (error) {
      if (error !== thrown) throw error;
    }
  },
  throw() {
    throw thrown;
  },
});

runCorpora((exports) => ({ lua: lua(exports) }), { call: "eval", what: "script", rounds: 100_000 });
