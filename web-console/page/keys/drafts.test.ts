import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { startWith } from '../resp/codec.ts';
import { draftBytes, draftOf, switched } from './drafts.ts';

beforeAll(() => startWith(readFileSync(new URL('../../pkg/console_bg.wasm', import.meta.url))));

test('a draft stands for the bytes it was made of', () => {
  for (const bytes of [[], [0xff, 0], [0x5c, 0x6e], [0x61, 0x0a, 0x62], [0x0d]]) {
    for (const lines of ['one', 'many'] as const) {
      expect(draftBytes(draftOf(Uint8Array.from(bytes), lines))).toEqual(Uint8Array.from(bytes));
    }
  }
});

test('a line feed is kept as it is only where there are lines', () => {
  const bytes = Uint8Array.of(0x61, 0x0a, 0x62);
  expect(draftOf(bytes, 'many')).toEqual({ text: 'a\nb', escapes: false });
  expect(draftOf(bytes, 'one')).toEqual({ text: 'a\\nb', escapes: true });
});

test('switching escapes keeps the bytes or says why not', () => {
  expect(switched({ text: 'a\\n', escapes: false })).toEqual({ text: 'a\\\\n', escapes: true });
  expect(switched({ text: 'a\\\\n', escapes: true })).toEqual({ text: 'a\\n', escapes: false });
  expect(() => switched({ text: '\\xff', escapes: true })).toThrow('cannot be written without escapes');
});
