// What the edge worker does in a second beside a plain Durable Object (plain-object.mjs) and beside one that does nothing
// (idle-object.mjs: what a message costs whoever serves it), how soon it starts, what scripts, SQL and search (figures-search.mjs) cost,
// and how large it is:
// node tests/edge/figures.mjs [SECONDS A CASE] [ROUNDS] [DIRECTORY]. All run under workerd alone, by turns, in one run; medians
// of the rounds. Keys are drawn at random, as redis-benchmark -r does. Frames are made before the clock runs and replies are
// only counted, so that the machine is workerd's.

import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { figuresOfSearch } from './figures-search.mjs';
import { assembled, library, text } from './modules.mjs';
import { cpuSeconds, EDGE_WORKER, workerd } from './workerd.mjs';

const [SECONDS, ROUNDS] = [Number(process.argv[2] ?? 2), Number(process.argv[3] ?? 3)];
const BASE = process.argv[4] ?? os.tmpdir();
const script = (name) => [['object.js', new URL(name, import.meta.url).pathname]];
const SERVERS = { edge: EDGE_WORKER, plain: script('plain-object.mjs'), idle: script('idle-object.mjs') };
const KEYS = 10_000;
const VALUE_BYTES = 64;
const valueOf = (number) => String(number).padEnd(VALUE_BYTES, 'v');
const REPLY_BYTES = { SET: '+OK\r\n'.length, GET: `$${VALUE_BYTES}\r\n${valueOf(0)}\r\n`.length };
const CASES = [[1, 1], [1, 16], [1, 256], [50, 1], [50, 16]];
// So many requests a socket are made beforehand, in at least so many frames.
const [REQUESTS, FRAMES_MIN] = [1024, 32];

const SCRIPT = "return redis.call('GET', KEYS[1])";
const LIBRARY = "#!lua name=look\nredis.register_function('look', function(keys) return redis.call('GET', keys[1]) end)";
// `get` there is a GET of its key.
const [GUEST] = assembled([text('core/wasm/tests/guests/functions.wat')]);
const ENDLESS = {
  'an empty loop': 'while true do end',
  'calls of functions': 'local function f(n) return n end while true do f(1) end',
  'tables and strings': "local n = 0 while true do n = n + 1 local t = {tostring(n)} end",
  'commands that read': "while true do redis.call('GET', 'key:000001') end",
  'commands that fail': "while true do redis.pcall('LPUSH', 'key:000001', 'x') end",
};

function request(...words) {
  return `*${words.length}\r\n${words.map((word) => `$${word.length}\r\n${word}\r\n`).join('')}`;
}

// A masked binary frame whose mask is zero, so that its payload stands there as it is.
function frame(text) {
  const payload = Buffer.from(text);
  const size = payload.length < 126 ? [0x80 | payload.length] : payload.length < 65_536 ? [0x80 | 126] : [0x80 | 127];
  const head = Buffer.alloc(1 + 1 + (size[0] === 0xfe ? 2 : size[0] === 0xff ? 8 : 0) + 4);
  head[0] = 0x82;
  head[1] = size[0];
  if (size[0] === 0xfe) head.writeUInt16BE(payload.length, 2);
  if (size[0] === 0xff) head.writeBigUInt64BE(BigInt(payload.length), 2);
  return Buffer.concat([head, payload]);
}

const keyOf = (number) => `key:${String(number % KEYS).padStart(6, '0')}`;

// Each key is in both halves, with another value in each: SQLite does not write a row again that has not changed, so a load of
// one value would measure no writing at all.
function frames(command, pipeline, seed) {
  const half = Math.max(FRAMES_MIN, REQUESTS / pipeline) / 2;
  const random = generator(seed + 1);
  const keys = Array.from({ length: half * pipeline }, () => keyOf(random() % KEYS));
  const one = (key, value) => request(command, key, ...(command === 'SET' ? [value] : []));
  return Array.from({ length: 2 * half }, (_, turn) => {
    const from = (turn % half) * pipeline;
    return frame(keys.slice(from, from + pipeline).map((key) => one(key, valueOf(turn))).join(''));
  });
}

// Xorshift: the same keys in every run.
function generator(seed) {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>>= 0);
  };
}

/** A WebSocket that counts the bytes of what comes. */
class Counter {
  #tcp;
  #head = Buffer.alloc(0);
  #inFrame = 0;
  #missing = 0;
  #done;

