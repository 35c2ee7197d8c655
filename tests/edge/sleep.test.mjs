// The platform's own sleep: workerd takes an object from memory when nothing has happened for ten seconds. All cases are set up
// first and sleep once, together; each then goes on as if nothing had been. node --test.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { assembled, library, text } from './modules.mjs';
import { connect } from './peer.mjs';
import { serve } from './server.mjs';

// Five seconds after the last write maintenance looks in, and from then on it takes ten.
const SLEEP_MS = 16_500;
// A ping so long before the end, so that an object which it had woken would be seen to be awake.
const PING_BEFORE_END_MS = 2500;

const folder = mkdtempSync(`${tmpdir()}/edge-sleep-`);
const server = await serve(folder);
const base = String(server.url).replace(/\/$/, '');
const open = () => connect(base);

/** A client that has said all this, and was answered this. */
async function client(lines, replies) {
  const one = await open();
  lines.forEach(one.say);
  await one.expect(replies);
  return one;
}

/** The same in RESP3. */
async function modern(lines, replies) {
  const one = await open();
  one.say('HELLO 3');
  await one.hear();
  lines.forEach(one.say);
  if (replies !== undefined) await one.expect(replies);
  return one;
}

async function lifeNow() {
  const { result } = await (await fetch(`${base}/info/server`)).json();
  const fact = (name) => new RegExp(`^${name}:(.*)\r$`, 'm').exec(result)[1];
  return { run: fact('run_id'), uptime: Number(fact('uptime_in_seconds')) };
}

const all = {};
let life;


before(async () => {
  all.named = await client(['SELECT 3', 'SET own 1', 'CLIENT SETNAME sleeper'], '+OK\r\n+OK\r\n+OK\r\n');
  all.modern = await modern([]);
  all.caching = await modern(['CLIENT TRACKING ON', 'SET cached old', 'GET cached'], '+OK\r\n+OK\r\n$3\r\nold\r\n');
  all.listener = await client(['SUBSCRIBE news'], '*3\r\n$9\r\nsubscribe\r\n$4\r\nnews\r\n:1\r\n');
  all.buyer = await client(['SET stock 1', 'WATCH stock', 'MULTI', 'DECR stock'], '+OK\r\n+OK\r\n+OK\r\n+QUEUED\r\n');
  all.late = await client(['WATCH taken'], '+OK\r\n');
  all.later = await client(['WATCH contested'], '+OK\r\n');
  all.slow = await open();
  all.slow.socket.send('*3\r\n$3\r\nSET\r\n$4\r\nhalf\r\n$6\r\nabc');
  all.blocked = await client(['DEL queue', 'BLPOP queue 0'], ':0\r\n');
  all.quiet = await client(['CLIENT REPLY OFF', 'PING'], '');
  all.pinger = await open();
  all.pinger.pongs = 0;
  all.pinger.socket.on('message', (data, isBinary) => (all.pinger.pongs += data.length === 0 && !isBinary ? 1 : 100));
  all.teller = await client(['SET taken by-another'], '+OK\r\n');
  const [module] = assembled([text('core/wasm/tests/guests/commands.wat')]);
  const loaded = await fetch(`${base}/function/load`, { method: 'POST', body: library('commands', module) });
  assert.deepEqual(await loaded.json(), { result: 'commands' });
  life = await lifeNow();
  await sleep(SLEEP_MS - PING_BEFORE_END_MS);
});

after(async () => {
  Object.values(all).forEach(({ socket }) => socket.terminate());
  await server.stop();
  rmSync(folder, { recursive: true });
});

test('ping of a sleeping object is not answered, or wakes it', async () => {
  all.pinger.socket.send('');
  // Half a request and a subscription do not mind.
  [all.slow, all.listener].forEach(({ socket }) => socket.send(''));
  await sleep(PING_BEFORE_END_MS);
  assert.equal(all.pinger.pongs, 1);
  const now = await lifeNow();
  // Without this the other cases prove nothing.
  assert.notEqual(now.run, life.run, 'the object did not sleep');
  assert.equal(now.uptime, 0, 'the object was awake before it was asked');
});

test('client comes back to another database, without its name', async () => {
  all.named.say('GET own');
  await all.named.expect('$1\r\n1\r\n');
  all.named.say('CLIENT GETNAME');
  await all.named.expect('$7\r\nsleeper\r\n');
});

test('RESP3 is RESP2 afterwards', async () => {
  all.modern.say('HSET h f v');
  all.modern.say('HGETALL h');
  await all.modern.expect(':1\r\n%1\r\n$1\r\nf\r\n$1\r\nv\r\n');
});

test('subscription is forgotten', async () => {
  all.teller.say('PUBLISH news hello');
  await all.teller.expect(':1\r\n');
  await all.listener.expect('*3\r\n$7\r\nmessage\r\n$4\r\nnews\r\n$5\r\nhello\r\n');
});

test('function as WebAssembly is forgotten', async () => {
  all.teller.say('FCALL run 1 by SET by function');
  await all.teller.expect('+OK\r\n');
});

test('half a MULTI is forgotten, or done without its other half', async () => {
  all.buyer.say('INCR sold');
  all.buyer.say('EXEC');
  await all.buyer.expect('+QUEUED\r\n*2\r\n:0\r\n:1\r\n');
});

test('EXEC goes through though the watched key changed before the sleep', async () => {
  ['MULTI', 'SET taken by-me', 'EXEC', 'GET taken'].forEach(all.late.say);
  await all.late.expect('+OK\r\n+QUEUED\r\n*-1\r\n$10\r\nby-another\r\n');
});

test('EXEC goes through though the watched key changed after the sleep', async () => {
  all.teller.say('SET contested by-another');
  await all.teller.expect('+OK\r\n');
  ['MULTI', 'SET contested by-me', 'EXEC'].forEach(all.later.say);
  await all.later.expect('+OK\r\n+QUEUED\r\n*-1\r\n');
});

test('first half of a request is forgotten', async () => {
  all.slow.socket.send('def\r\n');
  await all.slow.expect('+OK\r\n');
  all.slow.say('GET half');
  await all.slow.expect('$6\r\nabcdef\r\n');
});

test('blocked client is forgotten', async () => {
  all.teller.say('RPUSH queue job');
  await all.teller.expect(':1\r\n');
  await all.blocked.expect('*2\r\n$5\r\nqueue\r\n$3\r\njob\r\n');
});

test('caching client keeps what it should forget', async () => {
  // What it had read nobody knows any more, so it is to forget everything.
  await all.caching.expect('>2\r\n$10\r\ninvalidate\r\n_\r\n');
  all.caching.say('GET cached');
  await all.caching.expect('$3\r\nold\r\n');
  all.teller.say('SET cached new');
  await all.teller.expect('+OK\r\n');
  await all.caching.expect('>2\r\n$10\r\ninvalidate\r\n*1\r\n$6\r\ncached\r\n');
});

test('client that wants no replies gets some', async () => {
  all.quiet.say('PING');
  all.quiet.say('CLIENT REPLY ON');
  await all.quiet.expect('+OK\r\n');
});
