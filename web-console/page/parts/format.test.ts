import { expect, test } from 'vitest';
import * as format from './format.ts';

test('figures are short and have their unit', () => {
  expect([0, 998.4, 1536, 5e9, null].map(format.bytes)).toEqual(['0 B', '998 B', '1.54 kB', '5 GB', '–']);
  expect([0, 0.25, 7, 12_345, 1_234_567].map(format.count)).toEqual(['0', '0.3', '7', '12,345', '1.23 M']);
  expect([0, 0.27, 12.5, 3100, 2.4e6].map(format.micros)).toEqual([
    '0 µs',
    '270 ns',
    '12.5 µs',
    '3.10 ms',
    '2.40 s',
  ]);
  expect([null, 0, 0.985, 1].map(format.percent)).toEqual(['–', '0 %', '98.5 %', '100 %']);
  expect([0, 59, 3600, 93_784].map(format.duration)).toEqual(['0 s', '59 s', '1 h', '1 d 2 h']);
});
