//! Every bound of the core in one place, each with its reason. A buffer, queue, depth or count without a constant
//! here is a bug.

/// Largest inline (non-multibulk) request line in bytes: Redis' own figure.
pub const INLINE_REQUEST_MAX_BYTES: usize = 64 * 1024;

/// Most arguments in one request: Redis' own figure (`1024 * 1024`).
pub const REQUEST_ARGUMENTS_MAX: u64 = 1024 * 1024;

/// Most arguments an unauthenticated peer may send in one request: Redis' own figure.
pub const UNAUTHENTICATED_ARGUMENTS_MAX: u64 = 10;

/// Largest argument in bytes an unauthenticated peer may send: Redis' own figure.
pub const UNAUTHENTICATED_BULK_MAX_BYTES: u64 = 16 * 1024;

/// Default of `proto-max-bulk-len`, the largest argument in bytes: as in Redis until values stream to blobs.
pub const BULK_MAX_BYTES: u64 = 512 * 1024 * 1024;

/// A session stops running requests when this many bytes of replies wait to be sent; a single reply may be larger.
pub const OUTPUT_PAUSE_BYTES: usize = 256 * 1024;

/// An input buffer larger than this many bytes is given back once it is nearly empty.
pub const INPUT_KEPT_BYTES: usize = 128 * 1024;
