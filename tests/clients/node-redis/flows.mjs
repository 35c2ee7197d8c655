// node-redis' own flows: flows.mjs PORT PROTOCOL.

import { BasicClientSideCache, createClient, RESP_TYPES, WatchError } from 'redis';
import { ALL_BYTES, PORT, PROTOCOL, eventually, fails, later, run, same } from '../harness.mjs';

const NUMBERS = [...Array(1000).keys()];
const LARGE = Buffer.alloc(5_000_000, '0123456789');
// The client wants to be asked for XREAD under RESP3, whose reply it leaves as it comes.
const UNSTABLE = { unstableResp3: true };
const BUFFERS = { [RESP_TYPES.BLOB_STRING]: Buffer };

function opener(close) {
  return async (options = {}) => {
    const socket = { port: PORT, host: '127.0.0.1' };
    const client = createClient({ socket, RESP: PROTOCOL, ...UNSTABLE, ...options });
    // It connects again by itself; without a listener the error would end the process.
    client.on('error', () => {});
    close(() => client.destroy());
    return client.connect();
  };
}

// Objects from maps without their null prototype.
function plain(value) {
  return JSON.parse(JSON.stringify(value));
}

// XREAD's reply as [[stream, [[id, fields]]]], also if it is RESP3's map.
function entries(reply) {
  if (Array.isArray(reply)) {
    return reply.map(({ name, messages }) => [name, messages.map(({ id, message }) => [id, plain(message)])]);
  }
  return Object.entries(reply).map(([name, messages]) =>
    [name, messages.map(([id, flat]) => [id, Object.fromEntries(flat.map((value, index) =>
      [value, flat[index + 1]]).filter((_, index) => index % 2 === 0))])]);
}

async function all(batches) {
  const found = [];
  for await (const batch of batches) found.push(...batch);
  return found;
}

