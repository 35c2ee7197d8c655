//! The store on an ordered, distributed key-value store with snapshots and optimistic transactions, such as TiKV.
//!
//! This is the pure half: how keys, collections and databases become names and values of a [`Cluster`], and how a transaction
//! that misses something waits for it without a thread. A command is a function over what was fetched: where it misses
//! something its run ends with [`EngineError::NotHere`], everything that it wanted is fetched in one round at the transaction's
//! timestamp, and it runs again. A commit turns the overlay into one write of the cluster, which happens as a whole if no root that
//! was read or changed has changed meanwhile; else the transaction is run again from its start.
//!
//! ```text
//! begin -> run -> NotHere -> park: the wants are read together -> resume -> run -> ... -> commit: one write -> committed
//! ```
//!
//! Every write of a key writes its root, with another stamp. So what is read of a collection is as current as its root, and
//! two writers of one key never both succeed.

mod changes;
pub mod cluster;
mod databases;
mod known;
mod names;
mod opening;
mod record;
mod runs;
pub mod simulated;
mod snapshot;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Waker;

use parking_lot::{Condvar, Mutex, RwLock};

use crate::engine::{
    Admin, BlobStore, Commit, Db, Draft, Engine, EngineError, Ordered as OrderedCall, Overlay, Receipt,
    Result, Rewriting, Root, Sample, Sampled, Scope, Ticket, Watch, sample_by_random_keys,
};
use crate::storage::{Blob, BlobId};
use changes::{Changes, Planned};
use cluster::{Answer, Ask, Cluster, ClusterError};
use databases::Databases;
use known::Known;
use names::Names;
pub use snapshot::OrderedSnapshot;

/// A commit fetches what its counts need in so many rounds at most; a few are enough for any collection.
const ROUNDS_MAX: u32 = 64;

/// What a store is called and has.
#[derive(Clone, Debug)]
pub struct Options {
    /// Its name among the stores of a cluster, at most 255 bytes.
    pub store: Vec<u8>,
    /// How many databases there are.
    pub databases: Db,
    /// A number that no other process of the store has, or has had: below 2^24.
    pub process: u32,
}

/// Counts since the start.
#[derive(Debug, Default)]
pub struct Counts {
    /// Rounds of reading.
    pub reads: AtomicU64,
    /// Writes that were sent.
    pub writes: AtomicU64,
    /// Transactions that met another one.
    pub conflicts: AtomicU64,
    /// Writes of which nobody knows whether they happened.
    pub unknown: AtomicU64,
    /// Rounds and writes that the cluster did not answer.
    pub unavailable: AtomicU64,
}

/// The engine.
pub struct Ordered<C: Cluster>(Arc<Inner<C>>);

struct Inner<C: Cluster> {
    cluster: C,
    names: Names,
    options: Options,
    /// Those that the store has, as far as this process knows.
    databases: RwLock<Arc<Databases>>,
    /// Numbers that are used once.
    next_number: AtomicU64,
    next_ticket: AtomicU64,
    waiting: Mutex<HashMap<Ticket, Waiting<C::Transaction>>>,
    /// Told whenever a ticket has something, for threads that wait themselves.
    arrived: Condvar,
    committed: AtomicU64,
    counts: Counts,
}

/// What a ticket waits for, or has.
enum Waiting<T> {
    /// Its reads are under way.
    Reading(Waker),
    /// What it has read, and the transaction to go on with; without one a new one begins.
    Read(Option<T>, Known),
    /// Its commit is under way.
    Committing(Option<Waker>),
    /// Its end.
    Ended(Result<()>),
}

/// A commit under way.
struct Job<T> {
    ticket: Ticket,
    changes: Changes,
    known: Known,
    transaction: Option<T>,
    rounds: u32,
}

impl<C: Cluster> Ordered<C> {
    /// A store in a cluster.
    pub fn new(cluster: C, options: Options) -> Ordered<C> {
        let first = u64::from(options.process) << 40 | 1;
        Ordered(Arc::new(Inner {
            cluster,
            names: Names::of(&options.store),
            options,
            databases: RwLock::default(),
            next_number: AtomicU64::new(first),
            next_ticket: AtomicU64::new(1),
            waiting: Mutex::default(),
            arrived: Condvar::new(),
            committed: AtomicU64::new(0),
            counts: Counts::default(),
        }))
    }

