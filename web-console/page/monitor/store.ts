// Watching all commands of the server, on a session of its own that lives no longer than the page.

import { signal } from '@preact/signals';
import { connection } from '../connection/state.ts';
import { parseClients } from '../live/clients.ts';
import { Feed } from '../live/feed.ts';
import { textOf } from '../live/values.ts';
import { clipped, parseLine, type MonitorLine } from './line.ts';

const MOST_LINES = 10_000;
const MOST_CHARACTERS = 32 * 1024 * 1024;

/** A line as it came; it is taken apart when it is first shown. */
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

export const feed = new Feed<Line>(MOST_LINES, MOST_CHARACTERS, ({ text }) => text.length);
export const state = signal<'off' | 'connecting' | 'on'>('off');
/** Why it ended, if nobody asked it to. */
export const problem = signal('');
/** The address of the console's other session, to leave its commands out. */
export const ownAddress = signal('');

let close = () => {};
/** Counts starts and stops, so that what an old session still says is not heeded. */
let turn = 0;

export async function start(): Promise<void> {
  stop();
  const mine = turn;
  state.value = 'connecting';
  problem.value = '';
  try {
    const shared = await connection.client();
    ownAddress.value = parseClients(textOf(await shared.send(['CLIENT', 'INFO'])))[0]?.address ?? '';
    const session = await connection.dedicated();
    if (mine !== turn) {
      session.close();
      return;
    }
    close = () => session.close();
    session.onStatus((text) => {
      if (mine === turn) feed.push(new Line(feed.total, clipped(text)));
    });
    await session.call(['MONITOR']);
    if (mine !== turn) return;
    state.value = 'on';
    const why = await session.closed;
    if (mine === turn) fail(why === '' ? 'The connection ended.' : why);
  } catch (error) {
    if (mine === turn) fail(error instanceof Error ? error.message : String(error));
  }
}

function fail(why: string): void {
  stop();
  problem.value = why;
}

export function stop(): void {
  turn += 1;
  close();
  close = () => {};
  state.value = 'off';
}
