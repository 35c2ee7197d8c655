import { expect, test } from 'vitest';
import { commandCounters, commandRates } from './commands.ts';
import { History, POINTS_MAX } from './history.ts';
import { parseInfo } from './info.ts';
import { growth, rate, share } from './rates.ts';
import { reading } from './reading.ts';

function at(second: number, facts: Record<string, number | string>) {
  const lines = Object.entries({ run_id: 'a', ...facts }).map(([name, value]) => `${name}:${value}`);
  return reading(second * 1000, parseInfo(`# All\n${lines.join('\n')}`), null);
}

test('a counter that goes backwards gives no rate', () => {
  expect(rate(10, 30, 2)).toBe(10);
  expect(rate(30, 10, 2)).toBeNull();
  expect(rate(null, 10, 2)).toBeNull();
  expect(rate(10, 30, 0)).toBeNull();
  expect(growth(5, 5)).toBe(0);
});

test('the ratio of hits is nothing while nothing is looked up', () => {
  expect(share(0, 0)).toBeNull();
  expect(share(3, 1)).toBe(0.75);
  expect(share(null, 1)).toBeNull();
});

test('rates begin with the second reading, levels with the first', () => {
  const history = new History();
  history.add(at(1, { total_commands_processed: 100, used_memory: 5 }), 1000);
  history.add(at(2, { total_commands_processed: 350, used_memory: 6 }), 1000);
  expect(history.columns(['operations', 'memory'])).toEqual([
    [1, 2],
    [null, 250],
    [5, 6],
  ]);
});

test('the server\'s clock measures the interval', () => {
  const history = new History();
  history.add(at(1, { total_commands_processed: 0, server_time_usec: 1_000_000 }), 1000);
  history.add(at(2, { total_commands_processed: 100, server_time_usec: 3_000_000 }), 1000);
  expect(history.last()?.operations).toBe(50);
});

test('after a restart the lines have a gap and no rate across it', () => {
  const history = new History();
  history.add(at(1, { total_commands_processed: 100 }), 1000);
  history.add(at(2, { total_commands_processed: 5000, run_id: 'b' }), 1000);
  expect(history.columns(['operations'])).toEqual([
    [1, 1.999, 2],
    [null, null, null],
  ]);
  history.add(at(3, { total_commands_processed: 5010, run_id: 'b' }), 1000);
  expect(history.last()?.operations).toBe(10);
});

test('a long pause is a gap, not an average', () => {
  const history = new History();
  history.add(at(1, { total_commands_processed: 100, used_memory: 5 }), 1000);
  history.add(at(61, { total_commands_processed: 6100, used_memory: 6 }), 1000);
  expect(history.columns(['operations', 'memory'])[2]).toEqual([5, null, 6]);
  expect(history.last()?.operations).toBeNull();
});

test('counters set back without a restart give a gap of one interval', () => {
  const history = new History();
  history.add(at(1, { total_commands_processed: 100 }), 1000);
  history.add(at(2, { total_commands_processed: 3 }), 1000);
  expect(history.last()?.operations).toBeNull();
});

test('the history keeps a bounded number of points', () => {
  const history = new History();
  for (let second = 0; second < POINTS_MAX + 500; second += 1)
    history.add(at(second, { used_memory: 1 }), 1000);
  expect(history.length).toBe(POINTS_MAX);
  expect(history.columns(['memory'])[0][0]).toBe(500);
});

test('live bytes are all but the dead ones, and null if the server reports none', () => {
  const history = new History();
  history.add(at(1, { datafile_bytes: 100, datafile_dead_bytes: 30 }), 1000);
  expect(history.last()).toMatchObject({ liveBytes: 70, deadBytes: 30 });
  history.add(at(2, {}), 1000);
  expect(history.last()).toMatchObject({ liveBytes: null, deadBytes: null });
});

const stats = (...lines: string[]) => commandCounters(parseInfo(`# Commandstats\n${lines.join('\n')}`));

test('commands are ordered by what they do now', () => {
  const before = stats('cmdstat_get:calls=1000,usec=500', 'cmdstat_config|get:calls=2,usec=60');
  const now = stats(
    'cmdstat_get:calls=1010,usec=530,usec_per_call=0.5,rejected_calls=1,failed_calls=2',
    'cmdstat_config|get:calls=2,usec=60',
    'cmdstat_set:calls=20,usec=30',
  );
  const rows = commandRates(before, now, 2);
  expect(rows.map(({ name, perSecond, eachUs }) => [name, perSecond, eachUs])).toEqual([
    ['set', 10, 1.5],
    ['get', 5, 3],
    ['config|get', 0, 30],
  ]);
  expect(rows[1]).toMatchObject({ calls: 1010, rejected: 1, failed: 2, share: 0.5, roundsEach: null, retries: null });
});

test('what a command asks of a cluster is lost', () => {
  const rows = commandRates(null, stats('cmdstat_incr:calls=10,usec=5,cluster_rounds=25,cluster_retries=3'), 1);
  expect(rows).toMatchObject([{ roundsEach: 2.5, retries: 3 }]);
});

test('commands that were counted from anew have no rate and no share', () => {
  const rows = commandRates(stats('cmdstat_get:calls=1000,usec=500'), stats('cmdstat_get:calls=3,usec=6'), 1);
  expect(rows).toMatchObject([{ perSecond: 0, eachUs: 2, share: 0 }]);
  expect(commandRates(null, stats('cmdstat_get:calls=3,usec=6'), 0)).toMatchObject([
    { perSecond: 0, eachUs: 2 },
  ]);
});
