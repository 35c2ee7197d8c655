// The clients of libSQL over HTTP, unmodified: @libsql/client, @tursodatabase/serverless, and drizzle-orm on top of the first.
// The server is named by UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN.

import assert from 'node:assert/strict';
import { createClient } from '@libsql/client/http';
import { connect } from '@tursodatabase/serverless';
import { desc, eq, sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/libsql/http';
import { integer, real, sqliteTable, text } from 'drizzle-orm/sqlite-core';
import { fails, run, same } from '../harness.mjs';

const URL_BASE = process.env.UPSTASH_REDIS_REST_URL;
const TOKEN = process.env.UPSTASH_REDIS_REST_TOKEN;

// A client of the database under this key, which is empty.
async function client(closes, key) {
  const headers = { authorization: `Bearer ${TOKEN}` };
  await fetch(`${URL_BASE}/del/${key}`, { headers });
  const opened = createClient({ url: `${URL_BASE}/sql/${key}/`, authToken: TOKEN });
  closes(() => opened.close());
  return opened;
}

// How long writers wait for a transaction that another client has open, in milliseconds.
async function busyTimeout(milliseconds) {
  const headers = { authorization: `Bearer ${TOKEN}` };
  await fetch(`${URL_BASE}/config/set/sql-busy-timeout/${milliseconds}`, { headers });
}

async function items(closes, key) {
  const opened = await client(closes, key);
  await opened.execute('CREATE TABLE item(id INTEGER PRIMARY KEY, name TEXT UNIQUE, price REAL, picture BLOB)');
  await opened.execute({ sql: 'INSERT INTO item VALUES (?, ?, ?, ?)', args: [1, 'pen', 1.5, new Uint8Array([0, 255])] });
  return opened;
}

const flows = {
  async values(closes) {
    const c = await items(closes, 'values');
    const { columns, columnTypes, rows } = await c.execute('SELECT * FROM item');
    same(columns, ['id', 'name', 'price', 'picture']);
    same(columnTypes, ['INTEGER', 'TEXT', 'REAL', 'BLOB']);
    same([rows[0].id, rows[0].name, rows[0].price], [1, 'pen', 1.5]);
    same(new Uint8Array(rows[0].picture), new Uint8Array([0, 255]));
    const named = await c.execute({
      sql: 'SELECT :a AS a, @b AS b, $c AS c, NULL AS d, 9007199254740993 AS e',
      args: { a: 'Grüße 🦀 "\u0000"', b: 2, c: null },
    }).catch((error) => error);
    assert(named instanceof RangeError, 'a number that JavaScript cannot hold is refused by the client');
    const other = await c.execute({ sql: 'SELECT :a AS a, @b AS b, $c AS c', args: { a: 'Grüße 🦀 "', b: 2n, c: null } });
    same([...Object.values(other.rows[0])].slice(0, 3), ['Grüße 🦀 "', 2, null]);
    const written = await c.execute("INSERT INTO item(name) VALUES ('ink'), ('cap')");
    same([written.rowsAffected, written.lastInsertRowid], [2, 3n]);
    await fails(c.execute("INSERT INTO item(name) VALUES ('ink')"), 'UNIQUE constraint failed: item.name');
    await fails(c.execute('SELEC'), 'syntax error');
    await fails(c.execute('ATTACH \'x\' AS y'), 'ATTACH');
  },

  async batches(closes) {
    const c = await items(closes, 'batches');
    const results = await c.batch([
      { sql: 'INSERT INTO item(name) VALUES (?)', args: ['a'] },
      { sql: 'INSERT INTO item(name) VALUES (?)', args: ['b'] },
      'SELECT count(*) AS n FROM item',
    ], 'write');
    same(results[2].rows[0].n, 3);
    await fails(c.batch(["INSERT INTO item(name) VALUES ('c')", "INSERT INTO item(name) VALUES ('a')"], 'write'), 'UNIQUE');
    same((await c.execute('SELECT count(*) AS n FROM item')).rows[0].n, 3);
    same((await c.batch(['SELECT 1 AS x', 'SELECT 2 AS x'], 'read')).map((result) => result.rows[0].x), [1, 2]);
    await c.executeMultiple('CREATE TABLE a(x); INSERT INTO a VALUES (1); CREATE TABLE b(y);');
    await fails(c.executeMultiple('INSERT INTO a VALUES (2); INSERT INTO missing VALUES (3);'), 'no such table');
    same((await c.execute('SELECT count(*) AS n FROM a')).rows[0].n, 2, 'what came before the error stays');
    await c.migrate(['CREATE TABLE m(x REFERENCES item(id))', 'INSERT INTO m VALUES (1)']);
    same((await c.execute('SELECT x FROM m')).rows[0].x, 1);
  },

  async transactions(closes) {
    const c = await items(closes, 'transactions');
    const t = await c.transaction('write');
    await t.execute("INSERT INTO item(name) VALUES ('ink')");
    same((await t.execute('SELECT count(*) AS n FROM item')).rows[0].n, 2);
    same((await c.execute('SELECT count(*) AS n FROM item')).rows[0].n, 1, 'others do not see it');
    await busyTimeout(0);
    await fails(c.execute("INSERT INTO item(name) VALUES ('cap')"), 'locked');
    await busyTimeout(5000);
    await t.batch(["UPDATE item SET price = 2 WHERE name = 'ink'", "UPDATE item SET price = 3 WHERE name = 'pen'"]);
    await fails(t.execute("INSERT INTO item(name) VALUES ('ink')"), 'UNIQUE');
    await t.commit();
    same((await c.execute('SELECT sum(price) AS s FROM item')).rows[0].s, 5);
    const undone = await c.transaction('write');
    await undone.execute('DELETE FROM item');
    await undone.rollback();
    same((await c.execute('SELECT count(*) AS n FROM item')).rows[0].n, 2);
    const reading = await c.transaction('read');
    same((await reading.execute('SELECT count(*) AS n FROM item')).rows[0].n, 2);
    await c.execute('DELETE FROM item WHERE id = 1');
    same((await reading.execute('SELECT count(*) AS n FROM item')).rows[0].n, 2, 'it sees one state');
    await reading.close();
    same((await c.execute('SELECT count(*) AS n FROM item')).rows[0].n, 1);
  },

  async 'beside Redis'(closes) {
    const c = await items(closes, 'beside');
    const headers = { authorization: `Bearer ${TOKEN}` };
    await fetch(`${URL_BASE}/set/price:1/7`, { headers });
    await c.execute("UPDATE item SET price = redis('GET', 'price:' || id)");
    same((await c.execute('SELECT price FROM item')).rows[0].price, 7);
    const type = await (await fetch(`${URL_BASE}/type/beside`, { headers })).json();
    same(type, { result: 'sqldb' });
    await fails(createClient({ url: `${URL_BASE}/sql/beside/`, authToken: 'wrong' }).execute('SELECT 1'), '401');
  },

  async serverless(closes) {
    await client(closes, 'serverless');
    const c = connect({ url: `${URL_BASE}/sql/serverless`, authToken: TOKEN });
    await c.exec('CREATE TABLE t(x INTEGER PRIMARY KEY, y TEXT); CREATE TABLE u(z)');
    const insert = await c.prepare('INSERT INTO t VALUES (?, ?)');
    await insert.run([1, 'one']);
    await insert.run([2, 'two']);
    const select = await c.prepare('SELECT * FROM t WHERE x > ? ORDER BY x');
    same((await select.all([0])).map((row) => row.y), ['one', 'two']);
    same((await select.get([1])).y, 'two');
    const seen = [];
    for await (const row of select.iterate([0])) seen.push(row.x);
    same(seen, [1, 2]);
    await c.batch(["INSERT INTO t VALUES (3, 'three')", 'DELETE FROM t WHERE x = 1']);
    const move = c.transaction(async () => {
      await c.exec('UPDATE t SET y = \'changed\'');
      throw new Error('no');
    });
    await fails(move(), 'no');
    same((await select.all([0])).map((row) => row.y), ['two', 'three']);
    await assert.rejects(c.prepare('SELECT * FROM missing').then((statement) => statement.all()));
    await c.close();
  },

  async drizzle(closes) {
    const c = await items(closes, 'drizzle');
    const item = sqliteTable('item', {
      id: integer('id').primaryKey({ autoIncrement: true }), name: text('name'), price: real('price'),
    });
    const db = drizzle({ client: c });
    const returned = await db.insert(item).values([{ name: 'ink', price: 20 }, { name: 'cap', price: 3 }]).returning();
    same(returned.map((row) => row.id), [2, 3]);
    await db.transaction(async (t) => {
      await t.update(item).set({ price: sql`${item.price} * 2` }).where(eq(item.name, 'cap'));
    });
    await assert.rejects(db.transaction(async (t) => {
      await t.delete(item);
      t.rollback();
    }));
    const rows = await db.select({ name: item.name, price: item.price }).from(item).orderBy(desc(item.price));
    same(rows, [{ name: 'ink', price: 20 }, { name: 'cap', price: 6 }, { name: 'pen', price: 1.5 }]);
  },
};

await run(flows);
