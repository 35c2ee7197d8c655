// What the page makes of replies about functions and scripts, of other servers as well.

import { expect, test } from 'vitest';
import { parseLibraries } from '../connection/function-list.ts';
import type { Reply } from '../resp/reply.ts';
import { isHibernating, lineOf, moduleSize, nameForFile, nameIn, parseCache, parseRunning, wasmSource } from './model.ts';

const bulk = (text: string): Reply => ({ type: 'bulk', bytes: new TextEncoder().encode(text) });
const list = (...items: Reply[]): Reply => ({ type: 'array', items });
const map = (fields: Record<string, Reply>): Reply => ({
  type: 'map',
  pairs: Object.entries(fields).map(([name, value]): [Reply, Reply] => [bulk(name), value]),
});

test('a library or one of its functions is missing', () => {
  const one = map({ name: bulk('b'), description: { type: 'null' }, flags: { type: 'set', items: [bulk('no-writes')] } });
  const other = map({ name: bulk('a'), description: bulk('Adds'), flags: { type: 'set', items: [] } });
  const reply = list(
    map({ library_name: bulk('z'), engine: bulk('LUA'), functions: list(one, other), library_code: bulk('#!lua name=z\n') }),
    map({ library_name: bulk('m'), engine: bulk('WASM'), functions: list() }),
  );
  expect(parseLibraries(reply)).toEqual([
    { name: 'm', engine: 'WASM', functions: [], code: undefined },
    {
      name: 'z',
      engine: 'LUA',
      functions: [
        { name: 'a', description: 'Adds', flags: [] },
        { name: 'b', description: '', flags: ['no-writes'] },
      ],
      code: new TextEncoder().encode('#!lua name=z\n'),
    },
  ]);
  expect(parseLibraries({ type: 'null' })).toEqual([]);
});

test('a script that runs is ended by the wrong command', () => {
  const stats = (command: Reply[]) =>
    map({ running_script: map({ name: bulk('f'), command: list(...command), duration_ms: { type: 'integer', value: 12n } }) });
  expect(parseRunning(stats([bulk('fcall_ro'), bulk('f'), bulk('0')]))).toEqual({
    kind: 'FUNCTION', name: 'f', command: ['fcall_ro', 'f', '0'], durationMs: 12,
  });
  expect(parseRunning(stats([bulk('EVALSHA')]))?.kind).toBe('SCRIPT');
  expect(parseRunning(map({ running_script: { type: 'null' } }))).toBeUndefined();
  const busy = 'BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.';
  expect(parseRunning({ type: 'error', text: busy })?.kind).toBe('SCRIPT');
  expect(parseRunning({ type: 'error', text: busy.replace('SCRIPT', 'FUNCTION') })?.kind).toBe('FUNCTION');
  expect(parseRunning({ type: 'error', text: 'NOPERM no' })).toBeUndefined();
});

test('figures that a server does not have look like zero', () => {
  expect(parseCache('# Memory\r\nused_memory_scripts:120\r\nnumber_of_cached_scripts:3\r\n')).toEqual({ scripts: 3, sizeBytes: 120 });
  expect(parseCache('# Memory\r\n')).toEqual({ scripts: null, sizeBytes: null });
});

test('a page that looks every second keeps a server awake', () => {
  expect(isHibernating('# Server\r\nsleeps_when_idle:1\r\n# Memory\r\n')).toBe(true);
  expect(isHibernating('# Server\r\nsleeps_when_idle:0\r\n')).toBe(false);
  expect(isHibernating('# Server\r\n')).toBe(false);
});

test('an error is shown at another line', () => {
  expect(lineOf("Error compiling function: user_function:2: unexpected symbol near '='")).toBe(2);
  expect(lineOf('Error registering functions: @user_function: 31: Script attempted')).toBe(31);
  expect(lineOf("Library 'user_function' already exists")).toBeUndefined();
});

test('a library replaces one of another name', () => {
  expect(nameIn('#!lua name=shop\nreturn 1')).toBe('shop');
  expect(nameIn('#!lua  engine=x name=shop_2')).toBe('shop_2');
  expect(nameIn('#!lua\nname=shop')).toBe('');
  expect(nameForFile('rate-limit.v2.wasm')).toBe('rate_limit_v2');
});

test('bytes of a module change on the way', () => {
  const source = wasmSource('m', new Uint8Array([0, 0x61, 0x0a, 0xff]));
  expect(source).toEqual(new Uint8Array([...new TextEncoder().encode('#!wasm name=m\n'), 0, 0x61, 0x0a, 0xff]));
  expect(moduleSize(source)).toBe(4);
});
