// Names as byte strings: each character is one byte (0 to 255).
//
// Keys are bytes, and a million of them must fit into memory. V8 stores such a string in one byte a character and a
// small header; a Uint8Array costs some hundred bytes beside its content. Comparing two with `<` compares their bytes.
// A byte string is never shown or sent directly: `bytesOf` gives the bytes back.

/** One byte a character. */
export type Name = string;

/** The number of arguments that a function call safely takes. */
const CHUNK = 8192;

export function nameOf(bytes: Uint8Array): Name {
  if (bytes.length <= CHUNK) return String.fromCharCode.apply(null, bytes as unknown as number[]);
  const pieces: string[] = [];
  for (let at = 0; at < bytes.length; at += CHUNK) {
    pieces.push(String.fromCharCode.apply(null, bytes.subarray(at, at + CHUNK) as unknown as number[]));
  }
  return pieces.join('');
}

export function bytesOf(name: Name): Uint8Array {
  const bytes = new Uint8Array(name.length);
  for (let at = 0; at < name.length; at += 1) bytes[at] = name.charCodeAt(at);
  return bytes;
}

/** The byte string of a text in UTF-8, for instance of a separator from an input. */
export function nameOfText(text: string): Name {
  return nameOf(new TextEncoder().encode(text));
}

/** Two values have the same bytes. */
export function sameBytes(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length !== other.length) return false;
  for (let at = 0; at < one.length; at += 1) if (one[at] !== other[at]) return false;
  return true;
}
