import { expect, test } from 'vitest';
import type { Reply } from '../resp/reply.ts';
import { matches, parseClients } from './clients.ts';
import { parseSlowLog } from './slow.ts';

const LINE =
  'id=155 addr=[::1]:57742 laddr=127.0.0.1:7913 fd=-1 name=worker=1 age=62 idle=3 flags=P db=2 sub=1 psub=2 ssub=4 ' +
  'multi=-1 cmd=client|list user=default redir=-1 resp=3 lib-name=redis-py(x) lib-ver=5.0.1\n';

test('a line is taken apart at its first equals signs', () => {
  expect(parseClients(LINE)).toEqual([
    {
      id: '155',
      address: '[::1]:57742',
      name: 'worker=1',
      ageS: 62,
      idleS: 3,
      flags: 'P',
      db: 2,
      command: 'client|list',
      user: 'default',
      library: 'redis-py(x) 5.0.1',
      channels: 5,
      patterns: 2,
      protocol: '3',
    },
  ]);
});

test('older servers tell less, and lines without an id are none', () => {
  const [old, ...others] = parseClients('id=3 addr=127.0.0.1:1 cmd=NULL\r\n\nrubbish\n=\n');
  expect(old).toMatchObject({ id: '3', command: '', library: '', name: '', channels: 0 });
  expect(others).toEqual([]);
});

test('clients are found by what one sees of them', () => {
  const [client] = parseClients(LINE);
  expect(client && matches(client, 'WORKER')).toBe(true);
  expect(client && matches(client, 'redis-py')).toBe(true);
  expect(client && matches(client, 'nothing')).toBe(false);
});

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
