// The letters of `notify-keyspace-events`: the classes of key events that the server publishes, and their channels.

export interface EventClass {
  letter: string;
  label: string;
}

/** The channels of events. Without one of these letters no event is published. */
export const PLACES: readonly EventClass[] = [
  { letter: 'K', label: 'Channels by key (__keyspace@…)' },
  { letter: 'E', label: 'Channels by event (__keyevent@…)' },
];

/** The classes that `A` stands for. */
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

/** The classes that `A` does not include. */
export const EXTRAS: readonly EventClass[] = [
  { letter: 'm', label: 'Misses' },
  { letter: 'n', label: 'New keys' },
];

const ORDER = [...PLACES, ...CLASSES, ...EXTRAS].map(({ letter }) => letter);

/** The letters of a setting, with `A` expanded. */
export function lettersOf(setting: string): Set<string> {
  const letters = setting.includes('A') ? CLASSES.map(({ letter }) => letter) : [];
  return new Set([...letters, ...[...setting].filter((letter) => ORDER.includes(letter))]);
}

/** The setting for some letters, with `A` for all its classes; empty if it would publish no event. */
export function settingOf(letters: ReadonlySet<string>): string {
  const places = PLACES.filter(({ letter }) => letters.has(letter)).map(({ letter }) => letter);
  const isAll = CLASSES.every(({ letter }) => letters.has(letter));
  const classes = CLASSES.filter(({ letter }) => letters.has(letter)).map(({ letter }) => letter);
  const extras = EXTRAS.filter(({ letter }) => letters.has(letter)).map(({ letter }) => letter);
  const published = [...(isAll ? ['A'] : classes), ...extras];
  return places.length === 0 || published.length === 0 ? '' : [...places, ...published].join('');
}
