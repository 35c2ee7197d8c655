// The commands of the page: what was typed and chosen, as words of FT.SEARCH, FT.AGGREGATE and FT.EXPLAIN.

import { quoteText } from '../parts/bytes.ts';
import type { Argument } from '../resp/reply.ts';
import { FACET_COUNT, FACET_VALUE, type Field, type Index, type Marks } from './model.ts';

/** Results on a page. */
export const HITS_SHOWN = 20;
/** The best results whose facets are counted if FT.AGGREGATE cannot. */
export const HITS_COUNTED = 1000;
/** Documents that FT.AGGREGATE looks at for a facet: each is read. */
export const DOCUMENTS_COUNTED = 10_000;
export const FACET_VALUES_MAX = 12;
/** Facets that are counted: the first TAG fields. */
export const FACETS_MAX = 8;

/** `words`: ranked as one types. `language`: RediSearch's query language. */
export type Mode = 'words' | 'language';

/** `popular`: each doubling of the number counts for a result, beside how well it matches. */
export interface Order {
  field: string;
  by: 'asc' | 'desc' | 'popular';
}

export interface Asked {
  text: string;
  mode: Mode;
  /** Values of TAG fields, by the field's name: a document has one of each field's. */
  chosen: Record<string, string[]>;
  order: Order | undefined;
  /** The dialect of the query language, `1` to `4`; empty for the server's default. */
  dialect: string;
  offset: number;
}

export const DIALECTS = ['1', '2', '3', '4'];

export function freshFor(index: Index): Asked {
  return { text: '', mode: index.isInstant ? 'words' : 'language', chosen: {}, order: undefined, dialect: '', offset: 0 };
}

/** Puts a backslash before each sign and blank, so that a query takes them as letters of a name or tag. */
function escaped(text: string): string {
  return text.replace(/[\x00-\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\x7f]/g, (sign) => `\\${sign}`);
}

/**
 * What is typed as words, without a sign that the query language would take for one of its own. Phrases in quotes and words behind a
 * minus stay. A blank at the end says that the last word is complete.
 */
export function wordsOf(text: string): string {
  const words = text
    .replace(/[|(){}[\]:;~%@*=>$'\\]/g, ' ')
    .replace(/(^|\s)-(?=["\p{L}\p{N}_])|-/gu, (_sign, before?: string) => (before === undefined ? ' ' : `${before}-`));
  const quotes = words.split('"').length - 1;
  const last = words.lastIndexOf('"');
  // A quote that is still open.
  const closed = quotes % 2 === 0 ? words : `${words.slice(0, last)} ${words.slice(last + 1)}`;
  return closed.replace(/-?"[^"\p{L}\p{N}_]*"/gu, ' ').replace(/(^|\s)-(?=\s|$)/g, '$1 ');
}

/** Whether words are ranked as one types: without any, a search finds what the filters let through. */
export function hasWords(asked: Asked): boolean {
  return asked.mode === 'words' && wordsOf(asked.text).trim() !== '';
}

/** The query, without the chosen values of one field if that is wanted. */
export function queryOf(asked: Asked, without?: string): string {
  const chosen = Object.entries(asked.chosen).filter(([field, values]) => field !== without && values.length > 0);
  const filters = chosen.map(([field, values]) => `@${escaped(field)}:{${values.map(escaped).join(' | ')}}`).join(' ');
  if (asked.mode === 'words') {
    const words = wordsOf(asked.text);
    if (words.trim() === '') return filters === '' ? '*' : filters;
    // The words come last: the server takes the end of the query for a word that is still being typed.
    return filters === '' ? words.trimStart() : `${filters} ${words.trimStart()}`;
  }
  const text = asked.text.trim();
  if (text === '' || text === '*') return filters === '' ? '*' : filters;
  return filters === '' ? text : `${filters} (${text})`;
}

/** FT.SEARCH for a page of results. */
export function searchArgs(index: Index, asked: Asked, marks?: Marks): Argument[] {
  return [
    ...beginningOf(index, asked),
    ...(asked.mode === 'words' ? ['LATEST'] : []),
    'WITHSCORES',
    ...(index.hasMarks ? ['HIGHLIGHT', ...(marks === undefined ? [] : ['TAGS', marks.open, marks.close])] : []),
    ...orderArgs(asked),
    'LIMIT', String(asked.offset), String(HITS_SHOWN),
  ];
}

function beginningOf(index: Index, asked: Asked, without?: string): Argument[] {
  const args: Argument[] = ['FT.SEARCH', index.key, queryOf(asked, without)];
  if (asked.mode === 'words') args.push('SCORER', 'INSTANT');
  return [...args, ...readingArgs(index, asked)];
}

/** How the server reads the query. */
function readingArgs(index: Index, asked: Asked): Argument[] {
  if (asked.mode === 'language') return asked.dialect === '' ? [] : ['DIALECT', asked.dialect];
  // An index of this analyzer has stop words, too, and the last word may be the beginning of another one.
  return [...(index.isInstant ? ['NOSTOPWORDS'] : []), 'DIALECT', '2'];
}

function orderArgs({ order, mode }: Asked): Argument[] {
  if (order === undefined) return [];
  if (order.by === 'popular') return mode === 'words' ? ['POPULARITY', order.field] : [];
  return ['SORTBY', order.field, order.by.toUpperCase()];
}

export function explainArgs(index: Index, asked: Asked): Argument[] {
  return ['FT.EXPLAIN', index.key, queryOf(asked), ...readingArgs(index, asked)];
}

/** The best results, of which the values of TAG fields are counted. */
export function sampleArgs(index: Index, asked: Asked, fields: Field[], without?: string): Argument[] {
  const names = fields.map((field) => field.name);
  return [...beginningOf(index, asked, without), 'RETURN', String(names.length), ...names, 'LIMIT', '0', String(HITS_COUNTED)];
}

/** FT.AGGREGATE that counts the values of a TAG field. */
export function groupsArgs(index: Index, asked: Asked, field: Field): Argument[] {
  const property = `@${escaped(field.name)}`;
  const folded = field.isCaseSensitive ? property : `lower(${property})`;
  const value = field.separator === '' ? folded : `split(${folded}, "${field.separator.replace(/["\\]/, '\\$&')}")`;
  return [
    'FT.AGGREGATE', index.key, queryOf(asked, field.name),
    ...readingArgs(index, asked),
    'LIMIT', '0', String(DOCUMENTS_COUNTED),
    'LOAD', '1', `@${field.name}`,
    'FILTER', `exists(${property})`,
    'APPLY', value, 'AS', FACET_VALUE,
    'GROUPBY', '1', `@${FACET_VALUE}`, 'REDUCE', 'COUNT', '0', 'AS', FACET_COUNT,
    'SORTBY', '4', `@${FACET_COUNT}`, 'DESC', `@${FACET_VALUE}`, 'ASC',
    'LIMIT', '0', String(FACET_VALUES_MAX),
  ];
}

/** A command as redis-cli reads it. */
export function lineOf(args: Argument[]): string {
  return args
    .map((each) => {
      const bytes = typeof each === 'string' ? new TextEncoder().encode(each) : each;
      const text = new TextDecoder().decode(bytes);
      return /^[\w.:@*+-]+$/.test(text) ? text : quoteText(bytes);
    })
    .join(' ');
}
