// The fixture of the browser tests: a gateway in a directory of its own, and a chromium that shows its console.
//
//   EDGECASK_BIN           the gateway, with the console built in
//   EDGECASK_CONSOLE_DIST  a built page to show instead of the gateway's own: tests of the page need no new gateway then
//   EDGECASK_SHOTS         where screenshots go; a directory below the system's temporary one otherwise
//
// Nothing of it is left when a test ends: processes are ended by their ids, directories removed.

import { spawn } from 'node:child_process';
import { mkdtemp, mkdir, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { freePort } from '../support/ports.mjs';
import { Redis } from './redis.mjs';

const ROOT = path.resolve(import.meta.dirname, '../..');
const { chromium } = createRequire(path.join(ROOT, 'web-console/package.json'))('playwright-core');

const BIN = process.env.EDGECASK_BIN ?? path.join(ROOT, 'target/debug/edgecask');
const DIST = process.env.EDGECASK_CONSOLE_DIST;
const SHOTS = process.env.EDGECASK_SHOTS ?? path.join(os.tmpdir(), 'edgecask-console-shots');
export const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';
const START_TIMEOUT_MS = 20_000;

export const CHROMIUM_FLAGS = [
  '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
  '--disable-component-update', '--disable-sync',
];

/** The policy that the gateway sends, for pages that come from EDGECASK_CONSOLE_DIST. */
const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; img-src 'self' blob: data:; font-src 'self'; " +
  "connect-src 'self' ws: wss:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const TYPES = { html: 'text/html', js: 'text/javascript', css: 'text/css', wasm: 'application/wasm', svg: 'image/svg+xml' };

/** A gateway on ports of its own, which keep when it is started again. */
export class Gateway {
  #process;
  #dir;

  static async start(options = []) {
    const gateway = new Gateway();
    gateway.#dir = await mkdtemp(path.join(os.tmpdir(), 'edgecask-console-'));
    gateway.port = await freePort();
    gateway.httpPort = await freePort();
    gateway.url = `http://127.0.0.1:${gateway.httpPort}`;
    await gateway.again(options);
    return gateway;
  }

  /** Starts it on the same directory and ports. */
  async again(options = []) {
    this.#process = spawn(
      BIN,
      ['serve', '--dir', this.#dir, '--port', String(this.port), '--http-port', String(this.httpPort), ...options],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    );
    let said = '';
    this.#process.stderr.on('data', (data) => (said += data));
    const end = Date.now() + START_TIMEOUT_MS;
    for (;;) {
      if (this.#process.exitCode !== null) throw new Error(`the gateway ended: ${said}`);
      try {
        const redis = await Redis.connect(this.port);
        await redis.call('PING').catch((error) => {
          if (!/^NOAUTH/.test(error.message)) throw error;
        });
        redis.close();
        return;
      } catch (error) {
        if (Date.now() > end) throw new Error(`the gateway does not answer: ${error.message}\n${said}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
  }

  async stop() {
    const running = this.#process;
    if (running.exitCode !== null || running.signalCode !== null) return;
    const ended = new Promise((resolve) => running.once('exit', resolve));
    running.kill('SIGTERM');
    const timer = setTimeout(() => running.kill('SIGKILL'), 10_000);
    await ended;
    clearTimeout(timer);
  }

  async remove() {
    await this.stop();
    await rm(this.#dir, { recursive: true, force: true });
  }
}

/**
 * Starts all of it. `options` are options of the gateway. The result:
 *
 *   page            a page that shows nothing yet: `open('#/cli')` loads the console
 *   open(hash)      loads the console at a hash and waits until it says Connected
 *   redis           call(...args), pipeline([...])
 *   gateway, browser, url
 *   shot(name)      a screenshot as it is now
 *   shots(name)     three of them: light, dark, and in a phone's width
 *   problems        errors of the page: exceptions, violations of the policy, requests to elsewhere. `stop` throws if
 *                   there are any; empty the array if they were expected
 *   stop()          ends everything
 */
export async function start({ options = [] } = {}) {
  const gateway = await Gateway.start(options);
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: CHROMIUM_FLAGS });
  const context = await browser.newContext({ viewport: { width: 1200, height: 760 }, colorScheme: 'light' });
  const permissions = ['clipboard-read', 'clipboard-write'];
  // To chromium a page from EDGECASK_CONSOLE_DIST does not come from this machine.
  if (DIST) permissions.push('local-network-access');
  await context.grantPermissions(permissions, { origin: gateway.url });
  const problems = [];
  const page = await context.newPage();
  watch(page, problems, gateway);
  if (DIST) await context.route(`${gateway.url}/**`, (route) => serveFile(route));
  let redis = await Redis.connect(gateway.port);

  const shot = async (name) => {
    await mkdir(SHOTS, { recursive: true });
    await page.screenshot({ path: path.join(SHOTS, `${name}.png`), animations: 'disabled' });
  };
  return {
    gateway, browser, context, page, problems, url: gateway.url, shot,
    get redis() {
      return redis;
    },
    /** After a restart of the gateway. */
    async redisAgain() {
      redis.close();
      redis = await Redis.connect(gateway.port);
      return redis;
    },
    async open(hash = '#/cli') {
      await page.goto(`${gateway.url}/${hash}`);
      await page.getByRole('status').filter({ hasText: /^Connected/ }).waitFor();
    },
    async shots(name) {
      const size = page.viewportSize();
      await shot(`${name}-light`);
      await page.emulateMedia({ colorScheme: 'dark' });
      await shot(`${name}-dark`);
      await page.emulateMedia({ colorScheme: 'light' });
      await page.setViewportSize({ width: 390, height: 780 });
      await shot(`${name}-phone`);
      await page.setViewportSize(size);
    },
    async stop() {
      redis.close();
      await browser.close();
      await gateway.remove();
      if (problems.length > 0) throw new Error(`the page had problems:\n${problems.join('\n')}`);
    },
  };
}

/** Puts a text into a code editor, in the place of what is there. */
export async function retype(page, editor, text) {
  await editor.click();
  await page.keyboard.press('ControlOrMeta+a');
  // Over a selection chromium itself inserts the text with the style of what was there, and reports that to the policy.
  await page.keyboard.press('Delete');
  await page.keyboard.insertText(text);
}

function watch(page, problems, gateway) {
  page.on('pageerror', (error) => problems.push(String(error.stack ?? error)));
  page.on('console', (message) => {
    // Chromium also logs lost sockets, which are not errors of the page.
    if (message.type() === 'error' && !/WebSocket connection/.test(message.text())) problems.push(message.text());
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    if (!['blob:', 'data:'].includes(url.protocol) && url.host !== new URL(gateway.url).host) problems.push(`a request to ${url}`);
  });
}

async function serveFile(route) {
  const { pathname } = new URL(route.request().url());
  const file = path.join(DIST, pathname === '/' ? 'index.html' : path.normalize(pathname));
  try {
    const headers = { 'content-type': TYPES[path.extname(file).slice(1)] ?? 'application/octet-stream' };
    await route.fulfill({ body: await readFile(file), headers: { ...headers, 'content-security-policy': POLICY } });
  } catch {
    await route.fulfill({ status: 404, body: 'not found' });
  }
}
