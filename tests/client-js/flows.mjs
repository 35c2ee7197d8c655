// What the client must do in every home. Each flow gets the package, a function that connects, and asks nothing of the home but timers;
// so the same text runs in Node, in a page and in a Worker.

/** Fails with the name of the flow unless both are the same, whatever they hold. */
function same(actual, expected) {
  const text = (value) =>
    JSON.stringify(value, (_, each) => {
      if (typeof each === 'bigint') return `bigint ${each}`;
      if (each instanceof Uint8Array) return `bytes ${[...each]}`;
      return each === undefined ? 'undefined' : each;
    });
  if (text(actual) !== text(expected)) throw new Error(`${text(actual)} instead of ${text(expected)}`);
}

async function fails(promise, code) {
  const outcome = await promise.then((value) => ({ value }), (error) => ({ error }));
  if (outcome.error === undefined) throw new Error(`no error but ${JSON.stringify(outcome.value)}`);
  if (outcome.error.code !== code) throw new Error(`${outcome.error.code} (${outcome.error.message}) instead of ${code}`);
  return outcome.error;
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** The flows by what fails when they do. `kit` has `edgecask`, the package, and `connect(options)`. */
export const FLOWS = {
  async 'values of other types than were written'({ client }) {
    same(await client.set('greeting', 'hällo', 'EX', 60), 'OK');
    same(await client.get('greeting'), 'hällo');
    same(await client.get('none'), null);
    same(await client.set('n', 5), 'OK');
    same(await client.incrby('n', 7), 12);
    same(await client.incrby('n', 9_007_199_254_740_991n), 9_007_199_254_741_003n);
    same(await client.incrbyfloat('f', 1.5), '1.5');
    same(await client.set('bytes', new Uint8Array([0, 255, 13, 10])), 'OK');
    same(await client.bytes.get('bytes'), new Uint8Array([0, 255, 13, 10]));
    same(await client.bytes.text.get('greeting'), 'hällo');
    const [words, view] = [new Uint16Array([0x4241, 0x4443]), new DataView(new Uint8Array([1, 65, 66, 2]).buffer, 1, 2)];
    same(await client.mset('words', words, view, 'named'), 'OK');
    same([await client.get('words'), await client.get('AB')], ['ABCD', 'named']);
    same(await client.mset('nan', NaN, 'large', 1e21, 'tiny', 5e-7, 'zero', -0), 'OK');
    same(await client.mget('nan', 'large', 'tiny', 'zero'), ['NaN', '1e+21', '5e-7', '0']);
    same(await client.hset('h', 'a', 1, 'b', 'two'), 2);
    same(await client.hgetall('h'), { a: '1', b: 'two' });
    same(await client.bytes.hgetall('h'), [[new Uint8Array([97]), new Uint8Array([49])], [new Uint8Array([98]), new TextEncoder().encode('two')]]);
    same(Object.getPrototypeOf(await client.hgetall('h')), null);
    same(await client.rpush('l', ['a', 'b'], 'c'), 3);
    same(await client.lrange('l', 0, -1), ['a', 'b', 'c']);
    same(await client.zadd('z', 1.5, 'a', 2, 'b'), 2);
    same(await client.zrange('z', 0, -1, 'WITHSCORES'), [['a', 1.5], ['b', 2]]);
    same(await client.mget(['greeting', 'none']), ['hällo', null]);
    same(await client.call('OBJECT', 'ENCODING', 'l'), await client.objectEncoding('l'));
    same(await client.configGet('maxmemory'), { maxmemory: '0' });
    same(await client.ping(), 'PONG');
    same(await client.set('empty', ''), 'OK');
    same(await client.get('empty'), '');
  },

  async 'errors are no EdgeCaskErrors with a code'({ client, edgecask }) {
    await client.set('text', 'x');
    const error = await fails(client.incr('text'), 'ERR');
    same(error instanceof edgecask.EdgeCaskError, true);
    same(error instanceof Error, true);
    same([error.name, error.mayHaveRun, error.message], ['EdgeCaskError', false, 'ERR value is not an integer or out of range']);
    same((await fails(client.lpush('text', 'x'), 'WRONGTYPE')).isRetrySafe, false);
    await fails(client.call(), 'INVALID');
    for (const none of [{}, undefined, null, true, [['x']], Symbol('x'), () => {}]) await fails(client.call('GET', none), 'INVALID');
    for (const none of [undefined, {}]) await fails(client.pipeline().set('a', none).exec(), 'INVALID');
    await fails(client.call('NOSUCHCOMMAND'), 'ERR');
  },

  async 'replies go to other callers'({ client }) {
    const numbers = Array.from({ length: 500 }, (_, number) => number);
    await Promise.all(numbers.map((number) => client.set(`key ${number}`, number)));
    same(await Promise.all(numbers.map((number) => client.get(`key ${number}`))), numbers.map(String));
  },

  async 'pipelines and transactions'({ client, edgecask }) {
    same(await client.pipeline().set('a', 1).incr('a').get('a').exec(), ['OK', 2, '2']);
    const [set, failed, got] = await client.pipeline().set('a', 'x').incr('a').get('a').settled();
    same([set, failed instanceof edgecask.EdgeCaskError, got], ['OK', true, 'x']);
    await fails(client.pipeline().incr('a').exec(), 'ERR');
    same(await client.pipeline().exec(), []);
    same(await client.multi().set('b', 1).incr('b').call('GET', 'b').exec(), ['OK', 2, '2']);
    await fails(client.multi().set('b', 5).call('NOSUCHCOMMAND').exec(), 'ERR');
    same(await client.get('b'), '2');
    same(await client.bytes.multi().get('b').exec(), [new Uint8Array([50])]);
  },

  async 'watched keys that change'({ client }) {
    await client.set('balance', 10);
    let runs = 0;
    const replies = await client.watch('balance', async (connection, transaction) => {
      const balance = Number(await connection.get('balance'));
      if (runs++ === 0) await client.set('balance', 20);
      transaction.set('balance', balance * 2).get('balance');
    });
    same([replies, runs], [['OK', '40'], 2]);
    same(await client.watch(['balance'], () => false), undefined);
    await fails(client.watch('balance', (_, transaction) => transaction.call('NOSUCHCOMMAND')), 'ERR');
    same(await client.get('balance'), '40');
  },

  async 'a connection of its owner'({ client }) {
    const connection = await client.connection();
    same(await connection.call('MULTI'), 'OK');
    same(await connection.set('own', 1), 'QUEUED');
    same(await connection.call('EXEC'), ['OK']);
    same(await connection.pipeline().incr('own').decr('own').exec(), [2, 1]);
    await connection.watch('own');
    await client.set('own', 1);
    await fails(connection.multi().incr('own').exec(), 'WATCHED');
    same(await connection.multi().get('own').exec(), ['1']);
    same(await connection.clientSetname('owner'), 'OK');
    same(await connection.clientGetname(), 'owner');
    connection.close();
    await fails(connection.get('own'), 'CLOSED');
    same(await client.get('own'), '1');
  },

  async 'commands that block'({ client }) {
    const waiting = client.blpop('queue', 0);
    const short = client.brpop('no queue', 0.05);
    same(await client.ping(), 'PONG');
    same(await short, null);
    same(await client.rpush('queue', 'job'), 1);
    same(await waiting, ['queue', 'job']);
    const begin = Date.now();
    const piped = client.pipeline().blpop('no queue', 1).ping().exec();
    same(await client.ping(), 'PONG');
    if (Date.now() - begin > 700) throw new Error('a pipeline that blocks keeps others waiting');
    same(await piped, [null, 'PONG']);
    same(await client.xread('BLOCK', 20, 'STREAMS', 'no stream', '$'), null);
  },

  async 'a value of 3 MB'({ client }) {
    const value = new Uint8Array(3_000_000).map((_, at) => at * 7);
    same(await client.set('large', value), 'OK');
    const back = await client.bytes.get('large');
    same([back.length, back.every((byte, at) => byte === value[at])], [value.length, true]);
    same(await client.strlen('large'), 3_000_000);
  },

  async 'messages'({ client }) {
    const [news, patterns] = [await client.subscribe('news'), await client.psubscribe('n*')];
    same(await client.publish('news', 'first'), 2);
    same(await news.next(), { kind: 'message', channel: 'news', pattern: undefined, payload: 'first' });
    same(await patterns.next(), { kind: 'message', channel: 'news', pattern: 'n*', payload: 'first' });
    const two = Promise.all([patterns.next(), patterns.next()]);
    await client.publish('now', 1);
    await client.publish('now', 2);
    same((await two).map(({ payload }) => payload), ['1', '2']);
    const waiting = patterns.next();
    patterns.close();
    same(await waiting, undefined);
    await client.publish('news', 'second');
    await client.publish('news', 'third');
    const heard = [];
    for await (const { payload } of news) {
      heard.push(payload);
      if (heard.length === 2) break;
    }
    same(heard, ['second', 'third']);
    for (let tries = 0; (await client.publish('news', 'nobody')) > 0; tries++) {
      if (tries > 200) throw new Error('the subscriptions have not ended');
      await sleep(10);
    }
    const bytes = await client.bytes.subscribe('raw');
    await client.publish('raw', new Uint8Array([255]));
    same((await bytes.next()).payload, new Uint8Array([255]));
    bytes.close();
  },

  async 'walks and streams'({ client }) {
    await client.pipeline().mset('k1', 1, 'k2', 2, 'k3', 3).hset('wh', 'f', 'v', 'g', 'w').sadd('ws', 'm').zadd('wz', 2.5, 'm').exec();
    const all = async (walk) => {
      const items = [];
      for await (const item of walk) items.push(item);
      return items;
    };
    same((await all(client.scanKeys({ match: 'k?', count: 2 }))).sort(), ['k1', 'k2', 'k3']);
    same((await all(client.scanKeys({ type: 'hash', match: 'wh' }))), ['wh']);
    same((await all(client.scanFields('wh'))).sort(), [['f', 'v'], ['g', 'w']]);
    same(await all(client.scanMembers('ws')), ['m']);
    same(await all(client.scanScores('wz')), [['m', 2.5]]);
    const ids = [await client.xadd('stream', '*', 'n', 1), await client.xadd('stream', '*', 'n', 2)];
    const entries = client.entries('stream', '0');
    same([(await entries.next()).value, (await entries.next()).value], [[ids[0], ['n', '1']], [ids[1], ['n', '2']]]);
    const coming = entries.next();
    const third = await client.xadd('stream', '*', 'n', 3);
    same((await coming).value, [third, ['n', '3']]);
    const later = client.entries('stream');
    const next = later.next();
    await sleep(50);
    const fourth = await client.xadd('stream', '*', 'n', 4);
    same((await next).value, [fourth, ['n', '4']]);
    await client.xgroupCreate('stream', 'workers', '0');
    const jobs = client.groupEntries('stream', 'workers', 'one');
    same((await jobs.next()).value, [ids[0], ['n', '1']]);
    same(await client.xack('stream', 'workers', ids[0]), 1);
  },

  async 'scripts'({ client }) {
    const script = client.script("return {KEYS[1], ARGV[1], 'flow'}");
    same(await script.call(['k'], ['v']), ['k', 'v', 'flow']);
    same(await script.call(['k'], ['w']), ['k', 'w', 'flow']);
    same(await client.scriptExists(script.hash), [1]);
    await fails(client.script("return redis.error_reply('MINE it failed')").call(), 'MINE');
  },

  async 'a cache that is stale'({ client }) {
    const cache = client.cache();
    await client.set('cached', 1);
    same([await cache.get('cached'), await cache.get('cached')], ['1', '1']);
    same(cache.counts, { hits: 1, misses: 1 });
    await client.set('cached', 2);
    for (let tries = 0; (await cache.get('cached')) !== '2'; tries++) {
      if (tries > 200) throw new Error('the cache is stale');
      await sleep(5);
    }
    await fails(cache.set('cached', 3), 'INVALID');
    same(await cache.mget('cached', 'none'), ['2', null]);
    cache.close();
  },

  async 'time-outs'({ connect }) {
    const client = await connect({ timeoutMs: 60 });
    const error = await fails(client.call('BLPOP', 'never', 'x'), 'ERR');
    same(error.mayHaveRun, false);
    same(await client.blpop('never', 0.2), null);
    await client.xgroupCreate('block', 'block', '$', 'MKSTREAM');
    same(await client.xreadgroup('GROUP', 'block', 'me', 'BLOCK', 200, 'STREAMS', 'block', '>'), null);
    client.close();
    await fails(client.get('x'), 'CLOSED');
    await fails(connect({ nosuchoption: 1 }), 'INVALID');
  },
};

/** Runs all flows, each on an empty store. Gives the failures as texts. */
export async function run(edgecask, connect) {
  const failures = [];
  for (const [name, flow] of Object.entries(FLOWS)) {
    const client = await connect({});
    try {
      await client.flushall();
      const late = sleep(20_000).then(() => Promise.reject(new Error('takes too long')));
      late.catch(() => {});
      await Promise.race([flow({ client, connect, edgecask }), late]);
    } catch (error) {
      failures.push(`${name}: ${error.message}`);
    } finally {
      client.close();
    }
  }
  return failures;
}
