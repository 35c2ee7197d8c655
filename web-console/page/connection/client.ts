// One session over one WebSocket: requests out, replies in the order of the requests, pushes and MONITOR lines apart.
//
// Promises: each request settles once, with its reply or with an error when the connection ends; the session speaks
// RESP3 before the first request is sent. It never reconnects: that is the job of state.ts.

import { Decoder, encode, encodeAll, ready } from '../resp/codec.ts';
import { type Argument, CommandError, type Reply } from '../resp/reply.ts';

export interface Address {
  url: string;
  user?: string;
  password?: string;
  db?: number;
}

/** A WebSocket's readyState from which on it sends nothing. */
const CLOSING = 2;

/** How long connecting and the first replies may take. */
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * The period of empty messages, which keep a quiet connection open: proxies close idle ones. An empty message is no byte
 * of RESP; the edge worker answers it with another one without waking up.
 */
const PING_EVERY_MS = 30_000;

/** Commands whose replies are pushes of the same name under RESP3. */
const SUBSCRIPTIONS = new Set(
  ['subscribe', 'psubscribe', 'ssubscribe', 'unsubscribe', 'punsubscribe', 'sunsubscribe'],
);

interface Waiting {
  resolve(reply: Reply): void;
  reject(error: Error): void;
  /** For SUBSCRIBE and its variants: how many confirmations are missing, if that is known yet. */
  subscription?: { kind: string; missing: number | undefined };
}

/** One character per byte, so that different bytes stay different. */
const latin1 = new TextDecoder('latin1');

/** Bytes as a name for comparisons, not for display. */
function text(reply: Reply | undefined): string | undefined {
  return reply?.type === 'bulk' ? latin1.decode(reply.bytes) : undefined;
}

/** The server's name and version, from the reply of HELLO. */
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
  readonly #subscribed: Record<string, Set<string>> = {};
  readonly #pushListeners = new Set<(items: Reply[]) => void>();
  readonly #statusListeners = new Set<(text: string) => void>();
  #resolveClosed!: (reason: string) => void;
  /** Why the session ended. */
  readonly closed: Promise<string>;
  /** Name and version of the server. */
  server = '';

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => (this.#resolveClosed = resolve));
    socket.binaryType = 'arraybuffer';
    // A text message is the empty answer to an empty message.
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
    if (!this.#ended) this.#pinging = setInterval(() => this.#put(''), PING_EVERY_MS);
    const hello: Argument[] = ['HELLO', '3'];
    if (address.password !== undefined) hello.push('AUTH', address.user || 'default', address.password);
    this.server = describe(await this.call([...hello, 'SETNAME', 'console']));
    if (address.db) await this.call(['SELECT', String(address.db)]);
  }

  /**
   * Resolves with the reply, also if it is an error; rejects if the connection ends first. The reply of SUBSCRIBE and
   * its variants is the push that confirms the last channel.
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
    if (!this.#ended) this.#put(bytes as Uint8Array<ArrayBuffer>);
  }

  /** A socket that is closing sends nothing and complains on the browser's console; #end rejects the waiting requests. */
  #put(message: string | Uint8Array<ArrayBuffer>): void {
    if (this.#socket.readyState < CLOSING) this.#socket.send(message);
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
   * SUBSCRIBE and its variants have no reply but a push for each channel. All earlier requests are answered by then, so
   * the confirmations belong to the oldest waiting request; the last confirmation becomes its reply.
   */
  #confirm(push: { type: 'array' | 'set' | 'push'; items: Reply[] }): void {
    const kind = text(push.items[0]);
    if (!kind || !SUBSCRIPTIONS.has(kind)) return;
    const subscribed = (this.#subscribed[kind.replace('unsub', 'sub')] ??= new Set());
    const waiting = this.#waiting[this.#answered];
    const mine = waiting?.subscription?.kind === kind ? waiting.subscription : undefined;
    // Without a channel, UNSUBSCRIBE confirms each subscription, or sends one empty confirmation if there is none.
    if (mine) mine.missing ??= Math.max(1, subscribed.size);
    const channel = text(push.items[1]);
    if (channel !== undefined) kind.includes('unsub') ? subscribed.delete(channel) : subscribed.add(channel);
    if (!mine?.missing) return;
    mine.missing -= 1;
    if (mine.missing === 0) this.#take()?.resolve(push);
  }

  #take(): Waiting | undefined {
    const waiting = this.#waiting[this.#answered];
    if (!waiting) return undefined;
    this.#answered += 1;
    // Answered requests are dropped in bulk: shift() moves the whole array.
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
    this.#resolveClosed(reason);
  }
}
