import { expect, test } from 'vitest';
import type { Client } from '../connection/client.ts';
import type { Argument, Reply } from '../resp/reply.ts';
import { flat, readFound, READ_MAX_BYTES } from './json-document.ts';

const KEY = new TextEncoder().encode('k');
const bulk = (text: string): Reply => ({ type: 'bulk', bytes: new TextEncoder().encode(text) });
const integer = (value: number): Reply => ({ type: 'integer', value: BigInt(value) });
const array = (...items: Reply[]): Reply => ({ type: 'array', items });
const missing: Reply = { type: 'null' };

/** A session with these answers, by the first word of a request; `asked` has the words that were sent. */
function session(answers: Record<string, Reply>): { client: Client; asked: string[] } {
  const asked: string[] = [];
  const call = async (args: Argument[]): Promise<Reply> => {
    asked.push(String(args[0]));
    return answers[String(args[0])] ?? { type: 'error', text: 'ERR unknown command' };
  };
  const client = { call, pipeline: (commands: Argument[][]) => Promise.all(commands.map(call)) } as unknown as Client;
  return { client, asked };
}

test('the answers of both protocols and both forms of paths are the same list', () => {
  expect(flat(bulk('object'))).toEqual([bulk('object')]);
  expect(flat(array(bulk('object')))).toEqual([bulk('object')]);
  expect(flat(array(array(bulk('object'), bulk('null'))))).toEqual([bulk('object'), bulk('null')]);
});

test('one match is a text of its own, several are not', async () => {
  const one = session({ 'JSON.TYPE': array(bulk('number')), 'JSON.DEBUG': array(integer(9)), 'JSON.GET': bulk('[\n  1.50\n]') });
  expect(await readFound(one.client, KEY, '$.a')).toMatchObject({ types: ['number'], sizeBytes: 9, one: '1.50', tooLarge: '' });
  const two = session({ 'JSON.TYPE': array(bulk('number'), bulk('null')), 'JSON.GET': bulk('[\n  1,\n  null\n]') });
  expect(await readFound(two.client, KEY, '$.*')).toMatchObject({ types: ['number', 'null'], sizeBytes: undefined, one: undefined });
  const old = session({ 'JSON.TYPE': bulk('number'), 'JSON.DEBUG': integer(9), 'JSON.GET': bulk('1.50') });
  expect((await readFound(old.client, KEY, '.a')).one).toBe('1.50');
  expect((await readFound(old.client, KEY, '..a')).one).toBeUndefined();
});

test('a value of unknown size is read when the person wants it', async () => {
  const answers = { 'JSON.TYPE': array(bulk('object')), 'JSON.GET': bulk('[\n  {}\n]'), 'JSON.OBJLEN': array(integer(0)), 'JSON.OBJKEYS': array(array()) };
  const found = await readFound(session(answers).client, KEY, '$');
  expect(found).toMatchObject({ read: undefined, sizeBytes: undefined, inside: { kind: 'object', length: 0, names: [] } });
  expect(found.tooLarge).toContain('does not tell how large');
  expect(await readFound(session(answers).client, KEY, '$', true)).toMatchObject({ one: '{}', tooLarge: '', isWanted: true });
});

test('a path that finds nothing reads nothing', async () => {
  for (const types of [array(), missing, array(missing)]) {
    const { client, asked } = session({ 'JSON.TYPE': types, 'JSON.DEBUG': array() });
    expect(await readFound(client, KEY, '$.no')).toMatchObject({ types: [], read: undefined });
    expect(asked).toEqual(['JSON.TYPE', 'JSON.DEBUG']);
  }
});

test('a large value is not loaded, and says what is inside', async () => {
  const large = array(integer(READ_MAX_BYTES + 1));
  const object = session({
    'JSON.TYPE': array(bulk('object')), 'JSON.DEBUG': large, 'JSON.OBJLEN': array(integer(2)), 'JSON.OBJKEYS': array(array(bulk('a'), bulk('b'))),
  });
  const found = await readFound(object.client, KEY, '$');
  expect(found.inside).toEqual({ kind: 'object', length: 2, names: ['a', 'b'] });
  expect(found.tooLarge).toMatch(/^This value takes 524 kB, and up to 524 kB are shown/);
  expect(object.asked).not.toContain('JSON.GET');
  const many = session({ 'JSON.TYPE': array(bulk('object')), 'JSON.DEBUG': large, 'JSON.OBJLEN': array(integer(1_000_000)) });
  expect((await readFound(many.client, KEY, '$')).inside).toEqual({ kind: 'object', length: 1_000_000, names: undefined });
  expect(many.asked).not.toContain('JSON.OBJKEYS');
});

test('the error about a path is thrown', async () => {
  const { client } = session({ 'JSON.TYPE': { type: 'error', text: 'ERR Search path error at offset 2' } });
  await expect(readFound(client, KEY, '$[')).rejects.toThrow('Search path error at offset 2');
});
