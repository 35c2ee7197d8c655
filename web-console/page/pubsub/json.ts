// JSON laid out for reading. Tokens stay as they were written: numbers keep all their digits, names may repeat.

/** Longer texts are shown as they came. */
const MOST_BYTES = 1024 * 1024;

/** Deeper ones too: indentation would grow with the square of the depth. */
const MOST_DEPTH = 64;

const strict = new TextDecoder('utf-8', { fatal: true });

/** Valid JSON that is an object or an array, laid out; null for everything else. */
export function prettyJson(payload: Uint8Array): string | null {
  const first = payload.find((byte) => byte > 32);
  if ((first !== 0x7b && first !== 0x5b) || payload.length > MOST_BYTES) return null;
  try {
    const text = strict.decode(payload);
    JSON.parse(text);
    return layOut(text);
  } catch {
    return null;
  }
}

/** Strings, brackets, commas and colons, and everything else between white space. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g;

function layOut(json: string): string | null {
  const tokens = json.match(TOKEN) ?? [];
  let depth = 0;
  let text = '';
  for (const [at, token] of tokens.entries()) {
    if (token === '{' || token === '[') {
      depth += 1;
      if (depth > MOST_DEPTH) return null;
      const isEmpty = tokens[at + 1] === '}' || tokens[at + 1] === ']';
      text += isEmpty ? token : token + newLine(depth);
    } else if (token === '}' || token === ']') {
      depth -= 1;
      const isEmpty = tokens[at - 1] === '{' || tokens[at - 1] === '[';
      text += isEmpty ? token : newLine(depth) + token;
    } else if (token === ',') {
      text += token + newLine(depth);
    } else {
      text += token === ':' ? ': ' : token;
    }
  }
  return text;
}

function newLine(depth: number): string {
  return `\n${'  '.repeat(depth)}`;
}
