// The names of functions are a tenth of the module, and nothing but a trace needs them. So they are taken out of it and kept beside it,
// a line for each function, and this program puts them back into a trace:
//
//   node edge-worker/names.mjs < trace
//
// where `wasm-function[123]` stands for the function of line 124 of dist/edgecask.names. The names are those of the last `make edge`.

import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const NAME_SECTION = 'name';
const FUNCTION_NAMES = 1;
const CUSTOM = 0;
const HEADER_BYTES = 8;

/** Numbers and pieces of a module in order. */
class Reader {
  constructor(bytes, at = 0) {
    Object.assign(this, { bytes, at });
  }

  get isAtEnd() {
    return this.at >= this.bytes.length;
  }

  // LEB128, as WebAssembly has it.
  number() {
    let [value, scale, byte] = [0, 1, 128];
    while (byte > 127) {
      byte = this.bytes[this.at++];
      value += (byte & 127) * scale;
      scale *= 128;
    }
    return value;
  }

  take(length) {
    return this.bytes.subarray(this.at, (this.at += length));
  }

  sized() {
    return this.take(this.number());
  }
}

/** The module without names, and the names of its functions by their numbers. */
export function withoutNames(module) {
  const reader = new Reader(module, HEADER_BYTES);
  const parts = [module.subarray(0, HEADER_BYTES)];
  let names = [];
  while (!reader.isAtEnd) {
    const begin = reader.at;
    const kind = reader.number();
    const body = new Reader(reader.sized());
    if (kind === CUSTOM && body.sized().toString() === NAME_SECTION) names = functionNames(body);
    else parts.push(module.subarray(begin, reader.at));
  }
  return { module: Buffer.concat(parts), names };
}

function functionNames(section) {
  const names = [];
  while (!section.isAtEnd) {
    const kind = section.number();
    const list = new Reader(section.sized());
    if (kind !== FUNCTION_NAMES) continue;
    for (let left = list.number(); left > 0; left--) {
      const number = list.number();
      names[number] = readable(list.sized().toString());
    }
  }
  return Array.from(names, (name) => name ?? '');
}

const SIGNS = { LT: '<', GT: '>', RF: '&', BP: '*', LP: '(', RP: ')', C: ',', SP: '@', u20: ' ', u27: "'", u7b: '{', u7d: '}', u5b: '[', u5d: ']', u3b: ';', u2b: '+' };

/** A name of Rust as its source has it; others stay. */
function readable(name) {
  if (!name.startsWith('_ZN')) return name;
  const parts = [];
  let rest = name.slice(3);
  for (let length = Number.parseInt(rest, 10); length > 0; length = Number.parseInt(rest, 10)) {
    const digits = String(length).length;
    parts.push(rest.slice(digits, digits + length));
    rest = rest.slice(digits + length);
  }
  // The last one is a hash.
  const path = parts.slice(0, -1).map((part) => part.replace(/^_(?=\$)/, '').replaceAll('..', '::'));
  return path.join('::').replace(/\$(\w+)\$/g, (sign, word) => SIGNS[word] ?? sign);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const names = readFileSync(new URL('dist/edgecask.names', import.meta.url), 'utf8').split('\n');
  const trace = readFileSync(0, 'utf8');
  process.stdout.write(trace.replace(/wasm-function\[(\d+)\]/g, (whole, number) => names[number] || whole));
}
