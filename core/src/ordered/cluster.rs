//! What a cluster must be able to do: an ordered key-value store with snapshots and optimistic transactions.
//!
//! Keys and values are bytes; a value is never empty. Reads of a transaction see everything that was committed before it
//! began, and nothing later. A write happens as a whole or not at all, and only if no key of it, changed or
//! [locked](Write::locks), was changed by somebody else since the transaction began (snapshot isolation).
//!
//! Nothing here waits: what takes a while calls back, from any thread, exactly once. A call may come before the function
//! that was asked returns.

/// Something to read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ask {
    /// The value of a key.
    Get(Vec<u8>),
    /// Pairs in the order of their keys.
    Scan(Scan),
}

/// Pairs of a range, in the order of their keys.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Scan {
    /// The first key that may be shown.
    pub from: Vec<u8>,
    /// The first key behind those that may be shown.
    pub to: Vec<u8>,
    /// At most so many pairs.
    pub limit: u32,
    /// From the end of the range to its beginning.
    pub is_reverse: bool,
    /// Values are not needed, and shown empty.
    pub keys_only: bool,
}

/// Keys with their values.
pub type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

/// What was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The value of a key, if it is there.
    Value(Option<Vec<u8>>),
    /// Pairs in the order of the scan. Fewer than its limit only if there are no more.
    Pairs(Pairs),
}

/// What a transaction changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Write {
    /// Keys with the values that they get; None removes a key. Each key is there once.
    pub changes: Vec<(Vec<u8>, Option<Vec<u8>>)>,
    /// Keys that must not have changed since the transaction began, and do not change by it.
    pub locks: Vec<Vec<u8>>,
    /// A transaction that begins with this write must begin at this time of the cluster, in milliseconds, or before; else nothing is
    /// written ([`ClusterError::Late`]).
    pub begins_until_ms: Option<u64>,
}

/// Why something was not read or written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClusterError {
    /// Another transaction was in the way; nothing has happened. A new transaction may go through.
    #[error("another transaction was in the way: {0}")]
    Conflict(String),
    /// The part of the cluster that has the keys was elsewhere, or nobody's at the moment; nothing has happened. A new transaction may
    /// go through.
    #[error("the cluster is changing: {0}")]
    Moved(String),
    /// The cluster cannot be reached, or did not answer in time; nothing has happened.
    #[error("the cluster cannot be reached: {0}")]
    Unavailable(String),
    /// A new transaction began later than it may; nothing has happened.
    #[error("the transaction began too late")]
    Late,
    /// It is not known whether the write has happened, and never will be by asking again.
    #[error("whether the write has happened is not known: {0}")]
    Unknown(String),
    /// The cluster refuses it, and will again; nothing has happened.
    #[error("the cluster refuses it: {0}")]
    Refused(String),
}

/// In which transaction something is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadIn<T> {
    /// In one that has begun.
    Begun(T),
    /// In a new one, which begins after the call.
    New,
    /// The same, and it will not write anything; it may begin for several that ask at the same time.
    NewToRead,
}

impl<T> ReadIn<T> {
    /// In this one if it has begun, else in a new one that may write.
    pub fn begun_or_new(transaction: Option<T>) -> ReadIn<T> {
        transaction.map_or(ReadIn::New, ReadIn::Begun)
    }
}

/// Called with the transaction, to go on with it, and the answers in the order of what was asked.
pub type ReadDone<T> = Box<dyn FnOnce(Result<(T, Vec<Answer>), ClusterError>) + Send>;

/// Called with the end of a write.
pub type WriteDone = Box<dyn FnOnce(Result<(), ClusterError>) + Send>;

/// Called with the time up to which versions were let go of, in milliseconds of the cluster's clock; None where nothing is to be done.
pub type VersionsDone = Box<dyn FnOnce(Result<Option<u64>, ClusterError>) + Send>;

/// A cluster, as one process sees it.
pub trait Cluster: Send + Sync + 'static {
    /// A transaction that has begun. To drop one ends it without a trace.
    type Transaction: Send + 'static;

    /// When a transaction began, in milliseconds of the cluster's time, which is the same for all processes.
    fn time_ms(&self, transaction: &Self::Transaction) -> u64;

    /// Reads all of `asks` in one round.
    fn read(&self, within: ReadIn<Self::Transaction>, asks: Vec<Ask>, done: ReadDone<Self::Transaction>);

    /// Ends a transaction, or a new one that has read nothing, with these changes. One that was begun to read is refused.
    fn write(&self, transaction: Option<Self::Transaction>, write: Write, done: WriteDone);

    /// Milliseconds of a clock that only goes forward.
    fn now_ms(&self) -> u64;

    /// Calls after about so many milliseconds, unless the process ends before.
    fn later(&self, delay_ms: u64, call: Box<dyn FnOnce() + Send>);

    /// Removes all keys from `from` up to `to`, without a transaction and not as a whole; for what nobody refers to any more.
    fn destroy(&self, from: Vec<u8>, to: Vec<u8>, done: WriteDone);

    /// Lets go of the versions of values that only transactions which began longer than `life_ms` ago could see. It may take
    /// long. A cluster that keeps no old versions, or whose tests need all of them, has nothing to do.
    fn collect_versions(&self, _life_ms: u64, done: VersionsDone) {
        done(Ok(None));
    }

    /// Facts for INFO about the connection to it: (name, value).
    fn report(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}
