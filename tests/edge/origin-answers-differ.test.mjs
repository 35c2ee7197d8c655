// The gateway and the edge worker answer the same requests of browsers: both are held against one table
// (tests/support/origins.txt), the gateway by gateway/tests/gateway/origin_answers_differ.rs. node --test.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import http from 'node:http';
import { tmpdir } from 'node:os';
import { after, test } from 'node:test';
import { serve } from './server.mjs';

const PASSWORD = 'secret';
const folders = [];
const servers = new Map();

after(async () => {
  for (const { server } of servers.values()) await server.stop();
  for (const folder of folders) rmSync(folder, { recursive: true });
});

async function start(bindings) {
  const folder = mkdtempSync(`${tmpdir()}/edge-origin-`);
  folders.push(folder);
  return { server: await serve(folder, bindings), folder };
}

function get(server, fields) {
  const headers = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== '-'));
  headers.authorization = `Bearer ${PASSWORD}`;
  return new Promise((resolve, reject) => {
    const request = http.get(new URL('/ping', server.url), { headers }, (response) => {
      let body = '';
      response.on('data', (part) => (body += part));
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body }));
    });
    request.on('error', reject);
  });
}

function answer({ status, headers, body }) {
  if (status === 403) return 'refused';
  if (status !== 200 || body !== '{"result":"PONG"}') return `${status} ${body}`;
  return headers['access-control-allow-origin'] === undefined ? 'own' : 'listed';
}

test('origin answers differ', async () => {
  const table = readFileSync(new URL('../support/origins.txt', import.meta.url), 'utf8');
  for (const row of table.split('\n').filter((line) => line !== '' && !line.startsWith('#'))) {
    const [password, list, host, origin, site, expected] = row.split(/\s+/);
    const key = `${password} ${list}`;
    const bindings = { EDGECASK_ORIGINS: list, EDGECASK_PASSWORD: password === 'yes' ? PASSWORD : '' };
    if (!servers.has(key)) servers.set(key, await start(bindings));
    const response = await get(servers.get(key).server, { host, origin, 'sec-fetch-site': site });
    assert.equal(answer(response), expected, row);
  }
  assert.equal(servers.size, 3, 'the table was read');
});

test('refused request makes an object', async () => {
  const { server, folder } = await start({});
  servers.set('refusing', { server });
  // Each object has a file, and the platform has one for all of them.
  const files = () => readdirSync(folder, { recursive: true }).filter((name) => /(?<!metadata)\.sqlite$/.test(name));
  assert.equal((await get(server, { origin: 'https://evil.example' })).status, 403);
  assert.equal((await get(server, { host: 'evil.example' })).status, 403);
  assert.deepEqual(files(), []);
  assert.equal((await get(server, {})).status, 200);
  assert.notDeepEqual(files(), []);
});

test('list that is no list of origins is ignored', async () => {
  const broken = await start({ EDGECASK_ORIGINS: 'app.example' });
  servers.set('broken', broken);
  const { status, body } = await get(broken.server, {});
  assert.equal(status, 500);
  assert.match(body, /EDGECASK_ORIGINS/);
});