  static async open(port, where = '/resp') {
    const counter = new Counter();
    const tcp = net.connect(port, '127.0.0.1').setNoDelay(true);
    counter.#tcp = tcp;
    tcp.write(`GET ${where} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n');
    const [first] = await new Promise((resolve, reject) => {
      tcp.once('data', (...given) => resolve(given));
      tcp.once('error', reject);
    });
    if (!first.toString('latin1').startsWith('HTTP/1.1 101')) throw new Error(first.toString());
    tcp.on('data', (bytes) => counter.#count(bytes));
    tcp.on('close', () => counter.#missing > 0 && process.exit(console.error('a socket was closed') ?? 1));
    return counter;
  }

  /** Sends a frame; resolves when so many bytes of payload have come. */
  exchange(bytes, wanted) {
    this.#missing = wanted;
    const done = new Promise((resolve) => (this.#done = resolve));
    this.#tcp.write(bytes);
    return done;
  }

  close() {
    this.#missing = 0;
    this.#tcp.destroy();
  }

  #count(bytes) {
    let data = this.#head.length > 0 ? Buffer.concat([this.#head, bytes]) : bytes;
    for (;;) {
      const taken = Math.min(this.#inFrame, data.length);
      this.#inFrame -= taken;
      this.#missing -= taken;
      data = data.subarray(taken);
      const short = data.length > 1 ? data[1] & 127 : 0;
      const size = short === 126 ? 4 : short === 127 ? 10 : 2;
      if (data.length < size) break;
      if (data[0] !== 0x82) throw new Error(`an unexpected frame: ${data.subarray(0, 64).toString('latin1')}`);
      this.#inFrame = short === 126 ? data.readUInt16BE(2) : short === 127 ? Number(data.readBigUInt64BE(2)) : short;
      data = data.subarray(size);
    }
    this.#head = data;
    if (this.#missing < 0) throw new Error('more came than was asked for');
    if (this.#missing === 0 && this.#inFrame === 0) this.#done?.();
  }
}

function residentBytes(pid) {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))[1]) * 1024;
}

const median = (numbers) => numbers.sort((one, other) => one - other)[numbers.length >> 1];

async function measure({ port, pid }, command, sockets, pipeline) {
  const counters = await Promise.all(Array.from({ length: sockets }, () => Counter.open(port)));
  const prepared = counters.map((_, seed) => frames(command, pipeline, seed));
  const wanted = REPLY_BYTES[command] * pipeline;
  let commands = 0;
  const cpu = cpuSeconds(pid);
  const begin = performance.now();
  await Promise.all(counters.map(async (counter, index) => {
    for (let turn = 0; performance.now() - begin < SECONDS * 1000; turn++) {
      await counter.exchange(prepared[index][turn % prepared[index].length], wanted);
      commands += pipeline;
    }
  }));
  const seconds = (performance.now() - begin) / 1000;
  const used = cpuSeconds(pid) - cpu;
  counters.forEach((counter) => counter.close());
  return { rate: commands / seconds, micros: (used / commands) * 1e6 };
}

const SHA = createHash('sha1').update(SCRIPT).digest('hex');
const CALLS = {
  GET: (key) => request('GET', key),
  EVALSHA: (key) => request('EVALSHA', SHA, '1', key),
  'FCALL of Lua': (key) => request('FCALL', 'look', '1', key),
  'FCALL of WebAssembly': (key) => request('FCALL', 'get', '1', key),
};

// A script that does one GET beside a GET, 256 in a message, by turns; and how long the longest script takes.
async function scripts() {
  const folder = mkdtempSync(path.join(BASE, 'figures-scripts-'));
  const { port, pid, stop } = await workerd(folder, EDGE_WORKER);
  const counter = await fill(port, KEYS);
  await counter.exchange(frame(request('SCRIPT', 'LOAD', SCRIPT)), `$40\r\n${SHA}\r\n`.length);
  await counter.exchange(frame(request('FUNCTION', 'LOAD', LIBRARY)), '$4\r\nlook\r\n'.length);
  const { result } = await (await fetch(`http://127.0.0.1:${port}/function/load`, { method: 'POST', body: library('guest', GUEST) })).json();
  if (result !== 'guest') throw new Error('an edge worker without its feature wasm-functions');
  const names = Object.keys(CALLS);
  const random = generator(1);
  const keys = Array.from({ length: 256 }, () => keyOf(random() % KEYS));
  const found = names.map(() => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, name] of names.entries()) {
      const message = frame(keys.map(CALLS[name]).join(''));
      const [cpu, begin] = [cpuSeconds(pid), performance.now()];
      let commands = 0;
      for (; performance.now() - begin < SECONDS * 1000; commands += keys.length) {
        await counter.exchange(message, REPLY_BYTES.GET * keys.length);
      }
      found[index].push(((cpuSeconds(pid) - cpu) / commands) * 1e6);
    }
  }
  console.log(`workerd us/call, 256 in a message: ${names.map((name, index) => `${name} ${median(found[index]).toFixed(2)}`).join(', ')}`);
  for (const [what, body] of Object.entries(ENDLESS)) {
    const cpu = cpuSeconds(pid);
    const { error } = await (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: JSON.stringify(['EVAL', body, '0']) })).json();
    console.log(`a script of ${what} is ended after ${(cpuSeconds(pid) - cpu).toFixed(2)} s: ${error}`);
  }
  counter.close();
  await stop();
  rmSync(folder, { recursive: true });
}

