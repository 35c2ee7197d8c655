// The libraries of the server, the script that runs, and the cache of scripts, as the page has read them last.

import { signal } from '@preact/signals';
import { type Library, parseLibraries } from '../connection/function-list.ts';
import { connection } from '../connection/state.ts';
import { type Argument, CommandError, type Reply } from '../resp/reply.ts';
import { problemOf, textOf } from '../resp/values.ts';
import { type Cache, isHibernating, parseCache, parseRunning, type Running } from './model.ts';

const WATCH_EVERY_MS = 1000;

export const libraries = signal<Library[]>([]);
/** Why libraries cannot be shown, or empty. */
export const librariesProblem = signal('');
/** Whether the server has no command FUNCTION. */
export const isUnknown = signal(false);
export const running = signal<Running | undefined>(undefined);
/** Why the page cannot see whether a script runs, or empty. */
export const runningProblem = signal('');
export const cache = signal<Cache>({ scripts: null, sizeBytes: null });
/**
 * Whether the server hibernates when it is idle, as at the edge. Looking every second would keep it awake, and would see
 * nothing: a script is all that runs there.
 */
let hibernates = false;

/** Reads the list of libraries again, without their code: a WebAssembly library may have megabytes of it. */
export async function refresh(): Promise<void> {
  try {
    const client = await connection.client();
    libraries.value = parseLibraries(await client.call(['FUNCTION', 'LIST']));
    librariesProblem.value = '';
    isUnknown.value = false;
    if (hibernates) await look();
  } catch (error) {
    isUnknown.value = error instanceof CommandError && /^ERR unknown command/i.test(error.message);
    librariesProblem.value = isUnknown.value
      ? 'This server has no functions: it does not know the command FUNCTION.'
      : problemOf(error);
    // A connection that is lost for a moment says nothing about the libraries.
    if (error instanceof CommandError) libraries.value = [];
  }
}

/** A library with its code; undefined if there is none of this name. Throws the server's error. */
export async function read(name: string): Promise<Library | undefined> {
  const client = await connection.client();
  const reply = await client.call(['FUNCTION', 'LIST', 'LIBRARYNAME', name, 'WITHCODE']);
  return parseLibraries(reply).find((library) => library.name === name);
}

/** Runs a command and reads the list again. Throws the server's error. */
export async function change(args: Argument[]): Promise<Reply> {
  const client = await connection.client();
  const reply = await client.call(args);
  await refresh();
  return reply;
}

async function look(): Promise<void> {
  const client = await connection.client();
  const [stats, info] = await client.pipeline([['FUNCTION', 'STATS'], ['INFO', 'server', 'memory']]);
  running.value = parseRunning(stats);
  const isBusy = stats?.type === 'error' && stats.text.startsWith('BUSY ');
  runningProblem.value = stats?.type === 'error' && !isBusy ? problemOf(new CommandError(stats.text)) : '';
  // INFO is refused while a script runs: the last figures stay.
  if (!info || info.type === 'error') return;
  cache.value = parseCache(textOf(info));
  hibernates = isHibernating(textOf(info));
}

/** Looks every second whether a script runs, until the returned function is called; not while the tab is hidden. */
export function watch(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isLooking = false;
  let isOver = false;
  const round = async () => {
    if (isLooking || isOver || document.hidden) return;
    isLooking = true;
    try {
      if (!isUnknown.value) await look();
    } catch (error) {
      runningProblem.value = problemOf(error);
    }
    isLooking = false;
    clearTimeout(timer);
    if (!hibernates) timer = setTimeout(() => void round(), WATCH_EVERY_MS);
  };
  const goOn = () => void round();
  document.addEventListener('visibilitychange', goOn);
  goOn();
  return () => {
    isOver = true;
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', goOn);
  };
}
