#!/usr/bin/env node
// The REST dialect with nothing but fetch: one command, a pipeline, a transaction, bytes, and a stream of messages.
//
//     node examples/rest.mjs
//
// It works the same against the gateway and against the edge worker. EDGECASK_HTTP_URL says where, EDGECASK_PASSWORD is the
// bearer token. With the package @upstash/redis: new Redis({ url, token }).

const URL_BASE = (process.env.EDGECASK_HTTP_URL ?? 'http://127.0.0.1:8080').replace(/\/$/, '');
const HEADERS = process.env.EDGECASK_PASSWORD ? { authorization: `Bearer ${process.env.EDGECASK_PASSWORD}` } : {};

async function ask(path, body, headers = {}) {
  const response = await fetch(URL_BASE + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...HEADERS, ...headers },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return response.json();
}

// Arguments in the path, in the query, or as an array in the body.
console.log('path:       ', await ask('/set/example:greeting/hello?EX=60'));
console.log('array:      ', await ask('/', ['GET', 'example:greeting']));
console.log('error:      ', await ask('/', ['INCR', 'example:greeting']));

// One request, many commands; each has a result or an error of its own.
console.log('pipeline:   ', await ask('/pipeline', [['DEL', 'example:n'], ['INCR', 'example:n'], ['INCRBY', 'example:n', 41]]));

// The same, all or nothing.
console.log('transaction:', await ask('/multi-exec', [['HSET', 'example:user', 'name', 'Ada'], ['HGET', 'example:user', 'name']]));

// Values may be any bytes: they come back as base64 on request.
await ask('/', ['SETRANGE', 'example:bytes', 0, '\u0000\u0001']);
const { result } = await ask('/get/example:bytes', undefined, { 'upstash-encoding': 'base64' });
console.log('bytes:      ', [...Buffer.from(result, 'base64')]);

// A subscription is an endless response of server-sent events.
const abort = new AbortController();
const stream = await fetch(`${URL_BASE}/subscribe/example:news`, { headers: { ...HEADERS, accept: 'text/event-stream' }, signal: abort.signal });
const events = (async function* () {
  let text = '';
  for await (const chunk of stream.body.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      const line = text.slice(0, end);
      text = text.slice(end + 1);
      if (line.startsWith('data: ')) yield line.slice('data: '.length);
    }
  }
})();
console.log('event:      ', (await events.next()).value);
await ask('/', ['PUBLISH', 'example:news', 'it works']);
console.log('event:      ', (await events.next()).value);
abort.abort();
