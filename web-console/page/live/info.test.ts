import { expect, test } from 'vitest';
import { databases, infoText, fields, infoNumber, parseInfo } from './info.ts';

const TEXT =
  '# Server\r\nredis_version:7.2.4\r\nexecutable:/a:b\r\n\r\n# CPU\r\nused_cpu_sys:0.25\r\n' +
  '# Keyspace\r\ndb10:keys=3,expires=1,avg_ttl=250\r\ndb2:keys=7,expires=0\r\n';

test('values are found by name in any section, with colons in them', () => {
  const info = parseInfo(TEXT);
  expect([...info.keys()]).toEqual(['server', 'cpu', 'keyspace']);
  expect(infoText(info, 'executable')).toBe('/a:b');
  expect(infoNumber(info, 'used_cpu_sys')).toBe(0.25);
});

test('a missing value or one that is not a number is null, not zero', () => {
  const info = parseInfo('# X\r\nempty:\r\nword:yes\r\n');
  expect(infoNumber(info, 'missing')).toBeNull();
  expect(infoNumber(info, 'empty')).toBeNull();
  expect(infoNumber(info, 'word')).toBeNull();
});

test('databases come by number, and a field that is missing is zero', () => {
  expect(databases(parseInfo(TEXT))).toEqual([
    { db: 2, keys: 7, expires: 0, averageTtlMs: 0 },
    { db: 10, keys: 3, expires: 1, averageTtlMs: 250 },
  ]);
});

test('a text that is not INFO has no values', () => {
  expect(databases(parseInfo('<script>alert(1)</script>\n:\n#\n'))).toEqual([]);
  expect(fields('=1,a=,b=x,c=2').size).toBe(1);
});
