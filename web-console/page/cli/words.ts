// The console's own reading of a command before it is sent.

/** A word of a command as text; bytes that are not UTF-8 are replaced. */
export function textOf(word: Uint8Array | undefined): string {
  return word === undefined ? '' : new TextDecoder().decode(word);
}

export type Step =
  | { kind: 'send'; args: Uint8Array[] }
  | { kind: 'stream'; args: Uint8Array[] }
  | { kind: 'help'; topic: string }
  | { kind: 'clear' };

/** More repetitions would only fill memory. */
export const REPEATS_MAX = 1000;

const STREAMS = new Set(['SUBSCRIBE', 'PSUBSCRIBE', 'SSUBSCRIBE', 'MONITOR']);

/** One command as steps: `5 PING` is five of them, as in redis-cli. */
export function stepsOf(words: Uint8Array[]): Step[] {
  const name = textOf(words[0]).toUpperCase();
  if (words.length > 1 && /^[1-9]\d{0,8}$/.test(name)) {
    const times = Math.min(Number(name), REPEATS_MAX);
    const step = stepsOf(words.slice(1));
    return Array.from({ length: times }, () => step).flat();
  }
  if (name === 'HELP' || name === '?') return [{ kind: 'help', topic: words.slice(1).map(textOf).join(' ') }];
  if (name === 'CLEAR' && words.length === 1) return [{ kind: 'clear' }];
  return [{ kind: STREAMS.has(name) ? 'stream' : 'send', args: words }];
}

/** The database that SELECT selects; undefined for other commands. */
export function selects(args: Uint8Array[]): number | undefined {
  const number = textOf(args[1]);
  return textOf(args[0]).toUpperCase() === 'SELECT' && args.length === 2 && /^\d+$/.test(number) ? Number(number) : undefined;
}

export interface CalledFunction {
  readOnly: boolean;
  /** The beginning of the function's name. */
  typed: string;
}

/** The function of the FCALL or FCALL_RO that a text ends with, while its name is typed. */
export function calledFunction(text: string): CalledFunction | undefined {
  const [, command, typed] = /(?:^|\n)[^\S\n]*(?:\d+\s+)?(fcall(?:_ro)?)\s+(\w*)$/i.exec(text) ?? [];
  return command === undefined ? undefined : { readOnly: /_ro$/i.test(command), typed: typed ?? '' };
}

/** `0.8 ms`, `12 ms`, `1.24 s`. */
export function showDuration(ms: number): string {
  if (ms < 9.95) return `${ms.toFixed(1)} ms`;
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  return `${(ms / 1000).toFixed(2)} s`;
}
