// The page of search: indexes are listed and described, searches run while one types, tags filter, queries are explained, errors are shown.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { start } from './harness.mjs';

const FILMS = [
  ['film:1', 'title', 'The Matrix', 'plot', 'A hacker learns that the <b>world</b> is a simulation.', 'genre', 'action,scifi', 'year', '1999', 'votes', '9000'],
  ['film:2', 'title', 'The Matrix Reloaded', 'plot', 'Zion has 72 hours.', 'genre', 'Action, SciFi', 'year', '2003', 'votes', '50'],
  ['film:3', 'title', 'Amélie', 'plot', 'A waitress changes lives in Montmartre.', 'genre', 'comedy,romance', 'year', '2001', 'votes', '700'],
  ['film:4', 'title', 'Mad Max: Fury Road', 'plot', `${'sand '.repeat(100)}chase${' sand'.repeat(100)}`, 'genre', 'action', 'year', '2015', 'votes', '2000'],
  ['film:5', 'title', 'Unknown', 'year', '1990', 'extra', Buffer.from([0, 255])],
];
const INSTANT = 'FT.CREATE films ANALYZER INSTANT PREFIX 1 film: SCHEMA title TEXT WEIGHT 2 plot TEXT genre TAG year NUMERIC SORTABLE votes NUMERIC';
const PLAIN = 'FT.CREATE plain PREFIX 1 film: SCHEMA title TEXT NOSTEM genre AS kind TAG CASESENSITIVE year NUMERIC';

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
const group = (name) => page.getByRole('group', { name, exact: true });
const button = (name) => page.getByRole('button', { name, exact: true });
const box = () => page.getByRole('searchbox');
const status = (text) => region('Results').getByRole('status').filter({ hasText: text });
const keys = () => region('Results').getByRole('listitem').getByRole('link').allInnerTexts();
const marked = () => region('Results').locator('mark').allInnerTexts();
const tags = async (name) => Object.fromEntries((await group(name).getByRole('button').allInnerTexts()).map((text) => text.split(/\s+(?=\d+$)/)));

/** Waits until `read` gives `wanted`: the status of the search before may read the same as that of the next. */
async function shows(read, wanted) {
  let seen;
  for (const end = Date.now() + 20_000; Date.now() < end; await page.waitForTimeout(20)) {
    seen = await read();
    if (isDeepStrictEqual(seen, wanted)) return;
  }
  assert.deepEqual(seen, wanted);
}

/** Types as a person does, so that each key is a search. */
async function retypeBox(text) {
  await box().fill('');
  await box().pressSequentially(text);
}

test('a database without an index does not say how one is made', async () => {
  await all.open('#/search');
  await region('No indexes').getByText('Database 0 has no index.').waitFor();
  const example = await region('No indexes').locator('pre').innerText();
  assert.match(example, /^FT\.CREATE films ANALYZER INSTANT PREFIX 1 film: SCHEMA /);
  await all.shots('search-none');
  // What the page proposes is what the server takes.
  await call(...example.split('\n')[0].split(' '));
  await button('Refresh').click();
  await region('Index').getByRole('heading', { name: 'films' }).waitFor();
  await call('FT.DROPINDEX', 'films');
  await button('Refresh').click();
  await region('No indexes').waitFor();
});

test('an index is not described', async () => {
  for (const [key, ...fields] of FILMS) await call('HSET', key, ...fields);
  await call('HSET', 'film:6', 'title', 'Wrong', 'year', 'never');
  await call(...INSTANT.split(' '));
  await call(...PLAIN.split(' '));
  await all.open('#/search/films');
  await region('Index').getByText('Documents').waitFor();
  await region('Indexes').getByRole('link', { name: /^plain/ }).waitFor();
  // Keys are read in the background.
  for (let round = 0; !/^films 5 documents/.test((await region('Indexes').getByRole('link').first().innerText()).replace(/\s+/g, ' ')); round += 1) {
    assert.ok(round < 100, await region('Indexes').innerText());
    await button('Refresh').click();
    await page.waitForTimeout(50);
  }
  const text = (await region('Index').innerText()).replace(/\s+/g, ' ');
  assert.match(text, /^films ANALYZER INSTANT Documents 5 Memory [\d.]+ k?B Terms \d+ Segments \d+ Covers film:\*/);
  assert.match(text, /1 hash is left out: a value does not fit its field\./);
  assert.match(text, /title TEXT weight 2 plot TEXT weight 1 genre TAG year NUMERIC sortable votes NUMERIC/);
});

test('results do not come while one types, or a typo finds nothing', async () => {
  await retypeBox('matrx relo');
  await status(/^2 results in [\d.]+ ms$/).waitFor();
  await shows(keys, ['film:2', 'film:1']);
  await shows(async () => (await marked()).includes('Matrix'), true);
  await retypeBox('amelie');
  await status(/^1 result in/).waitFor();
  await shows(keys, ['film:3']);
  await retypeBox('worl');
  await status(/^1 result in/).waitFor();
  await shows(marked, ['worl']);
  assert.match(await region('Results').innerText(), /that the <b>world<\/b> is a simulation/);
  await retypeBox('chase');
  await region('Results').getByText('film:4').waitFor();
  assert.match(await region('Results').locator('dd').filter({ hasText: 'chase' }).innerText(), /^….*sand chase sand.*…$/);
});

