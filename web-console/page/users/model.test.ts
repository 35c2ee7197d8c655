// What the page makes of replies, of older servers as well.

import { expect, test } from 'vitest';
import type { Reply } from '../resp/reply.ts';
import { addressOf, describe, parseLog, parseUser, rulesOf, setUser } from './model.ts';

const bulk = (text: string): Reply => ({ type: 'bulk', bytes: new TextEncoder().encode(text) });
const list = (...texts: string[]): Reply => ({ type: 'array', items: texts.map(bulk) });
const map = (fields: Record<string, Reply>): Reply => ({
  type: 'map',
  pairs: Object.entries(fields).map(([name, value]): [Reply, Reply] => [bulk(name), value]),
});

test('a rule of a user is not shown', () => {
  const selector = map({ commands: bulk('-@all +get'), keys: bulk('%R~a'), channels: bulk('') });
  const reply = map({
    flags: { type: 'set', items: [bulk('on'), bulk('nopass')] },
    passwords: list('aa', 'bb'),
    commands: bulk('+@all -debug'),
    keys: bulk('~*'),
    channels: bulk('&*'),
    selectors: { type: 'array', items: [selector] },
  });
  expect(parseUser('ann', reply)).toEqual({
    name: 'ann',
    flags: ['on', 'nopass'],
    passwords: 2,
    commands: '+@all -debug',
    keys: '~*',
    channels: '&*',
    selectors: [{ commands: '-@all +get', keys: '%R~a', channels: '' }],
  });
  // Redis 6, in RESP2.
  const old: Reply = { type: 'array', items: [bulk('flags'), list('off'), bulk('keys'), list('~a', '~b')] };
  expect(parseUser('ann', old)?.keys).toBe('~a ~b');
  expect(parseUser('ann', { type: 'null' })).toBeNull();
});

test('a denial is told as another one', () => {
  const entry = map({
    count: { type: 'integer', value: 3n },
    reason: bulk('command'),
    context: bulk('multi'),
    object: bulk('config|set'),
    username: bulk('ann'),
    'age-seconds': { type: 'double', text: '2.5' },
    'client-info': bulk('id=3 addr=127.0.0.1:5 laddr=127.0.0.1:6379 name='),
    'entry-id': { type: 'integer', value: 7n },
    'timestamp-last-updated': { type: 'integer', value: 1000n },
  });
  const [denial] = parseLog({ type: 'array', items: [entry] }, 5000);
  if (!denial) throw new Error('no entry');
  expect([denial.id, denial.count, denial.atMs]).toEqual(['7', 3, 1000]);
  expect(describe(denial)).toBe('may not run CONFIG SET');
  expect(addressOf(denial.client)).toBe('127.0.0.1:5');
  expect(describe({ ...denial, reason: 'key', object: 'k' })).toBe('may not use the key k');
  expect(describe({ ...denial, reason: 'auth', object: 'auth' })).toBe('could not log in with AUTH');
  const [old] = parseLog({ type: 'array', items: [map({ 'age-seconds': bulk('2.5') })] }, 5000);
  expect(old?.atMs).toBe(2500);
});

test('a typed rule is cut elsewhere', () => {
  expect(rulesOf('  on ~a\n(+get ~b)\t')).toEqual(['on', '~a', '(+get', '~b)']);
  expect(rulesOf(' ')).toEqual([]);
  expect(setUser('ann', 'on', 'two words')).toEqual(['ACL', 'SETUSER', 'ann', 'on', '>two words']);
  expect(setUser('ann', 'on', '')).toEqual(['ACL', 'SETUSER', 'ann', 'on']);
});
