// What is typed and chosen, as queries: signs of the query language in words and tags, filters, and commands.

import { expect, test } from 'vitest';
import { indexOf } from './model.ts';
import { type Asked, explainArgs, freshFor, groupsArgs, hasWords, lineOf, queryOf, sampleArgs, searchArgs, wordsOf } from './query.ts';

const plain = indexOf(new TextEncoder().encode('films'), undefined);
const instant = { ...plain, isInstant: true };
const asked = (text: string, change: Partial<Asked> = {}): Asked => ({ ...freshFor(instant), text, ...change });

test('a sign that is typed in words is an error of the query language', () => {
  const cases: [string, string][] = [
    ['matrx relo', 'matrx relo'],
    ['matrix ', 'matrix '],
    ['spider-man (2002', 'spider man  2002'],
    ['@title:{x} | y*', ' title  x    y '],
    ['-fury mad', '-fury mad'],
    ['mad -', 'mad  '],
    ['mad -"fury road"', 'mad -"fury road"'],
    ['"mad max', ' mad max'],
    ['"mad" "max', '"mad"  max'],
    ['"" x', '  x'],
    ['"-" x', '  x'],
    ["don't", 'don t'],
    ['--x', '  x'],
    ['東京 é', '東京 é'],
  ];
  for (const [typed, words] of cases) expect(wordsOf(typed), typed).toBe(words);
});

test('a filter stands behind the word that is being typed', () => {
  const chosen = { genre: ['sci fi', 'a|b'], 'the kind': ['x'], none: [] };
  expect(queryOf(asked('relo', { chosen }))).toBe('@genre:{sci\\ fi | a\\|b} @the\\ kind:{x} relo');
  expect(queryOf(asked(' ', { chosen }))).toBe('@genre:{sci\\ fi | a\\|b} @the\\ kind:{x}');
  expect(queryOf(asked('relo', { chosen }), 'genre')).toBe('@the\\ kind:{x} relo');
  expect(queryOf(asked('a | b', { chosen: { genre: ['é_1'] }, mode: 'language' }))).toBe('@genre:{é_1} (a | b)');
  expect(queryOf(asked('*', { chosen: { genre: ['x'] }, mode: 'language' }))).toBe('@genre:{x}');
  expect(queryOf(asked('', { mode: 'language' }))).toBe('*');
  expect(queryOf(asked('(', {}))).toBe('*');
  expect(hasWords(asked('('))).toBe(false);
  expect(hasWords(asked('x', { mode: 'language' }))).toBe(false);
});

test('a search as one types is sent as another one', () => {
  const order = { field: 'votes', by: 'popular' as const };
  expect(lineOf(searchArgs(instant, asked('matrx relo', { order, offset: 20 })))).toBe(
    'FT.SEARCH films "matrx relo" SCORER INSTANT NOSTOPWORDS DIALECT 2 LATEST WITHSCORES HIGHLIGHT POPULARITY votes LIMIT 20 20',
  );
  expect(lineOf(searchArgs(plain, asked('a "b"', { mode: 'language', order: { field: 'year', by: 'desc' } })))).toBe(
    'FT.SEARCH films "a \\"b\\"" WITHSCORES HIGHLIGHT SORTBY year DESC LIMIT 0 20',
  );
  expect(searchArgs({ ...plain, hasMarks: false }, asked('x'), { open: '<', close: '>' })).not.toContain('HIGHLIGHT');
  expect(lineOf(explainArgs(instant, asked('x')))).toBe('FT.EXPLAIN films x NOSTOPWORDS DIALECT 2');
  expect(searchArgs(plain, asked('x', { mode: 'language', dialect: '3' }), { open: '<', close: '>' })).toEqual(
    expect.arrayContaining(['DIALECT', '3', 'HIGHLIGHT', 'TAGS', '<', '>']),
  );
});

test('a facet is counted with its own filter, or without a folded case', () => {
  const field = { name: 'the genre', path: 'g', kind: 'TAG', separator: '"', isCaseSensitive: false, isSortable: false, isUnindexed: false, isJson: false, details: [] };
  const chosen = { 'the genre': ['x'], other: ['y'] };
  const line = lineOf(groupsArgs(instant, asked('', { chosen }), field));
  expect(line).toMatch(/^FT\.AGGREGATE films "@other:\{y\}" NOSTOPWORDS DIALECT 2 LIMIT 0 10000 LOAD 1 "@the genre" FILTER/);
  expect(groupsArgs(instant, asked(''), field)).toContain('split(lower(@the\\ genre), "\\"")');
  expect(groupsArgs(instant, asked(''), { ...field, isCaseSensitive: true, separator: '' })).toContain('@the\\ genre');
  expect(lineOf(sampleArgs(instant, asked('relo', { chosen }), [field], 'the genre'))).toBe(
    'FT.SEARCH films "@other:{y} relo" SCORER INSTANT NOSTOPWORDS DIALECT 2 RETURN 1 "the genre" LIMIT 0 1000',
  );
});
