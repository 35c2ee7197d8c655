import { expect, test } from 'vitest';
import { trimmed } from './ranges.ts';

const utf8 = new TextEncoder().encode('aü€🙂z');

test('a part ends between characters whatever byte it was cut at', () => {
  for (let end = 1; end <= utf8.length; end += 1) {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(
      trimmed({ from: 0, bytes: utf8.subarray(0, end), total: utf8.length }),
    );
    expect('aü€🙂z'.startsWith(text)).toBe(true);
  }
});

test('a part begins between characters', () => {
  for (let from = 1; from < utf8.length; from += 1) {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(
      trimmed({ from, bytes: utf8.subarray(from), total: utf8.length }),
    );
    expect('aü€🙂z'.endsWith(text)).toBe(true);
  }
});

test('binary values are not cut at their own end', () => {
  const bytes = Uint8Array.of(1, 2, 0xc3);
  expect(trimmed({ from: 0, bytes, total: 3 })).toEqual(bytes);
});
