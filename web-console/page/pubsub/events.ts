// The letters of `notify-keyspace-events`: which events of keys the server publishes, and on what channels.

export interface EventClass {
  letter: string;
  label: string;
}

/** Where events are published: without one of these none are. */
export const PLACES: readonly EventClass[] = [
  { letter: 'K', label: 'Channels by key (__keyspace@…)' },
  { letter: 'E', label: 'Channels by event (__keyevent@…)' },
];

/** What `A` stands for. */
export const CLASSES: readonly EventClass[] = [
  { letter: 'g', label: 'Generic (DEL, EXPIRE, RENAME…)' },
  { letter: '$', label: 'Strings' },
  { letter: 'l', label: 'Lists' },
  { letter: 's', label: 'Sets' },
  { letter: 'h', label: 'Hash tables' },
  { letter: 'z', label: 'Sorted sets' },
  { letter: 't', label: 'Streams' },
  { letter: 'x', label: 'Expired keys' },
  { letter: 'e', label: 'Evicted keys' },
  { letter: 'd', label: 'Modules' },
];

/** What is only there when it is asked for by its own letter. */
export const EXTRAS: readonly EventClass[] = [
  { letter: 'm', label: 'Misses' },
  { letter: 'n', label: 'New keys' },
];

const ORDER = [...PLACES, ...CLASSES, ...EXTRAS].map(({ letter }) => letter);

/** The letters that are on, with `A` taken apart. */
export function lettersOf(setting: string): Set<string> {
  const letters = setting.includes('A') ? CLASSES.map(({ letter }) => letter) : [];
  return new Set([...letters, ...[...setting].filter((letter) => ORDER.includes(letter))]);
}

/** The setting for some letters, with `A` where it says the same; what nobody would hear is off altogether. */
export function settingOf(letters: ReadonlySet<string>): string {
  const places = PLACES.filter(({ letter }) => letters.has(letter)).map(({ letter }) => letter);
  const isAll = CLASSES.every(({ letter }) => letters.has(letter));
  const classes = CLASSES.filter(({ letter }) => letters.has(letter)).map(({ letter }) => letter);
  const extras = EXTRAS.filter(({ letter }) => letters.has(letter)).map(({ letter }) => letter);
  const what = [...(isAll ? ['A'] : classes), ...extras];
  return places.length === 0 || what.length === 0 ? '' : [...places, ...what].join('');
}
