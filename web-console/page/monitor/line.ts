// A line of MONITOR: `1700000000.123456 [0 127.0.0.1:50000] "set" "key" "a\nvalue"`. Arguments keep the escapes the
// server wrote them with, so a line never holds a control character.

export interface MonitorLine {
  atMs: number;
  db: number;
  /** Address and port, `unix:` and a path, or `lua`. */
  client: string;
  command: string;
  /** Without their quotes, with their escapes. */
  args: string[];
}

const HEAD = /^(\d+)\.(\d{1,6}) \[(\d+) (.*?)\] (?=")/;

/** Null for a line that is none of MONITOR's. */
export function parseLine(line: string): MonitorLine | null {
  const head = HEAD.exec(line);
  if (head === null) return null;
  const [whole, seconds, fraction, db, client] = head;
  const words = quotedWords(line, whole.length);
  if (words === null) return null;
  const [command = '', ...args] = words;
  return {
    atMs: Number(seconds) * 1000 + Number((fraction ?? '').padEnd(6, '0')) / 1000,
    db: Number(db),
    client: client ?? '',
    command,
    args,
  };
}

/** The insides of the words in double quotes from a position on; null if one has no end. */
function quotedWords(line: string, from: number): string[] | null {
  const words: string[] = [];
  let at = from;
  while (at < line.length) {
    if (line[at] === ' ') {
      at += 1;
      continue;
    }
    if (line[at] !== '"') return null;
    const start = at + 1;
    at = start;
    while (at < line.length && line[at] !== '"') at += line[at] === '\\' ? 2 : 1;
    if (at >= line.length) return null;
    words.push(line.slice(start, at));
    at += 1;
  }
  return words;
}

/** Lines of huge values are cut to so many characters when they arrive. */
const MOST_CHARACTERS = 16 * 1024;

/** A line cut to what is kept of it: the last argument then ends with an ellipsis. */
export function clipped(line: string): string {
  if (line.length <= MOST_CHARACTERS) return line;
  const cut = line.slice(0, MOST_CHARACTERS);
  // Half an escape would take the closing quote in.
  const whole = cut.replace(/((?:^|[^\\])(?:\\\\)*)\\(?:x[0-9a-f]?)?$/i, '$1');
  // Copied by its bytes, because a part of a text keeps all of it in memory.
  return `${new TextDecoder().decode(new TextEncoder().encode(whole))}…"`;
}
