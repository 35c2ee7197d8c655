// The Durable Object of one database: hands events to the core and carries out what comes back.

import { DurableObject } from 'cloudflare:workers';
import module from './edgecask.wasm';
import { Core, Kind } from './core';

export interface Env {
  DATABASE: DurableObjectNamespace<Database>;
  ASSETS?: Fetcher;
  // A secret; without it only this machine is served.
  EDGECASK_PASSWORD?: string;
  // Pages that may talk to this worker besides its own, separated by commas; * for all.
  EDGECASK_ORIGINS?: string;
  EDGECASK_PROTECTED_MODE?: string;
  // Settings as CONFIG GET shows them, a line each: name, space, text.
  EDGECASK_SETTINGS?: string;
  // For tests only: forget everything in memory after each event, as if the object had slept.
  EDGECASK_FORGET?: string;
}

// The worker tells the object where a request came from.
export const ADDRESS = 'x-edgecask-address';

// edge-worker/src/limits.rs says what the memory of an object is meant for. Requests may span messages, but not of REST.
const MESSAGE_MAX_BYTES = 16 * 1024 * 1024;
const BODY_MAX_BYTES = 8 * 1024 * 1024;
// A body that is somewhat larger is read to its end, and forgotten: who is still writing would not see the answer.
const BODY_READ_MAX_BYTES = 4 * BODY_MAX_BYTES;
// Bodies that are on their way, of all requests: one more waits for nobody, it is refused.
const BODIES_MAX_BYTES = 2 * BODY_MAX_BYTES;
// Events that a reader has not taken; who takes none is left.
const EVENTS_MAX_BYTES = 4 * 1024 * 1024;
// Messages wait for others up to so many bytes: a transaction is in memory until it is written.
const WAITING_MAX_BYTES = 1024 * 1024;
// A look-up in the global object costs as much as a call of it.
const OPEN = WebSocket.OPEN;
const REQUEST_FIELDS = ['authorization', 'upstash-encoding', 'upstash-response-format'];

interface Errand {
  answer: (response: Response) => void;
  events?: ReadableStreamDefaultController<Uint8Array>;
}

export class Database extends DurableObject<Env> {
  #core: Core | undefined;
  #sockets = new Map<number, WebSocket>();
  #seats = new Map<WebSocket, number>();
  #errands = new Map<number, Errand>();
  #nextSeat = 1;
  // Messages whose turn comes with those that other sockets send meanwhile.
  #waiting: (() => void)[] = [];
  #waitingBytes = 0;
  #bodiesBytes = 0;
  #latest: WebSocket | undefined;

  constructor(context: DurableObjectState, env: Env) {
    super(context, env);
    // An empty text is answered by an empty one without waking the object: browsers cannot send the pings of WebSocket. It is no
    // byte of RESP in either direction, so it means the same in every state of a session, half a request included. PING and
    // +PONG would not: a MULTI, a subscription or a peer who has not logged in has other answers.
    context.setWebSocketAutoResponse(new WebSocketRequestResponsePair('', ''));
  }

  override async fetch(request: Request): Promise<Response> {
    const path = new URL(request.url).pathname;
    const address = request.headers.get(ADDRESS) ?? '';
    if (path === '/resp') return this.#connect(request, address);
    const head = describe(request);
    // Strangers send no bodies.
    const refused = request.body === null ? undefined : this.#refusal(head, address);
    if (refused !== undefined) return refused;
    const body = await this.#receive(request);
    return body instanceof Response ? body : this.#request(request, head, address, body);
  }

