// What users run: wrangler with the repository's own wrangler.toml, without a network. Started twice on one directory.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { freePort } from '../support/ports.mjs';
import { connect, WebSocket } from './peer.mjs';

const ROOT = path.resolve(import.meta.dirname, '../..');
// Itself, not the script that npm puts before it: a signal must reach it.
const WRANGLER = path.join(ROOT, 'edge-worker/node_modules/wrangler/wrangler-dist/cli.js');
const ENVIRONMENT = { ...process.env, WRANGLER_SEND_METRICS: 'false', CLOUDFLARE_CF_FETCH_ENABLED: 'false', CI: '1' };
// It builds first.
const START_LIMIT_MS = 300_000;
// The platform takes workers of 3 MB by gzip from those who pay nothing, and of 10 MB from others: ours is below that as it is.
const [GZIPPED_MAX_BYTES, RAW_MAX_BYTES] = [3_000_000, 10_000_000];

const folder = mkdtempSync(`${tmpdir()}/edge-wrangler-`);
let dev;
let base;

function wrangler(...words) {
  const child = spawn(process.execPath, [WRANGLER, ...words], { cwd: ROOT, env: ENVIRONMENT, stdio: ['ignore', 'pipe', 'pipe'] });
  const run = { child, said: '', ended: new Promise((resolve) => child.once('exit', resolve)) };
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (run.said += data));
  return run;
}

async function start() {
  const [port, inspector] = [String(await freePort()), String(await freePort())];
  dev = wrangler('dev', '--local', '--ip', '127.0.0.1', '--port', port, '--inspector-port', inspector, '--persist-to', folder);
  base = `http://127.0.0.1:${port}`;
  for (const end = Date.now() + START_LIMIT_MS; ; await sleep(100)) {
    assert.ok(dev.child.exitCode === null && Date.now() < end, `wrangler dev does not serve:\n${dev.said}`);
    const response = await fetch(`${base}/health`).catch(() => undefined);
    if (response?.ok) return;
  }
}

async function stop() {
  dev.child.kill('SIGTERM');
  await dev.ended;
}

before(start);

after(async () => {
  await stop();
  rmSync(folder, { recursive: true });
});

const answer = async (where, init) => (await fetch(base + where, init)).json();

test('health is not told', async () => {
  assert.equal(await (await fetch(`${base}/health`)).text(), 'ok\n');
});

test('console is not there, or without the policy of the gateway', async () => {
  const page = await fetch(`${base}/`);
  const source = readFileSync(path.join(ROOT, 'gateway/src/web/console.rs'), 'utf8');
  const policy = /const POLICY: &str = "(.*?)";/s.exec(source)[1].replace(/\\\n\s*/g, '');
  assert.match(policy, /default-src 'none'/);
  assert.equal(page.headers.get('content-security-policy'), policy);
  assert.equal(page.headers.get('x-frame-options'), 'DENY');
  assert.match(page.headers.get('content-type'), /^text\/html/);
  const html = await page.text();
  assert.match(html, /<title>EdgeCask<\/title>/);
  const script = await fetch(new URL(/src="([^"]+\.js)"/.exec(html)[1], `${base}/`));
  assert.equal(script.status, 200);
  assert.match(script.headers.get('content-type'), /javascript/);
  assert.match(script.headers.get('cache-control'), /immutable/);
  assert.ok((await script.text()).length > 1000);
  const missing = await fetch(`${base}/assets/none.js`);
  assert.equal(missing.status, 404);
  assert.equal(missing.headers.get('cache-control'), 'no-cache');
});

test('RESP is not spoken, or all databases are one', async () => {
  const [one, other] = [await connect(base), await connect(base, '/db/other/resp')];
  one.say('SET name default');
  await one.expect('+OK\r\n');
  other.say('GET name');
  await other.expect('$-1\r\n');
  other.say('SET name other');
  await other.expect('+OK\r\n');
  assert.deepEqual(await answer('/get/name'), { result: 'default' });
  assert.deepEqual(await answer('/db/other', { method: 'POST', body: '["GET","name"]' }), { result: 'other' });
  one.socket.terminate();
  other.socket.terminate();
});

test('page of somebody else is served', async () => {
  const headers = { origin: 'https://evil.example' };
  assert.equal((await fetch(`${base}/get/name`, { headers })).status, 403);
  const socket = new WebSocket(`${base.replace('http', 'ws')}/resp`, ['resp'], { headers });
  const status = await new Promise((resolve) => {
    socket.once('unexpected-response', (_, response) => resolve(response.statusCode));
    socket.once('open', () => resolve(101));
  });
  assert.equal(status, 403);
  socket.on('error', () => {});
  socket.terminate();
});

test('restart of wrangler dev loses data', async () => {
  await stop();
  await start();
  assert.deepEqual(await answer('/get/name'), { result: 'default' });
  assert.deepEqual(await answer('/db/other/get/name'), { result: 'other' });
});

test('upload is too large, or cannot be made without a network', async () => {
  const out = path.join(folder, 'upload');
  const deploy = wrangler('deploy', '--dry-run', '--outdir', out);
  assert.equal(await deploy.ended, 0, deploy.said);
  assert.match(deploy.said, /Total Upload: .* gzip: /);
  assert.ok(existsSync(path.join(out, 'edgecask.wasm')), deploy.said);
  const files = readdirSync(out).filter((name) => /\.(js|wasm)$/.test(name)).map((name) => path.join(out, name));
  const sum = (sizes) => sizes.reduce((one, other) => one + other, 0);
  const [raw, gzipped] = [sum(files.map((file) => statSync(file).size)), sum(files.map((file) => gzipSync(readFileSync(file)).length))];
  console.log(`upload ${raw} bytes, ${gzipped} by gzip`);
  assert.ok(raw < RAW_MAX_BYTES && gzipped < GZIPPED_MAX_BYTES, `${raw} bytes, ${gzipped} by gzip`);
});
