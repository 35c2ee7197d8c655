// The REST dialect case by case, as its documentation has it, without a client. The server is named by
// UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN, and emptied; it lets pages of https://app.example ask.

import assert from 'node:assert/strict';
import http from 'node:http';
import { eventually, run, same } from '../harness.mjs';

const URL_BASE = process.env.UPSTASH_REDIS_REST_URL.replace(/\/$/, '');
const TOKEN = process.env.UPSTASH_REDIS_REST_TOKEN;
const BEARER = { authorization: `Bearer ${TOKEN}` };
const BASE64 = { 'upstash-encoding': 'base64' };
const RESP2 = { 'upstash-response-format': 'resp2' };
const WRONG_TYPE = 'WRONGTYPE Operation against a key holding the wrong kind of value';
const ORIGIN = 'https://app.example';

function ask(path, { headers = {}, token = BEARER, ...options } = {}) {
  return fetch(URL_BASE + path, { ...options, headers: { ...token, ...headers } });
}

function post(path, body, options = {}) {
  const isJson = typeof body !== 'string' && !(body instanceof Uint8Array);
  return ask(path, { method: 'POST', body: isJson ? JSON.stringify(body) : body, ...options });
}

// Status and JSON of an answer.
async function answers(asked, status, json) {
  const response = await asked;
  same([response.status, await response.json()], [status, json]);
  same(response.headers.get('content-type'), 'application/json');
}

async function result(asked, value) {
  await answers(asked, 200, { result: value });
}

async function error(asked, text, status = 400) {
  await answers(asked, status, { error: text });
}

// The events of a stream as they come.
async function events(path, close) {
  const limit = new AbortController();
  close(() => limit.abort());
  const response = await ask(path, { method: 'POST', body: '[]', signal: limit.signal });
  same([response.status, response.headers.get('content-type')], [200, 'text/event-stream']);
  const lines = [];
  const listen = async () => {
    let rest = '';
    for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
      const whole = (rest + piece).split('\n\n');
      rest = whole.pop();
      lines.push(...whole.filter((line) => !line.startsWith(':')));
    }
  };
  listen().catch(() => {});
  return { lines, leave: () => limit.abort() };
}

// A request whose every byte is ours.
function raw(options, body) {
  return new Promise((resolve, reject) => {
    const request = http.request(URL_BASE + options.path, { ...options, headers: { ...BEARER, ...options.headers } });
    request.on('error', reject).on('response', async (response) => {
      const pieces = [];
      for await (const piece of response) pieces.push(piece);
      resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(pieces).toString() });
    });
    request.end(body);
  });
}

// The seconds that a key has left, a few of which may have gone by.
async function secondsLeft(asked, most) {
  const { result: left } = await (await asked).json();
  assert(left > most - 8 && left <= most, `${left} s are left`);
}

