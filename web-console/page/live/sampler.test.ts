import { signal } from '@preact/signals';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Argument, Reply } from '../resp/reply.ts';

/** What the server was asked, and how long it takes to answer. */
const server = { asked: [] as string[], takesMs: 0, refuses: false, slowId: 1, slowLength: 1, clients: 1 };

const bulk = (text: string): Reply => ({ type: 'bulk', bytes: new TextEncoder().encode(text) });
const integer = (value: number): Reply => ({ type: 'integer', value: BigInt(value) });
const array = (...items: Reply[]): Reply => ({ type: 'array', items });

function answer(args: Argument[]): Reply {
  const name = args.slice(0, 2).join(' ');
  if (name.startsWith('INFO')) {
    if (server.refuses) return { type: 'error', text: 'NOPERM no' };
    return bulk(
      `# Stats\r\nrun_id:a\r\ntotal_commands_processed:${server.asked.length}\r\nconnected_clients:${server.clients}\r\n`,
    );
  }
  if (name === 'SLOWLOG LEN') return integer(server.slowLength);
  if (name === 'SLOWLOG GET')
    return array(array(integer(server.slowId), integer(0), integer(5), array(bulk('GET'))));
  if (name === 'CLIENT LIST') return bulk('id=1 addr=x\n');
  return { type: 'null' };
}

const client = {
  pipeline: async (commands: Argument[][]) => {
    server.asked.push(...commands.map((args) => String(args.slice(0, 3).join(' '))));
    if (server.takesMs > 0) await new Promise((resolve) => setTimeout(resolve, server.takesMs));
    return commands.map(answer);
  },
};

vi.mock('../connection/state.ts', () => ({
  connection: { client: async () => client, settings: signal({ url: 'ws://here' }) },
}));

const { clients, history, intervalS, isPaused, problem, slowLog, watch } = await import('./sampler.ts');
const page = new EventTarget() as EventTarget & { hidden: boolean };
vi.stubGlobal('document', page);

const infos = () => server.asked.filter((name) => name.startsWith('INFO')).length;
let stop = () => {};

beforeEach(() => {
  vi.useFakeTimers();
  Object.assign(server, { asked: [], takesMs: 0, refuses: false, slowId: 1, slowLength: 1, clients: 1 });
  page.hidden = false;
  isPaused.value = false;
  intervalS.value = 1;
  stop = watch();
});

afterEach(() => {
  stop();
  vi.useRealTimers();
});

test('it samples at once and then once an interval', async () => {
  await vi.advanceTimersByTimeAsync(100);
  expect(infos()).toBe(1);
  await vi.advanceTimersByTimeAsync(5000);
  expect(infos()).toBe(6);
  intervalS.value = 5;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(infos()).toBe(6 + 3);
  expect(history.length).toBeGreaterThan(6);
  expect(clients.value).toHaveLength(1);
});

test('it asks nothing while paused, while hidden and after the page was left', async () => {
  await vi.advanceTimersByTimeAsync(100);
  isPaused.value = true;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(infos()).toBe(1);
  isPaused.value = false;
  await vi.advanceTimersByTimeAsync(100);
  expect(infos()).toBe(2);
  page.hidden = true;
  page.dispatchEvent(new Event('visibilitychange'));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(infos()).toBe(2);
  page.hidden = false;
  page.dispatchEvent(new Event('visibilitychange'));
  await vi.advanceTimersByTimeAsync(100);
  expect(infos()).toBe(3);
  stop();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(infos()).toBe(3);
});

test('a slow server is not asked again before it has answered', async () => {
  server.takesMs = 3500;
  await vi.advanceTimersByTimeAsync(3400);
  isPaused.value = true;
  isPaused.value = false;
  await vi.advanceTimersByTimeAsync(50);
  expect(infos()).toBe(1);
});

test('entries of the slow log are fetched when there are new ones', async () => {
  const fetched = () => server.asked.filter((name) => name === 'SLOWLOG GET 128').length;
  await vi.advanceTimersByTimeAsync(3100);
  const before = fetched();
  expect(slowLog.value[0]?.id).toBe('1');
  await vi.advanceTimersByTimeAsync(3000);
  expect(fetched()).toBe(before);
  // In a full log only the newest entry changes.
  server.slowId = 2;
  await vi.advanceTimersByTimeAsync(1000);
  expect(fetched()).toBe(before + 1);
  expect(slowLog.value[0]?.id).toBe('2');
});

test('a list of very many clients is asked for less often', async () => {
  server.clients = 5000;
  await vi.advanceTimersByTimeAsync(10_100);
  expect(server.asked.filter((name) => name === 'CLIENT LIST').length).toBeLessThan(4);
  expect(infos()).toBe(11);
});

test('a refusal is shown, and sampling goes on after it', async () => {
  server.refuses = true;
  await vi.advanceTimersByTimeAsync(100);
  expect(problem.value).toBe('INFO: NOPERM no');
  server.refuses = false;
  await vi.advanceTimersByTimeAsync(1000);
  expect(problem.value).toBe('');
});
