import { expect, test } from 'vitest';
import { diskFacts, diskUse, isReadOnly, mergeProgress } from './disk.ts';
import * as format from './format.ts';
import { parseInfo } from './info.ts';

test('figures are short and have their unit', () => {
  expect([0, 998.4, 1536, 5e9, null].map(format.bytes)).toEqual(['0 B', '998 B', '1.54 kB', '5 GB', '–']);
  expect([0, 0.25, 7, 12_345, 1_234_567].map(format.count)).toEqual(['0', '0.3', '7', '12,345', '1.23 M']);
  expect([0, 0.27, 12.5, 3100, 2.4e6].map(format.micros)).toEqual([
    '0 µs',
    '270 ns',
    '12.5 µs',
    '3.10 ms',
    '2.40 s',
  ]);
  expect([null, 0, 0.985, 1].map(format.percent)).toEqual(['–', '0 %', '98.5 %', '100 %']);
  expect([0, 59, 3600, 93_784].map(format.duration)).toEqual(['0 s', '59 s', '1 h', '1 d 2 h']);
});

test('facts of the disk that are not told are not shown', () => {
  expect(diskFacts(parseInfo('# Server\na:1\n'))).toEqual([]);
  expect(diskUse(parseInfo('# Persistence\ndatafile_bytes:5\n'))).toBeNull();
});

test('facts of the store that nobody has named yet show under their own names', () => {
  const info = parseInfo(
    '# Persistence\ndatafiles:2\ndatafile_bytes:2048\ndatafile_dead_bytes:1024\n' +
      '# Bitcask\ndatafiles:2\nmerge_copied_bytes:1024\nkeydir_garbage:1\nmerge_state:<b>idle</b>\n',
  );
  expect(diskUse(info)).toEqual({ live: 1024, dead: 1024 });
  expect(diskFacts(info)).toEqual([
    { label: 'Datafiles', value: '2' },
    { label: 'In datafiles', value: '2.05 kB' },
    { label: 'Dead', value: '1.02 kB' },
    { label: 'Merge copied', value: '1.02 kB' },
    { label: 'Keydir garbage', value: '1' },
    { label: 'Merge state', value: '<b>idle</b>' },
  ]);
});

test('a merge under way tells how far it is', () => {
  const bitcask = (...facts: string[]) => parseInfo(`# Bitcask\n${facts.join('\n')}\n`);
  const merging = bitcask('merge_in_progress:1', 'merge_input_bytes:200', 'merge_read_bytes:50');
  expect(mergeProgress(merging)).toEqual({ read: 50, all: 200 });
  expect(diskFacts(merging)).toEqual([]);
  expect(
    mergeProgress(bitcask('merge_in_progress:0', 'merge_input_bytes:0', 'merge_read_bytes:0')),
  ).toBeNull();
  expect(mergeProgress(bitcask('merge_in_progress:1'))).toBeNull();
  expect([isReadOnly(bitcask('log_read_only:1')), isReadOnly(bitcask('log_read_only:0'))]).toEqual([
    true,
    false,
  ]);
});