test('signs of the query language are an error while one types', async () => {
  for (const text of ['(', '"the ma', 'mad -', '@title:{', 'fury-road | x*', 'the']) {
    await retypeBox(text);
    await status(/results? in/).waitFor();
    assert.equal(await region('Results').getByRole('alert').count(), 0, text);
  }
});

test('tags are not counted, or do not filter', async () => {
  await box().fill('');
  await status(/^5 results/).waitFor();
  await group('genre').getByRole('button', { name: 'action 3' }).waitFor();
  await shows(() => tags('genre'), { action: '3', scifi: '2', comedy: '1', romance: '1' });
  await group('genre').getByRole('button', { name: 'scifi 2' }).click();
  await status(/^2 results/).waitFor();
  await retypeBox('reload');
  await status(/^1 result in/).waitFor();
  await group('genre').getByRole('button', { name: 'scifi 1', exact: true }).waitFor();
  await shows(keys, ['film:2']);
  await all.shots('search-facet');
  // The field's own filter does not count: another value may be added.
  await retypeBox('a');
  await group('genre').getByRole('button', { name: /^comedy/ }).click();
  await group('genre').getByRole('button', { name: /^comedy/, pressed: true }).waitFor();
  await group('genre').getByRole('button', { name: /^comedy/ }).click();
  await group('genre').getByRole('button', { name: /^scifi/ }).click();
  assert.equal(await group('genre').getByRole('button', { pressed: true }).count(), 0);
});

test('results have one order', async () => {
  await box().fill('');
  await status(/^5 results/).waitFor();
  await page.getByLabel('Order').selectOption('year, greatest first');
  await region('Results').getByRole('listitem').first().getByText('film:4').waitFor();
  await shows(keys, ['film:4', 'film:2', 'film:3', 'film:1', 'film:5']);
  await page.getByLabel('Order').selectOption('Best match and votes');
  await region('Results').getByRole('listitem').first().getByText('film:1').waitFor();
  await shows(keys, ['film:1', 'film:4', 'film:3', 'film:2', 'film:5']);
  await page.getByLabel('Order').selectOption('Best match first');
});

test('a query of the query language does not run, or its error is lost', async () => {
  await page.getByRole('radio', { name: 'Query language' }).check();
  await box().fill('@year:[2000 inf] -@genre:{comedy}');
  await box().press('Enter');
  await status(/^2 results/).waitFor();
  await shows(async () => (await keys()).sort(), ['film:2', 'film:4']);
  await box().fill('@year:[2000');
  await box().press('Enter');
  await region('Results').getByRole('alert').getByText(/^Syntax error at offset/).waitFor();
  assert.equal(await box().inputValue(), '@year:[2000');
  // Dialect 1, the default, finds nothing.
  await box().fill('@nope:x');
  await box().press('Enter');
  await status(/^0 results/).waitFor();
  await page.getByLabel('Dialect').selectOption('Dialect 2');
  await region('Results').getByRole('alert').getByText('Unknown field at offset 0 near nope').waitFor();
  await all.shots('search-error');
});

