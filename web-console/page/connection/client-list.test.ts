import { expect, test } from 'vitest';
import { matches, parseClients } from './client-list.ts';

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

test('older servers send fewer fields, and a line without an id is skipped', () => {
  const [old, ...others] = parseClients('id=3 addr=127.0.0.1:1 cmd=NULL\r\n\nrubbish\n=\n');
  expect(old).toMatchObject({ id: '3', command: '', library: '', name: '', channels: 0 });
  expect(others).toEqual([]);
});

test('clients are found by their shown fields', () => {
  const [client] = parseClients(LINE);
  expect(client && matches(client, 'WORKER')).toBe(true);
  expect(client && matches(client, 'redis-py')).toBe(true);
  expect(client && matches(client, 'nothing')).toBe(false);
});
