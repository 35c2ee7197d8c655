import { expect, test } from 'vitest';
import { IndexedPages, PAGE, ScannedPages } from './paging.ts';

test('pages by position are asked for once and forgotten when many others came', () => {
  const pages = new IndexedPages<number>(1_000_000);
  expect(pages.wanted(0, 150)).toEqual([0, 1]);
  expect(pages.wanted(0, 150)).toEqual([]);
  pages.put(
    0,
    Array.from({ length: PAGE }, (_, index) => index),
  );
  pages.put(
    1,
    Array.from({ length: PAGE }, (_, index) => PAGE + index),
  );
  expect(pages.at(42)).toBe(42);
  expect(pages.at(142)).toBe(142);
  expect(pages.at(999_999)).toBeUndefined();
  for (let page = 2; page < 60; page += 1) {
    pages.wanted(0, 1);
    pages.put(page, [page]);
  }
  expect(pages.at(42), 'used all the time').toBe(42);
  expect(pages.at(142), 'long unused').toBeUndefined();
  expect(pages.wanted(140, 150)).toEqual([1]);
});

test('nothing is asked for beyond the end', () => {
  expect(new IndexedPages<number>(250).wanted(200, 900)).toEqual([2]);
  expect(new IndexedPages<number>(0).wanted(0, 50)).toEqual([]);
});

test('a member that the cursor gives twice has one row with its newer value', () => {
  const pages = new ScannedPages<string>();
  pages.put('17', [
    { name: 'a', row: 'a1' },
    { name: 'b', row: 'b1' },
  ]);
  expect(pages.done).toBe(false);
  pages.put('0', [
    { name: 'a', row: 'a2' },
    { name: 'c', row: 'c1' },
  ]);
  expect(pages.rows).toEqual(['a2', 'b1', 'c1']);
  expect(pages.done).toBe(true);
});
