import { readFileSync } from 'node:fs';
import { afterEach, beforeAll, expect, it, vi } from 'vitest';
import { startWith } from '../resp/codec.ts';
import type { Reply } from '../resp/reply.ts';
import { Client } from './client.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A WebSocket whose other end is the test. */
class FakeSocket {
  static last: FakeSocket;
  sent: string[] = [];
  readyState = 1;
  onopen?: () => void;
  onmessage?: (event: { data: ArrayBuffer | string }) => void;
  onclose?: (event: { reason: string }) => void;
  constructor(readonly url: string, readonly protocol: string) {
    FakeSocket.last = this;
    queueMicrotask(() => this.onopen?.());
  }
  send(bytes: Uint8Array | string): void {
    this.sent.push(typeof bytes === 'string' ? bytes : decoder.decode(bytes));
    if (this.sent.length === 1) this.say('%2\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$5\r\n7.2.4\r\n');
  }
  say(text: string): void {
    this.onmessage?.({ data: encoder.encode(text).buffer });
  }
  close(): void {
    this.onclose?.({ reason: '' });
  }
}

beforeAll(() => {
  startWith(readFileSync(new URL('../../pkg/console_bg.wasm', import.meta.url)));
  vi.stubGlobal('WebSocket', FakeSocket);
});
afterEach(() => FakeSocket.last?.close());

async function connected() {
  const client = await Client.connect({ url: 'ws://a/resp', password: 'p' });
  FakeSocket.last.sent = ['(greeting)'];
  return { client, socket: FakeSocket.last };
}

it('speaks RESP3 and logs in with the first request', async () => {
  const connecting = Client.connect({ url: 'ws://a/resp', user: 'u', password: 'p' });
  const client = await connecting;
  expect(FakeSocket.last.protocol).toBe('resp');
  expect(FakeSocket.last.sent[0]?.split('\r\n').filter((part) => !/^[*$]/.test(part)).join(' ')).toBe('HELLO 3 AUTH u p SETNAME console ');
  expect(client.server).toBe('redis 7.2.4');
});

it('empty messages, which are not requests, keep a quiet connection open', async () => {
  vi.useFakeTimers();
  try {
    const { client, socket } = await connected();
    const reply = client.send(['GET', 'a']);
    vi.advanceTimersByTime(60_000);
    expect(socket.sent.slice(2)).toEqual(['', '']);
    socket.onmessage?.({ data: '' });
    socket.say('$1\r\nx\r\n');
    expect(await reply).toMatchObject({ type: 'bulk' });
    client.close();
    vi.advanceTimersByTime(60_000);
    expect(socket.sent).toHaveLength(4);
  } finally {
    vi.useRealTimers();
  }
});

it('gives replies in the order of the requests, pushes and status lines apart', async () => {
  const { client, socket } = await connected();
  const pushes: Reply[][] = [];
  const lines: string[] = [];
  client.onPush((items) => pushes.push(items));
  client.onStatus((line) => lines.push(line));
  const one = client.send(['GET', 'a']);
  const two = client.pipeline([['INCR', 'b'], ['NOSUCH']]);
  expect(socket.sent).toHaveLength(3);
  socket.say('$1\r\nx\r\n>2\r\n$10\r\ninvalidate\r\n_\r\n:1\r\n-ERR no\r\n+1700000000.1 [0 a] "GET"\r\n');
  expect(await one).toEqual({ type: 'bulk', bytes: encoder.encode('x') });
  expect(await two).toEqual([{ type: 'integer', value: 1n }, { type: 'error', text: 'ERR no' }]);
  expect(pushes).toHaveLength(1);
  expect(lines).toEqual(['1700000000.1 [0 a] "GET"']);
});

const confirmation = (kind: string, channel: string | null, count: number) =>
  `>3\r\n$${kind.length}\r\n${kind}\r\n${channel === null ? '_' : `$${channel.length}\r\n${channel}`}\r\n:${count}\r\n`;

it('SUBSCRIBE is answered by its last confirmation, and later replies are not shifted', async () => {
  const { client, socket } = await connected();
  const subscribed = client.send(['SUBSCRIBE', 'a', 'b']);
  const ping = client.send(['PING']);
  socket.say(`${confirmation('subscribe', 'a', 1)}>3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1\r\nx\r\n${confirmation('subscribe', 'b', 2)}+PONG\r\n`);
  expect(await subscribed).toMatchObject({ type: 'push', items: [{}, { bytes: encoder.encode('b') }, { value: 2n }] });
  expect(await ping).toEqual({ type: 'simple', text: 'PONG' });
  const all = client.send(['unsubscribe']);
  const echo = client.send(['ECHO', 'x']);
  socket.say(`${confirmation('unsubscribe', 'a', 1)}${confirmation('unsubscribe', 'b', 0)}$1\r\nx\r\n`);
  expect(await all).toMatchObject({ items: [{}, {}, { value: 0n }] });
  expect(await echo).toMatchObject({ type: 'bulk' });
  const nothing = client.send(['UNSUBSCRIBE']);
  socket.say(confirmation('unsubscribe', null, 0));
  expect(await nothing).toMatchObject({ type: 'push' });
});

it('a message of a channel whose name is a megabyte long is a push like any other', async () => {
  const { client, socket } = await connected();
  const pushes: Reply[][] = [];
  client.onPush((items) => pushes.push(items));
  const name = 'x'.repeat(1_000_000);
  const subscribed = client.send([encoder.encode('SUBSCRIBE'), name]);
  socket.say(confirmation('subscribe', name, 1));
  await subscribed;
  socket.say(`>3\r\n$7\r\nmessage\r\n$1000000\r\n${name}\r\n$1\r\nx\r\n`);
  expect(pushes).toHaveLength(2);
});

it('a refused SUBSCRIBE is an error like any other', async () => {
  const { client, socket } = await connected();
  const refused = client.call(['SUBSCRIBE', 'a']);
  socket.say('-NOPERM no\r\n');
  await expect(refused).rejects.toThrow('NOPERM no');
});

it('waiting requests fail when the connection ends, and later ones fail too', async () => {
  const { client, socket } = await connected();
  const waiting = client.send(['GET', 'a']);
  socket.onclose?.({ reason: 'gone' });
  await expect(waiting).rejects.toThrow('gone');
  await expect(client.send(['PING'])).rejects.toThrow('not connected');
  expect(await client.closed).toBe('gone');
});

it('a request is sent on a socket that is closing', async () => {
  const { client, socket } = await connected();
  socket.readyState = 2;
  const waiting = client.send(['GET', 'a']);
  expect(socket.sent).toEqual(['(greeting)']);
  socket.onclose?.({ reason: 'gone' });
  await expect(waiting).rejects.toThrow('gone');
});

it('bytes that are not RESP end the connection', async () => {
  const { client, socket } = await connected();
  socket.say('HTTP/1.1 200 OK\r\n');
  expect(await client.closed).toMatch('no reply');
});
