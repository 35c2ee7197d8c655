import { expect, test } from 'vitest';
import { clipped, parseLine } from './line.ts';

test('a line is time, database, client and words', () => {
  expect(parseLine('1700000000.123456 [3 127.0.0.1:50000] "set" "key" "a value"')).toEqual({
    atMs: 1_700_000_000_123.456,
    db: 3,
    client: '127.0.0.1:50000',
    command: 'set',
    args: ['key', 'a value'],
  });
});

test('escapes stay as they are, and escaped quotes end no word', () => {
  const line = String.raw`1.000001 [0 [::1]:5] "SET" "a \"b\" \\" "\x00\xff\n" ""`;
  expect(parseLine(line)).toMatchObject({
    client: '[::1]:5',
    args: [String.raw`a \"b\" \\`, String.raw`\x00\xff\n`, ''],
  });
});

test('clients may be scripts and paths', () => {
  expect(parseLine('1.0 [0 lua] "get" "x"')?.client).toBe('lua');
  expect(parseLine('1.0 [0 unix:/tmp/a [b].sock] "get" "x"')?.client).toBe('unix:/tmp/a [b].sock');
});

test('an argument that looks like the head of a line is an argument', () => {
  const line = '1.5 [0 127.0.0.1:1] "echo" "2.5 [1 9.9.9.9:9] "';
  expect(parseLine(line)).toMatchObject({ db: 0, client: '127.0.0.1:1', args: ['2.5 [1 9.9.9.9:9] '] });
});

test('a line that is not one of MONITOR is refused', () => {
  const others = [
    '',
    'OK',
    '1.0 [0 x]',
    '1.0 [0 x] "open',
    String.raw`1.0 [0 x] "open\"`,
    '1.0 [0 x] "a" b',
    '"a"',
  ];
  expect(others.map(parseLine)).toEqual(others.map(() => null));
});

test('a line cut inside an escape is still a line', () => {
  const head = '1.0 [0 127.0.0.1:1] "set" "key" "';
  for (const escape of [String.raw`\x00`, String.raw`\\`, String.raw`\"`, 'é']) {
    // Beginning at different places puts the cut on every character of an escape.
    for (const start of ['', 'a', 'aa', 'aaa']) {
      const cut = parseLine(clipped(`${head}${start}${escape.repeat(20_000)}"`));
      expect(cut?.args[0]).toBe('key');
      expect(cut?.args[1]?.length).toBeLessThan(17_000);
      expect(cut?.args[1]?.endsWith('…')).toBe(true);
    }
  }
  expect(clipped(`${head}x"`)).toBe(`${head}x"`);
});
