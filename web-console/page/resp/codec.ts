// The wasm module of the core (web-console/src), loaded once. All other functions need `ready` to have resolved; the
// shell waits for it before it draws a page.

import init, {
  assist as assistLine,
  commandTable,
  encode as encodeCommand,
  initSync,
  ReplyDecoder,
  splitInput as splitLines,
  unescape,
} from '../../pkg/console.js';
import wasmUrl from '../../pkg/console_bg.wasm?url';
import { joined } from '../parts/bytes.ts';
import type { Argument, Reply } from './reply.ts';

let loading: Promise<unknown> | undefined;

/** Resolves when the functions below may be called. */
export async function ready(): Promise<void> {
  loading ??= init({ module_or_path: wasmUrl });
  await loading;
}

/** For tests: starts with the bytes of the module. */
export function startWith(module: BufferSource): void {
  initSync({ module });
  loading = Promise.resolve();
}

/** One request. */
export function encode(args: Argument[]): Uint8Array {
  return encodeCommand(args);
}

/** Several requests, one after the other. */
export function encodeAll(commands: Argument[][]): Uint8Array {
  return joined(commands.map(encode));
}

/** The replies of one connection. */
export class Decoder {
  readonly #decoder = new ReplyDecoder();

  /** Takes bytes and yields the replies that are complete now. Throws if the bytes are not RESP. */
  *push(bytes: Uint8Array): Generator<Reply> {
    this.#decoder.feed(bytes);
    for (;;) {
      const reply = this.#decoder.take() as Reply | undefined;
      if (reply === undefined) return;
      yield reply;
    }
  }

  free(): void {
    this.#decoder.free();
  }
}

/** The commands of an input and their arguments, by redis-cli's rules; undefined if quotes are not closed. */
export function splitInput(input: string): Uint8Array[][] | undefined {
  return splitLines(input) as Uint8Array[][] | undefined;
}

/**
 * The bytes that a text with redis-cli's escapes stands for, written without quotes around it. Throws an Error that
 * names the mistake if an escape is incomplete.
 */
export function unescaped(text: string): Uint8Array {
  return unescape(text);
}

/** Help for the command that is being typed. */
export interface Assistance {
  /** The command that is being typed; empty if there is none yet. */
  command: string;
  /** The syntax that is still to be typed. */
  hint: string;
  /** How many characters before the end a completion replaces. */
  replaces: number;
  completions: { word: string; detail: string }[];
}

/** Help for the end of a text. */
export function assist(text: string): Assistance {
  return JSON.parse(assistLine(text)) as Assistance;
}

/** A command or subcommand of the catalog. */
export interface Command {
  /** Upper case, a subcommand after its container: `CLIENT LIST`. */
  name: string;
  group: string;
  since: string;
  summary: string;
  complexity: string;
  /** The arguments behind the name. */
  syntax: string;
  /** Whether it only selects a subcommand. */
  container: boolean;
  deprecated?: { since: string; replaced_by: string };
}

let table: Command[] | undefined;

/** All commands, sorted by name. */
export function commands(): Command[] {
  table ??= JSON.parse(commandTable()) as Command[];
  return table;
}
