// What the edge worker does in a second beside a plain Durable Object, and how long a start takes: node bench.mjs [SECONDS [trips|cold]].
// One run, one machine, workerd's own processor time by /proc.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { serve } from './server.mjs';

const require = createRequire(new URL('../../edge-worker/package.json', import.meta.url));
const WebSocket = require('ws');
const SECONDS = Number(process.argv[2] ?? 3);
const VALUE = 'v'.repeat(64);
let writes = 0;

// workerd writes nothing for a put of what is there already, so every value is another one.
function value() {
  return String(writes++).padEnd(64, 'v');
}

function request(...words) {
  return `*${words.length}\r\n` + words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`).join('');
}

function open(url, path) {
  const socket = new WebSocket(String(url).replace('http', 'ws').replace(/\/$/, '') + path, { perMessageDeflate: false });
  return new Promise((resolve, reject) => socket.once('open', () => resolve(socket)).once('error', reject));
}

// Sends a message and waits for as many bytes as its replies have.
function exchange(socket, message, bytes) {
  return new Promise((resolve) => {
    let got = 0;
    const take = (data) => {
      got += data.length;
      if (got >= bytes) {
        socket.off('message', take);
        resolve();
      }
    };
    socket.on('message', take);
    socket.send(message);
  });
}

function cpuSeconds(pid) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').pop().split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

async function measure(server, command, sockets, pipeline) {
  const connections = await Promise.all(Array.from({ length: sockets }, () => open(server.url, '/resp')));
  const replyBytes = command === 'SET' ? 5 : 5 + VALUE.length + 2;
  let done = 0;
  const cpu = cpuSeconds(server.pid);
  const begin = performance.now();
  await Promise.all(
    connections.map(async (socket, number) => {
      for (let round = 0; performance.now() - begin < SECONDS * 1000; round++) {
        let message = '';
        for (let each = 0; each < pipeline; each++) {
          const key = `key:${(number * 7919 + round * 31 + each) % 1000}`;
          message += command === 'SET' ? request('SET', key, value()) : request('GET', key);
        }
        await exchange(socket, message, replyBytes * pipeline);
        done += pipeline;
      }
    }),
  );
  const seconds = (performance.now() - begin) / 1000;
  const used = cpuSeconds(server.pid) - cpu;
  connections.forEach((socket) => socket.terminate());
  return { rate: done / seconds, cpuMicros: (used / done) * 1e6 };
}

async function roundTrips() {
  const folders = [mkdtempSync(`${tmpdir()}/edge-`), mkdtempSync(`${tmpdir()}/plain-`)];
  const plainFile = new URL('plain.mjs', import.meta.url).pathname;
  const servers = [await serve(folders[0]), await serve(folders[1], {}, plainFile)];
  for (const server of servers) {
    const socket = await open(server.url, '/resp');
    for (let key = 0; key < 1000; key += 100) {
      let message = '';
      for (let each = key; each < key + 100; each++) message += request('SET', `key:${each}`, VALUE);
      await exchange(socket, message, 500);
    }
    socket.terminate();
  }
  for (const [sockets, pipeline] of [[1, 1], [1, 16], [1, 256], [50, 1], [50, 16]]) {
    for (const command of ['SET', 'GET']) {
      const [edge, plain] = [await measure(servers[0], command, sockets, pipeline), await measure(servers[1], command, sockets, pipeline)];
      console.log(
        `${command} ${sockets} sockets x ${pipeline}: edge ${edge.rate.toFixed(0)}/s ${edge.cpuMicros.toFixed(1)} us, ` +
          `plain ${plain.rate.toFixed(0)}/s ${plain.cpuMicros.toFixed(1)} us, ratio ${(edge.rate / plain.rate).toFixed(2)}`,
      );
    }
  }
  for (const server of servers) await server.stop();
  folders.forEach((folder) => rmSync(folder, { recursive: true }));
}

async function coldStarts() {
  for (const keys of [10_000, 100_000, 500_000]) {
    const folder = mkdtempSync(`${tmpdir()}/edge-`);
    let server = await serve(folder);
    const socket = await open(server.url, '/resp');
    for (let key = 0; key < keys; key += 1000) {
      let message = '';
      for (let each = key; each < key + 1000; each++) message += request('SET', `user:${each}`, VALUE);
      await exchange(socket, message, 5000);
    }
    socket.send(request('BGSAVE'));
    // Until maintenance has nothing left to do: an alarm that is due would open the object before it is asked.
    await new Promise((resolve) => setTimeout(resolve, 12_000));
    socket.terminate();
    await server.stop();
    server = await serve(folder);
    await (await fetch(new URL('/health', server.url))).text();
    const before = memory(server.pid);
    const begin = performance.now();
    const size = await (await fetch(new URL('/dbsize', server.url))).json();
    const cold = performance.now() - begin;
    const warmBegin = performance.now();
    await (await fetch(new URL('/dbsize', server.url))).json();
    const warm = performance.now() - warmBegin;
    const info = (await (await fetch(new URL('/info/memory', server.url))).json()).result;
    const used = Number(/used_memory:(\d+)/.exec(info)[1]);
    console.log(
      `cold start ${keys} keys (${size.result} found): ${(cold - warm).toFixed(0)} ms, heap ${(used / 1e6).toFixed(1)} MB, ` +
        `process ${((memory(server.pid) - before) / 1e6).toFixed(0)} MB more`,
    );
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

function memory(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) * 1024;
}

if (process.argv[3] !== 'cold') await roundTrips();
if (process.argv[3] !== 'trips') await coldStarts();
process.exit();
