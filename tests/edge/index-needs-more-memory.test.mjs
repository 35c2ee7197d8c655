// An index that needs more memory than the object has: node --test. The hashes of this test are small in memory, since their values
// are in rows, and the words in them are not. What does not fit is refused or left out, an answer says so, and the object lives on,
// which the run id tells.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from './client.mjs';
import { EDGE_WORKER, workerd } from './workerd.mjs';

const CREATE = 'FT.CREATE i ANALYZER INSTANT PREFIX 1 i: SCHEMA body TEXT'.split(' ');
const [HASHES, WORDS, PIPELINE] = [6000, 1000, 50];
const PATIENCE_MS = 300_000;
const folder = mkdtempSync(`${tmpdir()}/edge-index-memory-`);
let server = await workerd(folder, EDGE_WORKER);

after(async () => {
  await server.stop();
  rmSync(folder, { recursive: true });
});

// Words that hardly ever come twice, the same in every run (xorshift).
function hash(number) {
  let state = number + 1;
  const word = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>>= 0).toString(36);
  };
  return ['HSET', `i:${number}`, 'body', Array.from({ length: WORDS }, word).join(' ')];
}

/** Writes hashes until one is refused or there are enough; how many were written. */
async function write(client) {
  for (let from = 0; from < HASHES; from += PIPELINE) {
    const replies = await client.all(Array.from({ length: PIPELINE }, (_, at) => hash(from + at)));
    const refused = replies.findIndex((reply) => !reply.startsWith(':'));
    if (refused < 0) continue;
    assert.match(replies[refused], /^-OOM /);
    return from + replies.filter((reply) => reply.startsWith(':')).length;
  }
  return HASHES;
}

const life = async (client) => (await client.facts('server')).run_id;
const found = async (client, text) => Number((await client.ask('FT.SEARCH', 'i', text, 'NOCONTENT')).split('\r\n')[1].slice(1));

test('documents are written until there is no memory for their words', async () => {
  const client = await Client.open(server.port, 'written');
  const begun = await life(client);
  assert.equal(await client.ask(...CREATE), '+OK\r\n');
  const written = await write(client);
  assert.ok(written > 500 && written < HASHES, `${written} were written`);
  console.log(`${written} documents of ${WORDS} words fit`);
  assert.equal(await client.ask('DBSIZE'), `:${written}\r\n`);
  assert.equal(await found(client, '*'), written);
  assert.equal(await life(client), begun, 'the object had ended');
  client.socket.terminate();
});

test('index is made for hashes that are there already', async () => {
  let client = await Client.open(server.port, 'there');
  const begun = await life(client);
  assert.equal(await write(client), HASHES);
  assert.equal(await client.ask(...CREATE), '+OK\r\n');
  await client.ask('HELLO', '3');
  const warning = 'insufficient memory';
  const begin = Date.now();
  let answer = '';
  while (!(answer = await client.ask('FT.SEARCH', 'i', 'lib', 'SCORER', 'INSTANT', 'NOCONTENT')).includes(warning)) {
    assert.ok(Date.now() - begin < PATIENCE_MS, `no warning: ${answer}`);
    await sleep(250);
  }
  // It may go on where something is freed, but it comes to no end.
  await sleep(3000);
  assert.equal(await life(client), begun, 'the object had ended');
  assert.equal(await client.fact('indexing'), '1');
  console.log(`${await client.fact('num_docs')} of ${HASHES} documents are in the index`);
  assert.equal(await client.ask('DBSIZE'), `:${HASHES}\r\n`);
  client.socket.terminate();
  await server.stop();
  server = await workerd(folder, EDGE_WORKER);
  client = await Client.open(server.port, 'there');
  assert.equal(await client.ask('DBSIZE'), `:${HASHES}\r\n`);
  assert.equal(await client.ask('HSTRLEN', 'i:5999', 'body'), `:${hash(5999)[3].length}\r\n`);
  const again = await life(client);
  // Without the index there is memory for other things.
  assert.equal(await client.ask('FT.DROPINDEX', 'i'), '+OK\r\n');
  assert.equal(await client.ask('SET', 'k', 'v'), '+OK\r\n');
  assert.equal(await life(client), again, 'the object had ended');
  client.socket.terminate();
});
