// The types of arguments and replies.

/** An argument of a command: text, a number, or bytes. */
export type Arg = string | number | bigint | Uint8Array;

/** Arguments one behind the other. A list among them stands for its elements, so that `del(keys)` is `del(...keys)`. */
export type Args = (Arg | readonly Arg[])[];

/** A map: an object without a prototype; with bytes a list of pairs, since keys need not be text. */
export type MapOf<Text, Value> = Text extends string ? Record<string, Value> : [Text, Value][];

/** Any reply. Integers beyond 2^53 - 1 are bigints. */
export type Reply<Text> = Text | number | bigint | boolean | null | EdgeCaskError | Reply<Text>[] | { [name: string]: Reply<Text> };

/** What can go wrong. */
export class EdgeCaskError extends Error {
  override readonly name = 'EdgeCaskError';
  /**
   * The first word of the server's error (`WRONGTYPE`, `NOAUTH`, `ERR`), or `IO`, `TIMEOUT`, `CLOSED`, `PROTOCOL`, `TYPE`,
   * `INVALID`, `WATCHED`.
   */
  readonly code: string;
  /** Whether the request may have had its effect although there is no result. */
  readonly mayHaveRun: boolean;
  /** Whether the request may be sent again: it has not run, or running it twice does no harm. */
  readonly isRetrySafe: boolean;

  constructor(message: string, code: string, mayHaveRun: boolean, isRetrySafe: boolean) {
    super(message);
    this.code = code;
    this.mayHaveRun = mayHaveRun;
    this.isRetrySafe = isRetrySafe;
  }
}

/** The part of a WebSocket that is needed. */
export interface SocketLike {
  readonly readyState: number;
  binaryType: string;
  send(data: Uint8Array<ArrayBuffer>): void;
  close(code?: number, reason?: string): void;
  // What an event is differs between homes.
  addEventListener(type: string, listener: (event: any) => void): void;
  removeEventListener(type: string, listener: (event: any) => void): void;
}

/** A class of WebSockets. */
export type SocketClass = new (url: string, protocols?: string | string[]) => SocketLike;

/** How to connect. */
export interface Options {
  /** A class of WebSockets, where JavaScript has none of its own: `ws` in Node 20. */
  WebSocket?: SocketClass;
  /**
   * Opens a socket for each connection instead, from what the URL says. It may be open or about to open; that of a Worker may be
   * accepted or not.
   */
  open?: (url: string) => SocketLike | Promise<SocketLike>;
  /** The user; `default` if there is only a password. */
  user?: string;
  password?: string;
  /** The database of every connection. */
  database?: number;
  /** The name of the connections (`CLIENT SETNAME`). */
  name?: string;
  /** How long a request may take, with waiting for a connection and for room. 10 s. */
  timeoutMs?: number;
  /** How long an attempt to connect may take. 5 s. */
  connectTimeoutMs?: number;
  /** A connection on which nothing comes for so long while a reply is due is given up. 30 s. */
  silenceMs?: number;
  /** Connections beside the one that all share: for large values and owners. 16. */
  poolMax?: number;
  /** Connections for commands that block. 256. */
  blockingMax?: number;
  /** The largest string of a reply. */
  valueMaxBytes?: number;
}
