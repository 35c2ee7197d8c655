//! The boundary between commands and stores: an ordered space addressed by (database, key, subkey).
//!
//! A key has a *root*: its type, encoding, expiry and, for strings, its value. Keys of the other types also have
//! *subkeys*, ordered by their bytes and counted, so that rank, selection by rank and ranges cost O(log n). Removing
//! or replacing a root takes all its subkeys with it in O(1).
//!
//! An engine gives two things only: reads of the committed state ([`Reader`]) and the commit of one batch
//! ([`Engine::commit`]). Everything between, reading one's own writes included, is [`Txn`], which is the same for every
//! engine. The laws an engine must keep are the functions of [`laws`], run against each engine by its tests.
//!
//! This module never knows what a hash or a list is, and never knows files.

mod access;
mod ahead;
mod alone;
mod blob;
mod changed;
mod checked;
mod checksum;
mod draft;
mod drafts;
mod key_state;
pub mod laws;
pub mod memory;
mod overlay;
mod sample;
mod savepoints;
mod sub_changes;
mod sub_walk;
mod subkeys;
mod sums;
mod turns;
mod txn;
mod values;
#[cfg(test)]
mod tests;
pub mod waiting;

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;

pub use access::{ACCESS_CLOCK_MASK, Decay, Touch, access_clock};
pub use alone::{look_alone, run_alone, write_alone};
pub use blob::{BlobRef, BlobStore, PATCH_BYTES, PatchSource, Patched, SUM_PIECE_BYTES, blob_error};
pub use changed::Changed;
pub use checked::Checked;
pub(crate) use checksum::append as checksum_append;
pub use draft::Draft;
pub use drafts::Drafts;
pub use key_state::{DbChange, Source};
pub use overlay::{Change, Overlay, RootChange};
pub(crate) use sample::by_random_keys as sample_by_random_keys;
pub use sample::{Sample, Sampled};
pub use savepoints::Savepoint;
pub use sub_changes::{SubBytes, SubChange, SubChanges};
pub use sub_walk::{Start, SubWalk};
pub use sums::{fit_pages, is_page, sums_of_blob};
pub use turns::Turn;
pub use txn::{NewRoot, Txn};
pub use values::Piece;

use crate::memory_budget::BudgetExceeded;
use crate::storage::{Blob, BlobId};

/// Number of a logical database, as SELECT takes it.
pub type Db = u32;

/// The Redis type of a key. The numbers are part of the datafile format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// A byte string, held in the root itself.
    String = 1,
    /// A list: subkeys are positions.
    List = 2,
    /// A set: subkeys are members.
    Set = 3,
    /// A sorted set: subkeys are members and (score, member) pairs.
    SortedSet = 4,
    /// A hash: subkeys are fields.
    Hash = 5,
    /// A stream: subkeys are entries, groups, consumers and what they have pending.
    Stream = 6,
    /// An SQL database: subkeys are pages and patches of pages.
    SqlDatabase = 7,
    /// Suggestions for what is being typed: subkeys are texts.
    Suggestions = 8,
    /// A JSON document: in the root itself, or cut into pieces, which are subkeys.
    Json = 9,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 9] = [
        Kind::String,
        Kind::List,
        Kind::Set,
        Kind::SortedSet,
        Kind::Hash,
        Kind::Stream,
        Kind::SqlDatabase,
        Kind::Suggestions,
        Kind::Json,
    ];

    /// The kind with the name that TYPE replies with, in letters of any case, if there is one.
    pub fn named(name: &[u8]) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| name.eq_ignore_ascii_case(kind.name().as_bytes()))
    }

    /// The kind with this number in the datafile format, if there is one.
    pub fn from_number(number: u8) -> Option<Kind> {
        Kind::ALL.into_iter().find(|kind| *kind as u8 == number)
    }

    /// The name TYPE replies with.
    pub fn name(self) -> &'static str {
        match self {
            Kind::String => "string",
            Kind::List => "list",
            Kind::Set => "set",
            Kind::SortedSet => "zset",
            Kind::Hash => "hash",
            Kind::Stream => "stream",
            Kind::SqlDatabase => "sqldb",
            // RediSearch's name.
            Kind::Suggestions => "trietype0",
            // RedisJSON's name.
            Kind::Json => "ReJSON-RL",
        }
    }
}

