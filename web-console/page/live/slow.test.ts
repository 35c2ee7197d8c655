import { expect, test } from 'vitest';
import type { Reply } from '../resp/reply.ts';
import { parseSlowLog } from './slow.ts';

test('entries of the slow log keep their bytes', () => {
  const bulk = (bytes: number[]): Reply => ({ type: 'bulk', bytes: Uint8Array.from(bytes) });
  const integer = (value: bigint): Reply => ({ type: 'integer', value });
  const args: Reply = { type: 'array', items: [bulk([71]), bulk([0, 255])] };
  const entry: Reply = { type: 'array', items: [integer(7n), integer(1700n), integer(12_345n), args] };
  expect(parseSlowLog({ type: 'array', items: [entry, { type: 'null' }] })).toEqual([
    {
      id: '7',
      atMs: 1_700_000,
      tookUs: 12_345,
      args: [Uint8Array.of(71), Uint8Array.of(0, 255)],
      address: '',
      name: '',
    },
    { id: '', atMs: 0, tookUs: 0, args: [], address: '', name: '' },
  ]);
});
