// Samples the server periodically while the page is shown: never two samples at a time, none while paused or while the
// tab is hidden. The history outlives the page, so that a later visit shows it with a gap.

import { signal } from '@preact/signals';
import { connection } from '../connection/state.ts';
import type { Argument, Reply } from '../resp/reply.ts';
import { parseClients, type ClientLine } from '../connection/client-list.ts';
import { History } from './history.ts';
import { infoNumber, parseInfo } from './info.ts';
import { parseHistograms } from './latency.ts';
import { reading } from './reading.ts';
import { SECTIONS } from './sections.ts';
import { parseSlowLog, type SlowEntry } from './slow.ts';
import { numberOf, textOf } from '../resp/values.ts';

export const INTERVALS_S = [1, 2, 5] as const;

export const history = new History();
/** Counts up with every sample: components that show the history read it, since the history changes in place. */
export const samples = signal(0);
export const intervalS = signal<number>(1);
export const isPaused = signal(false);
/** Why the last sample failed, or empty. */
export const problem = signal('');
export const clients = signal<ClientLine[]>([]);
/** The id of this console's connection, to mark it in the list of clients. */
export const ownId = signal('');
export const slowLog = signal<SlowEntry[]>([]);
export const slowLength = signal<number | null>(null);

const INFO: Argument[] = ['INFO', ...SECTIONS];

/** Entries of the slow log to show: the default of slowlog-max-len. */
const SLOW_ENTRIES = '128';

/** A list of more clients than this is fetched less often. */
const MANY_CLIENTS = 1000;
const MANY_CLIENTS_EVERY_MS = 5000;

let clientsAtMs = 0;
let server = '';

/** One sample: a pipeline, and a second one if the slow log has changed or the list of clients is due. */
async function sample(): Promise<void> {
  const client = await connection.client();
  const url = connection.settings.value.url;
  if (url !== server) forget(url);
  const [info, histograms, length, newest, id] = await client.pipeline([
    INFO,
    ['LATENCY', 'HISTOGRAM'],
    ['SLOWLOG', 'LEN'],
    ['SLOWLOG', 'GET', '1'],
    ['CLIENT', 'ID'],
  ]);
  if (!info || info.type === 'error') throw new Error(`INFO: ${textOf(info)}`);
  const seen = reading(
    Date.now(),
    parseInfo(textOf(info)),
    histograms?.type === 'map' || histograms?.type === 'array' ? parseHistograms(histograms) : null,
  );
  history.add(seen, intervalS.value * 1000);
  ownId.value = textOf(id);
  samples.value += 1;
  await sampleLists(client, numberOf(length), newest, infoNumber(seen.info, 'connected_clients') ?? 0);
}

async function sampleLists(
  client: Awaited<ReturnType<typeof connection.client>>,
  length: number | null,
  newest: Reply | undefined,
  clientCount: number,
): Promise<void> {
  const newestId = newest ? parseSlowLog(newest)[0]?.id : undefined;
  const isSlowLogNew = length !== slowLength.value || newestId !== slowLog.value[0]?.id;
  const areClientsDue = clientCount <= MANY_CLIENTS || Date.now() - clientsAtMs >= MANY_CLIENTS_EVERY_MS;
  const asked: Argument[][] = [];
  if (isSlowLogNew) asked.push(['SLOWLOG', 'GET', SLOW_ENTRIES]);
  if (areClientsDue) asked.push(['CLIENT', 'LIST']);
  if (asked.length === 0) return;
  const replies = await client.pipeline(asked);
  if (isSlowLogNew) {
    slowLog.value = parseSlowLog(replies.shift() ?? { type: 'null' });
    slowLength.value = length;
  }
  if (areClientsDue) {
    clients.value = parseClients(textOf(replies.shift()));
    clientsAtMs = Date.now();
  }
}

function forget(url: string): void {
  server = url;
  history.clear();
  clients.value = [];
  slowLog.value = [];
  slowLength.value = null;
  clientsAtMs = 0;
}

/** Samples until the returned function is called. */
export function watch(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isSampling = false;
  let isOver = false;
  const isWanted = () => !isOver && !isPaused.value && !document.hidden;
  const next = (ms: number) => {
    clearTimeout(timer);
    if (isWanted()) timer = setTimeout(round, ms);
  };
  const round = async () => {
    if (isSampling) return;
    isSampling = true;
    const startedAtMs = Date.now();
    try {
      await sample();
      problem.value = '';
    } catch (error) {
      problem.value = error instanceof Error ? error.message : String(error);
    }
    isSampling = false;
    next(Math.max(0, startedAtMs + intervalS.value * 1000 - Date.now()));
  };
  const goOn = () => next(0);
  document.addEventListener('visibilitychange', goOn);
  const stopPause = isPaused.subscribe(goOn);
  const stopInterval = intervalS.subscribe(goOn);
  return () => {
    isOver = true;
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', goOn);
    stopPause();
    stopInterval();
  };
}
