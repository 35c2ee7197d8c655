// The session of MONITOR: separate from the shared one, and closed with the page.

import { signal } from '@preact/signals';
import { connection } from '../connection/state.ts';
import { parseClients } from '../connection/client-list.ts';
import { Feed } from '../parts/feed.ts';
import { textOf } from '../resp/values.ts';
import { clipped, parseLine, type MonitorLine } from './line.ts';

const LINES_MAX = 10_000;
const KEPT_MAX_CHARACTERS = 32 * 1024 * 1024;

/** A line of MONITOR; it is parsed when it is first shown. */
export class Line {
  readonly serial: number;
  readonly text: string;
  private parsed: MonitorLine | null | undefined;

  constructor(serial: number, text: string) {
    this.serial = serial;
    this.text = text;
  }

  get parts(): MonitorLine | null {
    if (this.parsed === undefined) this.parsed = parseLine(this.text);
    return this.parsed;
  }
}

export const feed = new Feed<Line>(LINES_MAX, KEPT_MAX_CHARACTERS, ({ text }) => text.length);
export const state = signal<'off' | 'connecting' | 'on'>('off');
/** Why the session ended without a request to stop; or empty. */
export const problem = signal('');
/** The address of the console's shared session, to hide its commands. */
export const ownAddress = signal('');

let close = () => {};
/** Counts starts and stops: events of an older session are ignored. */
let generation = 0;

export async function start(): Promise<void> {
  stop();
  const mine = generation;
  state.value = 'connecting';
  problem.value = '';
  try {
    const shared = await connection.client();
    ownAddress.value = parseClients(textOf(await shared.send(['CLIENT', 'INFO'])))[0]?.address ?? '';
    const session = await connection.dedicated();
    if (mine !== generation) {
      session.close();
      return;
    }
    close = () => session.close();
    session.onStatus((text) => {
      if (mine === generation) feed.push(new Line(feed.total, clipped(text)));
    });
    await session.call(['MONITOR']);
    if (mine !== generation) return;
    state.value = 'on';
    const why = await session.closed;
    if (mine === generation) fail(why === '' ? 'The connection ended.' : why);
  } catch (error) {
    if (mine === generation) fail(error instanceof Error ? error.message : String(error));
  }
}

function fail(why: string): void {
  stop();
  problem.value = why;
}

export function stop(): void {
  generation += 1;
  close();
  close = () => {};
  state.value = 'off';
}
