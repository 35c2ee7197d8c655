// What the page makes of replies about indexes, of other servers as well.

import { expect, test } from 'vitest';
import type { Reply } from '../resp/reply.ts';
import { facetOfGroups, facetOfHits, type Field, foundOf, indexOf, piecesOf } from './model.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const bulk = (text: string): Reply => ({ type: 'bulk', bytes: bytes(text) });
const integer = (value: number): Reply => ({ type: 'integer', value: BigInt(value) });
const double = (text: string): Reply => ({ type: 'double', text });
const list = (...items: Reply[]): Reply => ({ type: 'array', items });
const map = (fields: Record<string, Reply>): Reply => ({
  type: 'map',
  pairs: Object.entries(fields).map(([name, value]): [Reply, Reply] => [bulk(name), value]),
});
const field = (name: string, kind: string, change: Partial<Field> = {}): Field => ({
  name, path: name, kind, separator: kind === 'TAG' ? ',' : '', isCaseSensitive: false, isSortable: false, isUnindexed: false, isJson: false, details: [], ...change,
});

const attribute = (name: string, path: string, type: string, more: Record<string, Reply>, ...flags: string[]) =>
  map({ identifier: bulk(path), attribute: bulk(name), type: bulk(type), ...more, flags: list(...flags.map(bulk)) });

test('a field has no weight, separator or size', () => {
  const index = indexOf(bytes('films'), map({
    index_options: list(bulk('ANALYZER INSTANT')),
    index_definition: map({ prefixes: list(bulk('film:')), default_language: bulk('english'), filter: bulk('@year > 3') }),
    attributes: list(
      attribute('title', 'title', 'TEXT', { WEIGHT: bulk('2') }, 'NOSTEM'),
      attribute('genre', 'g', 'TAG', { SEPARATOR: bulk(';') }, 'CASESENSITIVE'),
      attribute('year', 'year', 'NUMERIC', {}, 'SORTABLE'),
      attribute('v', 'v', 'VECTOR', { algorithm: bulk('FLAT'), data_type: bulk('FLOAT32'), dim: bulk('3'), distance_metric: bulk('L2') }),
    ),
    num_docs: integer(5), num_terms: integer(9), segments: integer(0), indexing: integer(1), percent_indexed: double('0.25'),
    inverted_sz_mb: double('0.5'), key_table_size_mb: double('0.25'), hash_indexing_failures: integer(2),
  }));
  expect(index.fields.map(({ name, kind, details }) => [name, kind, details.join(', ')])).toEqual([
    ['title', 'TEXT', 'weight 2, nostem'],
    ['genre', 'TAG', 'separated by ";", casesensitive, of g'],
    ['year', 'NUMERIC', 'sortable'],
    ['v', 'VECTOR', '3 × FLOAT32, L2, FLAT'],
  ]);
  expect(index).toMatchObject({
    label: 'films', isInstant: true, hasMarks: true, prefixes: ['film:'], language: 'english', filter: '@year > 3', documents: 5, failures: 2,
    memoryBytes: 0.75 * 1024 * 1024, isIndexing: true, share: 0.25, problem: undefined,
  });
});

test('an index without offsets is asked for marks, which is an error', () => {
  for (const option of ['NOOFFSETS', 'NOHL']) expect(indexOf(bytes('x'), map({ index_options: list(bulk(option)) })).hasMarks).toBe(false);
});

test('an index that may not be read breaks the list', () => {
  const index = indexOf(bytes('x'), { type: 'error', text: 'NOPERM no' });
  expect(index).toMatchObject({ label: 'x', problem: 'NOPERM no', isInstant: false, fields: [], documents: null, memoryBytes: null, failures: 0 });
});

test('fields of a hit stand in the order of the hash', () => {
  const title = field('title', 'TEXT');
  const genre = field('genre', 'TAG', { path: 'g' });
  const reply = map({
    total_results: integer(7),
    warning: list(bulk('not all')),
    results: list(map({ id: bulk('film:1'), score: double('1.5'), extra_attributes: map({ a: bulk('x'), g: bulk('y'), title: bulk('z') }), values: list() })),
  });
  const found = foundOf(reply, [title, genre]);
  expect(found.total).toBe(7);
  expect(found.warnings).toEqual(['not all']);
  expect(found.hits[0]?.score).toBe(1.5);
  expect(found.hits[0]?.values.map(({ name, field: known }) => [name, known?.name])).toEqual([['title', 'title'], ['g', 'genre'], ['a', undefined]]);
  expect(foundOf({ type: 'null' }, [])).toEqual({ total: 0, hits: [], warnings: [] });
});

