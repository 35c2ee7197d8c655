//! Every bound of the client, with its reason. What a program may choose is in [`Options`](crate::Options), which takes its
//! defaults from here.

/// Request buffers that a thread keeps. A task has one request at a time, and few tasks write theirs at the same moment.
pub(crate) const SPARE_BUFFERS_MAX: usize = 16;

/// Largest of them; a larger one is freed after its request.
pub(crate) const SPARE_BUFFER_MAX_BYTES: usize = 256 * 1024;

/// A request of this size goes to a connection of its own, and so does one whose reply is expected to have it: behind it
/// short replies would wait, and one socket with many large values is slower than several (measured in 100 kB replies of 64
/// tasks).
pub const LARGE_FROM_BYTES: usize = 64 * 1024;

/// A request of this size is not copied into an empty output buffer; its buffer becomes the output.
pub(crate) const SWAP_FROM_BYTES: usize = 16 * 1024;

/// Bytes of requests that wait in a connection before further callers wait for room.
pub(crate) const OUTPUT_MAX_BYTES: usize = 1024 * 1024;

/// Requests without a reply on one connection before further callers wait.
pub(crate) const IN_FLIGHT_MAX: usize = 65_536;

/// Bytes that a connection reads at once, and the room it keeps for them.
pub(crate) const INPUT_BYTES: usize = 64 * 1024;

/// Bytes that are read first where a large string is expected: its head, so that the rest goes straight to its buffer.
pub(crate) const HEAD_BYTES: usize = 4 * 1024;

/// Strings above this come in parts, so that they go to their caller as they arrive.
pub(crate) const WHOLE_MAX_BYTES: usize = 16 * 1024;

/// From this many missing bytes on, a string is read from the socket straight into the caller's buffer.
pub(crate) const DIRECT_FROM_BYTES: usize = 32 * 1024;

/// A caller's buffer grows by at most this or its own size at once: with what has come, not with what the peer announced.
pub(crate) const GROWTH_BYTES: usize = 1024 * 1024;

/// Bytes of a streamed value that wait for its reader before the connection stops reading.
pub(crate) const STREAM_WINDOW_BYTES: usize = 256 * 1024;

/// Bytes of requests without a reply on one connection before further callers wait. Sockets of a Worker do not say how much lies in
/// their buffers, so there this is what bounds them.
pub(crate) const UNANSWERED_MAX_BYTES: usize =
    if cfg!(target_family = "wasm") { 4 * 1024 * 1024 } else { 64 * 1024 * 1024 };

/// A message of a WebSocket of JavaScript is cut before it has more bytes.
#[cfg(target_family = "wasm")]
pub(crate) const SOCKET_MESSAGE_BYTES: usize = 256 * 1024;

/// Bytes that wait in such a socket before no more are written.
#[cfg(target_family = "wasm")]
pub(crate) const SOCKET_WAITING_MAX_BYTES: u32 = 1024 * 1024;

/// How long a writer waits then before it looks again: there is no event for it.
#[cfg(target_family = "wasm")]
pub(crate) const SOCKET_WAIT_MS: u64 = 4;

/// How often deadlines of a busy connection are looked at. No timer per request: this is its precision.
pub(crate) const TICK_MS: u64 = 20;

/// Output buffers above this are shrunk when the connection has been idle for a while.
pub(crate) const OUTPUT_KEPT_BYTES: usize = 256 * 1024;

/// Callers that are woken at once when there is room again. Those without room after all go to the end of the queue.
pub(crate) const QUEUE_WOKEN_MAX: usize = 256;

/// Bytes that are read at once from a caller's reader.
pub(crate) const READ_PART_BYTES: usize = 64 * 1024;

/// Bytes of a large value that wait in a connection to be sent.
pub(crate) const FEED_WINDOW_BYTES: usize = 128 * 1024;
