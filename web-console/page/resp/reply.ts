// A RESP3 value as what it is; bulk strings stay bytes. The objects are made by web-console/src/replies.js.

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

/** An error reply: the message is Redis' text. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}