/// Where an engine finds the value of a root that one of its readers gave out. Only that engine can read it, and only
/// while the reader lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Place(pub u64, pub u64);

/// The part of a key that an engine knows without touching a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Root {
    /// The Redis type.
    pub kind: Kind,
    /// A byte that belongs to the data layer (which of a type's encodings was reached); engines only keep it.
    pub encoding: u8,
    /// Unix time in milliseconds at which the key is gone, if it ever is.
    pub expires_at_ms: Option<u64>,
    /// Length of the root's own value in bytes.
    pub value_len: u64,
    /// Where the value is, if it is too large for the log.
    pub blob: Option<BlobRef>,
    /// The value itself, if it is short and the engine had it at hand.
    pub short: Option<ShortValue>,
    /// When it was last used, or how often: 24 bits (see [`Touch`]).
    pub access: u32,
    /// Where the engine finds the value.
    pub place: Place,
    /// Which collection holds the subkeys, if the engine made one; 0 if it did not.
    pub collection: u64,
}

impl Root {
    /// For how many seconds the key was not used, where [`Root::access`] is a time.
    pub fn idle_s(&self, now_ms: u64) -> u32 {
        access_clock(now_ms).wrapping_sub(self.access) & ACCESS_CLOCK_MASK
    }

    /// Whether the key is gone at `now_ms`.
    pub fn is_expired(&self, now_ms: u64) -> bool {
        self.expires_at_ms.is_some_and(|at| at <= now_ms)
    }
}

/// Values of at most this many bytes may come along with their root: counters, flags and the like.
pub const SHORT_VALUE_BYTES: usize = 12;

/// A value of at most [`SHORT_VALUE_BYTES`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShortValue {
    len: u8,
    bytes: [u8; SHORT_VALUE_BYTES],
}

impl ShortValue {
    /// These bytes, if they are few enough.
    #[inline]
    pub fn of(value: &[u8]) -> Option<ShortValue> {
        let mut bytes = [0; SHORT_VALUE_BYTES];
        bytes.get_mut(..value.len())?.copy_from_slice(value);
        Some(ShortValue { len: value.len() as u8, bytes })
    }

    /// The bytes.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.len)).unwrap_or_default()
    }
}

/// An error below a command.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EngineError {
    /// The batch was not written because the disk is full; nothing changed and reads go on.
    #[error("no space left for the log: {0}")]
    Full(String),
    /// What was asked for needs a file descriptor, or memory, that the system does not give at the moment; nothing changed.
    #[error("the system has no file descriptor or no memory left: {0}")]
    Exhausted(String),
    /// The store refuses writes since a write or sync failed; it must be reopened.
    #[error("the store is read-only since an error: {0}")]
    ReadOnly(String),
    /// The store was opened to be read only.
    #[error("the store was opened to be read only")]
    OpenedToRead,
    /// The value does not fit into memory, and it was asked for in one piece.
    #[error("the value of {0} bytes is too large to be held in memory")]
    TooLarge(u64),
    /// The transaction changes more members of collections than the home has memory for; nothing changed.
    #[error("one request or transaction may change {0} members of collections at most here")]
    TooManyChanges(u64),
    /// The transaction needs more memory than the home has left; nothing changed.
    #[error("the request needs more memory than is left; ask for less at a time")]
    BudgetExceeded,
    /// Stored bytes do not carry their checksum, or could not be read.
    #[error("{0}")]
    Damaged(String),
    /// A key outside the transaction's scope was touched; [`Reader::undeclared`] names it. The executor runs the
    /// transaction again with more locks.
    #[error("key outside the transaction's scope")]
    Undeclared,
    /// The storage cannot be reached at the moment; nothing changed.
    #[error("{0}")]
    Unavailable(String),
    /// Whether the changes were made is not known, and nobody finds out by asking again.
    #[error("{0}")]
    Unknown(String),
    /// There is no database with this number.
    #[error("there is no database {0}")]
    NoSuchDatabase(Db),
    /// The engine must fetch something before it can answer; see [`Engine::park`]. The executor runs the transaction
    /// again once it is there.
    #[error("not here yet")]
    NotHere,
    /// The transaction would keep other connections waiting for long. The executor throws the run away, and the host runs the
    /// request where it may take its time.
    #[error("takes long")]
    TakesLong,
    /// What stood in its way will not stand there if the executor runs the transaction once more: another transaction, which
    /// this one has let pass ([`Txn::let_pass`]), changed what it is about to change, or memory is free now.
    #[error("to be run once more")]
    OnceMore,
    /// A reaction to the changes refuses the transaction; the text is the reply. Nothing changed.
    #[error("{0}")]
    Refused(String),
}

