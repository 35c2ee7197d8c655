// Scripts and functions in an object: what outlives it, and scripts that mean harm. Each of those is ended by the object's own
// bounds (edge-worker/src/limits.rs), nothing of it stays, and the object lives on, which its run id tells: node --test.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { after, test } from 'node:test';
import { connect } from './peer.mjs';
import { serve } from './server.mjs';
import { cpuSeconds, EDGE_WORKER, workerd } from './workerd.mjs';

const CORPUS = new URL('../../core/lua/tests/hostile/scripts.txt', import.meta.url);
const MEBIBYTE = 1024 * 1024;
// Of processor: the platform gives an event thirty.
const LATE_SECONDS = 5;

const folders = [];
const servers = [];

async function start(bindings = {}) {
  folders.push(mkdtempSync(`${tmpdir()}/edge-scripts-`));
  servers.push(await serve(folders.at(-1), bindings));
  return client(servers.at(-1).url);
}

after(async () => {
  for (const server of servers) await server.stop();
  for (const folder of folders) rmSync(folder, { recursive: true });
});

/** Asks by REST; gives the result, or the error's text. */
function client(url) {
  return async (...words) => {
    const response = await fetch(url, { method: 'POST', body: JSON.stringify(words.map(String)) });
    const { result, error } = await response.json();
    return error ?? result;
  };
}

const LIBRARY = `#!lua name=counters
local function add(keys, args) return redis.call('INCRBY', keys[1], args[1]) end
redis.register_function('add', add)
redis.register_function{function_name = 'look', callback = function(keys) return redis.call('GET', keys[1]) end, flags = {'no-writes'}}`;

const ask = await start();
const base = String(servers[0].url).replace(/\/$/, '');

test('script does not reach its keys, or keys that it did not declare', async () => {
  assert.equal(await ask('EVAL', "return redis.call('SET', KEYS[1], ARGV[1])", 1, 'k', 'v'), 'OK');
  const sha = await ask('SCRIPT', 'LOAD', "return redis.call('GET', KEYS[1] or 'k')");
  assert.equal(await ask('EVALSHA', sha, 1, 'k'), 'v');
  assert.equal(await ask('EVALSHA', sha, 0), 'v');
  assert.deepEqual(await ask('SCRIPT', 'EXISTS', sha, 'f'.repeat(40)), [1, 0]);
  assert.equal(await ask('EVALSHA', 'f'.repeat(40), 0), 'NOSCRIPT No matching script. Please use EVAL.');
  const error = await ask('EVAL', "redis.call('SET', 'kept', '1') return redis.call('LPUSH', 'k', 'x')", 0);
  assert.match(error, /^WRONGTYPE Operation against a key holding the wrong kind of value script: [0-9a-f]{40}, on @user_script:1\.$/);
  assert.equal(await ask('GET', 'kept'), '1', 'a script that fails by itself keeps what it has written, as with Redis');
  assert.equal(await ask('EVAL', "return cjson.encode(cjson.decode(ARGV[1]))", 0, '{"a":[1,2.5,null]}'), '{"a":[1,2.5,null]}');
  assert.deepEqual(await ask('EVAL', 'return {1, 2.9, {ok = "fine"}, false, "x"}', 0), [1, 2, 'fine', null, 'x']);
});

test('values of RESP3 are lost', async () => {
  const { socket, say, expect, hear } = await connect(base);
  say('HELLO 3');
  await hear();
  say('HSET h f v');
  await expect(':1\r\n');
  say(`EVAL "redis.setresp(3) return redis.call('HGETALL', KEYS[1])" 1 h`);
  await expect('%1\r\n$1\r\nf\r\n$1\r\nv\r\n');
  say('EVAL "return {double = 2.5}" 0');
  await expect(',2.5\r\n');
  say('MULTI');
  say(`EVAL "return redis.call('HGET', 'h', 'f')" 0`);
  say('EXEC');
  await expect('+OK\r\n+QUEUED\r\n*1\r\n$1\r\nv\r\n');
  socket.terminate();
});

test('function cannot be loaded, called or listed', async () => {
  assert.equal(await ask('FUNCTION', 'LOAD', LIBRARY), 'counters');
  assert.equal(await ask('FUNCTION', 'LOAD', LIBRARY), "ERR Library 'counters' already exists");
  assert.equal(await ask('FCALL', 'add', 1, 'n', 5), 5);
  assert.equal(await ask('FCALL_RO', 'look', 1, 'n'), '5');
  assert.equal(await ask('FCALL_RO', 'add', 1, 'n', 5), 'ERR Can not execute a script with write flag using *_ro command.');
  const dumped = await ask('FUNCTION', 'LIST');
  assert.equal(dumped.length, 1);
});

