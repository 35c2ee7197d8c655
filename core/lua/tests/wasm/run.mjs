// Runs the corpora of the tests in the module that `cargo build -p edgecask-lua --example wasm_tests --target
// wasm32-unknown-unknown` makes: node run.mjs MODULE
import { readFileSync } from "node:fs";

/** What lua.throw throws; nothing else is caught by lua.try. */
class LuaError {}
const thrown = new LuaError();

/** Milliseconds that this process has had a processor for. */
const used = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

let exports;
const text = (at, length) => new TextDecoder().decode(new Uint8Array(exports.memory.buffer, at, length));
const imports = {
  lua: {
    try(call, state, argument) {
      try {
        exports.lua_enter(call, state, argument);
      } catch (error) {
        if (error !== thrown) throw error;
      }
    },
    throw() {
      throw thrown;
    },
  },
  test: {
    clock: used,
    print: (at, length) => console.log(text(at, length)),
  },
};

const module = new WebAssembly.Module(readFileSync(process.argv[2]));
const unknown = WebAssembly.Module.imports(module).filter((entry) => !imports[entry.module]?.[entry.name]);
if (unknown.length > 0) {
  console.error("the module imports more than it may:", unknown);
  process.exit(1);
}
exports = new WebAssembly.Instance(module, imports).exports;
const wrong = exports.conformity() + exports.hostile();
const rounds = 100_000;
exports.eval(rounds);
const begin = used();
exports.eval(rounds);
console.log(`one command in a script: ${(((used() - begin) * 1e6) / rounds).toFixed(0)} ns`);
process.exit(wrong === 0 ? 0 : 1);
