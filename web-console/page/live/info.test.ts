import { expect, test } from 'vitest';
import { databases, fact, fields, figure, parseInfo } from './info.ts';

const TEXT =
  '# Server\r\nredis_version:7.2.4\r\nexecutable:/a:b\r\n\r\n# CPU\r\nused_cpu_sys:0.25\r\n' +
  '# Keyspace\r\ndb10:keys=3,expires=1,avg_ttl=250\r\ndb2:keys=7,expires=0\r\n';

test('facts are found by name in whatever section, with colons in their values', () => {
  const info = parseInfo(TEXT);
  expect([...info.keys()]).toEqual(['server', 'cpu', 'keyspace']);
  expect(fact(info, 'executable')).toBe('/a:b');
  expect(figure(info, 'used_cpu_sys')).toBe(0.25);
});

test('what is not told or no number is nothing, not zero', () => {
  const info = parseInfo('# X\r\nempty:\r\nword:yes\r\n');
  expect(figure(info, 'missing')).toBeNull();
  expect(figure(info, 'empty')).toBeNull();
  expect(figure(info, 'word')).toBeNull();
});

test('databases come by number, and a field that is missing is zero', () => {
  expect(databases(parseInfo(TEXT))).toEqual([
    { db: 2, keys: 7, expires: 0, averageTtlMs: 0 },
    { db: 10, keys: 3, expires: 1, averageTtlMs: 250 },
  ]);
});

test('a text that is no INFO has no facts', () => {
  expect(databases(parseInfo('<script>alert(1)</script>\n:\n#\n'))).toEqual([]);
  expect(fields('=1,a=,b=x,c=2').size).toBe(1);
});
