import { expect, test } from 'vitest';
import type { Reply } from '../resp/reply.ts';
import { typedBytes } from './escape.ts';
import { lettersOf, settingOf } from './events.ts';
import { prettyJson } from './json.ts';
import { parsePush } from './message.ts';

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

test('acknowledgements are no messages, and neither are other pushes', () => {
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

test('what is no JSON, too deep or too long is left as it is', () => {
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

test('text is taken as it stands, quoted text has escapes', () => {
  expect(typedBytes('a "b" \\n')).toEqual(utf8('a "b" \\n'));
  expect(typedBytes('"a\\x00\\xFF\\n\\"é🐎\\q\\\\"')).toEqual(
    Uint8Array.of(97, 0, 255, 10, 34, 0xc3, 0xa9, 0xf0, 0x9f, 0x90, 0x8e, 113, 92),
  );
  expect(typedBytes('')).toEqual(new Uint8Array());
});

test('quotes must be closed at the end', () => {
  expect(['"a', '"a" b', '"', '"a\\', '"\\"'].map(typedBytes)).toEqual([null, null, null, null, null]);
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
