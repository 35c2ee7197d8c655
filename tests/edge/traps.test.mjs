// What has gone wrong with Durable Objects before, and what several sockets of one object have to do with each other: node --test.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { after, test } from 'node:test';
import * as peer from './peer.mjs';
import { serve } from './server.mjs';

const folder = mkdtempSync(`${tmpdir()}/edge-`);
const server = await serve(folder, { EDGECASK_ORIGINS: 'https://app.example' });
const base = String(server.url).replace(/\/$/, '');

after(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

const connect = (path, options) => peer.connect(base, path, options);

test('closing without a code takes seconds, or goes to the wrong peer', async () => {
  const { socket } = await connect();
  const begin = Date.now();
  socket.close();
  const code = await new Promise((resolve) => socket.once('close', resolve));
  assert.ok(Date.now() - begin < 3000, `${Date.now() - begin} ms`);
  assert.ok([1000, 1005].includes(code), `${code}`);
});

test('QUIT leaves the socket open', async () => {
  const { socket, say, expect } = await connect();
  say('QUIT');
  await expect('+OK\r\n');
  if (socket.readyState !== peer.WebSocket.CLOSED) await new Promise((resolve) => socket.once('close', resolve));
});

test('compression is negotiated', async () => {
  const { socket, say, expect } = await connect('/resp', { perMessageDeflate: true });
  assert.equal(socket.extensions, '');
  assert.equal(socket.protocol, 'resp');
  say('PING');
  await expect('+PONG\r\n');
  socket.terminate();
});

test('replies change after they were sent', async () => {
  const sockets = await Promise.all(Array.from({ length: 10 }, () => connect('/db/views/resp')));
  await Promise.all(
    sockets.map(async ({ say, expect, socket }, number) => {
      for (let round = 0; round < 20; round++) {
        const text = String(number).repeat(5000 + round);
        say(`ECHO ${text}`);
        await expect(`$${text.length}\r\n${text}\r\n`);
      }
      socket.terminate();
    }),
  );
});

test('sockets of one object do not hear of each other', async () => {
  const [listener, waiter, teller] = [await connect(), await connect(), await connect()];
  listener.say('SUBSCRIBE news __keyevent@0__:set');
  await listener.expect('*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n*3\r\n$9\r\nsubscribe\r\n$18\r\n__keyevent@0__:set\r\n:2\r\n');
  waiter.say('BLPOP queue 0');
  teller.say('CONFIG SET notify-keyspace-events E$');
  teller.say('PUBLISH news hello');
  teller.say('SET k v');
  teller.say('RPUSH queue job');
  await teller.expect('+OK\r\n:1\r\n+OK\r\n:1\r\n');
  await listener.expect(
    '*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$5\r\nhello\r\n*3\r\n$7\r\nmessage\r\n$18\r\n__keyevent@0__:set\r\n$1\r\nk\r\n',
  );
  await waiter.expect('*2\r\n$5\r\nqueue\r\n$3\r\njob\r\n');
  [listener, waiter, teller].forEach(({ socket }) => socket.terminate());
});

test('wait that nobody ends goes on for ever', async () => {
  const { say, expect, socket } = await connect();
  say('BLPOP nothing 0.3');
  await expect('*-1\r\n');
  socket.terminate();
});

test('databases share keys', async () => {
  const answer = async (path) => (await fetch(base + path)).json();
  assert.deepEqual(await answer('/db/one/set/name/1'), { result: 'OK' });
  assert.deepEqual(await answer('/db/one/get/name'), { result: '1' });
  assert.deepEqual(await answer('/db/two/get/name'), { result: null });
  assert.deepEqual(await answer('/get/name'), { result: null });
});

test('pages of others, or names made to point here, are served', async () => {
  const status = (headers) =>
    new Promise((resolve, reject) => {
      http.get(`${base}/ping`, { headers }, (response) => resolve(response.resume().statusCode)).on('error', reject);
    });
  assert.equal(await status({}), 200);
  assert.equal(await status({ origin: 'https://app.example' }), 200);
  assert.equal(await status({ origin: 'https://evil.example' }), 403);
  assert.equal(await status({ 'sec-fetch-site': 'cross-site' }), 403);
  assert.equal(await status({ host: 'evil.example' }), 403);
});
