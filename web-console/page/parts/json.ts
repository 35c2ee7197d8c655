// JSON as text: checking, formatting and compacting it without parsing its numbers.
//
// JSON.parse would turn 9007199254740993 into ...992, so it only validates. Formatting goes token by token, and each
// number and string stays exactly as it was written.

import { faultOf, placeOf } from './json-syntax.ts';

const INDENT = '  ';
/** Deeper levels get no further indentation: their lines would be mostly space. */
const INDENT_MAX = 100;

/** A document that would become longer than this is not formatted: only hostile nesting gets there. */
const PRETTY_MAX = 4 * 1024 * 1024;

/** A problem names its line and column, counted from 1. */
export type Checked = { valid: true } | { valid: false; problem: string; line: number };

export function checkJson(text: string): Checked {
  try {
    JSON.parse(text);
    return { valid: true };
  } catch (error) {
    const fault = faultOf(text) ?? { at: 0, problem: error instanceof Error ? error.message : String(error) };
    const { line, column } = placeOf(text, fault.at);
    return { valid: false, problem: `Line ${line}, column ${column}: ${fault.problem}`, line };
  }
}

/** Whether a text is a JSON object or array; a bare number or string is shown better as text. */
export function looksLikeJson(text: string): boolean {
  return /^\s*[[{]/.test(text) && checkJson(text).valid;
}

/** A valid document over several lines, two spaces a level; unchanged if the result would be too long. */
export function prettyJson(text: string): string {
  const out: string[] = [];
  let depth = 0;
  let space = 0;
  const newLine = (): void => {
    const indent = INDENT.repeat(Math.min(depth, INDENT_MAX));
    out.push('\n', indent);
    space += 1 + indent.length;
  };
  const tokens = tokensOf(text);
  for (const [at, token] of tokens.entries()) {
    if (space > PRETTY_MAX) return text;
    if (token === '{' || token === '[') {
      out.push(token);
      depth += 1;
      if (!isClosing(tokens[at + 1])) newLine();
    } else if (isClosing(token)) {
      depth -= 1;
      if (tokens[at - 1] !== '{' && tokens[at - 1] !== '[') newLine();
      out.push(token);
    } else if (token === ',') {
      out.push(token);
      newLine();
    } else {
      out.push(token === ':' ? ': ' : token);
    }
  }
  return out.join('');
}

/** The deepest nesting of brackets. */
export function depthOf(text: string): number {
  let depth = 0;
  let most = 0;
  for (const token of tokensOf(text)) {
    if (token === '{' || token === '[') most = Math.max(most, ++depth);
    else if (isClosing(token)) depth -= 1;
  }
  return most;
}

/** A valid document without white space between its tokens. */
export function compactJson(text: string): string {
  return tokensOf(text).join('');
}

function tokensOf(text: string): string[] {
  return text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? [];
}

function isClosing(token: string | undefined): boolean {
  return token === '}' || token === ']';
}
