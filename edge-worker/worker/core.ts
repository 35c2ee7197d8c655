// The other side of edge-worker/src/border.rs: one WebAssembly instance for one Durable Object, and the rows it keeps in the
// object's SQLite. Nothing here knows what the bytes mean.
//
// Whoever catches an error of any method must end the object with ctx.abort(): what was written in the event is not to stay, and
// the instance may be in the middle of something.

interface Exports {
  memory: WebAssembly.Memory;
  edgecask_take(number: number, length: number): number;
  edgecask_open(seed: bigint, nowMs: number): number;
  edgecask_begin(): void;
  edgecask_connect(seat: number, seed: bigint, nowMs: number): void;
  edgecask_thaw(seat: number, nowMs: number): void;
  edgecask_all_are_thawed(): void;
  edgecask_receive(seat: number, nowMs: number): void;
  edgecask_request(seat: number, seed: bigint, nowMs: number): void;
  edgecask_leave(seat: number): void;
  edgecask_alarm(nowMs: number): void;
  edgecask_finish(nowMs: number): number;
  edgecask_out(): number;
}

export enum Kind {
  Send = 1,
  Close,
  Attach,
  Respond,
  Events,
  End,
  Alarm,
}

export interface Message {
  kind: Kind;
  seat: number;
  bytes: Uint8Array;
}

const HEADER_BYTES = 9;
const encoder = new TextEncoder();

export class Core {
  readonly #wasm: Exports;

  constructor(module: WebAssembly.Module, sql: SqlStorage) {
    sql.exec('CREATE TABLE IF NOT EXISTS chunk (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL)');
    sql.exec(
      'CREATE TABLE IF NOT EXISTS entry (key BLOB, part INTEGER, bytes BLOB NOT NULL, PRIMARY KEY (key, part)) WITHOUT ROWID',
    );
    const viewOf = (at: number, length: number) => new Uint8Array(this.#wasm.memory.buffer, at >>> 0, length);
    // A copy: the memory moves when it grows, and what was handed on must not change.
    const bytesAt = (at: number, length: number) => viewOf(at, length).slice();
    const rows = {
      insert_chunk: (number: number, at: number, length: number) => {
        // SQLite is done with the bytes before this returns, so they need no copy.
        sql.exec('INSERT INTO chunk VALUES (?, ?)', number, viewOf(at, length));
      },
      read_chunks: (from: number, to: number) => {
        const cursor = sql.exec(
          `SELECT id, bytes FROM chunk
           WHERE id >= coalesce((SELECT max(id) FROM chunk WHERE id <= ?), 0) AND id < ? ORDER BY id`,
          from,
          to,
        );
        for (const [number, bytes] of cursor.raw()) this.#give(new Uint8Array(bytes as ArrayBuffer), number as number);
      },
      remove_chunks: (from: number, to: number) => {
        sql.exec('DELETE FROM chunk WHERE id >= ? AND id < ?', from, to);
      },
      read_entries: (from: number, fromLength: number, to: number, toLength: number) => {
        const query = 'SELECT key, bytes FROM entry WHERE key >= ?';
        const cursor =
          toLength > 0
            ? sql.exec(`${query} AND key < ? ORDER BY key, part`, bytesAt(from, fromLength), bytesAt(to, toLength))
            : sql.exec(`${query} ORDER BY key, part`, bytesAt(from, fromLength));
        for (const [key, bytes] of cursor.raw()) {
          this.#give(new Uint8Array(key as ArrayBuffer));
          this.#give(new Uint8Array(bytes as ArrayBuffer));
        }
      },
      insert_entry: (key: number, keyLength: number, part: number, at: number, length: number) => {
        sql.exec('INSERT INTO entry VALUES (?, ?, ?)', bytesAt(key, keyLength), part >>> 0, bytesAt(at, length));
      },
      remove_entry: (key: number, keyLength: number) => {
        sql.exec('DELETE FROM entry WHERE key = ?', bytesAt(key, keyLength));
      },
      stored_bytes: () => sql.databaseSize,
    };
    this.#wasm = new WebAssembly.Instance(module, { edgecask: rows }).exports as unknown as Exports;
  }

  open(password: string, settings: string): void {
    this.#give(encoder.encode(password));
    this.#give(encoder.encode(settings));
    const length = this.#wasm.edgecask_open(seed(), Date.now());
    if (length > 0) throw new Error(new TextDecoder().decode(this.#out(length)));
  }

  begin(): void {
    this.#wasm.edgecask_begin();
  }

  connect(seat: number, address: string): void {
    this.#give(encoder.encode(address));
    this.#wasm.edgecask_connect(seat, seed(), Date.now());
  }

  thaw(seat: number, attached: Uint8Array): void {
    this.#give(attached);
    this.#wasm.edgecask_thaw(seat, Date.now());
  }

  allAreThawed(): void {
    this.#wasm.edgecask_all_are_thawed();
  }

  receive(seat: number, message: Uint8Array): void {
    this.#give(message);
    this.#wasm.edgecask_receive(seat, Date.now());
  }

  request(seat: number, head: string, body: Uint8Array, address: string): void {
    this.#give(encoder.encode(head));
    this.#give(body);
    this.#give(encoder.encode(address));
    this.#wasm.edgecask_request(seat, seed(), Date.now());
  }

  leave(seat: number): void {
    this.#wasm.edgecask_leave(seat);
  }

  alarm(): void {
    this.#wasm.edgecask_alarm(Date.now());
  }

  finish(): Message[] {
    const out = this.#out(this.#wasm.edgecask_finish(Date.now()));
    const view = new DataView(out.buffer);
    const messages: Message[] = [];
    for (let at = 0; at < out.length; ) {
      const begin = at + HEADER_BYTES;
      const end = begin + view.getUint32(at + 5, true);
      messages.push({ kind: out[at] as Kind, seat: view.getUint32(at + 1, true), bytes: out.subarray(begin, end) });
      at = end;
    }
    return messages;
  }

  // Puts bytes where the instance finds them.
  #give(bytes: Uint8Array, number = 0): void {
    const at = this.#wasm.edgecask_take(number, bytes.length) >>> 0;
    new Uint8Array(this.#wasm.memory.buffer, at, bytes.length).set(bytes);
  }

  #out(length: number): Uint8Array {
    return new Uint8Array(this.#wasm.memory.buffer, this.#wasm.edgecask_out() >>> 0, length).slice();
  }
}

function seed(): bigint {
  return crypto.getRandomValues(new BigUint64Array(1))[0]!;
}
