// A Durable Object in plain JavaScript that speaks the GET and SET of RESP and keeps values with its own storage API: what the
// benchmark compares with.

import { DurableObject } from 'cloudflare:workers';

const decoder = new TextDecoder();

export class Database extends DurableObject {
  async fetch() {
    const [client, server] = Object.values(new WebSocketPair());
    this.ctx.acceptWebSocket(server);
    return new Response(null, { status: 101, webSocket: client });
  }

  webSocketMessage(socket, message) {
    const words = (typeof message === 'string' ? message : decoder.decode(message)).split('\r\n');
    const replies = [];
    for (let at = 0; at + 1 < words.length; ) {
      const count = Number(words[at].slice(1));
      const args = [];
      for (let each = 0; each < count; each++) args.push(words[at + 2 + each * 2]);
      at += 1 + count * 2;
      if (args[0] === 'SET') {
        this.ctx.storage.kv.put(args[1], args[2]);
        replies.push('+OK\r\n');
      } else {
        const value = this.ctx.storage.kv.get(args[1]);
        replies.push(value === undefined ? '$-1\r\n' : `$${value.length}\r\n${value}\r\n`);
      }
    }
    socket.send(new TextEncoder().encode(replies.join('')));
  }

  webSocketClose(socket) {
    socket.close(1000);
  }
}

export default {
  fetch(request, env) {
    return env.DATABASE.get(env.DATABASE.idFromName('default')).fetch(request);
  },
};
