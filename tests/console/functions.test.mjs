// The page of functions: libraries are loaded, changed and deleted, functions are called, and what runs is ended.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { retype, start } from './harness.mjs';
import { Redis } from './redis.mjs';

const SHOP = `#!lua name=shop
-- Counts what is sold.
local function sell(keys, args)
  return redis.call('HINCRBY', keys[1], args[1], tonumber(args[2] or 1))
end

redis.register_function{
  function_name = 'sell',
  description = '<b>Sells</b> something',
  callback = sell,
}
redis.register_function{
  function_name = 'sold',
  callback = function(keys) return redis.call('HGETALL', keys[1]) end,
  flags = { 'no-writes' },
}
`;

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
const row = (name) => region('Libraries').getByRole('button').filter({ hasText: name });
const message = (text) => page.locator('.toasts').getByText(text);
const libraries = async () => (await call('FUNCTION', 'LIST')).map(([, name]) => name).sort();

/** Puts a text into the editor of a region, in the place of what is there. */
const type = (name, text) => retype(page, region(name).locator('.cm-content'), text);

test('a library that is typed on the page cannot be called', async () => {
  await all.open('#/functions');
  await region('Libraries').getByText('No libraries are loaded.').waitFor();
  await page.getByRole('button', { name: 'New library' }).click();
  await type('New library', SHOP);
  await region('New library').getByRole('button', { name: 'Load' }).click();
  await message('shop is loaded.').waitFor();
  await row('shop').waitFor();
  assert.match(await row('shop').innerText(), /shop\s+LUA\s+sell · sold/);
  await region('shop').getByText('<b>Sells</b> something', { exact: true }).waitFor();
  await region('shop').getByText('no-writes', { exact: true }).waitFor();
  assert.equal((await call('FUNCTION', 'LIST', 'WITHCODE'))[0][7], SHOP);
  await region('shop').getByRole('button', { name: 'Choose sell to call it' }).click();
  await page.keyboard.type('basket');
  await region('Call').getByLabel('Arguments').fill('"two words" 3');
  await region('Call').getByRole('button', { name: 'Call' }).click();
  await region('Call').getByText('(integer) 3').waitFor();
  assert.deepEqual(await call('HGETALL', 'basket'), ['two words', '3']);
  await region('Call').getByLabel('Function').selectOption('sold');
  assert.equal(await region('Call').getByLabel('Read only').isChecked(), true);
  await region('Call').getByRole('button', { name: 'Call' }).click();
  await region('Call').getByText('"two words"').waitFor();
  await region('Call').getByLabel('Keys').fill('"open');
  await region('Call').getByRole('button', { name: 'Call' }).click();
  await region('Call').getByText('A quote is not closed').waitFor();
  await region('Call').getByLabel('Keys').fill('basket');
});

test('a call that the server refuses runs', async () => {
  await region('Call').getByLabel('Function').selectOption('sell');
  await region('Call').getByLabel('Read only').check();
  await region('Call').getByRole('button', { name: 'Call' }).click();
  await region('Call').getByText('Can not execute a script with write flag using *_ro command.').waitFor();
  assert.deepEqual(await call('HGETALL', 'basket'), ['two words', '3']);
});

test('Lua is one colour', async () => {
  const colours = await region('shop').locator('.cm-line span').evaluateAll((spans) => {
    const of = (text) => getComputedStyle(spans.find((span) => span.textContent === text)).color;
    return ['#!lua name=shop', 'local', "'HINCRBY'", '1'].map(of);
  });
  assert.equal(new Set(colours).size, 4, colours.join());
});

test('a wrong library replaces the one that works', async () => {
  const wrong = SHOP.replace('local function sell(keys, args)', 'local function sell(keys, = args)');
  await type('shop', wrong);
  await row('shop').getByText('not loaded').waitFor();
  await region('shop').getByRole('button', { name: 'Load changes' }).click();
  const problem = region('shop').getByRole('alert');
  await problem.waitFor();
  assert.match(await problem.innerText(), /^Line 3: Error compiling function: user_function:3: /);
  assert.equal(await region('shop').locator('.cm-wrong').innerText(), 'local function sell(keys, = args)');
  await all.shots('functions-error');
  assert.equal((await call('FUNCTION', 'LIST', 'WITHCODE'))[0][7], SHOP);
  assert.equal(await call('FCALL', 'sell', 1, 'basket', 'pen'), 1);
});

