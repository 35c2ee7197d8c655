// What the page makes of the replies of FT.INFO, FT.SEARCH and FT.AGGREGATE. Nothing here talks to a server or draws.

import { beginning, printable, quoteBytes, showBytes } from '../parts/bytes.ts';
import type { Reply } from '../resp/reply.ts';
import { bytesOf, fieldsOf, itemsOf, numberOf, pairsOf, textOf } from '../resp/values.ts';

/** FT.INFO counts memory in these. */
const MEBIBYTE = 1024 * 1024;
/** Bytes of a value that is no text, and characters of a text, that a result shows. */
const BYTES_SHOWN = 64;
const TEXT_SHOWN = 300;
/** Characters that are shown before the first match of a longer text. */
const BEFORE_MATCH = 80;

export interface Field {
  /** The name in queries. */
  name: string;
  /** The name in the hash. */
  path: string;
  /** `TEXT`, `TAG`, `NUMERIC`, `GEO` or `VECTOR`. */
  kind: string;
  /** What separates the values of a TAG field. */
  separator: string;
  isCaseSensitive: boolean;
  isSortable: boolean;
  /** Whether documents have such a field, but queries do not find them by it. */
  isUnindexed: boolean;
  /** Whether several values are a JSON array: so are those of an index that was made over HTTP. */
  isJson: boolean;
  /** Everything else about it, for a person. */
  details: string[];
}

export interface Index {
  key: Uint8Array;
  label: string;
  /** Why the server does not describe it. All below is empty then. */
  problem: string | undefined;
  /** Whether it was made with ANALYZER INSTANT. */
  isInstant: boolean;
  /** Whether it was made with what the server needs to mark matches. */
  hasMarks: boolean;
  prefixes: string[];
  language: string;
  filter: string;
  fields: Field[];
  documents: number | null;
  /** Hashes that are no documents because a value does not fit its field. */
  failures: number;
  terms: number | null;
  segments: number | null;
  memoryBytes: number | null;
  isIndexing: boolean;
  /** How much of the keys has been looked at, from 0 to 1. */
  share: number | null;
}

/** Parts of the name of FT.INFO's fields for memory, in MiB. */
const MEMORY = [
  'inverted_sz_mb', 'vector_index_sz_mb', 'offset_vectors_sz_mb', 'doc_table_size_mb', 'sortable_values_size_mb', 'key_table_size_mb',
];

/** An index from the reply of FT.INFO, or from its error. */
export function indexOf(key: Uint8Array, reply: Reply | undefined): Index {
  const facts = fieldsOf(reply);
  const definition = fieldsOf(facts.get('index_definition'));
  const options = itemsOf(facts.get('index_options')).map(textOf);
  const fields = itemsOf(facts.get('attributes')).map(fieldOf);
  // Such an index has a field for the texts of all attributes.
  const isJson = fields.some((field) => field.path === '*');
  const memory = MEMORY.map((name) => numberOf(facts.get(name))).filter((size) => size !== null);
  return {
    key,
    label: showBytes(key),
    problem: reply?.type === 'error' ? reply.text : undefined,
    isInstant: options.includes('ANALYZER INSTANT'),
    hasMarks: !options.includes('NOOFFSETS') && !options.includes('NOHL'),
    prefixes: itemsOf(definition.get('prefixes')).map((prefix) => showBytes(bytesOf(prefix))),
    language: textOf(definition.get('default_language')),
    filter: textOf(definition.get('filter')),
    fields: fields.map((field) => ({ ...field, isJson })),
    documents: numberOf(facts.get('num_docs')),
    failures: numberOf(facts.get('hash_indexing_failures')) ?? 0,
    terms: numberOf(facts.get('num_terms')),
    segments: numberOf(facts.get('segments')),
    memoryBytes: memory.length === 0 ? null : memory.reduce((sum, size) => sum + size, 0) * MEBIBYTE,
    isIndexing: (numberOf(facts.get('indexing')) ?? 0) !== 0,
    share: numberOf(facts.get('percent_indexed')),
  };
}