impl EngineError {
    /// Whether the transaction is to be run again from its start, with more locks, more fetched or more time.
    pub fn asks_to_run_again(&self) -> bool {
        use EngineError::{NotHere, OnceMore, TakesLong, Undeclared};
        matches!(self, Undeclared | NotHere | TakesLong | OnceMore)
    }

    /// The error of reading something of a key: damage is told with the key.
    #[cold]
    pub(crate) fn of_key(self, db: Db, key: &[u8]) -> EngineError {
        match self {
            EngineError::Damaged(what) => EngineError::Damaged(blob::unreadable(db, key, &what)),
            error => error,
        }
    }
}

impl From<BudgetExceeded> for EngineError {
    fn from(_: BudgetExceeded) -> EngineError {
        EngineError::BudgetExceeded
    }
}

/// Shorthand for results below commands.
pub type Result<T> = std::result::Result<T, EngineError>;

/// Where the definitions of a store live: functions, users, indexes, tables. It is a database beside the numbered ones:
/// commits that touch it and data are atomic, keys in it expire as others do, [`Txn::flush`] and [`Txn::swap`] refuse it,
/// and no client can select it.
pub const CATALOG: Db = Db::MAX;

/// Whether a key of the catalog has definitions. One that begins with `~` has what goes with them, as the time at which a cron ran
/// last: nobody who keeps definitions in memory needs to hear of it.
pub fn is_definition(key: &[u8]) -> bool {
    !key.starts_with(b"~")
}

/// Which keys a transaction may touch; the engine locks (or fetches) these and nothing else.
#[derive(Clone, Copy, Debug)]
pub enum Scope<'s> {
    /// No key at all: connection and server commands.
    Nothing,
    /// These keys, in any database.
    Keys(&'s [&'s [u8]]),
    /// Every key of every database.
    Everything,
}

/// In which order subkeys are walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From smaller to larger subkeys.
    Ascending,
    /// From larger to smaller subkeys.
    Descending,
}

/// The part of each pair that a walk over subkeys needs; values may cost a disk read each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// Subkeys only; the visitor sees empty values.
    Subkeys,
    /// Subkeys and their values.
    Values,
    /// Values only; an engine may show empty subkeys if that saves it work.
    ValuesAlone,
}

/// Sees one key of a walk over a database.
pub type KeyVisitor<'v> = &'v mut dyn FnMut(&[u8], &Root);

/// Sees one (subkey, value) pair and says whether to go on.
pub type SubVisitor<'v> = &'v mut dyn FnMut(&[u8], &[u8]) -> ControlFlow<()>;

/// Reads of the committed state, consistent from [`Engine::begin`] until it is dropped.
///
/// Expired keys are still there for a reader: only [`Txn`] knows what time it is.
pub trait Reader {
    /// The root of a key. `touch`, if given, notes this use of it, which the root shows. A run that is
    /// thrown away has used the key as well.
    fn root(&mut self, db: Db, key: &[u8], touch: Option<Touch>) -> Result<Option<Root>>;

