// One session over one WebSocket: requests out, replies in the order of the requests, pushes and MONITOR lines apart.
//
// Promises: a request is answered once, by its reply or by an error when the connection ends; RESP3 is spoken before
// the first request goes out. It never reconnects: that is state.ts.

import { Decoder, encode, encodeAll, ready } from '../resp/codec.ts';
import { type Argument, CommandError, type Reply } from '../resp/reply.ts';

export interface Address {
  url: string;
  user?: string;
  password?: string;
  db?: number;
}

/** How long connecting and the first replies may take. */
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * So often an empty message goes out, since what stands between ends connections on which nothing happens. It is no byte of
 * RESP; the edge worker answers it by another one without waking up.
 */
const PING_EVERY_MS = 30_000;

/** Commands that RESP3 answers by pushes of the same name. */
const SUBSCRIPTIONS = new Set(
  ['subscribe', 'psubscribe', 'ssubscribe', 'unsubscribe', 'punsubscribe', 'sunsubscribe'],
);

interface Waiting {
  resolve(reply: Reply): void;
  reject(error: Error): void;
  /** Of SUBSCRIBE and its kin: how many confirmations are missing, if that is known yet. */
  subscription?: { kind: string; missing: number | undefined };
}

/** A character for each byte, so that different bytes stay different. */
const latin1 = new TextDecoder('latin1');

/** Bytes as a name to compare; not for showing. */
function text(reply: Reply | undefined): string | undefined {
  return reply?.type === 'bulk' ? latin1.decode(reply.bytes) : undefined;
}

/** Name and version out of the reply of HELLO. */
function describe(hello: Reply): string {
  if (hello.type !== 'map') return '';
  const field = (name: string) => text(hello.pairs.find(([key]) => text(key) === name)?.[1]) ?? '';
  return `${field('server')} ${field('version')}`.trim();
}

function waitingFor(args: Argument[]): Pick<Waiting, 'subscription'> {
  const name = args[0];
  const kind = (typeof name === 'string' ? name : latin1.decode(name)).toLowerCase();
  if (!SUBSCRIPTIONS.has(kind)) return {};
  return { subscription: { kind, missing: args.length > 1 ? args.length - 1 : undefined } };
}

export class Client {
  readonly #socket: WebSocket;
  readonly #decoder = new Decoder();
  /** Requests without a reply: those before `#answered` have theirs. */
  #waiting: Waiting[] = [];
  #answered = 0;
  #ended = false;
  #pinging: ReturnType<typeof setInterval> | undefined;
  /** Channels subscribed to, by the kind of subscription. */
  readonly #held: Record<string, Set<string>> = {};
  readonly #pushListeners = new Set<(items: Reply[]) => void>();
  readonly #statusListeners = new Set<(text: string) => void>();
  #tellClosed!: (reason: string) => void;
  /** Why the session ended. */
  readonly closed: Promise<string>;
  /** Name and version of the server. */
  server = '';

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => (this.#tellClosed = resolve));
    socket.binaryType = 'arraybuffer';
    // What comes as text is the empty answer to an empty message.
    socket.onmessage = ({ data }) => typeof data !== 'string' && this.#receive(new Uint8Array(data as ArrayBuffer));
    socket.onclose = (event) => this.#end(event.reason || 'the connection was closed');
    socket.onerror = () => this.#end('the connection failed');
  }

