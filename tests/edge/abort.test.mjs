// An error in the middle of an event ends the object: nothing of the event stays or is acknowledged, and the next life is sound.
// node --test.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { after, test } from 'node:test';
import { serve } from './server.mjs';

const FOLDER = new URL('../../', import.meta.url).pathname;
const WebSocket = createRequire(`${FOLDER}edge-worker/package.json`)('ws');
const folder = mkdtempSync(`${tmpdir()}/edge-abort-`);
const modules = [
  { type: 'ESModule', path: `${FOLDER}tests/edge/failing-object.mjs` },
  { type: 'ESModule', path: `${FOLDER}edge-worker/dist/index.js` },
  { type: 'CompiledWasm', path: `${FOLDER}edge-worker/dist/edgecask.wasm` },
];
const server = await serve(folder, {}, undefined, { modules, modulesRoot: FOLDER });

after(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

async function connect() {
  const socket = new WebSocket(new URL('/resp', String(server.url).replace('http', 'ws')));
  const replies = [];
  socket.on('message', (data) => replies.push(String(data)));
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
  const ask = async (text) => {
    replies.length = 0;
    socket.send(text);
    while (replies.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    return replies.join('');
  };
  return { socket, replies, closed, ask };
}

test('half an event stays when the storage fails', async () => {
  const [writer, listener] = [await connect(), await connect()];
  assert.equal(await writer.ask('SET kept 1\r\nRPUSH list a\r\n'), '+OK\r\n:1\r\n');
  assert.match(await listener.ask('SUBSCRIBE news\r\n'), /subscribe/);
  const life = /run_id:(\w+)/.exec(await writer.ask('INFO server\r\n'))[1];
  writer.replies.length = listener.replies.length = 0;
  // What stands before the error was written to SQLite by then, since a row is full before it.
  const first = `*3\r\n$3\r\nSET\r\n$5\r\nfirst\r\n$100000\r\n${'x'.repeat(100_000)}\r\n`;
  writer.socket.send(`${first}SET kept 2\r\nRPUSH list b\r\nPUBLISH news hello\r\nSET bad POISON\r\n`);
  await Promise.all([writer.closed, listener.closed]);
  assert.deepEqual([writer.replies, listener.replies], [[], []], 'something of it was told');
  const other = await connect();
  assert.equal(await other.ask('EXISTS first bad\r\nGET kept\r\nLLEN list\r\n'), ':0\r\n$1\r\n1\r\n:1\r\n');
  assert.notEqual(/run_id:(\w+)/.exec(await other.ask('INFO server\r\n'))[1], life, 'the instance was used again');
  assert.equal(await other.ask('SET kept 3\r\nGET kept\r\n'), '+OK\r\n$1\r\n3\r\n');
  other.socket.terminate();
});

test('request hangs when the storage fails', async () => {
  const response = await fetch(new URL('/set/bad/POISON', server.url));
  assert.equal(response.status, 500);
  assert.match((await response.json()).error, /^ERR the database was restarted/);
  assert.deepEqual(await (await fetch(new URL('/get/kept', server.url))).json(), { result: '3' });
});
