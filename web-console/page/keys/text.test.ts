import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { showBytes } from '../parts/bytes.ts';
import { startWith, unescaped } from '../resp/codec.ts';
import { hashOf, selectedBy } from './address.ts';
import { durationInput, durationOf, durationText } from './durations.ts';
import { escaped, plainText, shownStart } from './escapes.ts';
import { hexBytes, hexLine, hexLines, hexText } from './hexadecimal.ts';
import { imageType } from './image.ts';
import { checkJson, compactJson, looksLikeJson, prettyJson } from '../parts/json.ts';
import { bytesOf, nameOf, nameOfText, sameBytes } from './names.ts';
import { filterPattern, prefixPattern } from './pattern.ts';
import { isScore } from './scores.ts';
import { countOf } from './sizes.ts';
import { timeOfId } from './stream-ids.ts';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const all = Uint8Array.from({ length: 256 }, (_, value) => value);

beforeAll(() => startWith(readFileSync(new URL('../../pkg/console_bg.wasm', import.meta.url))));

describe('names', () => {
  test('every byte survives, also in a long name', () => {
    expect(bytesOf(nameOf(all))).toEqual(all);
    const long = new Uint8Array(100_000).fill(0xe9);
    expect(sameBytes(bytesOf(nameOf(long)), long)).toBe(true);
  });
});

describe('escapes', () => {
  test('every byte is typed back as it was', () => {
    expect(unescaped(escaped(all))).toEqual(all);
    for (let first = 0; first < 256; first += 1) {
      for (const second of [0x00, 0x22, 0x5c, 0x7f, 0x80, 0xbf, 0xc3, 0xff]) {
        const bytes = Uint8Array.of(first, second, 0x61);
        expect(unescaped(escaped(bytes))).toEqual(bytes);
      }
    }
  });

  test('valid UTF-8 stays readable, all else does not', () => {
    expect(escaped(utf8('Grüße 🙂 \\ "x"\n'))).toBe('Grüße 🙂 \\\\ \\"x\\"\\n');
    expect(escaped(Uint8Array.of(0xc3, 0xbc, 0xff))).toBe('\\xc3\\xbc\\xff');
    expect(escaped(Uint8Array.of(0xed, 0xa0, 0x80))).toBe('\\xed\\xa0\\x80');
    expect(escaped(Uint8Array.of(0xc0, 0x80))).toBe('\\xc0\\x80');
    expect(escaped(Uint8Array.of(0xf0, 0x9f, 0x99))).toBe('\\xf0\\x9f\\x99');
  });

  test('marks of writing direction cannot disguise a name', () => {
    expect(showBytes(utf8('abc\u202egnp.exe'))).toBe('"abc\\xe2\\x80\\xaegnp.exe"');
  });

  test('mistakes are named', () => {
    expect(() => unescaped('a\\')).toThrow('backslash at the end');
    expect(() => unescaped('a\\xg1')).toThrow('\\x at character 2 needs two hexadecimal digits');
    expect(unescaped('\\q\\\\x41')).toEqual(utf8('q\\x41'));
  });

  test('text that an input field would change is not plain text', () => {
    expect(plainText(utf8('two\nlines\tand tabs'))).toBe('two\nlines\tand tabs');
    expect(plainText(utf8('a\r\nb'))).toBeUndefined();
    expect(plainText(utf8('\ufeffa'))).toBeUndefined();
    expect(plainText(Uint8Array.of(0xff))).toBeUndefined();
  });

  test('the start of a long value is cut between characters', () => {
    expect(shownStart(utf8('ü'.repeat(200)), 301)).toBe(`${'ü'.repeat(150)}…`);
    expect(shownStart(utf8('short'))).toBe('short');
  });
});

describe('hexadecimal', () => {
  test('lines of sixteen', () => {
    expect(hexLines(17)).toBe(2);
    expect(hexLine(utf8('0123456789abcdefX'), 0, 16)).toEqual({
      offset: '00000010',
      digits: '30 31 32 33 34 35 36 37  38 39 61 62 63 64 65 66',
      characters: '0123456789abcdef',
    });
    expect(hexLine(Uint8Array.of(0, 65), 0).characters).toBe('·A');
    expect(hexLine(Uint8Array.of(1), 0).digits.length).toBe(hexLine(all, 3).digits.length);
  });

  test('digits are read back as the same bytes', () => {
    expect(hexBytes(hexText(all))).toEqual(all);
    expect(hexBytes('')).toEqual(new Uint8Array(0));
    expect(() => hexBytes('0g')).toThrow('not a hexadecimal digit (byte 1)');
    expect(() => hexBytes('012')).toThrow('one digit only');
  });
});