function fieldOf(reply: Reply): Field {
  const facts = fieldsOf(reply);
  const flags = itemsOf(facts.get('flags')).map(textOf);
  const kind = textOf(facts.get('type'));
  const known = (name: string) => textOf(facts.get(name));
  const details: string[] = [];
  if (kind === 'TEXT' && known('WEIGHT') !== '') details.push(`weight ${known('WEIGHT')}`);
  if (kind === 'TAG' && known('SEPARATOR') !== ',') details.push(`separated by ${JSON.stringify(known('SEPARATOR'))}`);
  if (kind === 'VECTOR') details.push(`${known('dim')} × ${known('data_type')}`, known('distance_metric'), known('algorithm'));
  details.push(...flags.map((flag) => flag.toLowerCase()));
  const [name, path] = [known('attribute'), known('identifier')];
  if (path !== name) details.push(`of ${path}`);
  return {
    name,
    path,
    kind,
    separator: known('SEPARATOR'),
    isCaseSensitive: flags.includes('CASESENSITIVE'),
    isSortable: flags.includes('SORTABLE') || kind === 'NUMERIC',
    isUnindexed: flags.includes('NOINDEX'),
    isJson: false,
    details,
  };
}

export interface Hit {
  key: Uint8Array;
  score: number | null;
  /** Names and values of the hash's fields: those of the schema in its order, then the others. */
  values: { name: string; field: Field | undefined; bytes: Uint8Array }[];
}

export interface Found {
  total: number;
  hits: Hit[];
  /** What the server says about an answer that is not complete. */
  warnings: string[];
}

/** The reply of FT.SEARCH under RESP3. */
export function foundOf(reply: Reply | undefined, fields: Field[]): Found {
  const facts = fieldsOf(reply);
  return {
    total: numberOf(facts.get('total_results')) ?? 0,
    hits: itemsOf(facts.get('results')).map((result) => hitOf(result, fields)),
    warnings: itemsOf(facts.get('warning')).map(textOf),
  };
}

function hitOf(result: Reply, fields: Field[]): Hit {
  const facts = fieldsOf(result);
  const rank = (name: string) => {
    const at = fields.findIndex((field) => field.path === name || field.name === name);
    return at < 0 ? fields.length : at;
  };
  const values = pairsOf(facts.get('extra_attributes')).map(([name, value]) => ({
    name: showBytes(bytesOf(name)),
    field: fields[rank(textOf(name))],
    bytes: bytesOf(value),
    rank: rank(textOf(name)),
  }));
  values.sort((one, other) => one.rank - other.rank);
  return {
    key: bytesOf(facts.get('id')),
    score: numberOf(facts.get('score')),
    values: values.map(({ name, field, bytes }) => ({ name, field, bytes })),
  };
}

/** What surrounds a match in a value. Both hold control characters and digits that nobody could guess, so no value has them. */
export interface Marks {
  open: string;
  close: string;
}

export interface Piece {
  text: string;
  isMatch: boolean;
}

/**
 * A value with its matches, as text. What is no printable text is shown by its first bytes, without matches; of a long text, the part
 * around the first match.
 */
export function piecesOf(bytes: Uint8Array, marks: Marks): Piece[] {
  const text = new TextDecoder().decode(bytes);
  const [before = '', ...rest] = text.split(marks.open);
  const pieces: Piece[] = [{ text: before, isMatch: false }];
  for (const part of rest) {
    const at = part.indexOf(marks.close);
    const end = at < 0 ? part.length : at;
    pieces.push({ text: part.slice(0, end), isMatch: true }, { text: part.slice(end + marks.close.length), isMatch: false });
  }
  const plain = rest.length === 0 ? bytes : new TextEncoder().encode(pieces.map((piece) => piece.text).join(''));
  if (printable(plain, true) === undefined) {
    return [{ text: `${quoteBytes(beginning(plain, BYTES_SHOWN))}${plain.length > BYTES_SHOWN ? '…' : ''}`, isMatch: false }];
  }
  return excerpt(pieces).filter((piece) => piece.text !== '');
}

