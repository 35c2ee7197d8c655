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

mod among;
mod asking;
mod blobs;
mod certainty;
mod changes;
pub mod cluster;
mod databases;
mod in_turn;
mod known;
mod lanes;
mod members;
mod names;
mod opening;
mod precedence;
mod record;
mod runs;
mod seen_trees;
mod showing;
mod siblings;
pub mod simulated;
mod snapshot;
#[cfg(test)]
mod tests;
mod upkeep;

pub use blobs::upkeep::BLOB_IDLE_MS;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::Waker;

use parking_lot::{Condvar, Mutex};

use crate::engine::{
    Admin, Begun, Commit, Db, Draft, Engine, EngineError, Ordered as OrderedCall, Overlay, Reader, Receipt,
    Result, Rewriting, Root, Sample, Sampled, Scope, Ticket, Watch, blob_error, sample_by_random_keys,
};
use blobs::{Blobs, Drafting, Mode};
use certainty::{Certainty, Shown};
use changes::{Changes, Planned};
use cluster::{Answer, Ask, Cluster, ClusterError, ReadIn, Write};
use databases::Databases;
use known::Known;
use lanes::{Lanes, Turn};
pub use members::{Lease, Member, Standing};
use names::Names;
pub use precedence::Peers;
use precedence::{LaneKey, Lines};
pub use record::SMALL_BYTES;
use seen_trees::SeenTrees;
use showing::ChangeOfDatabases;
pub use siblings::{Siblings, Told};
pub use snapshot::OrderedSnapshot;
use snapshot::{Intent, Parts};
pub use upkeep::Pace;
use upkeep::Upkeep;

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
    /// The root of a collection holds its subkeys up to so many bytes ([`SMALL_BYTES`]); tests take less.
    pub small_bytes: usize,
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
    certainty: Certainty,
    patience_ms: AtomicU64,
    siblings: OnceLock<Arc<dyn Siblings>>,
    seen_trees: SeenTrees,
    /// Numbers that are used once.
    next_number: AtomicU64,
    next_ticket: AtomicU64,
    /// To be locked behind `lanes`, if both are.
    waiting: Mutex<HashMap<Ticket, Waiting<C::Transaction>>>,
    lanes: Mutex<Lanes<C::Transaction>>,
    /// The turns of other processes at keys that this one owns.
    lines: Mutex<Lines>,
    peers: OnceLock<Arc<dyn Peers>>,
    /// Told whenever a ticket has something, for threads that wait themselves.
    arrived: Condvar,
    committed: AtomicU64,
    counts: Counts,
    upkeep: Upkeep<C>,
    /// Blobs that are being written.
    drafts: blobs::Registry<C>,
    /// What was seen of the marks of blobs.
    blobs_seen: Mutex<blobs::upkeep::Seen>,
}

/// What a ticket waits for, or has.
enum Waiting<T> {
    /// Its reads are under way.
    Reading(Waker),
    /// What it has read, and the transaction to go on with; without one a new one begins.
    Read(Option<T>, Known),
    /// It stands in a lane; whether it may take its turn.
    InLane { turn: Turn, waker: Waker, is_called: bool },
    /// Its commit is under way.
    Committing(Option<Waker>),
    /// Its end.
    Ended(Result<()>),
}

impl<T> Waiting<T> {
    fn in_lane(turn: Turn, waker: &Waker) -> Waiting<T> {
        Waiting::InLane { turn, waker: waker.clone(), is_called: false }
    }

    /// Whether it has nothing yet.
    fn still_waits(&self) -> bool {
        matches!(
            self,
            Waiting::Reading(_) | Waiting::Committing(_) | Waiting::InLane { is_called: false, .. }
        )
    }
}

/// Called with what was fetched.
type Fetched<T> = Box<dyn FnOnce(std::result::Result<(T, Known), ClusterError>) + Send>;

/// What came of a read.
enum Taken<T> {
    /// What is known by now.
    Known(T, Known),
    /// The transaction began too late to count on what the process knows of the databases.
    Late(T, Known),
    Failed(ClusterError),
}