test('sleep forgets functions', async () => {
  const asleep = await start({ EDGECASK_FORGET: 'yes' });
  assert.equal(await asleep('FUNCTION', 'LOAD', LIBRARY), 'counters');
  assert.equal(await asleep('FCALL', 'add', 1, 'n', 2), 2);
  assert.equal(await asleep('FCALL', 'add', 1, 'n', 2), 4);
  assert.equal(await asleep('FUNCTION', 'DELETE', 'counters'), 'OK');
  assert.equal(await asleep('FCALL', 'add', 1, 'n', 2), 'ERR Function not found');
});

test('kill -9 forgets functions, or does a script by halves', async () => {
  folders.push(mkdtempSync(`${tmpdir()}/edge-scripts-`));
  const first = await workerd(folders.at(-1), EDGE_WORKER);
  const before = client(`http://127.0.0.1:${first.port}/`);
  assert.equal(await before('FUNCTION', 'LOAD', LIBRARY), 'counters');
  assert.equal(await before('EVAL', "for i = 1, 1000 do redis.call('RPUSH', 'list', i) end return redis.call('LLEN', 'list')", 0), 1000);
  const running = before('EVAL', "for i = 1, 100000 do redis.call('RPUSH', 'other', i) end", 0).catch(() => undefined);
  await first.stop();
  await running;
  const second = await workerd(folders.at(-1), EDGE_WORKER);
  const again = client(`http://127.0.0.1:${second.port}/`);
  try {
    assert.equal(await again('FCALL', 'add', 1, 'n', 3), 3);
    assert.equal(await again('LLEN', 'list'), 1000);
    assert.ok([0, 100_000].includes(await again('LLEN', 'other')));
  } finally {
    await second.stop();
  }
});

const life = async () => /run_id:(\w+)/.exec(await ask('INFO', 'server'))[1];

/** What must end by the object's own bounds: a name, the script, and what its error says. */
const STEPS = /^ERR the script took more steps than it may take here \(\d+\) script: [0-9a-f]{40}, on @user_script:1\.$/;
const MEMORY = /not enough memory|OOM|does not fit/;
const HOSTILE = [
  ['endless loop', 'while true do end', STEPS],
  ['loop that eats its errors', "while true do pcall(function() while true do error('x') end end) end", STEPS],
  ['strings that double', "local s = 'x' while true do s = s .. s end", MEMORY],
  ['tables without end', 'local t = {} while true do t[#t + 1] = {1, 2, 3} end', MEMORY],
  ['a value that is too long', `return string.rep('x', ${5 * MEBIBYTE})`, undefined],
  ['recursion', 'local function f() return 1 + f() end return f()', /stack overflow/],
  ['recursion through pcall', 'local function f() return pcall(f) end while true do f() end', STEPS],
  ['recursion through gsub', "local function f() return (string.gsub('x', 'x', f)) end return f()", /C stack overflow/],
  ['recursion through coroutines', 'local function f() return coroutine.wrap(f)() end return f()', /C stack overflow/],
  ['a pattern that takes for ever', "return string.find(string.rep('a', 40), string.rep('a?', 40) .. string.rep('a', 40) .. 'b')", STEPS],
  ['a pattern of many repetitions', "return string.find(string.rep('a', 1e4), string.rep('a?', 1e4) .. 'b')", /pattern too complex/],
  ['commands without end', "while true do redis.call('GET', 'k') end", STEPS],
  ['errors without end', "local n = 0 while true do n = n + 1 redis.pcall('LPUSH', 'k', n) end", STEPS],
  ['codes of errors without end', "local n = 0 while true do n = n + 1 redis.pcall('EVAL' .. n) end", STEPS],
  ['writes without end', "local n = 0 while true do n = n + 1 redis.call('SET', 'key' .. n, n) end", /may change \d+ members|OOM/],
  ['long writes without end', "local n, s = 0, string.rep('x', 1e6) while true do n = n + 1 redis.call('SET', 'key' .. n, s) end", /transaction of \d+ bytes|OOM/],
  ['messages without end', "local s = string.rep('x', 1000) while true do redis.call('PUBLISH', 'news', s) end", MEMORY],
  ['long messages without end', "local s = string.rep('x', 1e6) while true do redis.call('PUBLISH', 'news', s) end", MEMORY],
  ['lines of the log without end', "local s = string.rep('x', 1e5) while true do redis.log(redis.LOG_DEBUG, s) end", STEPS],
  ['long replies', "redis.call('SET', 'long', string.rep('x', 3e6)) local t = {} while true do t[#t + 1] = redis.call('GET', 'long') .. #t end", MEMORY],
  ['nested tables as JSON', "local t = {} for i = 1, 1e6 do t = {t} end return cjson.encode(t)", undefined],
  ['long JSON', "return #cjson.decode('[' .. string.rep('1,', 1e6) .. '1]')", undefined],
];

