// Results of SQL as graphs: what is drawn, and how it is moved, enlarged, read and expanded by mouse, wheel, fingers and keys.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { retype, start } from './harness.mjs';

const SCHEMA = `CREATE TABLE graph_node(id TEXT PRIMARY KEY, label TEXT, properties TEXT);
CREATE TABLE graph_edge(source TEXT, type TEXT, target TEXT, weight REAL, properties TEXT);
CREATE TABLE web(source INTEGER, target INTEGER);
INSERT INTO graph_node VALUES ('ada', 'Person', '{"born":1815,"id":9007199254740993}'), ('charles', 'Person', '{"born":1791}');
INSERT INTO graph_edge VALUES ('ada', 'knows', 'charles', 0.9, '{"since":1833}'), ('charles', 'knows', 'ada', 0.9, NULL), ('mary', 'taught', 'ada', 1, NULL),
  ('ada', 'wrote', '<b>notes</b>', NULL, NULL), ('charles', 'designed', 'engine', NULL, NULL), ('engine', 'improves', 'engine', NULL, NULL);
WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 900) INSERT INTO web SELECT n, (n * 7919) % (n / 2 + 1) FROM c`;

let all;
let page;

before(async () => {
  all = await start();
  page = all.page;
  page.setDefaultTimeout(20_000);
  await all.redis.call('SQL.SCRIPT', 'net', SCHEMA);
});

after(() => all?.stop());

const region = (name) => page.getByRole('region', { name, exact: true });
const button = (name) => page.getByRole('button', { name, exact: true });
const picture = () => page.getByRole('application', { name: /^Graph:/ });
const node = (id) => picture().getByRole('button', { name: new RegExp(`^${id}, `) });
const summary = () => page.getByRole('figure', { name: 'Graph', exact: true }).locator('figcaption').getByRole('status');
const ids = async () => (await picture().locator('.graph-label').allTextContents()).sort();

async function run(text) {
  await retype(page, region('Text').locator('.cm-content'), text);
  await page.keyboard.press('ControlOrMeta+Enter');
  await region('Text').locator('button:enabled').filter({ hasText: /^\s*Run$/ }).waitFor();
}

/** Where the group stands that is moved and enlarged. */
async function frame() {
  const found = /translate\(([-\d.e]+) ([-\d.e]+)\) scale\(([-\d.e]+)\)/.exec(await picture().locator('> g').getAttribute('transform'));
  return { x: Number(found[1]), y: Number(found[2]), scale: Number(found[3]) };
}

/** Waits until the frame is one that is wanted. */
async function until(isWanted) {
  const end = Date.now() + 10_000;
  for (;;) {
    const now = await frame();
    if (isWanted(now)) return now;
    if (Date.now() > end) assert.fail(`the frame is ${JSON.stringify(now)}`);
    await page.waitForTimeout(20);
  }
}

test('rows with source and target are drawn, and no name is markup', async () => {
  await all.open('#/sql/net');
  await run("SELECT * FROM graph_edge WHERE source = 'ada' OR target = 'ada'");
  await region('Result').getByText('4 rows,').waitFor();
  await button('Graph').click();
  await node('mary').waitFor();
  assert.equal(await summary().textContent(), '4 nodes, 4 edges');
  assert.deepEqual(await ids(), ['<b>notes</b>', 'ada', 'charles', 'mary']);
  assert.equal(await picture().locator('.graph-edge title').first().textContent(), 'ada → charles\ntype: knows\nweight: 0.9\nproperties: {"since":1833}');
  assert.equal(await page.locator('.graph b').count(), 0);
  await picture().scrollIntoViewIfNeeded();
  await all.shots('graph');
});

test('the same rows are another picture', async () => {
  const places = () => picture().locator('.graph-node').evaluateAll((nodes) => nodes.map((each) => each.getAttribute('transform')));
  const first = await places();
  await button('Graph').click();
  assert.equal(await picture().count(), 0);
  await button('Graph').click();
  await node('mary').waitFor();
  assert.deepEqual(await places(), first);
});

test('a node shows what it is, and is expanded by its edges', async () => {
  await node('charles').click();
  const panel = region('Node charles');
  await panel.getByText('Person').waitFor();
  await panel.getByText('2 edges').waitFor();
  await page.getByLabel('Edges from').selectOption('graph_edge');
  await panel.getByRole('button', { name: 'Expand' }).click();
  await panel.getByText('All of its edges in graph_edge were added.').waitFor();
  await node('engine').waitFor();
  assert.equal(await summary().textContent(), '5 nodes, 5 edges');
  await all.shots('graph-expanded');
  await panel.getByRole('button', { name: 'ada' }).first().click();
  // A number in the properties keeps its digits.
  await region('Node ada').getByText('"id": 9007199254740993').waitFor();
  await region('Node ada').getByRole('button', { name: 'Close' }).click();
  assert.equal(await page.locator('.graph-panel').count(), 0);
  await node('engine').click();
  await region('Node engine').getByRole('button', { name: 'Expand' }).click();
  await page.getByText('5 nodes, 6 edges').waitFor();
  await region('Node engine').getByText('improves').first().waitFor();
  await page.keyboard.press('Escape');
  await page.locator('.graph-panel').waitFor({ state: 'detached' });
});

