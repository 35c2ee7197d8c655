// A Durable Object that neither keeps nor looks up anything: as many bytes as the right replies have, whatever was asked. What it
// takes is what workerd takes for the messages alone, so no store can be faster.

import { DurableObject } from 'cloudflare:workers';

const SET_REPLY = '+OK\r\n';
const GET_REPLY = `$64\r\n${'0'.repeat(64)}\r\n`;
const encoder = new TextEncoder();

export class Database extends DurableObject {
  #replies = new Map();

  fetch() {
    const [client, server] = Object.values(new WebSocketPair());
    this.ctx.acceptWebSocket(server);
    return new Response(null, { status: 101, webSocket: client });
  }

  webSocketMessage(socket, message) {
    let replies = this.#replies.get(message.byteLength);
    if (replies === undefined) {
      const text = new TextDecoder().decode(message);
      const reply = text.includes('SET') ? SET_REPLY : GET_REPLY;
      replies = encoder.encode(reply.repeat(text.split('*').length - 1));
      this.#replies.set(message.byteLength, replies);
    }
    socket.send(replies);
  }

  webSocketClose(socket) {
    socket.close(1000);
  }
}

export default {
  fetch: (request, env) => env.DATABASE.get(env.DATABASE.idFromName('default')).fetch(request),
};
