// Fills the index, serves the page, and uses it in chromium as somebody does who looks for a film; prints what the page shows.
//
//   EDGECASK_HTTP_URL  the server, which lets the page in by `--http-origins http://127.0.0.1:PAGE_PORT`
//   PAGE_PORT          where the page is served
//   EDGECASK_SHOTS     a folder for screenshots, if any are wanted
//   CHROMIUM           the browser, if it is not /usr/bin/chromium
//
// It needs the packages of this folder and of web-console (`npm ci --ignore-scripts` in each).

import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { build } from 'esbuild';
import './load.mjs';

const HERE = import.meta.dirname;
const { chromium } = createRequire(path.join(HERE, '../../web-console/package.json'))('playwright-core');
const SERVER = process.env.EDGECASK_HTTP_URL ?? 'http://127.0.0.1:8080';
const PORT = Number(process.env.PAGE_PORT ?? 8000);
const SHOTS = process.env.EDGECASK_SHOTS;
const CHROMIUM_FLAGS = [
  '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
];
const TYPES = { html: 'text/html', js: 'text/javascript', css: 'text/css' };

const { outputFiles: [script] } = await build({
  entryPoints: [path.join(HERE, 'page.js')], bundle: true, minify: true, format: 'esm', outdir: 'dist', write: false,
});
const files = { '/dist/page.js': script.contents };
for (const name of ['index.html', 'style.css']) files[`/${name}`] = await readFile(path.join(HERE, name));
const server = createServer(({ url }, response) => {
  const name = new URL(url, 'http://page').pathname.replace(/\/$/, '/index.html');
  response.writeHead(files[name] ? 200 : 404, { 'content-type': TYPES[path.extname(name).slice(1)] ?? 'text/plain' });
  response.end(files[name] ?? 'not found');
});
await new Promise((resolve) => server.listen(PORT, '127.0.0.1', resolve));

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: CHROMIUM_FLAGS });
const page = await browser.newPage({ viewport: { width: 1200, height: 820 }, colorScheme: 'light' });
const allowed = new Set([`http://127.0.0.1:${PORT}`, new URL(SERVER).origin]);
page.on('pageerror', (error) => console.log(`the page failed: ${error.message}`));
page.on('console', (message) => message.type() === 'error' && console.log(`the page says: ${message.text()}`));
page.on('request', (request) => allowed.has(new URL(request.url()).origin) || console.log(`a request to ${request.url()}`));

const texts = async (selector) => (await page.locator(selector).allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim());
const input = page.getByRole('searchbox');
const open = new Set();
page.on('request', (request) => open.add(request));
for (const end of ['requestfinished', 'requestfailed']) page.on(end, (request) => open.delete(request));

// Does something, and waits until the page shows the answers to all that it has asked for.
async function settled(act) {
  await act();
  for (let quiet = 0; quiet < 2; quiet = open.size === 0 ? quiet + 1 : 0) {
    await page.waitForFunction(() => globalThis.search?.status === 'idle' && document.querySelector('#stats').textContent);
    await page.waitForTimeout(50);
  }
}

async function show(what) {
  const titles = await texts('.ais-Hits-item h2');
  const [number] = await texts('.ais-Pagination-item--selected');
  console.log(`${what}: ${(await texts('#stats'))[0]}, page ${number}`);
  for (const title of titles.slice(0, 3)) console.log(`  ${title}`);
}

async function shot(name) {
  if (SHOTS) await page.screenshot({ path: path.join(SHOTS, `${name}.png`), animations: 'disabled' });
}

const marked = async () => console.log(`  marked: ${(await texts('.ais-Hits-item h2 mark')).slice(0, 3).join(', ')}`);
const facets = async () => console.log(`  genres: ${(await texts('#genre .ais-RefinementList-label')).slice(0, 3).join(', ')}`);

await settled(() => page.goto(`http://127.0.0.1:${PORT}/?server=${encodeURIComponent(SERVER)}`));
await show('at first');
await facets();
await shot('first');

await settled(() => input.pressSequentially('star w', { delay: 30 }));
await show('typed "star w"');
await marked();
await facets();
await shot('typed');

await settled(() => input.fill('godfahter'));
await show('typed "godfahter"');
await marked();

await settled(() => input.fill('spielberg'));
await show('typed "spielberg"');
await settled(() => page.getByLabel('Page 2', { exact: true }).click());
await show('turned the page');
await settled(() => page.locator('#genre').getByText('Adventure', { exact: true }).click());
await show('refined by Adventure');
await settled(() => page.locator('#rated').getByText('PG', { exact: true }).click());
await settled(() => page.locator('#score').getByText('7 or more').click());
await show('refined by PG and score');
console.log(`  refined: ${(await texts('.ais-CurrentRefinements-item')).join(' | ')}`);
await shot('refined');
await settled(() => page.getByRole('combobox').selectOption('Oldest'));
await show('sorted by year');
await settled(() => page.getByRole('button', { name: 'Clear all' }).click());
await show('cleared');
await settled(() => input.fill('zzzzqqqq'));
await show('typed "zzzzqqqq"');
console.log(`  ${(await texts('#hits'))[0]}`);

if (SHOTS) {
  await settled(() => input.fill('star'));
  await page.emulateMedia({ colorScheme: 'dark' });
  await shot('dark');
  await page.setViewportSize({ width: 390, height: 780 });
  await shot('phone');
}
await browser.close();
server.close();