function excerpt(pieces: Piece[]): Piece[] {
  const length = pieces.reduce((sum, piece) => sum + piece.text.length, 0);
  if (length <= TEXT_SHOWN) return pieces;
  const first = pieces.findIndex((piece) => piece.isMatch);
  const match = first < 0 ? 0 : pieces.slice(0, first).reduce((sum, piece) => sum + piece.text.length, 0);
  const from = Math.max(0, Math.min(match - BEFORE_MATCH, length - TEXT_SHOWN));
  const to = from + TEXT_SHOWN;
  let at = 0;
  const shown = pieces.map((piece) => {
    const text = piece.text.slice(Math.max(0, from - at), Math.max(0, to - at));
    at += piece.text.length;
    return { ...piece, text };
  });
  return [{ text: from > 0 ? '…' : '', isMatch: false }, ...shown, { text: to < length ? '…' : '', isMatch: false }];
}

export interface FacetValue {
  value: string;
  /** Null for a chosen value that is not among the most frequent. */
  count: number | null;
}

export interface Facet {
  field: Field;
  /** The most frequent values, and those that are chosen. */
  values: FacetValue[];
  /** How many values there are besides. */
  others: number;
}

/** The names of what FT.AGGREGATE computes for a facet. */
export const [FACET_VALUE, FACET_COUNT] = ['facet_value', 'facet_count'];

/** The facet of a field from the reply of FT.AGGREGATE. */
export function facetOfGroups(reply: Reply | undefined, field: Field, chosen: string[]): Facet {
  const facts = fieldsOf(reply);
  const rows = itemsOf(facts.get('results')).map((row) => fieldsOf(fieldsOf(row).get('extra_attributes')));
  const values = rows.map((row) => ({ value: textOf(row.get(FACET_VALUE)), count: numberOf(row.get(FACET_COUNT)) ?? 0 }));
  return facetOf(field, values, numberOf(facts.get('total_results')) ?? values.length, chosen, values.length);
}

/** The facet of a field from results that have it. */
export function facetOfHits(hits: Hit[], field: Field, chosen: string[], most: number): Facet {
  const counts = new Map<string, number>();
  for (const hit of hits) {
    const bytes = hit.values.find((value) => value.field === field)?.bytes;
    if (bytes === undefined) continue;
    for (const value of new Set(tagsOf(textOf({ type: 'bulk', bytes }), field))) counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([one, count], [other, more]) => more - count || (one < other ? -1 : 1));
  const values = sorted.map(([value, count]) => ({ value, count }));
  return facetOf(field, values, values.length, chosen, most);
}

/** The tags of a value, as the server makes them. */
function tagsOf(text: string, field: Field): string[] {
  const folded = field.isCaseSensitive ? text : text.toLowerCase();
  if (field.isJson) return folded.startsWith('[') ? jsonTags(folded) : [folded];
  return (field.separator === '' ? [folded] : folded.split(field.separator)).map((tag) => tag.trim()).filter((tag) => tag !== '');
}

function jsonTags(text: string): string[] {
  try {
    const all: unknown = JSON.parse(text);
    return Array.isArray(all) ? all.filter((each) => typeof each !== 'object').map(String) : [];
  } catch {
    return [text];
  }
}

/** `total`: how many values there are; `values` may have the most frequent of them alone. */
function facetOf(field: Field, values: FacetValue[], total: number, chosen: string[], most: number): Facet {
  const shown = values.filter((each) => each.value !== '').slice(0, most);
  const counted = (value: string) => values.find((each) => each.value === value)?.count ?? (total > values.length ? null : 0);
  const missing = chosen
    .filter((value) => !shown.some((each) => each.value === value))
    .map((value) => ({ value, count: counted(value) }));
  const others = total - shown.length - missing.filter((each) => each.count !== 0).length;
  return { field, values: [...shown, ...missing], others: Math.max(0, others) };
}