/// A commit under way.
struct Job<T> {
    ticket: Ticket,
    changes: Changes,
    known: Known,
    transaction: Option<T>,
    rounds: u32,
    /// The blobs that become values.
    drafts: Vec<Arc<Draft>>,
    /// Of those so many are known to be in the cluster.
    settled: usize,
}

impl<C: Cluster> Ordered<C> {
    /// A store in a cluster.
    pub fn new(cluster: C, options: Options) -> Ordered<C> {
        let first = u64::from(options.process) << 40 | 1;
        Ordered(Arc::new(Inner {
            cluster,
            names: Names::of(&options.store),
            options,
            certainty: Certainty::default(),
            patience_ms: AtomicU64::new(u64::MAX),
            siblings: OnceLock::new(),
            seen_trees: SeenTrees::default(),
            next_number: AtomicU64::new(first),
            next_ticket: AtomicU64::new(1),
            waiting: Mutex::default(),
            lanes: Mutex::new(Lanes::new(first)),
            lines: Mutex::default(),
            peers: OnceLock::new(),
            arrived: Condvar::new(),
            committed: AtomicU64::new(0),
            counts: Counts::default(),
            upkeep: Upkeep::default(),
            drafts: Mutex::default(),
            blobs_seen: Mutex::default(),
        }))
    }

    /// Opens a store in a cluster for a process, and keeps the calling thread until then. The first process of a store gives it its
    /// secret, by which processes know each other: 32 random bytes. The process doubts what the databases are until it has a lease
    /// ([`Ordered::set_lease`]).
    ///
    /// # Errors
    /// The cluster does not answer, or what is there is damaged.
    pub fn open(cluster: C, store: &[u8], databases: Db, secret: [u8; 32]) -> Result<(Ordered<C>, Vec<u8>)> {
        let names = Names::of(store);
        let process = opening::take_process_number(&cluster, &names)?;
        let secret = opening::take_secret(&cluster, &names, secret)?;
        let shown = opening::read_databases(&cluster, &names)?;
        let ordered = Ordered::new(
            cluster,
            Options { store: store.to_vec(), databases, process, small_bytes: SMALL_BYTES },
        );
        ordered.0.certainty.saw(shown);
        ordered.0.certainty.set_lease(0);
        Ok((ordered, secret))
    }

    /// The first database beyond `count` that has something, for those who must not overlook any. It keeps the calling thread.
    ///
    /// # Errors
    /// The cluster does not answer.
    pub fn database_beyond(&self, count: Db) -> Result<Option<Db>> {
        opening::database_beyond(&self.0.cluster, &self.0.names, count)
    }

    /// The cluster.
    pub fn cluster(&self) -> &C {
        &self.0.cluster
    }

    /// Does a bounded part of the housekeeping, keeps the calling thread until then, and returns after how many milliseconds
    /// there is more to do. Other processes of the store may do theirs at the same time.
    pub fn upkeep(&self, now_ms: u64, pace: Pace) -> u64 {
        let Inner { cluster, names, options, upkeep, .. } = &*self.0;
        let (rest_ms, error) = upkeep.step(cluster, names, options, (now_ms, pace));
        if let Some(error) = error {
            self.0.count(&error);
        }
        rest_ms
    }

    /// Whether housekeeping has found keys that have expired ([`Engine::expired_keys`]).
    pub fn has_expired_keys(&self) -> bool {
        self.0.upkeep.has_due()
    }

