// The state of the key browser: the tree that SCAN fills, its filter, and the selected row.
//
// The tree is changed in place. `drawn` counts up when there is something new to draw, at most every tenth of a second:
// while a million keys arrive, the page draws ten times a second and never rebuilds the tree.

import { computed, effect, signal } from '@preact/signals';
import { connection } from '../connection/state.ts';
import { hashOf, selectedBy } from './address.ts';
import { nameOf, nameOfText, type Name } from './names.ts';
import { filterPattern } from './pattern.ts';
import { numberIn, problemIn } from './replies.ts';
import { scanBatch, SCAN_COUNT, type ScanFilter } from './scan.ts';
import { KeyTree, type RowName } from './tree.ts';
import { forgetTypes } from './types.ts';

/** After this many keys a scan pauses by itself: their names take some 100 MB of the browser's memory. */
export const KEYS_PAUSE = 1_000_000;
/** The time between two drawings while keys arrive. */
const DRAW_MS = 100;
/** Keys moved to a tree with another separator before the page may draw. */
const REBUILD_BATCH = 5000;

export type ScanState = {
  status: 'idle' | 'running' | 'paused' | 'done' | 'failed';
  /** About how many keys the server has visited. */
  visited: number;
  /** Keys in the database when the scan began. */
  total: number;
  problem: string;
};

export const filter = {
  pattern: signal(''),
  type: signal(''),
  separator: signal(':'),
};

export const tree = signal(new KeyTree(nameOfText(':')));
export const drawn = signal(0);
export const scan = signal<ScanState>({ status: 'idle', visited: 0, total: 0, problem: '' });
export const selected = signal<RowName | undefined>(undefined);
/** The row with the keyboard focus. */
export const active = signal<RowName | undefined>(undefined);
export const creating = signal(false);
export const found = computed(() => (drawn.value, tree.value.count));

let cursor = '0';
/** The number of the current scan: an older one stops when it sees a newer number. */
let current = 0;
let drawing: ReturnType<typeof setTimeout> | undefined;

export function draw(): void {
  drawing ??= setTimeout(() => {
    drawing = undefined;
    drawn.value += 1;
  }, DRAW_MS);
}

function drawNow(): void {
  clearTimeout(drawing);
  drawing = undefined;
  drawn.value += 1;
}

/** Drops all keys and scans the database from its beginning; open folders stay open. */
export function rescan(): void {
  const open = openPrefixes(tree.value);
  tree.value = new KeyTree(nameOfText(filter.separator.value));
  cursor = '0';
  scan.value = { status: 'idle', visited: 0, total: 0, problem: '' };
  drawNow();
  void walk(open);
}

export function pause(): void {
  current += 1;
  if (scan.value.status === 'running') scan.value = { ...scan.value, status: 'paused' };
}

export function resume(): void {
  void walk(new Set());
}

async function walk(reopen: Set<Name>): Promise<void> {
  current += 1;
  const own = current;
  const asked: ScanFilter = {
    pattern: filterPattern(filter.pattern.value),
    type: filter.type.value === '' ? undefined : filter.type.value,
  };
  const pauseAt = tree.value.count + KEYS_PAUSE;
  scan.value = { ...scan.value, status: 'running', problem: '' };
  try {
    const client = await connection.client();
    const total = numberIn(await client.call(['DBSIZE']));
    while (own === current) {
      const batch = await scanBatch(client, asked, cursor);
      if (own !== current) return;
      const into = tree.value;
      for (const key of batch.keys) into.insert(nameOf(key));
      for (const prefix of reopen) {
        const folder = into.find(prefix);
        if (folder !== undefined) {
          into.setOpen(folder, true);
          reopen.delete(prefix);
        }
      }
      revealAwaited();
      cursor = batch.cursor;
      const done = cursor === '0';
      const visited = done ? total : Math.min(total, scan.peek().visited + SCAN_COUNT);
      const status = done ? 'done' : into.count >= pauseAt ? 'paused' : 'running';
      scan.value = { status, visited, total, problem: '' };
      if (status !== 'running') {
        drawNow();
        return;
      }
      draw();
    }
  } catch (error) {
    if (own === current) scan.value = { ...scan.peek(), status: 'failed', problem: problemIn(error) };
  }
}

/** The same keys in folders by another separator. */
export async function separate(separator: string): Promise<void> {
  const running = scan.value.status === 'running';
  pause();
  const own = current;
  filter.separator.value = separator;
  const old = tree.value;
  const next = new KeyTree(nameOfText(separator));
  tree.value = next;
  let moved = 0;
  for (const key of old.keys()) {
    next.insert(key);
    moved += 1;
    if (moved % REBUILD_BATCH === 0) {
      draw();
      await new Promise((resolve) => setTimeout(resolve));
      if (own !== current) return;
    }
  }
  drawNow();
  if (running) resume();
}

/** The tree shows only a part of the keys. */
export function filtered(): boolean {
  return filter.pattern.value !== '' || filter.type.value !== '';
}

/** Adds a key that this page created: the scan may have passed it. */
export function keyMade(name: Name): void {
  tree.value.insert(name);
  drawNow();
}

/** Removes a key that was deleted or has expired. */
export function keyGone(name: Name): void {
  const keys = tree.value;
  const wasActive = active.value?.kind === 'key' && active.value.name === name;
  const index = wasActive ? keys.indexOf({ kind: 'key', name }) : undefined;
  keys.remove(name);
  // The keyboard focus moves to the row that took its place.
  if (index !== undefined) {
    const next = keys.row(Math.min(index, keys.rowCount() - 1));
    active.value = next === undefined ? undefined : { kind: next.kind, name: next.name };
  }
  drawNow();
}

export function select(row: RowName | undefined): void {
  creating.value = false;
  selected.value = row;
  if (row !== undefined) active.value = row;
  const hash = hashOf(row);
  if (location.hash !== hash) history.pushState(null, '', hash);
}

/** Selects the row in the address, when the page is opened and after the browser's Back. */
export function followAddress(): void {
  const row = selectedBy(location.hash);
  const now = selected.peek();
  if (row?.kind === now?.kind && row?.name === now?.name) return;
  selected.value = row;
  if (row !== undefined) {
    active.value = row;
    awaited = row;
    revealAwaited();
    drawNow();
  }
}

/** The row that the address selects, until the scan has found it. */
let awaited: RowName | undefined;

function revealAwaited(): void {
  if (awaited === undefined) return;
  const { kind, name } = awaited;
  if (kind === 'key' ? !tree.value.has(name) : tree.value.find(name) === undefined) return;
  tree.value.reveal(awaited);
  awaited = undefined;
}

/** The server and database whose keys the tree holds. */
let held: string | undefined;
/** The scan was running when the page was left. */
let interrupted = false;

/** Scans again whenever another database or server is chosen. Returns a function that ends this. */
export function followDatabase(): () => void {
  if (interrupted) resume();
  const unfollow = effect(() => {
    const now = JSON.stringify([
      connection.settings.value.url,
      connection.settings.value.user,
      connection.db.value,
    ]);
    if (connection.status.value !== 'open' || now === held) return;
    const first = held === undefined;
    held = now;
    queueMicrotask(() => {
      forgetTypes();
      if (!first) select(undefined);
      rescan();
    });
  });
  return () => {
    unfollow();
    interrupted = scan.peek().status === 'running';
    pause();
  };
}

function openPrefixes(of: KeyTree): Set<Name> {
  const open = new Set<Name>();
  const folders = [...of.root.opened];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    open.add(folder.prefix);
    folders.push(...folder.opened);
  }
  return open;
}
