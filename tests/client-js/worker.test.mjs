// The package @edgecask/client in a Worker under workerd, as wrangler bundles it: against a gateway over WebSockets, and against the edge
// worker's object by its binding. node --test.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Gateway } from '../console/harness.mjs';

const ROOT = path.resolve(import.meta.dirname, '../..');
const require = createRequire(path.join(ROOT, 'edge-worker/package.json'));
const { Miniflare } = require('miniflare');
const { build } = require('esbuild');

const folder = mkdtempSync(`${tmpdir()}/edgecask-client-worker-`);
let gateway;
let miniflare;

before(async () => {
  gateway = await Gateway.start();
  await build({
    entryPoints: [path.join(import.meta.dirname, 'caller.mjs')],
    outfile: path.join(folder, 'caller.mjs'),
    bundle: true,
    format: 'esm',
    external: ['*.wasm'],
    logLevel: 'warning',
  });
  copyFileSync(path.join(ROOT, 'core/client/js/dist/edgecask_client.wasm'), path.join(folder, 'edgecask_client.wasm'));
  const common = { compatibilityDate: '2026-04-20', compatibilityFlags: ['no_web_socket_compression'] };
  miniflare = new Miniflare({
    cf: false,
    telemetry: { enabled: false },
    workers: [
      {
        ...common,
        name: 'caller',
        modules: [
          { type: 'ESModule', path: path.join(folder, 'caller.mjs') },
          { type: 'CompiledWasm', path: path.join(folder, 'edgecask_client.wasm') },
        ],
        modulesRoot: folder,
        durableObjects: { EDGECASK: { className: 'Database', scriptName: 'edgecask', useSQLite: true } },
      },
      {
        ...common,
        name: 'edgecask',
        modules: ['index.js', 'edgecask.wasm'].map((name) => ({
          type: name.endsWith('.js') ? 'ESModule' : 'CompiledWasm',
          path: path.join(ROOT, 'edge-worker/dist', name),
        })),
        modulesRoot: path.join(ROOT, 'edge-worker/dist'),
        durableObjects: { DATABASE: { className: 'Database', useSQLite: true } },
      },
    ],
  });
  await miniflare.ready;
});

after(async () => {
  await miniflare?.dispose();
  await gateway?.remove();
  rmSync(folder, { recursive: true, force: true });
});

async function ask(home, what = '') {
  const query = new URLSearchParams({ home, gateway: `127.0.0.1:${gateway.httpPort}` });
  const response = await miniflare.dispatchFetch(`http://caller/${what}?${query}`);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return JSON.parse(text);
}

// First: the module is not there yet.
test('clients of the first requests wait for each other', async () => {
  const counts = await Promise.all(Array.from({ length: 20 }, () => ask('constructor', 'count')));
  assert.deepEqual(counts.sort((one, other) => one - other), Array.from({ length: 20 }, (_, number) => number + 1));
});

for (const home of ['constructor', 'upgrade', 'stub', 'binding']) {
  test(`flows fail by ${home}`, async () => {
    assert.deepEqual(await ask(home), []);
  });
}

test('session of a request that has ended stays', async () => {
  for (let number = 0; number < 3; number++) await ask('binding', 'leave');
  const end = Date.now() + 15_000;
  for (let counts; String((counts = await ask('binding', 'clients'))) !== '1,0'; await sleep(50)) {
    assert.ok(Date.now() < end, `${counts[0]} clients, ${counts[1]} of them subscribed`);
  }
});

test('clients of requests at the same time wait for each other', async () => {
  const counts = await Promise.all(Array.from({ length: 20 }, () => ask('binding', 'count')));
  assert.deepEqual(counts.sort((one, other) => one - other), Array.from({ length: 20 }, (_, number) => number + 1));
});