    /// Where new blobs come from.
    fn blobs(&self) -> Arc<dyn BlobStore>;

    /// A committed blob as it was written: without patches.
    fn open_blob(&mut self, id: BlobId) -> Result<Arc<dyn Blob>>;

    /// The checksums of the pieces ([`SUM_PIECE_BYTES`]) of a committed blob whose root says that it has none; None if the
    /// blob does not hold what its root says. Reads the whole blob, unless the engine remembers them.
    fn older_sums(&mut self, reference: BlobRef) -> Result<Option<Arc<[u32]>>> {
        let blob = self.open_blob(reference.id)?;
        Ok(sums_of_blob(&*blob, reference)?.map(Arc::from))
    }

    /// `base`, the blob of this root, with the patches that its subkeys hold now for the bytes of `range` (from, to). What
    /// is returned stays as it is, whatever is committed later. Errors name the key `owner`.
    fn patched(
        &mut self,
        owner: (Db, &[u8]),
        root: &Root,
        base: Arc<dyn Blob>,
        range: (u64, u64),
    ) -> Result<Arc<dyn Blob>>;

    /// Shows `range` (offset and length in bytes, within `root.value_len`) of a root's value, in one piece. Not for
    /// roots with a blob.
    fn read_value(&mut self, root: &Root, range: (u64, u64), visit: &mut dyn FnMut(&[u8])) -> Result<()>;

    /// About how many bytes of memory the engine takes for a key with this root, its subkeys included.
    fn memory_bytes(&mut self, key: &[u8], root: &Root) -> Result<u64>;

    /// Number of subkeys.
    fn sub_len(&mut self, root: &Root) -> Result<u64>;

    /// Whether the subkey is there.
    fn sub_contains(&mut self, root: &Root, subkey: &[u8]) -> Result<bool>;

    /// The same for a caller that is going to put or remove the subkey, so that an engine which must fetch fetches what that needs
    /// as well.
    fn sub_contains_to_change(&mut self, root: &Root, subkey: &[u8]) -> Result<bool> {
        self.sub_contains(root, subkey)
    }

