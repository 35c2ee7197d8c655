import { expect, test } from 'vitest';
import { diskFigures, diskUse, isReadOnly, mergeProgress } from './disk.ts';
import { parseInfo } from './info.ts';

test('figures of the disk that the server does not report are not shown', () => {
  expect(diskFigures(parseInfo('# Server\na:1\n'))).toEqual([]);
  expect(diskUse(parseInfo('# Persistence\ndatafile_bytes:5\n'))).toBeNull();
});

test('figures of the store without a label show under their own names', () => {
  const info = parseInfo(
    '# Persistence\ndatafiles:2\ndatafile_bytes:2048\ndatafile_dead_bytes:1024\n' +
      '# Bitcask\ndatafiles:2\nmerge_copied_bytes:1024\nkeydir_garbage:1\nmerge_state:<b>idle</b>\n',
  );
  expect(diskUse(info)).toEqual({ live: 1024, dead: 1024 });
  expect(diskFigures(info)).toEqual([
    { label: 'Datafiles', value: '2' },
    { label: 'In datafiles', value: '2.05 kB' },
    { label: 'Dead', value: '1.02 kB' },
    { label: 'Merge copied', value: '1.02 kB' },
    { label: 'Keydir garbage', value: '1' },
    { label: 'Merge state', value: '<b>idle</b>' },
  ]);
});

test('a running merge has its progress', () => {
  const bitcask = (...lines: string[]) => parseInfo(`# Bitcask\n${lines.join('\n')}\n`);
  const merging = bitcask('merge_in_progress:1', 'merge_input_bytes:200', 'merge_read_bytes:50');
  expect(mergeProgress(merging)).toEqual({ read: 50, all: 200 });
  expect(diskFigures(merging)).toEqual([]);
  expect(
    mergeProgress(bitcask('merge_in_progress:0', 'merge_input_bytes:0', 'merge_read_bytes:0')),
  ).toBeNull();
  expect(mergeProgress(bitcask('merge_in_progress:1'))).toBeNull();
  expect([isReadOnly(bitcask('log_read_only:1')), isReadOnly(bitcask('log_read_only:0'))]).toEqual([
    true,
    false,
  ]);
});
