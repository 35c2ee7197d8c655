//! Every bound of the edge worker, with its reason. The platform's own figures are from its documentation
//! (<https://developers.cloudflare.com/durable-objects/platform/limits/>). Local runtimes are looser, so this crate enforces all.
//!
//! The platform gives an object 128 MB for all its memory. They are meant for:
//!
//! ```text
//!  48 MiB  keydir, caches, sessions, queues of transactions, an idle          HEAP_MAX_BYTES
//!          interpreter of scripts, open SQL databases
//!  24 MiB  requests that have not come whole                                  INPUTS_MAX_BYTES
//!  24 MiB  one request while it runs, its reply and its script included;                     the rest of MEMORY_MAX_BYTES;
//!          it is charged as it goes                                           BUDGET in lib.rs
//!  16 MiB  the message that is being received, in JavaScript's memory         MESSAGE_MAX_BYTES in object.ts
//!  some    replies that wait for the output gate, code and JavaScript itself
//! ```

/// Largest memory of an instance; its linker sets it (build.rs). Beyond it an allocation ends the instance, and with it the
/// object's life: nothing of the event is written and its sockets are closed. The bounds below prevent that.
pub const MEMORY_MAX_BYTES: usize = 96 * 1024 * 1024;

/// Largest argument and largest string. Blobs are off at the edge: a value that does not fit beside the keydir, the message
/// that is being read and the replies that wait for the output gate is of no use there.
pub const VALUE_MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Largest key, member, field or channel: a request has it in memory several times, and so has the keydir, for good.
pub const NAME_MAX_BYTES: usize = 512 * 1024;

/// Most arguments of a request: each is a few bytes of input, but may be a hundred in a transaction.
pub const ARGUMENTS_MAX: u64 = 128 * 1024;

/// Most members of collections that one request or transaction may change, for the same reason.
pub const CHANGES_MAX: u64 = 200_000;

/// Largest frame of the log: a transaction.
pub const FRAME_MAX_BYTES: u64 = 24 * 1024 * 1024;

/// Longest reply that is put together in memory, which holds it twice, and a quarter more, while it grows. A value alone is held
/// once, as it is read, and goes out in pieces.
pub const REPLY_MAX_BYTES: usize = 8 * 1024 * 1024;

/// Longest answer of a REST request as RESP: it is in memory as values and as JSON, too.
pub const REST_REPLY_MAX_BYTES: u64 = 6 * 1024 * 1024;

/// Bytes of one row that holds a part of a datafile. The platform takes 2 MB; SQLite reads a row as a whole whichever part of
/// it is wanted, so a value behind 64 KiB costs some microseconds more than a small row.
pub const CHUNK_BYTES: usize = 64 * 1024;

/// Bytes of one row that holds a part of a metadata value: half of what the platform takes.
pub const ROW_MAX_BYTES: usize = 1024 * 1024;

/// Longest key of the metadata map; the store's own have a few dozen bytes.
pub const META_KEY_MAX_BYTES: usize = 1024;

/// A datafile is sealed before it grows beyond this: replaying one without hints stays below a second.
pub const DATAFILE_MAX_BYTES: u64 = 16 * 1024 * 1024;

/// No datafile grows beyond this: file and offset together are the row's number.
pub const DATAFILE_HARD_MAX_BYTES: u64 = 1 << 30;

/// Most datafiles that an object ever has, one after the other: JavaScript's numbers are exact up to 2^53. They are 134 TB.
pub const DATAFILES_MAX: u32 = 1 << 23;

/// Chunks that were read or written lately are cached up to this many bytes.
pub const CACHE_MAX_BYTES: usize = 8 * 1024 * 1024;

/// Appends of more bytes than this, and reads of as many, pass by the cache: merges and starts, which read everything once, and large values.
pub const CACHED_MAX_BYTES: u64 = 256 * 1024;

/// Chunks are asked for in steps of so many bytes, since they are in memory twice on their way.
pub const READ_STEP_BYTES: u64 = 1024 * 1024;

/// Entries are asked for so many at a time: each may have `ROW_MAX_BYTES`.
pub const ENTRIES_AT_A_TIME: usize = 4;

/// Bytes of heap, requests that have not come whole aside, beyond which commands that may need more are refused.
pub const HEAP_MAX_BYTES: usize = 48 * 1024 * 1024;

/// From so many bytes on, upkeep that makes room does not wait until writes pause.
pub const HEAP_SHORT_BYTES: usize = HEAP_MAX_BYTES / 4 * 3;

/// Bytes of memory that are free, but in gaps too small to be of use, code's own data and stack included.
pub const GAPS_BYTES: usize = 6 * 1024 * 1024;

/// Bytes of requests of all connections that have not come whole; beyond them the connection with the largest one is closed.
pub const INPUTS_MAX_BYTES: usize = 24 * 1024 * 1024;

/// A request's buffer grows by at most so much more than it needs: doubling would take twice the largest value.
pub const INPUT_STEP_BYTES: usize = 2 * 1024 * 1024;

/// Bytes in SQLite beyond which commands that may need more are refused. The platform takes 10 GB; deleting and merging need
/// some space before they free some.
pub const STORAGE_MAX_BYTES: u64 = 9_000_000_000;

