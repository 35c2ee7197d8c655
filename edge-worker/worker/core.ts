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
  edgecask_admit(seat: number, seed: bigint, nowMs: number): void;
  edgecask_request(seat: number, seed: bigint, nowMs: number): void;
  edgecask_leave(seat: number): void;
  edgecask_alarm(nowMs: number): void;
  edgecask_finish(nowMs: number): void;
  edgecask_error(): number;
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

// `bytes` are the receiver's own.
export type CarryOut = (kind: Kind, seat: number, bytes: Uint8Array) => void;

const HEADER_BYTES = 9;
// Messages are handed over in pieces, so that the instance never holds a long one whole.
const PIECE_BYTES = 1024 * 1024;
const encoder = new TextEncoder();

export class Core {
  readonly #wasm: Exports;
  #bytes = new Uint8Array();
  #view = new DataView(this.#bytes.buffer);

  // `carryOut` gets what is to be done in the world: no more before what it tells of is in the rows.
  constructor(module: WebAssembly.Module, sql: SqlStorage, carryOut: CarryOut) {
    sql.exec('CREATE TABLE IF NOT EXISTS chunk (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL)');
    sql.exec(
      'CREATE TABLE IF NOT EXISTS entry (key BLOB, part INTEGER, bytes BLOB NOT NULL, PRIMARY KEY (key, part)) WITHOUT ROWID',
    );
    const viewOf = (at: number, length: number) => this.#memory().subarray(at >>> 0, (at >>> 0) + length);
    // A copy: the memory moves when it grows, and what was handed on must not change.
    const bytesAt = (at: number, length: number) => this.#memory().slice(at >>> 0, (at >>> 0) + length);
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
      read_entries: (from: number, fromLength: number, fromPart: number, to: number, toLength: number, most: number) => {
        const query = 'SELECT key, part, bytes FROM entry WHERE (key, part) >= (?, ?)';
        const order = `ORDER BY key, part LIMIT ${most}`;
        const [key, part] = [bytesAt(from, fromLength), fromPart >>> 0];
        const cursor =
          toLength > 0
            ? sql.exec(`${query} AND key < ? ${order}`, key, part, bytesAt(to, toLength))
            : sql.exec(`${query} ${order}`, key, part);
        for (const [key, part, bytes] of cursor.raw()) {
          this.#give(new Uint8Array(key as ArrayBuffer), part as number);
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
      hand_over: (at: number, length: number) => {
        const end = (at >>> 0) + length;
        for (let from = at >>> 0; from < end; ) {
          const memory = this.#memory();
          const begin = from + HEADER_BYTES;
          const seat = this.#view.getUint32(from + 1, true);
          const next = begin + this.#view.getUint32(from + 5, true);
          carryOut(memory[from] as Kind, seat, memory.slice(begin, next));
          from = next;
        }
      },
    };
    this.#wasm = new WebAssembly.Instance(module, { edgecask: rows }).exports as unknown as Exports;
  }

  open(password: string, settings: string): void {
    this.#give(encoder.encode(password));
    this.#give(encoder.encode(settings));
    const length = this.#wasm.edgecask_open(seed(), Date.now());
    if (length > 0) {
      const at = this.#wasm.edgecask_error() >>> 0;
      throw new Error(new TextDecoder().decode(this.#memory().slice(at, at + length)));
    }
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
    for (let from = 0; from < message.length; from += PIECE_BYTES) {
      this.#give(message.subarray(from, from + PIECE_BYTES));
      this.#wasm.edgecask_receive(seat, Date.now());
    }
  }

  // Whoever is refused is answered at the end of the event.
  admit(seat: number, head: string, address: string): void {
    this.#give(encoder.encode(head));
    this.#give(encoder.encode(address));
    this.#wasm.edgecask_admit(seat, seed(), Date.now());
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

  finish(): void {
    this.#wasm.edgecask_finish(Date.now());
  }

  // Puts bytes where the instance finds them.
  #give(bytes: Uint8Array, number = 0): void {
    const at = this.#wasm.edgecask_take(number, bytes.length) >>> 0;
    this.#memory().set(bytes, at);
  }

  // The instance's memory as it is now: what was made of it before it grew is empty.
  #memory(): Uint8Array {
    const { buffer } = this.#wasm.memory;
    if (buffer !== this.#bytes.buffer) {
      this.#bytes = new Uint8Array(buffer);
      this.#view = new DataView(buffer);
    }
    return this.#bytes;
  }
}

function seed(): bigint {
  return crypto.getRandomValues(new BigUint64Array(1))[0]!;
}
