import { expect, test } from 'vitest';
import { bytesOfPercent, percentOf } from './percent.ts';

test('a name comes back exactly, whatever its bytes are', () => {
  const every = Uint8Array.from({ length: 256 }, (_, at) => at);
  expect(bytesOfPercent(percentOf(every))).toEqual(every);
  expect(percentOf(new TextEncoder().encode('user:1/ä'))).toBe('user%3A1%2F%C3%A4');
});

test('an address that a person wrote is read, and a wrong one is none', () => {
  expect(bytesOfPercent('shöp')).toEqual(new TextEncoder().encode('shöp'));
  expect(bytesOfPercent('50%')).toBeUndefined();
  expect(bytesOfPercent('%zz')).toBeUndefined();
});