    /// Hands over what would be lost with the process: for its end.
    pub fn end_upkeep(&self, now_ms: u64) {
        let Inner { cluster, names, options, upkeep, .. } = &*self.0;
        upkeep.end(cluster, names, options, now_ms);
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

    fn seen_trees(&self) -> &SeenTrees {
        &self.0.seen_trees
    }

    /// Its number among the processes of the store.
    pub fn process(&self) -> u32 {
        self.0.options.process
    }

    /// Whom it tells what others must know. Only the first call counts.
    pub fn set_siblings(&self, siblings: Arc<dyn Siblings>) {
        let _ = self.0.siblings.set(siblings);
    }

    /// Sets for how many milliseconds a request may be run again and again ([`Engine::patience_ms`]).
    pub fn set_patience(&self, patience_ms: u64) {
        self.0.patience_ms.store(patience_ms, Ordering::Relaxed);
    }

    /// Begins to doubt which space each database shows: transactions read it until [`Ordered::read_databases`] or
    /// [`Ordered::settle_databases`].
    pub fn doubt(&self) {
        self.0.certainty.doubt();
    }

    /// Whether it counts on what it knows of the databases.
    pub fn is_certain(&self) -> bool {
        self.0.certainty.is_trusted()
    }

    /// Up to which time of the cluster, in milliseconds, it may count on what it knows of the databases.
    pub fn set_lease(&self, until_ms: u64) {
        self.0.certainty.set_lease(until_ms);
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
            ClusterError::Unavailable(_) | ClusterError::Moved(_) => &self.counts.unavailable,
            ClusterError::Unknown(_) => &self.counts.unknown,
            ClusterError::Refused(_) | ClusterError::Late => return,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Reads what is wanted for a ticket.
    fn read(self: Arc<Self>, ticket: Ticket, transaction: Option<C::Transaction>, known: Known) {
        let (inner, tries, mode) = (self.clone(), known.tries, known.run().mode());
        let done = move |outcome| match outcome {
            Ok((transaction, known)) => inner.give(ticket, Waiting::Read(Some(transaction), known)),
            // It begins anew, at a later time.
            Err(ClusterError::Conflict(_) | ClusterError::Moved(_)) => {
                inner.begin_later(ticket, tries + 1, mode)
            }
            Err(error) => inner.ended(ticket, Err(engine_error(error))),
        };
        self.fetch(transaction, known, Box::new(done));
    }

    /// A transaction that has begun so often in vain begins anew after a while.
    fn begin_later(self: Arc<Self>, ticket: Ticket, tries: u32, mode: Mode) {
        let rest_ms = self.lanes.lock().rest_after(tries);
        let inner = self.clone();
        let begin = move || inner.give(ticket, Waiting::Read(None, Known::after(tries, mode)));
        if rest_ms == 0 { begin() } else { self.cluster.later(rest_ms, Box::new(begin)) }
    }

    /// Gives a ticket what it has waited for.
    fn give(&self, ticket: Ticket, state: Waiting<C::Transaction>) {
        let waker = self.replace_waiting(ticket, state);
        self.arrived.notify_all();
        waker.into_iter().for_each(Waker::wake);
    }

    /// The same, but it is the caller who wakes those that wait.
    fn replace_waiting(&self, ticket: Ticket, after: Waiting<C::Transaction>) -> Option<Waker> {
        let mut waiting = self.waiting.lock();
        // If it is not there, nobody waits for it any more.
        let state = waiting.get_mut(&ticket)?;
        match std::mem::replace(state, after) {
            Waiting::InLane { waker, .. } | Waiting::Reading(waker) => Some(waker),
            Waiting::Committing(waker) => waker,
            Waiting::Read(..) | Waiting::Ended(_) => None,
        }
    }

    /// Reads what is wanted, and which databases there are if the transaction may not count on what the process knows of them.
    fn fetch(
        self: Arc<Self>,
        transaction: Option<C::Transaction>,
        mut known: Known,
        done: Fetched<C::Transaction>,
    ) {
        let shown = known.shown.get_or_insert_with(|| self.certainty.present());
        if shown.until_ms == 0 {
            known.want_get(&self.names.databases());
        }
        let within = match transaction {
            None if known.only_reads => ReadIn::NewToRead,
            transaction => ReadIn::begun_or_new(transaction),
        };
        let asks = known.take_wants();
        self.counts.reads.fetch_add(1, Ordering::Relaxed);
        let inner = self.clone();
        self.cluster.read(
            within,
            asks.clone(),
            Box::new(move |outcome| match inner.take_read(outcome, asks, known) {
                Taken::Known(transaction, known) => done(Ok((transaction, known))),
                // It is known now that the databases must be read, too.
                Taken::Late(transaction, known) => inner.fetch(Some(transaction), known, done),
                Taken::Failed(error) => done(Err(error)),
            }),
        );
    }

    /// Takes over what was read. What the transaction takes the databases for is right from then on.
    fn take_read(
        &self,
        outcome: std::result::Result<(C::Transaction, Vec<Answer>), ClusterError>,
        asks: Vec<Ask>,
        mut known: Known,
    ) -> Taken<C::Transaction> {
        let (transaction, answers) = match outcome {
            Ok(read) => read,
            Err(error) => {
                self.count(&error);
                return Taken::Failed(error);
            }
        };
        known.fill(asks, answers);
        let began_ms = self.cluster.time_ms(&transaction);
        if known.shown.as_ref().is_some_and(|shown| began_ms <= shown.until_ms) {
            return Taken::Known(transaction, known);
        }
        match known.value(&self.names.databases()).map(Databases::read) {
            Some(Ok(stored)) => {
                known.shown = Some(Shown::read(stored));
                Taken::Known(transaction, known)
            }
            Some(Err(error)) => Taken::Failed(ClusterError::Refused(error.to_string())),
            None => {
                known.shown = Some(Shown { until_ms: 0, ..self.certainty.present() });
                Taken::Late(transaction, known)
            }
        }
    }

    /// Goes on with a commit: writes, or reads what is missing first.
    fn go_on(self: Arc<Self>, mut job: Job<C::Transaction>) {
        if let Some(draft) = job.drafts.get(job.settled).cloned() {
            job.settled += 1;
            return self.settle(&draft, job);
        }
        let number = || self.number();
        let planned = job.changes.plan(&self.names, &mut job.known, &number);
        match planned {
            Ok(mut planned) => {
                self.upkeep.note_expiring(std::mem::take(&mut planned.expiring));
                self.write(job, planned);
            }
            Err(EngineError::NotHere) if job.rounds < ROUNDS_MAX => {
                job.rounds += 1;
                let (inner, transaction) = (self.clone(), job.transaction.take());
                let known = std::mem::take(&mut job.known);
                let done = move |outcome| match outcome {
                    Ok((transaction, known)) => {
                        inner.go_on(Job { known, transaction: Some(transaction), ..job })
                    }
                    Err(error) => inner.ended(job.ticket, Err(engine_error(error))),
                };
                self.fetch(transaction, known, Box::new(done));
            }
            Err(error) => {
                let error = self.plan_failed(error, &mut job.known);
                self.ended(job.ticket, Err(error));
            }
        }
    }

    /// Goes on with a commit once all of a blob is in the cluster.
    fn settle(self: Arc<Self>, draft: &Draft, job: Job<C::Transaction>) {
        let Some(drafting) = drafting::<C>(draft) else {
            return self.ended(job.ticket, Err(EngineError::Damaged("a blob of another store".into())));
        };
        drafting.settle(Box::new(move |outcome| match outcome {
            Ok(()) => self.go_on(job),
            Err(error) => self.ended(job.ticket, Err(blob_error(error))),
        }));
    }

    /// What a commit ends with whose plan has failed.
    fn plan_failed(&self, error: EngineError, known: &mut Known) -> EngineError {
        match error {
            EngineError::NotHere => EngineError::Damaged("a collection has too many levels".into()),
            // The databases are others by now.
            EngineError::OnceMore => {
                if let Ok(stored) = known.get(&self.names.databases()).and_then(Databases::read) {
                    self.certainty.saw(stored);
                }
                EngineError::NotHere
            }
            error => error,
        }
    }

    fn write(self: Arc<Self>, job: Job<C::Transaction>, planned: Planned) {
        let Planned { write, databases, are_definitions, .. } = planned;
        let Job { ticket, transaction, changes, drafts, .. } = job;
        let Some(databases) = databases else {
            let (inner, keys) = (self.clone(), changes.lane_keys());
            return self.send(transaction, write, move |outcome| {
                keep::<C>(&drafts, &outcome);
                match inner.siblings.get().cloned() {
                    Some(siblings) if are_definitions && outcome.is_ok() => {
                        // Who has not heard reads them again by itself, when there is a link.
                        siblings.definitions_changed(Box::new(move |_, _| inner.ended(ticket, outcome)));
                    }
                    _ if outcome == Err(EngineError::NotHere) => inner.end_later(ticket, &keys),
                    _ => inner.ended(ticket, outcome),
                }
            });
        };
        let change = ChangeOfDatabases { databases, transaction, write };
        let ended = self.clone();
        self.change_databases(change, move |outcome| {
            keep::<C>(&drafts, &outcome);
            ended.ended(ticket, outcome);
        });
    }

    /// Sends a write to the cluster.
    fn send(
        self: &Arc<Self>,
        transaction: Option<C::Transaction>,
        write: Write,
        done: impl FnOnce(Result<()>) + Send + 'static,
    ) {
        self.counts.writes.fetch_add(1, Ordering::Relaxed);
        let inner = self.clone();
        let dropped = self.names.dropped_by(&write.changes);
        self.cluster.write(
            transaction,
            write,
            Box::new(move |outcome| {
                if let Err(error) = &outcome {
                    inner.count(error);
                    if matches!(error, ClusterError::Late) {
                        inner.certainty.set_lease(0);
                    }
                }
                // Of a write that has not happened there is no mark.
                if matches!(outcome, Ok(()) | Err(ClusterError::Unknown(_))) {
                    inner.upkeep.note_dropped(dropped);
                }
                done(outcome.map_err(engine_error));
            }),
        );
    }

    /// A commit has met another one: its transaction begins anew after a while.
    fn end_later(self: Arc<Self>, ticket: Ticket, keys: &[LaneKey]) {
        let mut rest_ms = 0;
        let steps = self.with_lanes(|lanes, now_ms, steps| {
            rest_ms = lanes.met_another(keys, now_ms);
            lanes.tell_news(steps);
        });
        self.carry_out(steps);
        let inner = self.clone();
        let end = move || inner.ended(ticket, Err(EngineError::NotHere));
        if rest_ms == 0 { end() } else { self.cluster.later(rest_ms, Box::new(end)) }
    }

    /// A read or a commit has come to its end.
    fn ended(&self, ticket: Ticket, outcome: Result<()>) {
        self.give(ticket, Waiting::Ended(outcome));
    }
}

/// Keeps the blobs of a transaction that has happened, and of one of which nobody knows: there the marks tell a collector.
fn keep<C: Cluster>(drafts: &[Arc<Draft>], outcome: &Result<()>) {
    if matches!(outcome, Ok(()) | Err(EngineError::Unknown(_))) {
        drafts.iter().for_each(|draft| draft.keep());
        let own = drafts.iter().filter_map(|draft| drafting::<C>(draft));
        own.for_each(|drafting| drafting.leave(outcome.is_ok()));
    }
}

/// A draft of this engine.
fn drafting<C: Cluster>(draft: &Draft) -> Option<&Drafting<C>> {
    draft.blob().as_any().downcast_ref()
}

/// The error of the engine for one of the cluster.
fn engine_error(error: ClusterError) -> EngineError {
    match error {
        ClusterError::Conflict(_) | ClusterError::Moved(_) | ClusterError::Late => EngineError::NotHere,
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
        Draft::new(Blobs::shared(self.0.clone(), None))
    }

    fn holds_locks(&self) -> bool {
        false
    }

    fn better_elsewhere(&self, db: Db, key: &[u8]) -> Option<u32> {
        self.owner_elsewhere(db, key)
    }

    fn patience_ms(&self) -> u64 {
        self.0.patience_ms.load(Ordering::Relaxed)
    }

    fn begin(&self, _scope: Scope<'_>) -> Result<OrderedSnapshot<'_, C>> {
        Ok(OrderedSnapshot::new(self, None, Known::after(0, Mode::Waits)))
    }

    /// Others wait for the thread, so a run that needs much of a blob runs again elsewhere.
    fn begin_soon(
        &self,
        _scope: Scope<'_>,
        _waker: &dyn Fn() -> Waker,
    ) -> Result<Begun<OrderedSnapshot<'_, C>>> {
        Ok(Begun::Open(OrderedSnapshot::new(self, None, Known::after(0, Mode::Yields))))
    }

    fn park(&self, mut snapshot: OrderedSnapshot<'_, C>, waker: &Waker) -> Ticket {
        let ticket = self.0.ticket();
        snapshot.want_announced();
        let parts = snapshot.into_parts();
        let mut known = match parts.turn {
            Some(turn) => {
                self.0.miss_in_turn((turn, parts.known), ticket, waker, parts.is_postponed);
                return ticket;
            }
            None => parts.known,
        };
        if parts.transaction.is_none() {
            known.only_reads = parts.intent == Intent::OnlyReads;
        }
        let known = match parts.transaction {
            // It may be about to write, and has not begun.
            None => match self.0.join_to_run(parts.lane_keys, known, ticket, waker) {
                Some(known) => known,
                None => return ticket,
            },
            Some(_) => known,
        };
        self.0.waiting.lock().insert(ticket, Waiting::Reading(waker.clone()));
        self.0.clone().read(ticket, parts.transaction, known);
        ticket
    }

    fn resume(&self, ticket: Ticket, _scope: Scope<'_>) -> Result<Option<OrderedSnapshot<'_, C>>> {
        let mut waiting = self.0.waiting.lock();
        match waiting.get(&ticket) {
            Some(Waiting::Reading(_)) => return Ok(None),
            Some(Waiting::InLane { .. }) => {
                drop(waiting);
                let taken = self.0.take_turn(ticket);
                return Ok(taken.map(|(turn, known)| OrderedSnapshot::in_turn(self, turn, known)));
            }
            _ => {}
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
        while waiting.get(&ticket).is_some_and(Waiting::still_waits) {
            self.0.arrived.wait(&mut waiting);
        }
    }

    fn forget(&self, ticket: Ticket) {
        let state = self.0.waiting.lock().remove(&ticket);
        if let Some(Waiting::InLane { turn, .. }) = state {
            self.0.forget_in_lane(turn);
        }
    }

    fn commit(
        &self,
        snapshot: OrderedSnapshot<'_, C>,
        overlay: &mut Overlay,
        now_ms: u64,
        _ordered: OrderedCall<'_>,
    ) -> Result<Commit> {
        if overlay.is_empty() && !snapshot.is_provisional() {
            return Ok(Commit::Done(Receipt::default()));
        }
        if snapshot.known.only_reads {
            let ticket = self.0.ticket();
            self.0.waiting.lock().insert(ticket, Waiting::Ended(Err(EngineError::NotHere)));
            return Ok(Commit::Waiting(ticket));
        }
        let drafts = overlay.kept_drafts();
        let has_begun = snapshot.has_begun();
        let own = drafts.iter().filter_map(|draft| drafting::<C>(draft));
        let drafted = own.filter_map(|drafting| drafting.hand_over(has_begun)).collect();
        let mut changes = Changes::of(&snapshot, overlay, (drafted, now_ms))?;
        let parts = snapshot.into_parts();
        let ticket = self.0.ticket();
        self.0.waiting.lock().insert(ticket, Waiting::Committing(None));
        let Parts { mut known, mut transaction, turn, .. } = parts;
        match turn {
            Some(turn) if changes.concern_all() => match self.0.leave_to_commit(turn, known, ticket) {
                Some((begun, alone)) => (transaction, known) = (begun, alone),
                None => return Ok(Commit::Waiting(ticket)),
            },
            Some(turn) => {
                self.0.commit_in_turn((turn, known), changes, ticket);
                return Ok(Commit::Waiting(ticket));
            }
            None if transaction.is_none() => {
                if let Some(keys) = changes.lane_keys_if_blind() {
                    match self.0.join_to_put(keys, changes, ticket) {
                        Some(alone) => changes = alone,
                        None => return Ok(Commit::Waiting(ticket)),
                    }
                }
            }
            None => {}
        }
        self.0.clone().go_on(Job { ticket, changes, known, transaction, rounds: 0, drafts, settled: 0 });
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

    /// Those that [`Ordered::upkeep`] has found.
    fn expired_keys(&self, _now_ms: u64, budget: u64, visit: &mut dyn FnMut(Db, &[u8])) -> Result<bool> {
        Ok(self.0.upkeep.take_due(budget, visit))
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

    fn section(&self) -> &'static str {
        "cluster-store"
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
        .chain(self.0.upkeep.report())
        .chain(self.0.cluster.report())
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
