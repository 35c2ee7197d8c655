// A Worker that uses the package: its flows against a gateway, over each kind of socket that a Worker has, and against the database of
// the edge worker by its binding. `?home=` says which.

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
    return Response.json(await run(edgecask, connect));
  },
};
