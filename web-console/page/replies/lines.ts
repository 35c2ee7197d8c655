// A reply as lines of text in the layout of redis-cli: numbers before elements, types in brackets. A generator makes
// the lines on demand, so that a reply of a million elements costs only its shown lines.

import { quoteText } from '../parts/bytes.ts';
import type { Reply } from '../resp/reply.ts';

export type Kind = 'string' | 'text' | 'status' | 'number' | 'nothing' | 'error' | 'type';

/** A piece of a line. Strings stay bytes: the view decides how much of them it shows. */
export type Span = { kind: Kind; text: string } | { kind: 'string'; bytes: Uint8Array } | { kind: 'text'; bytes: Uint8Array };

export interface Line {
  /** Indentation and numbers. */
  lead: string;
  spans: Span[];
}

const SIGNS = { array: ')', set: '~', push: ')', map: '#' } as const;

/** The reply's lines. The recursion is bounded: the decoder limits the nesting. */
export function* lines(reply: Reply, lead = '', indent = ''): Generator<Line> {
  if (reply.type === 'map') {
    if (reply.pairs.length === 0) return yield { lead, spans: [{ kind: 'nothing', text: '(empty map)' }] };
    const width = String(reply.pairs.length).length;
    let own = lead;
    for (const [at, [key, value]] of reply.pairs.entries()) {
      const number = `${String(at + 1).padStart(width)}${SIGNS.map} `;
      const inner = indent + ' '.repeat(number.length);
      if (!isOpen(key) && !isOpen(value)) {
        yield { lead: own + number, spans: [...spans(key), { kind: 'type', text: ' => ' }, ...spans(value)] };
      } else if (!isOpen(key)) {
        yield { lead: own + number, spans: [...spans(key), { kind: 'type', text: ' =>' }] };
        yield* lines(value, inner, inner);
      } else {
        yield* lines(key, own + number, inner);
        yield* lines(value, `${inner}=> `, `${inner}   `);
      }
      own = indent;
    }
    return;
  }
  if (reply.type === 'array' || reply.type === 'set' || reply.type === 'push') {
    if (reply.items.length === 0) return yield { lead, spans: [{ kind: 'nothing', text: `(empty ${reply.type})` }] };
    const width = String(reply.items.length).length;
    let own = lead;
    for (const [at, item] of reply.items.entries()) {
      const number = `${String(at + 1).padStart(width)}${SIGNS[reply.type]} `;
      yield* lines(item, own + number, indent + ' '.repeat(number.length));
      own = indent;
    }
    return;
  }
  yield { lead, spans: spans(reply) };
}

/** Whether a reply takes more than one line. */
function isOpen(reply: Reply): boolean {
  return reply.type === 'map' ? reply.pairs.length > 0 : 'items' in reply && reply.items.length > 0;
}

function spans(reply: Reply): Span[] {
  switch (reply.type) {
    case 'simple': return [{ kind: 'status', text: oneLine(reply.text) }];
    case 'error': return [{ kind: 'error', text: `(error) ${oneLine(reply.text)}` }];
    case 'integer': return [{ kind: 'type', text: '(integer) ' }, { kind: 'number', text: String(reply.value) }];
    case 'double': return [{ kind: 'type', text: '(double) ' }, { kind: 'number', text: reply.text }];
    case 'big': return [{ kind: 'type', text: '(big number) ' }, { kind: 'number', text: reply.text }];
    case 'boolean': return [{ kind: 'type', text: '(boolean) ' }, { kind: 'number', text: String(reply.value) }];
    case 'null': return [{ kind: 'nothing', text: '(nil)' }];
    case 'bulk': return [{ kind: 'string', bytes: reply.bytes }];
    case 'verbatim': return [{ kind: 'text', bytes: reply.bytes }];
    case 'map': return [{ kind: 'nothing', text: '(empty map)' }];
    default: return [{ kind: 'nothing', text: `(empty ${reply.type})` }];
  }
}

/** Texts of Redis may quote bytes of clients: control characters are escaped, as in values. */
function oneLine(text: string): string {
  // eslint-disable-next-line no-control-regex
  return /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/.test(text)
    ? quoteText(new TextEncoder().encode(text)).slice(1, -1)
    : text;
}

/** A text over several lines, with escapes for characters that must not reach the screen. */
export function plainText(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes).replaceAll('\r\n', '\n');
  return text.replace(/(?![\n\t])[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, (character) => quoteText(new TextEncoder().encode(character)).slice(1, -1));
}

function spanText(span: Span): string {
  if ('text' in span) return span.text;
  return span.kind === 'string' ? quoteText(span.bytes) : plainText(span.bytes);
}

/** The whole reply as text, to be copied. A single string is copied without quotes. */
export function copyOf(reply: Reply): string {
  if (reply.type === 'bulk' || reply.type === 'verbatim') {
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(reply.bytes);
    } catch {
      return quoteText(reply.bytes);
    }
  }
  if (reply.type === 'integer') return String(reply.value);
  if (reply.type === 'simple' || reply.type === 'error' || reply.type === 'double' || reply.type === 'big') return reply.text;
  const out: string[] = [];
  for (const line of lines(reply)) out.push(line.lead + line.spans.map(spanText).join(''));
  return out.join('\n');
}
