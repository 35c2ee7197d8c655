// Where a text stops being JSON (RFC 8259).
//
// JSON.parse tells quickly that something is wrong, but engines name the place each in their own way or not at all. This scanner
// runs only then. It keeps no values and does not recurse, so that a deep text is no danger.

export interface Fault {
  /** UTF-16 units before the mistake. */
  at: number;
  problem: string;
}

type Wanted = 'value' | 'element' | 'member' | 'name' | 'colon' | 'object comma' | 'array comma' | 'end';

const MISSING: Record<Wanted, string> = {
  value: 'a value is missing',
  element: 'a value or ] is missing',
  member: 'a name in double quotes or } is missing',
  name: 'a name in double quotes is missing',
  colon: 'a colon is missing',
  'object comma': 'a comma or } is missing',
  'array comma': 'a comma or ] is missing',
  end: 'the text goes on behind the value',
};

const BLANKS = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** What a person typed in the place of a value, as far as it belongs together. */
const WORD = /[\w.+-]+/y;
const WORDS = new Set(['true', 'false', 'null']);
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

/** The first mistake; undefined if there is none. */
export function faultOf(text: string): Fault | undefined {
  const open: ('{' | '[')[] = [];
  let wanted: Wanted = 'value';
  let at = 0;
  for (;;) {
    at = endOf(BLANKS, text, at);
    const character = text[at];
    if (character === undefined) return wanted === 'end' ? undefined : { at, problem: `${MISSING[wanted]} at the end` };
    const isValue: boolean = wanted === 'value' || wanted === 'element';
    if ((character === '}' && (wanted === 'member' || wanted === 'object comma')) || (character === ']' && (wanted === 'element' || wanted === 'array comma'))) {
      open.pop();
      wanted = after(open);
      at += 1;
    } else if (isValue && (character === '{' || character === '[')) {
      open.push(character);
      wanted = character === '{' ? 'member' : 'element';
      at += 1;
    } else if (character === ',' && (wanted === 'object comma' || wanted === 'array comma')) {
      wanted = wanted === 'object comma' ? 'name' : 'value';
      at += 1;
    } else if (character === ':' && wanted === 'colon') {
      wanted = 'value';
      at += 1;
    } else if (character === '"' && (isValue || wanted === 'name' || wanted === 'member')) {
      const read = endOfString(text, at);
      if (typeof read !== 'number') return read;
      at = read;
      wanted = isValue ? after(open) : 'colon';
    } else if (isValue) {
      const end = endOf(WORD, text, at);
      if (end === at) return { at, problem: MISSING[wanted] };
      if (!WORDS.has(text.slice(at, end)) && endOf(NUMBER, text, at) !== end) return { at, problem: `${shown(text.slice(at, end))} is no value` };
      at = end;
      wanted = after(open);
    } else {
      return { at, problem: MISSING[wanted] };
    }
  }
}

/** Line and column of a place, counted from 1. */
export function placeOf(text: string, at: number): { line: number; column: number } {
  const before = text.slice(0, at);
  return { line: before.split('\n').length, column: before.length - before.lastIndexOf('\n') };
}

function after(open: string[]): Wanted {
  const inside = open[open.length - 1];
  return inside === undefined ? 'end' : inside === '{' ? 'object comma' : 'array comma';
}

function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** Where the string ends that begins at `from`, or its mistake. */
function endOfString(text: string, from: number): number | Fault {
  let at = from + 1;
  for (;;) {
    const code = text.charCodeAt(at);
    if (Number.isNaN(code)) return { at: from, problem: 'a string has no end' };
    if (code === 0x22) return at + 1;
    if (code === 0x0a) return { at: from, problem: 'a string ends with its line: a line feed is written \\n' };
    if (code < 0x20) return { at, problem: 'a control character in a string needs an escape' };
    if (code === 0x5c) {
      const end = endOf(ESCAPE, text, at);
      if (end === at) return { at, problem: 'no escape begins so' };
      at = end;
    } else {
      at += 1;
    }
  }
}

/** Words in messages are cut to this many characters. */
const WORD_SHOWN_MAX = 20;

function shown(word: string): string {
  return word.length > WORD_SHOWN_MAX ? `${word.slice(0, WORD_SHOWN_MAX)}…` : word;
}
