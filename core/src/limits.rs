//! Every bound of the core in one place, each with its reason; those of the wire are in [`crate::resp::limits`], which stands
//! alone. A buffer, queue, depth or count without a constant here or there is a bug.

/// A command that reads, sorts or writes so many elements takes some milliseconds. A home with a place for such commands does not
/// run them where other connections wait (`EngineError::TakesLong`).
pub const LONG_WORK_ELEMENTS: u64 = 8 * 1024;

/// So many bytes that are read or written count as one of these elements: a command may so read 4 MiB, a millisecond's worth.
pub const LONG_WORK_ELEMENT_BYTES: u64 = 512;

/// A transaction that waits for a lock looks again after this time whether its holder has turned out to keep it for long
/// (`bitcask::long_holders`). Long beside what a short transaction takes, short beside what other connections of the waiting thread notice.
#[cfg(not(target_arch = "wasm32"))]
pub const LOCK_LOOK_PERIOD: std::time::Duration = std::time::Duration::from_millis(2);

/// A transaction that is about to hold locks for long waits for so long for one that has precedence and could have them, but does
/// not come. Long beside a round of a worker.
#[cfg(not(target_arch = "wasm32"))]
pub const PRECEDENCE_PERIOD: std::time::Duration = std::time::Duration::from_millis(50);

/// A path through a JSON document looks at so many values at most: some hundred milliseconds.
pub const JSON_PATH_WORK_MAX: u64 = 2_000_000;

/// Most commands in the queue of one MULTI, whatever `client-query-buffer-limit` lets them hold: they run under their locks
/// together, and a million take some seconds.
pub const MULTI_QUEUE_MAX: usize = 1024 * 1024;

/// Default of `blob-min-bytes`: values from this length on are blobs, which merge never copies.
pub const BLOB_MIN_BYTES: u64 = 1024 * 1024;

/// A huge value, or a part of one, up to so many bytes is compared with its checksums as a whole before its reply begins, so
/// that damage becomes an error. This takes about a millisecond of the shard's lock. Longer values are compared piece by piece
/// just before they are sent; damage closes the connection then, since their length has been announced.
pub const CHECKED_BEFORE_REPLY_MAX_BYTES: u64 = 8 * 1024 * 1024;

/// So many blobs may wait for a sync, under `appendfsync no` too: a start after a crash reads them all, and each holds a
/// file descriptor.
pub const UNSYNCED_BLOBS_MAX: usize = 512;

/// Largest value that is held in memory in one piece, where a command needs that (INCRBYFLOAT, LCS), and largest
/// argument that does not stream to a blob: Redis' default for all of them.
pub const VALUE_IN_MEMORY_MAX_BYTES: u64 = 512 * 1024 * 1024;

/// Bytes of a string that a command looks at in one go where it has no need of the whole (BITPOS, BITOP): they stay in
/// the processor's cache, and finding them costs nothing beside them.
pub const VALUE_PIECE_BYTES: u64 = 256 * 1024;

/// Requests of a pipeline that are parsed before the first of them runs: enough to wait for memory side by side, few
/// enough for the stack.
pub const PIPELINE_AHEAD: usize = 16;

/// A transaction that touches keys which it did not declare takes the lock of each in turn, up to so many; then all of
/// them. Each one costs a run that is thrown away.
pub const WIDENED_KEYS_MAX: usize = 8;

/// A shorter pipeline gains nothing from being looked at ahead.
pub const PIPELINE_AHEAD_MIN: usize = 4;

/// Requests of a pipeline that share a commit have at most so many bytes of arguments together, so that others do not wait long
/// for the lock of their key.
pub const GROUP_MAX_BYTES: usize = 32 * 1024;

/// A group of requests ends once its replies have so many bytes.
pub const GROUP_REPLIES_MAX_BYTES: u64 = 64 * 1024;

/// A session stops running requests when this many bytes of replies wait to be sent; a single reply may be larger.
pub const OUTPUT_PAUSE_BYTES: usize = 256 * 1024;

/// A session stops running requests when they have appended so many bytes to the log, so that a pipeline of short requests
/// that rewrite long values leaves other connections their turns; a single request may append more.
pub const LOGGED_PAUSE_BYTES: u64 = 1024 * 1024;

