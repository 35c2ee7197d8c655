// Many sockets of one object at once: what they send is written together, and to each it looks as if it were alone.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { after, before, it } from 'node:test';
import { EDGE_WORKER, workerd } from './workerd.mjs';

const WebSocket = createRequire(new URL('../../edge-worker/package.json', import.meta.url))('ws');
const SOCKETS = 30;
const ROUNDS = 20;

let folder;
let server;
before(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'edge-together-'));
  server = await workerd(folder, EDGE_WORKER);
});
after(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

async function open() {
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}/resp`, { perMessageDeflate: false });
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const waiting = [];
  socket.on('message', (bytes) => waiting.shift()?.(bytes.toString()));
  const ask = (line) => {
    const reply = new Promise((resolve) => waiting.push(resolve));
    socket.send(`${line}\r\n`);
    return reply;
  };
  return { socket, ask };
}

it('each socket gets its own replies in order, and nothing is lost', async () => {
  const clients = await Promise.all(Array.from({ length: SOCKETS }, open));
  await clients[0].ask('FLUSHALL');
  for (let round = 1; round <= ROUNDS; round++) {
    const asked = clients.map(({ ask }, number) => [ask(`APPEND own:${number} x`), ask('INCR shared'), ask(`ECHO ${number}`)]);
    const replies = await Promise.all(asked.map((own) => Promise.all(own)));
    replies.forEach(([length, , echo], number) => {
      assert.equal(length, `:${round}\r\n`);
      assert.equal(echo, `$${String(number).length}\r\n${number}\r\n`);
    });
    const shared = replies.map(([, count]) => Number(count.slice(1))).sort((one, other) => one - other);
    assert.deepEqual(shared, Array.from({ length: SOCKETS }, (_, each) => (round - 1) * SOCKETS + each + 1));
  }
  clients.forEach(({ socket }) => socket.close());
});

it('what a socket sent before it went is done, and a request that comes later sees it', async () => {
  const [stays, goes] = [await open(), await open()];
  for (let round = 0; round < ROUNDS; round++) {
    const { socket } = round === 0 ? goes : await open();
    stays.ask('PING');
    socket.send(`SET last ${round}\r\n`);
    socket.close();
    await new Promise((resolve) => socket.once('close', resolve));
    assert.equal(await stays.ask('GET last'), `$${String(round).length}\r\n${round}\r\n`);
  }
  stays.socket.close();
});
