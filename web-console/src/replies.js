// Makes the reply objects of page/resp/reply.ts in JavaScript: one call per value instead of one per field.
// Bytes arrive as a view of the wasm memory, which may move: they are copied here.

export const simple = (text) => ({ type: 'simple', text });
export const error = (text) => ({ type: 'error', text });
export const integer = (value) => ({ type: 'integer', value });
export const bulk = (bytes) => ({ type: 'bulk', bytes: bytes.slice() });
export const nothing = () => ({ type: 'null' });
export const double = (text) => ({ type: 'double', text });
export const boolean = (value) => ({ type: 'boolean', value });
export const big = (text) => ({ type: 'big', text });
export const verbatim = (format, bytes) => ({ type: 'verbatim', format, bytes: bytes.slice() });
export const aggregate = (type, items) => ({ type, items });
export const map = (pairs) => ({ type: 'map', pairs });