  override webSocketMessage(socket: WebSocket, message: string | ArrayBuffer): void | Promise<void> {
    const bytes = typeof message === 'string' ? new TextEncoder().encode(message) : new Uint8Array(message);
    if (bytes.length > MESSAGE_MAX_BYTES) return this.#dismiss(socket, 1009, `messages have at most ${MESSAGE_MAX_BYTES} bytes here`);
    const isAlone = this.#waiting.length === 0 && this.#latest === socket;
    this.#latest = socket;
    const event = () =>
      this.#event((core) => {
        const seat = this.#seats.get(socket);
        if (seat !== undefined) core.receive(seat, bytes);
      });
    if (isAlone) return event();
    this.#waiting.push(event);
    this.#waitingBytes += bytes.length;
    if (this.#waitingBytes > WAITING_MAX_BYTES) return this.#catchUp();
    // The promise keeps the object from sleeping.
    if (this.#waiting.length === 1) return new Promise((resolve) => setTimeout(() => resolve(this.#catchUp()), 0));
  }

  // What several sockets send at about the same time is one transaction, and the disk is waited for once: events of one turn of
  // JavaScript are committed together. A socket that is the only one to send does not wait for others.
  #catchUp(): void {
    this.#waitingBytes = 0;
    for (const event of this.#waiting.splice(0)) event();
  }

  override webSocketClose(socket: WebSocket, code: number, reason: string): void {
    this.#left(socket);
    // Without an answer the peer waits; the codes that stand for no code may not be sent.
    const isSendable = code !== 1005 && code !== 1006 && code !== 1015;
    try {
      socket.close(isSendable ? code : 1000, isSendable ? reason : '');
    } catch {
      // It is closed already.
    }
  }

  override webSocketError(socket: WebSocket): void {
    this.#left(socket);
  }

  #dismiss(socket: WebSocket, code: number, reason: string): void {
    this.#left(socket);
    // So that it is nobody's after a sleep.
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
    this.#event((core) => core.connect(this.#sit(server), address));
    const offered = (request.headers.get('sec-websocket-protocol') ?? '').split(',').map((name) => name.trim());
    const headers: HeadersInit = offered.includes('resp') ? { 'sec-websocket-protocol': 'resp' } : {};
    return new Response(null, { status: 101, webSocket: client, headers });
  }

  // What whoever has not the password is answered.
  #refusal(head: string, address: string): Response | undefined {
    const seat = this.#nextSeat++;
    let refused: Response | undefined;
    this.#errands.set(seat, { answer: (response) => (refused = response) });
    this.#event((core) => core.admit(seat, head, address));
    this.#errands.delete(seat);
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
    const seat = this.#nextSeat++;
    const answer = new Promise<Response>((resolve) => this.#errands.set(seat, { answer: resolve }));
    request.signal?.addEventListener('abort', () => this.#abandon(seat));
    this.#event((core) => core.request(seat, head, body, address));
    const response = await answer;
    return request.method === 'HEAD' ? new Response(null, response) : response;
  }

  #abandon(seat: number): void {
    if (this.#errands.delete(seat)) this.#event((core) => core.leave(seat));
  }

  #left(socket: WebSocket): void {
    this.#event((core) => {
      const seat = this.#seats.get(socket);
      this.#rise(socket);
      if (seat !== undefined) core.leave(seat);
    });
  }

  #sit(socket: WebSocket): number {
    const seat = this.#nextSeat++;
    this.#sockets.set(seat, socket);
    this.#seats.set(socket, seat);
    return seat;
  }

  #rise(socket: WebSocket): void {
    const seat = this.#seats.get(socket);
    if (seat !== undefined) this.#sockets.delete(seat);
    this.#seats.delete(socket);
  }

  // Has the core see one event. Nothing in here waits, so all that is written is one transaction, and what is sent leaves when
  // that is durable. After an error nothing of it may stay: abort drops what was written and what was to be sent.
  #event(act: (core: Core) => void): void {
    // Nothing overtakes a message that came before it.
    if (this.#waiting.length > 0) this.#catchUp();
    try {
      const core = this.#core ?? this.#wake();
      core.begin();
      act(core);
      core.finish();
      if (this.env.EDGECASK_FORGET === 'yes' && this.#errands.size === 0) this.#forget();
    } catch (error) {
      console.error(error);
      this.ctx.abort(`the event failed: ${error}`);
    }
  }

  #wake(): Core {
    const core = new Core(module, this.ctx.storage.sql, (kind, seat, bytes) => this.#carryOut(kind, seat, bytes));
    core.open(this.env.EDGECASK_PASSWORD ?? '', this.env.EDGECASK_SETTINGS ?? '');
    core.begin();
    for (const socket of this.ctx.getWebSockets()) {
      const attached: unknown = socket.deserializeAttachment();
      if (attached instanceof Uint8Array) core.thaw(this.#sit(socket), attached);
    }
    core.allAreThawed();
    this.#core = core;
    return core;
  }

  #forget(): void {
    this.#core = undefined;
    this.#sockets.clear();
    this.#seats.clear();
  }

  #carryOut(kind: Kind, seat: number, bytes: Uint8Array): void {
    const socket = this.#sockets.get(seat);
    switch (kind) {
      case Kind.Send:
        if (socket?.readyState === OPEN) socket.send(bytes);
        break;
      case Kind.Close:
        if (socket !== undefined) {
          const code = new DataView(bytes.buffer, bytes.byteOffset).getUint16(0, true);
          this.#rise(socket);
          // So that it is nobody's after a sleep.
          socket.serializeAttachment(null);
          socket.close(code, new TextDecoder().decode(bytes.subarray(2)));
        }
        break;
      case Kind.Attach:
        socket?.serializeAttachment(bytes);
        break;
      case Kind.Respond:
        this.#respond(seat, bytes);
        break;
      case Kind.Events:
        this.#tell(seat, bytes);
        break;
      case Kind.End:
        this.#errands.get(seat)?.events?.close();
        this.#errands.delete(seat);
        break;
      case Kind.Alarm: {
        const atMs = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true));
        void (atMs > 0 ? this.ctx.storage.setAlarm(atMs) : this.ctx.storage.deleteAlarm());
      }
    }
  }

  #tell(seat: number, bytes: Uint8Array): void {
    const errand = this.#errands.get(seat);
    errand?.events?.enqueue(bytes);
    if (errand?.events === undefined || errand.events.desiredSize! > 0) return;
    errand.events.error(new Error('the reader is too slow'));
    delete errand.events;
    // This event has its end first.
    queueMicrotask(() => this.#abandon(seat));
  }

  #respond(seat: number, bytes: Uint8Array): void {
    const errand = this.#errands.get(seat);
    if (errand === undefined) return;
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
      this.#errands.delete(seat);
      errand.answer(new Response(body.length > 0 ? body : null, { status, headers }));
      return;
    }
    const source = {
      start: (controller: ReadableStreamDefaultController<Uint8Array>) => {
        errand.events = controller;
        controller.enqueue(body);
      },
      cancel: () => this.#abandon(seat),
    };
    const stream = new ReadableStream<Uint8Array>(source, new ByteLengthQueuingStrategy({ highWaterMark: EVENTS_MAX_BYTES }));
    errand.answer(new Response(stream, { status, headers }));
  }
}

// What the core reads of a request besides its body.
function describe(request: Request): string {
  const url = new URL(request.url);
  const fields = REQUEST_FIELDS.map((name) => request.headers.get(name)).map((value) => (value === null ? '' : `=${value}`));
  return [request.method, url.pathname, `=${url.search.slice(1)}`, ...fields].join('\n');
}
