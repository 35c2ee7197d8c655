import { expect, it } from 'vitest';
import { History } from './history.ts';

function memory() {
  const map = new Map<string, string>();
  return { getItem: (key: string) => map.get(key) ?? null, setItem: (key: string, value: string) => void map.set(key, value) };
}

it('goes back and forth, and returns to the unfinished line', () => {
  const history = new History(memory());
  history.add('GET a');
  history.add('GET b');
  expect(history.previous('GET c')).toBe('GET b');
  expect(history.previous('GET b')).toBe('GET a');
  expect(history.previous('GET a')).toBeUndefined();
  expect(history.next()).toBe('GET b');
  expect(history.next()).toBe('GET c');
  expect(history.next()).toBeUndefined();
});

it('lasts over sessions, and the commands of another tab stay', () => {
  const storage = memory();
  const one = new History(storage);
  const other = new History(storage);
  one.add('SET a 1');
  other.add('SET b 2');
  expect(new History(storage).entries).toEqual(['SET a 1', 'SET b 2']);
});

it('keeps no repetition and no secret', () => {
  const history = new History(memory());
  for (const line of ['PING', 'PING', 'AUTH secret', 'hello 3 auth u secret', 'CONFIG SET requirepass x', 'GET a\nAUTH x', ' ']) history.add(line);
  expect(history.entries).toEqual(['PING']);
});

it('is found by a part, newest first and once', () => {
  const history = new History(memory());
  for (const line of ['SET a 1', 'GET a', 'SET a 1', 'DEL a']) history.add(line);
  expect(history.search('set', 5)).toEqual(['SET a 1']);
  expect(history.search('A', 2)).toEqual(['DEL a', 'SET a 1']);
});

it('survives rubbish in storage', () => {
  const storage = memory();
  storage.setItem('edgecask.history', '{"a":1}');
  expect(new History(storage).entries).toEqual([]);
  storage.setItem('edgecask.history', '[1,"GET a"');
  expect(new History(storage).entries).toEqual([]);
});