/// Stored values, or parts of one, of at least so many bytes are named in the output and not copied into it: below, the copy
/// costs less than another call of the system.
pub const STORED_REPLY_MIN_BYTES: u64 = 16 * 1024;

/// Bytes of messages that may wait for a monitor or a client's cache before it is closed, unless
/// `client-output-buffer-limit` says how many: Redis' own hard limit for subscribers.
pub const INBOX_MAX_BYTES: usize = 32 * 1024 * 1024;

/// All blocked connections look at their keys this often in milliseconds where other processes commit as well: if a process ends
/// between a commit and its message, no message comes, and those who wait for one lose a second at most.
pub const CALL_ALL_PERIOD_MS: u64 = 1000;

/// The longest frame between processes that serve the same store: a message of PUBLISH with its channel.
pub const PEER_FRAME_MAX_BYTES: usize = 64 * 1024 * 1024 + 4096;

/// Bytes that wait to be sent to another process before the link is ended: the process has stopped reading, and its clients look for
/// themselves when there is a new link.
pub const PEER_QUEUE_MAX_BYTES: usize = 64 * 1024 * 1024;

/// A blocked connection that sends on is not read beyond this many bytes until its command has ended.
pub const BLOCKED_INPUT_MAX_BYTES: usize = 64 * 1024;

/// An input buffer larger than this many bytes is given back once it is nearly empty.
pub const INPUT_KEPT_BYTES: usize = 128 * 1024;

/// A datafile is sealed before it grows beyond this many bytes: large enough that rotation is rare, small enough that
/// merge finishes one in seconds.
pub const DATAFILE_MAX_BYTES: u64 = 256 * 1024 * 1024;

/// Steps (bytes of the pattern looked at) that any glob match may take: both sides up to 128 bytes always fit.
pub const GLOB_STEPS_BASE: u64 = 16 * 1024;

/// Further steps of a glob match for each byte of pattern and text. One `*` before ordinary letters takes about one
/// step a byte; patterns made to cost more than this fail, or KEYS could be made to run for hours.
pub const GLOB_STEPS_PER_BYTE: u64 = 64;

/// Buckets SCAN may look into before it returns with fewer keys than asked for, however few those are: an almost empty
/// database is walked in one call although its buckets are spread over many shards.
pub const SCAN_STEPS_MIN: u64 = 1024;

/// Most positions of unfinished HSCAN, SSCAN and ZSCAN walks a server remembers: far more than walk at the same time.
pub const SCAN_POSITIONS_MAX: usize = 16 * 1024;

/// Most bytes of subkeys in those positions, so that walks over long fields cannot fill the memory.
pub const SCAN_POSITIONS_MAX_BYTES: usize = 1024 * 1024;

/// Most positions that a frozen session keeps: those of the walks it is in the middle of, and the ones before for replies that
/// were lost.
pub const SCAN_POSITIONS_KEPT_MAX: usize = 8;

/// Most bytes of them: a quarter of what the socket of a Durable Object keeps.
pub const SCAN_POSITIONS_KEPT_BYTES: usize = 4 * 1024;

/// Longest subkey worth a position: a few long ones must not push out all others.
pub const SCAN_POSITION_MAX_BYTES: usize = 16 * 1024;

/// Most elements HRANDFIELD, SRANDMEMBER and ZRANDMEMBER return with repetition (a negative count). Redis has no bound
/// and fills its memory; without repetition the collection itself is the bound.
pub const RANDOM_PICKS_MAX: u64 = 1024 * 1024;

/// Most places whose first ones GEOSEARCH puts in exactly Redis' order where several are equally far: the sort that does so
/// may take the square of their number, which then is still some milliseconds.
pub const GEO_PARTIAL_SORT_MAX: usize = 4096;

/// Most bytes that compressed strings, and the fields that entries of a stream share, may become in one RESTORE: Redis' bound
/// for one string, here for all of them, since a few bytes may stand for hundreds.
pub const RESTORE_UNPACKED_MAX_BYTES: u64 = 512 * 1024 * 1024;

