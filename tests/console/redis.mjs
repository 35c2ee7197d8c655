// A plain client for tests: RESP2 over TCP, replies as JavaScript values, strings as text unless bytes are asked for.

import net from 'node:net';

export class Redis {
  #socket;
  #buffer = Buffer.alloc(0);
  #waiting = [];

  static connect(port) {
    return new Promise((resolve, reject) => {
      const socket = net.connect(port, '127.0.0.1');
      socket.once('error', reject);
      socket.once('connect', () => resolve(new Redis(socket)));
    });
  }

  constructor(socket) {
    this.#socket = socket;
    socket.on('data', (data) => this.#receive(data));
    socket.on('close', () => this.#waiting.splice(0).forEach(({ reject }) => reject(new Error('closed'))));
  }

  /** One command; rejects if the reply is an error. */
  call(...args) {
    return this.pipeline([args]).then(([reply]) => {
      if (reply instanceof Error) throw reply;
      return reply;
    });
  }

  /** Many commands at once; errors are among the replies. */
  pipeline(commands) {
    const parts = [];
    for (const args of commands) {
      parts.push(Buffer.from(`*${args.length}\r\n`));
      for (const arg of args) {
        const bytes = Buffer.isBuffer(arg) ? arg : Buffer.from(String(arg));
        parts.push(Buffer.from(`$${bytes.length}\r\n`), bytes, Buffer.from('\r\n'));
      }
    }
    const replies = commands.map(() => new Promise((resolve, reject) => this.#waiting.push({ resolve, reject })));
    this.#socket.write(Buffer.concat(parts));
    return Promise.all(replies);
  }

  close() {
    this.#socket.destroy();
  }

  #receive(data) {
    this.#buffer = this.#buffer.length ? Buffer.concat([this.#buffer, data]) : data;
    let at = 0;
    for (;;) {
      const parsed = parse(this.#buffer, at);
      if (!parsed) break;
      at = parsed.end;
      this.#waiting.shift()?.resolve(parsed.value);
    }
    this.#buffer = this.#buffer.subarray(at);
  }
}

function parse(buffer, at) {
  const lineEnd = buffer.indexOf('\r\n', at);
  if (lineEnd < 0) return undefined;
  const text = buffer.toString('utf8', at + 1, lineEnd);
  const after = lineEnd + 2;
  switch (String.fromCharCode(buffer[at])) {
    case '+': return { value: text, end: after };
    case '-': return { value: new Error(text), end: after };
    case ':': return { value: Number(text), end: after };
    case '$': {
      const size = Number(text);
      if (size < 0) return { value: null, end: after };
      if (buffer.length < after + size + 2) return undefined;
      return { value: buffer.toString('utf8', after, after + size), end: after + size + 2 };
    }
    case '*': {
      const value = [];
      let end = after;
      for (let missing = Number(text); missing > 0; missing -= 1) {
        const item = parse(buffer, end);
        if (!item) return undefined;
        value.push(item.value);
        end = item.end;
      }
      return { value, end };
    }
    default: throw new Error(`no reply: ${buffer.toString('latin1', at, lineEnd)}`);
  }
}