const MARKS = { open: '\u0001(7\u0002', close: '\u0001)7\u0002' };
const pieces = (text: string) => piecesOf(bytes(text), MARKS).map(({ text: piece, isMatch }) => (isMatch ? `[${piece}]` : piece)).join('');

test('a match is markup, or marks are shown', () => {
  expect(pieces(`The ${MARKS.open}Matr${MARKS.close}ix <b>${MARKS.open}x${MARKS.close}`)).toBe('The [Matr]ix <b>[x]');
  expect(pieces(`two\nlines ${MARKS.open}open`)).toBe('two\nlines [open]');
  expect(pieces('')).toBe('');
  expect(piecesOf(Uint8Array.of(0, 255), MARKS)).toEqual([{ text: '"\\x00\\xff"', isMatch: false }]);
  expect(piecesOf(new Uint8Array(100), MARKS)[0]?.text.endsWith('\\x00"…')).toBe(true);
});

test('the match is in the part of a long text that is not shown', () => {
  const shown = pieces(`${'a '.repeat(400)}${MARKS.open}match${MARKS.close}${' b'.repeat(400)}`);
  expect(shown).toMatch(/^…a .*\[match\] b.*…$/);
  expect(shown.length).toBe(300 + 4);
  expect(pieces(`${'a'.repeat(290)}${MARKS.open}${'m'.repeat(20)}${MARKS.close}`)).toBe(`…${'a'.repeat(280)}[${'m'.repeat(20)}]`);
  expect(pieces('a'.repeat(301))).toBe(`${'a'.repeat(300)}…`);
});

const group = (value: string, count: number) => map({ extra_attributes: map({ facet_value: bulk(value), facet_count: bulk(String(count)) }), values: list() });

test('a chosen value is gone because others are more frequent', () => {
  const genre = field('genre', 'TAG');
  const reply = map({ total_results: integer(9), results: list(group('action', 5), group('drama', 2)) });
  expect(facetOfGroups(reply, genre, ['noir'])).toEqual({
    field: genre, others: 6, values: [{ value: 'action', count: 5 }, { value: 'drama', count: 2 }, { value: 'noir', count: null }],
  });
  const all = map({ total_results: integer(1), results: list(group('action', 5)) });
  expect(facetOfGroups(all, genre, ['noir'])).toMatchObject({ others: 0, values: [{ value: 'action', count: 5 }, { value: 'noir', count: 0 }] });
});

test('the tags of an index that was made over HTTP are parts of JSON', () => {
  const index = indexOf(bytes('movies'), map({
    attributes: list(attribute('tag_genres', 'genres', 'TAG', { SEPARATOR: bulk(',') }), attribute('text_*', '*', 'TEXT', {}), attribute('y', 'y', 'TAG', {}, 'NOINDEX')),
  }));
  const genres = index.fields[0]!;
  expect(index.fields.map(({ isJson, isUnindexed }) => [isJson, isUnindexed])).toEqual([[true, false], [true, false], [true, true]]);
  const hit = (text: string) => ({ key: bytes('k'), score: null, values: [{ name: 'tag_genres', field: genres, bytes: bytes(text) }] });
  const hits = [hit('["Romance, old","Drama"]'), hit('Drama'), hit('["no'), hit('[{"a":1},2]')];
  expect(facetOfHits(hits, genres, [], 9).values).toEqual([
    { value: 'drama', count: 2 }, { value: '2', count: 1 }, { value: '["no', count: 1 }, { value: 'romance, old', count: 1 },
  ]);
});

test('tags are counted twice, or apart by their case', () => {
  const genre = field('genre', 'TAG');
  const hit = (text: string) => ({ key: bytes('k'), score: null, values: [{ name: 'genre', field: genre, bytes: bytes(text) }] });
  const hits = [hit('Action, scifi,,action'), hit('action'), hit('drama'), { key: bytes('k'), score: null, values: [] }];
  expect(facetOfHits(hits, genre, ['drama', 'noir'], 1)).toEqual({
    field: genre, others: 1, values: [{ value: 'action', count: 2 }, { value: 'drama', count: 1 }, { value: 'noir', count: 0 }],
  });
});
