import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { commands, Decoder, encode, encodeAll, splitInput, startWith } from './codec.ts';
import type { Reply } from './reply.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const text = (data: Uint8Array) => new TextDecoder().decode(data);

beforeAll(() => startWith(readFileSync(new URL('../../pkg/console_bg.wasm', import.meta.url))));

describe('requests', () => {
  it('are written as RESP, texts as UTF-8 and bytes unchanged', () => {
    expect(text(encode(['SET', 'ä', bytes('x\r\n')]))).toBe('*3\r\n$3\r\nSET\r\n$2\r\nä\r\n$3\r\nx\r\n\r\n');
    expect(encode(['a', new Uint8Array([0, 255])]).subarray(-4)).toEqual(new Uint8Array([0, 255, 13, 10]));
  });

  it('follow one another in a pipeline', () => {
    expect(text(encodeAll([['PING'], ['GET', 'a']]))).toBe('*1\r\n$4\r\nPING\r\n*2\r\n$3\r\nGET\r\n$1\r\na\r\n');
  });

  it('refuse an argument that is neither text nor bytes', () => {
    expect(() => encode(['SET', 5 as unknown as string])).toThrow('neither a text nor bytes');
  });
});

describe('replies', () => {
  const wire =
    '+OK\r\n-ERR no\r\n:-9223372036854775808\r\n$3\r\na\r\n\r\n_\r\n,1.5\r\n,inf\r\n#t\r\n(12345678901234567890123\r\n' +
    '=7\r\ntxt:abc\r\n!5\r\nERR x\r\n*2\r\n:1\r\n~1\r\n$-1\r\n%1\r\n$1\r\nk\r\n*0\r\n>1\r\n+message\r\n';
  const expected: Reply[] = [
    { type: 'simple', text: 'OK' },
    { type: 'error', text: 'ERR no' },
    { type: 'integer', value: -9223372036854775808n },
    { type: 'bulk', bytes: bytes('a\r\n') },
    { type: 'null' },
    { type: 'double', text: '1.5' },
    { type: 'double', text: 'inf' },
    { type: 'boolean', value: true },
    { type: 'big', text: '12345678901234567890123' },
    { type: 'verbatim', format: 'txt', bytes: bytes('abc') },
    { type: 'error', text: 'ERR x' },
    { type: 'array', items: [{ type: 'integer', value: 1n }, { type: 'set', items: [{ type: 'null' }] }] },
    { type: 'map', pairs: [[{ type: 'bulk', bytes: bytes('k') }, { type: 'array', items: [] }]] },
    { type: 'push', items: [{ type: 'simple', text: 'message' }] },
  ];

  it('keep their types, in whatever pieces the bytes come', () => {
    for (const size of [1, 2, 7, wire.length]) {
      const decoder = new Decoder();
      const replies: Reply[] = [];
      for (let at = 0; at < wire.length; at += size) replies.push(...decoder.push(bytes(wire.slice(at, at + size))));
      expect(replies, `pieces of ${size}`).toEqual(expected);
    }
  });

  it('that are not RESP are an error', () => {
    expect(() => [...new Decoder().push(bytes('HTTP/1.1 400\r\n'))]).toThrow();
  });

  it('own their bytes: later ones do not overwrite them', () => {
    const decoder = new Decoder();
    const [first] = [...decoder.push(bytes('$3\r\nabc\r\n'))];
    for (let round = 0; round < 100; round += 1) [...decoder.push(bytes(`$100000\r\n${'x'.repeat(100_000)}\r\n`))];
    expect(first).toEqual({ type: 'bulk', bytes: bytes('abc') });
  });
});

describe('input', () => {
  it('is split into commands and words', () => {
    const split = splitInput('SET a "x\\x00y"\nGET a');
    expect(split?.map((words) => words.map((word) => text(word)))).toEqual([['SET', 'a', 'x\0y'], ['GET', 'a']]);
  });

  it('with an open quote is not a command', () => {
    expect(splitInput('SET a "x')).toBeUndefined();
  });
});

it('the table of commands is there', () => {
  const names = commands().map((command) => command.name);
  expect(names).toContain('GET');
  expect(names).toContain('CLIENT LIST');
  expect(commands().find((command) => command.name === 'GETDEL')).toMatchObject({ group: 'string', since: '6.2.0', syntax: 'key' });
});
