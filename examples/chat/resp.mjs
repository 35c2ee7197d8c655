// A small RESP3 client over WebSocket, for browsers and Node: commands as promises, pushes as calls.
//
// The messages of each direction, one behind the other, are a stream of RESP: a reply may end in the middle of a message.
// So bytes are gathered until a whole value is there.

const [CR, LF] = [13, 10];
const INCOMPLETE = Symbol('incomplete');
const text = new TextDecoder();
const bytes = new TextEncoder();

// What the server sends by itself.
class Push {
  constructor(items) {
    this.items = items;
  }
}

function encode(words) {
  const parts = [`*${words.length}\r\n`];
  for (const word of words.map(String)) parts.push(`$${bytes.encode(word).length}\r\n${word}\r\n`);
  return bytes.encode(parts.join(''));
}

// Reads one value from `at` on: [value, where the next one begins], or INCOMPLETE.
function decode(buffer, at) {
  let end = at;
  while (end + 1 < buffer.length && !(buffer[end] === CR && buffer[end + 1] === LF)) end++;
  if (end + 1 >= buffer.length) return INCOMPLETE;
  const [sign, line, next] = [String.fromCharCode(buffer[at]), text.decode(buffer.subarray(at + 1, end)), end + 2];
  switch (sign) {
    case '+': return [line, next];
    case '-': return [new Error(line), next];
    case ':': case ',': return [Number(line), next];
    case '#': return [line === 't', next];
    case '_': return [null, next];
    case '$': case '=': {
      const length = Number(line);
      if (length < 0) return [null, next];
      if (buffer.length < next + length + 2) return INCOMPLETE;
      return [text.decode(buffer.subarray(next, next + length)), next + length + 2];
    }
    case '*': case '~': case '>': case '%': return decodeItems(buffer, next, sign, Number(line));
    default: throw new Error(`a type that this client does not know: ${sign}`);
  }
}

function decodeItems(buffer, next, sign, count) {
  if (count < 0) return [null, next];
  const items = [];
  for (let left = sign === '%' ? 2 * count : count; left > 0; left--) {
    const item = decode(buffer, next);
    if (item === INCOMPLETE) return INCOMPLETE;
    items.push(item[0]);
    next = item[1];
  }
  if (sign === '>') return [new Push(items), next];
  if (sign !== '%') return [items, next];
  return [Object.fromEntries(items.flatMap((name, at) => (at % 2 === 0 ? [[name, items[at + 1]]] : []))), next];
}

export class Client {
  #socket;
  #waiting = [];
  #buffer = new Uint8Array(0);
  #onPush;

  // Connects, speaks RESP3 and logs in. `onPush` gets the items of what the server sends by itself.
  static async connect(url, { password, onPush = () => {} } = {}) {
    const client = new Client();
    client.#onPush = onPush;
    client.#socket = new WebSocket(url, 'resp');
    client.#socket.binaryType = 'arraybuffer';
    client.#socket.onmessage = ({ data }) => client.#receive(new Uint8Array(data));
    await new Promise((resolve, reject) => {
      client.#socket.onopen = resolve;
      client.#socket.onclose = () => reject(new Error(`no WebSocket at ${url}`));
    });
    client.#socket.onclose = () => client.#fail(new Error('the connection is closed'));
    await client.call('HELLO', 3, ...(password ? ['AUTH', 'default', password] : []));
    return client;
  }

  // Sends a command. Its reply is the promise's value; an error reply rejects it.
  call(...words) {
    return new Promise((resolve, reject) => {
      if (this.#socket.readyState !== WebSocket.OPEN) return reject(new Error('the connection is closed'));
      this.#waiting.push({ resolve, reject });
      this.#socket.send(encode(words));
    });
  }

  close() {
    this.#socket.close();
  }

  #receive(message) {
    const gathered = new Uint8Array(this.#buffer.length + message.length);
    gathered.set(this.#buffer);
    gathered.set(message, this.#buffer.length);
    let at = 0;
    for (let found = decode(gathered, at); found !== INCOMPLETE; found = decode(gathered, at)) {
      at = found[1];
      this.#take(found[0]);
    }
    this.#buffer = gathered.subarray(at);
  }

  #take(value) {
    // SUBSCRIBE is answered by a push.
    const isPush = value instanceof Push;
    if (isPush && value.items[0] !== 'subscribe') return this.#onPush(value.items);
    const { resolve, reject } = this.#waiting.shift();
    if (value instanceof Error) reject(value);
    else resolve(isPush ? value.items : value);
  }

  #fail(error) {
    for (const { reject } of this.#waiting.splice(0)) reject(error);
  }
}
