// The package @edgecask/client in a Worker under workerd, as wrangler bundles it: against a gateway over WebSockets, and against the edge
// worker's object by its binding. node --test.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
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

async function flows(home) {
  const query = new URLSearchParams({ home, gateway: `127.0.0.1:${gateway.httpPort}` });
  const response = await miniflare.dispatchFetch(`http://caller/?${query}`);
  const text = await response.text();
  assert.equal(response.status, 200, text);
  return JSON.parse(text);
}

for (const home of ['constructor', 'upgrade', 'stub', 'binding']) {
  test(`flows fail by ${home}`, async () => {
    assert.deepEqual(await flows(home), []);
  });
}
