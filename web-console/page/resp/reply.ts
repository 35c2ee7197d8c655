// The types of RESP3 values; bulk strings stay bytes. web-console/src/replies.js makes the objects.

export type Reply =
  | { type: 'simple'; text: string }
  | { type: 'error'; text: string }
  | { type: 'integer'; value: bigint }
  | { type: 'bulk'; bytes: Uint8Array }
  | { type: 'null' }
  | { type: 'double'; text: string }
  | { type: 'boolean'; value: boolean }
  | { type: 'big'; text: string }
  | { type: 'verbatim'; format: string; bytes: Uint8Array }
  | { type: 'array' | 'set' | 'push'; items: Reply[] }
  | { type: 'map'; pairs: [Reply, Reply][] };

/** A text is sent as UTF-8. */
export type Argument = string | Uint8Array;

/** An error reply of the server; the message is its text. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
