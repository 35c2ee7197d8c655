// The disk's figures from INFO. Figures that a server does not report are not shown; unknown figures in the section of
// the store are shown under their own names.

import { infoNumber, type Info } from './info.ts';
import { number } from '../resp/values.ts';
import * as format from '../parts/format.ts';

export interface DiskFigure {
  label: string;
  value: string;
}

type Show = (value: number) => string;

/** Figures with a label of their own, in the order of the page. */
const KNOWN: readonly [name: string, label: string, show: Show][] = [
  ['datafiles', 'Datafiles', format.count],
  ['datafile_bytes', 'In datafiles', format.bytes],
  ['datafile_dead_bytes', 'Dead', format.bytes],
  ['datafile_tombstone_bytes', 'Tombstones', format.bytes],
  ['storage_bytes', 'In the platform\'s rows', format.bytes],
  ['log_appended_bytes', 'Appended since the start', format.bytes],
  ['log_unsynced_bytes', 'Not yet synced', format.bytes],
  ['log_syncs', 'Syncs', format.count],
  ['blobs', 'Blobs', format.count],
  ['blob_bytes', 'In blobs', format.bytes],
  ['blobs_dead', 'Blobs to remove', format.count],
  ['merges', 'Merges', format.count],
  ['merged_bytes', 'Merged', format.bytes],
  ['scrub_done_bytes', 'Scrubbed', format.bytes],
  ['scrub_findings', 'Damage found', format.count],
  ['scrub_last_end', 'Scrubbed until', (seconds) => (seconds > 0 ? new Date(seconds * 1000).toLocaleString() : 'never')],
];

/** Figures that the panel shows in another form. */
const DRAWN = new Set([
  'datafile_live_bytes',
  'log_read_only',
  'merge_in_progress',
  'merge_input_bytes',
  'merge_read_bytes',
  'scrub_in_progress',
  'scrub_all_bytes',
]);

/** The section of INFO about the store. */
export const SECTION = 'bitcask';

/** Live bytes, and dead bytes that a merge will drop; null if the server does not report them. */
export function diskUse(info: Info): { live: number; dead: number } | null {
  const [all, dead] = [infoNumber(info, 'datafile_bytes'), infoNumber(info, 'datafile_dead_bytes')];
  return all === null || dead === null ? null : { live: Math.max(0, all - dead), dead };
}

/** The progress of the running merge in bytes; null if no merge runs, or the server does not report it. */
export function mergeProgress(info: Info): { read: number; all: number } | null {
  const [all, read] = [infoNumber(info, 'merge_input_bytes'), infoNumber(info, 'merge_read_bytes')];
  const isUnderWay = infoNumber(info, 'merge_in_progress') === 1 && all !== null && all > 0 && read !== null;
  return isUnderWay ? { read: Math.min(read, all), all } : null;
}

/** Whether the store refuses writes because its disk has failed. */
export function isReadOnly(info: Info): boolean {
  return infoNumber(info, 'log_read_only') === 1;
}

export function diskFigures(info: Info): DiskFigure[] {
  const known = KNOWN.flatMap(([name, label, show]) => {
    const value = infoNumber(info, name);
    return value === null ? [] : [{ label, value: show(value) }];
  });
  const names = new Set(KNOWN.map(([name]) => name));
  const others = [...(info.get(SECTION) ?? [])].filter(([name]) => !names.has(name) && !DRAWN.has(name));
  return [
    ...known,
    ...others.map(([name, value]) => ({ label: labelOf(name), value: valueOf(name, value) })),
  ];
}

const UNITS: readonly [suffix: string, show: Show][] = [
  ['_bytes', format.bytes],
  ['_us', format.micros],
  ['_ms', (ms) => format.micros(ms * 1000)],
  ['_seconds', format.duration],
  ['_percent', (percent) => format.percent(percent / 100)],
];

/** `merge_copied_bytes` as `Merge copied`. */
function labelOf(name: string): string {
  const unit = UNITS.find(([suffix]) => name.endsWith(suffix));
  const words = (unit ? name.slice(0, -unit[0].length) : name).replaceAll('_', ' ').trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function valueOf(name: string, text: string): string {
  const value = number(text);
  if (value === null) return text;
  const unit = UNITS.find(([suffix]) => name.endsWith(suffix));
  return unit ? unit[1](value) : format.count(value);
}
