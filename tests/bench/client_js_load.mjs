// The load of client_js.mjs, the same in a page and in Node.

import { Client } from '../../examples/chat/resp.mjs';

/** GETs of a value of so many bytes by so many callers, each with one at a time. Gives round trips a second. */
export async function measure(edgecask, url, which, { bytes, callers, ms }) {
  const client = which === 'package' ? await edgecask.connect(url, { WebSocket: globalThis.WebSocket }) : await byHand(url);
  await client.set('key', 'x'.repeat(bytes));
  const end = performance.now() + ms;
  let count = 0;
  const ask = async () => {
    for (; performance.now() < end; count++) {
      const value = await client.get('key');
      if (value.length !== bytes) throw new Error('another value');
    }
  };
  const begin = performance.now();
  await Promise.all(Array.from({ length: callers }, ask));
  const seconds = (performance.now() - begin) / 1000;
  client.close();
  return count / seconds;
}

async function byHand(url) {
  const client = await Client.connect(url);
  return { set: (...words) => client.call('SET', ...words), get: (key) => client.call('GET', key), close: () => client.close() };
}