test('the picture is moved and enlarged by mouse, wheel and fingers', async () => {
  await button('Fit').click();
  const start = await frame();
  const box = await picture().boundingBox();
  const at = { x: box.x + 30, y: box.y + 30 };
  await page.mouse.move(at.x, at.y);
  await page.mouse.down();
  await page.mouse.move(at.x + 50, at.y + 20, { steps: 5 });
  await page.mouse.up();
  const dragged = await until((now) => now.x === start.x + 50 && now.y === start.y + 20);
  const scrolled = await page.locator('main').evaluate((main) => main.scrollTop);
  await page.mouse.move(at.x, at.y);
  await page.mouse.wheel(0, -200);
  const near = await until((now) => now.scale > dragged.scale);
  // The page has not scrolled, and what was under the pointer is there still.
  assert.equal(await page.locator('main').evaluate((main) => main.scrollTop), scrolled);
  const under = (one) => (30 - one.x) / one.scale;
  assert.ok(Math.abs(under(near) - under(dragged)) < 0.5);
  await picture().evaluate((svg) => {
    const { left, top } = svg.getBoundingClientRect();
    const touch = (type, pointerId, x, y) =>
      svg.dispatchEvent(new PointerEvent(type, { pointerId, pointerType: 'touch', clientX: left + x, clientY: top + y, bubbles: true, button: type === 'pointermove' ? -1 : 0 }));
    // A script's pointers cannot be captured.
    svg.setPointerCapture = () => undefined;
    touch('pointerdown', 7, 100, 100);
    touch('pointerdown', 8, 200, 100);
    touch('pointermove', 8, 300, 100);
    touch('pointerup', 7, 100, 100);
    touch('pointerup', 8, 300, 100);
    delete svg.setPointerCapture;
  });
  await until((now) => Math.abs(now.scale / near.scale - 2) < 0.01);
  await button('Fit').click();
  await until((now) => now.scale === start.scale);
  await button('Enlarge').click();
  await until((now) => now.scale > start.scale);
  await button('Reduce').click();
  await until((now) => Math.abs(now.scale - start.scale) < 1e-6);
});

test('the picture goes by the keyboard', async () => {
  await button('Fit').click();
  await page.keyboard.press('Tab');
  const start = await frame();
  await page.keyboard.press('ArrowRight');
  await until((now) => now.x === start.x - 48);
  await page.keyboard.press('+');
  await until((now) => now.scale > start.scale);
  await page.keyboard.press('0');
  await until((now) => now.x === start.x && now.scale === start.scale);
  await page.keyboard.press('Enter');
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? '');
  const first = await focused();
  // The node that had the focus last.
  assert.match(first, /^engine, 2 edges$/);
  const seen = new Set([first]);
  for (const key of ['ArrowLeft', 'ArrowUp', 'ArrowRight', 'ArrowDown', 'ArrowLeft', 'ArrowDown', 'ArrowRight']) {
    await page.keyboard.press(key);
    seen.add(await focused());
  }
  assert.ok(seen.size >= 3, [...seen].join('; '));
  const here = (await focused()).split(', ')[0];
  await page.keyboard.press('Enter');
  await region(`Node ${here}`).waitFor();
  await all.shots('graph-keyboard');
  await page.keyboard.press('Escape');
  await page.locator('.graph-panel').waitFor({ state: 'detached' });
});

test('steps of a walk are drawn from the node before', async () => {
  await run("SELECT 'a' AS node, NULL AS previous, NULL AS type, 0 AS depth UNION ALL SELECT 'b', 'a', 'to', 1 UNION ALL SELECT 'c', 'b', 'to', 2");
  await page.getByText('3 nodes, 2 edges').waitFor();
  assert.deepEqual(await ids(), ['a', 'b', 'c']);
  await node('c').click();
  assert.match(await region('Node c').innerText(), /depth\s+2/);
  await run('SELECT 1 AS one');
  assert.equal(await button('Graph').count(), 0);
});

test('more nodes than one can read are counted and not drawn', async () => {
  await run('SELECT * FROM web');
  await page.getByText('201 nodes, 200 edges').waitFor();
  await button('More rows').click();
  await page.getByText('401 nodes and 401 edges more are not drawn').waitFor();
  await page.waitForFunction(() => document.querySelectorAll('.graph-node').length === 500);
  await picture().scrollIntoViewIfNeeded();
  await all.shots('graph-large');
});
