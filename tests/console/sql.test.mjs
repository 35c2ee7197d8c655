// The page of SQL: texts run, results are shown, drawn and exported, plans are trees, queries are kept; and databases in the key browser.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { retype, start } from './harness.mjs';

const SCHEMA = `CREATE TABLE sale(id INTEGER PRIMARY KEY, day TEXT NOT NULL, total REAL DEFAULT 0, picture BLOB);
CREATE INDEX sale_day ON sale(day);
CREATE VIEW large AS SELECT * FROM sale WHERE total > 20;
INSERT INTO sale VALUES (1, '<b>mon</b>', 10.5, x'00ff'), (2, 'tue, "noon"', 30, NULL), (9007199254740993, '', 21.25, NULL)`;

let all;
let page;

before(async () => {
  all = await start();
  page = all.page;
  page.setDefaultTimeout(20_000);
});

after(() => all?.stop());

const call = (...args) => all.redis.call(...args);
const region = (name) => page.getByRole('region', { name, exact: true });
const button = (name) => page.getByRole('button', { name, exact: true });
const cells = () => region('Result').locator('tbody tr').evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));

const type = (text) => retype(page, region('Text').locator('.cm-content'), text);

/** Types a text and runs it to its end. */
async function run(text) {
  await type(text);
  await page.keyboard.press('ControlOrMeta+Enter');
  await region('Text').locator('button:enabled').filter({ hasText: /^\s*Run$/ }).waitFor();
}

test('a database is made by its first statement', async () => {
  await all.open('#/sql');
  await region('Tables').getByText('No tables.').waitFor();
  await page.getByLabel('SQL database').fill('shop');
  await page.getByLabel('SQL database').press('Enter');
  await run(SCHEMA);
  await region('Result').getByText('3 rows changed').waitFor();
  assert.equal(await call('TYPE', 'shop'), 'sqldb');
  await region('Tables').getByText('large', { exact: true }).waitFor();
  await region('Tables').getByText('sale', { exact: true }).click();
  assert.match(await region('Tables').innerText(), /total REAL/);
});

test('a result has the types of its values, and none of them is markup', async () => {
  await run('SELECT * FROM sale ORDER BY id');
  await region('Result').getByText('3 rows,').waitFor();
  assert.deepEqual(await cells(), [
    ['1', '<b>mon</b>', '10.5', "x'00ff'"],
    ['2', 'tue, "noon"', '30', 'NULL'],
    ['9007199254740993', '', '21.25', 'NULL'],
  ]);
  assert.deepEqual(
    await region('Result').locator('thead th').evaluateAll((heads) => heads.map((head) => head.textContent)),
    ['id integer', 'day text', 'total real', 'picture blob'],
  );
});

test('exports have every digit, quotes and line ends', async () => {
  const contents = {};
  for (const kind of ['CSV', 'JSON']) {
    const [download] = await Promise.all([page.waitForEvent('download'), button(kind).click()]);
    assert.equal(download.suggestedFilename(), `shop.${kind.toLowerCase()}`);
    contents[kind] = await readFile(await download.path(), 'utf8');
  }
  assert.equal(contents.CSV, 'id,day,total,picture\r\n1,<b>mon</b>,10.5,00ff\r\n2,"tue, ""noon""",30,\r\n9007199254740993,"",21.25,\r\n');
  assert.match(contents.JSON, /"id": 9007199254740993, "day": "", "total": 21.25, "picture": null/);
  assert.equal(JSON.parse(contents.JSON).length, 3);
});

test('numbers are drawn', async () => {
  await run("SELECT day, total, total / 2 AS half FROM sale WHERE day <> '' ORDER BY id");
  await region('Result').getByText('2 rows,').waitFor();
  await button('Chart').click();
  const chart = page.getByRole('img', { name: 'total, half of 2 rows' });
  await chart.waitFor();
  assert.equal(await chart.locator('rect').count(), 4);
  assert.equal(await chart.locator('rect title').first().textContent(), '<b>mon</b>: total 10.5');
  await all.shots('sql-chart');
});

test('a plan is a tree', async () => {
  await type('SELECT * FROM sale WHERE day IN (SELECT day FROM large) ORDER BY total');
  await button('Plan').click();
  const plan = region('Result').locator('.sql-plan').first();
  await plan.getByText('SEARCH sale USING INDEX sale_day').waitFor();
  assert.ok(await plan.locator('.sql-plan').count() >= 1, await plan.innerText());
  await all.shots('sql-plan');
});

