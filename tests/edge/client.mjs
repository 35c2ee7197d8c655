// Commands to an object over a WebSocket, many in a message, and their replies as they came.

import { once } from 'node:events';
import { WebSocket } from './peer.mjs';

/** A socket that sends commands in a row and gives their replies as text, errors included. */
export class Client {
  #received = [];
  #closed;
  #wake = () => {};

  static async open(port, database) {
    const client = new Client();
    client.socket = new WebSocket(`ws://127.0.0.1:${port}/db/${database}/resp`, ['resp'], { maxPayload: 0, perMessageDeflate: false });
    client.socket.on('message', (data) => {
      client.#received.push(data);
      client.#wake();
    });
    client.socket.on('close', (code) => {
      client.#closed = code;
      client.#wake();
    });
    await once(client.socket, 'open');
    return client;
  }

  async ask(...words) {
    return (await this.all([words]))[0];
  }

  /** The replies to commands that are sent together. */
  async all(commands) {
    this.#received = [];
    this.socket.send(Buffer.from(commands.map(request).join('')));
    for (;;) {
      const replies = split(Buffer.concat(this.#received));
      if (replies.length === commands.length) return replies;
      if (this.#closed !== undefined) throw new Error(`the socket was closed: ${this.#closed}`);
      await new Promise((resolve) => (this.#wake = resolve));
    }
  }

  async facts(section) {
    const lines = (await this.ask('INFO', section)).split('\r\n').filter((line) => line.includes(':'));
    return Object.fromEntries(lines.map((line) => line.split(/:(.*)/s).slice(0, 2)));
  }

  /** A value of FT.INFO. */
  async fact(name, index = 'i') {
    return new RegExp(`\\$${name.length}\r\n${name}\r\n(?:\\$\\d+\r\n|:)([^\r]*)`).exec(await this.ask('FT.INFO', index))?.[1];
  }
}

/** A command as bytes of RESP. */
function request(words) {
  return `*${words.length}\r\n${words.map((word) => `$${Buffer.byteLength(String(word))}\r\n${word}\r\n`).join('')}`;
}

// How many replies stand in an array or a map for each of its elements.
const ELEMENTS = { '*': 1, '~': 1, '>': 1, '%': 2 };

/** The whole replies at the beginning of some bytes. */
function split(bytes) {
  const replies = [];
  for (let at = 0, from = 0, missing = 1; at < bytes.length; ) {
    const end = bytes.indexOf('\r\n', at);
    if (end < 0) break;
    const [kind, number] = [String.fromCharCode(bytes[at]), Number(bytes.toString('latin1', at + 1, end))];
    at = end + 2;
    if ((kind === '$' || kind === '=') && number >= 0) at += number + 2;
    missing += (ELEMENTS[kind] ?? 0) * Math.max(0, number) - 1;
    if (at > bytes.length) break;
    if (missing > 0) continue;
    replies.push(bytes.toString('utf8', from, at));
    [from, missing] = [at, 1];
  }
  return replies;
}
