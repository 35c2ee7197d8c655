import { expect, test } from 'vitest';
import { checkJson } from './json.ts';
import { faultOf, placeOf } from './json-syntax.ts';

const GOOD = ['0', '-0', '1e5', '-12.50E+3', '""', '"\\u00e9\\n\\/"', 'true', ' [ ] ', '{}', '[1,[],{"a":{"b":null}}]', '"\u2028"', '"\u007f"'];

/** A text, where its first mistake stands, and what the message says of it. */
const BAD: [string, number, string][] = [
  ['', 0, 'a value is missing at the end'],
  ['{', 1, 'a name in double quotes or } is missing at the end'],
  ['[1,]', 3, 'a value is missing'],
  ['[1 2]', 3, 'a comma or ] is missing'],
  ['{"a":1,}', 7, 'a name in double quotes is missing'],
  ['{"a" 1}', 5, 'a colon is missing'],
  ["{'a':1}", 1, 'a name in double quotes or } is missing'],
  ['{"a":1 "b":2}', 7, 'a comma or } is missing'],
  ['[1}', 2, 'a comma or ] is missing'],
  ['{"a":1]', 6, 'a comma or } is missing'],
  ['{"a":]', 5, 'a value is missing'],
  ['01', 0, '01 is no value'],
  ['1.', 0, '1. is no value'],
  ['.5', 0, '.5 is no value'],
  ['+1', 0, '+1 is no value'],
  ['-', 0, '- is no value'],
  ['NaN', 0, 'NaN is no value'],
  ['nul', 0, 'nul is no value'],
  ['1 2', 2, 'the text goes on behind the value'],
  ['"a', 0, 'a string has no end'],
  ['["a\nb"]', 1, 'a string ends with its line: a line feed is written \\n'],
  ['"a\tb"', 2, 'a control character in a string needs an escape'],
  ['"\\x41"', 1, 'no escape begins so'],
  ['"\\u12g4"', 1, 'no escape begins so'],
  ['[1] // why', 4, 'the text goes on behind the value'],
  ['\ufeff1', 0, 'a value is missing'],
  ['[1,\u00a02]', 3, 'a value is missing'],
];

test('a text that JSON.parse takes has no mistake', () => {
  for (const text of GOOD) {
    expect(() => JSON.parse(text)).not.toThrow();
    expect(faultOf(text), text).toBeUndefined();
  }
});

test('the first mistake is found', () => {
  for (const [text, at, problem] of BAD) {
    expect(() => JSON.parse(text)).toThrow();
    expect(faultOf(text), text).toEqual({ at, problem });
  }
});

test('every beginning and every lost character is judged as by JSON.parse', () => {
  const text = '{"a":[1,-2.5e3,true,{"b":"c\\n","d":null}],"e":{}}';
  const variants = Array.from(text, (_, at) => [text.slice(0, at), text.slice(0, at) + text.slice(at + 1), `${text.slice(0, at)}"${text.slice(at)}`]).flat();
  for (const variant of variants) expect(faultOf(variant) === undefined, variant).toBe(parses(variant));
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

test('a place is a line and a column', () => {
  expect(placeOf('{\n  "a": x\n}', 9)).toEqual({ line: 2, column: 8 });
  expect(placeOf('x', 0)).toEqual({ line: 1, column: 1 });
  expect(checkJson('[\n1,\n')).toEqual({ valid: false, problem: 'Line 3, column 1: a value is missing at the end', line: 3 });
});

test('nesting is no danger', () => {
  expect(faultOf('['.repeat(1_000_000))?.at).toBe(1_000_000);
});
