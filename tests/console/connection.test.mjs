// The page's first moments, what it weighs, and how it keeps its connection.

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { Gateway, start } from './harness.mjs';
import { Redis } from './redis.mjs';

/** Budgets of the console: the compressed size of the first view, and the time to its first paint on loopback. */
const WEIGHT_MAX_BYTES = 500_000;
const FIRST_PAINT_MAX_MS = 1000;

describe('the first view', () => {
  let console_;
  before(async () => {
    console_ = await start();
  });
  after(() => console_.stop());

  it('is painted and weighs within its budgets', async () => {
    const { page } = console_;
    const bodies = [];
    page.on('response', (response) => bodies.push(response.body()));
    await console_.open();
    await page.getByRole('textbox', { name: 'Command' }).waitFor();
    await page.waitForLoadState('networkidle');
    const weight = (await Promise.all(bodies)).reduce((sum, body) => sum + gzipSync(body, { level: 9 }).length, 0);
    assert.ok(weight > 10_000 && weight <= WEIGHT_MAX_BYTES, `${weight} bytes`);
    const paint = await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0].startTime);
    console.log(`first paint ${Math.round(paint)} ms, ${Math.round(weight / 1000)} kB compressed`);
    assert.ok(paint <= FIRST_PAINT_MAX_MS, `${paint} ms`);
  });

  it('has a header without parts that lie over others, in every width', async () => {
    const { page } = console_;
    const size = page.viewportSize();
    for (const width of [1280, 1191, 1190, 900, 600, 360]) {
      await page.setViewportSize({ width, height: 700 });
      const overlaps = await page.evaluate(() => {
        const boxes = [...document.querySelectorAll('.brand, .tab > span, .bar-end > :not(.off-screen)')].map((part) => part.getBoundingClientRect());
        const isOver = (one, other) =>
          one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
        const isOutside = (box) => box.right > innerWidth || box.left < 0;
        return boxes.filter((box, at) => isOutside(box) || boxes.slice(at + 1).some((other) => isOver(box, other))).length;
      });
      assert.equal(overlaps, 0, `at ${width} pixels`);
    }
    await page.setViewportSize(size);
  });
});

describe('the connection', () => {
  let console_;
  let page;
  before(async () => {
    console_ = await start();
    page = console_.page;
    await console_.open();
  });
  after(() => console_.stop());

  const badge = () => page.getByRole('status').filter({ hasText: /onnect|Lost/ });

  it('connects again when the gateway is back, and shows its state meanwhile', async () => {
    await page.getByRole('combobox', { name: 'Database' }).selectOption('5');
    await page.getByText('[5]>').waitFor();
    await console_.gateway.stop();
    await badge().filter({ hasText: 'Lost' }).waitFor();
    await console_.shot('connection-lost');
    const editor = page.getByRole('textbox', { name: 'Command' });
    // A command given meanwhile waits for the connection.
    await editor.fill('SET after-restart 1');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Enter');
    await page.getByText('running').waitFor();
    await console_.gateway.again();
    const redis = await console_.redisAgain();
    await badge().filter({ hasText: /^Connected/ }).waitFor();
    await page.locator('.entry').last().getByText('OK', { exact: true }).waitFor();
    await redis.call('SELECT', '5');
    assert.equal(await redis.call('GET', 'after-restart'), '1');
  });

  it('asks for the password, says that it is wrong, and remembers it only if asked', async () => {
    await console_.gateway.stop();
    await console_.gateway.again(['--requirepass', 'right horse']);
    const dialog = page.getByRole('dialog', { name: 'Connection' });
    await dialog.waitFor();
    assert.match(await dialog.getByRole('alert').innerText(), /^NOAUTH/);
    await dialog.getByLabel('Password', { exact: true }).fill('wrong');
    await page.keyboard.press('Enter');
    await dialog.getByRole('alert').filter({ hasText: 'WRONGPASS' }).waitFor();
    await console_.shots('connection-dialog');
    await dialog.getByLabel('Password', { exact: true }).fill('right horse');
    await page.keyboard.press('Enter');
    await dialog.waitFor({ state: 'detached' });
    await badge().filter({ hasText: /^Connected/ }).waitFor();
    const stored = () => page.evaluate(() => JSON.stringify({ ...localStorage }));
    assert.doesNotMatch(await stored(), /right horse/);

    await page.reload();
    await dialog.waitFor();
    await dialog.getByLabel('Password', { exact: true }).fill('right horse');
    await dialog.getByLabel('Remember the password').check();
    await dialog.getByRole('button', { name: 'Connect', exact: true }).click();
    await badge().filter({ hasText: /^Connected/ }).waitFor();
    assert.match(await stored(), /right horse/);
    await page.reload();
    await badge().filter({ hasText: /^Connected/ }).waitFor();
  });

  it('refuses an invalid address, and goes back to the one before', async () => {
    await page.getByRole('button', { name: /Connected/ }).click();
    const dialog = page.getByRole('dialog', { name: 'Connection' });
    const address = dialog.getByLabel('Address');
    const before = await address.inputValue();
    await address.fill('http://');
    await page.keyboard.press('Enter');
    await dialog.getByRole('alert').filter({ hasText: 'not the address' }).waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: /Connected/ }).click();
    assert.equal(await address.inputValue(), before);
    await page.keyboard.press('Escape');
  });

  it('leads to another server, and takes the command line with it', async () => {
    const other = await Gateway.start(['--http-origins', console_.url]);
    try {
      const editor = page.getByRole('textbox', { name: 'Command' });
      const run = async (line) => {
        await editor.fill(line);
        await page.keyboard.press('Escape');
        await page.keyboard.press('Enter');
      };
      await run('SET here 1');
      await page.locator('.entry').last().getByText('OK', { exact: true }).waitFor();
      await page.getByRole('button', { name: /Connected/ }).click();
      const dialog = page.getByRole('dialog', { name: 'Connection' });
      await dialog.getByLabel('Address').fill(`127.0.0.1:${other.httpPort}`);
      await dialog.getByLabel('Password', { exact: true }).fill('');
      await page.keyboard.press('Enter');
      await dialog.waitFor({ state: 'detached' });
      await run('SET there 1');
      await page.locator('.entry').last().getByText('OK', { exact: true }).waitFor();
      const redis = await Redis.connect(other.port);
      assert.deepEqual(await redis.call('KEYS', '*'), ['there']);
      redis.close();
      await page.getByRole('button', { name: /Connected/ }).click();
      await dialog.getByRole('button', { name: 'Use the gateway of this page' }).click();
      await dialog.getByLabel('Password', { exact: true }).fill('right horse');
      await page.keyboard.press('Enter');
      await dialog.waitFor({ state: 'detached' });
      await badge().filter({ hasText: /^Connected/ }).waitFor();
    } finally {
      await other.remove();
    }
  });

  it('colours follow the system or the choice', async () => {
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    await page.emulateMedia({ colorScheme: 'light' });
    const light = await ground();
    await page.emulateMedia({ colorScheme: 'dark' });
    const dark = await ground();
    assert.notEqual(light, dark);
    await page.getByRole('button', { name: 'Colours: as the system' }).click();
    assert.equal(await ground(), light);
    await page.getByRole('button', { name: 'Colours: light' }).click();
    assert.equal(await ground(), dark);
    await page.reload();
    await page.getByRole('button', { name: 'Colours: dark' }).click();
  });
});
