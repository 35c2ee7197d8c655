// The package @edgecask/client in chromium, against the gateway, and the page of the example. node --test.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { CHROMIUM, CHROMIUM_FLAGS, Gateway } from '../console/harness.mjs';
import { serveFiles } from '../support/files.mjs';

const ROOT = path.resolve(import.meta.dirname, '../..');
const { chromium } = createRequire(path.join(ROOT, 'web-console/package.json'))('playwright-core');

let gateway;
let files;
let browser;
let base;

before(async () => {
  // The example's page asks for the package in the repository.
  files = await serveFiles();
  base = files.base;
  gateway = await Gateway.start(['--http-origins', base]);
  browser = await chromium.launch({ executablePath: CHROMIUM, args: CHROMIUM_FLAGS });
});

after(async () => {
  await browser?.close();
  files?.close();
  await gateway?.remove();
});

async function open(where, problems) {
  const context = await browser.newContext({ viewport: { width: 900, height: 640 } });
  await context.grantPermissions(['local-network-access'], { origin: base }).catch(() => {});
  const page = await context.newPage();
  page.on('pageerror', (error) => problems.push(String(error.stack ?? error)));
  page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
  await page.goto(base + where);
  return page;
}

test('flows fail', async () => {
  const problems = [];
  const page = await open('/tests/client-js/page.html', problems);
  const failures = await page.evaluate(async (url) => {
    const edgecask = await import('/core/client/js/dist/browser.js');
    const { run } = await import('/tests/client-js/flows.mjs');
    return run(edgecask, (options) => edgecask.connect(url, options));
  }, `ws://127.0.0.1:${gateway.httpPort}/resp`);
  assert.deepEqual([failures, problems], [[], []]);
  await page.context().close();
});

test('votes of one page are not seen in another', async () => {
  const problems = [];
  const where = `/examples/client/browser/index.html?server=ws://127.0.0.1:${gateway.httpPort}/resp`;
  const [one, other] = [await open(where, problems), await open(where, problems)];
  await one.getByRole('button', { name: 'Tea' }).click();
  await one.getByRole('button', { name: 'Tea' }).click();
  await other.getByRole('button', { name: 'Water' }).click();
  for (const page of [one, other]) {
    await page.getByRole('listitem').filter({ hasText: 'Tea' }).getByText('2', { exact: true }).waitFor();
    await page.getByRole('listitem').filter({ hasText: 'Water' }).getByText('1', { exact: true }).waitFor();
  }
  if (process.env.EDGECASK_SHOTS) await one.screenshot({ path: path.join(process.env.EDGECASK_SHOTS, 'client-example.png') });
  assert.deepEqual(problems, []);
  for (const page of [one, other]) await page.context().close();
});