    /// Shows the value of a subkey; false if there is none.
    fn sub_read(&mut self, root: &Root, subkey: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool>;

    /// Number of subkeys smaller than `subkey`, which need not be there.
    fn sub_rank(&mut self, root: &Root, subkey: &[u8]) -> Result<u64>;

    /// Walks the subkeys of a root until the visitor breaks or none is left.
    fn sub_scan(&mut self, root: &Root, walk: SubWalk<'_>, visit: SubVisitor<'_>) -> Result<()>;

    /// Makes sure that the snapshot has every key of every database, for what is about to happen to whole databases: counting,
    /// emptying, swapping and walking see no more than it has. Fails with [`EngineError::Undeclared`] if it has only some.
    fn require_everything(&mut self) -> Result<()> {
        Ok(())
    }

    /// Number of keys of a database, those that expired but were not collected yet included.
    fn key_count(&mut self, db: Db) -> Result<u64>;

    /// Number of keys of a database that have an expiry.
    fn expiring_count(&mut self, db: Db) -> Result<u64>;

    /// One step of a walk over the keys of a database: shows the keys at `cursor` (0 to begin) and returns the next
    /// cursor, 0 at the end. A key that is there during the whole walk is seen at least once. Cursors stay below 2^48.
    fn scan_keys(&mut self, db: Db, cursor: u64, visit: KeyVisitor<'_>) -> Result<u64>;

    /// Shows a key picked with the help of `random`; nothing if the database is empty.
    fn random_key(&mut self, db: Db, random: u64, visit: KeyVisitor<'_>) -> Result<()>;

    /// A number that is another one after every commit which changed the key, whoever made it; 0 for a key without one. Engines
    /// in which nobody else commits need none: their [watches](Engine::watch) tell.
    fn version(&mut self, _db: Db, _key: &[u8]) -> Result<u64> {
        Ok(0)
    }

    /// Says what is about to be read, so that an engine which must fetch it can fetch it at once. A hint: it changes
    /// nothing, and what is never read does no harm.
    fn announce(&mut self, _db: Db, _keys: &[&[u8]]) {}

    /// The same of subkeys of a root, which are to be read, or put or removed.
    fn announce_subs(&mut self, _root: &Root, _subkeys: &[&[u8]], _are_to_change: bool) {}

    /// Says that a subkey of a root will come or go, about which the caller does not ask because it knows. A hint, too.
    fn announce_change(&mut self, _root: &Root, _subkey: &[u8]) {}

    /// Says that the subkeys with these ranks are about to be looked for. A hint, too.
    fn announce_ranks(&mut self, _root: &Root, _ranks: &[u64]) {}

    /// Says whether the reader may guess; it may not at the start. Where something is to be fetched, an engine may then answer what
    /// is likely, or that there is nothing, instead of [`EngineError::NotHere`], so that the run goes on and everything that it
    /// needs is fetched together. Only for a caller that throws the run away if there was a guess ([`Reader::has_guessed`]).
    fn allow_guesses(&mut self, _are_allowed: bool) {}

    /// Whether an answer was a guess: the run is to end as if the last read had failed with [`EngineError::NotHere`].
    fn has_guessed(&self) -> bool {
        false
    }

    /// Says that the transaction is about to write keys that will be [announced](Reader::announce), so that an engine may have
    /// writers of one key take turns.
    fn announce_writes(&mut self) {}

    /// Says that the transaction will only read, as far as its caller knows, so that an engine may have several begin together. If there
    /// is something to commit all the same, the commit ends with [`EngineError::NotHere`], and the transaction is to be run again as one
    /// that [writes](Reader::announce_writes).
    fn announce_only_reads(&mut self) {}

    /// Whether what was read includes what others have yet to write, so that an outcome which rests on it must not be told before
    /// that has happened: it is to be committed, even if nothing has changed, or [postponed](Reader::postpone).
    fn is_provisional(&self) -> bool {
        false
    }

    /// Says that the run is thrown away because it is [provisional](Reader::is_provisional): once it is parked, it is resumed when what
    /// it has read is certain.
    fn postpone(&mut self) {}

    /// Says that it lives for long from here on, so that transactions which want its locks need not keep their threads waiting
    /// ([`Engine::begin_soon`]). To be called before anything that takes long.
    fn hold_for_long(&mut self) {}

    /// Whether others wait for the locks of one that [lives for long](Reader::hold_for_long).
    fn is_waited_for(&self) -> bool {
        false
    }

    /// Lets those pass that wait for its locks. What was read before may have changed.
    fn let_pass(&mut self) {}

    /// Whether it has the locks of all keys, so that nothing changes beside it.
    fn holds_everything(&self) -> bool {
        false
    }

    /// The key because of which a read failed with [`EngineError::Undeclared`].
    fn undeclared(&self) -> Option<Vec<u8>> {
        None
    }
}

/// The outcome of [`Engine::get_string`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sought {
    /// A string, which was shown.
    Found,
    /// No key.
    Missing,
    /// Only a transaction can answer: the key has another type, or its time has come.
    Unclear,
}

/// The outcome of [`Engine::set_string`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Where in the log the change ends.
    pub receipt: Receipt,
    /// Whether it replaced a key whose time had come.
    pub has_expired: bool,
}

/// A transaction that waits for its engine, by a number that only the engine can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// The outcome of [`Engine::begin_soon`].
#[derive(Debug)]
pub enum Begun<S> {
    /// The reads of the transaction.
    Open(S),
    /// Nothing is open; the transaction waits under this ticket.
    Waits(Ticket),
}

/// The outcome of [`Engine::commit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Commit {
    /// It has happened.
    Done(Receipt),
    /// The engine waits for it; [`Engine::committed`] tells its end.
    Waiting(Ticket),
}

