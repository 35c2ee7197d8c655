// The client: connections, batches, scripts, walks. Every command of the table is a method besides; commands.ts has their types.

import initialize, { initSync, RawCache, RawClient, RawConnection, RawFlow, scriptHash, useErrorClass } from '../pkg/client.js';
import { openObject, type ObjectNamespace } from './binding.js';
import type { Commands, ConnectionCommands } from './commands.js';
import { Monitor, Subscription } from './flows.js';
import { addMethods, blockingMs, blockingMsOf, flat, keysOf, OF_ALL, OF_CONNECTIONS, rowOf, type Row } from './methods.js';
import { EdgeCaskError, type Arg, type Args, type MapOf, type Options, type Reply, type SocketLike } from './types.js';

export type { Arg, Args, Commands, ConnectionCommands, MapOf, ObjectNamespace, Options, Reply };
export type { SocketClass, SocketLike } from './types.js';
export type { Lost, Message, Observed, Reconnected } from './flows.js';
export { EdgeCaskError, Monitor, Subscription };

let load: (() => Promise<WebAssembly.Module | Response>) | WebAssembly.Module | undefined;
let loading: Promise<unknown> | undefined;
let isLoaded = false;

/** Says where the WebAssembly module comes from; each home has its way. */
export function loadBy(from: (() => Promise<WebAssembly.Module | Response>) | WebAssembly.Module): void {
  load = from;
}

// Once, and again after a failure. A Worker has the module and waits for nothing: in it a promise belongs to one request.
async function loaded(): Promise<void> {
  if (isLoaded) return;
  if (load instanceof WebAssembly.Module) {
    initSync({ module: load });
  } else {
    loading ??= initialize({ module_or_path: load!() }).catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    await loading;
  }
  useErrorClass(EdgeCaskError);
  isLoaded = true;
}

async function open(url: string, { WebSocket, open, ...settings }: Options, socket?: SocketLike): Promise<Client> {
  await loaded();
  if (WebSocket !== undefined) open ??= (url) => new WebSocket(url, 'resp');
  return new Client((await RawClient.connect(url, settings, open as never, socket)) as RawClient);
}

/**
 * Connects to the server of a URL: `ws://host:port/resp` or `wss://…`, with `user:password@` before the host if it wants a
 * login.
 *
 * @throws {EdgeCaskError} the URL is none, or the server cannot be reached or refuses the login. After a success a connection that
 * is lost is made again, however long that takes.
 */
export function connect(url: string, options: Options = {}): Promise<Client> {
  return open(url, options);
}

/**
 * Connects to a database of the edge worker by its Durable Object's binding: without a network. For Workers; a client belongs to
 * the request in which it was made.
 */
export function connectToObject(namespace: ObjectNamespace, name = 'default', options: Omit<Options, 'WebSocket' | 'open'> = {}): Promise<Client> {
  return open('ws://object/resp', { ...options, open: () => openObject(namespace, name) });
}

/**
 * A client over a socket that is there already. When that is closed the client is. What needs a connection of its own fails:
 * subscriptions, caches, commands that block, `connection` and `watch`.
 */
export function connectOver(socket: SocketLike, options: Omit<Options, 'WebSocket' | 'open'> = {}): Promise<Client> {
  return open('ws://given/resp', options, socket);
}

/** How a walk goes. */
export interface ScanOptions {
  match?: Arg;
  count?: number;
}

/** What a client and a connection have in common. */
interface RawSender {
  request(words: Arg[], asBytes: boolean, blockingMs?: number): Promise<unknown>;
  batch(requests: Arg[][], asBytes: boolean, isTransaction: boolean, blockingMs?: number): Promise<unknown>;
}

/** Sends requests: one, several, or a transaction. */
class Sender<Text> {
  readonly #raw: RawSender;
  readonly #asBytes: boolean;

  /** @internal */
  constructor(raw: RawSender, asBytes: boolean) {
    this.#raw = raw;
    this.#asBytes = asBytes;
  }

  static {
    addMethods(this.prototype, OF_ALL, (sender: Sender<unknown>, words, row) => sender.#send(words, row));
  }

  #send(words: Arg[], row: Row | undefined): Promise<Reply<Text>> {
    return this.#raw.request(words, this.#asBytes, blockingMs(words, row)) as Promise<Reply<Text>>;
  }

  /** Any command by its words. */
  call(...words: Args): Promise<Reply<Text>> {
    const all = flat(words);
    return this.#send(all, rowOf(all));
  }

