import { expect, test } from 'vitest';
import type { Reply } from '../resp/reply.ts';
import { between, parseHistograms, percentile } from './latency.ts';

const text = (value: string): Reply => ({ type: 'bulk', bytes: new TextEncoder().encode(value) });
const integer = (value: number): Reply => ({ type: 'integer', value: BigInt(value) });
const map = (...pairs: [Reply, Reply][]): Reply => ({ type: 'map', pairs });

/** What LATENCY HISTOGRAM says of commands with calls at most so long: pairs of bound and cumulated calls. */
function histograms(commands: Record<string, [number, number][]>): Reply {
  return map(
    ...Object.entries(commands).map(([name, buckets]): [Reply, Reply] => [
      text(name),
      map(
        [text('calls'), integer(buckets.at(-1)?.[1] ?? 0)],
        [
          text('histogram_usec'),
          map(...buckets.map(([us, calls]): [Reply, Reply] => [integer(us), integer(calls)])),
        ],
      ),
    ]),
  );
}

test('cumulative counts become counts per bucket', () => {
  const parsed = parseHistograms(
    histograms({
      get: [
        [1, 10],
        [2, 15],
        [8, 16],
      ],
    }),
  );
  expect([...(parsed.get('get') ?? [])]).toEqual([
    [1, 10],
    [2, 5],
    [8, 1],
  ]);
});

test('an interval has the calls that came in it, of all commands but the ignored ones', () => {
  const before = parseHistograms(histograms({ get: [[1, 10]], info: [[1024, 1]] }));
  const now = parseHistograms(
    histograms({
      get: [
        [1, 30],
        [4, 40],
      ],
      set: [[4, 5]],
      info: [[1024, 9]],
    }),
  );
  const grown = between(before, now, (name) => name === 'info');
  expect([...(grown ?? [])].sort()).toEqual([
    [1, 20],
    [4, 15],
  ]);
});

test('counters that were reset give no interval', () => {
  const before = parseHistograms(histograms({ get: [[1, 10]] }));
  expect(between(before, parseHistograms(histograms({ get: [[1, 4]] })))).toBeNull();
  expect(between(before, parseHistograms(histograms({ set: [[1, 4]] })))).toBeNull();
});

test('percentiles lie inside their bucket', () => {
  const histogram = new Map([
    [1, 0],
    [4, 90],
    [1024, 10],
  ]);
  expect(percentile(histogram, 50)).toBeCloseTo(2 + (2 * 50) / 90);
  expect(percentile(histogram, 99)).toBeCloseTo(512 + (512 * 9) / 10);
  expect(percentile(histogram, 99.9)).toBeLessThanOrEqual(1024);
  expect(percentile(histogram, 100)).toBe(1024);
});

test('no calls have no percentile', () => {
  expect(percentile(new Map(), 99)).toBeNull();
  expect(percentile(new Map([[1, 0]]), 99)).toBeNull();
});

test('replies of another shape are empty, in RESP2 maps are flat arrays', () => {
  expect(parseHistograms({ type: 'null' }).size).toBe(0);
  expect(parseHistograms({ type: 'error', text: 'ERR' }).size).toBe(0);
  expect(parseHistograms(map([text('get'), text('x')])).get('get')?.size).toBe(0);
  const buckets: Reply = { type: 'array', items: [integer(2), integer(7)] };
  const command: Reply = {
    type: 'array',
    items: [text('calls'), integer(7), text('histogram_usec'), buckets],
  };
  const flat = parseHistograms({ type: 'array', items: [text('get'), command] });
  expect([...(flat.get('get') ?? [])]).toEqual([[2, 7]]);
});
