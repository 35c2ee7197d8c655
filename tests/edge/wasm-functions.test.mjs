// Functions as WebAssembly in an object: they are loaded by REST and by RESP, called, outlive a sleep, and leave nothing of a run that
// traps or does not end; modules that mean harm are ended by the object's own bounds (edge-worker/src/limits.rs), and the object lives
// on: an open WebSocket tells, which outlives a sleep but not the object's end. node --test. An edge worker without its feature
// wasm-functions has none of it.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { after, test } from 'node:test';
import { assembled, attacking, hostileModules, library, text } from './modules.mjs';
import { connect } from './peer.mjs';
import { serve } from './server.mjs';
import { cpuSeconds } from './workerd.mjs';

const MEBIBYTE = 1024 * 1024;
// Of processor: a third of what the platform gives an event. The longest takes four.
const LATE_SECONDS = 10;
const STEPS = /^ERR the script took more steps than it may take here \(\d+\)/;

// Modules that begin with more memory than a run may have here begin with a little less than that.
const smaller = (module) => module.replace(/\(export "memory"\) [12]00\)/, '(export "memory") 90)').replace(/1310\d{4}|6553600/g, '5898239');
const hostile = hostileModules().map((each) => ({ ...each, text: smaller(each.text) }));
const [COMMANDS, TAKE, ...ATTACKS] = assembled([
  text('core/wasm/tests/guests/commands.wat'),
  text('examples/functions/wat/take.wat'),
  ...hostile.map((each) => each.text),
]);

const folders = [];
const servers = [];

async function start(bindings = {}) {
  folders.push(mkdtempSync(`${tmpdir()}/edge-wasm-`));
  servers.push(await serve(folders.at(-1), bindings));
  return client(String(servers.at(-1).url).replace(/\/$/, ''));
}

after(async () => {
  for (const server of servers) await server.stop();
  for (const folder of folders) rmSync(folder, { recursive: true });
});

/** Asks a database by REST; gives the result, or the error's text. */
function client(base, database = 'default') {
  const url = `${base}/db/${database}`;
  const ask = async (where, body) => {
    const { result, error } = await (await fetch(url + where, { method: 'POST', body })).json();
    return error ?? result;
  };
  let witness;
  return {
    // Fails if the object has ended since this was asked for the first time.
    isAlive: async () => {
      witness ??= await connect(base, `/db/${database}/resp`);
      assert.equal(witness.socket.readyState, witness.socket.constructor.OPEN, 'the object had ended');
      witness.say('PING');
      await witness.expect('+PONG\r\n');
    },
    ask: (...words) => ask('', JSON.stringify(words.map(String))),
    // The body is the last argument, byte for byte.
    load: (source, ...options) => ask(`/function/load${options.map((option) => `/${option}`).join('')}`, source),
    of: (other) => client(base, other),
    base,
  };
}

const first = await start();
const { ask, load, base, isAlive } = first;
await isAlive();
const heap = async (asked) => Number(/used_memory:(\d+)/.exec(await asked('INFO', 'memory'))[1]);

test('module cannot be loaded by REST, or its function called', async () => {
  assert.equal(await load(library('commands', COMMANDS)), 'commands');
  assert.equal(await load(library('commands', COMMANDS)), "ERR Library 'commands' already exists");
  assert.equal(await load(library('commands', COMMANDS), 'replace'), 'commands');
  assert.equal(await ask('FCALL', 'run', 1, 'k', 'SET', 'k', 'v'), 'OK');
  assert.equal(await ask('FCALL_RO', 'read', 1, 'k', 'GET', 'k'), 'v');
  assert.equal(await ask('FCALL_RO', 'run', 1, 'k', 'GET', 'k'), 'ERR Can not execute a script with write flag using *_ro command.');
  assert.match(await ask('FCALL', 'read', 1, 'k', 'SET', 'k', 'w'), /^ERR Write commands are not allowed from read-only scripts/);
  assert.deepEqual((await ask('FUNCTION', 'LIST'))[0].slice(0, 4), ['library_name', 'commands', 'engine', 'WASM']);
  assert.equal(await load(library('text', Buffer.from('(module)'))), 'ERR Error compiling function: the bytes after the first line are no module of WebAssembly (\\0asm, version 1)');
});

test('module cannot be loaded over a WebSocket, or a library of Lua beside it', async () => {
  const { socket, say, expect } = await connect(base, '/db/socket/resp');
  const source = library('limits', TAKE);
  socket.send(Buffer.concat([Buffer.from(`*3\r\n$8\r\nFUNCTION\r\n$4\r\nLOAD\r\n$${source.length}\r\n`), source, Buffer.from('\r\n')]));
  await expect('$6\r\nlimits\r\n');
  say(`FUNCTION LOAD "#!lua name=other\\nredis.register_function('look', function(keys) return redis.call('GET', keys[1]) end)"`);
  await expect('$5\r\nother\r\n');
  ['MULTI', 'FCALL take 1 user:7 2 60000', 'FCALL look 1 user:7', 'FCALL take 1 user:7 2 60000', 'FCALL take 1 user:7 2 60000', 'EXEC'].forEach(say);
  await expect('+OK\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n+QUEUED\r\n*4\r\n*2\r\n:1\r\n:1\r\n$1\r\n1\r\n*2\r\n:1\r\n:0\r\n*2\r\n:0\r\n:0\r\n');
  socket.terminate();
});