  /** Gathers requests that are sent together. Others may run between them. */
  pipeline(): Batch<Text> {
    return batch<Text>((requests) => this.#raw.batch(requests, this.#asBytes, false, blockingMsOf(requests)));
  }

  /** Gathers requests of a transaction: all of them run, with nothing between them, or none. */
  multi(): Batch<Text> {
    return batch<Text>((requests) => this.#raw.batch(requests, this.#asBytes, true));
  }
}

export interface Client<Text = string> extends Commands<Text> {}

/** A client of one server. Requests of all callers go over one connection, many in one message. */
export class Client<Text = string> extends Sender<Text> {
  readonly #raw: RawClient;
  readonly #asBytes: boolean;

  /** @internal */
  constructor(raw: RawClient, asBytes = false) {
    super(raw, asBytes);
    this.#raw = raw;
    this.#asBytes = asBytes;
  }

  /** The same client, whose strings in replies are Uint8Arrays and not text. */
  get bytes(): Client<Uint8Array> {
    return new Client<Uint8Array>(this.#raw, true);
  }

  /** The same client, whose strings in replies are text: bytes that are no UTF-8 become U+FFFD. */
  get text(): Client<string> {
    return new Client<string>(this.#raw, false);
  }

  /** A connection for its owner alone, who closes it. */
  async connection(): Promise<Connection<Text>> {
    return new Connection<Text>((await this.#raw.connection()) as RawConnection, this.#asBytes);
  }

  /**
   * Runs a transaction over keys that nobody changes meanwhile. `prepare` reads on a connection on which the keys are watched, and
   * adds requests to the transaction; if it returns false they are not run. If a key was changed, all begins anew.
   *
   * @returns the replies; undefined if `prepare` returned false
   */
  async watch(
    keys: Arg | readonly Arg[],
    prepare: (connection: Connection<Text>, transaction: Batch<Text>) => Promise<false | unknown> | false | unknown,
  ): Promise<Reply<Text>[] | undefined> {
    const connection = await this.connection();
    try {
      for (let run = 0; run < WATCHED_RUNS_MAX; run++) {
        await connection.watch(...(Array.isArray(keys) ? keys : [keys]));
        const transaction = connection.multi();
        if ((await prepare(connection, transaction)) === false) return undefined;
        try {
          return await (transaction as unknown as { exec(): Promise<Reply<Text>[]> }).exec();
        } catch (error) {
          if (!(error instanceof EdgeCaskError) || error.code !== 'WATCHED') throw error;
        }
      }
      throw new EdgeCaskError('watched keys were changed each time', 'WATCHED', false, true);
    } finally {
      connection.close();
    }
  }

  /** Subscribes to channels. */
  subscribe(...channels: Args): Promise<Subscription<Text>> {
    return this.#subscribe('channel', channels);
  }

  /** Subscribes to all channels whose names match one of the patterns. */
  psubscribe(...patterns: Args): Promise<Subscription<Text>> {
    return this.#subscribe('pattern', patterns);
  }

  /** Subscribes to channels of a shard. */
  ssubscribe(...channels: Args): Promise<Subscription<Text>> {
    return this.#subscribe('shard', channels);
  }

  async #subscribe(kind: string, names: Args): Promise<Subscription<Text>> {
    return new Subscription<Text>((await this.#raw.subscribe(kind, flat(names), this.#asBytes)) as RawFlow);
  }

  /** What the server runs. */
  monitor(): Monitor {
    return new Monitor(this.#raw.monitor());
  }

  /** A cache of about so many bytes, which the server keeps up to date. It has a connection of its own. */
  cache(mostBytes = 16 * 1024 * 1024): Cache<Text> {
    return new Cache<Text>(this.#raw.cache(mostBytes), this.#asBytes);
  }

  /** A script of Lua. A call sends its hash; the text goes only to a server that does not know it. */
  script(source: string): Script<Text> {
    return new Script(this, source);
  }

  /** Walks over the names of all keys; one that is there all the time comes at least once. */
  scanKeys(options: ScanOptions & { type?: string } = {}): AsyncGenerator<Text, void, undefined> {
    return this.#scan('SCAN', [], options);
  }

  /** Walks over the fields of a hash with their values. */
  scanFields(key: Arg, options: ScanOptions = {}): AsyncGenerator<[Text, Text], void, undefined> {
    return this.#scanPairs('HSCAN', key, options);
  }

  /** Walks over the members of a set. */
  scanMembers(key: Arg, options: ScanOptions = {}): AsyncGenerator<Text, void, undefined> {
    return this.#scan('SSCAN', [key], options);
  }

  /** Walks over the members of a sorted set with their scores. */
  async *scanScores(key: Arg, options: ScanOptions = {}): AsyncGenerator<[Text, number], void, undefined> {
    for await (const [member, score] of this.#scanPairs('ZSCAN', key, options)) {
      yield [member, Number(typeof score === 'string' ? score : new TextDecoder().decode(score as Uint8Array))];
    }
  }

  async *#scanPairs(command: string, key: Arg, options: ScanOptions): AsyncGenerator<[Text, Text], void, undefined> {
    let first: Text | undefined;
    for await (const item of this.#scan(command, [key], options)) {
      if (first === undefined) {
        first = item;
        continue;
      }
      yield [first, item];
      first = undefined;
    }
  }

  async *#scan(
    command: string,
    key: Arg[],
    { match, count, type }: ScanOptions & { type?: string },
  ): AsyncGenerator<Text, void, undefined> {
    const more: Arg[] = [];
    if (match !== undefined) more.push('MATCH', match);
    if (count !== undefined) more.push('COUNT', count);
    if (type !== undefined) more.push('TYPE', type);
    let cursor: Arg = '0';
    do {
      const [next, page] = (await this.call(command, ...key, cursor, ...more)) as [Arg, Text[]];
      yield* page;
      cursor = typeof next === 'string' ? next : new TextDecoder().decode(next as Uint8Array);
    } while (cursor !== '0');
  }

  /**
   * The entries of a stream behind an ID, and those that come; `$` is behind what is there. An entry is its ID and its fields with
   * their values.
   */
  async *entries(key: Arg, behind: string = '$', count = 100): AsyncGenerator<[string, Text[]], void, undefined> {
    // With `$` in every request, what comes between two of them would be lost.
    let last: Arg = behind === '$' ? await this.#lastOf(key) : behind;
    for (;;) {
      const words: Arg[] = ['XREAD', 'COUNT', count, 'BLOCK', ENTRIES_WAIT_MS, 'STREAMS', key, last];
      for (const [id, fields] of entriesOf<Text>(await this.call(...words))) {
        last = id;
        if (fields !== null) yield [id, fields];
      }
    }
  }

  async #lastOf(key: Arg): Promise<Arg> {
    const [last] = (await this.call('XREVRANGE', key, '+', '-', 'COUNT', 1)) as [Arg, Text[]][];
    return last === undefined ? '0-0' : textOf(last[0]);
  }

  /** The entries that a consumer of a group gets: first those that it has not acknowledged, then new ones. */
  async *groupEntries(key: Arg, group: Arg, consumer: Arg, count = 100): AsyncGenerator<[string, Text[]], void, undefined> {
    let last = '0';
    for (;;) {
      const words: Arg[] = ['XREADGROUP', 'GROUP', group, consumer, 'COUNT', count, 'BLOCK', ENTRIES_WAIT_MS, 'STREAMS', key, last];
      const entries = entriesOf<Text>(await this.call(...words));
      for (const [id, fields] of entries) {
        if (last !== '>') last = id;
        if (fields !== null) yield [id, fields];
      }
      if (last !== '>' && entries.length === 0) last = '>';
    }
  }

  /** Closes all connections. Requests that wait fail, and so does every later one. */
  close(): void {
    this.#raw.close();
  }
}

const WATCHED_RUNS_MAX = 100;
const ENTRIES_WAIT_MS = 5000;

function textOf(id: unknown): string {
  return typeof id === 'string' ? id : new TextDecoder().decode(id as Uint8Array);
}

// A map of streams to entries, or a list of pairs where strings are bytes.
function entriesOf<Text>(reply: unknown): [string, Text[] | null][] {
  if (reply === null) return [];
  const [entries] = Array.isArray(reply) ? reply.map(([, entries]) => entries) : Object.values(reply as object);
  return (entries as [unknown, Text[] | null][]).map(([id, fields]) => [textOf(id), fields]);
}

export interface Connection<Text = string> extends Commands<Text>, ConnectionCommands<Text> {}

/** A connection for its owner alone. */
export class Connection<Text = string> extends Sender<Text> {
  readonly #raw: RawConnection;

  /** @internal */
  constructor(raw: RawConnection, asBytes: boolean) {
    super(raw, asBytes);
    this.#raw = raw;
  }

  static {
    addMethods(this.prototype, OF_CONNECTIONS, (connection: Connection, words) => connection.call(...words));
  }

  /** Has the next transaction of this connection fail with the code `WATCHED` if one of the keys is changed before. */
  async watch(...keys: Args): Promise<void> {
    await this.call('WATCH', ...keys);
  }

  /** Closes it, once its requests are answered. */
  close(): void {
    this.#raw.close();
  }
}

/** Requests that are gathered: every command is a method, which returns the batch with one more reply in its type. */
export type Batch<Text, Replies extends unknown[] = []> = {
  [Name in keyof Commands<Text>]: Commands<Text>[Name] extends (...args: infer Given) => Promise<infer One>
    ? (...args: Given) => Batch<Text, [...Replies, One]>
    : never;
} & {
  /** Any command by its words. */
  call(...words: Args): Batch<Text, [...Replies, Reply<Text>]>;
  /** Sends them. Rejects with the first error; the other requests have run all the same. */
  exec(): Promise<Replies>;
  /** Sends them, and gives errors among the replies. */
  settled(): Promise<{ [Place in keyof Replies]: Replies[Place] | EdgeCaskError }>;
};

class Gathered {
  readonly #requests: Arg[][] = [];
  readonly #run: (requests: Arg[][]) => Promise<unknown>;

  constructor(run: (requests: Arg[][]) => Promise<unknown>) {
    this.#run = run;
  }

  static {
    addMethods(this.prototype, OF_ALL, (batch: Gathered, words) => batch.call(...words));
  }

  call(...words: Args): this {
    this.#requests.push(flat(words));
    return this;
  }

  async exec(): Promise<unknown[]> {
    return failFirst(await this.settled());
  }

  settled(): Promise<unknown[]> {
    return this.#run(this.#requests) as Promise<unknown[]>;
  }
}

function batch<Text>(run: (requests: Arg[][]) => Promise<unknown>): Batch<Text> {
  return new Gathered(run) as unknown as Batch<Text>;
}

function failFirst<Item>(replies: Item[]): Item[] {
  const failed = replies.find((reply) => reply instanceof EdgeCaskError);
  if (failed !== undefined) throw failed;
  return replies;
}

export interface Cache<Text = string> extends Commands<Text> {}

/**
 * Replies that the server keeps up to date: what was read is dropped when its key changes, and everything when the connection is
 * lost. Commands that only read the keys which they name can be asked; others are refused.
 */
export class Cache<Text = string> {
  readonly #raw: RawCache;
  readonly #asBytes: boolean;

  /** @internal */
  constructor(raw: RawCache, asBytes: boolean) {
    this.#raw = raw;
    this.#asBytes = asBytes;
  }

  static {
    addMethods(this.prototype, OF_ALL, (cache: Cache, words) => cache.call(...words));
  }

  /** Any command by its words. */
  call(...words: Args): Promise<Reply<Text>> {
    const all = flat(words);
    const keys = keysOf(all, rowOf(all));
    if (keys === undefined) {
      return Promise.reject(new EdgeCaskError('a cache takes only requests that read keys which they name', 'INVALID', false, false));
    }
    return this.#raw.request(all, keys as Arg[], this.#asBytes) as Promise<Reply<Text>>;
  }

  /** Replies from the cache, and those that had to be asked for. */
  get counts(): { hits: number; misses: number } {
    const [hits, misses] = this.#raw.counts() as [number, number];
    return { hits, misses };
  }

  /** Drops everything. */
  clear(): void {
    this.#raw.clear();
  }

  /** Closes its connection. */
  close(): void {
    this.#raw.free();
  }
}

/** A script of Lua. */
export class Script<Text> {
  /** The hash by which servers know it. */
  readonly hash: string;

  /** @internal */
  constructor(
    private readonly client: Client<Text>,
    private readonly source: string,
  ) {
    this.hash = scriptHash(source);
  }

  /** Runs it. The keys are in `KEYS`, the arguments in `ARGV`. */
  async call(keys: readonly Arg[] = [], args: readonly Arg[] = []): Promise<Reply<Text>> {
    const rest = [keys.length, ...keys, ...args];
    try {
      return await this.client.call('EVALSHA', this.hash, ...rest);
    } catch (error) {
      if (!(error instanceof EdgeCaskError) || error.code !== 'NOSCRIPT') throw error;
      return this.client.call('EVAL', this.source, ...rest);
    }
  }
}
