// SQL in an object: what outlives it, what a failed statement leaves, and statements that mean harm. Each of those is ended by the
// object's own bounds (edge-worker/src/limits.rs), nothing of it stays, and the object lives on, which its run id tells: node --test.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { after, test } from 'node:test';
import { connect } from './peer.mjs';
import { serve } from './server.mjs';
import { cpuSeconds, EDGE_WORKER, workerd } from './workerd.mjs';

// Of processor: the platform gives an event thirty.
const LATE_SECONDS = 5;

const folders = [];
const servers = [];

function folder() {
  folders.push(mkdtempSync(`${tmpdir()}/edge-sql-`));
  return folders.at(-1);
}

async function start(bindings = {}) {
  servers.push(await serve(folder(), bindings));
  return client(servers.at(-1).url);
}

after(async () => {
  for (const server of servers) await server.stop();
  for (const each of folders) rmSync(each, { recursive: true });
});

/** Asks by REST; gives the result, or the error's text. */
function client(url) {
  return async (...words) => {
    const response = await fetch(url, { method: 'POST', body: JSON.stringify(words.map(String)) });
    const { result, error } = await response.json();
    return error ?? result;
  };
}

const ask = await start();
const base = String(servers[0].url).replace(/\/$/, '');
const life = async () => /run_id:(\w+)/.exec(await ask('INFO', 'server'))[1];
/** A SELECT of one value. */
async function one(database, text) {
  const found = await ask('SQL.QUERY', database, text);
  return Array.isArray(found) ? found[1]?.[0] : found;
}

const NUMBERS = (most) => `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${most})`;

test('rows do not come back by REST or over a WebSocket', async () => {
  assert.equal(await ask('SQL.EXEC', 'shop', 'CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT, price REAL)'), 0);
  assert.equal(await ask('SQL.EXEC', 'shop', 'INSERT INTO item(name, price) VALUES (?, ?), (?, ?)', 'pen', '1.5', 'ink', 20), 2);
  assert.deepEqual(await ask('SQL.QUERY', 'shop', 'SELECT name, price FROM item ORDER BY id'), [
    ['name', 'price'],
    ['pen', '1.5'],
    ['ink', '20'],
  ]);
  assert.equal(await ask('TYPE', 'shop'), 'sqldb');
  const { socket, say, expect, hear } = await connect(base);
  say('SQL.QUERY shop "SELECT id, name FROM item WHERE price > ?" 10');
  await expect('*2\r\n*2\r\n$2\r\nid\r\n$4\r\nname\r\n*2\r\n$1\r\n2\r\n$3\r\nink\r\n');
  say('HELLO 3');
  await hear();
  say('SQL.QUERY shop "SELECT id, price, NULL AS n FROM item WHERE id = 1"');
  await expect('*2\r\n*3\r\n$2\r\nid\r\n$5\r\nprice\r\n$1\r\nn\r\n*3\r\n:1\r\n,1.5\r\n_\r\n');
  socket.terminate();
});

test('the version of SQLite is another one than the gateway has', async () => {
  const lock = (await import('node:fs')).readFileSync(new URL('../../Cargo.lock', import.meta.url), 'utf8');
  // One crate has the sources for every home; a second one with sources of its own would be the way to two versions.
  assert.deepEqual(lock.match(/name = "(libsqlite3-sys|sqlite-wasm-rs)"/g), ['name = "libsqlite3-sys"']);
  const options = (await ask('SQL.QUERY', 'shop', 'PRAGMA compile_options')).flat();
  for (const wanted of ['OMIT_LOAD_EXTENSION', 'TEMP_STORE=3', 'ENABLE_MATH_FUNCTIONS', 'MAX_MMAP_SIZE=0']) assert.ok(options.includes(wanted), wanted);
  assert.match(await one('shop', 'SELECT sqlite_version()'), /^3\./);
});

test('MULTI of SQL and SET is half there', async () => {
  const { socket, say, expect } = await connect(base);
  ['MULTI', 'SET paid 1', 'SQL.EXEC shop "INSERT INTO item VALUES (7, \'cap\', 3)"', 'EXEC'].forEach(say);
  await expect('+OK\r\n+QUEUED\r\n+QUEUED\r\n*2\r\n+OK\r\n:1\r\n');
  assert.equal(await one('shop', 'SELECT name FROM item WHERE id = 7'), 'cap');
  ['WATCH shop', 'MULTI', 'SET paid 2'].forEach(say);
  await expect('+OK\r\n+OK\r\n+QUEUED\r\n');
  assert.equal(await ask('SQL.EXEC', 'shop', 'UPDATE item SET price = 4 WHERE id = 7'), 1);
  say('EXEC');
  await expect('*-1\r\n');
  assert.equal(await ask('GET', 'paid'), '1');
  socket.terminate();
});

