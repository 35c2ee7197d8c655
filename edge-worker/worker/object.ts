// The Durable Object of one database: passes events to the core and carries out the messages that come back.

import { DurableObject } from 'cloudflare:workers';
import module from './edgecask.wasm';
import { discard } from './body';
import { Core, Kind } from './core';
import { CallingPeer, OPEN, Session, type Peer, type Receive } from './session';

export interface Env {
  DATABASE: DurableObjectNamespace<Database>;
  ASSETS?: Fetcher;
  // The password, a secret. Without it the worker serves only its own machine.
  EDGECASK_PASSWORD?: string;
  // Pages that may talk to this worker besides its own, separated by commas; * for all.
  EDGECASK_ORIGINS?: string;
  EDGECASK_PROTECTED_MODE?: string;
  // Settings as CONFIG GET shows them, a line each: name, space, text.
  EDGECASK_SETTINGS?: string;
  // For tests only: forget everything in memory after each event, as if the object had slept.
  EDGECASK_FORGET?: string;
}

// The header field in which the worker passes the client's address to the object.
export const ADDRESS = 'x-edgecask-address';

// edge-worker/src/limits.rs shows the budget of an object's memory. A request of RESP may span messages; one of REST may not.
const MESSAGE_MAX_BYTES = 16 * 1024 * 1024;
const BODY_MAX_BYTES = 8 * 1024 * 1024;
// A body that is somewhat larger is read to its end and dropped: a client that is still writing would not see the answer.
const BODY_READ_MAX_BYTES = 4 * BODY_MAX_BYTES;
// Bytes of the bodies of all requests that are being received. A request beyond them is refused.
const BODIES_MAX_BYTES = 2 * BODY_MAX_BYTES;
// Events that a reader has not taken. Beyond them the request is aborted.
const EVENTS_MAX_BYTES = 4 * 1024 * 1024;
// A Worker that has the binding is on this machine.
const BINDING_ADDRESS = '127.0.0.1:0';
// Messages wait for others up to so many bytes: a transaction is in memory until it is written.
const WAITING_MAX_BYTES = 1024 * 1024;
const REQUEST_FIELDS = ['authorization', 'upstash-encoding', 'upstash-response-format', 'if-none-match'];

interface HttpRequest {
  answer: (response: Response) => void;
  events?: ReadableStreamDefaultController<Uint8Array>;
}

export class Database extends DurableObject<Env> {
  #core: Core | undefined;
  #sockets = new Map<number, Peer>();
  #connections = new Map<Peer, number>();
  #sessions = 0;
  #requests = new Map<number, HttpRequest>();
  #nextConnection = 1;
  // Messages that wait to be run together with messages of other sockets.
  #waiting: (() => void)[] = [];
  #waitingBytes = 0;
  #bodiesBytes = 0;
  #latest: Peer | undefined;

  constructor(context: DurableObjectState, env: Env) {
    super(context, env);
    // The platform answers an empty text message by an empty one without waking the object, since browsers cannot send pings of
    // WebSocket. It is no byte of RESP in either direction, so it is right in every state of a session. PING and +PONG would not
    // be: in a MULTI, in a subscription and before the login the reply to PING is another one.
    context.setWebSocketAutoResponse(new WebSocketRequestResponsePair('', ''));
  }

