// What the edge worker is measured beside: a Durable Object in plain JavaScript with GET and SET of RESP in the same WebSocket
// messages, every key a row of its own storage API.

import { DurableObject } from 'cloudflare:workers';

const decoder = new TextDecoder();
const encoder = new TextEncoder();

export class Database extends DurableObject {
  fetch() {
    const [client, server] = Object.values(new WebSocketPair());
    this.ctx.acceptWebSocket(server);
    return new Response(null, { status: 101, webSocket: client });
  }

  webSocketMessage(socket, message) {
    const lines = decoder.decode(message).split('\r\n');
    let replies = '';
    for (let at = 0; lines[at]?.startsWith('*'); at += 1 + 2 * Number(lines[at].slice(1))) {
      const [command, key, value] = [lines[at + 2], lines[at + 4], lines[at + 6]];
      if (command === 'SET') {
        this.ctx.storage.kv.put(key, value);
        replies += '+OK\r\n';
      } else {
        const found = this.ctx.storage.kv.get(key);
        replies += found === undefined ? '$-1\r\n' : `$${found.length}\r\n${found}\r\n`;
      }
    }
    socket.send(encoder.encode(replies));
  }

  webSocketClose(socket) {
    socket.close(1000);
  }
}

export default {
  fetch: (request, env) => env.DATABASE.get(env.DATABASE.idFromName('default')).fetch(request),
};