test('failed statement leaves rows, or keys of commands that it called', async () => {
  const before = await ask('SQL.QUERY', 'shop', 'SELECT * FROM item');
  assert.match(await ask('SQL.EXEC', 'shop', 'INSERT INTO item(id) VALUES (100), (101), (7)'), /^ERR UNIQUE constraint failed: item.id$/);
  assert.match(await ask('SQL.EXEC', 'shop', "INSERT INTO item(id, name) VALUES (100, redis('SET', 'left', 'x')), (7, '')"), /^ERR UNIQUE/);
  assert.match(await ask('SQL.EXEC', 'shop', "DELETE FROM item; INSERT INTO item(name) VALUES (redis('LPUSH', 'paid', 1))"), /WRONGTYPE/);
  assert.deepEqual(await ask('SQL.QUERY', 'shop', 'SELECT * FROM item'), before);
  assert.equal(await ask('EXISTS', 'left'), 0);
  assert.equal(await ask('SQL.EXEC', 'shop', "UPDATE item SET name = redis('SET', 'seen', id) WHERE id = 1"), 1);
  assert.equal(await ask('GET', 'seen'), '1');
});

test('sleep forgets rows', async () => {
  const asleep = await start({ EDGECASK_FORGET: 'yes' });
  const lifeOf = async () => /run_id:(\w+)/.exec(await asleep('INFO', 'server'))[1];
  assert.equal(await asleep('SQL.EXEC', 'd', 'CREATE TABLE t(x UNIQUE)'), 0);
  for (let turn = 1; turn <= 5; turn++) assert.equal(await asleep('SQL.EXEC', 'd', 'INSERT INTO t VALUES (?)', turn), 1);
  assert.deepEqual(await asleep('SQL.QUERY', 'd', 'SELECT sum(x) FROM t'), [['sum(x)'], ['15']]);
  assert.deepEqual(await asleep('SQL.QUERY', 'd', 'PRAGMA integrity_check'), [['integrity_check'], ['ok']]);
  assert.notEqual(await lifeOf(), await lifeOf(), 'the object did not sleep');
});

test('kill -9 forgets rows, or does a statement by halves', async () => {
  const where = folder();
  const first = await workerd(where, EDGE_WORKER);
  const before = client(`http://127.0.0.1:${first.port}/`);
  assert.equal(await before('SQL.EXEC', 'd', `CREATE TABLE t(x UNIQUE); ${NUMBERS(1000)} INSERT INTO t SELECT i FROM n`), 1000);
  const running = before('SQL.EXEC', 'd', `${NUMBERS(200_000)} INSERT INTO t SELECT i + 1000 FROM n LIMIT 30000`).catch(() => undefined);
  await first.stop();
  await running;
  const second = await workerd(where, EDGE_WORKER);
  const again = client(`http://127.0.0.1:${second.port}/`);
  try {
    const [, [count]] = await again('SQL.QUERY', 'd', 'SELECT count(*) FROM t');
    assert.ok(['1000', '31000'].includes(count), count);
    assert.deepEqual(await again('SQL.QUERY', 'd', 'PRAGMA integrity_check'), [['integrity_check'], ['ok']]);
  } finally {
    await second.stop();
  }
});

