import { expect, test } from 'vitest';
import { axisOf, type Cell, cellOf, chartOf, csvOf, jsonOf, planOf, typesOf } from './model.ts';

const text = (value: string): Cell => ({ kind: 'text', text: value });
const integer = (value: bigint): Cell => ({ kind: 'integer', value });
const real = (value: string): Cell => ({ kind: 'real', text: value });
const blob = (...bytes: number[]): Cell => ({ kind: 'blob', bytes: Uint8Array.from(bytes) });
const NULL: Cell = { kind: 'null' };

test('bytes that are no text are a blob', () => {
  expect(cellOf({ type: 'bulk', bytes: Uint8Array.from([0, 255]) })).toEqual(blob(0, 255));
  expect(cellOf({ type: 'bulk', bytes: new TextEncoder().encode('pén') })).toEqual(text('pén'));
  expect(cellOf({ type: 'null' })).toEqual(NULL);
});

test('CSV keeps commas, quotes, ends of lines and the difference between NULL and an empty text', () => {
  const rows = [[text('a,b'), text('say "no"\r\n'), NULL], [text(''), blob(0, 255), integer(9007199254740993n)]];
  expect(csvOf(['x', 'y,z', 'n'], rows)).toBe('x,"y,z",n\r\n"a,b","say ""no""\r\n",\r\n"",00ff,9007199254740993\r\n');
});

test('JSON keeps every digit of an integer, and both columns of one name', () => {
  const json = jsonOf(['n', 'n'], [[integer(9007199254740993n), real('1.50')], [real('inf'), blob(1)], [NULL, text('"')]]);
  expect(json).toBe('[\n  {"n": 9007199254740993, "n_2": 1.5},\n  {"n": "inf", "n_2": "01"},\n  {"n": null, "n_2": "\\""}\n]\n');
  expect(jsonOf(['n'], [])).toBe('[]\n');
});

test('a column has the types of its values', () => {
  expect(typesOf(['a', 'b', 'c'], [[integer(1n), NULL, NULL], [real('1.5'), text('x'), NULL]])).toEqual(['integer, real', 'text', 'null']);
});

test('a plan is a tree', () => {
  expect(planOf(['SEARCH t', 'LIST SUBQUERY 1', '  SCAN t', '    deeper', 'SORT'])).toEqual([
    { text: 'SEARCH t', steps: [] },
    { text: 'LIST SUBQUERY 1', steps: [{ text: 'SCAN t', steps: [{ text: 'deeper', steps: [] }] }] },
    { text: 'SORT', steps: [] },
  ]);
});

test('a chart has the numbers over the first column without', () => {
  const rows = [[integer(1n), text('mon'), real('2.5')], [integer(2n), text('tue'), NULL]];
  expect(chartOf(['id', 'day', 'sum'], rows)).toEqual({
    labels: ['mon', 'tue'],
    lines: [{ name: 'id', values: [1, 2] }, { name: 'sum', values: [2.5, null] }],
  });
  expect(chartOf(['day'], [[text('mon')], [text('tue')]])).toBeUndefined();
  expect(chartOf(['id', 'n'], [[integer(1n), integer(5n)], [integer(2n), integer(7n)]])).toEqual({
    labels: ['1', '2'],
    lines: [{ name: 'n', values: [5, 7] }],
  });
});

test('an axis ends at round numbers that hold all values', () => {
  for (const values of [[0, 0], [3, 97], [-5, 12], [1000, 1001], [0.001, 0.0042], [-7, -7], [5, 5], [1e15, 3e15]]) {
    const { low, high, ticks } = axisOf(values);
    expect(low).toBeLessThanOrEqual(Math.min(...values));
    expect(high).toBeGreaterThanOrEqual(Math.max(...values));
    expect(high).toBeGreaterThan(low);
    expect(ticks.length).toBeLessThanOrEqual(8);
  }
});