/// Bytes of subkeys that COPY holds besides the transaction itself.
pub const COPY_CHUNK_BYTES: usize = 256 * 1024;

/// Longest node of a stream, and most bytes of one entry's fields and values: Redis' own figure. Entries do not stream to
/// files, so one is held in memory whole.
pub const STREAM_NODE_MAX_BYTES: u64 = 1024 * 1024 * 1024;

/// Entries that approximate trimming removes at most in one go where nodes have no greatest number of entries: Redis' own
/// figure.
pub const STREAM_TRIM_DEFAULT_LIMIT: u64 = 10_000;

/// Largest COUNT of XAUTOCLAIM: Redis' own figure, a sixteenth of all numbers. Nothing is allocated for it.
pub const CLAIM_COUNT_MAX: i64 = i64::MAX / 16;

/// Pending entries that XAUTOCLAIM looks at for each that it may return: Redis' own figure.
pub const CLAIM_LOOKS_FOR_EACH: u64 = 10;

/// The slow log shows at most so many arguments of a request: Redis' own figure.
pub const SLOW_LOG_ARGUMENTS_MAX: usize = 32;

/// The slow log shows at most so many bytes of an argument: Redis' own figure.
pub const SLOW_LOG_ARGUMENT_MAX_BYTES: usize = 128;

/// The latency monitor keeps so many spikes of an event: Redis' own figure.
pub const LATENCY_SPIKES_MAX: usize = 160;

/// DEBUG SLEEP keeps a thread of the host for so many seconds at most; tests of waiting need no more.
pub const DEBUG_SLEEP_MAX_S: f64 = 3600.0;

/// Largest body of a REST request: it is in memory as JSON and as RESP. Larger values go over RESP, which streams them.
pub const REST_BODY_MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Most bytes of replies that one REST request may cause: they are in memory as RESP, as values and as JSON.
pub const REST_REPLY_MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Most commands in one REST pipeline or transaction: far more than clients collect (a thousand), and what is noted for
/// each stays at some MB.
pub const REST_COMMANDS_MAX: usize = 64 * 1024;

/// Candidates for eviction that are remembered: Redis' own figure.
pub const EVICTION_POOL_KEYS: usize = 16;

/// Keys that could not be evicted and are left alone: damage touches single keys, and what was forgotten is tried again.
pub const EVICTION_FAILED_KEYS: usize = 16;

/// So many keys in a row that cannot be evicted mean that none can.
pub const EVICTION_FAILURES_MAX: u32 = 64;

/// So many looks in a row that find no key are left to the next command, however long one may evict.
pub const EVICTION_MISSES_MAX: u32 = 4096;

/// Most keys of each database that are looked at for each that is evicted, whatever `maxmemory-samples` says: an order by so
/// many is as good as exact, and looking at them takes some tens of microseconds.
pub const EVICTION_SAMPLES_MAX: usize = 1024;

/// Most keys that are passed by in search of one with an expiry: about a hundred microseconds. If none is found, the next
/// search begins elsewhere.
pub const EVICTION_LOOKED_MAX: usize = 8 * 1024;

/// Keys that one command evicts at most in a home without a clock, where time cannot be looked after: about a millisecond.
pub const EVICTION_STEP_KEYS: u64 = 512;

/// Longer arguments of a command that its user may not run are dropped while they come.
pub const DENIED_ARGUMENT_MAX_BYTES: usize = 64 * 1024;

/// ACL LOG keeps so many bytes of a key, a channel or a user's name: clients choose their length.
pub const DENIED_NAME_MAX_BYTES: usize = 1024;

/// Most scripts that only EVAL has brought and that stay, as with Redis 7.4: clients that write values into the text of their
/// scripts bring a new one each time.
pub const SCRIPTS_OF_EVAL_MAX: usize = 500;

/// A connection keeps the script that it has run last, for its next request, if its source has no more bytes: however many
/// connections there are, what the cache of scripts has dropped may not fill the memory. Most scripts of libraries are shorter.
pub const SEEN_SCRIPT_MAX_BYTES: usize = 16 * 1024;

/// The same for the library of the function that a connection has called last. Connections that call functions of one library
/// keep it once between them; only one that was replaced or deleted stays for them, until they call again.
pub const SEEN_LIBRARY_MAX_BYTES: usize = 64 * 1024;