test('sleep forgets a module, or what its function wrote', async () => {
  const asleep = await start({ EDGECASK_FORGET: 'yes' });
  assert.equal(await asleep.load(library('commands', COMMANDS)), 'commands');
  for (let number = 1; number < 4; number++) {
    assert.equal(await asleep.ask('FCALL', 'run', 1, 'n', 'INCR', 'n'), number);
    assert.equal(await asleep.ask('FCALL', 'count', 0), 1, 'the object did not sleep, or its instances outlive that');
  }
  assert.equal(await asleep.ask('FUNCTION', 'DELETE', 'commands'), 'OK');
  assert.equal(await asleep.ask('FCALL', 'count', 0), 'ERR Function not found');
});

test('trap or a function without end leaves half of it', async () => {
  assert.equal(await ask('FCALL', 'trap', 1, 'half', 'SET', 'half', 'x'), 'ERR Error running script trap, unreachable code reached');
  const begin = cpuSeconds(servers[0].pid);
  assert.match(await ask('FCALL', 'spin', 1, 'half', 'SET', 'half', 'x'), STEPS);
  const took = cpuSeconds(servers[0].pid) - begin;
  console.log(`an endless loop is ended after ${took.toFixed(2)} s`);
  assert.ok(took < LATE_SECONDS, `${took} s`);
  assert.equal(await ask('EXISTS', 'half'), 0);
  assert.equal(await ask('FCALL', 'fail', 1, 'whole', 'SET', 'whole', 'x'), 'ERR it failed');
  assert.equal(await ask('EXISTS', 'whole'), 1, 'a function that fails by itself keeps what it has written, as with Lua');
  await isAlive();
});

test('trigger does not call a function', async () => {
  assert.equal(await ask('TRIGGER', 'CREATE', 'noting', 'ON', 'create', 'PREFIX', 'item:', 'CALL', 'note'), 'OK');
  assert.equal(await ask('SET', 'item:1', 'x'), 'OK');
  assert.deepEqual(await ask('LRANGE', 'notes', 0, -1), ['create']);
  assert.equal(await ask('TRIGGER', 'DROP', 'noting'), 'OK');
});

test('modules that are gone stay in memory', async () => {
  const other = first.of('gone');
  await other.isAlive();
  // Some hundred kilobytes of code each, another one each time.
  const body = (number) => `(func (param i64) (result i64) ${`(local.set 0 (i64.mul (i64.add (local.get 0) (i64.const ${number})) (local.get 0)))`.repeat(4000)} (local.get 0))`;
  const modules = assembled([1, 2, 3, 4].map((number) => attacking(`(module (memory (export "memory") 16) ${body(number).repeat(8)} (func (export "attack")))`)));
  let after = 0;
  for (let turn = 0; turn < 120; turn++) {
    assert.equal(await other.load(library('large', modules[turn % 4]), 'replace'), 'large');
    assert.equal(await other.ask('FCALL', 'attack', 0), null);
    if (turn === 8) after = await heap(other.ask);
  }
  const grown = (await heap(other.ask)) - after;
  console.log(`${grown} bytes more after 111 modules of ${modules[0].length} bytes`);
  // Rows that were written lately are cached, up to 8 MiB; all modules are 35 MB.
  assert.ok(grown < 12 * MEBIBYTE, `${grown} bytes more, of modules of ${modules[0].length} bytes`);
  await other.isAlive();
});

/** What a hostile module does to an object. */
async function attack({ ask, load, isAlive }, source, name) {
  const begin = cpuSeconds(servers[0].pid);
  const loaded = await load(library('hostile', source), 'replace');
  const said = loaded === 'hostile' ? await ask('FCALL', 'attack', 1, 'a', '1') : loaded;
  const took = cpuSeconds(servers[0].pid) - begin;
  assert.ok(took < LATE_SECONDS, `${name}: ${took} s`);
  await isAlive();
  assert.equal(await ask('FCALL', 'read', 1, 'k', 'GET', 'k'), 'v', name);
  return { said: String(said), took };
}

for (const [index, { name, end }] of hostile.entries()) {
  test(`${name}: ends the object, or leaves something behind`, async () => {
    const { said, took } = await attack(first, ATTACKS[index], name);
    if (process.env.EDGE_HOSTILE === 'all') console.log(`${took.toFixed(2)} s: ${name}: ${said.slice(0, 120)}`);
    if (end === 'killed') assert.match(said, STEPS);
    else if (end === 'done') assert.doesNotMatch(said, /script/);
    // Memory is another one here, and what is to be copied counts as steps first.
    else if (!/\d{5}|quarter/.test(end)) assert.ok(said.includes(end.replace(/^(load )?\w+(: )?/, '')), said);
  });
}

test('modules end an object that has little memory left', async () => {
  const full = first.of('full');
  assert.equal(await full.load(library('commands', COMMANDS)), 'commands');
  assert.equal(await full.ask('SET', 'k', 'v'), 'OK');
  await full.isAlive();
  // Names are in the object's memory.
  const name = 'x'.repeat(400_000);
  for (let number = 0; number < 65; number++) assert.equal(await full.ask('HSET', `h${number % 7}`, name + number, ''), 1);
  const bytes = await heap(full.ask);
  assert.ok(bytes > 26_000_000, `${bytes} bytes`);
  for (const [index, { name }] of hostile.entries()) {
    if (/memory|answer|argument|table|much/.test(name)) await attack(full, ATTACKS[index], name);
  }
});