describe('images', () => {
  test('known beginnings only', () => {
    expect(imageType(Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a))).toBe('image/png');
    expect(imageType(Uint8Array.of(0xff, 0xd8, 0xff, 0xe0))).toBe('image/jpeg');
    expect(imageType(utf8('GIF89a...'))).toBe('image/gif');
    expect(imageType(utf8('RIFF....WEBPVP8 '))).toBe('image/webp');
    for (const text of [
      '<svg xmlns="http://www.w3.org/2000/svg"/>',
      'BMW is a car',
      'RIFF....WAVE',
      '',
      'GIF',
    ]) {
      expect(imageType(utf8(text))).toBeUndefined();
    }
  });
});

describe('JSON', () => {
  test('numbers stay as they were written', () => {
    const text = '{"id":9007199254740993,"price":1.10,"list":[1,[],{}],"quote":"a\\"{[,:"}';
    const pretty = prettyJson(text);
    expect(pretty).toBe(
      [
        '{',
        '  "id": 9007199254740993,',
        '  "price": 1.10,',
        '  "list": [',
        '    1,',
        '    [],',
        '    {}',
        '  ],',
        '  "quote": "a\\"{[,:"',
        '}',
      ].join('\n'),
    );
    expect(compactJson(pretty)).toBe(text);
  });

  test('a deep document is laid out, not refused', () => {
    const deep = '['.repeat(5000) + ']'.repeat(5000);
    expect(compactJson(prettyJson(deep))).toBe(deep);
    const nuisance = '['.repeat(500_000) + ']'.repeat(500_000);
    expect(prettyJson(nuisance)).toBe(nuisance);
  });

  test('mistakes carry their place', () => {
    expect(checkJson('{"a":1}')).toEqual({ valid: true });
    const checked = checkJson('{\n  "a": x\n}');
    expect(checked).toEqual({ valid: false, problem: 'Line 2, column 8: x is no value', line: 2 });
    expect(looksLikeJson(' {"a":1}')).toBe(true);
    expect(looksLikeJson('12')).toBe(false);
    expect(looksLikeJson('{broken')).toBe(false);
  });
});

describe('durations', () => {
  test.each([
    ['90', 90_000],
    ['500ms', 500],
    ['1h 30m', 5_400_000],
    ['2D', 172_800_000],
    ['1w', 604_800_000],
  ])('%s', (text, milliseconds) => expect(durationOf(text, 0)).toBe(milliseconds));

  test('moments and mistakes', () => {
    const now = Date.parse('2030-01-01T00:00:00Z');
    expect(durationOf('2030-01-01T00:01:00Z', now)).toBe(60_000);
    expect(() => durationOf('2029-12-31', now)).toThrow('has passed');
    for (const text of ['', 'soon', '1 fortnight', '-5', '0']) expect(() => durationOf(text, now)).toThrow();
  });

  test('shown by the two largest units', () => {
    expect(durationText(183_600_000)).toBe('2 d 3 h');
    expect(durationText(59_900)).toBe('59 s');
    expect(durationText(86_400_000 + 5000)).toBe('1 d');
    expect(durationText(12)).toBe('12 ms');
    expect(durationOf(durationInput(12_345), 0)).toBe(12_345);
  });
});

describe('patterns and addresses', () => {
  test('plain text matches anywhere', () => {
    expect(filterPattern('')).toBeUndefined();
    expect(filterPattern('user')).toBe('*user*');
    expect(filterPattern('user:*')).toBe('user:*');
  });

  test('a folder whose name has wildcards matches itself only', () => {
    expect(nameOf(prefixPattern(utf8('a*[x]?\\:')))).toBe('a\\*\\[x\\]\\?\\\\:*');
  });

  test('the address keeps every byte', () => {
    const name = nameOf(all);
    expect(selectedBy(hashOf({ kind: 'key', name }))).toEqual({ kind: 'key', name });
    expect(hashOf({ kind: 'folder', name: nameOfText('user:ü') })).toBe('#/keys/folder/user%3A%C3%BC');
    expect(selectedBy('#/keys/key/a:ü')).toEqual({ kind: 'key', name: nameOfText('a:ü') });
    expect(hashOf({ kind: 'key', name: 'x'.repeat(5000) })).toBe('#/keys');
    expect(selectedBy('#/keys')).toBeUndefined();
    expect(selectedBy('#/keys/key/%G1')).toBeUndefined();
    expect(selectedBy('#/keys/key/')).toEqual({ kind: 'key', name: '' });
  });

  test('counts', () => {
    expect(countOf(1, 'key')).toBe('1 key');
    expect(countOf(12_345, 'key')).toBe('12,345 keys');
  });
});

test('scores are numbers as Redis reads them', () => {
  for (const text of ['1', '-2.5', '+.5', '1e10', 'inf', '-Infinity', ' 7 '])
    expect(isScore(text), text).toBe(true);
  for (const text of ['', 'much', '1,5', '0x10', '1e', '--1', 'nan']) expect(isScore(text), text).toBe(false);
});

test('an ID is a time only if it can be one', () => {
  expect(timeOfId('1795307767717-0')?.toISOString()).toBe('2026-11-22T00:36:07.717Z');
  for (const id of ['1-1', '18446744073709551615-0', 'x']) expect(timeOfId(id)).toBeUndefined();
});