// Statements one by one, 256 in a message: a table with three indexes beside a GET.
const SQL_ROWS = 20_000;
const USER = 'user name 12345';
const STATEMENTS = {
  'SELECT by rowid': (id) => [['SQL.QUERY', 'd', 'SELECT name FROM users WHERE id = ?', id], `*2\r\n*1\r\n$4\r\nname\r\n*1\r\n$15\r\n${USER}\r\n`],
  'SELECT by rowid, another text each': (id) => [['SQL.QUERY', 'd', `SELECT name FROM users WHERE id = ${id}`], `*2\r\n*1\r\n$4\r\nname\r\n*1\r\n$15\r\n${USER}\r\n`],
  'UPDATE without index': (id, turn) => [['SQL.EXEC', 'd', 'UPDATE users SET age = ? WHERE id = ?', String(turn % 100), id], ':1\r\n'],
  'INSERT with 3 indexes': (id, turn) => [['SQL.EXEC', 'd', 'INSERT INTO users VALUES (?, ?, ?, ?, ?)', String(SQL_ROWS * 2 + turn), USER, '1', `city${id}`, `m${id}-${turn}@example.com`], ':1\r\n'],
};
const ENDLESS_SQL = {
  'rows that are counted': 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n',
  'a join': 'SELECT count(*) FROM users a, users b WHERE a.age + b.age = 0.5',
  'functions of texts': "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(upper(hex(randomblob(1000))) LIKE '%x%y%') FROM n",
  'commands': "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(redis('GET', 'key:000001')) FROM n",
};
// What a statement takes inside the module: so many of them in one script, of which Lua's part is what a GET takes beside one.
const INSIDE = {
  GET: "redis.call('GET', KEYS[2])",
  'SELECT by rowid': "redis.call('SQL.QUERY', KEYS[1], 'SELECT name FROM users WHERE id = ?', i * 19)",
};
const CALLS_INSIDE = 1000;
// More than an object keeps open, so that each is opened anew.
const DATABASES = 40;

async function sql() {
  const folder = mkdtempSync(path.join(BASE, 'figures-sql-'));
  const { port, pid, stop } = await workerd(folder, EDGE_WORKER);
  const ask = async (...words) => {
    const { result, error } = await (await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: JSON.stringify(words) })).json();
    return error ?? result;
  };
  const table = `CREATE TABLE users(id INTEGER PRIMARY KEY, name TEXT, age INT, city TEXT, email TEXT);
    CREATE INDEX u_name ON users(name, id); CREATE INDEX u_city ON users(city); CREATE UNIQUE INDEX u_email ON users(email);`;
  const rows = (count) => `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    INSERT INTO users SELECT i, '${USER}', i % 100, 'city' || (i * 7919 % 5000), 'u' || (i * 7919 % 1000003) || '@example.com' FROM n`;
  const loaded = await ask('SQL.EXEC', 'd', table + rows(SQL_ROWS));
  if (loaded !== SQL_ROWS) throw new Error(`an edge worker without its feature sql: ${loaded}`);
  const counter = await fill(port, KEYS);
  const random = generator(1);
  // `make` gives words and their reply. A request may stand for several calls.
  const measured = async (make, { requests = 256, calls = 1, digits = 1 } = {}) => {
    let turn = 0;
    const found = [];
    for (let round = 0; round < ROUNDS; round++) {
      const [cpu, begin] = [cpuSeconds(pid), performance.now()];
      let commands = 0;
      for (; performance.now() - begin < SECONDS * 1000; commands += requests * calls) {
        const each = Array.from({ length: requests }, () => make(String(1 + (random() % SQL_ROWS)), turn++));
        await counter.exchange(frame(each.map(([words]) => request(...words)).join('')), each.reduce((sum, [, reply]) => sum + reply.length, 0));
      }
      found.push(((cpuSeconds(pid) - cpu) / commands) * 1e6);
    }
    return median(found).toFixed(digits);
  };
  for (const [name, make] of Object.entries(STATEMENTS)) console.log(`SQL, workerd us/statement, 256 in a message: ${name} ${await measured(make)}`);
  for (const [name, call] of Object.entries(INSIDE)) {
    const script = `for i = 1, ${CALLS_INSIDE} do ${call} end`;
    const make = () => [['EVAL', script, '2', 'd', 'key:000001'], '$-1\r\n'];
    console.log(`SQL, workerd us/call inside the module, from a script: ${name} ${await measured(make, { requests: 1, calls: CALLS_INSIDE, digits: 2 })}`);
  }
  for (let number = 0; number < DATABASES; number++) await ask('SQL.EXEC', `d${number}`, table + rows(1000));
  const reopened = await measured((_, turn) => [['SQL.QUERY', `d${turn % DATABASES}`, 'SELECT name FROM users WHERE id = 7'], STATEMENTS['SELECT by rowid']('7')[1]]);
  console.log(`SQL, workerd us/statement: a database is opened, and its first SELECT ${reopened}`);
  for (const [what, text] of Object.entries(ENDLESS_SQL)) {
    const cpu = cpuSeconds(pid);
    const error = await ask('SQL.QUERY', 'd', text);
    console.log(`a statement of ${what} is ended after ${(cpuSeconds(pid) - cpu).toFixed(2)} s: ${error}`);
  }
  counter.close();
  await stop();
  rmSync(folder, { recursive: true });
}