test('an error loses the text or the result is another one', async () => {
  await run('SELEC 1');
  await region('Result').getByRole('alert').getByText('near "SELEC": syntax error').waitFor();
  assert.equal(await region('Text').locator('.cm-content').innerText(), 'SELEC 1');
  await run('INSERT INTO sale(id, day) VALUES (1, 0)');
  await region('Result').getByRole('alert').getByText('UNIQUE constraint failed: sale.id').waitFor();
});

test('what is selected runs alone', async () => {
  await type("SELECT 'first'\n;SELECT 'second'");
  await page.keyboard.press('ControlOrMeta+Home');
  await page.keyboard.press('Shift+End');
  await page.keyboard.press('ControlOrMeta+Enter');
  await region('Result').getByText('1 row,').waitFor();
  assert.deepEqual(await cells(), [['first']]);
});

test('a long result is read as far as one asks', async () => {
  await run('WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 1500) SELECT n FROM c');
  await region('Result').getByText('first 200 rows,').waitFor();
  await button('More rows').click();
  await region('Result').getByText('first 1,200 rows,').waitFor();
  await button('More rows').click();
  await region('Result').getByText(/^1,500 rows,/).waitFor();
  assert.equal(await button('More rows').count(), 0);
  assert.deepEqual((await cells()).at(-1), ['1500']);
});

test('a text without end cannot be stopped', async () => {
  await type('WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c');
  await page.keyboard.press('ControlOrMeta+Enter');
  await button('Stop').click();
  await region('Result').getByRole('alert').waitFor();
  await run('SELECT 7');
  await region('Result').getByText('1 row,').waitFor();
});

// Just after a list opened, its editor takes no key for it: a user did not mean it yet (75 ms, `interactionDelay` of CodeMirror).
const accept = async () => {
  await page.waitForTimeout(100);
  await page.keyboard.press('Tab');
};

test('tables and columns are not offered while one types', async () => {
  await type('SELECT sale.');
  await page.keyboard.type('to');
  const offered = region('Text').locator('.cm-tooltip-autocomplete li');
  await offered.filter({ hasText: 'total' }).waitFor();
  await accept();
  assert.equal(await region('Text').locator('.cm-content').innerText(), 'SELECT sale.total');
  await page.keyboard.type(' FROM lar');
  await offered.filter({ hasText: 'large' }).waitFor();
  await all.shots('sql-completion');
  await accept();
  await page.keyboard.press('ControlOrMeta+a');
  assert.equal(await region('Text').locator('.cm-content').innerText(), 'SELECT sale.total FROM large');
});

test('a saved query is gone after the page was loaded again', async () => {
  await type('SELECT max(total) FROM sale');
  await page.getByLabel('Name of the query').fill('best');
  await button('Save').click();
  await all.open('#/sql/shop');
  await region('Saved').getByRole('button', { name: 'best', exact: true }).click();
  await button('Run').click();
  await region('Result').getByText('1 row,').waitFor();
  assert.deepEqual(await cells(), [['30']]);
  await page.getByText('History', { exact: true }).click();
  await page.getByRole('button', { name: 'SELEC 1' }).waitFor();
  await button('Forget best').click();
  await region('Saved').getByText('Queries that you save stay in this browser.').waitFor();
});

test('the key browser shows no schema', async () => {
  await call('SQL.EXEC', Buffer.from([0xff, 0x20]), 'CREATE TABLE odd(a UNIQUE)');
  await all.open('#/keys/key/shop');
  const schema = region('Schema');
  await schema.getByText('table, 3 rows').waitFor();
  assert.match(await region('table sale').innerText(), /id\s+INTEGER\s+primary key[\s\S]*day\s+TEXT\s+not null[\s\S]*total\s+REAL\s+default 0/);
  await region('table sale').getByText('CREATE INDEX sale_day ON sale(day)').waitFor();
  await region('view large').waitFor();
  await all.shots('keys-sqldb');
  await page.goto(`${all.url}/#/keys/key/%FF%20`);
  await region('table odd').getByText('INDEX sqlite_autoindex_odd_1').waitFor();
  await region('Schema').getByRole('link', { name: 'Open in the SQL page' }).click();
  await region('Tables').getByText('odd', { exact: true }).waitFor();
  await run('INSERT INTO odd VALUES (5)');
  await region('Result').getByText('1 row changed').waitFor();
  assert.deepEqual(await call('SQL.EXEC', Buffer.from([0xff, 0x20]), 'SELECT * FROM odd'), [['a'], ['5']]);
});