  override async fetch(request: Request): Promise<Response> {
    const path = new URL(request.url).pathname;
    const address = request.headers.get(ADDRESS) ?? '';
    if (path === '/resp') return this.#connect(request, address);
    const head = describe(request);
    // Of a client without the password no body is kept.
    const refused = request.body === null ? undefined : this.#refusal(head, address);
    if (refused !== undefined) {
      await discard(request);
      return refused;
    }
    const body = await this.#receive(request);
    return body instanceof Response ? body : this.#request(request, head, address, body);
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void | Promise<void> {
    const bytes = typeof message === 'string' ? new TextEncoder().encode(message) : new Uint8Array(message);
    return this.#take(socket, bytes);
  }

  /** A session of RESP by calls, for a Worker that has this object's binding. Replies come to `receive`. */
  openSession(receive: Receive): Session {
    const peer = new CallingPeer(receive, () => this.#endSession(peer));
    this.#sessions++;
    this.#event((core) => core.connect(this.#addSocket(peer), BINDING_ADDRESS));
    return new Session((bytes) => this.#take(peer, bytes), () => this.#endSession(peer));
  }

  #endSession(peer: Peer): void {
    if (!this.#connections.has(peer)) return;
    this.#disconnect(peer);
    peer.close(1000, '');
  }

  #take(socket: Peer, bytes: Uint8Array): void | Promise<void> {
    if (bytes.length > MESSAGE_MAX_BYTES) return this.#closeSocket(socket, 1009, `messages have at most ${MESSAGE_MAX_BYTES} bytes here`);
    const isAlone = this.#waiting.length === 0 && this.#latest === socket;
    this.#latest = socket;
    const event = () =>
      this.#event((core) => {
        const connection = this.#connections.get(socket);
        if (connection !== undefined) core.receive(connection, bytes);
      });
    if (isAlone) return event();
    this.#waiting.push(event);
    this.#waitingBytes += bytes.length;
    if (this.#waitingBytes > WAITING_MAX_BYTES) return this.#runWaiting();
    // The promise keeps the object from sleeping.
    if (this.#waiting.length === 1) return new Promise((resolve) => setTimeout(() => resolve(this.#runWaiting()), 0));
  }

  // Messages that several sockets send at about the same time are one transaction, which waits for the disk once: the platform
  // commits the events of one turn of JavaScript together. A socket that is the only one to send does not wait.
  #runWaiting(): void {
    this.#waitingBytes = 0;
    for (const event of this.#waiting.splice(0)) event();
  }

  override webSocketClose(socket: WebSocket, code: number, reason: string): void {
    this.#disconnect(socket);
    // Without an answer the peer waits; the codes that stand for no code may not be sent.
    const isSendable = code !== 1005 && code !== 1006 && code !== 1015;
    try {
      socket.close(isSendable ? code : 1000, isSendable ? reason : '');
    } catch {
      // It is closed already.
    }
  }

  override webSocketError(socket: WebSocket): void {
    this.#disconnect(socket);
  }

  #closeSocket(socket: Peer, code: number, reason: string): void {
    this.#disconnect(socket);
    // So that it is not restored after a sleep.
    socket.serializeAttachment(null);
    socket.close(code, reason);
  }

  override alarm(): void {
    this.#event((core) => core.alarm());
  }

  #connect(request: Request, address: string): Response {
    if (request.headers.get('upgrade')?.toLowerCase() !== 'websocket') {
      return new Response('RESP over WebSocket is spoken here\n', { status: 426, headers: { upgrade: 'websocket' } });
    }
    const [client, server] = Object.values(new WebSocketPair()) as [WebSocket, WebSocket];
    this.ctx.acceptWebSocket(server);
    this.#event((core) => core.connect(this.#addSocket(server), address));
    const offered = (request.headers.get('sec-websocket-protocol') ?? '').split(',').map((name) => name.trim());
    const headers: HeadersInit = offered.includes('resp') ? { 'sec-websocket-protocol': 'resp' } : {};
    return new Response(null, { status: 101, webSocket: client, headers });
  }

