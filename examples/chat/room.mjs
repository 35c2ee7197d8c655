// One chat room: a stream keeps what was said, a channel carries it to those who are there.

import { Client } from './resp.mjs';

const [HISTORY, CHANNEL] = ['example:chat:history', 'example:chat'];
const [HISTORY_LENGTH, SHOWN] = [1000, 20];

export class Room {
  #client;

  // Enters; `onMessage(name, text)` gets the latest messages, then every new one.
  static async enter(url, { password, onMessage }) {
    const room = new Room();
    const show = (json) => onMessage(...JSON.parse(json));
    // Messages that arrive while the history is read come behind it.
    let early = [];
    const onPush = ([kind, , json]) => {
      if (kind !== 'message') return;
      if (early) early.push(json);
      else show(json);
    };
    room.#client = await Client.connect(url, { password, onPush });
    await room.#client.call('SUBSCRIBE', CHANNEL);
    const entries = await room.#client.call('XREVRANGE', HISTORY, '+', '-', 'COUNT', SHOWN);
    const known = entries.reverse().map(([, [, json]]) => json);
    known.forEach(show);
    early.filter((json) => !known.includes(json)).forEach(show);
    early = undefined;
    return room;
  }

  // Keeps a message and sends it to all, in one transaction.
  async say(name, text) {
    const json = JSON.stringify([name, text, Date.now()]);
    await Promise.all([
      this.#client.call('MULTI'),
      this.#client.call('XADD', HISTORY, 'MAXLEN', '~', HISTORY_LENGTH, '*', 'message', json),
      this.#client.call('PUBLISH', CHANNEL, json),
      this.#client.call('EXEC'),
    ]);
  }

  leave() {
    this.#client.close();
  }
}
