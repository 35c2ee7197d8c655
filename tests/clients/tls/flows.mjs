// ioredis, HTTPS and WebSocket under TLS. The driver says where: TLS_PORT, HTTPS_PORT and TLS_DIRECTORY with ca.crt, client.crt and
// client.key.

import { readFileSync } from 'node:fs';
import https from 'node:https';
import path from 'node:path';
import Redis from 'ioredis';
import WebSocket from 'ws';
import { ALL_BYTES, fails, run, same } from '../harness.mjs';

const { TLS_DIRECTORY, TLS_PORT, HTTPS_PORT } = process.env;
const file = (name) => readFileSync(path.join(TLS_DIRECTORY, name));
const ca = file('ca.crt');

function connect(tls) {
  const options = { host: 'localhost', port: Number(TLS_PORT), maxRetriesPerRequest: 0, retryStrategy: null };
  const client = new Redis({ ...options, tls: { ca, ...tls } });
  client.on('error', () => {});
  return client;
}

function get(url, options) {
  return new Promise((resolve, reject) => {
    https.get(url, { ca, ...options }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode, body: Buffer.concat(chunks).toString() }));
    }).on('error', reject);
  });
}

await run({
  'ioredis under TLS': async (atEnd) => {
    const client = connect({});
    atEnd(() => client.disconnect());
    await client.set('key', ALL_BYTES);
    same(await client.getBuffer('key'), ALL_BYTES);
    const replies = await client.multi().incr('count').incr('count').exec();
    same(replies.length, 2);
  },
  'ioredis with a certificate of its own': async (atEnd) => {
    const client = connect({ cert: file('client.crt'), key: file('client.key') });
    atEnd(() => client.disconnect());
    same(await client.ping(), 'PONG');
  },
  'ioredis refuses an unknown authority': async (atEnd) => {
    const client = connect({ ca: file('other.crt') });
    atEnd(() => client.disconnect());
    await fails(client.ping(), '');
  },
  'HTTPS': async () => {
    same(await get(`https://localhost:${HTTPS_PORT}/health`), { status: 200, body: 'ok\n' });
    const body = JSON.stringify({ result: 'PONG' });
    same(await get(`https://localhost:${HTTPS_PORT}/ping`), { status: 200, body });
    await fails(get(`https://localhost:${HTTPS_PORT}/health`, { ca: file('other.crt') }), '');
  },
  'WebSocket under TLS': async (atEnd) => {
    const socket = new WebSocket(`wss://localhost:${HTTPS_PORT}/resp`, 'resp', { ca });
    atEnd(() => socket.terminate());
    await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
    const reply = new Promise((resolve) => socket.on('message', resolve));
    socket.send('PING\r\n');
    same((await reply).toString(), '+PONG\r\n');
    const closed = new Promise((resolve) => socket.on('close', resolve));
    socket.send('QUIT\r\n');
    same(await closed, 1000);
  },
});
