import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { startWith } from '../resp/codec.ts';
import type { Reply } from '../resp/reply.ts';
import { typedBytes } from './typed-bytes.ts';
import { lettersOf, settingOf } from './events.ts';
import { prettyJson } from './json.ts';
import { parsePush } from './message.ts';

beforeAll(() => startWith(readFileSync(new URL('../../pkg/console_bg.wasm', import.meta.url))));

const utf8 = (text: string) => new TextEncoder().encode(text);
const bulk = (value: string | Uint8Array): Reply => ({
  type: 'bulk',
  bytes: typeof value === 'string' ? utf8(value) : value,
});

test('messages keep the bytes of channel and payload', () => {
  const payload = Uint8Array.of(0, 255);
  expect(parsePush([bulk('message'), bulk('c'), bulk(payload)])).toEqual({
    type: 'message',
    kind: 'channel',
    channel: utf8('c'),
    pattern: null,
    payload,
  });
  expect(parsePush([bulk('pmessage'), bulk('c*'), bulk('cat'), bulk('x')])).toMatchObject({
    kind: 'pattern',
    pattern: utf8('c*'),
    channel: utf8('cat'),
    payload: utf8('x'),
  });
  expect(parsePush([bulk('smessage'), bulk('c'), bulk('x')])).toMatchObject({ kind: 'shard' });
});

test('acknowledgements and other pushes are not messages', () => {
  const count: Reply = { type: 'integer', value: 2n };
  expect(parsePush([bulk('psubscribe'), bulk('c*'), count])).toEqual({
    type: 'subscribed',
    kind: 'pattern',
    name: utf8('c*'),
    count: 2,
  });
  expect(parsePush([bulk('unsubscribe'), { type: 'null' }, count])).toMatchObject({ type: 'unsubscribed' });
  expect(parsePush([bulk('invalidate'), { type: 'null' }])).toBeNull();
  expect(parsePush([])).toBeNull();
});

test('JSON keeps its digits and its doubled names', () => {
  const json = '{"a":12345678901234567890,"a":[1.50,{},[]],"b\\"{":"x, y: []"}';
  expect(prettyJson(utf8(json))).toBe(
    '{\n  "a": 12345678901234567890,\n  "a": [\n    1.50,\n    {},\n    []\n  ],\n  "b\\"{": "x, y: []"\n}',
  );
});

test('a payload that is not JSON, too deep or too long is not formatted', () => {
  const others = [
    '',
    'x',
    '1',
    '"a"',
    '{',
    '{"a":}',
    '['.repeat(65) + ']'.repeat(65),
    `["${'x'.repeat(1 << 20)}"]`,
  ];
  expect(others.map((text) => prettyJson(utf8(text)))).toEqual(others.map(() => null));
  expect(prettyJson(Uint8Array.of(0x5b, 0x22, 0xff, 0x22, 0x5d))).toBeNull();
});

test('text is sent unchanged, quoted text has escapes', () => {
  expect(typedBytes('a "b" \\n')).toEqual(utf8('a "b" \\n'));
  expect(typedBytes('"a\\x00\\xFF\\n\\"é🐎\\q\\\\"')).toEqual(
    Uint8Array.of(97, 0, 255, 10, 34, 0xc3, 0xa9, 0xf0, 0x9f, 0x90, 0x8e, 113, 92),
  );
  expect(typedBytes('')).toEqual(new Uint8Array());
});

test('quotes must be closed at the end', () => {
  expect(['"a', '"a" b', '"a" "b"', '"a" ', '"', '"a\\', '"\\"'].filter((text) => typedBytes(text) !== null)).toEqual([]);
});

test('the letters of events go into the setting and back', () => {
  expect(settingOf(lettersOf('KEA'))).toBe('KEA');
  expect(settingOf(lettersOf('xE'))).toBe('Ex');
  expect(settingOf(lettersOf('AKEmn'))).toBe('KEAmn');
  expect(settingOf(lettersOf(''))).toBe('');
});

test('events that are published nowhere, or places without events, are off', () => {
  expect(settingOf(lettersOf('A'))).toBe('');
  expect(settingOf(lettersOf('KE'))).toBe('');
});