async function fill(port, keys, where) {
  const counter = await Counter.open(port, where);
  for (let from = 0; from < keys; from += 500) {
    let text = '';
    for (let number = from; number < from + 500; number++) text += request('SET', `key:${String(number).padStart(6, '0')}`, valueOf(number));
    await counter.exchange(frame(text), 500 * REPLY_BYTES.SET);
  }
  return counter;
}

async function beside() {
  const names = Object.keys(SERVERS);
  const folders = names.map((name) => mkdtempSync(path.join(BASE, `figures-${name}-`)));
  const servers = [];
  for (const [index, name] of names.entries()) servers.push(await workerd(folders[index], SERVERS[name]));
  for (const { port } of servers) (await fill(port, KEYS)).close();
  const head = names.map((name) => name.padStart(20)).join('');
  console.log(`${'commands/s (workerd us/command)'.padEnd(34)}${head}   edge/plain of rates, of CPU   idle/plain of rates`);
  for (const [sockets, pipeline] of CASES) {
    for (const command of ['SET', 'GET']) {
      const found = names.map(() => []);
      for (let round = 0; round < ROUNDS; round++) {
        for (const [index, server] of servers.entries()) found[index].push(await measure(server, command, sockets, pipeline));
      }
      const [edge, plain, idle] = found.map((all) => ({ rate: median(all.map((one) => one.rate)), micros: median(all.map((one) => one.micros)) }));
      const cell = ({ rate, micros }) => `${Math.round(rate)} (${micros.toFixed(1)})`.padStart(20);
      console.log(`${`${command}, ${sockets} sockets x ${pipeline}`.padEnd(34)}${[edge, plain, idle].map(cell).join('')}   ` +
        `${(edge.rate / plain.rate).toFixed(2)}, ${(plain.micros / edge.micros).toFixed(2)}   ${(idle.rate / plain.rate).toFixed(2)}`);
    }
  }
  for (const server of servers) await server.stop();
  folders.forEach((folder) => rmSync(folder, { recursive: true }));
}

// From a request for a socket to the first reply, in a process in which another object has run already.
async function coldStart(keys) {
  const folder = mkdtempSync(path.join(BASE, 'figures-cold-'));
  const first = await workerd(folder, EDGE_WORKER);
  const writer = await fill(first.port, keys, '/db/cold/resp');
  await writer.exchange(frame(request('SAVE')), REPLY_BYTES.SET);
  await first.stop();
  const second = await workerd(folder, EDGE_WORKER);
  const until = async (database) => {
    const begin = performance.now();
    const counter = await Counter.open(second.port, `/db/${database}/resp`);
    await counter.exchange(frame(request('GET', keyOf(1))), database === 'cold' ? REPLY_BYTES.GET : '$-1\r\n'.length);
    const took = performance.now() - begin;
    counter.close();
    return took;
  };
  await until('warm-up');
  const empty = await until('empty');
  const before = residentBytes(second.pid);
  const took = await until('cold');
  const grown = residentBytes(second.pid) - before;
  console.log(`cold start with ${keys} keys: ${took.toFixed(0)} ms (an empty object ${empty.toFixed(1)} ms), process ${(grown / 1e6).toFixed(0)} MB larger`);
  await second.stop();
  rmSync(folder, { recursive: true });
}

const wasm = EDGE_WORKER[1][1];
console.log(`wasm ${statSync(wasm).size} bytes, ${gzipSync(readFileSync(wasm), { level: 9 }).length} by gzip`);
await scripts();
await sql();
await figuresOfSearch({ rounds: ROUNDS, base: BASE });
for (const keys of [10_000, 100_000, 500_000]) await coldStart(keys);
await beside();