  // The answer to a request with missing or wrong credentials.
  #refusal(head: string, address: string): Response | undefined {
    const connection = this.#nextConnection++;
    let refused: Response | undefined;
    this.#requests.set(connection, { answer: (response) => (refused = response) });
    this.#event((core) => core.checkLogin(connection, head, address));
    this.#requests.delete(connection);
    return refused;
  }

  async #receive({ body, headers }: Request): Promise<Uint8Array | Response> {
    const tooLarge = () => Response.json({ error: `ERR the body is too large; ${BODY_MAX_BYTES} bytes are allowed` }, { status: 413 });
    const announced = Number(headers.get('content-length'));
    if (announced > BODY_READ_MAX_BYTES) return tooLarge();
    const parts: Uint8Array[] = [];
    let [length, read] = [0, 0];
    try {
      for await (const part of body ?? []) {
        read += part.length;
        if (read > BODY_READ_MAX_BYTES) return tooLarge();
        if (Math.max(read, announced) > BODY_MAX_BYTES) continue;
        parts.push(part);
        length += part.length;
        this.#bodiesBytes += part.length;
        if (this.#bodiesBytes > BODIES_MAX_BYTES) {
          return Response.json({ error: 'ERR too many requests send large bodies now' }, { status: 503 });
        }
      }
    } finally {
      this.#bodiesBytes -= length;
    }
    if (Math.max(read, announced) > BODY_MAX_BYTES) return tooLarge();
    const whole = new Uint8Array(length);
    parts.reduce((at, part) => (whole.set(part, at), at + part.length), 0);
    return whole;
  }

  async #request(request: Request, head: string, address: string, body: Uint8Array): Promise<Response> {
    const connection = this.#nextConnection++;
    const answer = new Promise<Response>((resolve) => this.#requests.set(connection, { answer: resolve }));
    request.signal?.addEventListener('abort', () => this.#abort(connection));
    this.#event((core) => core.request(connection, head, body, address));
    const response = await answer;
    return request.method === 'HEAD' ? new Response(null, response) : response;
  }

  #abort(connection: number): void {
    if (this.#requests.delete(connection)) this.#event((core) => core.disconnect(connection));
  }

  #disconnect(socket: Peer): void {
    this.#event((core) => {
      const connection = this.#connections.get(socket);
      this.#removeSocket(socket);
      if (connection !== undefined) core.disconnect(connection);
    });
  }

  #addSocket(socket: Peer): number {
    const connection = this.#nextConnection++;
    this.#sockets.set(connection, socket);
    this.#connections.set(socket, connection);
    return connection;
  }

  #removeSocket(socket: Peer): void {
    const connection = this.#connections.get(socket);
    if (connection !== undefined) this.#sockets.delete(connection);
    if (this.#connections.delete(socket) && socket instanceof CallingPeer) this.#sessions--;
  }

  // Runs one event in the core. Nothing in here waits, so all writes are one transaction, and the platform sends messages when
  // that is durable. After an error nothing of the event may stay: abort drops its writes and its messages.
  #event(act: (core: Core) => void): void {
    // Messages that came before run before.
    if (this.#waiting.length > 0) this.#runWaiting();
    try {
      const core = this.#core ?? this.#wake();
      core.begin();
      act(core);
      core.finish();
      if (this.env.EDGECASK_FORGET === 'yes' && this.#requests.size + this.#sessions === 0) this.#forget();
    } catch (error) {
      console.error(error);
      this.ctx.abort(`the event failed: ${error}`);
    }
  }

  #wake(): Core {
    const core = new Core(module, this.ctx.storage.sql, (kind, connection, bytes) => this.#carryOut(kind, connection, bytes));
    core.open(this.env.EDGECASK_PASSWORD ?? '', this.env.EDGECASK_SETTINGS ?? '');
    core.begin();
    for (const socket of this.ctx.getWebSockets()) {
      const attached: unknown = socket.deserializeAttachment();
      if (attached instanceof Uint8Array) core.thaw(this.#addSocket(socket), attached);
    }
    core.allAreThawed();
    this.#core = core;
    return core;
  }

  #forget(): void {
    this.#core = undefined;
    this.#sockets.clear();
    this.#connections.clear();
  }

  #carryOut(kind: Kind, connection: number, bytes: Uint8Array): void {
    const socket = this.#sockets.get(connection);
    switch (kind) {
      case Kind.Send:
        if (socket?.readyState === OPEN) socket.send(bytes);
        break;
      case Kind.Close:
        if (socket !== undefined) {
          const code = new DataView(bytes.buffer, bytes.byteOffset).getUint16(0, true);
          this.#removeSocket(socket);
          // So that it is not restored after a sleep.
          socket.serializeAttachment(null);
          socket.close(code, new TextDecoder().decode(bytes.subarray(2)));
        }
        break;
      case Kind.Attach:
        socket?.serializeAttachment(bytes);
        break;
      case Kind.Respond:
        this.#respond(connection, bytes);
        break;
      case Kind.Events:
        this.#sendEvents(connection, bytes);
        break;
      case Kind.End:
        this.#requests.get(connection)?.events?.close();
        this.#requests.delete(connection);
        break;
      case Kind.Alarm: {
        const atMs = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
        void (atMs > 0 ? this.ctx.storage.setAlarm(atMs) : this.ctx.storage.deleteAlarm());
      }
    }
  }

  #sendEvents(connection: number, bytes: Uint8Array): void {
    const request = this.#requests.get(connection);
    request?.events?.enqueue(bytes);
    if (request?.events === undefined || request.events.desiredSize! > 0) return;
    request.events.error(new Error('the reader is too slow'));
    delete request.events;
    // After the end of this event.
    queueMicrotask(() => this.#abort(connection));
  }

  #respond(connection: number, bytes: Uint8Array): void {
    const request = this.#requests.get(connection);
    if (request === undefined) return;
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const isStream = view.getUint8(2) === 1;
    const texts: string[] = [];
    let at = 4;
    for (let count = view.getUint8(3) * 2; count > 0; count--) {
      const end = at + 2 + view.getUint16(at, true);
      texts.push(new TextDecoder().decode(bytes.subarray(at + 2, end)));
      at = end;
    }
    const headers = new Headers({ 'x-content-type-options': 'nosniff' });
    for (let each = 0; each < texts.length; each += 2) headers.set(texts[each]!, texts[each + 1]!);
    const status = view.getUint16(0, true);
    const body = bytes.subarray(at);
    if (!isStream) {
      this.#requests.delete(connection);
      request.answer(new Response(body.length > 0 ? body : null, { status, headers }));
      return;
    }
    const source = {
      start: (controller: ReadableStreamDefaultController<Uint8Array>) => {
        request.events = controller;
        controller.enqueue(body);
      },
      cancel: () => this.#abort(connection),
    };
    const stream = new ReadableStream<Uint8Array>(source, new ByteLengthQueuingStrategy({ highWaterMark: EVENTS_MAX_BYTES }));
    request.answer(new Response(stream, { status, headers }));
  }
}

// The part of a request that the core reads besides its body.
function describe(request: Request): string {
  const url = new URL(request.url);
  const fields = REQUEST_FIELDS.map((name) => request.headers.get(name)).map((value) => (value === null ? '' : `=${value}`));
  return [request.method, url.pathname, `=${url.search.slice(1)}`, ...fields].join('\n');
}