test('typed code is gone when another page was shown', async () => {
  await page.getByRole('link', { name: 'Keys' }).click();
  await page.getByRole('link', { name: 'Functions' }).click();
  await row('shop').click();
  await region('shop').getByText('local function sell(keys, = args)').waitFor();
  await region('shop').getByRole('button', { name: 'Discard changes' }).click();
  await region('shop').getByText('local function sell(keys, args)').waitFor();
  assert.equal(await row('shop').getByText('not loaded').count(), 0);
});

test('a change of somebody else is overwritten without a word', async () => {
  const theirs = `${SHOP}-- theirs\n`;
  await call('FUNCTION', 'LOAD', 'REPLACE', theirs);
  await type('shop', `${SHOP}-- mine\n`);
  await page.keyboard.press('ControlOrMeta+s');
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Overwrite shop?').waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  assert.equal((await call('FUNCTION', 'LIST', 'WITHCODE'))[0][7], theirs);
  await region('shop').getByRole('button', { name: 'Load changes' }).click();
  await dialog.getByRole('button', { name: 'Overwrite' }).click();
  await region('shop').getByText('Loaded.', { exact: true }).waitFor();
  assert.equal((await call('FUNCTION', 'LIST', 'WITHCODE'))[0][7], `${SHOP}-- mine\n`);
  assert.equal(await region('shop').getByRole('button', { name: 'Load changes' }).isDisabled(), true);
});

test('a new library replaces another one without a question', async () => {
  await page.getByRole('button', { name: 'New library' }).click();
  await type('New library', "#!lua name=shop\nredis.register_function('closed', function() return 'closed' end)");
  await region('New library').getByRole('button', { name: 'Load' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
  assert.equal(await call('FCALL', 'sell', 1, 'basket', 'ink'), 1);
  await type('New library', "#!lua name=other\nredis.register_function('sell', function() return 'mine' end)");
  await region('New library').getByRole('button', { name: 'Load' }).click();
  await region('New library').getByRole('alert').getByText('Function sell already exists').waitFor();
  assert.deepEqual(await libraries(), ['shop']);
});

test('a module does not arrive byte for byte', async () => {
  const sent = [];
  page.on('websocket', (socket) => socket.on('framesent', ({ payload }) => sent.push(Buffer.from(payload))));
  await page.reload();
  const module = Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0, 0x0a, 0x0d, 0xff, 0xfe]);
  await page.getByRole('button', { name: 'WebAssembly' }).click();
  const form = region('WebAssembly library');
  await form.getByLabel('File').setInputFiles({ name: 'rate-limit.wasm', mimeType: 'application/wasm', buffer: module });
  assert.equal(await form.getByLabel('Name').inputValue(), 'rate_limit');
  await form.getByRole('button', { name: 'Load' }).click();
  await form.getByRole('alert').waitFor();
  const source = Buffer.concat([Buffer.from('#!wasm name=rate_limit\n'), module]);
  assert.ok(sent.some((frame) => frame.includes(source)), 'the source was not sent');
  assert.deepEqual(await libraries(), ['shop']);
});

/** Whether the page can look at a script while it runs. At the edge nothing else runs meanwhile; a count of steps ends it. */
const isSeen = async () => !String(await call('INFO', 'server')).includes('monotonic_clock:none');

