import { expect, test } from 'vitest';
import { parseInfo } from './info.ts';
import { pointBetween, reading } from './reading.ts';
import { hasProcess, isTimed, sleepsWhenIdle } from './unknown.ts';

const EDGE = parseInfo(
  '# Server\nmonotonic_clock:none\nprocess_id:0\nsleeps_when_idle:1\nserver_time_usec:2000000\n# CPU\nused_cpu_sys:0\nused_cpu_user:0\n',
);
const PROCESS = parseInfo('# Server\nmonotonic_clock:POSIX clock_gettime\nprocess_id:42\nserver_time_usec:2000000\n');

test('zeros of a server that cannot measure are not shown as figures', () => {
  expect([isTimed(EDGE), hasProcess(EDGE), sleepsWhenIdle(EDGE)]).toEqual([false, false, true]);
  expect([isTimed(PROCESS), hasProcess(PROCESS), sleepsWhenIdle(PROCESS)]).toEqual([true, true, false]);
  const before = parseInfo('# Server\nprocess_id:0\nserver_time_usec:1000000\n# CPU\nused_cpu_sys:0\nused_cpu_user:0\n');
  const histograms = (calls: number) => new Map([['get', new Map([[1, calls]])]]);
  const point = pointBetween(reading(1000, before, histograms(1)), reading(2000, EDGE, histograms(5)));
  expect([point.cpuUser, point.cpuSystem, point.p50, point.p99]).toEqual([null, null, null, null]);
});
