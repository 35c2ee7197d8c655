// The package @edgecask/client beside a client written by hand in JavaScript (examples/chat/resp.mjs): round trips a second in
// chromium and in Node, against one gateway, in turns; and the bytes that a page loads. `make bench-client-js`
//
//   EDGECASK_BIN=target/release/edgecask node tests/bench/client_js.mjs

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import * as edgecask from '../../core/client/js/dist/node.js';
import { CHROMIUM, CHROMIUM_FLAGS, Gateway } from '../console/harness.mjs';
import { serveFiles } from '../support/files.mjs';
import { measure } from './client_js_load.mjs';

const ROOT = path.resolve(import.meta.dirname, '../..');
const { chromium } = createRequire(path.join(ROOT, 'web-console/package.json'))('playwright-core');
const { WebSocket } = createRequire(path.join(ROOT, 'edge-worker/package.json'))('ws');
const ROUNDS = 5;

for (const name of ['browser.js', 'edgecask_client.wasm']) {
  const bytes = await readFile(path.join(ROOT, 'core/client/js/dist', name));
  console.log(`${name}: ${bytes.length} bytes, ${gzipSync(bytes, { level: 9 }).length} by gzip`);
}
const files = await serveFiles();
const gateway = await Gateway.start(['--http-origins', files.base]);
const url = `ws://127.0.0.1:${gateway.httpPort}/resp`;
const browser = await chromium.launch({ executablePath: CHROMIUM, args: CHROMIUM_FLAGS });
const context = await browser.newContext();
await context.grantPermissions(['local-network-access'], { origin: files.base }).catch(() => {});
const page = await context.newPage();
await page.goto(`${files.base}/tests/client-js/page.html`);
await page.evaluate(async () => {
  window.edgecask = await import('/core/client/js/dist/browser.js');
  window.load = await import('/tests/bench/client_js_load.mjs');
});

const homes = {
  chromium: (which, load) => page.evaluate(([...all]) => window.load.measure(window.edgecask, ...all), [url, which, load]),
  node: (which, load) => {
    globalThis.WebSocket ??= WebSocket;
    return measure(edgecask, url, which, load);
  },
};
console.log('home      bytes  callers     package  by hand   (thousand round trips a second, best of rounds)');
for (const [home, run] of Object.entries(homes)) {
  for (const bytes of [3, 1000]) {
    for (const callers of [1, 8, 64]) {
      const best = { package: 0, hand: 0 };
      for (let round = 0; round < ROUNDS; round++) {
        for (const which of Object.keys(best)) best[which] = Math.max(best[which], await run(which, { bytes, callers, ms: 500 }));
      }
      const shown = Object.values(best).map((figure) => (figure / 1000).toFixed(1).padStart(8));
      console.log(`${home.padEnd(9)} ${String(bytes).padStart(5)} ${String(callers).padStart(8)}    ${shown.join(' ')}`);
    }
  }
}
await browser.close();
files.close();
await gateway.remove();
process.exit();
