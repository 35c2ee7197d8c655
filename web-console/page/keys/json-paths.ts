// Paths into a JSON document, and the texts that JSON.GET answers to them. Nothing here parses a value: its text stays as the server
// wrote it, so that no number loses a digit.

/** The whole document. */
export const ROOT = '$';

/** One level of the texts that this page reads. */
export const INDENT = '  ';

/**
 * The path as it is sent; an empty one is the whole document. A path that begins with `$` is of RFC 9535 and finds any number of values;
 * any other one has RedisJSON's older form, of which the server answers with the first value.
 */
export function pathOf(typed: string): string {
  const path = typed.trim();
  return path === '' || path === '.' ? ROOT : path;
}

export function isOldForm(path: string): boolean {
  return !path.startsWith('$');
}

/**
 * Whether a path of the older form finds one value at most, so that what is written goes where the value was read. A name in quotes with
 * one of these characters counts as a path that may find several.
 */
export function isNarrow(path: string): boolean {
  return !/\.\.|[*?:,]/.test(path);
}

/** The path of a member of the object at `path`. */
export function memberPath(path: string, name: string): string {
  const parent = path === '.' ? '' : path;
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? `${parent}.${name}` : `${parent}[${JSON.stringify(name)}]`;
}

/** The path of `count` elements of the array at `path`, from an index on; a negative index counts from the end. */
export function slicePath(path: string, from: number, count: number): string {
  const parent = path === '.' ? '' : path;
  return from < 0 ? `${parent}[${from}:]` : `${parent}[${from}:${from + count}]`;
}

/**
 * The only value of an array of matches that has a line for its brackets each, without its first level of indentation; undefined if the
 * text has another shape. Line feeds stand between tokens only: inside strings they are escaped.
 */
export function onlyMatch(matches: string): string | undefined {
  if (!matches.startsWith('[\n') || !matches.endsWith('\n]')) return undefined;
  const lines = matches.slice(2, -2).split('\n');
  if (!lines.every((line) => line.startsWith(INDENT))) return undefined;
  return lines.map((line) => line.slice(INDENT.length)).join('\n');
}

/** “object, 2 strings”: the types of what was found, in the order in which they first occur. */
export function typesText(types: string[]): string {
  const counts = new Map<string, number>();
  for (const type of types) counts.set(type, (counts.get(type) ?? 0) + 1);
  const plural = (type: string, count: number): string => (count === 1 ? type : `${count.toLocaleString('en-US')} ${type}s`);
  return [...counts].map(([type, count]) => plural(type, count)).join(', ');
}
