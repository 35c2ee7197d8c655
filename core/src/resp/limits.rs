//! The bounds of the wire, each with its reason. A buffer, depth or count of this module without a constant here is a bug.

/// Largest inline (non-multibulk) request line in bytes: Redis' own figure.
pub const INLINE_REQUEST_MAX_BYTES: usize = 64 * 1024;

/// Most arguments in one request: Redis' own figure since 7.0 (`INT_MAX`). Memory for them grows as they come.
pub const REQUEST_ARGUMENTS_MAX: u64 = i32::MAX as u64;

/// Most arguments an unauthenticated peer may send in one request: Redis' own figure.
pub const UNAUTHENTICATED_ARGUMENTS_MAX: u64 = 10;

/// Largest argument in bytes an unauthenticated peer may send: Redis' own figure.
pub const UNAUTHENTICATED_BULK_MAX_BYTES: u64 = 16 * 1024;

/// Default of `proto-max-bulk-len`, the largest argument in bytes: as in Redis. A home whose storage streams sets more.
pub const BULK_MAX_BYTES: u64 = 512 * 1024 * 1024;

/// Bytes of inline arguments that an idle connection's parser keeps memory for: ten thousand idle connections must not
/// each hold the longest line they ever sent.
pub const PARSER_KEPT_BYTES: usize = 4 * 1024;

/// Most argument positions a parser keeps memory for between requests; the same reason, and no client pipelines
/// requests of more arguments than this in pieces as its normal load.
pub const PARSER_KEPT_ARGUMENTS: usize = 256;

/// Largest empty reply buffer a connection keeps: one megabyte-sized reply must not stay allocated for ever.
pub const REPLY_KEPT_BYTES: usize = 64 * 1024;

/// Deepest nesting a reply decoder follows. Redis' own replies stay below ten; values drop and compare recursively,
/// so this also bounds the stack (128 levels are some tens of KiB, well within a wasm32 stack).
pub const REPLY_DEPTH_MAX: usize = 128;

/// Longest line (status, error, number, length) in a reply, in bytes: a peer that never ends its line must not make
/// the client buffer without end. Redis' longest are error texts that quote an argument.
pub const REPLY_LINE_MAX_BYTES: usize = 1024 * 1024;

/// A reply that needs a smaller block than this does not ask whether it is left: a home keeps a margin for those.
pub const ASK_FROM_BYTES: usize = 64 * 1024;
