import { expect, test } from 'vitest';
import { Ring } from './ring.ts';

test('the oldest items go first, and are counted', () => {
  const ring = new Ring<number>(3);
  for (let item = 0; item < 10; item += 1) ring.push(item);
  expect(ring.toArray()).toEqual([7, 8, 9]);
  expect(ring.newestFirst((item) => item !== 8)).toEqual([9, 7]);
  expect([ring.length, ring.dropped, ring.last()]).toEqual([3, 7, 9]);
});

test('heavy items push out more than one, and the newest stays', () => {
  const ring = new Ring<string>(100, 10, (text) => text.length);
  for (const text of ['aaaa', 'bbbb', 'ccccccccc']) ring.push(text);
  expect(ring.toArray()).toEqual(['ccccccccc']);
  expect(ring.weight).toBe(9);
  ring.push('x'.repeat(1000));
  expect([ring.length, ring.dropped, ring.weight]).toEqual([1, 3, 1000]);
});

test('a ring that was cleared begins anew', () => {
  const ring = new Ring<number>(2, 5, (item) => item);
  for (const item of [1, 2, 3]) ring.push(item);
  ring.clear();
  expect([ring.length, ring.dropped, ring.weight, ring.last()]).toEqual([0, 0, 0, undefined]);
  ring.push(4);
  expect(ring.toArray()).toEqual([4]);
});
