// Runs the tests of an interpreter of scripts in a module of WebAssembly, which exports `conformity`, `hostile` (both return how many
// cases went wrong) and a function that makes so many calls of one command.
import { readFileSync } from "node:fs";

/** Milliseconds that this process has had a processor for. */
const used = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

/**
 * Loads the module that the command line names, runs the tests, prints what a call costs and ends the process.
 * @param {(exports: () => WebAssembly.Exports) => WebAssembly.Imports} imports what the module imports beside its clock and its output
 * @param {{ call: string, what: string, rounds: number }} timed the export that makes calls, and how often
 */
export function runCorpora(imports, { call, what, rounds }) {
  let exports;
  const text = (at, length) => new TextDecoder().decode(new Uint8Array(exports.memory.buffer, at, length));
  const all = {
    ...imports(() => exports),
    test: {
      clock: used,
      print: (at, length) => console.log(text(at, length)),
    },
  };
  const module = new WebAssembly.Module(readFileSync(process.argv[2]));
  const unknown = WebAssembly.Module.imports(module).filter((entry) => !all[entry.module]?.[entry.name]);
  if (unknown.length > 0) {
    console.error("the module imports more than it may:", unknown);
    process.exit(1);
  }
  exports = new WebAssembly.Instance(module, all).exports;
  const wrong = exports.conformity() + exports.hostile();
  exports[call](rounds);
  const begin = used();
  exports[call](rounds);
  console.log(`one command in a ${what}: ${(((used() - begin) * 1e6) / rounds).toFixed(0)} ns`);
  process.exit(wrong === 0 ? 0 : 1);
}
