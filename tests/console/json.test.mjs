// JSON documents in the key browser: what paths find, editing a part, and documents that are too large to be loaded. A second client checks
// the outcome on the server.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { retype, start } from './harness.mjs';

const SHOP = '{"name":"<b>shop</b>","big":9007199254740993,"items":[{"id":1,"price":8.95},{"id":2,"price":12.5},{"id":3,"price":0.1}],"two words":null}';

let all;
let page;

before(async () => {
  all = await start();
  page = all.page;
  page.setDefaultTimeout(20_000);
});

after(() => all?.stop());

beforeEach(async () => {
  await page.goto('about:blank');
  await all.redis.call('FLUSHALL');
});

const call = (...args) => all.redis.call(...args);
const button = (name) => page.getByRole('button', { name, exact: true });
const editor = () => page.locator('.cm-content');
const text = async () => (await editor().innerText()).trimEnd();
const summary = (said) => page.locator('form.keys-bar').getByRole('status').filter({ hasText: said });
const answer = (name) => page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
const said = (what) => page.locator('.toast').filter({ hasText: what }).last().waitFor();

async function open(key) {
  await all.open(`#/keys/key/${key}`);
  await page.getByText('Encoding').waitFor();
}

async function show(path) {
  await page.getByLabel('Path', { exact: true }).fill(path);
  await page.keyboard.press('Enter');
}

test('a document loses digits, or is markup', async () => {
  await call('JSON.SET', 'shop', '$', SHOP);
  await open('shop');
  await summary(/^1 match: object, \d+ B$/).waitFor();
  await editor().waitFor();
  assert.deepEqual((await text()).split('\n').slice(0, 5), ['{', '  "name": "<b>shop</b>",', '  "big": 9007199254740993,', '  "items": [', '    {']);
  assert.match(await page.locator('.keys-facts').innerText(), /Type\s+JSON[\s\S]*Length\s+4 members/);
  await page.getByRole('treeitem', { name: 'shop, JSON' }).waitFor();
  await all.shots('json-document');
});

test('a path does not show what it finds, or how many', async () => {
  await call('JSON.SET', 'shop', '$', SHOP);
  await open('shop');
  await show('$.items[?@.price < 10]');
  await summary(/^2 matches: 2 objects/).waitFor();
  await editor().waitFor();
  assert.match(await text(), /"id": 1,[\s\S]*"id": 3,/);
  await page.getByText('To edit a value, choose a path that finds it alone.').waitFor();
  await all.shots('json-matches');
  await editor().click();
  await page.keyboard.type('x');
  assert.doesNotMatch(await text(), /x/);
  await show('$["two words"]');
  await summary(/^1 match: null/).waitFor();
  assert.equal(await text(), 'null');
  await show('.items[1].price');
  await summary(/^First match: number/).waitFor();
  assert.equal(await text(), '12.5');
  await show('$.items[');
  await page.getByRole('alert').filter({ hasText: /path error/i }).waitFor();
  await all.shots('json-path-error');
  await show('$.nothing');
  await summary('No match').waitFor();
  await button('Whole document').click();
  await summary(/^1 match: object/).waitFor();
  await show('$.items[*].price');
  await summary(/^3 matches: 3 numbers/).waitFor();
  await button('Delete all matches').click();
  await answer('Delete');
  await said('Deleted');
  await summary(/^1 match: object/).waitFor();
  assert.equal(await call('JSON.GET', 'shop', '$.items'), '[[{"id":1},{"id":2},{"id":3}]]');
  // The field is emptied.
  await show('$.name');
  await summary(/^1 match: string/).waitFor();
  await page.getByLabel('Path', { exact: true }).fill('');
  await summary(/^1 match: object/).waitFor();
});

test('more than the chosen part is written, or a number that JavaScript does not have is lost', async () => {
  await call('JSON.SET', 'shop', '$', SHOP);
  await call('EXPIRE', 'shop', '1000');
  await open('shop');
  await show('$.items[1]');
  await summary(/^1 match: object/).waitFor();
  // Another client changes another part: no conflict, and nothing of it is lost.
  await call('JSON.SET', 'shop', '$.name', '"changed"');
  await retype(page, editor(), '{"id": 12345678901234567, "price": 0.30}');
  await page.getByText('Not saved; only $.items[1] is written').waitFor();
  await all.shots('json-edit');
  await button('Save').click();
  await said('Saved');
  assert.equal(await call('JSON.GET', 'shop', '$.items[1].id'), '[12345678901234567]');
  assert.equal(await call('JSON.GET', 'shop', '$.name'), '["changed"]');
  assert.ok((await call('TTL', 'shop')) > 900);
  await button('Save').and(page.locator(':disabled')).waitFor();
  assert.match(await text(), /12345678901234567/);
});

test('a syntax error is not told while one types, or is saved', async () => {
  await call('JSON.SET', 'k', '$', '{"a":1}');
  await open('k');
  await summary(/^1 match/).waitFor();
  await retype(page, editor(), '{\n  "a": 1\n  "b": 2\n}');
  await page.getByText('Line 3, column 3: a comma or } is missing').waitFor();
  await page.locator('.cm-wrong').filter({ hasText: '"b": 2' }).waitFor();
  assert.ok(await button('Save').isDisabled());
  await all.shots('json-syntax');
  await page.keyboard.press('ControlOrMeta+s');
  await page.getByRole('alert').filter({ hasText: 'Line 3, column 3' }).waitFor();
  assert.equal(await call('JSON.GET', 'k'), '{"a":1}');
  await button('Discard changes').click();
  assert.match(await text(), /"a": 1/);
  await page.getByText('Valid JSON').waitFor();
});

