// Modules of WebAssembly from text, by the wasmtime of Python that `make edge-test` sets up, and libraries made of them.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '../..');
const PROGRAM = `
import base64, json, sys, wasmtime
json.dump([base64.b64encode(wasmtime.wat2wasm(text)).decode() for text in json.load(sys.stdin)], sys.stdout)`;

/** The bytes of these texts. */
export function assembled(texts) {
  const options = { input: JSON.stringify(texts), encoding: 'utf8', maxBuffer: 1 << 28 };
  return JSON.parse(execFileSync(`${ROOT}/.build/venv/bin/python`, ['-c', PROGRAM], options)).map((each) => Buffer.from(each, 'base64'));
}

/** What FUNCTION LOAD takes. */
export const library = (name, module) => Buffer.concat([Buffer.from(`#!wasm name=${name}\n`), module]);

/** The text of a file of the repository. */
export const text = (file) => readFileSync(path.join(ROOT, file), 'utf8');

// A module that does not load itself registers its export `attack`.
const LOADER = '(import "edgecask_1" "register" (func $hostile_register (param i32 i32 i32 i32 i32)))';
const LOAD = `(func (export "edgecask_load")
  (i64.store (i32.const 65520) (i64.const 0x6b6361747461))
  (call $hostile_register (i32.const 65520) (i32.const 6) (i32.const 0) (i32.const 0) (i32.const 0)))`;

/** A module's text with what registers its export `attack`. */
export const attacking = (module) => `(module ${LOADER} ${module.trim().slice('(module'.length, -1)} ${LOAD})`;

/** The hostile modules that are text: name, how each ends where memory is 16 MiB, text. */
export function hostileModules() {
  return text('core/wasm/tests/hostile/modules.txt').trimEnd().split('\n----\n').map((entry) => {
    const [head, ...lines] = entry.split('\n');
    const [, name, end] = /^-- (.*?): (.*)$/.exec(head);
    const module = lines.join('\n');
    return { name, end, text: end.startsWith('load') ? module : attacking(module) };
  });
}