/// A script runs for so many nanoseconds where other connections wait; then it begins again on a thread of its own, if the home
/// has such threads. Nearly all scripts take less.
pub const SCRIPT_TURN_NS: u64 = 2_000_000;

/// A library may take so many nanoseconds to load, as with Redis.
pub const LIBRARY_LOAD_MAX_NS: u64 = 500_000_000;

/// Bytes of the sources of these scripts: they are kept for clients that send only the hash afterwards, and those send small ones.
pub const SOURCES_OF_EVAL_MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Bytes that one script writes into the log at most. The lines are kept until its commit.
pub const SCRIPT_LOG_MAX_BYTES: usize = 1024 * 1024;

/// Memory of one script in bytes, beyond what its interpreter holds: a hundredth of what a server has, and more than any script
/// that works on elements needs.
pub const SCRIPT_MEMORY_MAX_BYTES: u64 = 256 * 1024 * 1024;

/// Most interpreters of one language that wait for their next script: one for each thread that runs scripts at a time.
pub const IDLE_INTERPRETERS_MAX: usize = 64;

/// An interpreter that holds more bytes than this after a run is not kept.
pub const INTERPRETER_KEPT_BYTES: u64 = 16 * 1024 * 1024;

/// Most error codes that INFO errorstats counts, as with Redis; this program's own texts have some forty.
pub const ERROR_CODES_MAX: usize = 128;

/// A first word of an error with more bytes is no code that is counted.
pub const ERROR_CODE_MAX_BYTES: usize = 64;

/// Most triggers of a store: each key with the prefix of one is compared with all of them.
pub const TRIGGERS_MAX: usize = 1000;

/// Longest name of a trigger or a cron.
pub const DEFINITION_NAME_MAX_BYTES: usize = 128;

/// Most crons of a store: each that is due is looked for among all.
pub const CRONS_MAX: usize = 128;

/// Longest interval of a cron: some ten years.
pub const CRON_INTERVAL_MAX_MS: u64 = 315_360_000_000;

/// So many failures of crons are remembered, as many as the slow log has entries.
pub const CRON_FAILURES_MAX: usize = 128;

/// So many of them are shown where a request does not say how many, as with SLOWLOG GET.
pub const CRON_FAILURES_SHOWN: usize = 10;

/// An error of a cron is remembered up to this length.
pub const CRON_ERROR_MAX_BYTES: usize = 1024;

/// Longest prefix of a trigger: keys that are told apart by more are rare, and all prefixes stay in memory.
pub const TRIGGER_PREFIX_MAX_BYTES: usize = 1024;

/// Triggers may cause each other so deep: a chain of tables that refer to each other is shorter, and one without end is found
/// soon.
pub const TRIGGER_DEPTH_MAX: usize = 8;

/// So many SQL databases are kept open while no statement runs on them: each has caches of its own.
pub const IDLE_DATABASES_MAX: usize = 64;

/// Bytes of old pages that are kept for statements and cursors which look at databases as they were: some tens of thousands of pages.
pub const SQL_HISTORY_MAX_BYTES: usize = if cfg!(target_arch = "wasm32") { 8 << 20 } else { 128 << 20 };

/// Bytes of pages that a transaction of SQL.BEGIN may have changed before its COMMIT writes them.
pub const SQL_DRAFT_MAX_BYTES: usize = if cfg!(target_arch = "wasm32") { 8 << 20 } else { 256 << 20 };

/// A transaction of SQL.BEGIN that has changed something, and was not used for so long, ends if another wants to write. Clients
/// of libSQL know the same time.
pub const SQL_TRANSACTION_IDLE_MS: u64 = 5000;

/// Cursors that a client may have open: each has a connection with caches.
pub const SQL_CURSORS_MAX: usize = 16;

/// The database of SQL over HTTP at the root of the port.
pub const SQL_DEFAULT_DATABASE: &str = "sql";

/// A stream of SQL over HTTP that was not used for so long ends, as at other servers of libSQL.
pub const SQL_STREAM_IDLE_MS: u64 = 10_000;