const flows = {
  async connect(close) {
    const client = opener(close);
    const r = await client({ name: 'flows' });
    const other = await client({ database: 1 });
    same(await r.ping(), 'PONG');
    same(await r.echo('hello'), 'hello');
    same(await r.clientGetName(), 'flows');
    same((await r.sendCommand(['CLIENT', 'INFO'])).includes(` resp=${PROTOCOL}`), true);
    await other.set('only', 'here');
    same(await r.exists('only'), 0);
    same(await other.dbSize(), 1);
    await other.flushDb();
  },

  async documents(close) {
    const r = await opener(close)();
    same(await r.json.set('d', '$', { name: 'pen', price: 1.5, tags: ['blue', 'new'], stock: { here: 3 }, sold: true }), 'OK');
    same(await r.json.get('d'), { name: 'pen', price: 1.5, tags: ['blue', 'new'], stock: { here: 3 }, sold: true });
    same(await r.json.get('d', { path: '$.stock.here' }), [3]);
    same(await r.json.get('d', { path: '.name' }), 'pen');
    same(await r.json.get('nosuch'), null);
    same(await r.json.set('d', '$.name', 'ink', { condition: 'NX' }), null);
    same(await r.json.arrAppend('d', '$.tags', 'a', { b: 1 }), [4]);
    same(await r.json.arrIndex('d', '$.tags', 'new'), [1]);
    same(await r.json.arrInsert('d', '$.tags', 0, 'first'), [5]);
    same(await r.json.arrLen('d', { path: '$.tags' }), [5]);
    same(plain(await r.json.arrPop('d', { path: '$.tags', index: 4 })), [{ b: 1 }]);
    same(await r.json.arrTrim('d', '$.tags', 0, 1), [2]);
    same(await r.json.numIncrBy('d', '$.price', 2), [3.5]);
    same(await r.json.numMultBy('d', '$.stock.here', 5), [15]);
    same(await r.json.objKeys('d', { path: '$.stock' }), [['here']]);
    same(await r.json.objLen('d'), 5);
    same(await r.json.strAppend('d', ' and ink', { path: '$.name' }), [11]);
    same(await r.json.strLen('d', { path: '$.name' }), [11]);
    same(plain(await r.json.toggle('d', '$.sold')), [0]);
    same(plain(await r.json.type('d', { path: '$.price' })).flat(), ['number']);
    same(await r.json.merge('d', '$', { stock: { there: 2 }, sold: null }), 'OK');
    same(await r.json.mSet([{ key: 'e', path: '$', value: { price: 7 } }, { key: 'f', path: '$', value: [] }]), 'OK');
    same(await r.json.mGet(['d', 'e', 'nosuch'], '$.price'), [[3.5], [7], null]);
    same(await r.json.clear('d', { path: '$.stock' }), 1);
    same(await r.json.del('d', { path: '$.tags' }), 1);
    same(await r.json.get('d'), { name: 'pen and ink', price: 3.5, stock: {} });
    same(typeof (await r.json.debugMemory('d')), 'number');
    await fails(r.json.numIncrBy('nosuch', '$', 1), "doesn't exist");
    const queued = await r.multi().json.set('m', '$', { n: 1 }).json.numIncrBy('m', '$.n', 1).exec();
    same(plain(queued), ['OK', [2]]);
    same(await r.json.forget('d'), 1);
    same(await r.del(['e', 'f', 'm']), 3);
    same(await r.exists('d'), 0);
  },

  async strings(close) {
    const r = await opener(close)();
    same(await r.set('s', '1', { condition: 'NX' }), 'OK');
    same(await r.set('s', '2', { condition: 'NX' }), null);
    same(await r.set('s', '2', { GET: true }), '1');
    same(await r.incrBy('s', 40), 42);
    same(await r.incrByFloat('s', 0.5), '42.5');
    same(await r.append('s', '0'), 5);
    same(await r.mSet({ a: '1', b: '2' }), 'OK');
    same(await r.mGet(['a', 'nothing', 'b']), ['1', null, '2']);
    same(await r.getDel('a'), '1');
    await fails(r.lPush('s', 'x'), 'wrong kind of value');
  },

  async hashes(close) {
    const r = await opener(close)();
    same(await r.hSet('h', { f: 1, g: 2 }), 2);
    same(plain(await r.hGetAll('h')), { f: '1', g: '2' });
    same(await r.hIncrBy('h', 'f', 9), 10);
    same(await r.hmGet('h', ['f', 'none']), ['10', null]);
    same(await r.hDel('h', ['f', 'none']), 1);
    same(plain(await r.hRandFieldCountWithValues('h', 5)), [{ field: 'g', value: '2' }]);
  },

  async lists(close) {
    const r = await opener(close)();
    same(await r.rPush('l', ['a', 'b', 'c', 'd']), 4);
    same(await r.lRange('l', 0, -1), ['a', 'b', 'c', 'd']);
    same(await r.lPopCount('l', 2), ['a', 'b']);
    same(await r.lInsert('l', 'BEFORE', 'd', 'x'), 3);
    same(await r.lPos('l', 'x'), 1);
    same(await r.lMove('l', 'm', 'RIGHT', 'LEFT'), 'd');
    same(await r.lmPop(['none', 'l'], 'LEFT', { COUNT: 9 }), ['l', ['c', 'x']]);
    same(await r.lPop('l'), null);
  },

  async sets(close) {
    const r = await opener(close)();
    same(await r.sAdd('s1', ['a', 'b', 'c']), 3);
    same(await r.sAdd('s2', ['b', 'c', 'd']), 3);
    same((await r.sInter(['s1', 's2'])).sort(), ['b', 'c']);
    same(await r.sInterCard(['s1', 's2'], 1), 1);
    same(await r.sDiffStore('s3', ['s1', 's2']), 1);
    same(await r.smIsMember('s1', ['a', 'z']), [1, 0]);
    same((await r.sMembers('s1')).sort(), ['a', 'b', 'c']);
    same((await r.sPopCount('s1', 9)).length, 3);
  },

  async 'sorted sets'(close) {
    const r = await opener(close)();
    const scored = (score, value) => ({ score, value });
    same(await r.zAdd('z', [scored(1, 'a'), scored(2.5, 'b'), scored(Infinity, 'c')]), 3);
    same((await r.zRangeWithScores('z', 0, -1)).map(({ score, value }) => [value, score]),
      [['a', 1], ['b', 2.5], ['c', Infinity]]);
    same(await r.zIncrBy('z', 2, 'a'), 3);
    same(await r.zRange('z', '(2.5', '+inf', { BY: 'SCORE', LIMIT: { offset: 0, count: 1 } }), ['a']);
    same(await r.zRank('z', 'a'), 1);
    same(await r.zScore('z', 'b'), 2.5);
    same(await r.zAdd('z', scored(1, 'b'), { comparison: 'GT', CH: true }), 0);
    same(plain(await r.zPopMin('z')), { value: 'b', score: 2.5 });
    same(plain(await r.zPopMinCount('z', 1)), [{ value: 'a', score: 3 }]);
    same(await r.zUnionStore('zu', ['z', 'z'], { AGGREGATE: 'MAX' }), 1);
  },

  async bits(close) {
    const r = await opener(close)();
    for (const place of [1, 7, 100]) same(await r.setBit('bm', place, 1), 0);
    same([await r.bitCount('bm'), await r.bitCount('bm', { start: 0, end: 7, mode: 'BIT' })], [3, 2]);
    same([await r.bitPos('bm', 1, 1), await r.bitOp('NOT', 'not bm', 'bm')], [100, 13]);
    same(await r.bitField('f', [{ operation: 'SET', encoding: 'u8', offset: '#0', value: 250 },
      { operation: 'OVERFLOW', behavior: 'SAT' },
      { operation: 'INCRBY', encoding: 'u8', offset: '#0', increment: 10 }]), [0, 255]);
  },

  async hyperloglog(close) {
    const r = await opener(close)();
    same([await r.pfAdd('p1', NUMBERS.map(String)), await r.pfAdd('p2', 'one more')], [1, 1]);
    same([await r.pfMerge('p', ['p1', 'p2']), await r.pfCount('p')], ['OK', await r.pfCount(['p1', 'p2'])]);
  },

  async geo(close) {
    const r = await opener(close)();
    same(await r.geoAdd('g', [{ longitude: 13.361389, latitude: 38.115556, member: 'Palermo' },
      { longitude: 15.087269, latitude: 37.502669, member: 'Catania' }]), 2);
    same(Math.round(await r.geoDist('g', 'Palermo', 'Catania', 'km')), 166);
    same(await r.geoSearch('g', { longitude: 15, latitude: 37 }, { radius: 200, unit: 'km' }, { SORT: 'ASC' }),
      ['Catania', 'Palermo']);
    same(await r.geoSearchStore('near', 'g', 'Catania', { width: 10, height: 10, unit: 'km' }), 1);
  },

  async sort(close) {
    const r = await opener(close)();
    await r.rPush('ids', ['3', '1', '2']);
    await r.mSet({ 'weight:1': '30', 'weight:2': '20', 'weight:3': '10' });
    same(await r.sort('ids', { BY: 'weight:*', GET: ['#', 'weight:*'] }), ['3', '10', '2', '20', '1', '30']);
  },

  async administration(close) {
    const r = await opener(close)();
    same((await r.info()).includes('redis_version:'), true);
    same(await r.configSet('slowlog-log-slower-than', '10000'), 'OK');
    same(plain(await r.configGet('slowlog-log-slower-than')), { 'slowlog-log-slower-than': '10000' });
    await r.set('a', '1');
    same([await r.objectEncoding('a'), await r.memoryUsage('a') > 0], ['int', true]);
    same((await r.clientList()).some((each) => each.db === 0), true);
    same((await r.commandInfo(['get']))[0].arity, 2);
    same((await r.role()).role, 'master');
  },

  async expiry(close) {
    const r = await opener(close)();
    same(await r.set('e', 'v', { expiration: { type: 'PX', value: 60 } }), 'OK');
    await eventually(async () => (await r.get('e')) === null, 'the expiry');
    same(await r.ttl('e'), -2);
    await r.setEx('e', 100, 'v');
    same([await r.expire('e', 50, 'GT'), await r.persist('e'), await r.ttl('e')], [0, 1, -1]);
  },

  async 'binary values'(close) {
    const r = (await opener(close)()).withTypeMapping(BUFFERS);
    await r.set(ALL_BYTES, ALL_BYTES);
    same(await r.get(ALL_BYTES), ALL_BYTES);
    same(await r.hSet('bh', ALL_BYTES, ALL_BYTES), 1);
    same(await r.hKeys('bh'), [ALL_BYTES]);
  },

  async 'large values'(close) {
    const r = (await opener(close)()).withTypeMapping(BUFFERS);
    await r.set('large', LARGE);
    same(LARGE.equals(await r.get('large')), true);
    same(await r.rPush('large list', [LARGE, LARGE]), 2);
    same((await r.lRange('large list', 0, -1)).map((each) => each.equals(LARGE)), [true, true]);
    await r.del(['large', 'large list']);
  },

  async pipelines(close) {
    const r = await opener(close)();
    // Calls made in one turn of the event loop go out together.
    const written = NUMBERS.flatMap((number) => [r.set(`p:${number}`, `${number}`), r.incr(`p:${number}`)]);
    same(await Promise.all(written), NUMBERS.flatMap((number) => ['OK', number + 1]));
    same(await r.multi().set('p:x', '1').incr('p:x').get('p:x').execAsPipeline(), ['OK', 2, '2']);
    const mixed = await Promise.allSettled([r.set('p:x', 'text'), r.incr('p:x'), r.get('p:x')]);
    same(mixed.map(({ value, reason }) => value ?? reason.message.includes('not an integer')), ['OK', true, 'text']);
  },

  async transactions(close) {
    const r = await opener(close)();
    same(await r.multi().set('t', '1').incr('t').lRange('none', 0, -1).exec(), ['OK', 2, []]);
    await r.watch('t');
    const value = Number(await r.get('t'));
    same(await r.multi().set('t', `${value * 2}`).exec(), ['OK']);
    same(await r.get('t'), '4');
    const failed = await r.multi().set('t', 'text').incr('t').set('after', '1').exec().catch((error) => error);
    same(failed.replies[1].message.includes('not an integer'), true);
    same(await r.mGet(['t', 'after']), ['text', '1']);
  },

  async 'aborted transaction'(close) {
    const client = opener(close);
    const [r, other] = [await client(), await client()];
    await r.watch('w');
    await other.set('w', 'changed');
    same(await r.multi().set('w', 'mine').exec().catch((error) => error instanceof WatchError), true);
    same(await r.get('w'), 'changed');
    await fails(r.multi().set('w', 'mine').addCommand(['GET']).exec(), 'wrong number of arguments');
    same(await r.get('w'), 'changed');
  },

  // SET NX PX takes it; WATCH gives it back only if it is still one's own.
  async 'lock without scripts'(close) {
    const client = opener(close);
    const [r, other] = [await client(), await client()];
    const take = (who, token) =>
      who.set('lock', token, { condition: 'NX', expiration: { type: 'PX', value: 10_000 } });
    const release = async (holder, token) => {
      await holder.watch('lock');
      if ((await holder.get('lock')) !== token) return holder.unwatch();
      return holder.multi().del('lock').exec();
    };
    same([await take(r, 'one'), await take(other, 'two')], ['OK', null]);
    same([await release(other, 'two'), await release(r, 'one')], ['OK', [1]]);
    same(await take(other, 'two'), 'OK');
  },

  async 'pub sub'(close) {
    const client = opener(close);
    const [r, subscriber] = [await client(), await client()];
    const seen = [];
    const note = (message, channel) => seen.push([channel, message]);
    await subscriber.subscribe(['news', 'other'], note);
    same(await r.publish('news', 'hello'), 1);
    await eventually(() => seen.length === 1, 'the message');
    same(seen.pop(), ['news', 'hello']);
    same((await r.pubSubChannels()).sort(), ['news', 'other']);
    same(plain(await r.pubSubNumSub(['news', 'nobody'])), { news: 1, nobody: 0 });
    await subscriber.unsubscribe('news');
    same(await r.publish('news', 'lost'), 0);
    same(await Promise.all(NUMBERS.map((number) => r.publish('other', `${number}`))), NUMBERS.map(() => 1));
    await eventually(() => seen.length === 1000, 'the last message');
    same(seen.map(([, text]) => Number(text)), NUMBERS);
    await subscriber.unsubscribe();
    // (Its replies are buffers since then, under RESP2.)
    same(`${await subscriber.set('after', 'all')}`, 'OK');
  },

  async 'pub sub patterns'(close) {
    const client = opener(close);
    const [r, subscriber] = [await client(), await client()];
    const seen = [];
    await subscriber.pSubscribe('n*', (message, channel) => seen.push(['n*', channel, message]));
    await subscriber.pSubscribe('?ews', (message, channel) => seen.push(['?ews', `${channel}`, `${message}`]), true);
    same(await r.publish('news', 'twice'), 2);
    await eventually(() => seen.length === 2, 'both messages');
    same(seen.splice(0).sort(), [['?ews', 'news', 'twice'], ['n*', 'news', 'twice']]);
    same(await r.pubSubNumPat(), 2);
    await subscriber.pUnsubscribe('n*');
    same(await r.publish('news', 'once'), 1);
    await eventually(() => seen.length === 1, 'the message');
    same(seen, [['?ews', 'news', 'once']]);
  },

  async 'blocking timeout'(close) {
    const r = await opener(close)();
    const begin = Date.now();
    same(await r.blPop(['none', 'no'], 0.1), null);
    same(await r.blMove('none', 'no', 'LEFT', 'RIGHT', 0.1), null);
    same(await r.bzPopMin('none', 0.1), null);
    same(await r.blmPop(0.1, 'none', 'LEFT'), null);
    same(Date.now() - begin >= 390, true);
    await r.rPush('full', 'a');
    same(plain(await r.blPop(['none', 'full'], 5)), { key: 'full', element: 'a' });
  },

  async 'blocking with producer'(close) {
    const client = opener(close);
    const [r, other] = [await client(), await client()];
    later(() => other.rPush('q', 'job'));
    same(plain(await r.brPop(['empty', 'q'], 5)), { key: 'q', element: 'job' });
    later(() => other.lPush('q', 'moved'));
    same(await r.blMove('q', 'done', 'RIGHT', 'LEFT', 5), 'moved');
    later(() => other.zAdd('zq', [{ score: 1, value: 'low' }, { score: 2, value: 'high' }]));
    same(plain(await r.bzPopMax('zq', 5)), { key: 'zq', value: 'high', score: 2 });
    later(() => other.multi().rPush('q', 'x').rPush('q', 'y').exec());
    same(await r.blmPop(5, 'q', 'LEFT', { COUNT: 5 }), ['q', ['x', 'y']]);
    const workers = await Promise.all([...Array(10)].map(() => client()));
    const waiting = workers.map((worker) => worker.blPop('many', 5));
    for (let number = 0; number < 10; number++) await other.rPush('many', `${number}`);
    same((await Promise.all(waiting)).map(({ element }) => Number(element)).sort(), NUMBERS.slice(0, 10));
  },

  async streams(close) {
    const r = await opener(close)();
    const ids = [];
    for (let number = 0; number < 10; number++) ids.push(await r.xAdd('st', '*', { n: `${number}` }));
    same(await r.xLen('st'), 10);
    same(plain(await r.xRange('st', ids[1], ids[1])), [{ id: ids[1], message: { n: '1' } }]);
    same(plain(await r.xRevRange('st', '+', '-', { COUNT: 1 })), [{ id: ids[9], message: { n: '9' } }]);
    same(entries(await r.xRead({ key: 'st', id: ids[8] })), [['st', [[ids[9], { n: '9' }]]]]);
    same(await r.xTrim('st', 'MAXLEN', 3), 7);
    same((await r.xInfoStream('st')).length, 3);
    await fails(r.xAdd('st', '1-1', { a: '1' }), 'equal or smaller');
  },

  async 'stream groups'(close) {
    const client = opener(close);
    const [r, other] = [await client(), await client()];
    same(await r.xGroupCreate('gs', 'group', '$', { MKSTREAM: true }), 'OK');
    await fails(r.xGroupCreate('gs', 'group', '$'), 'BUSYGROUP');
    const ids = [];
    for (let number = 0; number < 4; number++) ids.push(await r.xAdd('gs', '*', { n: `${number}` }));
    const read = async (who, consumer, count) =>
      entries(await who.xReadGroup('group', consumer, { key: 'gs', id: '>' }, { COUNT: count, BLOCK: 5000 }));
    same((await read(r, 'one', 3))[0][1].map(([id]) => id), ids.slice(0, 3));
    same(await read(other, 'two', 3), [['gs', [[ids[3], { n: '3' }]]]]);
    same(await r.xAck('gs', 'group', ids[0]), 1);
    same(plain(await r.xPending('gs', 'group')), { pending: 3, firstId: ids[1], lastId: ids[3],
      consumers: [{ name: 'one', deliveriesCounter: 2 }, { name: 'two', deliveriesCounter: 1 }] });
    same((await r.xPendingRange('gs', 'group', '-', '+', 10, { consumer: 'one' })).map(({ id }) => id),
      ids.slice(1, 3));
    same(plain(await r.xClaim('gs', 'group', 'two', 0, ids[1])), [{ id: ids[1], message: { n: '1' } }]);
    const claimed = await r.xAutoClaim('gs', 'group', 'two', 0, '0', { COUNT: 10 });
    same([claimed.nextId, claimed.messages.map(({ id }) => id)], ['0-0', ids.slice(1)]);
    same(await r.xAck('gs', 'group', ids.slice(0, 3)), 2);
    same((await r.xInfoGroups('gs')).map(({ name, consumers, pending }) => [name, consumers, pending]),
      [['group', 2, 1]]);
    same((await r.xInfoConsumers('gs', 'group')).length, 2);
    same([await r.xGroupDelConsumer('gs', 'group', 'two'), await r.xGroupDestroy('gs', 'group')], [1, 1]);
  },

  async 'blocking stream reads'(close) {
    const client = opener(close);
    const [r, other] = [await client(), await client()];
    same(await r.xRead({ key: 'bs', id: '$' }, { BLOCK: 50 }), null);
    later(() => other.xAdd('bs', '1-1', { n: '1' }));
    same(entries(await r.xRead([{ key: 'none', id: '$' }, { key: 'bs', id: '$' }], { BLOCK: 5000 })),
      [['bs', [['1-1', { n: '1' }]]]]);
    await r.xGroupCreate('bs', 'group', '$');
    later(() => other.xAdd('bs', '2-1', { n: '2' }));
    same(entries(await r.xReadGroup('group', 'one', { key: 'bs', id: '>' }, { BLOCK: 5000 })),
      [['bs', [['2-1', { n: '2' }]]]]);
  },

  async 'scan iterators'(close) {
    const r = await opener(close)();
    const names = NUMBERS.map((number) => `scan:${number}`).sort();
    const unique = (found) => [...new Set(found)].sort();
    await r.mSet(names.map((name) => [name, 'v']));
    same(unique(await all(r.scanIterator({ MATCH: 'scan:*', COUNT: 50 }))), names);
    same(await all(r.scanIterator({ MATCH: 'scan:*', TYPE: 'hash' })), []);
    await r.hSet('scanned hash', names.map((name) => [name, 'v']));
    same(unique((await all(r.hScanIterator('scanned hash'))).map(({ field }) => field)), names);
    await r.sAdd('scanned set', names);
    same(unique(await all(r.sScanIterator('scanned set'))), names);
    await r.zAdd('scanned zset', names.map((value) => ({ score: 1, value })));
    same(unique((await all(r.zScanIterator('scanned zset'))).map(({ value }) => value)), names);
    same(await r.unlink(names), 1000);
  },

  async reconnect(close) {
    const client = opener(close);
    const [r, other] = [await client({ database: 2 }), await client()];
    const first = await r.clientId();
    const again = new Promise((resolve) => r.once('ready', resolve));
    same(await other.clientKill({ filter: 'ID', id: first }), 1);
    await again;
    same(await r.set('back', 'again'), 'OK');
    same(await r.clientId() > first, true);
    same([await r.dbSize(), await r.flushDb()], [1, 'OK']);
  },

  async 'reconnect of a subscriber'(close) {
    const client = opener(close);
    const [r, subscriber] = [await client(), await client()];
    const seen = [];
    await subscriber.subscribe('lasting', (message) => seen.push(message));
    await subscriber.pSubscribe('last*', (message) => seen.push(message));
    same(await r.clientKill({ filter: 'TYPE', type: 'pubsub' }), 1);
    await eventually(async () => (await r.publish('lasting', 'still here')) === 2, 'the new subscription');
    await eventually(() => seen.length >= 2, 'the message');
    same(seen.slice(-2), ['still here', 'still here']);
  },
};

if (PROTOCOL === 3) {
  flows['client side cache'] = async (close) => {
    const client = opener(close);
    const cache = new BasicClientSideCache({ maxEntries: 100 });
    const [r, other] = [await client({ clientSideCache: cache }), await client()];
    await other.set('cached', '1');
    same([await r.get('cached'), await r.get('cached')], ['1', '1']);
    same([cache.stats().missCount, cache.stats().hitCount], [1, 1]);
    await other.set('cached', '2');
    await eventually(async () => (await r.get('cached')) === '2', 'the invalidation');
    await other.hSet('cached hash', 'f', '1');
    same(await r.hGet('cached hash', 'f'), '1');
    await other.del('cached hash');
    await eventually(async () => (await r.hGet('cached hash', 'f')) === null, 'the invalidation by DEL');
    await other.flushDb();
    await eventually(async () => (await r.get('cached')) === null, 'the invalidation by FLUSHDB');
  };
}

await run(flows);
