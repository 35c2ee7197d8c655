// The wasm module of the core (web-console/src), loaded once. Everything else here waits for `ready`.

import init, {
  assist as assistLine,
  commandTable,
  encode as encodeCommand,
  initSync,
  ReplyDecoder,
  splitInput as splitLines,
} from '../../pkg/console.js';
import wasmUrl from '../../pkg/console_bg.wasm?url';
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

/** Several requests, one behind the other. */
export function encodeAll(commands: Argument[][]): Uint8Array {
  const parts = commands.map(encode);
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** The replies of one connection. */
export class Decoder {
  readonly #decoder = new ReplyDecoder();

  /** Takes bytes and gives the replies that are complete now. Throws if the bytes are no RESP. */
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

/** Help for what is being typed. */
export interface Assistance {
  /** The command that is being typed; empty if there is none yet. */
  command: string;
  /** The syntax that is still to be typed. */
  hint: string;
  /** How many characters before the end a completion takes the place of. */
  replaces: number;
  completions: { word: string; detail: string }[];
}

/** What may come next behind a text. */
export function assist(text: string): Assistance {
  return JSON.parse(assistLine(text)) as Assistance;
}

/** What the catalog says of a command or subcommand. */
export interface Command {
  /** Upper case, a subcommand behind its container: `CLIENT LIST`. */
  name: string;
  group: string;
  since: string;
  summary: string;
  complexity: string;
  /** The arguments behind the name. */
  syntax: string;
  /** Does nothing by itself but select a subcommand. */
  container: boolean;
  deprecated?: { since: string; replaced_by: string };
}

let table: Command[] | undefined;

/** All commands, sorted by name. */
export function commands(): Command[] {
  table ??= JSON.parse(commandTable()) as Command[];
  return table;
}
