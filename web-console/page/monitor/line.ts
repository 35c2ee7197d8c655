// A line of MONITOR: `1700000000.123456 [0 127.0.0.1:50000] "set" "key" "a\nvalue"`. Arguments keep the server's
// escapes, so that a line never has a control character.

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

/** Null if the line is not one of MONITOR. */
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

/** The words in double quotes from a position on, without the quotes; null if a quote is not closed. */
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

/** A longer line is cut to this many characters when it arrives. */
const LINE_MAX_CHARACTERS = 16 * 1024;

/** The line, cut if it is too long: its last argument then ends with an ellipsis. */
export function clipped(line: string): string {
  if (line.length <= LINE_MAX_CHARACTERS) return line;
  const cut = line.slice(0, LINE_MAX_CHARACTERS);
  // An incomplete escape would swallow the closing quote.
  const whole = cut.replace(/((?:^|[^\\])(?:\\\\)*)\\(?:x[0-9a-f]?)?$/i, '$1');
  // Copied through bytes: in V8 a part of a string keeps the whole string in memory.
  return `${new TextDecoder().decode(new TextEncoder().encode(whole))}…"`;
}
