import { expect, it } from 'vitest';
import type { Reply } from '../resp/reply.ts';
import { copyOf, lines, plainText } from './lines.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const bulk = (text: string): Reply => ({ type: 'bulk', bytes: bytes(text) });
const integer = (value: number): Reply => ({ type: 'integer', value: BigInt(value) });
const array = (...items: Reply[]): Reply => ({ type: 'array', items });

function check(reply: Reply, expected: string[]): void {
  // In a list, so that a string is not copied bare.
  const shown = copyOf(reply.type === 'array' || reply.type === 'map' || reply.type === 'set' ? reply : array(reply)).split('\n');
  expect(shown).toEqual(expected);
}

it('types are marked as by redis-cli', () => {
  check(integer(5), ['1) (integer) 5']);
  check({ type: 'double', text: '1.5' }, ['1) (double) 1.5']);
  check({ type: 'boolean', value: true }, ['1) (boolean) true']);
  check({ type: 'null' }, ['1) (nil)']);
  check({ type: 'big', text: '123' }, ['1) (big number) 123']);
  check({ type: 'error', text: 'ERR \u001b[31m' }, ['1) (error) ERR \\x1b[31m']);
  check(array(), ['(empty array)']);
  check({ type: 'map', pairs: [] }, ['(empty map)']);
  check({ type: 'set', items: [bulk('a'), bulk('b')] }, ['1~ "a"', '2~ "b"']);
});

it('nested replies are indented below their numbers', () => {
  check(array(array(bulk('a'), bulk('b')), integer(1)), ['1) 1) "a"', '   2) "b"', '2) (integer) 1']);
  check({ type: 'map', pairs: [[bulk('k'), integer(1)], [bulk('l'), array(bulk('x'), array(bulk('y')))]] }, [
    '1# "k" => (integer) 1', '2# "l" =>', '   1) "x"', '   2) 1) "y"',
  ]);
  const ten = Array.from({ length: 10 }, (_, at) => integer(at));
  expect(copyOf(array(...ten)).split('\n')[0]).toBe(' 1) (integer) 0');
});

it('lines are made on demand only', () => {
  let made = 0;
  const items = new Proxy([] as Reply[], {
    get: (target, name, receiver) => {
      if (name === 'length') return 1_000_000;
      if (typeof name === 'string' && /^\d+$/.test(name)) {
        made += 1;
        return integer(1);
      }
      return Reflect.get(target, name, receiver) as unknown;
    },
  });
  const generator = lines({ type: 'array', items });
  for (let at = 0; at < 3; at += 1) generator.next();
  expect(made).toBe(3);
});

it('a single string is copied without quotes, a binary one with escapes', () => {
  expect(copyOf(bulk('a "b"\n'))).toBe('a "b"\n');
  expect(copyOf({ type: 'bulk', bytes: new Uint8Array([255, 65]) })).toBe('"\\xffA"');
});

it('text keeps its lines, and control characters are escaped', () => {
  expect(plainText(bytes('a\r\nb\u001b[2J\u202e'))).toBe('a\nb\\x1b[2J\\xe2\\x80\\xae');
});
