import { describe, expect, it } from 'vitest';
import { beginning, hexDump, printable, quoteBytes, quoteText, showBytes, showSize } from './bytes.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

describe('bytes as text', () => {
  it('are themselves if they are printable UTF-8', () => {
    expect(showBytes(bytes('größer 👩‍💻 <b>'))).toBe('größer 👩‍💻 <b>');
    expect(showBytes(bytes(''))).toBe('');
  });

  it('are escaped as by redis-cli if they are not', () => {
    expect(showBytes(new Uint8Array([0xff, 0x41, 0x0a, 0x22]))).toBe('"\\xffA\\n\\""');
    expect(showBytes(bytes('a\nb'))).toBe('"a\\nb"');
    expect(quoteBytes(bytes('é'))).toBe('"\\xc3\\xa9"');
  });

  it('that reorder or hide text are escaped: a name must not look like another', () => {
    expect(showBytes(bytes('user\u202egnp.exe'))).toContain('\\xe2\\x80\\xae');
    expect(showBytes(bytes('a\u200bb'))).toContain('\\xe2\\x80\\x8b');
    expect(quoteText(bytes('ü\u202e'))).toBe('"ü\\xe2\\x80\\xae"');
  });

  it('keep their lines where lines are shown', () => {
    expect(printable(bytes('a\n\tb'))).toBeUndefined();
    expect(printable(bytes('a\n\tb'), true)).toBe('a\n\tb');
    expect(printable(bytes('a\u0007b'), true)).toBeUndefined();
  });
});

it('the beginning of a text ends with a whole character', () => {
  expect(new TextDecoder().decode(beginning(bytes('aé'), 2))).toBe('a');
  expect(new TextDecoder().decode(beginning(bytes('a👩'), 4))).toBe('a');
  expect(beginning(bytes('aé'), 3)).toEqual(bytes('aé'));
});

it('the beginning of bytes that are not text is cut at the limit', () => {
  expect(beginning(new Uint8Array(7).fill(0x80), 6).length).toBe(6);
});

it('sizes have three digits', () => {
  expect([0, 999, 1000, 1536, 99_950, 999_499, 999_500, 2.5e9].map(showSize)).toEqual([
    '0 B', '999 B', '1 kB', '1.54 kB', '100 kB', '999 kB', '1 MB', '2.5 GB',
  ]);
});

it('hex dumps have sixteen bytes a line', () => {
  const dump = hexDump(bytes('0123456789abcdefXY\n'));
  expect(dump.split('\n')).toEqual([
    '00000000  30 31 32 33 34 35 36 37  38 39 61 62 63 64 65 66  0123456789abcdef',
    '00000010  58 59 0a                                          XY.',
  ]);
  expect(hexDump(bytes('0123456789abcdefXY'), 16, 1)).toMatch(/^00000010 {2}58 59 /);
});
