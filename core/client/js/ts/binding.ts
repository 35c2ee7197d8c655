// A Durable Object's binding as a WebSocket: bytes by calls instead of messages. A Worker reaches its database without a network and
// without a handshake of HTTP.

import type { SocketLike } from './types.js';

/** The part of a namespace of Durable Objects that is needed. */
export interface ObjectNamespace {
  idFromName(name: string): unknown;
  get(id: never): unknown;
}

/** What the edge worker's object gives: edge-worker/worker/object.ts is the other side. */
interface Stub {
  openSession(receive: Receive): Promise<Session>;
}

interface Session {
  send(bytes: Uint8Array): Promise<void>;
  close(): Promise<void>;
  [Symbol.dispose]?(): void;
}

/** Takes pieces of replies by their numbers, which begin with 0. Without bytes the object has closed the session. */
type Receive = (number: number, bytes: Uint8Array | undefined, reason?: string) => void;

const OPEN = 1;
const CLOSED = 3;

/** Opens a session of the object with this name. */
export async function openObject(namespace: ObjectNamespace, name: string): Promise<SocketLike> {
  // A new stub each time: that of an object which was restarted stays broken.
  const stub = namespace.get(namespace.idFromName(name) as never) as Stub;
  const socket = new BindingSocket();
  socket.session = await stub.openSession((number, bytes, reason) => socket.receive(number, bytes, reason));
  return socket;
}

class BindingSocket extends EventTarget implements SocketLike {
  binaryType = 'arraybuffer';
  readyState = OPEN;
  session: Session | undefined;
  #next = 0;

  receive(number: number, bytes: Uint8Array | undefined, reason = ''): void {
    // The platform keeps the order of calls. Should it not, no caller may get another's reply.
    if (number !== this.#next++) return this.#end('pieces of replies came in another order');
    if (bytes === undefined) return this.#end(reason);
    if (this.readyState === OPEN) this.dispatchEvent(new MessageEvent('message', { data: bytes }));
  }

  send(bytes: Uint8Array<ArrayBuffer>): void {
    this.session?.send(bytes).catch((error: unknown) => this.#end(String(error)));
  }

  close(): void {
    if (this.readyState === CLOSED) return;
    this.readyState = CLOSED;
    const { session } = this;
    session?.close().catch(() => {}).finally(() => session[Symbol.dispose]?.());
  }

  #end(reason: string): void {
    this.close();
    this.dispatchEvent(Object.assign(new Event('close'), { reason }));
  }
}
