//! The rows of the Durable Object's SQLite, and the way out for messages.
//!
//! A host never returns an error. A call that fails does not return: an exception of JavaScript ends the event, and
//! `ctx.abort()` ends the object, so that nothing of the event was ever written. All calls of one event are one transaction.

/// Rows of one object.
///
/// *Chunks* are parts of datafiles by number; *entries* are parts of values by key and part.
pub trait Host: Send + Sync + 'static {
    /// Inserts a chunk; there is none of this number.
    fn insert_chunk(&self, number: u64, bytes: &[u8]);

    /// The last chunk whose number is not above `from`, and those with numbers above it and below `to`, in order.
    fn chunks(&self, from: u64, to: u64) -> Vec<(u64, Vec<u8>)>;

    /// Removes the chunks with numbers from `from` to below `to`.
    fn remove_chunks(&self, from: u64, to: u64);

    /// The parts of keys below `to` (or all that follow) from a key's part on, `most` at most, in the order of keys and parts.
    fn entries(&self, from: (&[u8], u32), to: Option<&[u8]>, most: usize) -> Vec<Entry>;

    /// Inserts a part; there is none of this key and number.
    fn insert_entry(&self, key: &[u8], part: u32, bytes: &[u8]);

    /// Removes all parts of a key.
    fn remove_entry(&self, key: &[u8]);

    /// Bytes that all rows take now.
    fn stored_bytes(&self) -> u64;

    /// So many bytes, at most 64 KiB, that nobody can guess.
    fn random(&self, len: usize) -> Vec<u8>;

    /// Bytes of heap in use.
    fn heap_bytes(&self) -> usize;

    /// Bytes of memory that the instance has taken; it never shrinks.
    fn resident_bytes(&self) -> usize;

    /// Delivers messages of the outbox. All writes that they acknowledge are in rows already.
    fn deliver(&self, messages: &[u8]);

    /// Writes a line to the worker's console.
    fn write_log(&self, level: LogLevel, text: &str);
}

/// The level of a line of the console; JavaScript knows the numbers (`LOG_LEVELS` in worker/core.ts).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum LogLevel {
    /// `console.debug`
    Debug = 0,
    /// `console.log`
    Verbose = 1,
    /// `console.info`
    Notice = 2,
    /// `console.warn`
    Warning = 3,
}

/// A part of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub key: Vec<u8>,
    /// Which part of its value this is.
    pub part: u32,
    /// The bytes of this part.
    pub bytes: Vec<u8>,
}
