// The page of users: making, changing and deleting them, what they may do, and what was denied.

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { start } from './harness.mjs';
import { Redis } from './redis.mjs';

let all;
let page;

before(async () => {
  all = await start();
  page = all.page;
  page.setDefaultTimeout(20_000);
});

after(() => all?.stop());

const call = (...args) => all.redis.call(...args);
const list = () => page.getByRole('region', { name: 'Users' });
const row = (name) => list().getByRole('button').filter({ hasText: name });

test('a user that is made on the page cannot log in', async () => {
  await all.open('#/users');
  await row('default').waitFor();
  assert.match(await row('default').innerText(), /on\s+no password\s+~\* · &\* · \+@all/);
  await page.getByRole('button', { name: 'New user' }).click();
  const editor = page.getByRole('region', { name: 'New user' });
  await editor.getByLabel('Name').fill('reports');
  await editor.getByLabel('Rules').fill('on %R~shop:* +@read (+set ~own:*)');
  await editor.getByRole('button', { name: 'Generate' }).click();
  const password = await editor.locator('.users-secret').innerText();
  assert.match(password, /^[0-9a-f]{64}$/);
  await editor.getByRole('button', { name: 'Make user' }).click();
  await row('reports').waitFor();
  const text = await row('reports').innerText();
  assert.match(text, /1 password/);
  assert.match(text, /%R~shop:\* · no channels · -@all \+@read/);
  assert.match(text, /~own:\* · no channels · -@all \+set/);
  const other = await Redis.connect(all.gateway.port);
  assert.equal(await other.call('AUTH', 'reports', password), 'OK');
  await assert.rejects(other.call('SET', 'shop:1', 'x'), /NOPERM No permissions to access a key/);
  await assert.rejects(other.call('CONFIG', 'GET', '<b>'), /NOPERM/);
  await assert.rejects(other.call('GET', '<img src=x onerror="window.hacked=1">'), /NOPERM/);
  other.close();
});

test('a change is not applied, and a wrong rule is not told', async () => {
  await row('reports').click();
  const editor = page.getByRole('region', { name: 'reports' });
  await editor.getByLabel('Rules to apply').fill('+nosuch');
  await editor.getByRole('button', { name: 'Apply' }).click();
  await editor.getByText("Error in ACL SETUSER modifier '+nosuch': Unknown command or category name in ACL").waitFor();
  await editor.getByLabel('Rules to apply').fill('&news +subscribe');
  await editor.getByRole('button', { name: 'Apply' }).click();
  await editor.getByText('Changed.').waitFor();
  assert.match(await call('ACL', 'LIST').then((lines) => lines.join('\n')), /&news .*\+subscribe/);
  const ask = editor.getByLabel('May reports run this?');
  await ask.fill('SUBSCRIBE news');
  await ask.press('Enter');
  await editor.getByText('Allowed.').waitFor();
  await ask.fill('FLUSHALL');
  await ask.press('Enter');
  await editor.getByText("User reports has no permissions to run the 'flushall' command").waitFor();
});

test('a denial is not shown', async () => {
  await page.getByRole('button', { name: 'Refresh' }).click();
  const log = page.getByRole('region', { name: 'Denied lately' });
  await log.getByText('may not use the key shop:1').waitFor();
  await log.getByText('may not run CONFIG GET').waitFor();
  await log.getByText('may not use the key <img src=x onerror="window.hacked=1">').waitFor();
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  await all.shots('users');
  await log.getByRole('button', { name: 'Forget all' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Forget' }).click();
  await log.getByText('Nothing was denied.').waitFor();
  assert.deepEqual(await call('ACL', 'LOG'), []);
});

test('a deleted user stays', async () => {
  await row('reports').click();
  await page.getByRole('region', { name: 'reports' }).getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await row('reports').waitFor({ state: 'detached' });
  assert.deepEqual(await call('ACL', 'USERS'), ['default']);
});

test('a page whose user may see no users says nothing', async () => {
  await call('ACL', 'SETUSER', 'default', '-acl');
  await page.getByRole('button', { name: 'Refresh' }).click();
  await page.getByText("NOPERM User default has no permissions to run the 'acl|users' command").waitFor();
});