test('a function that never ends cannot be ended', async () => {
  await call('FUNCTION', 'LOAD', "#!lua name=long\nredis.register_function('spin', function() while true do end end)");
  await page.getByRole('button', { name: 'Refresh' }).click();
  await region('Call').getByLabel('Function').selectOption('spin');
  await region('Call').getByRole('button', { name: 'Call' }).click();
  if (!(await isSeen())) {
    await region('Call').getByText('the script took more steps than it may take here').waitFor();
    return;
  }
  const running = region('Running');
  await running.getByText('spin', { exact: true }).waitFor();
  await running.getByText(/^[\d.]+ m?s$/).waitFor();
  await row('shop').click();
  await region('shop').locator('.cm-content').waitFor();
  await all.shots('functions-running');
  await running.getByRole('button', { name: 'FUNCTION KILL' }).click();
  await region('Call').getByText('Script killed by user with SCRIPT KILL').waitFor();
  await running.getByText('No script runs.').waitFor();
});

test('a script that never ends cannot be ended', async () => {
  const other = await Redis.connect(all.gateway.port);
  const outcome = other.call('EVAL', 'while true do end', 0).catch((error) => error);
  if (await isSeen()) {
    await region('Running').getByRole('button', { name: 'SCRIPT KILL' }).click();
    assert.match((await outcome).message, /Script killed by user with SCRIPT KILL/);
  } else {
    assert.match((await outcome).message, /took more steps/);
  }
  other.close();
  await region('Running').getByText('No script runs.').waitFor();
  await call('SCRIPT', 'LOAD', 'return 1');
  if (!(await isSeen())) await page.getByRole('button', { name: 'Refresh' }).click();
  await region('Running').locator('dd').first().filter({ hasText: /^[1-9]\d*$/ }).waitFor();
});

test('a deleted library stays', async () => {
  await row('shop').click();
  await region('shop').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByText('sell, sold').waitFor();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await row('shop').waitFor({ state: 'detached' });
  assert.deepEqual(await libraries(), ['long']);
  await assert.rejects(call('FCALL', 'sell', 1, 'basket', 'pen'), /Function not found/);
});

test('a page whose user may see no functions says nothing', async () => {
  await call('ACL', 'SETUSER', 'default', '-function');
  await page.getByRole('button', { name: 'Refresh' }).click();
  await page.getByText("NOPERM User default has no permissions to run the 'function|list' command").waitFor();
  await call('ACL', 'SETUSER', 'default', '+function');
});

/** Loads the page again, with frames changed on the way: texts that stand for bytes, one character each. */
async function openBehind(toServer, toPage) {
  const changed = (change) => (message) => (typeof message === 'string' ? message : Buffer.from(change(Buffer.from(message).toString('latin1')), 'latin1'));
  await page.routeWebSocket(/.*/, (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((message) => server.send(changed(toServer)(message)));
    server.onMessage((message) => socket.send(changed(toPage)(message)));
  });
  await page.reload();
}

test('a module is shown as text', async () => {
  const library = "#!lua name=module\nredis.register_function('f', function() return 1 end)";
  await call('FUNCTION', 'LOAD', library);
  // Not every build has the engine of modules: the replies name it in the place of Lua.
  await openBehind((request) => request, (reply) => reply.replaceAll('$3\r\nLUA\r\n', '$4\r\nWASM\r\n'));
  await row('module').click();
  await region('module').getByText(`A module of ${library.length - '#!lua name=module\n'.length} B.`).waitFor();
  assert.match(await row('module').innerText(), /module\s+WASM\s+f/);
  assert.equal(await region('module').locator('.cm-content').count(), 0);
  await region('module').getByLabel('Replace with the file').setInputFiles({ name: 'x.wasm', mimeType: 'application/wasm', buffer: Buffer.from('no module') });
  await all.shots('functions-module');
  await region('module').getByRole('button', { name: 'Replace', exact: true }).click();
  await region('module').getByRole('alert').waitFor();
  assert.equal(await call('FCALL', 'f', 0), 1);
});

test('a server without functions looks like one without libraries', async () => {
  // This server knows them: on the way their command becomes an unknown one.
  await openBehind((request) => request.replaceAll('$8\r\nFUNCTION\r\n', '$8\r\nFUNCTIOX\r\n'), (reply) => reply);
  await page.getByText('This server has no functions: it does not know the command FUNCTION.').waitFor();
  assert.equal(await page.getByRole('button', { name: 'New library' }).count(), 0);
});
