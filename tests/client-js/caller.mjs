// A Worker that uses the package: its flows against a gateway, over each kind of socket that a Worker has, and against the database of
// the edge worker by its binding. `?home=` says which; /leave ends a
// request with its client open, /count counts calls, /clients counts those of the store, and who hears a message.

import * as edgecask from '../../core/client/js/dist/worker.js';
import { run } from './flows.mjs';

export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    const gateway = url.searchParams.get('gateway');
    const homes = {
      constructor: (options) => edgecask.connect(`ws://${gateway}/resp`, options),
      // A socket of an upgrade, which nobody has accepted yet.
      upgrade: (options) =>
        edgecask.connect(`ws://${gateway}/resp`, {
          ...options,
          open: async () => (await fetch(`http://${gateway}/resp`, { headers: { upgrade: 'websocket' } })).webSocket,
        }),
      // The same of a binding, accepted by its owner.
      stub: (options) =>
        edgecask.connect('ws://database/resp', {
          ...options,
          open: async () => {
            const stub = env.EDGECASK.get(env.EDGECASK.idFromName('by stub'));
            const { webSocket } = await stub.fetch('http://database/resp', { headers: { upgrade: 'websocket' } });
            webSocket.accept();
            return webSocket;
          },
        }),
      binding: (options) => edgecask.connectToObject(env.EDGECASK, 'by binding', options),
    };
    const connect = homes[url.searchParams.get('home')];
    if (url.pathname === '/count') {
      const client = await connect({});
      const count = await client.incr('counted');
      client.close();
      return Response.json(count);
    }
    if (url.pathname === '/leave') {
      const client = await connect({});
      const news = await client.subscribe('news');
      news.next().catch(() => {});
      return Response.json(await client.incr('left'));
    }
    if (url.pathname === '/clients') {
      const client = await connect({});
      const list = await client.clientList();
      const heard = await client.publish('news', 'anybody?');
      client.close();
      return Response.json([list.trim().split('\n').length, heard]);
    }
    return Response.json(await run(edgecask, connect));
  },
};