    /// Opens a store in a cluster for a process, and keeps the calling thread until then.
    ///
    /// # Errors
    /// The cluster does not answer, or what is there is damaged.
    pub fn open(cluster: C, store: &[u8], databases: Db) -> Result<Ordered<C>> {
        let names = Names::of(store);
        let process = opening::take_process_number(&cluster, &names)?;
        let shown = opening::read_databases(&cluster, &names)?;
        let ordered = Ordered::new(cluster, Options { store: store.to_vec(), databases, process });
        *ordered.0.databases.write() = Arc::new(shown);
        Ok(ordered)
    }

    /// The cluster.
    pub fn cluster(&self) -> &C {
        &self.0.cluster
    }

    /// What has happened since the start.
    pub fn counts(&self) -> &Counts {
        &self.0.counts
    }

    fn names(&self) -> &Names {
        &self.0.names
    }

    fn options(&self) -> &Options {
        &self.0.options
    }

    fn databases(&self) -> Arc<Databases> {
        self.0.databases.read().clone()
    }
}

impl<C: Cluster> Inner<C> {
    fn ticket(&self) -> Ticket {
        Ticket(self.next_ticket.fetch_add(1, Ordering::Relaxed))
    }

    fn number(&self) -> u64 {
        self.next_number.fetch_add(1, Ordering::Relaxed)
    }

