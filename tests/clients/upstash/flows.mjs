// @upstash/redis' own flows over REST. The server is named by UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN, and
// emptied.

import assert from 'node:assert/strict';
import { Redis, errors } from '@upstash/redis';
import { eventually, fails, run, same } from '../harness.mjs';

const URL_BASE = process.env.UPSTASH_REDIS_REST_URL;
const TOKEN = process.env.UPSTASH_REDIS_REST_TOKEN;
// A request that fails is to be seen, not repeated.
const ONCE = { retry: false };
const TEXT = 'Grüße, 世界 🦀 "quoted" \\ \r\n\t\u0000';
const WRONG_TYPE = 'WRONGTYPE Operation against a key holding the wrong kind of value';

// A client that sends every call as a request of its own, on an empty server.
async function client(options = {}) {
  const r = new Redis({ url: URL_BASE, token: TOKEN, enableAutoPipelining: false, ...ONCE, ...options });
  await r.flushall();
  return r;
}

function sorted(values) {
  return [...values].sort();
}

// Everything that a scan finds, however many calls it takes.
async function scanned(scan) {
  const found = [];
  let cursor = '0';
  do {
    const [next, batch] = await scan(cursor);
    found.push(...batch);
    cursor = next;
  } while (cursor !== '0');
  return found;
}