/// Streams of SQL over HTTP that may be open.
pub const SQL_STREAMS_MAX: usize = 1000;

/// Bytes of texts that a stream may have stored, and how many.
pub const SQL_STREAM_TEXTS_MAX: (usize, usize) = (1 << 20, 1000);

/// Requests and steps in one body of SQL over HTTP.
pub const SQL_HRANA_STEPS_MAX: usize = 10_000;

/// Bytes of a body of SQL over HTTP: it is held as JSON values while it runs.
pub const SQL_HRANA_BODY_MAX_BYTES: usize = if cfg!(target_arch = "wasm32") { 1 << 20 } else { 16 << 20 };

/// Rows that SQL.CURSOR FETCH answers if it is not told how many.
pub const SQL_FETCH_DEFAULT_ROWS: usize = 100;

/// Rows that SQL.CURSOR FETCH answers at most: the reply is in memory.
pub const SQL_FETCH_MAX_ROWS: usize = 100_000;

/// Longest text of SQL, in bytes: SQLite's own bound.
pub const SQL_TEXT_MAX_BYTES: usize = 1_000_000;

/// Longest text of SQL.SCRIPT, in bytes: a dump of a small database. Its statements stay within [`SQL_TEXT_MAX_BYTES`] or SQLite's own
/// bound, but the whole text is in memory twice.
pub const SQL_SCRIPT_MAX_BYTES: usize = 16 * 1024 * 1024;

/// Bytes of a result that is held until its statement has ended, since each of its rows makes a command.
pub const SQL_GATHERED_MAX_BYTES: usize = 64 * 1024 * 1024;

/// Rows of a table that SQL.DESC counts: counting walks over all of them.
pub const SQL_COUNTED_ROWS_MAX: u64 = 10_000;

/// Columns of a table: SQLite's own bound. Each is looked for among the others.
pub const SQL_COLUMNS_MAX: usize = 2000;

/// Tables that one SQL.NORM makes.
pub const SQL_NORM_TABLES_MAX: usize = 16;

/// Statements that run inside each other, by `redis('SQL.EXEC', …)` and functions: each level is on the stack, with its interpreter.
pub const SQL_DEPTH_MAX: usize = 4;

/// Longest value or row of SQL where other connections wait, in bytes. One call of LIKE, GLOB or a function takes as long as its values
/// are, and nothing can stop it: so what has longer ones runs again where nobody waits.
pub const SQL_VALUE_FIRST_MAX_BYTES: usize = 64 << 10;

/// Longest value or row of SQL, in bytes. One is in memory several times while a statement handles it.
pub const SQL_VALUE_MAX_BYTES: usize = if cfg!(target_arch = "wasm32") { 4 << 20 } else { 64 << 20 };

/// A delta of an index becomes a segment at so many documents. A start reads the documents of the last delta again, and one of 4,000
/// long ones takes 0.2 s; the edge has them in a quarter of that.
#[cfg(not(target_arch = "wasm32"))]
pub const SEARCH_DELTA_MAX_DOCUMENTS: u32 = 4096;
/// The same at the edge.
#[cfg(target_arch = "wasm32")]
pub const SEARCH_DELTA_MAX_DOCUMENTS: u32 = 2048;

/// The same by its bytes of memory: several thousand long documents.
#[cfg(not(target_arch = "wasm32"))]
pub const SEARCH_DELTA_MAX_BYTES: usize = 16 * 1024 * 1024;
/// The same at the edge.
#[cfg(target_arch = "wasm32")]
pub const SEARCH_DELTA_MAX_BYTES: usize = 2 * 1024 * 1024;

/// Most fields of an index: each is looked for in every document.
pub const SEARCH_FIELDS_MAX: usize = 1024;

/// Most text fields, as RediSearch has it.
pub const SEARCH_TEXT_FIELDS_MAX: usize = 128;

/// Most numbers of a vector, as RediSearch has it.
pub const SEARCH_VECTOR_MAX_DIMENSION: u32 = 32_768;

/// So many documents that are in no segment are read again before a start ends: a delta and what could not be written, some tenths of
/// a second.
pub const SEARCH_REBUILT_AT_ONCE: u64 = 16 * 1024;

