// What FUNCTION STATS and INFO say about scripts, and the source of a library.

import { joined } from '../parts/bytes.ts';
import type { Reply } from '../resp/reply.ts';
import { fieldsOf, itemsOf, number, numberOf, textOf } from '../resp/values.ts';

/** A script that runs now. */
export interface Running {
  /** The command that ends it is this one with KILL. */
  kind: 'FUNCTION' | 'SCRIPT';
  /** The function, or the digest of a script; empty if the server does not say. */
  name: string;
  command: string[];
  durationMs: number | null;
}

export interface Cache {
  scripts: number | null;
  /** Memory of the scripts and functions. */
  sizeBytes: number | null;
}

/** The reply of FUNCTION STATS. Redis answers BUSY while a script of EVAL runs. */
export function parseRunning(stats: Reply | undefined): Running | undefined {
  if (stats?.type === 'error') {
    const isBusy = stats.text.startsWith('BUSY ');
    const kind = stats.text.includes('FUNCTION KILL') ? 'FUNCTION' : 'SCRIPT';
    return isBusy ? { kind, name: '', command: [], durationMs: null } : undefined;
  }
  const fields = fieldsOf(fieldsOf(stats).get('running_script'));
  if (fields.size === 0) return undefined;
  const command = itemsOf(fields.get('command')).map(textOf);
  return {
    kind: /^fcall(_ro)?$/i.test(command[0] ?? '') ? 'FUNCTION' : 'SCRIPT',
    name: textOf(fields.get('name')),
    command,
    durationMs: numberOf(fields.get('duration_ms')),
  };
}

/** The section memory of INFO. */
export function parseCache(info: string): Cache {
  const field = (name: string) => number(new RegExp(`^${name}:(.*)$`, 'm').exec(info)?.[1]);
  return { scripts: field('number_of_cached_scripts'), sizeBytes: field('used_memory_scripts') };
}

/** Whether the section server of INFO tells of a server that hibernates when it is idle. */
export function isHibernating(info: string): boolean {
  return /^sleeps_when_idle:1\s*$/m.test(info);
}

/** Whether the code of an engine is text. */
export function isText(engine: string): boolean {
  return engine.toUpperCase() === 'LUA';
}

/** The name in the first line of a library, `#!lua name=…`, or empty. */
export function nameIn(code: string): string {
  return /^#![^\n]*?[^\S\n]name=(\S+)/.exec(code)?.[1] ?? '';
}

/** The line of a library that an error names, counted from 1. */
export function lineOf(problem: string): number | undefined {
  const line = /\buser_function: ?(\d+)/.exec(problem)?.[1];
  return line === undefined ? undefined : Number(line);
}

/** How many bytes a library has behind its first line. */
export function moduleSize(code: Uint8Array): number {
  return code.length - (code.indexOf(0x0a) + 1);
}

/** The source of a WebAssembly library. */
export function wasmSource(name: string, module: Uint8Array): Uint8Array {
  return joined([new TextEncoder().encode(`#!wasm name=${name}\n`), module]);
}

/** A library's name for a file: servers allow letters, digits and underscores. */
export function nameForFile(file: string): string {
  return file.replace(/\.[^.]*$/, '').replace(/\W+/g, '_');
}
