import { expect, test } from 'vitest';
import { HEIGHT_MAX, scrollFor, windowOf } from './windows.ts';

test('a short list is placed pixel by pixel', () => {
  expect(windowOf(0, 240, 5, 24)).toEqual({ first: 0, end: 5, top: 0, height: 120 });
  const inMiddle = windowOf(2400, 240, 1000, 24);
  expect(inMiddle).toEqual({ first: 92, end: 118, top: 92 * 24, height: 24_000 });
  expect(windowOf(0, 0, 0, 24)).toEqual({ first: 0, end: 0, top: 0, height: 0 });
});

test('of ten million rows the first and the last can be reached', () => {
  const rows = 10_000_000;
  expect(windowOf(0, 480, rows, 24).first).toBe(0);
  const bottom = windowOf(HEIGHT_MAX - 480, 480, rows, 24);
  expect(bottom.height).toBe(HEIGHT_MAX);
  expect(bottom.end).toBe(rows);
  const last = scrollFor(rows - 1, 0, 480, rows, 24);
  expect(Math.round(last)).toBe(HEIGHT_MAX - 480);
});

test.each([
  [1000, 0],
  [1000, 500],
  [10_000_000, 1234],
  [10_000_000, 9_999_999],
])('of %i rows, number %i is in sight after scrolling to it', (rows, row) => {
  const at = scrollFor(row, 5000, 480, rows, 24);
  const { first, end, top } = windowOf(at, 480, rows, 24);
  expect(first).toBeLessThanOrEqual(row);
  expect(end).toBeGreaterThan(row);
  const y = top + (row - first) * 24 - at;
  expect(y).toBeGreaterThan(-1);
  expect(y).toBeLessThan(480 - 24 + 1);
});

test('a row in sight does not move', () => {
  expect(scrollFor(105, 2400, 240, 1000, 24)).toBe(2400);
});