    fn count(&self, error: &ClusterError) {
        let counter = match error {
            ClusterError::Conflict(_) => &self.counts.conflicts,
            ClusterError::Unavailable(_) => &self.counts.unavailable,
            ClusterError::Unknown(_) => &self.counts.unknown,
            ClusterError::Refused(_) => return,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Reads what is wanted for a ticket.
    fn read(self: Arc<Self>, ticket: Ticket, transaction: Option<C::Transaction>, mut known: Known) {
        let asks = known.take_wants();
        self.counts.reads.fetch_add(1, Ordering::Relaxed);
        let inner = self.clone();
        self.cluster.read(
            transaction,
            asks.clone(),
            Box::new(move |outcome| {
                let ended = inner.take_read(outcome, asks, known);
                let waker = {
                    let mut waiting = inner.waiting.lock();
                    match waiting.get_mut(&ticket) {
                        Some(state) => match std::mem::replace(state, ended) {
                            Waiting::Reading(waker) => Some(waker),
                            _ => None,
                        },
                        // Nobody waits for it any more.
                        None => None,
                    }
                };
                inner.arrived.notify_all();
                waker.into_iter().for_each(Waker::wake);
            }),
        );
    }

    fn take_read(
        &self,
        outcome: std::result::Result<(C::Transaction, Vec<Answer>), ClusterError>,
        asks: Vec<Ask>,
        mut known: Known,
    ) -> Waiting<C::Transaction> {
        match outcome {
            Ok((transaction, answers)) => {
                known.fill(asks, answers);
                Waiting::Read(Some(transaction), known)
            }
            Err(error) => {
                self.count(&error);
                match error {
                    // It begins anew, at a later time.
                    ClusterError::Conflict(_) => Waiting::Read(None, Known::default()),
                    error => Waiting::Ended(Err(engine_error(error))),
                }
            }
        }
    }

    /// Goes on with a commit: writes, or reads what is missing first.
    fn go_on(self: Arc<Self>, mut job: Job<C::Transaction>) {
        let number = || self.number();
        let planned = job.changes.plan(&self.names, &mut job.known, &number);
        match planned {
            Ok(planned) => self.write(job, planned),
            Err(EngineError::NotHere) if job.rounds < ROUNDS_MAX => {
                job.rounds += 1;
                let asks = job.known.take_wants();
                self.counts.reads.fetch_add(1, Ordering::Relaxed);
                let inner = self.clone();
                self.cluster.read(
                    job.transaction.take(),
                    asks.clone(),
                    Box::new(move |outcome| match outcome {
                        Ok((transaction, answers)) => {
                            job.known.fill(asks, answers);
                            job.transaction = Some(transaction);
                            inner.go_on(job);
                        }
                        Err(error) => {
                            inner.count(&error);
                            inner.ended(job.ticket, Err(engine_error(error)));
                        }
                    }),
                );
            }
            Err(EngineError::NotHere) => {
                self.ended(job.ticket, Err(EngineError::Damaged("a collection has too many levels".into())));
            }
            // The databases are others by now.
            Err(EngineError::OnceMore) => {
                if let Ok(stored) = job.known.get(&self.names.databases()).and_then(Databases::read) {
                    *self.databases.write() = Arc::new(stored);
                }
                self.ended(job.ticket, Err(EngineError::NotHere));
            }
            Err(error) => self.ended(job.ticket, Err(error)),
        }
    }

    fn write(self: Arc<Self>, job: Job<C::Transaction>, planned: Planned) {
        let Planned { write, databases } = planned;
        self.counts.writes.fetch_add(1, Ordering::Relaxed);
        let inner = self.clone();
        let ticket = job.ticket;
        self.cluster.write(
            job.transaction,
            write,
            Box::new(move |outcome| {
                if let Err(error) = &outcome {
                    inner.count(error);
                }
                if outcome.is_ok()
                    && let Some(databases) = databases
                {
                    *inner.databases.write() = Arc::new(databases);
                }
                inner.ended(ticket, outcome.map_err(engine_error));
            }),
        );
    }

    /// A commit has come to its end.
    fn ended(&self, ticket: Ticket, outcome: Result<()>) {
        let waker = match self.waiting.lock().get_mut(&ticket) {
            Some(state) => match std::mem::replace(state, Waiting::Ended(outcome)) {
                Waiting::Committing(waker) => waker,
                _ => None,
            },
            // Nobody waits for it any more.
            None => None,
        };
        self.arrived.notify_all();
        waker.into_iter().for_each(Waker::wake);
    }
}

/// The error of the engine for one of the cluster.
fn engine_error(error: ClusterError) -> EngineError {
    match error {
        ClusterError::Conflict(_) => EngineError::NotHere,
        error @ ClusterError::Unavailable(_) => EngineError::Unavailable(error.to_string()),
        ClusterError::Unknown(what) => EngineError::Unknown(format!(
            "the cluster did not say whether the write has happened; look before you write again: {what}"
        )),
        error @ ClusterError::Refused(_) => EngineError::Refused(format!("ERR {error}")),
    }
}

fn no_ticket() -> EngineError {
    EngineError::Damaged("a ticket of nobody".into())
}

impl<C: Cluster> Engine for Ordered<C> {
    type Snapshot<'e> = OrderedSnapshot<'e, C>;

    fn draft(&self) -> Result<Draft> {
        Draft::new(no_blobs())
    }

    fn has_blobs(&self) -> bool {
        false
    }

    fn holds_locks(&self) -> bool {
        false
    }

    fn begin(&self, _scope: Scope<'_>) -> Result<OrderedSnapshot<'_, C>> {
        Ok(OrderedSnapshot::new(self, None, Known::default()))
    }

    fn park(&self, snapshot: OrderedSnapshot<'_, C>, waker: &Waker) -> Ticket {
        let OrderedSnapshot { transaction, known, .. } = snapshot;
        let ticket = self.0.ticket();
        self.0.waiting.lock().insert(ticket, Waiting::Reading(waker.clone()));
        self.0.clone().read(ticket, transaction, known);
        ticket
    }

    fn resume(&self, ticket: Ticket, _scope: Scope<'_>) -> Result<Option<OrderedSnapshot<'_, C>>> {
        let mut waiting = self.0.waiting.lock();
        if matches!(waiting.get(&ticket), Some(Waiting::Reading(_))) {
            return Ok(None);
        }
        let state = waiting.remove(&ticket);
        drop(waiting);
        match state {
            Some(Waiting::Read(transaction, known)) => {
                Ok(Some(OrderedSnapshot::new(self, transaction, known)))
            }
            Some(Waiting::Ended(Err(error))) => Err(error),
            _ => Err(no_ticket()),
        }
    }

    fn wait_for(&self, ticket: Ticket) {
        let mut waiting = self.0.waiting.lock();
        while matches!(waiting.get(&ticket), Some(Waiting::Reading(_) | Waiting::Committing(_))) {
            self.0.arrived.wait(&mut waiting);
        }
    }

    fn forget(&self, ticket: Ticket) {
        self.0.waiting.lock().remove(&ticket);
    }

    fn commit(
        &self,
        snapshot: OrderedSnapshot<'_, C>,
        overlay: &mut Overlay,
        _now_ms: u64,
        _ordered: OrderedCall<'_>,
    ) -> Result<Commit> {
        if overlay.is_empty() {
            return Ok(Commit::Done(Receipt::default()));
        }
        let changes = Changes::of(&snapshot, overlay)?;
        let OrderedSnapshot { transaction, known, .. } = snapshot;
        let ticket = self.0.ticket();
        self.0.waiting.lock().insert(ticket, Waiting::Committing(None));
        self.0.clone().go_on(Job { ticket, changes, known, transaction, rounds: 0 });
        Ok(Commit::Waiting(ticket))
    }

    fn committed(&self, ticket: Ticket, waker: &Waker, ordered: OrderedCall<'_>) -> Result<Option<Receipt>> {
        let mut waiting = self.0.waiting.lock();
        if let Some(Waiting::Committing(own)) = waiting.get_mut(&ticket) {
            *own = Some(waker.clone());
            return Ok(None);
        }
        let state = waiting.remove(&ticket);
        drop(waiting);
        match state {
            Some(Waiting::Ended(Ok(()))) => {
                let receipt = Receipt::at(self.0.committed.fetch_add(1, Ordering::Relaxed) + 1);
                ordered(receipt);
                Ok(Some(receipt))
            }
            Some(Waiting::Ended(Err(error))) => Err(error),
            _ => Err(no_ticket()),
        }
    }

    fn expired_keys(&self, _now_ms: u64, _budget: u64, _visit: &mut dyn FnMut(Db, &[u8])) -> Result<bool> {
        Ok(false)
    }

    fn sample_keys(&self, sample: &Sample, visit: &mut dyn FnMut(Db, &[u8], &Root)) -> Result<Sampled> {
        let mut snapshot = self.begin(Scope::Everything)?;
        sample_by_random_keys(&mut snapshot, self.0.options.databases, sample, visit)
    }

    /// Nobody holds locks.
    fn is_busy(&self, _db: Db, _key: &[u8]) -> bool {
        false
    }

    /// Others write as well, so versions tell ([`crate::engine::Reader::version`]).
    fn watch(&self, _db: Db, _key: &[u8], _watch: &Watch) {}

    fn unwatch(&self, _db: Db, _key: &[u8], _watch: &Watch) {}
}

impl<C: Cluster> Admin for Ordered<C> {
    fn checkpoint(&self, _now_ms: u64) -> Result<()> {
        Ok(())
    }

    fn reopen(&self, _access: u32) -> Result<()> {
        Ok(())
    }

    fn is_synced(&self, _sync: bool) -> Result<bool> {
        Ok(true)
    }

    fn begin_rewrite(&self) -> bool {
        true
    }

    fn rewriting(&self) -> Rewriting {
        Rewriting::default()
    }

    fn report(&self) -> Vec<(&'static str, u64)> {
        let Counts { reads, writes, conflicts, unknown, unavailable } = &self.0.counts;
        [
            ("cluster_reads", reads),
            ("cluster_writes", writes),
            ("cluster_conflicts", conflicts),
            ("cluster_unknown_writes", unknown),
            ("cluster_unavailable", unavailable),
        ]
        .into_iter()
        .map(|(name, count)| (name, count.load(Ordering::Relaxed)))
        .collect()
    }

    /// Nothing is held.
    fn held_bytes(&self) -> u64 {
        0
    }

    fn garbage_bytes(&self) -> u64 {
        0
    }

    fn lacks_space(&self) -> bool {
        false
    }
}

/// A store of blobs that has none: values lie in pieces.
struct NoBlobs;

impl BlobStore for NoBlobs {
    fn create(&self) -> Result<(BlobId, Arc<dyn Blob>)> {
        Err(EngineError::Refused("ERR there are no blobs in a cluster".into()))
    }

    fn discard(&self, _id: BlobId) {}
}

fn no_blobs() -> Arc<dyn BlobStore> {
    Arc::new(NoBlobs)
}