/** What must end by the object's own bounds: a name, the statement, and what its error says. */
const STEPS = /^ERR the statement took more steps than it may take here \(\d+\)$/;
const MEMORY = /^ERR out of memory$|OOM|^ERR string or blob too big$|does not fit|may change \d+ members|transaction of \d+ bytes/;
const deep = (opening, closing, levels) => `SELECT ${opening.repeat(levels)}1${closing.repeat(levels)}`;
const HOSTILE = [
  ['rows without end', 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n', STEPS],
  ['a join of itself', 'SELECT count(*) FROM big a, big b, big c WHERE a.x + b.x = c.x + 0.5', STEPS],
  ['a walk through cold pages without end', 'SELECT sum(length(b.t)) FROM big a, big b', STEPS],
  ['commands without end', "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(redis('GET', 'k')) FROM n", STEPS],
  ['long values without end', 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(hex(zeroblob(1000000)) || i) FROM n', STEPS],
  ['a long pattern', `SELECT hex(zeroblob(2000000)) LIKE '${'%0'.repeat(490)}1'`, undefined],
  ['comparisons without end', "SELECT instr(hex(zeroblob(900000)), hex(zeroblob(450000)) || 'x')", STEPS],
  ['different rows without end', 'WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n) SELECT count(*) FROM n', /took more steps|out of memory/],
  ['a sort without end', 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, randomblob(500) AS b FROM n ORDER BY b', MEMORY],
  ['inserts without end', 'INSERT INTO big WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT NULL, randomblob(900) FROM n', MEMORY],
  ['writes of commands without end', "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(redis('SET', 'key' || i, randomblob(5000))) FROM n", MEMORY],
  ['a blob that is too large', 'SELECT zeroblob(2000000000)', MEMORY],
  ['a random blob that is too large', 'SELECT length(randomblob(2000000000))', MEMORY],
  ['many large values', 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1000) SELECT max(length(g)) FROM (SELECT i, group_concat(randomblob(3000000)) AS g FROM n GROUP BY i / 500)', MEMORY],
  ['a text that doubles', "WITH RECURSIVE n(s) AS (SELECT 'x' UNION ALL SELECT s || s FROM n) SELECT max(length(s)) FROM n", MEMORY],
  ['a text that is replaced by longer ones', "SELECT length(replace(hex(zeroblob(1900000)), '0', hex(zeroblob(1900000))))", MEMORY],
  ['many long characters to trim', "SELECT length(trim('x', hex(zeroblob(2000000))))", undefined],
  ['long arguments of a command', `SELECT redis('MSET'${", 'k', zeroblob(4000000)".repeat(20)})`, MEMORY],
  ['a long reply', `${NUMBERS(100_000)} SELECT i, hex(zeroblob(200)) FROM n`, MEMORY],
  ['a table that is copied', 'CREATE TABLE copy AS SELECT a.x, hex(randomblob(400)) AS t FROM big a, big b', /took more steps|out of memory|OOM/],
  ['deep brackets', deep('(', ')', 5000), undefined],
  ['deep signs', deep('- ', '', 5000), undefined],
  ['deep functions', deep('abs(', ')', 5000), undefined],
  ['deep sums', deep('1+(', ')', 900), undefined],
  ['deep conditions', deep('1 AND ', '', 900), undefined],
  ['deep SELECTs', deep('(SELECT ', ')', 900), undefined],
  ['deep sources', `${'SELECT * FROM ('.repeat(400)}SELECT 1${')'.repeat(400)}`, undefined],
  ['many unions', `SELECT 1${' UNION ALL SELECT 1'.repeat(5000)}`, undefined],
  ['deep JSON', "SELECT json_extract(json(replace(hex(zeroblob(450)), '0', '[') || '1' || replace(hex(zeroblob(450)), '0', ']')), '$[0]')", undefined],
  ['deep lists', `SELECT 1 IN (${'1,'.repeat(100_000)}1)`, undefined],
  ['triggers that set off each other', `${Array.from({ length: 150 }, (_, level) => `CREATE TABLE l${level}(x); CREATE TRIGGER t${level} AFTER INSERT ON l${level} BEGIN INSERT INTO l${level + 1} VALUES (new.x); END;`).join('')}CREATE TABLE l150(x); INSERT INTO l0 VALUES (1)`, /triggers nested too deep/],
  ['views of views', `${Array.from({ length: 300 }, (_, level) => `CREATE VIEW v${level} AS SELECT * FROM ${level === 0 ? 'big' : `v${level - 1}`};`).join('')}SELECT count(*) FROM v299`, undefined],
];

for (const [name, text, wanted] of HOSTILE) {
  test(`${name}: ends the object, or leaves something behind`, async () => {
    await ask('SQL.EXEC', 'evil', `CREATE TABLE IF NOT EXISTS big(x INTEGER PRIMARY KEY, t); ${NUMBERS(2000)} INSERT OR IGNORE INTO big SELECT i, hex(zeroblob(200)) FROM n`);
    await ask('SET', 'k', 'v');
    const before = [await life(), await ask('SQL.QUERY', 'evil', 'SELECT count(*), sum(x) FROM big')];
    const begin = cpuSeconds(servers[0].pid);
    const said = await ask('SQL.EXEC', 'evil', text);
    const took = cpuSeconds(servers[0].pid) - begin;
    const shown = String(said).slice(0, 150);
    if (process.env.EDGE_HOSTILE) console.log(`${took.toFixed(2)} s: ${name}: ${shown}`);
    if (wanted !== undefined) assert.match(String(said), wanted);
    assert.ok(took < LATE_SECONDS, `${took} s`);
    assert.deepEqual([await life(), await ask('SQL.QUERY', 'evil', 'SELECT count(*), sum(x) FROM big')], before, shown);
    assert.equal(await ask('GET', 'k'), 'v');
    assert.deepEqual(await ask('KEYS', 'key*'), []);
  });
}

// A statement's steps count the bytes that SQLite asks for.
test('a statement pays for the memory that others asked for before it', async () => {
  for (let turn = 0; turn < 200; turn++) {
    assert.equal(await one('shop', `SELECT length(hex(zeroblob(1000000 + ${turn})))`), String(2 * (1_000_000 + turn)));
  }
  assert.equal(await one('shop', `${NUMBERS(20_000)} SELECT count(*) FROM n`), '20000');
});

test('many open databases fill the memory', async () => {
  const before = await life();
  const text = `CREATE TABLE t(x INTEGER PRIMARY KEY, t); ${NUMBERS(300)} INSERT INTO t SELECT i, hex(randomblob(500)) FROM n`;
  for (let number = 0; number < 40; number++) assert.equal(await ask('SQL.EXEC', `many${number}`, text), 300);
  for (let number = 0; number < 40; number++) assert.equal(await one(`many${number}`, 'SELECT count(DISTINCT t) FROM t'), '300');
  // A sort of some megabytes beside them.
  assert.equal(await one('many1', 'SELECT count(*) FROM (SELECT a.t FROM t a, t b WHERE b.x < 12 ORDER BY a.t LIMIT -1 OFFSET 0)'), '3300');
  assert.equal(await life(), before, 'the object had ended');
  for (let number = 0; number < 40; number++) assert.equal(await ask('DEL', `many${number}`), 1);
});
