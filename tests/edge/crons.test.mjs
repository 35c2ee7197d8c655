// Crons of an object under workerd: its alarm runs them, also after the object was taken away and nobody asks it for anything.
// node --test.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { serve } from './server.mjs';

const EVERY_MS = 200;
const PATIENCE_MS = 20_000;
const LIBRARY = `#!lua name=jobs
redis.register_function('note', function(keys, args) return redis.call('RPUSH', 'due', args[2]) end)
redis.register_function('fail', function() return redis.call('INCR', 'a list') end)`;

const folder = mkdtempSync(`${tmpdir()}/edge-crons-`);
let server = await serve(folder);

after(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

/** Asks by REST; gives the result, or the error's text. */
async function ask(...words) {
  const response = await fetch(server.url, { method: 'POST', body: JSON.stringify(words.map(String)) });
  const { result, error } = await response.json();
  return error ?? result;
}

/** Waits until the list of times has so many. */
async function times(count) {
  const end = Date.now() + PATIENCE_MS;
  while (Date.now() < end) {
    const due = await ask('LRANGE', 'due', 0, -1);
    if (due.length >= count) return due.map(Number);
    await sleep(20);
  }
  assert.fail(`fewer than ${count} runs`);
}

function isInOrder(due) {
  return due.every((time, at) => time % EVERY_MS === 0 && (at === 0 || time > due[at - 1]));
}

test('cron does not run, or twice for one time', async () => {
  assert.equal(await ask('FUNCTION', 'LOAD', LIBRARY), 'jobs');
  assert.equal(await ask('CRON', 'CREATE', 'noting', 'EVERY', EVERY_MS, 'CALL', 'note'), 'OK');
  const before = await times(3);
  assert.ok(isInOrder(before), String(before));
  await server.stop();
  server = await serve(folder);
  const all = await times(before.length + 4);
  assert.ok(isInOrder(all), String(all));
  assert.equal(await ask('CRON', 'DROP', 'noting'), 'OK');
});

test('failure of a cron is not seen', async () => {
  assert.equal(await ask('RPUSH', 'a list', 'x'), 1);
  assert.equal(await ask('CRON', 'CREATE', 'failing', 'EVERY', EVERY_MS, 'CALL', 'fail'), 'OK');
  const end = Date.now() + PATIENCE_MS;
  let failures = [];
  while (failures.length === 0 && Date.now() < end) {
    failures = await ask('CRON', 'LOG');
    await sleep(20);
  }
  assert.match(JSON.stringify(failures), /failing.*WRONGTYPE/);
  assert.equal(await ask('CRON', 'DROP', 'failing'), 'OK');
  assert.deepEqual(await ask('CRON', 'LIST'), []);
});
