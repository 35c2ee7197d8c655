// What an object has no memory for is refused with a clear answer, and the object lives on: node --test. The instance's memory is
// bounded below what the platform gives an object (edge-worker/src/limits.rs), so a bound that does not hold ends its life, which
// the run id tells.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { after, test } from 'node:test';
import { serve } from './server.mjs';

const WebSocket = createRequire(new URL('../../edge-worker/package.json', import.meta.url))('ws');
const MEBIBYTE = 1024 * 1024;
const VALUE_MAX_BYTES = 16 * MEBIBYTE;
const folder = mkdtempSync(`${tmpdir()}/edge-limits-`);
let server = await serve(folder, {});
let base = String(server.url).replace(/\/$/, '');
let mostKeys = 0;
let crowded = '';

after(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

const request = (...words) => requestOf(words);

function requestOf(words) {
  const parts = [`*${words.length}\r\n`];
  for (const word of words) parts.push(`$${word.length}\r\n`, word, '\r\n');
  return Buffer.concat(parts.map((part) => Buffer.from(part, 'latin1')));
}

/** A socket whose replies are counted in bytes, the first ones shown. */
class Peer {
  #received = [];
  #length = 0;
  #wake = () => {};
  code = undefined;

  static async open(database) {
    const peer = new Peer();
    peer.socket = new WebSocket(`${base.replace('http', 'ws')}/db/${database}/resp`, { maxPayload: 0 });
    peer.socket.on('message', (data) => peer.#take(data));
    peer.closed = new Promise((resolve) => peer.socket.once('close', (code) => resolve((peer.code = code), peer.#wake())));
    await new Promise((resolve, reject) => peer.socket.once('open', resolve).once('error', reject));
    return peer;
  }

  #take(data) {
    this.#received.push(data);
    this.#length += data.length;
    this.#wake();
  }

  send(bytes) {
    for (let from = 0; from < bytes.length; from += 4 * MEBIBYTE) this.socket.send(bytes.subarray(from, from + 4 * MEBIBYTE));
  }

  /** Sends and waits for a reply that ends like this; gives all that came. */
  async ask(bytes, end = '\r\n') {
    this.#received = [];
    this.#length = 0;
    this.send(bytes);
    const late = AbortSignal.timeout(60_000);
    while (!(this.#length > 0 && this.#tail(end.length) === end)) {
      assert.equal(this.code, undefined, 'the socket was closed');
      assert.ok(!late.aborted, `no end after ${this.#length} bytes`);
      await new Promise((resolve) => {
        this.#wake = resolve;
        setTimeout(resolve, 1000);
      });
    }
    return Buffer.concat(this.#received);
  }

  async text(...words) {
    return (await this.ask(request(...words))).toString('latin1');
  }

  async life() {
    return /run_id:(\w+)/.exec(await this.text('INFO', 'server'))[1];
  }

  #tail(length) {
    return Buffer.concat(this.#received.slice(-2)).subarray(-length).toString('latin1');
  }
}

const TOO_LONG = "-ERR the reply does not fit into this server's memory; ask for less at a time\r\n";

test('keys fill the memory until the object ends', async () => {
  const peer = await Peer.open('keys');
  const life = await peer.life();
  let keys = 0;
  let refused = 0;
  while (refused === 0) {
    const each = 5000;
    const sets = Buffer.concat(Array.from({ length: each }, (_, at) => request('SET', `key:${String(keys + at).padStart(12, '0')}`, 'value of a key')));
    const replies = (await peer.ask(Buffer.concat([sets, request('ECHO', 'end')]), '$3\r\nend\r\n')).toString();
    refused = replies.split('-OOM').length - 1;
    keys += each - refused;
    assert.ok(keys < 3_000_000, 'there is no end to it');
  }
  console.log(`${keys} keys of 16 bytes fit`);
  assert.ok(keys > 500_000, `${keys} keys`);
  assert.match(await peer.text('APPEND', 'key:000000000001', 'x'.repeat(MEBIBYTE)), /^-OOM/);
  assert.match(await peer.text('SET', 'large', 'x'.repeat(VALUE_MAX_BYTES)), /^-OOM/);
  assert.equal(await peer.text('GET', 'key:000000000001'), '$14\r\nvalue of a key\r\n');
  assert.equal(await peer.text('DBSIZE'), `:${keys}\r\n`);
  assert.equal(await peer.text('KEYS', 'key:*'), TOO_LONG);
  assert.match(await peer.text('EVALSHA', 'x', '0'), /^-NOSCRIPT/);
  // Memory of single keys comes back with that of their neighbours.
  for (let key = 0; key < 300_000; key += 1000) {
    const names = Array.from({ length: 1000 }, (_, at) => `key:${String(key + at).padStart(12, '0')}`);
    assert.equal(await peer.text('DEL', ...names), ':1000\r\n');
  }
  assert.equal(await peer.text('SET', 'key:000000000001', 'again'), '+OK\r\n');
  mostKeys = keys - 300_000 + 1;
  assert.equal(await peer.life(), life, 'the object had ended');
  peer.socket.terminate();
});

test('large values, or what reads them, do not fit', async () => {
  const peer = await Peer.open('values');
  const life = await peer.life();
  const value = Buffer.alloc(VALUE_MAX_BYTES, 'a value that repeats ').toString('latin1');
  for (const name of ['one', 'two', 'three']) assert.equal(await peer.text('SET', name, value), '+OK\r\n');
  const got = await peer.ask(request('GET', 'one'), `${value.slice(-100)}\r\n`);
  assert.equal(got.toString('latin1'), `$${VALUE_MAX_BYTES}\r\n${value}\r\n`);
  assert.equal(await peer.text('MGET', 'one', 'two', 'three'), TOO_LONG);
  assert.equal(await peer.text('APPEND', 'one', 'x'), '-ERR string exceeds maximum allowed size (proto-max-bulk-len)\r\n');
  assert.equal(await peer.text('SETRANGE', 'one', String(VALUE_MAX_BYTES - 3), 'end'), `:${VALUE_MAX_BYTES}\r\n`);
  assert.equal(await peer.text('GETRANGE', 'one', '-5', '-1'), `$5\r\n${value.slice(-5, -3)}end\r\n`);
  assert.equal(await peer.text('BITOP', 'XOR', 'four', 'one', 'two', 'three'), `:${VALUE_MAX_BYTES}\r\n`);
  assert.equal(await peer.text('COPY', 'one', 'five'), ':1\r\n');
  assert.match(await peer.text('DUMP', 'one'), /^-ERR/);
  assert.equal(await peer.life(), life, 'the object had ended');
  // Both at once are more than one event may answer: the socket goes, the object does not.
  peer.send(Buffer.concat([request('GET', 'one'), request('GET', 'two'), request('GET', 'three')]));
  await peer.closed;
  assert.equal(peer.code, 1009);
  const other = await Peer.open('values');
  assert.equal(await other.life(), life, 'the object had ended');
  other.socket.terminate();
});

test('large collections, or what reads them, do not fit', async () => {
  const peer = await Peer.open('collections');
  const life = await peer.life();
  for (let from = 0; from < 300_000; from += 20_000) {
    const members = Array.from({ length: 20_000 }, (_, at) => `member:${String(from + at).padStart(8, '0')}:${'m'.repeat(20)}`);
    assert.equal(await peer.text('SADD', 'set', ...members), ':20000\r\n');
  }
  assert.equal(await peer.text('SMEMBERS', 'set'), TOO_LONG);
  assert.match(await peer.text('SUNIONSTORE', 'copy', 'set'), /^-(OOM the request needs|ERR one request or transaction may change 200000 members)/);
  assert.match(await peer.text('SPOP', 'set', '280000'), /^-(OOM the request needs|ERR the reply does not fit)/);
  assert.equal(await peer.text('SCARD', 'set'), ':300000\r\n');
  assert.equal(await peer.text('EXISTS', 'copy'), ':0\r\n');
  assert.equal(await peer.text('UNLINK', 'set'), ':1\r\n');
  const many = Buffer.concat([Buffer.from('*131073\r\n'), Buffer.from('$1\r\na\r\n'.repeat(131_073))]);
  const other = await Peer.open('collections');
  assert.equal((await other.ask(many)).toString(), '-ERR Protocol error: invalid multibulk length\r\n');
  assert.equal(await peer.life(), life, 'the object had ended');
  peer.socket.terminate();
});

test('request needs more memory than is left', async () => {
  const peer = await Peer.open('crowded');
  const life = await peer.life();
  const member = (at) => `member:${String(at).padStart(8, '0')}:${'m'.repeat(20)}`;
  const fill = async (count, command, key, words) => {
    for (let from = 0; from < count; from += 20_000) {
      const added = Array.from({ length: 20_000 }, (_, at) => words(from + at)).flat();
      assert.equal(await peer.text(command, key, ...added), ':20000\r\n');
    }
  };
  await fill(240_000, 'SADD', 'set', (at) => [member(at)]);
  await fill(100_000, 'ZADD', 'zset', (at) => [String((at * 7) % 99_991), member(at)]);
  const value = 'v'.repeat(VALUE_MAX_BYTES);
  assert.equal(await peer.text('SET', 'value', value), '+OK\r\n');
  const refused = /^-(OOM the request needs|ERR the reply does not fit|ERR one request)/;
  for (const line of [
    'ZUNION 2 zset set', 'ZUNIONSTORE d 2 zset set', 'SUNIONSTORE d set set', 'SORT set ALPHA STORE d', 'SORT set ALPHA',
    'SINTER set set', 'SPOP set 200000', 'SMEMBERS set', 'SRANDMEMBER set -1000000',
  ]) {
    assert.match(await peer.text(...line.split(' ')), refused, line);
  }
  // What these need, or not, depends on the gaps between what is in memory.
  const taken = /^([:+]|-OOM|-ERR (string exceeds|a transaction of|argument|one request))/;
  for (const line of ['ZREMRANGEBYRANK zset 0 80000', 'COPY value other', 'COPY zset other', 'BITOP NOT other value', 'SETRANGE value 9 v', 'SETBIT bits 134217727 1']) {
    assert.match(await peer.text(...line.split(' ')), taken, line);
  }
  for (const words of [['SADD', 's'], ['ZADD', 'z', '1'], ['HSET', 'h', 'f'], ['RPUSH', 'l'], ['XADD', 'x', '*', 'f'], ['APPEND', 'value'], ['WATCH'], ['SET']]) {
    const reply = await peer.text(...words, value, ...(words.length === 1 ? ['v'] : []));
    assert.match(reply, words.length === 1 || /^[SZ]/.test(words[0]) ? /^-ERR argument/ : taken, words[0]);
  }
  assert.equal(await peer.life(), life, 'the object had ended');
  crowded = await peer.text('DBSIZE');
  peer.socket.terminate();
});

test('half requests of many sockets fill the memory', async () => {
  const peers = await Promise.all(Array.from({ length: 12 }, () => Peer.open('halves')));
  const life = await peers[0].life();
  const half = Buffer.concat([Buffer.from(`*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$${VALUE_MAX_BYTES}\r\n`), Buffer.alloc(10 * MEBIBYTE)]);
  peers.slice(1).forEach((peer) => peer.send(half));
  // Their turn comes before this one's.
  await Promise.all(peers.slice(1, 9).map((peer) => Promise.race([peer.closed, new Promise((resolve) => setTimeout(resolve, 5000))])));
  const left = peers.filter(({ code }) => code !== undefined);
  assert.ok(left.length >= 8 && left.every(({ code }) => code === 1013), `${left.map(({ code }) => code)}`);
  assert.equal(await peers[0].life(), life, 'the object had ended');
  peers.forEach(({ socket }) => socket.terminate());
});

test('message to many subscribers fills the memory', async () => {
  const peers = await Promise.all(Array.from({ length: 60 }, () => Peer.open('news')));
  const teller = await Peer.open('news');
  const life = await teller.life();
  await Promise.all(peers.map((peer) => peer.ask(request('SUBSCRIBE', 'news'), ':1\r\n')));
  const text = 'n'.repeat(MEBIBYTE);
  assert.equal(await teller.text('PUBLISH', 'news', text), ':60\r\n');
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const left = peers.filter(({ code }) => code !== undefined);
  assert.ok(left.length > 20 && left.length < 40, `${left.length} of ${peers.length} were left`);
  assert.equal(await teller.text('PUBLISH', 'news', 'short'), `:${peers.length - left.length}\r\n`);
  assert.equal(await teller.life(), life, 'the object had ended');
  [...peers, teller].forEach(({ socket }) => socket.terminate());
});

test('reader of events stops reading', async () => {
  const peer = await Peer.open('events');
  const life = await peer.life();
  const asked = await new Promise((resolve, reject) => {
    http.get(new URL('/db/events/subscribe/news', base), { headers: { accept: 'text/event-stream' } }, resolve).on('error', reject);
  });
  asked.pause();
  const closed = new Promise((resolve) => asked.on('close', resolve).on('error', resolve));
  const text = 'n'.repeat(MEBIBYTE);
  let heard = 0;
  while (heard < 100 && (await peer.text('PUBLISH', 'news', text)) === ':1\r\n') heard++;
  assert.ok(heard > 4 && heard < 60, `${heard} messages are kept for it`);
  asked.resume();
  await closed;
  assert.equal(await peer.life(), life, 'the object had ended');
  peer.socket.terminate();
});

test('request names more keys than memory holds', async () => {
  const peer = await Peer.open('names');
  const life = await peer.life();
  const keys = Array.from({ length: 131_000 }, (_, at) => `key:${at}`);
  for (const command of ['DEL', 'EXISTS', 'MGET', 'TOUCH']) {
    assert.match((await peer.ask(requestOf([command, ...keys]))).toString(), /^(-OOM|:0\r\n|\*131000)/, command);
  }
  const pairs = keys.slice(0, 65_000).flatMap((key) => [key, 'v']);
  assert.match((await peer.ask(requestOf(['MSET', ...pairs]))).toString(), /^(-OOM|\+OK)/);
  assert.equal(await peer.text('DEL', ...keys.slice(0, 1000)).then((reply) => reply[0]), ':');
  assert.equal(await peer.life(), life, 'the object had ended');
  peer.socket.terminate();
});

test('message is longer than a reply may be', async () => {
  const [teller, reader, monitor, waiting] = await Promise.all(Array.from({ length: 4 }, () => Peer.open('long')));
  const life = await teller.life();
  const text = 'n'.repeat(12 * MEBIBYTE);
  await reader.ask(request('SUBSCRIBE', 'news'), ':1\r\n');
  assert.equal(await teller.text('PUBLISH', 'news', text), ':1\r\n');
  assert.equal((await reader.ask(request('PING'), 'pong\r\n$0\r\n\r\n')).length, 12 * MEBIBYTE + '*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$12582912\r\n\r\n*2\r\n$4\r\npong\r\n$0\r\n\r\n'.length);
  // Whoever waits has its element, or its end.
  const element = 'e'.repeat(8_388_590);
  const served = waiting.ask(request('BLPOP', 'list', '0'), 'eeee\r\n');
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.equal(await teller.text('RPUSH', 'list', element), ':1\r\n');
  assert.equal(await teller.text('LLEN', 'list'), ':0\r\n');
  assert.equal((await served).length, `*2\r\n$4\r\nlist\r\n$8388590\r\n${element}\r\n`.length);
  await monitor.ask(request('MONITOR'));
  assert.equal(await teller.text('SET', 'k', '\x01'.repeat(VALUE_MAX_BYTES)), '+OK\r\n');
  assert.equal(await teller.life(), life, 'the object had ended');
  [teller, reader, monitor, waiting].forEach(({ socket }) => socket.terminate());
});

test('message or body is larger than what is taken', async () => {
  const peer = await Peer.open('messages');
  const life = await peer.life();
  const large = await Peer.open('messages');
  large.socket.send(Buffer.alloc(VALUE_MAX_BYTES + 1));
  await large.closed;
  assert.equal(large.code, 1009);
  const post = async (bytes) => (await fetch(`${base}/db/messages/set/k`, { method: 'POST', body: Buffer.alloc(bytes, 'b') })).status;
  assert.equal(await post(8 * MEBIBYTE), 200);
  assert.equal(await post(8 * MEBIBYTE + 1), 413);
  assert.equal(await post(20 * MEBIBYTE), 413);
  assert.equal(await peer.text('STRLEN', 'k'), `:${8 * MEBIBYTE}\r\n`);
  const read = await fetch(`${base}/db/messages/get/k`);
  assert.equal(read.status, 400);
  const largest = 6 * MEBIBYTE - 100;
  await peer.text('SET', 'k', 'k'.repeat(largest));
  assert.equal((await (await fetch(`${base}/db/messages/get/k`)).json()).result.length, largest);
  // As JSON each of these is six bytes.
  await peer.text('SET', 'k', '\u0001'.repeat(2 * MEBIBYTE));
  assert.equal((await fetch(`${base}/db/messages/get/k`)).status, 400);
  assert.deepEqual(await read.json(), { error: 'ERR the reply is above 6291456 bytes; RESP has room for more' });
  assert.equal(await peer.life(), life, 'the object had ended');
  peer.socket.terminate();
});

test('stranger sends a body', async () => {
  const locked = mkdtempSync(`${tmpdir()}/edge-limits-`);
  const other = await serve(locked, { EDGECASK_PASSWORD: 'secret' });
  const url = new URL('/set/k', other.url);
  const status = (headers) =>
    new Promise((resolve, reject) => {
      // The body never ends: whoever waits for it waits for ever.
      const asked = http.request(url, { method: 'POST', headers: { 'content-length': 1000, ...headers } }, (response) => {
        resolve(response.statusCode);
        asked.destroy();
      });
      asked.on('error', reject);
      asked.setTimeout(3000, () => resolve('no answer') ?? asked.destroy());
      asked.write('some');
    });
  assert.equal(await status({}), 401);
  assert.equal(await status({ authorization: 'Bearer wrong' }), 401);
  assert.equal(await status({ authorization: 'Bearer secret' }), 'no answer');
  await other.stop();
  rmSync(locked, { recursive: true });
});

test('object that is full does not wake', async () => {
  await server.stop();
  server = await serve(folder, {});
  base = String(server.url).replace(/\/$/, '');
  const begin = performance.now();
  const peer = await Peer.open('keys');
  assert.equal(await peer.text('DBSIZE'), `:${mostKeys}\r\n`);
  console.log(`${mostKeys} keys are there again after ${Math.round(performance.now() - begin)} ms`);
  assert.equal(await peer.text('GET', 'key:000000500000'), '$14\r\nvalue of a key\r\n');
  peer.socket.terminate();
  // It has large values in its log beside many members.
  const other = await Peer.open('crowded');
  assert.equal(await other.text('DBSIZE'), crowded);
  other.socket.terminate();
});