/// Bytes in SQLite beyond which nothing is appended.
pub const STORAGE_HARD_MAX_BYTES: u64 = 9_900_000_000;

/// SQLite is asked how much it holds once so many bytes were appended since; rows take a little more than their bytes.
pub const ROOM_LOOK_BYTES: u64 = 256 * 1024;

/// A session takes a message in pieces of this size, so that replies leave the heap between them.
pub const PIECE_MAX_BYTES: usize = 1024 * 1024;

/// Bytes of input that is no whole request yet: the largest argument, and space for those around it.
pub const INPUT_MAX_BYTES: usize = 20 * 1024 * 1024;

/// The same before the peer has authenticated: ten arguments of 16 KiB, and the bytes around them.
pub const UNAUTHENTICATED_INPUT_MAX_BYTES: usize = 256 * 1024;

/// Replies that one event may make for all connections: they wait for the output gate.
pub const EVENT_OUTPUT_MAX_BYTES: u64 = 32 * 1024 * 1024;

/// The outbox is delivered as soon as it holds so many bytes.
pub const DELIVERY_BYTES: usize = 1024 * 1024;

/// Largest body of a REST request: it is in memory as JSON and as RESP.
pub const BODY_MAX_BYTES: usize = 8 * 1024 * 1024;

/// Messages to a socket are at most so long.
pub const MESSAGE_OUT_MAX_BYTES: usize = 1024 * 1024;

/// Most sockets of one object; the platform takes 32,768, and each costs some kilobytes here.
pub const SOCKETS_MAX: usize = 10_000;

/// The largest attachment of a socket: the platform takes 16,384 bytes, of which the runtime needs some.
pub const ATTACHMENT_MAX_BYTES: usize = 16_000;

/// Most positions of HSCAN and its like that are persisted in a row for requests, which have no socket: more than walk at
/// the same time.
pub const WALKS_KEPT_MAX: usize = 64;

/// Most bytes of them: they are written anew with every step of such a walk.
pub const WALKS_KEPT_BYTES: usize = 16 * 1024;

/// From connecting to a successful AUTH or HELLO, where a password is set.
pub const UNAUTHENTICATED_MS: u64 = 10_000;

/// Maintenance runs so long after the first write since the last maintenance.
pub const MAINTENANCE_DELAY_MS: u64 = 5_000;

/// Maintenance runs again so soon while it has more to do.
pub const MAINTENANCE_NEXT_MS: u64 = 50;

/// Where keys may expire maintenance looks for them this often, though the object sleeps otherwise.
pub const EXPIRY_PERIOD_MS: u64 = 60_000;

/// An alarm that is late by so much counts as forgotten by the platform, and the next event sets another.
pub const ALARM_LATE_MS: u64 = 1000;

/// Runs of crons in one alarm: each takes a second of processor at most, and the platform gives an event 30.
pub const CRON_RUNS_PER_ALARM: usize = 8;

/// Keys collected by one alarm.
pub const EXPIRE_STEP_KEYS: u64 = 10_000;

/// Bytes of log read by one alarm's step of a merge: some tens of milliseconds of processor.
pub const MERGE_STEP_BYTES: u64 = 4 * 1024 * 1024;

/// Entries of dropped collections freed by one alarm.
pub const GARBAGE_STEP: u64 = 50_000;

/// Hints are written for the active datafile, too, once so many bytes were appended since the last ones: the next start reads
/// all bytes without hints.
pub const CHECKPOINT_BYTES: u64 = 1024 * 1024;

/// Memory of one script in bytes, beyond what its interpreter holds. It is part of the memory of a request: what the script
/// returns and what a command replies to it may take as much again.
pub const SCRIPT_MEMORY_MAX_BYTES: u64 = 6 * 1024 * 1024;

/// Steps of one script, a second of processor or less (`make edge-figures` prints how long); of a function as WebAssembly up to four. The platform gives an event 30
/// seconds, and nothing else of the object happens meanwhile. There is no clock by which a script could be ended.
pub const SCRIPT_STEPS_MAX: u64 = 200_000_000;

/// Bytes of sources of scripts that only EVAL has brought and that stay.
pub const SOURCES_OF_EVAL_MAX_BYTES: u64 = 1024 * 1024;

/// An interpreter that holds more bytes than this after a run is not kept: one of Lua with a hundred compiled scripts has about one MB.
/// One of WebAssembly counts its modules and their memories, and loads those that it needs again.
pub const INTERPRETER_KEPT_BYTES: u64 = 4 * 1024 * 1024;

/// Steps of SQLite in one text of SQL, some two seconds of processor (`make edge-figures` prints how long). There is no clock here, either.
pub const SQL_STEPS_MAX: u64 = 50_000_000;

/// Bytes of memory of SQLite, in all databases together: what idle ones keep, and a statement with its sorts and temporary tables.
/// A statement that needs more fails.
pub const SQL_HEAP_MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Databases that are kept open while no statement runs on them. Each takes its pages and half as much for its schema and its prepared
/// statements, so that all of them leave more than half of SQLite's memory.
pub const SQL_IDLE_DATABASES_MAX: usize = 16;

/// Pages that each open database keeps in memory, in KiB.
pub const SQL_CACHE_KIB: u32 = 256;
