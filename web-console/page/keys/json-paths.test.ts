import { expect, test } from 'vitest';
import { isNarrow, isOldForm, memberPath, onlyMatch, pathOf, slicePath, typesText } from './json-paths.ts';

test('an empty path is the whole document', () => {
  expect(['', ' ', '.', '$', ' $.a '].map(pathOf)).toEqual(['$', '$', '$', '$', '$.a']);
  expect(['$', '.a', 'a', '["$"]'].map(isOldForm)).toEqual([false, true, true, true]);
});

test('only a path of the older form that can find several values is wide', () => {
  expect(['.a.b', 'a[0]', '["a b"][-1]', '.a-b'].map(isNarrow)).toEqual([true, true, true, true]);
  expect(['..a', '.*', '.a[*]', '.a[0:2]', '.a[?(@.b>1)]', '["a","b"]'].map(isNarrow)).toEqual([false, false, false, false, false, false]);
});

test('a name that is no word is quoted', () => {
  expect(memberPath('$', 'price')).toBe('$.price');
  expect(memberPath('$.a[0]', 'two words')).toBe('$.a[0]["two words"]');
  expect(memberPath('$', '"\\\n')).toBe('$["\\"\\\\\\n"]');
  expect(memberPath('.a', '7')).toBe('.a["7"]');
  expect(slicePath('$.a', 0, 100)).toBe('$.a[0:100]');
  expect(slicePath('$.a', -100, 100)).toBe('$.a[-100:]');
});

test('the only match keeps every character', () => {
  expect(onlyMatch('[\n  {\n    "id": 9007199254740993,\n    "price": 1.10e-400,\n    "text": "[\\n  ]"\n  }\n]')).toBe(
    '{\n  "id": 9007199254740993,\n  "price": 1.10e-400,\n  "text": "[\\n  ]"\n}',
  );
  expect(onlyMatch('[\n  []\n]')).toBe('[]');
  expect(onlyMatch('[]')).toBeUndefined();
  expect(onlyMatch('[1]')).toBeUndefined();
  expect(onlyMatch('[\n1\n]')).toBeUndefined();
});

test('types are counted', () => {
  expect(typesText([])).toBe('');
  expect(typesText(['object'])).toBe('object');
  expect(typesText(['string', 'object', 'string'])).toBe('2 strings, object');
});