  /** Rejects with a CommandError if the server refuses user, password or database. */
  static async connect(address: Address): Promise<Client> {
    await ready();
    const socket = new WebSocket(address.url, 'resp');
    const client = new Client(socket);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const timeout = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('no answer in time')), CONNECT_TIMEOUT_MS);
    });
    try {
      await Promise.race([client.#begin(address), timeout]);
      return client;
    } catch (error) {
      client.close();
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  async #begin(address: Address): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#socket.onopen = () => resolve();
      void this.closed.then((reason) => reject(new Error(reason)));
    });
    if (!this.#ended) this.#pinging = setInterval(() => this.#socket.send(''), PING_EVERY_MS);
    const hello: Argument[] = ['HELLO', '3'];
    if (address.password !== undefined) hello.push('AUTH', address.user || 'default', address.password);
    this.server = describe(await this.call([...hello, 'SETNAME', 'console']));
    if (address.db) await this.call(['SELECT', String(address.db)]);
  }

  /**
   * Resolves with the reply, also if it is an error; rejects if the connection ends first. The reply of SUBSCRIBE and
   * its kin is the push that confirms the last channel.
   */
  send(args: Argument[]): Promise<Reply> {
    const reply = this.#expect(args);
    this.#write(encode(args));
    return reply;
  }

  /** As send, but rejects with a CommandError if the reply is an error. */
  async call(args: Argument[]): Promise<Reply> {
    const reply = await this.send(args);
    if (reply.type === 'error') throw new CommandError(reply.text);
    return reply;
  }

  /** Sends all commands in one message; error replies are among the replies. */
  pipeline(commands: Argument[][]): Promise<Reply[]> {
    const replies = Promise.all(commands.map((args) => this.#expect(args)));
    this.#write(encodeAll(commands));
    return replies;
  }

  onPush(listener: (items: Reply[]) => void): () => void {
    this.#pushListeners.add(listener);
    return () => this.#pushListeners.delete(listener);
  }

  /** Simple strings that answer no request: the lines of MONITOR. */
  onStatus(listener: (text: string) => void): () => void {
    this.#statusListeners.add(listener);
    return () => this.#statusListeners.delete(listener);
  }

  close(): void {
    this.#end('closed by the console');
  }

  #write(bytes: Uint8Array): void {
    // While a socket is closing, send() does nothing; #end rejects what waits.
    if (!this.#ended) this.#socket.send(bytes as Uint8Array<ArrayBuffer>);
  }

  #expect(args: Argument[]): Promise<Reply> {
    if (this.#ended) return Promise.reject(new Error('not connected'));
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject, ...waitingFor(args) }));
  }

  #receive(bytes: Uint8Array): void {
    if (this.#ended) return;
    try {
      for (const reply of this.#decoder.push(bytes)) {
        this.#deliver(reply);
        // A listener may have closed the connection.
        if (this.#ended) return;
      }
    } catch (error) {
      this.#end(`the server sent something that is no reply: ${error instanceof Error ? error.message : error}`);
    }
  }

  #deliver(reply: Reply): void {
    if (reply.type === 'push') {
      this.#confirm(reply);
      for (const listener of this.#pushListeners) listener(reply.items);
      return;
    }
    const waiting = this.#take();
    if (waiting) waiting.resolve(reply);
    else if (reply.type === 'simple') for (const listener of this.#statusListeners) listener(reply.text);
  }

  /**
   * SUBSCRIBE and its kin have no reply but a push for each channel. What was requested before is answered by then, so
   * that the confirmations belong to the oldest request; the last one is handed out as its reply.
   */
  #confirm(push: { type: 'array' | 'set' | 'push'; items: Reply[] }): void {
    const kind = text(push.items[0]);
    if (!kind || !SUBSCRIPTIONS.has(kind)) return;
    const held = (this.#held[kind.replace('unsub', 'sub')] ??= new Set());
    const waiting = this.#waiting[this.#answered];
    const mine = waiting?.subscription?.kind === kind ? waiting.subscription : undefined;
    // Without a channel, UNSUBSCRIBE confirms every one that is held, or nothing once.
    if (mine) mine.missing ??= Math.max(1, held.size);
    const channel = text(push.items[1]);
    if (channel !== undefined) kind.includes('unsub') ? held.delete(channel) : held.add(channel);
    if (!mine?.missing) return;
    mine.missing -= 1;
    if (mine.missing === 0) this.#take()?.resolve(push);
  }

  #take(): Waiting | undefined {
    const waiting = this.#waiting[this.#answered];
    if (!waiting) return undefined;
    this.#answered += 1;
    // Answered ones are dropped in bulk: shift() on a long array moves all of it.
    if (this.#answered === this.#waiting.length || this.#answered > 4096) {
      this.#waiting = this.#waiting.slice(this.#answered);
      this.#answered = 0;
    }
    return waiting;
  }

  #end(reason: string): void {
    if (this.#ended) return;
    this.#ended = true;
    clearInterval(this.#pinging);
    this.#socket.close();
    this.#decoder.free();
    const error = new Error(reason);
    for (const waiting of this.#waiting.slice(this.#answered)) waiting.reject(error);
    this.#waiting = [];
    this.#tellClosed(reason);
  }
}
