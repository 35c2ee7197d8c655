// The core of one Durable Object: an instance of the module, and its rows in the object's SQLite.
//
// After an error of any method the caller must end the object with ctx.abort(): the writes of the event must not stay, and the
// instance may be in the middle of a change.

import { Instance } from './instance';

export enum Kind {
  Send = 1,
  Close,
  Attach,
  Respond,
  Events,
  End,
  Alarm,
}

// The receiver owns `bytes`.
export type CarryOut = (kind: Kind, connection: number, bytes: Uint8Array) => void;

const HEADER_BYTES = 9;
// By the numbers of edge-worker/src/host.rs.
const LOG_LEVELS = ['debug', 'log', 'info', 'warn'] as const;
// The instance gets messages in pieces, so that it never holds a long one whole.
const PIECE_BYTES = 1024 * 1024;

export class Core {
  readonly #instance: Instance;

  // `carryOut` gets the messages of the core, after the writes that they acknowledge are in rows.
  constructor(module: WebAssembly.Module, sql: SqlStorage, carryOut: CarryOut) {
    sql.exec('CREATE TABLE IF NOT EXISTS chunk (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL)');
    sql.exec(
      'CREATE TABLE IF NOT EXISTS entry (key BLOB, part INTEGER, bytes BLOB NOT NULL, PRIMARY KEY (key, part)) WITHOUT ROWID',
    );
    const instance: Instance = new Instance(module, {
      insert_chunk: (number, at, length) => {
        // SQLite is done with the bytes before this returns, so they need no copy.
        sql.exec('INSERT INTO chunk VALUES (?, ?)', number, instance.viewOf(at, length));
      },
      read_chunks: (from, to) => {
        const cursor = sql.exec(
          `SELECT id, bytes FROM chunk
           WHERE id >= coalesce((SELECT max(id) FROM chunk WHERE id <= ?), 0) AND id < ? ORDER BY id`,
          from,
          to,
        );
        for (const [number, bytes] of cursor.raw()) instance.give(new Uint8Array(bytes as ArrayBuffer), number as number);
      },
      remove_chunks: (from, to) => {
        sql.exec('DELETE FROM chunk WHERE id >= ? AND id < ?', from, to);
      },
      read_entries: (from, fromLength, fromPart, to, toLength, most) => {
        const query = 'SELECT key, part, bytes FROM entry WHERE (key, part) >= (?, ?)';
        const order = `ORDER BY key, part LIMIT ${most}`;
        const [key, part] = [instance.bytesAt(from, fromLength), fromPart >>> 0];
        const cursor =
          toLength > 0
            ? sql.exec(`${query} AND key < ? ${order}`, key, part, instance.bytesAt(to, toLength))
            : sql.exec(`${query} ${order}`, key, part);
        for (const [key, part, bytes] of cursor.raw()) {
          instance.give(new Uint8Array(key as ArrayBuffer), part as number);
          instance.give(new Uint8Array(bytes as ArrayBuffer));
        }
      },
      insert_entry: (key, keyLength, part, at, length) => {
        const values = [instance.bytesAt(key, keyLength), part >>> 0, instance.bytesAt(at, length)];
        sql.exec('INSERT INTO entry VALUES (?, ?, ?)', ...values);
      },
      remove_entry: (key, keyLength) => {
        sql.exec('DELETE FROM entry WHERE key = ?', instance.bytesAt(key, keyLength));
      },
      stored_bytes: () => sql.databaseSize,
      read_random: (length) => {
        instance.give(crypto.getRandomValues(new Uint8Array(length)));
      },
      deliver: (at, length) => {
        const end = (at >>> 0) + length;
        for (let from = at >>> 0; from < end; ) {
          const memory = instance.memory();
          const begin = from + HEADER_BYTES;
          const connection = instance.view.getUint32(from + 1, true);
          const next = begin + instance.view.getUint32(from + 5, true);
          carryOut(memory[from] as Kind, connection, memory.slice(begin, next));
          from = next;
        }
      },
      write_log: (level, at, length) => {
        const text = new TextDecoder().decode(instance.viewOf(at, length));
        console[LOG_LEVELS[level] ?? 'warn'](text);
      },
    });
    this.#instance = instance;
  }

  open(password: string, settings: string): void {
    this.#instance.give(password);
    this.#instance.give(settings);
    const length = this.#instance.exports.edgecask_open(seed(), Date.now());
    if (length > 0) {
      const text = this.#instance.bytesAt(this.#instance.exports.edgecask_error(), length);
      throw new Error(new TextDecoder().decode(text));
    }
  }

  begin(): void {
    this.#instance.exports.edgecask_begin();
  }

  connect(connection: number, address: string): void {
    this.#instance.give(address);
    this.#instance.exports.edgecask_connect(connection, seed(), Date.now());
  }

  thaw(connection: number, attached: Uint8Array): void {
    this.#instance.give(attached);
    this.#instance.exports.edgecask_thaw(connection, Date.now());
  }

  allAreThawed(): void {
    this.#instance.exports.edgecask_all_are_thawed();
  }

  receive(connection: number, message: Uint8Array): void {
    for (let from = 0; from < message.length; from += PIECE_BYTES) {
      this.#instance.give(message.subarray(from, from + PIECE_BYTES));
      this.#instance.exports.edgecask_receive(connection, Date.now());
    }
  }

  // A request with missing or wrong credentials is answered at the end of the event.
  checkLogin(connection: number, head: string, address: string): void {
    this.#instance.give(head);
    this.#instance.give(address);
    this.#instance.exports.edgecask_check_login(connection, seed(), Date.now());
  }

  request(connection: number, head: string, body: Uint8Array, address: string): void {
    this.#instance.give(head);
    this.#instance.give(body);
    this.#instance.give(address);
    this.#instance.exports.edgecask_request(connection, seed(), Date.now());
  }

  disconnect(connection: number): void {
    this.#instance.exports.edgecask_disconnect(connection);
  }

  alarm(): void {
    this.#instance.exports.edgecask_alarm(Date.now());
  }

  finish(): void {
    this.#instance.exports.edgecask_finish(Date.now());
  }
}

function seed(): bigint {
  return crypto.getRandomValues(new BigUint64Array(1))[0]!;
}
