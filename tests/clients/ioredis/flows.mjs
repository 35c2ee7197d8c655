// ioredis' own flows: flows.mjs PORT PROTOCOL (it speaks RESP2 only).

import Redis from 'ioredis';
import { ALL_BYTES, PORT, eventually, fails, later, run, same } from '../harness.mjs';

const NUMBERS = [...Array(1000).keys()];
const LARGE = Buffer.alloc(5_000_000, '0123456789');

function opener(close) {
  return (options = {}) => {
    const client = new Redis(PORT, '127.0.0.1', options);
    close(() => client.disconnect());
    return client;
  };
}

// The next `count` of these events, as lists of their arguments.
function events(emitter, name, count) {
  return new Promise((resolve) => {
    const found = [];
    const listener = (...values) => {
      if (found.push(values) === count) {
        emitter.off(name, listener);
        resolve(found);
      }
    };
    emitter.on(name, listener);
  });
}

function pairs(flat) {
  return flat.flatMap((value, index) => (index % 2 === 0 ? [[value, flat[index + 1]]] : []));
}

async function all(stream) {
  const found = [];
  for await (const batch of stream) found.push(...batch);
  return found;
}

await run({
  async connect(close) {
    const client = opener(close);
    const r = client({ connectionName: 'flows' });
    const other = client({ db: 1 });
    same(await r.ping(), 'PONG');
    same(await r.echo('hello'), 'hello');
    same(await r.client('GETNAME'), 'flows');
    await other.set('only', 'here');
    same(await r.exists('only'), 0);
    same(await other.dbsize(), 1);
    await other.flushdb();
    // It asks INFO whether the data set is loaded before it says `ready`.
    same(r.status, 'ready');
  },

  async strings(close) {
    const r = opener(close)();
    same(await r.set('s', '1', 'EX', 100, 'NX'), 'OK');
    same(await r.set('s', '2', 'NX'), null);
    same(await r.set('s', '2', 'GET'), '1');
    same(await r.incrby('s', 40), 42);
    same(await r.incrbyfloat('s', 0.5), '42.5');
    same(await r.append('s', '0'), 5);
    same(await r.mset({ a: 1, b: 2 }), 'OK');
    same(await r.mget('a', 'nothing', 'b'), ['1', null, '2']);
    same(await r.getdel('a'), '1');
    await fails(r.lpush('s', 'x'), 'wrong kind of value');
  },

  async hashes(close) {
    const r = opener(close)();
    same(await r.hset('h', { f: 1, g: 2 }), 2);
    same(await r.hgetall('h'), { f: '1', g: '2' });
    same(await r.hincrby('h', 'f', 9), 10);
    same(await r.hmget('h', 'f', 'none'), ['10', null]);
    same(await r.hdel('h', 'f', 'none'), 1);
    same(await r.hrandfield('h', 5, 'WITHVALUES'), ['g', '2']);
  },

  async lists(close) {
    const r = opener(close)();
    same(await r.rpush('l', 'a', 'b', 'c', 'd'), 4);
    same(await r.lrange('l', 0, -1), ['a', 'b', 'c', 'd']);
    same(await r.lpop('l', 2), ['a', 'b']);
    same(await r.linsert('l', 'BEFORE', 'd', 'x'), 3);
    same(await r.lpos('l', 'x'), 1);
    same(await r.lmove('l', 'm', 'RIGHT', 'LEFT'), 'd');
    same(await r.lmpop(2, 'none', 'l', 'LEFT', 'COUNT', 9), ['l', ['c', 'x']]);
    same(await r.lpop('l'), null);
  },

  async sets(close) {
    const r = opener(close)();
    same(await r.sadd('s1', 'a', 'b', 'c'), 3);
    same(await r.sadd('s2', 'b', 'c', 'd'), 3);
    same((await r.sinter('s1', 's2')).sort(), ['b', 'c']);
    same(await r.sintercard(2, 's1', 's2', 'LIMIT', 1), 1);
    same(await r.sdiffstore('s3', 's1', 's2'), 1);
    same(await r.smismember('s1', 'a', 'z'), [1, 0]);
    same((await r.spop('s1', 9)).sort(), ['a', 'b', 'c']);
  },

  async 'sorted sets'(close) {
    const r = opener(close)();
    same(await r.zadd('z', 1, 'a', 2.5, 'b', '+inf', 'c'), 3);
    same(await r.zrange('z', 0, -1, 'WITHSCORES'), ['a', '1', 'b', '2.5', 'c', 'inf']);
    same(await r.zincrby('z', 2, 'a'), '3');
    same(await r.zrange('z', '(2.5', '+inf', 'BYSCORE', 'LIMIT', 0, 1), ['a']);
    same(await r.zrevrank('z', 'a'), 1);
    same(await r.zadd('z', 'GT', 'CH', 1, 'b'), 0);
    same(await r.zpopmin('z', 2), ['b', '2.5', 'a', '3']);
    same(await r.zunionstore('zu', 2, 'z', 'z', 'WEIGHTS', 1, 2, 'AGGREGATE', 'MAX'), 1);
  },

  async bits(close) {
    const r = opener(close)();
    for (const place of [1, 7, 100]) same(await r.setbit('bm', place, 1), 0);
    same([await r.bitcount('bm'), await r.bitcount('bm', 0, 7, 'BIT'), await r.bitpos('bm', 1, 1)], [3, 2, 100]);
    same(await r.bitop('NOT', 'not bm', 'bm'), 13);
    same(await r.bitfield('f', 'OVERFLOW', 'FAIL', 'SET', 'u8', '#0', 250, 'INCRBY', 'u8', '#0', 10), [0, null]);
  },

  async hyperloglog(close) {
    const r = opener(close)();
    same([await r.pfadd('p1', NUMBERS), await r.pfadd('p2', 'one more')], [1, 1]);
    same([await r.pfmerge('p', 'p1', 'p2'), await r.pfcount('p')], ['OK', await r.pfcount('p1', 'p2')]);
  },

  async geo(close) {
    const r = opener(close)();
    same(await r.geoadd('g', 13.361389, 38.115556, 'Palermo', 15.087269, 37.502669, 'Catania'), 2);
    same(await r.geodist('g', 'Palermo', 'Catania', 'km'), '166.2742');
    same(await r.geosearch('g', 'FROMLONLAT', 15, 37, 'BYRADIUS', 200, 'km', 'ASC', 'WITHDIST'),
      [['Catania', '56.4413'], ['Palermo', '190.4424']]);
    same(await r.georadiusbymember('g', 'Catania', 10, 'km'), ['Catania']);
  },

  async sort(close) {
    const r = opener(close)();
    await r.rpush('ids', 3, 1, 2);
    await r.mset({ 'weight:1': 30, 'weight:2': 20, 'weight:3': 10 });
    same(await r.sort('ids', 'BY', 'weight:*', 'GET', '#', 'GET', 'weight:*', 'LIMIT', 0, 2), ['3', '10', '2', '20']);
  },

  async administration(close) {
    const r = opener(close)();
    same((await r.info()).includes('redis_version:'), true);
    same(await r.config('SET', 'slowlog-log-slower-than', 0), 'OK');
    same(await r.config('GET', 'slowlog-log-slower-than'), ['slowlog-log-slower-than', '0']);
    await r.set('a', 1);
    same((await r.slowlog('GET', 1))[0][3], ['set', 'a', '1']);
    same(await r.config('SET', 'slowlog-log-slower-than', 10_000), 'OK');
    same([await r.object('ENCODING', 'a'), await r.memory('USAGE', 'a') > 0], ['int', true]);
    same((await r.client('LIST')).includes(' cmd=client'), true);
    same(await r.restore('a2', 0, await r.dumpBuffer('a')), 'OK');
    same(await r.get('a2'), '1');
  },

  async expiry(close) {
    const r = opener(close)();
    same(await r.psetex('e', 60, 'v'), 'OK');
    await eventually(async () => (await r.get('e')) === null, 'the expiry');
    same(await r.ttl('e'), -2);
    await r.set('e', 'v', 'EX', 100);
    same([await r.expire('e', 50, 'GT'), await r.persist('e'), await r.ttl('e')], [0, 1, -1]);
  },

  async 'binary values'(close) {
    const r = opener(close)();
    same(await r.set(ALL_BYTES, ALL_BYTES), 'OK');
    same(await r.getBuffer(ALL_BYTES), ALL_BYTES);
    same(await r.hset('bh', ALL_BYTES, ALL_BYTES), 1);
    same(await r.hkeysBuffer('bh'), [ALL_BYTES]);
    same(await r.set('text', 'ä€😀'), 'OK');
    same([await r.get('text'), await r.strlen('text')], ['ä€😀', 9]);
  },

  async 'large values'(close) {
    const r = opener(close)();
    same(await r.set('large', LARGE), 'OK');
    same(LARGE.equals(await r.getBuffer('large')), true);
    same(await r.rpush('large list', LARGE, LARGE), 2);
    same((await r.lrangeBuffer('large list', 0, -1)).map((each) => each.equals(LARGE)), [true, true]);
    await r.del('large', 'large list');
  },

  async pipelines(close) {
    const r = opener(close)({ enableAutoPipelining: true });
    const pipe = r.pipeline();
    for (const number of NUMBERS) pipe.set(`p:${number}`, number).incr(`p:${number}`);
    same(await pipe.exec(), NUMBERS.flatMap((number) => [[null, 'OK'], [null, number + 1]]));
    const [first, second, third] = await r.pipeline().set('p:x', 'text').incr('p:x').get('p:x').exec();
    same([first[1], second[0].message.includes('not an integer'), third[1]], ['OK', true, 'text']);
    // Calls made in one turn of the event loop go out as one pipeline by themselves.
    same(await Promise.all(NUMBERS.map((number) => r.get(`p:${number}`))), NUMBERS.map((number) => `${number + 1}`));
  },

  async transactions(close) {
    const r = opener(close)();
    same(await r.multi().set('t', 1).incr('t').lrange('none', 0, -1).exec(), [[null, 'OK'], [null, 2], [null, []]]);
    await r.watch('t');
    const value = Number(await r.get('t'));
    same(await r.multi().set('t', value * 2).exec(), [[null, 'OK']]);
    same(await r.multi({ pipeline: false }), 'OK');
    same(await r.set('t', 'text'), 'QUEUED');
    same(await r.incr('t'), 'QUEUED');
    const replies = await r.exec();
    same([replies[0], replies[1][0].message.includes('not an integer')], [[null, 'OK'], true]);
  },

  async 'aborted transaction'(close) {
    const client = opener(close);
    const [r, other] = [client(), client()];
    await r.watch('w');
    await other.set('w', 'changed');
    same(await r.multi().set('w', 'mine').exec(), null);
    same(await r.get('w'), 'changed');
    await fails(r.multi().set('w', 'mine').call('GET').exec(), 'EXECABORT');
    same(await r.get('w'), 'changed');
    await r.multi({ pipeline: false });
    await r.set('w', 'mine');
    same([await r.discard(), await r.get('w')], ['OK', 'changed']);
  },

  // SET NX PX takes it; WATCH gives it back only if it is still one's own.
  async 'lock without scripts'(close) {
    const client = opener(close);
    const [r, other] = [client(), client()];
    const release = async (holder, token) => {
      await holder.watch('lock');
      if ((await holder.get('lock')) !== token) return holder.unwatch();
      return holder.multi().del('lock').exec();
    };
    same(await r.set('lock', 'one', 'PX', 10_000, 'NX'), 'OK');
    same(await other.set('lock', 'two', 'PX', 10_000, 'NX'), null);
    same(await release(other, 'two'), 'OK');
    same(await release(r, 'one'), [[null, 1]]);
    same(await other.set('lock', 'two', 'PX', 10_000, 'NX'), 'OK');
  },

  async 'pub sub'(close) {
    const client = opener(close);
    const [r, subscriber] = [client(), client()];
    same(await subscriber.subscribe('news', 'other'), 2);
    const [hello] = await Promise.all([events(subscriber, 'message', 1), r.publish('news', 'hello')]);
    same(hello, [['news', 'hello']]);
    same((await r.pubsub('CHANNELS')).sort(), ['news', 'other']);
    same(await r.pubsub('NUMSUB', 'news', 'nobody'), ['news', 1, 'nobody', 0]);
    same(await subscriber.unsubscribe('news'), 1);
    same(await r.publish('news', 'lost'), 0);
    const arriving = events(subscriber, 'messageBuffer', 1000);
    same(await Promise.all(NUMBERS.map((number) => r.publish('other', number))), NUMBERS.map(() => 1));
    same((await arriving).map(([, text]) => Number(text)), NUMBERS);
    same(await subscriber.unsubscribe(), 0);
    // Out of all channels the connection takes every command again.
    same(await subscriber.set('after', 'all'), 'OK');
  },

  async 'pub sub patterns'(close) {
    const client = opener(close);
    const [r, subscriber] = [client(), client()];
    same(await subscriber.psubscribe('n*', '?ews'), 2);
    const [twice] = await Promise.all([events(subscriber, 'pmessage', 2), r.publish('news', 'twice')]);
    same(twice.sort(), [['?ews', 'news', 'twice'], ['n*', 'news', 'twice']]);
    same(await r.pubsub('NUMPAT'), 2);
    same(await subscriber.punsubscribe('n*'), 1);
    same(await r.publish('news', 'once'), 1);
    await fails(subscriber.get('x'), 'subscriber mode');
  },

  async 'blocking timeout'(close) {
    const r = opener(close)();
    const begin = Date.now();
    same(await r.blpop('none', 'no', 0.1), null);
    same(await r.blmove('none', 'no', 'LEFT', 'RIGHT', 0.1), null);
    same(await r.bzpopmin('none', 0.1), null);
    same(await r.blmpop(0.1, 1, 'none', 'LEFT'), null);
    same(Date.now() - begin >= 390, true);
    await r.rpush('full', 'a');
    same(await r.blpop('none', 'full', 5), ['full', 'a']);
  },

  async 'blocking with producer'(close) {
    const client = opener(close);
    const [r, other] = [client(), client()];
    later(() => other.rpush('q', 'job'));
    same(await r.brpop('empty', 'q', 5), ['q', 'job']);
    later(() => other.lpush('q', 'moved'));
    same(await r.brpoplpush('q', 'done', 5), 'moved');
    later(() => other.zadd('zq', 1, 'low', 2, 'high'));
    same(await r.bzpopmax('zq', 5), ['zq', 'high', '2']);
    later(() => other.multi().rpush('q', 'x').rpush('q', 'y').exec());
    same(await r.blmpop(5, 1, 'q', 'LEFT', 'COUNT', 5), ['q', ['x', 'y']]);
    const waiting = [...Array(10)].map(() => client().blpop('many', 5));
    for (let number = 0; number < 10; number++) await other.rpush('many', number);
    same((await Promise.all(waiting)).map(([, taken]) => Number(taken)).sort(), NUMBERS.slice(0, 10));
  },

  async streams(close) {
    const r = opener(close)();
    const ids = [];
    for (let number = 0; number < 10; number++) ids.push(await r.xadd('st', '*', 'n', number));
    same(await r.xlen('st'), 10);
    same(await r.xrange('st', ids[1], ids[1]), [[ids[1], ['n', '1']]]);
    same(await r.xrevrange('st', '+', '-', 'COUNT', 1), [[ids[9], ['n', '9']]]);
    same(await r.xread('STREAMS', 'st', ids[8]), [['st', [[ids[9], ['n', '9']]]]]);
    same(await r.xtrim('st', 'MAXLEN', 3), 7);
    same(Object.fromEntries(pairs(await r.xinfo('STREAM', 'st'))).length, 3);
    await fails(r.xadd('st', '1-1', 'a', 1), 'equal or smaller');
  },

  async 'stream groups'(close) {
    const client = opener(close);
    const [r, other] = [client(), client()];
    same(await r.xgroup('CREATE', 'gs', 'group', '$', 'MKSTREAM'), 'OK');
    await fails(r.xgroup('CREATE', 'gs', 'group', '$'), 'BUSYGROUP');
    const ids = [];
    for (let number = 0; number < 4; number++) ids.push(await r.xadd('gs', '*', 'n', number));
    const read = (who, consumer, count) =>
      who.xreadgroup('GROUP', 'group', consumer, 'COUNT', count, 'BLOCK', 5000, 'STREAMS', 'gs', '>');
    same((await read(r, 'one', 3))[0][1].map(([id]) => id), ids.slice(0, 3));
    same(await read(other, 'two', 3), [['gs', [[ids[3], ['n', '3']]]]]);
    same(await r.xack('gs', 'group', ids[0]), 1);
    same(await r.xpending('gs', 'group'), [3, ids[1], ids[3], [['one', '2'], ['two', '1']]]);
    same((await r.xpending('gs', 'group', '-', '+', 10, 'one')).map(([id]) => id), ids.slice(1, 3));
    same(await r.xclaim('gs', 'group', 'two', 0, ids[1]), [[ids[1], ['n', '1']]]);
    const [cursor, claimed] = await r.xautoclaim('gs', 'group', 'two', 0, '0', 'COUNT', 10);
    same([cursor, claimed.map(([id]) => id)], ['0-0', ids.slice(1)]);
    same(await r.xack('gs', 'group', ...ids.slice(0, 3)), 2);
    const [group] = await r.xinfo('GROUPS', 'gs');
    same(Object.fromEntries(pairs(group)).pending, 1);
    same((await r.xinfo('CONSUMERS', 'gs', 'group')).length, 2);
    same([await r.xgroup('DELCONSUMER', 'gs', 'group', 'two'), await r.xgroup('DESTROY', 'gs', 'group')], [1, 1]);
  },

  async 'blocking stream reads'(close) {
    const client = opener(close);
    const [r, other] = [client(), client()];
    same(await r.xread('BLOCK', 50, 'STREAMS', 'bs', '$'), null);
    later(() => other.xadd('bs', '1-1', 'n', '1'));
    same(await r.xread('BLOCK', 5000, 'STREAMS', 'none', 'bs', '$', '$'), [['bs', [['1-1', ['n', '1']]]]]);
    await r.xgroup('CREATE', 'bs', 'group', '$');
    later(() => other.xadd('bs', '2-1', 'n', '2'));
    same(await r.xreadgroup('GROUP', 'group', 'one', 'BLOCK', 5000, 'STREAMS', 'bs', '>'),
      [['bs', [['2-1', ['n', '2']]]]]);
  },

  async 'scan iterators'(close) {
    const r = opener(close)();
    const names = NUMBERS.map((number) => `scan:${number}`).sort();
    const unique = (found) => [...new Set(found)].sort();
    await r.mset(Object.fromEntries(names.map((name) => [name, 'v'])));
    same(unique(await all(r.scanStream({ match: 'scan:*', count: 50 }))), names);
    same(await all(r.scanStream({ match: 'scan:*', type: 'hash' })), []);
    await r.hset('scanned hash', Object.fromEntries(names.map((name) => [name, 'v'])));
    same(unique(pairs(await all(r.hscanStream('scanned hash'))).map(([field]) => field)), names);
    await r.sadd('scanned set', names);
    same(unique(await all(r.sscanStream('scanned set'))), names);
    await r.zadd('scanned zset', ...names.flatMap((name) => [1, name]));
    same(unique(pairs(await all(r.zscanStream('scanned zset'))).map(([member]) => member)), names);
    same(await r.unlink(names), 1000);
  },

  async 'keyspace notifications'(close) {
    const client = opener(close);
    const [r, subscriber] = [client(), client()];
    await r.config('SET', 'notify-keyspace-events', 'Ex');
    await subscriber.subscribe('__keyevent@0__:expired');
    const expired = events(subscriber, 'message', 1);
    await r.psetex('noted', 20, 'v');
    same(await expired, [['__keyevent@0__:expired', 'noted']]);
    await r.config('SET', 'notify-keyspace-events', '');
  },

  async monitor(close) {
    const client = opener(close);
    // What the clients say of themselves at first comes before.
    const [r, base] = [client(), client()];
    await Promise.all([r.ping(), base.ping()]);
    const watching = await base.monitor();
    close(() => watching.disconnect());
    const seen = events(watching, 'monitor', 1);
    await r.set('monitored', 'a b');
    same((await seen)[0].slice(1, 2), [['set', 'monitored', 'a b']]);
  },

  async reconnect(close) {
    const client = opener(close);
    const [r, other] = [client({ db: 2 }), client()];
    const first = await r.client('ID');
    const ended = events(r, 'close', 1);
    same(await other.client('KILL', 'ID', first), 1);
    await ended;
    same(await r.set('back', 'again'), 'OK');
    same(await r.client('ID') > first, true);
    same([await r.dbsize(), await r.flushdb()], [1, 'OK']);
  },

  async 'reconnect of a subscriber'(close) {
    const client = opener(close);
    const [r, subscriber] = [client(), client()];
    await subscriber.subscribe('lasting');
    await subscriber.psubscribe('last*');
    const ended = events(subscriber, 'close', 1);
    same(await r.client('KILL', 'TYPE', 'pubsub'), 1);
    await ended;
    const message = events(subscriber, 'message', 1);
    await eventually(async () => (await r.publish('lasting', 'still here')) === 2, 'the new subscription');
    same((await message)[0], ['lasting', 'still here']);
  },

  async 'script of the client'(close) {
    const r = opener(close)();
    r.defineCommand('addTo', { numberOfKeys: 1, lua: 'return redis.call("INCRBY", KEYS[1], ARGV[1])' });
    same([await r.addTo('counter', 40), await r.addTo('counter', 2)], [40, 42]);
  },
});