const flows = {
  async 'a command in the body'() {
    await result(post('/', ['FLUSHALL']), 'OK');
    await result(post('/', ['SET', 'foo', 'bar', 'EX', 100]), 'OK');
    await result(post('', ['GET', 'foo']), 'bar');
    await secondsLeft(ask('/', { method: 'PUT', body: '["TTL","foo"]' }), 100);
    await result(post('/', ['get', 'nothing']), null);
    await result(post('/', ['SET', 'n', 1.5]), 'OK');
    await result(post('/', '["SET","n",1.50]'), 'OK');
    await result(ask('/get/n'), '1.50');
    await result(post('/', ['SET', 't', true]), 'OK');
    await result(ask('/get/t'), 'true');
  },

  async 'a command in the path'() {
    await result(ask('/set/foo/bar'), 'OK');
    await result(ask('/GET/foo'), 'bar');
    await result(ask('/set/a%2Fb/%C3%BC%20+%25'), 'OK');
    await result(ask(`/get/${encodeURIComponent('a/b')}`), 'ü +%');
    await result(ask('/mget/foo/none/a%2Fb'), ['bar', null, 'ü +%']);
    await result(ask('/zadd/teams/100/team-x/90/team-y'), 2);
    await result(ask('/hset/employee:23381/salary/1'), 1);
    await result(ask('/set/empty/'), 'OK');
    await result(ask('/get/empty'), '');
    await result(post('/strlen/empty', ''), 0);
  },

  async 'a value in the body, options in the query'() {
    await result(post('/set/foo?EX=100&XX', '{"a": [1, 2]}'), 'OK');
    await result(ask('/get/foo'), '{"a": [1, 2]}');
    await secondsLeft(ask('/ttl/foo'), 100);
    await result(ask('/set/foo?NX', { method: 'PUT', body: 'other' }), null);
    const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte);
    await result(post('/set/binary', bytes), 'OK');
    await result(ask('/get/binary', { headers: BASE64 }), Buffer.from(bytes).toString('base64'));
    await result(ask('/strlen/binary'), 256);
  },

  async methods() {
    for (const method of ['DELETE', 'PATCH']) {
      const response = await ask('/get/foo', { method });
      same([response.status, response.headers.get('allow')], [405, 'GET, HEAD, POST, PUT']);
      await response.text();
    }
    const response = await ask('/set/head/1', { method: 'HEAD' });
    same([response.status, await response.text()], [200, '']);
    await result(ask('/get/head'), '1');
  },

  async tokens() {
    await result(ask(`/set/foo/bar?_token=${TOKEN}`, { token: {} }), 'OK');
    await result(ask(`/set/foo/bar?EX=100&_token=${TOKEN}`, { token: {} }), 'OK');
    await secondsLeft(ask(`/ttl/foo?_token=${TOKEN}`, { token: { authorization: 'Bearer wrong' } }), 100);
    const basic = Buffer.from(`default:${TOKEN}`).toString('base64');
    await result(ask('/ping', { token: { authorization: `Basic ${basic}` } }), 'PONG');
    const refused = 'WRONGPASS invalid or missing auth token';
    for (const authorization of ['Bearer wrong', 'Bearer', 'Basic eDp5', '']) {
      await error(ask('/get/foo', { token: { authorization } }), refused, 401);
      await error(post('/pipeline', [['GET', 'foo']], { token: { authorization } }), refused, 401);
      await error(post('/multi-exec', [['GET', 'foo']], { token: { authorization } }), refused, 401);
      await error(post('/subscribe/foo', '[]', { token: { authorization } }), refused, 401);
    }
    await error(ask('/get/foo', { token: {} }), refused, 401);
    await error(ask('/get/foo?_token=wrong'), refused, 401);
    await error(post('/set/foo', 'x'.repeat(100_000), { token: { authorization: 'Bearer wrong' } }), refused, 401);
    await result(post('/set/foo', 'x'.repeat(100_000)), 'OK');
  },

  async 'a refused request with a long body lost its connection'() {
    for (let round = 0; round < 50; round++) {
      const stranger = post('/set/foo', 'x'.repeat(1_000_000), { token: { authorization: 'Bearer wrong' } });
      await error(stranger, 'WRONGPASS invalid or missing auth token', 401);
      await result(ask('/ping'), 'PONG');
    }
  },

  async errors() {
    await result(ask('/set/s/x'), 'OK');
    await error(ask('/lpop/s'), WRONG_TYPE);
    await error(ask('/get'), "ERR wrong number of arguments for 'get' command");
    await error(ask('/nosuch/a'), "ERR unknown command 'nosuch', with args beginning with: 'a' ");
    await error(post('/', '{"a":1}'), 'ERR failed to parse command: expected a JSON array');
    await error(post('/', ''), 'ERR failed to parse command: expected a JSON array');
    await error(post('/', '["GET"'), 'ERR failed to parse command: EOF while parsing a list at line 1 column 6');
    await error(post('/', '[]'), 'ERR empty command');
    await error(post('/', ['SET', 's', null]), 'ERR null args are not supported');
    await error(post('/', [['GET', 's']]), 'ERR unsupported arg type: "[": json.Delim');
    await error(post('/', ['SET', 's', { a: 1 }]), 'ERR unsupported arg type: "{": json.Delim');
    await error(post('/pipeline', ['GET', 's']), 'ERR failed to parse pipeline request: expected a JSON array');
    await error(post('/pipeline', []), 'ERR empty pipeline request');
    await error(post('/', '['.repeat(100_000)), 'ERR failed to parse command: EOF while parsing a list at line 1 column 100000');
    await result(ask('/get/s'), 'x');
  },

  async 'commands that need a connection'() {
    for (const [command, path] of [['SUBSCRIBE', '/subscribe'], ['MONITOR', '/monitor'], ['MULTI', '/multi-exec'], ['WATCH', '/multi-exec']]) {
      const response = await post('/', [command.toLowerCase(), 'x']);
      same(response.status, 400);
      assert((await response.json()).error.includes(path));
    }
    for (const command of [['AUTH', 'x'], ['HELLO', 3], ['QUIT'], ['RESET'], ['CLIENT', 'REPLY', 'OFF']]) {
      const response = await post('/', command);
      same(response.status, 400);
      assert((await response.json()).error.endsWith('concerns a connection, and every request has one of its own'));
    }
    // What a request does to its connection ends with it.
    await answers(post('/pipeline', [['SELECT', 1], ['SET', 'elsewhere', 1]]), 200, [{ result: 'OK' }, { result: 'OK' }]);
    await result(ask('/exists/elsewhere'), 0);
  },

  async base64() {
    const base64 = { headers: BASE64 };
    await result(ask('/SET/foo/bar', base64), 'OK');
    await result(ask('/GET/foo', base64), 'YmFy');
    await result(ask('/ping', base64), 'UE9ORw==');
    await result(ask('/set/foo/OK', base64), 'OK');
    await result(ask('/get/foo', base64), 'T0s=');
    await result(ask('/get/nothing', base64), null);
    await result(ask('/strlen/foo', base64), 2);
    await result(ask('/mget/foo/nothing', base64), ['T0s=', null]);
    await error(ask('/lpop/foo', base64), WRONG_TYPE);
    await answers(post('/pipeline', [['GET', 'foo'], ['LPOP', 'foo']], base64), 200, [{ result: 'T0s=' }, { error: WRONG_TYPE }]);
    await error(ask('/ping', { headers: { 'upstash-encoding': 'gzip' } }), 'ERR Upstash-Encoding is neither empty nor base64');
    // Without it, what is no text is replaced.
    await result(post('/set/foo', Uint8Array.of(0x61, 0xff, 0xfe)), 'OK');
    await result(ask('/get/foo'), 'a\ufffd\ufffd');
  },

  async resp2() {
    const bytes = async (asked, status, wanted) => {
      const response = await asked;
      same([response.status, await response.text()], [status, wanted]);
      same(response.headers.get('content-type'), 'application/octet-stream');
    };
    await bytes(ask('/SET/foo/bar', { headers: RESP2 }), 200, '+OK\r\n');
    await bytes(ask('/GET/foo', { headers: RESP2 }), 200, '$3\r\nbar\r\n');
    await bytes(ask('/LPOP/foo', { headers: RESP2 }), 400, `-${WRONG_TYPE}\r\n`);
    await bytes(post('/pipeline', [['GET', 'foo'], ['INCR', 'n2']], { headers: RESP2 }), 200, '$3\r\nbar\r\n:1\r\n');
    await answers(post('/multi-exec', [['GET', 'foo']], { headers: RESP2 }), 200, [{ result: 'bar' }]);
    await error(ask('/GET/foo', { headers: { ...RESP2, ...BASE64 } }), 'ERR Upstash-Encoding does not go with resp2');
    await error(ask('/GET/foo', { headers: { 'upstash-response-format': 'xml' } }),
      'ERR Upstash-Response-Format is neither json nor resp2');
  },

  async pipelines() {
    await result(post('/', ['DEL', 'key1', 'key2', 'myset']), 0);
    const commands = [['SET', 'key1', 'valuex'], ['SETEX', 'key2', 13, 'valuez'], ['INCR', 'key1'], ['ZADD', 'myset', 11, 'item1', 22, 'item2']];
    const results = [{ result: 'OK' }, { result: 'OK' }, { error: 'ERR value is not an integer or out of range' }, { result: 2 }];
    await answers(post('/pipeline', commands), 200, results);
    await result(post('/', ['DEL', 'myset']), 1);
    await answers(post('/multi-exec', commands), 200, results);
    await answers(post('/pipeline', [[], ['MULTI'], ['GET', 'key1']]), 200, [
      { error: 'ERR empty pipeline command' },
      { error: 'ERR MULTI needs a connection that lasts: ask for the path /multi-exec' },
      { result: 'valuex' },
    ]);
  },

  async 'a discarded transaction'() {
    await result(ask('/set/k/before'), 'OK');
    const discarded = post('/multi-exec', [['SET', 'k', 'after'], ['GET']]);
    await error(discarded, "EXECABORT Transaction discarded because of: ERR wrong number of arguments for 'get' command");
    await error(post('/multi-exec', [['SET', 'k', 'after'], []]), 'ERR empty pipeline command');
    await result(ask('/get/k'), 'before');
  },

  async 'subscriptions and publishing'(close) {
    const { lines, leave } = await events('/subscribe/chat/other', close);
    await eventually(() => lines.length === 2, 'the confirmations');
    same(lines, ['data: subscribe,chat,1', 'data: subscribe,other,2']);
    await result(ask('/publish/chat/hello', { method: 'POST' }), 1);
    await result(post('/publish/other', 'how are you, today?'), 1);
    await result(post('/publish/chat', 'two\nlines'), 1);
    await eventually(() => lines.length === 5, 'the messages');
    same(lines.slice(2), ['data: message,chat,hello', 'data: message,other,how are you, today?', 'data: message,chat,"two\\nlines"']);
    leave();
    await eventually(async () => (await (await ask('/publish/chat/late')).json()).result === 0, 'the end');
  },

  async 'patterns by GET with the token in the address'(close) {
    const limit = new AbortController();
    close(() => limit.abort());
    const response = await ask(`/psubscribe/user%3A*?_token=${TOKEN}`, { token: {}, signal: limit.signal });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    same((await reader.read()).value, 'data: psubscribe,user:*,1\n\n');
    await result(ask('/publish/user:1/x'), 1);
    same((await reader.read()).value, 'data: pmessage,user:*,user:1,x\n\n');
    await error(ask('/subscribe'), "ERR wrong number of arguments for 'subscribe' command");
  },

  async monitors(close) {
    const { lines } = await events('/monitor', close);
    await eventually(() => lines.length > 0, 'the confirmation');
    same(lines[0], 'data: "OK"');
    await result(ask('/set/seen/1'), 'OK');
    const shows = (text) => lines.some((line) => /^data: \d+\.\d{6} \[0 [^\]]+\] /.test(line) && line.endsWith(text));
    await eventually(() => shows('"set" "seen" "1"'), 'the command');
    assert(!lines.some((line) => line.includes(TOKEN)), 'a token is shown');
  },

  async 'pages of other sites'() {
    const headers = { origin: ORIGIN, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization,upstash-encoding' };
    const preflight = await raw({ method: 'OPTIONS', path: '/', headers: { ...headers, authorization: '' } });
    same([preflight.status, preflight.headers['access-control-allow-origin']], [204, ORIGIN]);
    assert(preflight.headers['access-control-allow-methods'].includes('POST'));
    assert(preflight.headers['access-control-allow-headers'].includes('authorization'));
    const listed = await raw({ method: 'GET', path: '/ping', headers: { origin: ORIGIN } });
    same([listed.status, listed.body], [200, '{"result":"PONG"}']);
    same(listed.headers['access-control-allow-origin'], ORIGIN);
    const other = await raw({ method: 'GET', path: '/ping', headers: { origin: 'https://evil.example' } });
    same(other.headers['access-control-allow-origin'], undefined);
  },

  async 'what is too much'() {
    const tooLarge = await raw({ method: 'POST', path: '/set/a', headers: { 'content-length': 2 ** 31 } }, '').catch(() => null);
    same([tooLarge?.status, JSON.parse(tooLarge?.body ?? '{}').error?.startsWith('ERR the body is too large')], [413, true]);
    const commands = `[${Array(65_537).fill('["PING"]').join(',')}]`;
    await error(post('/pipeline', commands), 'ERR more than 65536 commands in one request');
    await result(ask('/ping'), 'PONG');
  },
};

await run(flows);
