//! Every bound of the gateway, each with its reason. The bounds of the protocol are the core's.

use std::time::Duration;

/// A worker's read buffer, lent to a connection while it has input: large enough for a deep pipeline or a good piece of
/// a large value in one system call. Measured: with 16 KiB a SET of 20 kB costs a quarter more.
pub const READ_BUFFER_BYTES: usize = 64 * 1024;

/// Threads for requests that take long, at least: so one that takes minutes does not hold up the next.
pub const LONG_RUN_THREADS_MIN: usize = 2;

/// Threads for requests that take long, at most: so many scripts may run for minutes at a time, and each has a thread's stack.
pub const LONG_RUN_THREADS_MAX: usize = 64;

/// A request that takes long waits for one of the usual threads for so long before it gets one of its own. Many short ones are served
/// faster by a few threads, which leave the processors to the workers.
pub const LONG_RUN_PATIENCE: Duration = Duration::from_millis(100);

/// The niceness of these threads. Where all processors are busy, a worker then gets several times the share of a script, and runs as
/// soon as it has something to do; with a larger one a script that was killed might not get to notice within 20 ms.
pub const LONG_RUN_NICENESS: i32 = 5;

/// Bytes that one connection is sent before it is the turn of the others: a few hundred microseconds.
pub const SEND_TURN_BYTES: u64 = 1024 * 1024;

/// Replies that do not go from file to socket inside the kernel are sent in pieces of so many bytes.
pub const STORED_PIECE_BYTES: usize = 128 * 1024;

/// A part of a blob that was not compared with its checksums while its reply was made is compared and sent in pieces of so
/// many bytes: it stays in the processor's cache, and a peer that takes less at a time makes little of it be read again.
pub const CHECKED_PIECE_BYTES: u64 = 256 * 1024;

/// Stored values up to this length are sent in one call with the bytes around them; beyond, sendfile costs less.
pub const GATHER_MAX_BYTES: u64 = 64 * 1024;

/// Default of `proto-max-bulk-len` on the gateway. Values in blobs could be as large as the disk. This bounds how much one
/// SETBIT far behind the end of a value makes the next start read after a crash: recovery reads unsynced blobs.
pub const BULK_MAX_BYTES: u64 = 64 << 30;

/// Default of `scrub-bytes-per-second`: a hundredth of what an NVMe disk reads, and a terabyte in eighteen hours.
pub const SCRUB_BYTES_PER_SECOND: u64 = 16 * 1024 * 1024;

/// Default of `scrub-interval-days`: a month, as distributions have it for ZFS and Btrfs.
pub const SCRUB_INTERVAL_DAYS: u32 = 30;

/// A worker keeps so many free read buffers between rounds.
pub const LENT_BUFFERS_KEPT: usize = 64;

/// Connections that one round serves at most, so that the first reply does not wait for too many others.
pub const ROUND_EVENTS: usize = 128;

/// A worker looks at least this often whether connections are past their deadlines.
pub const SWEEP_PERIOD: Duration = Duration::from_secs(1);

/// The beginning of a request that waits for its rest keeps a buffer of its own only above this many bytes; below, it
/// is copied, so that a slow sender holds no more than it sent.
pub const SMALL_INPUT_BYTES: usize = 4 * 1024;

/// A connection that goes idle after a longer reply gives its output buffer back.
pub const IDLE_OUTPUT_BYTES: usize = 1024;

/// File descriptors kept for new datafiles, blobs, sled, listeners and logs when `maxclients` is fitted into the system's limit.
pub const RESERVED_DESCRIPTORS: u64 = 1024;

/// But clients get so many in any case, as far as the limit goes: a server that nobody can reach cannot be mended either.
pub const CLIENTS_LEAST: u64 = 32;

/// But at most this part of them where the limit is low.
pub const RESERVED_DESCRIPTORS_PART: u64 = 4;

/// After accept failed (no descriptor left, say), the acceptor waits this long: the cause does not go away at once.
pub const ACCEPT_RETRY: Duration = Duration::from_millis(100);

/// The head of an HTTP request, at most: a token, cookies and a few dozen other fields.
pub const HTTP_HEAD_MAX_BYTES: usize = 32 * 1024;

/// The largest message of a WebSocket, since it is in memory as a whole. Longer requests are split over messages.
pub const MESSAGE_MAX_BYTES: u64 = 32 * 1024 * 1024;

/// The same before the peer has authenticated: ten arguments of 16 KiB, and the bytes around them.
pub const UNAUTHENTICATED_MESSAGE_MAX_BYTES: u64 = 256 * 1024;

/// A WebSocket's read buffer, which it owns: large enough for nearly every request, and ten thousand of them are 40 MiB.
pub const WEBSOCKET_READ_BYTES: usize = 4 * 1024;