for (const [name, script, wanted] of HOSTILE) {
  test(`${name}: ends the object, or leaves something behind`, async () => {
    const before = await life();
    const listener = await connect(base);
    listener.say('SUBSCRIBE news');
    await listener.hear();
    await ask('SET', 'k', 'v');
    await ask('DEL', 'half');
    const begin = cpuSeconds(servers[0].pid);
    const said = await ask('EVAL', `redis.call('SET', 'half', 'x') ${script}`, 0);
    const took = cpuSeconds(servers[0].pid) - begin;
    if (wanted !== undefined) assert.match(String(said), wanted);
    assert.ok(took < LATE_SECONDS, `${took} s`);
    assert.equal(await life(), before, `the object had ended: ${String(said).slice(0, 200)}`);
    assert.equal(await ask('GET', 'k'), 'v');
    assert.equal(await ask('EVAL', "return redis.call('GET', KEYS[1])", 1, 'k'), 'v');
    const wasEnded = wanted === STEPS || /may have \d+ bytes here|^OOM the script|transaction of/.test(said);
    if (wasEnded) assert.equal(await ask('EXISTS', 'half'), 0, 'half of it stays');
    assert.equal(await ask('SET', 'k', 'v'), 'OK');
    listener.socket.terminate();
  });
}

test('library whose body does not end is loaded', async () => {
  const before = await life();
  assert.match(await ask('FUNCTION', 'LOAD', '#!lua name=endless\nwhile true do end'), /takes more steps than it may take here \(\d+\)$/);
  assert.match(await ask('FUNCTION', 'LOAD', "#!lua name=large\nlocal s = 'x' while true do s = s .. s end"), /not enough memory/);
  assert.deepEqual((await ask('FUNCTION', 'LIST')).length, 1);
  assert.equal(await life(), before, 'the object had ended');
});

test('scripts that differ by a value fill the memory', async () => {
  const before = await life();
  for (let number = 0; number < 60; number++) {
    assert.equal(await ask('EVAL', `return ${number} --${'x'.repeat(500_000)}`, 0), number);
  }
  const bytes = Number(/used_memory_scripts:(\d+)/.exec(await ask('INFO', 'memory'))[1]);
  assert.ok(bytes < 2 * MEBIBYTE, `${bytes} bytes of sources`);
  for (let number = 0; number < 300; number++) {
    const said = await ask('SCRIPT', 'LOAD', `return ${number} --${'x'.repeat(500_000)}`);
    if (!/^[0-9a-f]{40}$/.test(said)) {
      assert.match(said, /^OOM/);
      break;
    }
  }
  assert.equal(await ask('SCRIPT', 'FLUSH'), 'OK');
  assert.equal(await ask('SET', 'k', 'v'), 'OK');
  assert.equal(await life(), before, 'the object had ended');
});

// All of them take minutes: EDGE_HOSTILE=all node --test tests/edge/scripts.test.mjs
if (process.env.EDGE_HOSTILE === 'all') {
  for (const entry of readFileSync(CORPUS, 'utf8').trimEnd().split('\n----\n')) {
    const [head, ...lines] = entry.split('\n');
    test(`corpus: ${head}`, async () => {
      const before = await life();
      await ask('SET', 'k', 'v');
      const begin = cpuSeconds(servers[0].pid);
      const said = await ask('EVAL', lines.join('\n'), 1, 'k');
      const took = cpuSeconds(servers[0].pid) - begin;
      console.log(`${took.toFixed(2)} s: ${head.slice(3)}: ${String(said).slice(0, 100)}`);
      assert.ok(took < LATE_SECONDS, `${took} s`);
      assert.equal(await life(), before, 'the object had ended');
      assert.equal(await ask('EVAL', "return redis.call('GET', KEYS[1])", 1, 'k'), 'v');
    });
  }
}
