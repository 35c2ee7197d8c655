// Sessions of Workers that have the object's binding: RESP by calls instead of messages, without a network and a handshake.
// core/client/js/ts/binding.ts is the other side.

import { RpcTarget } from 'cloudflare:workers';

/** What the core sends to: a WebSocket, or the caller of a session. */
export interface Peer {
  readonly readyState: number;
  send(bytes: Uint8Array): void;
  close(code: number, reason: string): void;
  serializeAttachment(attachment: unknown): void;
}

/**
 * Takes pieces of replies by their numbers, which begin with 0. Without bytes the session is closed. It is a stub of a function of the
 * Worker.
 */
export interface Receive {
  (number: number, bytes?: Uint8Array, reason?: string): Promise<void>;
  dup(): Receive;
  [Symbol.dispose](): void;
}

// A constant, since every look-up of WebSocket.OPEN costs as much as a call.
export const OPEN = WebSocket.OPEN;
const CLOSED = WebSocket.CLOSED;

/** The Worker behind a session. */
export class CallingPeer implements Peer {
  readyState: number = OPEN;
  readonly #receive: Receive;
  readonly #lost: () => void;
  #next = 0;

  /** `lost` is called when the Worker is gone. */
  constructor(receive: Receive, lost: () => void) {
    // The one that was passed is disposed of when the call ends.
    this.#receive = receive.dup();
    this.#lost = lost;
  }

  send(bytes: Uint8Array): void {
    // A copy: the bytes lie in the memory of the instance.
    this.#receive(this.#next++, bytes.slice()).catch(() => this.#lost());
  }

  close(_code: number, reason: string): void {
    if (this.readyState === CLOSED) return;
    this.readyState = CLOSED;
    this.#receive(this.#next++, undefined, reason).catch(() => {});
    this.#receive[Symbol.dispose]();
  }

  serializeAttachment(): void {
    // While there is a session the object does not sleep.
  }
}

/** What the Worker calls. */
export class Session extends RpcTarget {
  readonly #take: (bytes: Uint8Array) => void | Promise<void>;
  readonly #end: () => void;

  constructor(take: (bytes: Uint8Array) => void | Promise<void>, end: () => void) {
    super();
    this.#take = take;
    this.#end = end;
  }

  send(bytes: Uint8Array): void | Promise<void> {
    return this.#take(bytes);
  }

  close(): void {
    this.#end();
  }

  // The Worker has let it go, or its request has ended.
  [Symbol.dispose](): void {
    this.#end();
  }
}