test('a value that another client changed is overwritten unasked', async () => {
  await call('JSON.SET', 'k', '$', '{"a":{"b":1},"c":2}');
  await open('k');
  await show('$.a');
  await summary(/^1 match: object/).waitFor();
  await retype(page, editor(), '{"b": 10}');
  await call('JSON.SET', 'k', '$.a.b', '5');
  await button('Save').click();
  await answer('Cancel');
  assert.equal(await call('JSON.GET', 'k'), '{"a":{"b":5},"c":2}');
  assert.equal(await text(), '{"b": 10}');
  await button('Save').click();
  await answer('Overwrite');
  await said('Saved');
  assert.equal(await call('JSON.GET', 'k'), '{"a":{"b":10},"c":2}');
  // An edit is not lost by another path without a question.
  await retype(page, editor(), '{"b": 11}');
  await show('$');
  await answer('Cancel');
  assert.equal(await text(), '{"b": 11}');
});

test('a member is not added or deleted by its path', async () => {
  await call('JSON.SET', 'k', '$', '{"a":{}}');
  await open('k');
  await show('$.a.new');
  await summary('No match').waitFor();
  await button('Put a value there').click();
  await retype(page, editor(), '[1.0, "x"]');
  await button('Save').click();
  await said('Saved');
  await summary(/^1 match: array/).waitFor();
  assert.equal(await call('JSON.GET', 'k', '$.a.new[1]'), '["x"]');
  await button('Delete this part').click();
  await answer('Delete');
  await said('Deleted');
  await summary(/^1 match: object/).waitFor();
  assert.equal(await call('JSON.GET', 'k'), '{"a":{}}');
  await show('$.no.such');
  await button('Put a value there').click();
  await retype(page, editor(), '1');
  await button('Save').click();
  await page.getByRole('alert').waitFor();
  assert.equal(await call('JSON.GET', 'k'), '{"a":{}}');
});

test('a large document is loaded as a whole, or its parts cannot be reached', async () => {
  const rows = Array.from({ length: 40_000 }, (_, at) => `{"id":${at},"text":"row number ${at} of the large document"}`);
  await call('JSON.SET', 'large', '$', `{"rows":[${rows.join(',')}],"odd name":{"a":1},"small":1}`);
  await open('large');
  await page.getByText(/This value takes .*MB, and up to 524 kB are shown/).waitFor();
  assert.equal(await page.locator('.code-editor').count(), 0);
  await all.shots('json-large');
  await page.getByRole('region', { name: 'Inside' }).getByRole('button', { name: 'rows' }).click();
  await page.getByText('40,000 elements').waitFor();
  await button('$.rows[-100:]').click();
  await summary(/^100 matches: 100 objects/).waitFor();
  await editor().getByText('39900', { exact: true }).waitFor();
  await show('$.rows[39999].text');
  await summary(/^1 match: string/).waitFor();
  await retype(page, editor(), '"edited"');
  await button('Save').click();
  await said('Saved');
  assert.equal(await call('JSON.GET', 'large', '$.rows[39998:].text'), '["row number 39998 of the large document","edited"]');
  await button('Whole document').click();
  await button('odd name').click();
  await summary(/^1 match: object/).waitFor();
  assert.equal(await page.getByLabel('Path', { exact: true }).inputValue(), '$["odd name"]');
});

test('a document is not made, or is no JSON', async () => {
  await all.open('#/keys');
  await button('New key').click();
  await page.getByLabel('JSON', { exact: true }).check();
  await page.getByLabel('Name', { exact: true }).fill('made');
  await retype(page, editor(), '{"a": 1.10,}');
  await button('Create').click();
  await page.getByRole('alert').filter({ hasText: 'Line 1, column 12: a name in double quotes is missing' }).waitFor();
  await all.shots('json-new');
  await retype(page, editor(), '{"a": 12345678901234567}');
  await button('Create').click();
  await page.getByRole('heading', { name: 'made' }).waitFor();
  assert.equal(await call('JSON.GET', 'made', '$.a'), '[12345678901234567]');
  await call('SET', 'text', '1');
  await button('Refresh').first().click();
  await page.getByText('2 keys', { exact: true }).waitFor();
  await page.getByLabel('Filter by type').selectOption('JSON');
  await page.getByText('1 key of 2').waitFor();
});

test('a value of unknown size is loaded unasked', async () => {
  await call('JSON.SET', 'k', '$', '{"a":{"b":1},"c":2}');
  await call('ACL', 'SETUSER', 'default', '-json.debug');
  await open('k');
  await page.getByText('The server does not tell how large this is').waitFor();
  assert.equal(await page.locator('.code-editor').count(), 0);
  await button('c').click();
  await editor().waitFor();
  assert.equal(await text(), '2');
  await button('Whole document').click();
  await button('Load it').click();
  await retype(page, editor(), '{"a":1}');
  await button('Save').click();
  await said('Saved');
  assert.equal(await call('JSON.GET', 'k'), '{"a":1}');
  await call('ACL', 'SETUSER', 'default', '+json.debug');
});