/// Decrypted bytes are taken so many at a time, which is less than a record of TLS may hold.
pub const TLS_READ_BYTES: usize = 8 * 1024;

/// A WebSocket that has carried a message longer than this gives its buffers back when it is idle.
pub const WEBSOCKET_KEPT_BYTES: u64 = 16 * 1024;

/// Messages that are taken from a WebSocket before their requests run.
pub const WEBSOCKET_ROUND_MESSAGES: usize = 64;

/// A message may come in so many fragments of any length.
pub const FRAGMENTS_FREE: u64 = 256;

/// More fragments must hold so many bytes on average: a fragment costs as much as a small command.
pub const FRAGMENT_MEAN_MIN_BYTES: u64 = 64;

/// Pings, pongs and empty messages that a peer may send within [`CONTROL_PERIOD`].
pub const CONTROL_FRAMES_MAX: u32 = 200;

/// See [`CONTROL_FRAMES_MAX`].
pub const CONTROL_PERIOD: Duration = Duration::from_secs(10);

/// So many bytes of server-sent events wait for a slow reader. Then its session pauses, and later events wait in its inbox,
/// which has a bound of its own.
pub const EVENTS_PAUSE_BYTES: usize = 64 * 1024;

/// So much of the body of a refused request is read and dropped, so that its client sees the answer, and for so long.
pub const DISCARDED_BODY_MAX_BYTES: usize = 1024 * 1024;
/// See [`DISCARDED_BODY_MAX_BYTES`].
pub const DISCARDED_BODY_MAX_WAIT: Duration = Duration::from_secs(2);

/// A peer has so long to answer the close of a WebSocket or of TLS.
pub const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// Default of `http-max-per-address`: browsers open a handful, a pool of a server some dozens, proxies more.
pub const CONNECTIONS_PER_ADDRESS: usize = 1024;

/// A connection that rests because it writes too fast looks this often whether it still must.
pub const REST_LOOK_PERIOD: Duration = Duration::from_secs(1);

/// How long replies of running batches may take to leave when the process stops.
pub const STOP_GRACE: Duration = Duration::from_secs(5);

/// The syncer's period under `everysec`.
pub const SYNC_PERIOD: Duration = Duration::from_secs(1);

/// Once so many bytes of the log are not synced, the syncer does it at once: the loss of power loses little more, and the disk
/// gets no more at once.
pub const UNSYNCED_MUCH_BYTES: u64 = 16 * 1024 * 1024;

/// The thread of crons looks at the clock at least this often: the clock may have been set, or a pause of clients may have ended.
pub const CRON_LOOK_PERIOD: Duration = Duration::from_millis(250);

/// Maintenance looks for work this often.
pub const MAINTENANCE_PERIOD: Duration = Duration::from_millis(100);

/// The same while writers are slowed down because merge is left behind: each wait is theirs as well.
pub const BRAKED_PERIOD: Duration = Duration::from_millis(2);

/// Keys collected by one step of active expiry: some tens of microseconds.
pub const EXPIRE_STEP_KEYS: u64 = 200;

/// Bytes of log read by one step of a merge: a few milliseconds of an NVMe disk.
pub const MERGE_STEP_BYTES: u64 = 4 * 1024 * 1024;

/// A store that is read within this time is served from then on. While a larger one is being read, clients are told so.
pub const SILENT_LOADING: Duration = Duration::from_millis(200);

/// How often the progress of loading is noted.
pub const PROGRESS_PERIOD: Duration = Duration::from_millis(50);

/// Once so many bytes of the datafile that is appended to have no hints, they are written: the next start reads no more of it.
/// Each time costs a sync.
pub const HINT_AHEAD_BYTES: u64 = 32 * 1024 * 1024;

/// While fewer bytes than this have no hints, writing them takes little of a processor; beyond, they are written as fast as
/// merge works, because the next start must not take long.
pub const UNHINTED_MUCH_BYTES: u64 = 512 * 1024 * 1024;

/// How long maintenance rests after a step that wrote hints, in durations of the step, while few bytes have none.
pub const REST_PER_HINTS: u32 = 9;

/// While there is other work, hints are written for a part of the time, and only if many bytes have none: as long again for
/// each of so many durations.
pub const WORK_PER_HINTS: u32 = 4;

/// A merge that has failed is begun anew after this long at the latest: what it lacks, room most often, may come back at any
/// time, and it reads and writes some datafiles for nothing each time that it does not.
pub const MERGE_RETRY_MAX: Duration = Duration::from_secs(2);

/// The same of hints, which are only there to make the next start quick.
pub const HINT_RETRY_MAX: Duration = Duration::from_secs(60);

