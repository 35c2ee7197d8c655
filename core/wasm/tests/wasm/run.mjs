// Runs the corpora of the tests in the module that `cargo build -p edgecask-wasm --features wasmi --example functions_wasm_tests
// --target wasm32-unknown-unknown` makes: node run.mjs MODULE
import { readFileSync } from "node:fs";

/** Milliseconds that this process has had a processor for. */
const used = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

let exports;
const text = (at, length) => new TextDecoder().decode(new Uint8Array(exports.memory.buffer, at, length));
const imports = {
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
const rounds = 50_000;
exports.call(rounds);
const begin = used();
exports.call(rounds);
console.log(`one command in a function: ${(((used() - begin) * 1e6) / rounds).toFixed(0)} ns`);
process.exit(wrong === 0 ? 0 : 1);
