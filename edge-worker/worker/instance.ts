// One instance of the WebAssembly module, and the way of bytes into and out of its memory; edge-worker/src/ffi.rs is the other
// side. Nothing here knows the meaning of the bytes.

import { LuaErrors } from './lua';

export interface Exports {
  memory: WebAssembly.Memory;
  edgecask_take(number: number, length: number): number;
  edgecask_decide_origin(isOpen: number): number;
  edgecask_open(seed: bigint, nowMs: number): number;
  edgecask_begin(): void;
  edgecask_connect(connection: number, seed: bigint, nowMs: number): void;
  edgecask_thaw(connection: number, nowMs: number): void;
  edgecask_all_are_thawed(): void;
  edgecask_receive(connection: number, nowMs: number): void;
  edgecask_check_login(connection: number, seed: bigint, nowMs: number): void;
  edgecask_request(connection: number, seed: bigint, nowMs: number): void;
  edgecask_disconnect(connection: number): void;
  edgecask_alarm(nowMs: number): void;
  edgecask_finish(nowMs: number): void;
  edgecask_error(): number;
  lua_enter(call: number, state: number, argument: number): void;
}

// The functions that the module imports.
export interface Imports {
  insert_chunk(number: number, at: number, length: number): void;
  read_chunks(from: number, to: number): void;
  remove_chunks(from: number, to: number): void;
  read_entries(from: number, fromLength: number, fromPart: number, to: number, toLength: number, most: number): void;
  insert_entry(key: number, keyLength: number, part: number, at: number, length: number): void;
  remove_entry(key: number, keyLength: number): void;
  stored_bytes(): number;
  read_random(length: number): void;
  deliver(at: number, length: number): void;
  write_log(level: number, at: number, length: number): void;
}

const encoder = new TextEncoder();

export class Instance {
  readonly exports: Exports;
  #bytes = new Uint8Array();
  #view = new DataView(this.#bytes.buffer);

  constructor(module: WebAssembly.Module, imports: Imports) {
    const edgecask = imports as unknown as WebAssembly.ModuleImports;
    const errors = new LuaErrors();
    this.exports = new WebAssembly.Instance(module, { edgecask, lua: errors.imports }).exports as unknown as Exports;
    errors.enter = this.exports.lua_enter;
  }

  // Fills the next buffer of the next call.
  give(bytes: Uint8Array | string, number = 0): void {
    const content = typeof bytes === 'string' ? encoder.encode(bytes) : bytes;
    const at = this.exports.edgecask_take(number, content.length) >>> 0;
    this.memory().set(content, at);
  }

  // The instance's memory as it is now: an array over it is empty once it has grown.
  memory(): Uint8Array {
    const { buffer } = this.exports.memory;
    if (buffer !== this.#bytes.buffer) {
      this.#bytes = new Uint8Array(buffer);
      this.#view = new DataView(buffer);
    }
    return this.#bytes;
  }

  // The same as numbers. Call memory() first.
  get view(): DataView {
    return this.#view;
  }

  // Bytes of the memory in place, valid until the next call.
  viewOf(at: number, length: number): Uint8Array {
    return this.memory().subarray(at >>> 0, (at >>> 0) + length);
  }

  // A copy of bytes of the memory.
  bytesAt(at: number, length: number): Uint8Array {
    return this.memory().slice(at >>> 0, (at >>> 0) + length);
  }
}