/// What ended less than this ago may begin again: the log says that it has ended only then.
pub const CALM_PERIOD: Duration = Duration::from_secs(3);

/// Units of keydir garbage freed by one step.
pub const GARBAGE_STEP: u64 = 1000;

/// Memory goes back to the system after so many bytes of garbage were freed: that costs every thread up to some
/// milliseconds.
pub const TRIMMED_GARBAGE_BYTES: u64 = 4 * 1024 * 1024;

/// Maintenance sleeps for at least as many times the duration of its last step as this: it takes at most half of one
/// processor however fast the disk is.
pub const REST_PER_WORK: u32 = 1;

/// A delta of an index with so many documents becomes a segment when the server stops; fewer are read again within some milliseconds.
pub const SEALED_AT_STOP_MIN: u32 = 256;

/// Segments are stored for so long when the server stops. What is left then is read again by the next start.
pub const STORING_AT_STOP_MAX: Duration = Duration::from_secs(5);

/// The deadlines of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Deadlines {
    /// From connecting to a successful AUTH or HELLO, where a password is set.
    pub unauthenticated: Duration,
    /// A peer that takes none of its replies for so long is cut. Its memory is bounded meanwhile: requests
    /// do not run while replies wait.
    pub unread_output: Duration,
    /// For a TLS handshake or the head of an HTTP request, which take milliseconds. Also how long a connection that HTTP
    /// keeps open may be silent.
    pub handshake: Duration,
    /// A WebSocket that has been silent for so long is pinged, and cut after the same time again. Proxies forget idle
    /// connections after a minute or more.
    pub silence: Duration,
}

impl Default for Deadlines {
    fn default() -> Deadlines {
        Deadlines {
            unauthenticated: Duration::from_secs(10),
            unread_output: Duration::from_secs(60),
            handshake: Duration::from_secs(10),
            silence: Duration::from_secs(30),
        }
    }
}

/// How long a request to a cluster may take where nobody says otherwise: a change of leaders takes about two seconds.
pub const CLUSTER_TIMEOUT_MS: u64 = 5000;

/// How long old versions of values stay in a cluster where nobody says otherwise: a transaction may take half of it.
pub const CLUSTER_LIFE_MS: u64 = 120_000;

/// The longest string where the data is in a cluster: a longer one would keep a region of it busy for long.
pub const CLUSTER_BULK_MAX_BYTES: u64 = 512 * 1024 * 1024;

/// The longest argument there that does not become a blob as it comes: a transaction brings its bytes as a whole.
pub const CLUSTER_ARGUMENT_MAX_BYTES: u64 = 60 * 1024 * 1024;

/// The longest name of a store in a cluster: it is part of every key.
pub const STORE_NAME_MAX_BYTES: usize = 64;

/// The lease of a server in a cluster, in milliseconds: so long others wait for one that is stopped.
pub const PEER_LEASE_MS: u64 = 3000;

/// The lease is renewed, and the other servers are looked for, this often.
pub const PEER_LOOK_PERIOD: Duration = Duration::from_secs(1);

/// While another server has no link, blocked connections look for themselves this often.
pub const PEER_CALL_PERIOD: Duration = Duration::from_millis(50);

/// A link is made within this time, or tried again.
pub const PEER_HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(2);

/// A server waits at its start so long until it is linked to all others: somewhat longer than the lease of one that has just died.
pub const PEER_JOIN_WAIT: Duration = Duration::from_secs(5);

/// Definitions that other servers may have changed are read this often, since a message may be lost with its sender.
pub const PEER_DEFINITIONS_PERIOD: Duration = Duration::from_secs(2);

/// Clients of one other server that have sessions here at a time, for requests that it has forwarded; those of more run where they come from.
pub const PEER_VISITORS_MAX: usize = 1024;

/// Such a session ends so long after its last request.
pub const PEER_VISITOR_IDLE: Duration = Duration::from_secs(5);

/// Bytes that are read from a link at once.
pub const PEER_READ_BYTES: usize = 64 * 1024;

/// A datafile of a log in memory ends before it is longer: it grows as a whole, and goes only as a whole.
pub const MEMORY_DATAFILE_MAX_BYTES: u64 = 16 * 1024 * 1024;

/// A connection in a program runs its requests once so many bytes of them have been written, and before they are polled for, so
/// that an argument for a blob is never in memory as a whole.
pub const EMBEDDED_INPUT_BYTES: usize = 256 * 1024;

/// Schemas of JSON Schema that stay compiled.
pub const SCHEMAS_KEPT_MAX: usize = 64;

/// A longer schema is compiled each time: what stays of one takes some ten times its text.
pub const SCHEMA_KEPT_BYTES_MAX: usize = 64 * 1024;