/// Called with the receipt of a batch at the point that fixes its place in the log: calls for different batches come one
/// after another, in log order. Called once, only for a batch that is committed, and before any other transaction can
/// see what it changed. It must not touch the engine.
pub type Ordered<'o> = &'o mut dyn FnMut(Receipt);

/// A store: reads under a scope, and the commit of one batch.
pub trait Engine: Admin + Send + Sync {
    /// The reads of one transaction, holding whatever locks its scope needs.
    type Snapshot<'e>: Reader
    where
        Self: 'e;

    /// Says that transactions are about to touch these keys, so that what they wait for may be fetched together. A
    /// hint: it changes nothing, and keys that are never touched do no harm.
    fn prefetch(&self, _db: Db, _keys: &[&[u8]]) {}

    /// The process in which writes of a key are better run, because several processes write it; None where this one is as good.
    fn better_elsewhere(&self, _db: Db, _key: &[u8]) -> Option<u32> {
        None
    }

    /// A shorter way to read one string than a transaction: shows its value if the answer is plain. `touch`, if given,
    /// notes the use of the key.
    fn get_string(
        &self,
        _db: Db,
        _key: &[u8],
        _now_ms: u64,
        _touch: Option<Touch>,
        _show: &mut dyn FnMut(Piece<'_>),
    ) -> Result<Sought> {
        Ok(Sought::Unclear)
    }

    /// A shorter way to make a key a string without an expiry; None where only a transaction can. `touch` notes the use of
    /// the key. `scratch` is an empty buffer.
    fn set_string(
        &self,
        _db: Db,
        _key: &[u8],
        _value: &[u8],
        _now_ms: u64,
        _touch: Touch,
        _scratch: &mut Vec<u8>,
    ) -> Result<Option<Stored>> {
        Ok(None)
    }

    /// Begins a blob outside of any transaction, for a value that is arriving.
    fn draft(&self) -> Result<Draft>;

    /// Opens a transaction over the keys of `scope`, however long others hold the locks.
    fn begin(&self, scope: Scope<'_>) -> Result<Self::Snapshot<'_>>;

    /// As [`Engine::begin`], but keeps the calling thread waiting for short transactions only. If one holds a lock for long
    /// ([`Reader::hold_for_long`]), nothing is open, and the waker that `waker` makes is woken when [`Engine::resume`] has more to
    /// say. Engines that never hold locks for long need not implement it.
    fn begin_soon(&self, scope: Scope<'_>, _waker: &dyn Fn() -> Waker) -> Result<Begun<Self::Snapshot<'_>>> {
        self.begin(scope).map(Begun::Open)
    }

    /// As [`Engine::begin_soon`], for a transaction that is going to hold its locks for long, on a thread that serves nobody else: others
    /// that have waited for long may be let pass first.
    fn begin_long(&self, scope: Scope<'_>, waker: &dyn Fn() -> Waker) -> Result<Begun<Self::Snapshot<'_>>> {
        let mut begun = self.begin_soon(scope, waker)?;
        if let Begun::Open(snapshot) = &mut begun {
            snapshot.hold_for_long();
        }
        Ok(begun)
    }

    /// Ends a run that failed with [`EngineError::NotHere`] and begins to fetch what it missed. The waker is woken once
    /// [`Engine::resume`] has more to say. Engines that never answer so need not implement it.
    fn park(&self, _snapshot: Self::Snapshot<'_>, _waker: &Waker) -> Ticket {
        Ticket(0)
    }

    /// Opens a transaction again that was parked, with what was fetched for it, or that waited for locks; None while it still
    /// waits.
    fn resume(&self, _ticket: Ticket, scope: Scope<'_>) -> Result<Option<Self::Snapshot<'_>>> {
        self.begin(scope).map(Some)
    }

    /// Keeps the calling thread until a ticket has more to say, for those that serve nobody else. Engines that never make anybody wait
    /// need not implement it.
    fn wait_for(&self, _ticket: Ticket) {}

    /// Forgets a parked transaction that will not be resumed.
    fn forget(&self, _ticket: Ticket) {}

    /// Makes all changes of `overlay` visible at once, or none. The receipt says where in the log they end; a batch
    /// that changes nothing gives the receipt of nothing, and `ordered` is not called for it. One that has to wait is looked
    /// after by [`Engine::committed`], which is to be called at once, since it takes the waker.
    fn commit(
        &self,
        snapshot: Self::Snapshot<'_>,
        overlay: &mut Overlay,
        now_ms: u64,
        ordered: Ordered<'_>,
    ) -> Result<Commit>;

    /// For how many milliseconds a request may be run again and again, because what it needs is not here or others are in its way. Later
    /// runs fail with [`EngineError::Unavailable`].
    fn patience_ms(&self) -> u64 {
        u64::MAX
    }

    /// Whether values can be blobs ([`Engine::draft`]).
    fn has_blobs(&self) -> bool {
        true
    }

    /// Whether a transaction holds locks, so that nothing that it has read changes before its commit. Where it does not, a commit
    /// fails if something it depends on has changed.
    fn holds_locks(&self) -> bool {
        true
    }

    /// The end of a commit that was waiting: None while it still does, and then the waker is woken when there is more to
    /// say. An error means that nothing changed;
    /// [`EngineError::NotHere`] that the transaction met another one and is to be run again from its start.
    fn committed(&self, _ticket: Ticket, _waker: &Waker, _ordered: Ordered<'_>) -> Result<Option<Receipt>> {
        Ok(Some(Receipt::default()))
    }

    /// Names about `budget` keys whose time had come at `now_ms`; returns whether there may be more. Reading such a key in
    /// a transaction, and committing that, removes it.
    fn expired_keys(&self, now_ms: u64, budget: u64, visit: &mut dyn FnMut(Db, &[u8])) -> Result<bool>;

    /// Shows keys of all databases that clients can select, picked at random. Never waits for a transaction of somebody else
    /// where the engine has locks for parts of itself. The visitor must not touch the engine.
    fn sample_keys(&self, sample: &Sample, visit: &mut dyn FnMut(Db, &[u8], &Root)) -> Result<Sampled>;

    /// Whether somebody holds the locks of a key at this moment, so that a transaction over it would wait. By the time of the
    /// answer it may be otherwise.
    fn is_busy(&self, db: Db, key: &[u8]) -> bool;

    /// Begins to watch a key: `watch` is tripped by any commit that changes it.
    fn watch(&self, db: Db, key: &[u8], watch: &Watch);

    /// Ends what [`Engine::watch`] began.
    fn unwatch(&self, db: Db, key: &[u8], watch: &Watch);
}

/// Rewrites since the store was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rewriting {
    /// Whether one is under way.
    pub is_on: bool,
    /// Whether the last one that ended met an error.
    pub has_failed: bool,
    /// How many came to their end.
    pub finished: u64,
}

/// The part of an engine that serves an operator's commands.
pub trait Admin {
    /// Writes what speeds up the next start (hints), after syncing the log.
    fn checkpoint(&self, now_ms: u64) -> Result<()>;

    /// Forgets what is in memory and reads it back from where it is stored, as if the process had begun anew; on an error
    /// everything stays as it was. All keys have these bits of use ([`Root::access`]) afterwards. No transaction of the caller may be open. An engine that keeps nothing has nothing to
    /// read.
    fn reopen(&self, access: u32) -> Result<()>;

    /// Whether every change so far survives the loss of power; with `sync` the engine sees to that first. An engine that
    /// keeps nothing has nothing to lose.
    fn is_synced(&self, sync: bool) -> Result<bool>;

    /// Begins to write everything anew without what is dead, in the background; false if that is under way already. An
    /// engine that keeps nothing has nothing to write.
    fn begin_rewrite(&self) -> bool;

    /// What became of [`Admin::begin_rewrite`].
    fn rewriting(&self) -> Rewriting;

    /// The name of INFO's section about the store.
    fn section(&self) -> &'static str {
        "bitcask"
    }

    /// Facts for INFO's section about the store: (name, value). Asked while a transaction over everything is open.
    fn report(&self) -> Vec<(&'static str, u64)>;

    /// Wakes the transactions that wait for locks which others hold for long, so that their sessions may give up.
    fn wake_waiting(&self) {}

    /// The last thing that a background read of everything found damaged, in words, if there was one.
    fn last_finding(&self) -> Option<String> {
        None
    }

    /// Bytes of memory that the keys take, those of removed keys that have yet to be freed included. Asked before every
    /// command where memory is limited, so it must cost next to nothing.
    fn held_bytes(&self) -> u64;

    /// The part of [`Admin::held_bytes`] that no key has any more.
    fn garbage_bytes(&self) -> u64;

    /// Whether the storage is nearly full and so little of it is dead that keys have to go for others to be written.
    fn lacks_space(&self) -> bool;

    /// Into how many parts the engine's locks divide the keys; 0 for an engine whose data other processes change as well, so that
    /// nothing in the memory of one of them can say what is there.
    fn partitions(&self) -> u32 {
        0
    }

    /// The part in which a key lies, of whatever database: a transaction that has locked one key of it has locked all. It stays the same
    /// as long as the store lives.
    fn partition(&self, _key: &[u8]) -> u32 {
        0
    }

    /// A number that tells the division into parts of this store from those of others.
    fn partition_seed(&self) -> u64 {
        0
    }

    /// Writes bytes that can be made again from the keys, under a number ([`Storage::put_derived`](crate::storage::Storage::put_derived)).
    ///
    /// # Errors
    /// The storage's. Nothing of the store depends on it.
    fn put_derived(&self, _number: u64, _bytes: &[u8]) -> Result<()> {
        Err(EngineError::Unavailable("the engine holds no derived files".into()))
    }

    /// The bytes of a derived file, if it is there and can be read.
    fn derived(&self, _number: u64) -> Option<Vec<u8>> {
        None
    }

    /// Removes a derived file.
    fn remove_derived(&self, _number: u64) {}

    /// The numbers of the derived files.
    fn list_derived(&self) -> Vec<u64> {
        Vec::new()
    }
}

/// Where in the log a commit ends: a number that grows from commit to commit, such as the count of log bytes appended in
/// this process. Only engines make one, and only for a commit that wrote something, so an OK for a write can be traced to
/// its commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Receipt {
    // First, because receipts are compared by it.
    position: u64,
    bytes: u64,
}

impl Receipt {
    /// The receipt of a batch that ends at this position, in an engine that does not count bytes: for engines only.
    pub fn at(position: u64) -> Receipt {
        Receipt { position, bytes: 0 }
    }

    /// The receipt of a batch that ends at this position and takes so many bytes of the log: for engines only.
    pub fn of(position: u64, bytes: u64) -> Receipt {
        Receipt { position, bytes }
    }

    /// The position in bytes since the store was opened; 0 if nothing was written.
    pub fn position(self) -> u64 {
        self.position
    }

    /// Bytes of the log that the batch takes, whatever its request was; 0 in an engine that does not count them.
    pub fn bytes(self) -> u64 {
        self.bytes
    }
}

/// Tells one session that a key it watches has changed.
#[derive(Clone, Debug, Default)]
pub struct Watch(Arc<AtomicBool>);

impl Watch {
    /// Says that a watched key changed.
    pub fn trip(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Whether a watched key changed.
    pub fn is_tripped(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// Whether both are the same watch.
    pub fn is_same(&self, other: &Watch) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