/// Entries of a document map that are looked at under the lock of its part at a time; reading their documents takes some milliseconds.
pub const SEARCH_REBUILT_IN_A_STEP: usize = 128;

/// Keys that are looked at for a new index in a step: each is a transaction of its own.
pub const SEARCH_SCANNED_IN_A_STEP: usize = 256;

/// Documents that were there before an index, or that are read again, are indexed only while so many bytes are left in a home that counts
/// its memory: none of this may end the home, and requests need memory, too.
pub const SEARCH_LEFT_BYTES_MIN: u64 = 32 * 1024 * 1024;

/// Postings that a step of merging segments writes: about a millisecond.
pub const SEARCH_MERGED_IN_A_STEP: u32 = 64 * 1024;

/// What a search earns for the merging of segments with each that it reads beside the first, in bytes of them: it takes some tens of
/// microseconds more with each, and a mebibyte is merged and stored in some ten milliseconds.
pub const SEARCH_EARNED_BYTES: u64 = 4096;

/// Larger segments are not merged any more. At the edge a merge needs room for its output.
#[cfg(not(target_arch = "wasm32"))]
pub const SEARCH_SEGMENT_MAX_BYTES: usize = 512 * 1024 * 1024;
/// The same at the edge.
#[cfg(target_arch = "wasm32")]
pub const SEARCH_SEGMENT_MAX_BYTES: usize = 3 * 1024 * 1024;

/// Most indexes: each costs every write of a key that it covers, and a name takes its turn in every search for a prefix.
pub const SEARCH_INDEXES_MAX: usize = 1024;

/// Longest name or alias of an index.
pub const SEARCH_NAME_MAX_BYTES: usize = 512;

/// Most words with synonyms of an index: they are written together.
pub const SEARCH_SYNONYMS_MAX: usize = 16 * 1024;

/// A change of settings by HTTP makes so many documents anew before it is answered, at most: that takes a second. More are left to upkeep.
pub const SEARCH_HTTP_REINDEXED_AT_ONCE: usize = 10_000;

/// Most results that one search shows, and most that it passes before: RediSearch's MAXSEARCHRESULTS. They are ranked together.
pub const SEARCH_RESULTS_MAX: u64 = 1_000_000;

/// Most fragments of a summary, and most words of one.
pub const SEARCH_SCANNED_FRAGMENTS_MAX: usize = 10_000;

/// Most cursors of FT.AGGREGATE: RediSearch's bound for each shard and index.
pub const SEARCH_CURSORS_MAX: usize = 128;

/// Rows that cursors hold take so much memory at most.
#[cfg(not(target_arch = "wasm32"))]
pub const SEARCH_CURSORS_MAX_BYTES: usize = 256 * 1024 * 1024;
/// The same at the edge.
#[cfg(target_arch = "wasm32")]
pub const SEARCH_CURSORS_MAX_BYTES: usize = 4 * 1024 * 1024;

/// Rows of a reply of FT.CURSOR unless a request says another number, and how long a cursor stays without use: RediSearch's defaults.
pub const SEARCH_CURSOR_ROWS: usize = 1000;
/// In milliseconds.
pub const SEARCH_CURSOR_IDLE_MS: u64 = 300_000;

/// Longest suggestion of FT.SUGADD and longest term of FT.DICTADD, in characters: RediSearch's own bound.
pub const SUGGESTION_MAX_CHARS: usize = 254;

/// Longest beginning that FT.SUGGET completes, in characters: RediSearch's own bound.
pub const SUGGESTION_PREFIX_MAX_CHARS: usize = 99;

/// Suggestions that FT.SUGGET looks at, at most: a tenth of a second's worth. More begin alike only where less than a word was typed in a
/// dictionary of millions, and the answer would come too late for anybody who types.
pub const SUGGESTIONS_LOOKED_AT_MAX: u64 = 1_000_000;

/// An argument that is unknown is shown in its error up to this length.
pub const UNKNOWN_ARGUMENT_SHOWN_BYTES: usize = 128;

/// What a search does in a millisecond, in postings that are read: TIMEOUT is counted in work, since homes without a clock have it, too.
pub const SEARCH_WORK_PER_MS: u64 = 100_000;