test('nobody knows how the server understands a query', async () => {
  await page.getByLabel('Dialect').selectOption('Default dialect');
  await box().fill('running (mad | matrix)');
  await box().press('Enter');
  await button('Explain').click();
  const shown = group('Explanation');
  await shown.getByText('INTERSECT {').waitFor();
  assert.match(await shown.innerText(), /FT\.SEARCH films "running \(mad \| matrix\)" WITHSCORES HIGHLIGHT LIMIT 0 20[\s\S]*UNION \{/);
  await all.shots('search-explain');
  await box().fill('(');
  await box().press('Enter');
  await shown.getByRole('alert').getByText(/^Syntax error/).waitFor();
  await button('Explain').click();
  assert.equal(await shown.count(), 0);
});

test('an index without ANALYZER INSTANT cannot be searched as one types', async () => {
  await region('Indexes').getByRole('link', { name: /^plain/ }).click();
  await region('Index').getByText('nostem').waitFor();
  assert.ok(await page.getByRole('radio', { name: 'Query language' }).isChecked());
  await status(/^5 results/).waitFor();
  await group('kind').getByRole('button', { name: 'scifi 1', exact: true }).click();
  await status(/^1 result in/).waitFor();
  await shows(keys, ['film:1']);
  await group('kind').getByRole('button', { name: /^SciFi/ }).click();
  await status(/^2 results/).waitFor();
  await page.getByRole('radio', { name: 'As one types' }).check();
  await retypeBox('matrx re');
  await shows(async () => (await keys())[0], 'film:2');
});

test('results beyond the first page cannot be seen, or a hit has no way to its key', async () => {
  await call('SELECT', '1');
  for (let at = 0; at < 45; at += 1) await call('HSET', `n:${at} é`, 'word', `same word${at}`);
  await call('FT.CREATE', Buffer.from([0x69, 0xff]), 'ANALYZER', 'INSTANT', 'PREFIX', '1', 'n:', 'SCHEMA', 'word', 'TEXT');
  await call('SELECT', '0');
  await page.getByLabel('Database').selectOption('1');
  await region('Indexes').getByRole('link', { name: /^"i\\xff"/ }).waitFor();
  await status(/^45 results/).waitFor();
  await retypeBox('same');
  const pages = page.getByRole('navigation', { name: 'Pages of results' });
  await pages.getByText('1–20 of 45').waitFor();
  assert.ok(await pages.getByRole('button', { name: 'Previous' }).isDisabled());
  await pages.getByRole('button', { name: 'Next' }).click();
  await pages.getByText('21–40 of 45').waitFor();
  await pages.getByRole('button', { name: 'Next' }).click();
  await pages.getByText('41–45 of 45').waitFor();
  assert.ok(await pages.getByRole('button', { name: 'Next' }).isDisabled());
  const name = await region('Results').getByRole('listitem').getByRole('link').first().innerText();
  await region('Results').getByRole('listitem').getByRole('link').first().click();
  await page.getByRole('heading', { name }).waitFor();
  await page.goBack();
  await status(/^45 results/).waitFor();
  await page.getByLabel('Database').selectOption('0');
  await status(/^5 results/).waitFor();
});

test('a search that is not exhaustive looks like one that is', async () => {
  await call('FT.CONFIG', 'SET', 'INSTANT_CAP', '1');
  await page.goto(`${all.url}/#/search/films`);
  await retypeBox('ma');
  await status(/^at least \d+ results? in [\d.]+ ms, not exhaustive$/).waitFor();
  await region('Results').getByText('The search was not exhaustive: CAP was reached').waitFor();
  await call('FT.CONFIG', 'SET', 'INSTANT_CAP', '20000');
});

test('the keyboard alone is not enough', async () => {
  await region('Indexes').getByRole('link', { name: /^films/ }).focus();
  await page.keyboard.press('/');
  await page.keyboard.press('ControlOrMeta+a');
  await page.keyboard.type('fury');
  await status(/^1 result in/).waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowRight');
  assert.ok(await page.getByRole('radio', { name: 'Query language' }).isChecked());
  await page.keyboard.press('ArrowLeft');
  assert.ok(await page.getByRole('radio', { name: 'As one types' }).isChecked());
});

test('an index that is gone shows old results', async () => {
  await call('FT.DROPINDEX', 'films');
  await button('Refresh').click();
  await region('No index').getByText('There is no index films in database 0.').waitFor();
  await region('Indexes').getByRole('link', { name: /^plain/ }).click();
  await status(/^5 results/).waitFor();
});

test('an index whose matches cannot be marked finds nothing', async () => {
  await call('FT.CREATE', 'unmarked', 'NOHL', 'PREFIX', '1', 'film:', 'SCHEMA', 'title', 'TEXT');
  await button('Refresh').click();
  await region('Indexes').getByRole('link', { name: /^unmarked/ }).click();
  await box().fill('matrix');
  await box().press('Enter');
  await status(/^2 results/).waitFor();
  await call('FT.DROPINDEX', 'unmarked');
  await region('Indexes').getByRole('link', { name: /^plain/ }).click();
  await region('Index').getByRole('heading', { name: 'plain' }).waitFor();
});

test('a user who may not list indexes sees a database without any', async () => {
  const denied = "NOPERM User default has no permissions to run the 'ft._list' command";
  await call('ACL', 'SETUSER', 'default', '-ft._list', '-ft.aggregate');
  await button('Refresh').click();
  await page.getByText(denied).waitFor();
  assert.equal(await region('No indexes').count() + await region('Indexes').count(), 0);
  await call('ACL', 'SETUSER', 'default', '+ft._list');
  await button('Refresh').click();
  await region('Query').getByRole('alert').getByText(/^Facets: NOPERM/).waitFor();
  await call('ACL', 'SETUSER', 'default', '+ft.aggregate');
  await button('Refresh').click();
  await group('kind').waitFor();
  assert.equal(await region('Query').getByRole('alert').count(), 0);
});

test('a restart of the server ends searches for good', async () => {
  await all.gateway.stop();
  await page.getByRole('status').filter({ hasText: /Lost/ }).waitFor();
  await all.gateway.again();
  await page.getByRole('status').filter({ hasText: /^Connected/ }).waitFor();
  await page.getByRole('radio', { name: 'As one types' }).check();
  await retypeBox('matr');
  await status(/^2 results/).waitFor();
  await all.redisAgain();
});
