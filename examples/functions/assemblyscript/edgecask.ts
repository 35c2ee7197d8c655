/** Functions for EdgeCask in AssemblyScript: the imports of `edgecask_1`. docs/functions.md describes them. */

@external("edgecask_1", "register")
declare function importRegister(name: usize, nameLength: i32, text: usize, textLength: i32, flags: u32): void;
@external("edgecask_1", "key_count")
export declare function keyCount(): i32;
@external("edgecask_1", "key")
declare function importKey(index: u32, into: usize, capacity: i32): i32;
@external("edgecask_1", "argument_count")
export declare function argumentCount(): i32;
@external("edgecask_1", "argument")
declare function importArgument(index: u32, into: usize, capacity: i32): i32;
@external("edgecask_1", "call")
declare function importCall(spans: usize, count: i32, into: usize, capacity: i32): i32;
@external("edgecask_1", "reply")
declare function importReply(offset: i32, into: usize, capacity: i32): i32;
@external("edgecask_1", "answer")
declare function importAnswer(at: usize, length: i32): void;
@external("edgecask_1", "answer_integer")
export declare function answerInteger(value: i64): void;
@external("edgecask_1", "answer_bulk")
declare function importAnswerBulk(at: usize, length: i32): void;
@external("edgecask_1", "answer_reply")
export declare function answerReply(): void;
@external("edgecask_1", "fail")
declare function importFail(at: usize, length: i32): void;
@external("edgecask_1", "log")
declare function importLog(level: u32, at: usize, length: i32): void;
/** Microseconds since 1970, the same during a whole call. */
@external("edgecask_1", "time")
export declare function timeUs(): i64;
/** A number that looks random; a call that is repeated gets the same numbers. */
@external("edgecask_1", "random")
export declare function randomBits(): i64;

/** The first byte of every value. */
export enum Kind {
  Nil,
  Integer,
  Bulk,
  Status,
  Error,
  Double,
  Boolean,
  Array,
  Map,
  Set,
  Number,
  Text,
}

/** Promises that the function writes nothing; FCALL_RO takes only such functions. */
export const NO_WRITES: u32 = 1;

export function register(name: string, description: string, flags: u32 = 0): void {
  const nameBytes = String.UTF8.encode(name);
  const text = String.UTF8.encode(description);
  importRegister(changetype<usize>(nameBytes), nameBytes.byteLength, changetype<usize>(text), text.byteLength, flags);
}

/** Ends the function with an error; the text begins with a code (`ERR …`). It does not return. */
export function fail(text: string): void {
  const bytes = String.UTF8.encode(text);
  importFail(changetype<usize>(bytes), bytes.byteLength);
}

/** A key; null if there is none of this index. */
export function key(index: u32): ArrayBuffer | null {
  const length = importKey(index, 0, 0);
  if (length < 0) return null;
  const bytes = new ArrayBuffer(length);
  importKey(index, changetype<usize>(bytes), length);
  return bytes;
}

/** An argument; null if there is none of this index. */
export function argument(index: u32): ArrayBuffer | null {
  const length = importArgument(index, 0, 0);
  if (length < 0) return null;
  const bytes = new ArrayBuffer(length);
  importArgument(index, changetype<usize>(bytes), length);
  return bytes;
}

/** Bytes of a text, for the arguments of a command. */
export function bytes(text: string): ArrayBuffer {
  return String.UTF8.encode(text);
}

/** Runs a command and returns its reply. */
export function call(words: ArrayBuffer[]): DataView {
  const spans = new StaticArray<u32>(words.length * 2);
  for (let i = 0; i < words.length; i++) {
    spans[i * 2] = <u32>changetype<usize>(words[i]);
    spans[i * 2 + 1] = words[i].byteLength;
  }
  const size = importCall(changetype<usize>(spans), words.length, 0, 0);
  const reply = new ArrayBuffer(size);
  importReply(0, changetype<usize>(reply), size);
  return new DataView(reply);
}

export function answerBulk(text: ArrayBuffer): void {
  importAnswerBulk(changetype<usize>(text), text.byteLength);
}

export function answerBoolean(value: bool): void {
  const encoded = new StaticArray<u8>(2);
  encoded[0] = <u8>Kind.Boolean;
  encoded[1] = value ? 1 : 0;
  importAnswer(changetype<usize>(encoded), 2);
}

/** The beginning of an array, map or set; its values are answered next. */
export function answerMany(kind: Kind, count: u32): void {
  const header = new StaticArray<u8>(5);
  header[0] = <u8>kind;
  store<u32>(changetype<usize>(header) + 1, count);
  importAnswer(changetype<usize>(header), 5);
}

export function log(level: u32, text: string): void {
  const line = String.UTF8.encode(text);
  importLog(level, changetype<usize>(line), line.byteLength);
}

/** What a failed assertion, or an index out of bounds, does: `asc --use abort=edgecask/abort`. */
export function abort(message: string | null, file: string | null, line: u32, column: u32): void {
  const text = message ? message : "the function aborted";
  fail(`ERR ${text} at ${file ? file : "?"}:${line}:${column}`);
}