const flows = {
  async connect() {
    const r = await client();
    same(await r.ping(), 'PONG');
    same(await r.ping(['hello']), 'hello');
    same(await r.echo('42 is no number here'), '42 is no number here');
    same(await r.dbsize(), 0);
    const [seconds, micros] = await r.time();
    assert(Math.abs(seconds - Date.now() / 1000) < 60 && micros < 1e6);
    same((await Redis.fromEnv({ ...ONCE }).ping()), 'PONG');
  },

  async documents() {
    const r = await client();
    same(await r.json.set('d', '$', { name: 'pen', price: 1.5, tags: ['blue', 'new'], stock: { here: 3 }, sold: true }), 'OK');
    same(await r.json.get('d'), { name: 'pen', price: 1.5, tags: ['blue', 'new'], stock: { here: 3 }, sold: true });
    same(await r.json.get('d', '$.stock.here'), [3]);
    same(await r.json.get('d', '$.name', '$.price'), { '$.name': ['pen'], '$.price': [1.5] });
    same(await r.json.get('nosuch'), null);
    same(await r.json.set('d', '$.name', '"ink"', { nx: true }), null);
    same(await r.json.arrappend('d', '$.tags', '"a"', '{"b":1}'), [4]);
    same(await r.json.arrindex('d', '$.tags', '"new"'), [1]);
    same(await r.json.arrinsert('d', '$.tags', 0, '"first"'), [5]);
    same(await r.json.arrlen('d', '$.tags'), [5]);
    same(await r.json.arrpop('d', '$.tags', 4), [{ b: 1 }]);
    same(await r.json.arrtrim('d', '$.tags', 0, 1), [2]);
    same(await r.json.numincrby('d', '$.price', 2), [3.5]);
    same(await r.json.nummultby('d', '$.stock.here', 5), [15]);
    same(await r.json.objkeys('d', '$.stock'), [['here']]);
    same(await r.json.objlen('d', '$'), [5]);
    same(await r.json.strappend('d', '$.name', '" and ink"'), [11]);
    same(await r.json.strlen('d', '$.name'), [11]);
    same(await r.json.toggle('d', '$.sold'), [0]);
    same(await r.json.type('d', '$.price'), ['number']);
    same(await r.json.merge('d', '$', { stock: { there: 2 }, sold: null }), 'OK');
    same(await r.json.mset({ key: 'e', path: '$', value: { price: 7 } }, { key: 'f', path: '$', value: [] }), 'OK');
    same(await r.json.mget(['d', 'e', 'nosuch'], '$.price'), [[3.5], [7], null]);
    same(await r.json.resp('e'), ['{', 'price', 7]);
    same(await r.json.clear('d', '$.stock'), 1);
    same(await r.json.del('d', '$.tags'), 1);
    same(await r.json.get('d'), { name: 'pen and ink', price: 3.5, stock: {} });
    await fails(r.json.numincrby('nosuch', '$', 1), "doesn't exist");
    const queued = r.multi();
    queued.json.set('m', '$', { n: 1 });
    queued.json.numincrby('m', '$.n', 1);
    same(await queued.exec(), ['OK', [2]]);
    same(await r.json.forget('d'), 1);
    same(await r.exists('d'), 0);
  },

  async strings() {
    const r = await client();
    same(await r.set('s', 'value'), 'OK');
    same(await r.get('s'), 'value');
    same(await r.get('nothing'), null);
    same(await r.set('s', 'other', { nx: true }), null);
    same(await r.set('s', 'other', { xx: true, get: true }), 'value');
    same(await r.set('t', 'x', { ex: 100 }), 'OK');
    const left = await r.ttl('t');
    assert(left > 90 && left <= 100);
    same(await r.set('t', 'y', { keepTtl: true }), 'OK');
    assert(await r.pttl('t') > 90_000);
    same(await r.getex('t', { persist: true }), 'y');
    same(await r.ttl('t'), -1);
    same(await r.append('s', '!'), 6);
    same(await r.strlen('s'), 6);
    same(await r.getrange('s', 0, 3), 'othe');
    same(await r.setrange('s', 5, '?'), 6);
    same(await r.getset('s', 'new'), 'other?');
    same(await r.getdel('s'), 'new');
    same(await r.mset({ a: 1, b: 'two', c: { three: 3 } }), 'OK');
    same(await r.mget('a', 'b', 'c', 'd'), [1, 'two', { three: 3 }, null]);
    same(await r.msetnx({ a: 1, e: 2 }), 0);
    same(await r.setnx('e', 'x'), 1);
    same(await r.setex('e', 10, 'x'), 'OK');
    same(await r.psetex('e', 10_000, 'x'), 'OK');
  },

  async numbers() {
    const r = await client();
    same(await r.incr('n'), 1);
    same(await r.incrby('n', 41), 42);
    same(await r.decr('n'), 41);
    same(await r.decrby('n', 41), 0);
    same(await r.incrbyfloat('n', 1.5), 1.5);
    same(await r.get('n'), 1.5);
    // What a double cannot hold stays text.
    same(await r.set('big', '9007199254740993'), 'OK');
    same(await r.get('big'), '9007199254740993');
    same(await r.set('tiny', 5e-324), 'OK');
    same(await r.get('tiny'), 5e-324);
    same(await r.exec(['GET', 'tiny']), 5e-324);
  },

  async 'objects become JSON'() {
    const r = await client();
    const object = { id: 1, name: 'Ada', tags: ['a', null], nested: { deep: [true, false, 1.5] } };
    same(await r.set('o', object), 'OK');
    same(await r.get('o'), object);
    same(await r.set('list', [1, 'two', null]), 'OK');
    same(await r.get('list'), [1, 'two', null]);
    same(await r.set('truth', true), 'OK');
    same(await r.get('truth'), true);
    same(await r.lpush('l', object, 'plain'), 2);
    same(await r.lrange('l', 0, -1), ['plain', object]);
    const raw = await client({ automaticDeserialization: false });
    await raw.set('o', object);
    same(await raw.get('o'), JSON.stringify(object));
  },

  async 'null and undefined'() {
    const r = await client();
    same(await r.set('n', null), 'OK');
    same(await r.get('n'), null);
    same(await r.strlen('n'), 4);
    await fails(r.set('u', undefined), 'ERR null args are not supported');
    await fails(r.hset('h', { f: undefined }), 'ERR null args are not supported');
    same(await r.exists('u', 'h'), 0);
  },

  async 'unicode and control characters'() {
    for (const responseEncoding of ['base64', false]) {
      const r = await client({ responseEncoding });
      same(await r.set(TEXT, TEXT), 'OK');
      same(await r.get(TEXT), TEXT);
      same(await r.keys('*'), [TEXT]);
      same(await r.hset('h', { [TEXT]: TEXT }), 1);
      same(await r.hgetall('h'), { [TEXT]: TEXT });
      // Half a pair of surrogates is no text.
      await r.set('half', 'a\ud83d');
      assert((await r.get('half')).startsWith('a\ufffd'));
    }
  },

  async 'strings that look like something else'() {
    for (const responseEncoding of ['base64', false]) {
      const r = await client({ responseEncoding, automaticDeserialization: false });
      for (const text of ['OK', 'QUEUED', 'T0s=', 'null', '', ' ', '1e3', '{"a":1}', '"', 'ERR no']) {
        await r.set('s', text);
        same(await r.get('s'), text);
        await r.del('l');
        await r.rpush('l', text, text);
        same(await r.lrange('l', 0, -1), [text, text]);
      }
    }
  },

  async keys() {
    const r = await client();
    await r.mset({ 'user:1': 1, 'user:2': 2, other: 3 });
    same(sorted(await r.keys('user:*')), ['user:1', 'user:2']);
    same(await r.exists('user:1', 'user:2', 'nothing'), 2);
    same(await r.type('user:1'), 'string');
    same(await r.type('nothing'), 'none');
    same(await r.expire('other', 100), 1);
    same(await r.expire('other', 10, 'GT'), 0);
    same(await r.persist('other'), 1);
    same(await r.pexpire('other', 100_000), 1);
    same(await r.expireat('other', 4_000_000_000), 1);
    same(await r.pexpireat('other', 4_000_000_000_000), 1);
    same(await r.rename('other', 'renamed'), 'OK');
    same(await r.renamenx('renamed', 'user:1'), 0);
    same(await r.copy('user:1', 'copied'), 'COPIED');
    same(await r.copy('user:1', 'copied'), 'NOT_COPIED');
    same(await r.touch('user:1', 'nothing'), 1);
    same(await r.unlink('user:1', 'user:2'), 2);
    same(await r.del('copied', 'renamed'), 2);
    same(await r.randomkey(), null);
  },

  async hashes() {
    const r = await client();
    same(await r.hset('h', { f: 1, g: 'two', o: { a: [1] } }), 3);
    same(await r.hget('h', 'o'), { a: [1] });
    same(await r.hget('h', 'none'), null);
    same(await r.hgetall('h'), { f: 1, g: 'two', o: { a: [1] } });
    same(await r.hgetall('nothing'), null);
    same(await r.hmget('h', 'f', 'none'), { f: 1, none: null });
    same(await r.hmset('h', { i: 5 }), 'OK');
    same(await r.hsetnx('h', 'i', 6), 0);
    same(await r.hincrby('h', 'i', 2), 7);
    same(await r.hincrbyfloat('h', 'i', 0.5), 7.5);
    same(sorted(await r.hkeys('h')), ['f', 'g', 'i', 'o']);
    same((await r.hvals('h')).length, 4);
    same(await r.hexists('h', 'f'), 1);
    same(await r.hstrlen('h', 'g'), 3);
    same(await r.hlen('h'), 4);
    same(await r.hdel('h', 'o', 'none'), 1);
    same(Object.keys(await r.hrandfield('h', 3, true)).length, 3);
  },

  async lists() {
    const r = await client();
    same(await r.rpush('l', 'a', 'b', 'c', 'b'), 4);
    same(await r.lpushx('l', 'z'), 5);
    same(await r.rpushx('nothing', 'z'), 0);
    same(await r.lrange('l', 0, -1), ['z', 'a', 'b', 'c', 'b']);
    same(await r.lindex('l', -1), 'b');
    same(await r.linsert('l', 'before', 'c', 'x'), 6);
    same(await r.lpos('l', 'b'), 2);
    same(await r.lpos('l', 'b', { count: 0 }), [2, 5]);
    same(await r.lset('l', 0, 'y'), 'OK');
    same(await r.lrem('l', 0, 'b'), 2);
    same(await r.lpop('l'), 'y');
    same(await r.rpop('l', 2), ['c', 'x']);
    same(await r.lmove('l', 'm', 'left', 'right'), 'a');
    same(await r.lmpop(2, ['l', 'm'], 'LEFT', 1), ['m', ['a']]);
    same(await r.llen('l'), 0);
    await r.rpush('l', 1, 2, 3);
    same(await r.ltrim('l', 1, -1), 'OK');
    same(await r.lrange('l', 0, -1), [2, 3]);
  },

  async sets() {
    const r = await client();
    same(await r.sadd('s', 'a', 'b', 3), 3);
    same(await r.sadd('t', 'b', 'c'), 2);
    same(sorted(await r.smembers('s')), [3, 'a', 'b']);
    same(await r.sismember('s', 'a'), 1);
    same(await r.smismember('s', ['a', 'z']), [1, 0]);
    same(await r.sinter('s', 't'), ['b']);
    same(sorted(await r.sdiff('s', 't')), [3, 'a']);
    same(sorted(await r.sunion('s', 't')), [3, 'a', 'b', 'c']);
    same(await r.sintercard(['s', 't'], { limit: 5 }), 1);
    same(await r.sinterstore('u', 's', 't'), 1);
    same(await r.sdiffstore('u', 's', 't'), 2);
    same(await r.sunionstore('u', 's', 't'), 4);
    same(await r.smove('s', 't', 'a'), 1);
    same(await r.srem('s', 3, 'z'), 1);
    same(await r.scard('s'), 1);
    same(await r.srandmember('s'), 'b');
    same(await r.srandmember('s', 2), ['b']);
    same(await r.spop('s'), 'b');
    same(await r.spop('s'), null);
  },

  async 'sorted sets'() {
    const r = await client();
    same(await r.zadd('z', { score: 1, member: 'a' }, { score: 2.5, member: 'b' }, { score: 3, member: 'c' }), 3);
    same(await r.zadd('z', { ch: true, gt: true }, { score: 9, member: 'a' }), 1);
    same(await r.zadd('z', { incr: true }, { score: -8, member: 'a' }), 1);
    same(await r.zrange('z', 0, -1), ['a', 'b', 'c']);
    same(await r.zrange('z', 0, -1, { withScores: true }), ['a', 1, 'b', 2.5, 'c', 3]);
    same(await r.zrange('z', '(1', '+inf', { byScore: true, offset: 0, count: 1 }), ['b']);
    same(await r.zrange('z', 0, 0, { rev: true }), ['c']);
    same(await r.zrange('z', '[a', '(c', { byLex: true }), ['a', 'b']);
    same(await r.zscore('z', 'b'), 2.5);
    same(await r.zscore('z', 'none'), null);
    same(await r.zmscore('z', ['a', 'none']), [1, null]);
    same(await r.zincrby('z', 0.5, 'b'), 3);
    same(await r.zrank('z', 'b'), 1);
    same(await r.zrevrank('z', 'b'), 1);
    same(await r.zcard('z'), 3);
    same(await r.zcount('z', '-inf', '+inf'), 3);
    same(await r.zlexcount('z', '-', '+'), 3);
    await r.zadd('y', { score: 10, member: 'b' });
    same(await r.zunion(2, ['z', 'y'], { withScores: true, weights: [1, 2] }), ['a', 1, 'c', 3, 'b', 23]);
    same(await r.zunionstore('u', 2, ['z', 'y'], { aggregate: 'max' }), 3);
    same(await r.zinterstore('u', 2, ['z', 'y']), 1);
    same(await r.zdiffstore('u', 2, 'z', 'y'), 2);
    same(await r.zpopmin('z'), ['a', 1]);
    same(await r.zpopmax('z', 1), ['c', 3]);
    same(await r.zrem('z', 'b', 'none'), 1);
    await r.zadd('z', ...[1, 2, 3, 4].map((score) => ({ score, member: `m${score}` })));
    same(await r.zremrangebyrank('z', 0, 0), 1);
    same(await r.zremrangebyscore('z', 2, 2), 1);
    same(await r.zremrangebylex('z', '-', '+'), 2);
    same(await r.zadd('z', { score: Infinity, member: 'end' }).catch((error) => error.message.split(',')[0]),
      'ERR null args are not supported');
  },

  async streams() {
    const r = await client();
    const id = await r.xadd('x', '*', { f: 'v', o: { a: 1 } });
    assert.match(id, /^\d+-0$/);
    same(await r.xadd('x', '99999999999999-1', { f: 2 }), '99999999999999-1');
    same(await r.xadd('nothing', '*', { f: 1 }, { nomkStream: true }), null);
    same(await r.xlen('x'), 2);
    same(await r.xrange('x', '-', '+'), { [id]: { f: 'v', o: { a: 1 } }, '99999999999999-1': { f: 2 } });
    same(Object.keys(await r.xrevrange('x', '+', '-', 1)), ['99999999999999-1']);
    same(await r.xread('x', id, { count: 5 }), [['x', [['99999999999999-1', ['f', 2]]]]]);
    same(await r.xread('x', '99999999999999-1'), null);
    same(await r.xgroup('x', { type: 'CREATE', group: 'g', id: '0' }), 'OK');
    same(await r.xgroup('x', { type: 'CREATECONSUMER', group: 'g', consumer: 'c' }), 1);
    same((await r.xreadgroup('g', 'c', 'x', '>', { count: 1 }))[0][1][0][0], id);
    same((await r.xpending('x', 'g', '-', '+', 10)).length, 1);
    same((await r.xclaim('x', 'g', 'd', 0, id)).length, 1);
    same((await r.xautoclaim('x', 'g', 'c', 0, '0-0'))[1].length, 1);
    same(await r.xack('x', 'g', id), 1);
    same((await r.xinfo('x', { type: 'GROUPS' }))[0].length, 12);
    same(await r.xdel('x', id), 1);
    same(await r.xtrim('x', { strategy: 'MAXLEN', threshold: 0, exactness: '=' }), 1);
    // A stream that nothing comes to: the request takes as long as it was told to wait.
    const begin = Date.now();
    same(await r.xread('x', '$', { blockMS: 200 }), null);
    assert(Date.now() - begin >= 190);
  },

  async positions() {
    const r = await client();
    const palermo = { longitude: 13.361389, latitude: 38.115556, member: 'Palermo' };
    const catania = { longitude: 15.087269, latitude: 37.502669, member: 'Catania' };
    same(await r.geoadd('g', palermo, catania), 2);
    same(Math.round(await r.geodist('g', 'Palermo', 'Catania', 'KM')), 166);
    same(await r.geohash('g', 'Palermo', 'none'), ['sqc8b49rny0', null]);
    same((await r.geopos('g', 'Catania', 'none')).map(({ lat }) => lat.toFixed(3)), ['37.503']);
    const center = { type: 'FROMLONLAT', coordinate: { lon: 15, lat: 37 } };
    const circle = { type: 'BYRADIUS', radius: 200, radiusType: 'KM' };
    same(await r.geosearch('g', center, circle, 'ASC'), [{ member: 'Catania' }, { member: 'Palermo' }]);
    const [nearest] = await r.geosearch('g', center, circle, 'ASC',
      { count: { limit: 1 }, withDist: true, withCoord: true, withHash: true });
    same([nearest.member, Math.round(nearest.dist), nearest.hash], ['Catania', 56, '3479447370796909']);
    same(nearest.coord.long.toFixed(3), '15.087');
    same(await r.geosearchstore('h', 'g', center, circle, 'ASC', { count: { limit: 1 } }), 1);
  },

  async bits() {
    const r = await client();
    same(await r.setbit('b', 7, 1), 0);
    same(await r.getbit('b', 7), 1);
    same(await r.bitcount('b'), 1);
    same(await r.bitcount('b', 0, 0), 1);
    same(await r.bitpos('b', 1), 7);
    same(await r.setbit('c', 0, 1), 0);
    same(await r.bitop('or', 'd', 'b', 'c'), 1);
    same(await r.bitop('not', 'e', 'd'), 1);
    same(await r.get('e'), '~');
    same(await r.bitfield('f').set('u8', 0, 255).incrby('u8', 0, 10).overflow('SAT').incrby('u8', 0, 250)
      .get('u4', '#1').exec(), [0, 9, 255, 15]);
    same(await r.pfadd('p', 'a', 'b', 'c'), 1);
    same(await r.pfcount('p'), 3);
    same(await r.pfmerge('q', 'p'), 'OK');
  },

  async scans() {
    const r = await client();
    const fields = Object.fromEntries(Array.from({ length: 1000 }, (_, number) => [`f${number}`, number]));
    await r.mset(fields);
    await r.hset('hash', fields);
    await r.sadd('set', ...Object.keys(fields));
    await r.zadd('zset', ...Object.entries(fields).map(([member, score]) => ({ score, member })));
    same(new Set(await scanned((cursor) => r.scan(cursor, { match: 'f*', count: 100 }))).size, 1000);
    same(await scanned((cursor) => r.scan(cursor, { type: 'hash' })), ['hash']);
    same((await scanned((cursor) => r.hscan('hash', cursor, { count: 50 }))).length, 2000);
    same(new Set(await scanned((cursor) => r.sscan('set', cursor, { match: 'f1*' }))).size, 111);
    same((await scanned((cursor) => r.zscan('zset', cursor))).length, 2000);
  },

  async pipelines() {
    const r = await client();
    const pipeline = r.pipeline();
    pipeline.set('a', { one: 1 });
    pipeline.get('a');
    pipeline.incr('n');
    pipeline.hset('h', { f: 'v' });
    pipeline.hgetall('h');
    pipeline.zadd('z', { score: 1, member: 'm' });
    pipeline.zrange('z', 0, -1, { withScores: true });
    pipeline.get('nothing');
    same(pipeline.length(), 8);
    same(await pipeline.exec(), ['OK', { one: 1 }, 1, 1, { f: 'v' }, 1, ['m', 1], null]);
    await fails(r.pipeline().set('s', 1).lpop('s').get('s').exec(), `Command 2 [ lpop ] failed: ${WRONG_TYPE}`);
    same(await r.pipeline().lpop('s').get('s').exec({ keepErrors: true }),
      [{ error: WRONG_TYPE, result: undefined }, { error: undefined, result: 1 }]);
    const many = r.pipeline();
    for (let number = 0; number < 5000; number += 1) many.incr('count');
    same((await many.exec()).at(-1), 5000);
  },

  async transactions() {
    const r = await client();
    same(await r.multi().set('a', 1).incr('a').get('a').exec(), ['OK', 2, 2]);
    same(await r.multi().set('s', 'x').incr('s').get('s').exec({ keepErrors: true }), [
      { error: undefined, result: 'OK' },
      { error: 'ERR value is not an integer or out of range', result: undefined },
      { error: undefined, result: 'x' },
    ]);
    const discarded = r.multi().set('a', 99);
    discarded.mset({});
    await fails(discarded.exec(), 'EXECABORT Transaction discarded because of: ERR wrong number of arguments');
    same(await r.get('a'), 2);
    // Others see all of it or nothing.
    await Promise.all(Array.from({ length: 50 }, () => r.multi().incr('x').incr('y').exec()));
    same(await r.mget('x', 'y'), [50, 50]);
  },

  async 'automatic pipelining'() {
    const r = await client({ enableAutoPipelining: true });
    await Promise.all(Array.from({ length: 300 }, (_, number) => r.set(`k${number}`, number)));
    const values = await Promise.all(Array.from({ length: 300 }, (_, number) => r.get(`k${number}`)));
    same(values, [...Array(300).keys()]);
    const outcomes = await Promise.allSettled([r.get('k1'), r.llen('k1'), r.get('k2')]);
    same(outcomes.map(({ status }) => status), ['fulfilled', 'rejected', 'fulfilled']);
    same(outcomes[1].reason.message, `Command failed: ${WRONG_TYPE}`);
  },

  async errors() {
    const r = await client();
    await r.set('s', 'x');
    const wrong = await r.lpush('s', 1).catch((error) => error);
    assert(wrong instanceof errors.UpstashError);
    same([wrong.name, wrong.message], ['UpstashError', `${WRONG_TYPE}, command was: ["lpush","s",1]`]);
    await fails(r.exec(['NOSUCH', 'a']), "ERR unknown command 'NOSUCH', with args beginning with: 'a'");
    await fails(r.exec(['GET']), "ERR wrong number of arguments for 'get' command");
    await fails(r.incr('s'), 'ERR value is not an integer or out of range');
    await fails(r.exec(['SUBSCRIBE', 'c']), 'ask for the path /subscribe');
    await fails(r.exec(['MULTI']), 'ask for the path /multi-exec');
  },

  async tokens() {
    for (const token of ['wrong', `${TOKEN}x`, TOKEN.slice(1)]) {
      const stranger = new Redis({ url: URL_BASE, token, enableAutoPipelining: false, ...ONCE });
      const refused = await stranger.set('s', 1).catch((error) => error);
      assert(refused instanceof errors.UpstashError);
      assert(refused.message.startsWith('WRONGPASS invalid or missing auth token'), refused.message);
      await fails(stranger.pipeline().get('s').exec(), 'WRONGPASS');
      await fails(stranger.multi().get('s').exec(), 'WRONGPASS');
    }
  },

  async 'large values'() {
    const r = await client();
    const large = 'ü'.repeat(3_000_000);
    same(await r.set('large', large), 'OK');
    same(await r.strlen('large'), 6_000_000);
    assert(await r.get('large') === large);
  },

  async 'a blocked call ends when another one has something for it'() {
    const r = await client();
    const popped = r.exec(['BLPOP', 'queue', '10']);
    await eventually(async () => (await r.exec(['INFO', 'clients'])).includes('blocked_clients:1'), 'the wait');
    await r.rpush('queue', 'job');
    same(await popped, ['queue', 'job']);
  },

  async 'a call that is given up leaves nothing behind'() {
    const controller = new AbortController();
    const r = await client();
    // The client makes a result of the reason, and would decode it.
    const waiting = await client({ signal: controller.signal, responseEncoding: false });
    const popped = waiting.exec(['BLPOP', 'queue', '0']);
    const blocked = async (count) => (await r.exec(['INFO', 'clients'])).includes(`blocked_clients:${count}`);
    await eventually(() => blocked(1), 'the wait');
    controller.abort('enough');
    same(await popped, 'enough');
    await eventually(() => blocked(0), 'the end of the wait');
    await r.rpush('queue', 'job');
    same(await r.llen('queue'), 1);
  },

  async subscriptions(close) {
    const r = await client();
    const subscriber = r.subscribe(['news', 'chat']);
    close(() => subscriber.unsubscribe());
    const [heard, counts] = [[], []];
    subscriber.on('subscribe', (count) => counts.push(count));
    subscriber.on('message', ({ channel, message }) => heard.push([channel, message]));
    await eventually(() => counts.length === 2, 'the subscriptions');
    same(counts, [1, 1]);
    const messages = ['plain', 'with, commas', { an: ['object'] }, 42, 'two\nlines\r\nmessage,chat,forged', TEXT, '日本'];
    for (const message of messages) same(await r.publish('news', message), 1);
    await eventually(() => heard.length === messages.length, 'the messages');
    same(heard, messages.map((message) => ['news', message]));
    same(await r.publish('chat', 'x'.repeat(500_000)), 1);
    await eventually(() => heard.at(-1)[0] === 'chat', 'a long message');
    same(heard.at(-1)[1].length, 500_000);
    await subscriber.unsubscribe(['news']);
    await eventually(async () => await r.publish('news', 'late') === 0, 'the end of a subscription');
    same(await r.publish('chat', 'still'), 1);
  },

  async patterns(close) {
    const r = await client();
    const subscriber = r.psubscribe(['user:*']);
    close(() => subscriber.unsubscribe());
    const heard = [];
    let isReady = false;
    subscriber.on('psubscribe', () => { isReady = true; });
    subscriber.on('pmessage', (message) => heard.push(message));
    await eventually(() => isReady, 'the subscription');
    same(await r.publish('user:1', { id: 1 }), 1);
    same(await r.publish('group:1', 'no'), 0);
    same(await r.publish('user:2', 'two\nlines'), 1);
    await eventually(() => heard.length === 2, 'the messages');
    same(heard, [
      { pattern: 'user:*', channel: 'user:1', message: { id: 1 } },
      { pattern: 'user:*', channel: 'user:2', message: 'two\nlines' },
    ]);
  },

  async 'a subscription with a wrong token'() {
    const stranger = new Redis({ url: URL_BASE, token: 'wrong', ...ONCE });
    const subscriber = stranger.subscribe(['news']);
    let refused = null;
    subscriber.on('error', (error) => { refused = error; });
    await eventually(() => refused !== null, 'the refusal');
    assert(refused.message.startsWith('WRONGPASS'), refused.message);
  },

  async 'a rate limit and a lock'() {
    const r = await client();
    // What such libraries do without scripts: a counter that expires, and a key that only its owner deletes.
    const counts = await Promise.all(Array.from({ length: 20 }, async () => {
      const [count] = await r.pipeline().incr('limit:ip').expire('limit:ip', 60).exec();
      return count;
    }));
    same(sorted(counts.filter((count) => count <= 5)), [1, 2, 3, 4, 5]);
    const owners = await Promise.all(['a', 'b', 'c'].map((owner) => r.set('lock', owner, { nx: true, px: 10_000 })));
    same(owners.filter((outcome) => outcome === 'OK').length, 1);
  },
};

await run(flows);
