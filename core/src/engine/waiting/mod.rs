//! A test engine around another one that makes its callers wait, at random but repeatably for a seed.
//!
//! It plays what an engine may do that has to fetch what it reads:
//!
//! - A read answers [`EngineError::NotHere`]. A run that is resumed finds what it asked for before and the read that it
//!   missed; and only so often a transaction has to wait at all. So every transaction comes to its end.
//! - A walk over subkeys ends in the middle with the same error, after about as many as the caller expected.
//! - A commit answers [`Commit::Waiting`]. Until [`Engine::committed`] has ended it, every read of another transaction
//!   has to wait, and later commits end after it, in the order of the log. Now and then a commit ends as if it had met
//!   another one.
//! - With [`Odds::undeclared_percent`], a transaction over some keys gets only a part of them, and a read of another key
//!   answers [`EngineError::Undeclared`]. A key that was named once for a list of keys is granted when a transaction
//!   over the same list begins, so a scope is widened at most as often as the transaction has keys.
//!
//! A run must be repeatable: if nothing was committed since, the next one must ask for the same in the same order. If it
//! does not, this engine panics. It also panics if a run is committed that missed something.
//!
//! The short ways of reading and writing one string are not offered, so every command is a transaction. A commit that
//! waits keeps all others waiting until its caller asks for its end, or forgets it.

mod snapshot;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::task::Waker;

use parking_lot::Mutex;

use super::{
    Admin, Commit, Db, Draft, Engine, EngineError, Ordered, Overlay, Receipt, Result, Rewriting, Root,
    Sample, Sampled, Scope, Ticket, Watch,
};
use snapshot::Run;
pub use snapshot::WaitingSnapshot;

/// A transaction waits so often at most, apart from waiting for another one's commit.
const WAITS_MAX: u32 = 6;

/// A read that was missed is there after so many calls of the engine at most.
const STEPS_MAX: u8 = 3;

/// Odds in percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Odds {
    /// A read has to wait.
    pub read_percent: u8,
    /// A commit has to wait.
    pub commit_percent: u8,
    /// A commit ends as if it had met another one.
    pub conflict_percent: u8,
    /// A key of a transaction's scope is withheld.
    pub undeclared_percent: u8,
}

impl Default for Odds {
    fn default() -> Odds {
        Odds { read_percent: 15, commit_percent: 25, conflict_percent: 5, undeclared_percent: 0 }
    }
}

/// The test engine. It must be put around one that never waits itself.
#[derive(Debug)]
pub struct Waiting<E> {
    inner: E,
    odds: Odds,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    random: fastrand::Rng,
    tickets: u64,
    parked: BTreeMap<Ticket, Parked>,
    /// Commits that have happened and whose callers still wait, in the order of the log.
    untold: VecDeque<(Ticket, Receipt)>,
    /// Commits that will end as if they had met another one.
    refused: BTreeSet<Ticket>,
    /// Keys that were named for a list of keys, by the hash of the list.
    named: HashMap<u64, HashSet<Vec<u8>>>,
    /// Commits so far that changed something.
    commits: u64,
}

#[derive(Debug)]
struct Parked {
    run: Run,
    /// Calls of the engine until it can be resumed.
    steps: u8,
    /// Woken then.
    waker: Waker,
}

impl State {
    fn draw(&mut self, percent: u8) -> bool {
        self.random.u8(..100) < percent
    }

    fn ticket(&mut self) -> Ticket {
        self.tickets += 1;
        Ticket(self.tickets)
    }

    /// Time goes on by one call: returns the wakers of those for which everything is there now.
    fn step(&mut self) -> Vec<Waker> {
        if !self.untold.is_empty() {
            return Vec::new();
        }
        let mut woken = Vec::new();
        for parked in self.parked.values_mut().filter(|parked| parked.steps > 0) {
            parked.steps -= 1;
            if parked.steps == 0 {
                woken.push(parked.waker.clone());
            }
        }
        woken
    }
}

/// A number for a list of keys, whatever their order and however often each is in it.
fn list_of(keys: &[&[u8]]) -> u64 {
    let keys: BTreeSet<&[u8]> = keys.iter().copied().collect();
    let mut hasher = DefaultHasher::new();
    keys.hash(&mut hasher);
    hasher.finish()
}

impl<E: Engine> Waiting<E> {
    /// Makes an engine wait at the usual odds, every key of a scope being granted.
    pub fn new(inner: E, seed: u64) -> Waiting<E> {
        Waiting::with_odds(inner, seed, Odds::default())
    }

    /// Makes an engine wait at these odds.
    pub fn with_odds(inner: E, seed: u64, odds: Odds) -> Waiting<E> {
        let state = State {
            random: fastrand::Rng::with_seed(seed),
            tickets: 0,
            parked: BTreeMap::new(),
            untold: VecDeque::new(),
            refused: BTreeSet::new(),
            named: HashMap::new(),
            commits: 0,
        };
        Waiting { inner, odds, state: Mutex::new(state) }
    }

    /// The engine that is made to wait.
    pub fn inner(&self) -> &E {
        &self.inner
    }

    /// Lets time go on, as every call of the engine does: what is being fetched arrives, and wakers are woken. For a host
    /// that has nothing else to do.
    pub fn tick(&self) {
        let woken = self.state.lock().step();
        woken.into_iter().for_each(Waker::wake);
    }

    /// How many transactions and commits wait.
    pub fn waiting_count(&self) -> usize {
        let state = self.state.lock();
        state.parked.len() + state.untold.len() + state.refused.len()
    }

    /// The part of a list of keys that a transaction gets.
    fn grant<'k>(&self, keys: &[&'k [u8]]) -> Vec<&'k [u8]> {
        let mut state = self.state.lock();
        let named = state.named.get(&list_of(keys)).cloned().unwrap_or_default();
        // A caller may repeat a key that a run has named.
        let is_repeated = |key: &[u8]| keys.iter().filter(|other| **other == key).count() > 1;
        let mut is_granted =
            |key: &[u8]| named.contains(key) || is_repeated(key) || !state.draw(self.odds.undeclared_percent);
        keys.iter().copied().filter(|key| is_granted(key)).collect()
    }

    /// Opens a transaction that goes on with a run.
    fn open(&self, scope: Scope<'_>, run: Run, withholds: bool) -> Result<WaitingSnapshot<'_, E>> {
        let (granted, list) = match scope {
            Scope::Keys(keys) if self.odds.undeclared_percent > 0 => {
                let granted = if withholds { self.grant(keys) } else { keys.to_vec() };
                (Some(granted), list_of(keys))
            }
            _ => (None, 0),
        };
        let inner = self.inner.begin(granted.as_deref().map_or(scope, Scope::Keys))?;
        let granted = granted.map(|keys| keys.into_iter().map(<[u8]>::to_vec).collect());
        Ok(WaitingSnapshot {
            inner,
            engine: self,
            run,
            granted,
            undeclared: None,
            list,
            names: HashMap::new(),
        })
    }
}

impl<E: Engine> Engine for Waiting<E> {
    type Snapshot<'e>
        = WaitingSnapshot<'e, E>
    where
        Self: 'e;

    fn prefetch(&self, db: Db, keys: &[&[u8]]) {
        self.inner.prefetch(db, keys);
    }

    fn draft(&self) -> Result<Draft> {
        self.inner.draft()
    }

    fn has_blobs(&self) -> bool {
        self.inner.has_blobs()
    }

    fn begin(&self, scope: Scope<'_>) -> Result<WaitingSnapshot<'_, E>> {
        self.tick();
        let run = Run::new(self.state.lock().commits);
        self.open(scope, run, true)
    }

    fn park(&self, snapshot: WaitingSnapshot<'_, E>, waker: &Waker) -> Ticket {
        let WaitingSnapshot { inner, run, .. } = snapshot;
        // No lock is held while it waits.
        drop(inner);
        self.tick();
        let mut state = self.state.lock();
        let ticket = state.ticket();
        let steps = state.random.u8(..=STEPS_MAX).max(u8::from(!state.untold.is_empty()));
        state.parked.insert(ticket, Parked { run, steps, waker: waker.clone() });
        drop(state);
        if steps == 0 {
            waker.wake_by_ref();
        }
        ticket
    }

    /// Fails if the ticket is none of a parked transaction.
    fn resume(&self, ticket: Ticket, scope: Scope<'_>) -> Result<Option<WaitingSnapshot<'_, E>>> {
        self.tick();
        let mut state = self.state.lock();
        let commits = state.commits;
        let parked = match state.parked.get(&ticket) {
            Some(parked) if parked.steps > 0 => return Ok(None),
            Some(_) => state.parked.remove(&ticket),
            None => None,
        };
        drop(state);
        let unknown = || EngineError::Damaged("a ticket of no parked transaction".into());
        let run = parked.ok_or_else(unknown)?.run.again(commits);
        self.open(scope, run, false).map(Some)
    }

    fn forget(&self, ticket: Ticket) {
        let mut state = self.state.lock();
        state.parked.remove(&ticket);
        state.refused.remove(&ticket);
        state.untold.retain(|(other, _)| *other != ticket);
        drop(state);
        self.tick();
    }

    fn commit(
        &self,
        snapshot: WaitingSnapshot<'_, E>,
        overlay: &mut Overlay,
        now_ms: u64,
        ordered: Ordered<'_>,
    ) -> Result<Commit> {
        let WaitingSnapshot { inner, run, list, .. } = snapshot;
        run.assert_whole();
        // Locked until the end, so that commits end in the order of the log.
        let mut state = self.state.lock();
        state.named.remove(&list);
        if overlay.is_empty() {
            return self.inner.commit(inner, overlay, now_ms, ordered);
        }
        if state.draw(self.odds.conflict_percent) {
            let ticket = state.ticket();
            state.refused.insert(ticket);
            return Ok(Commit::Waiting(ticket));
        }
        let waits = !state.untold.is_empty() || state.draw(self.odds.commit_percent);
        let committed = match waits {
            true => self.inner.commit(inner, overlay, now_ms, &mut |_| {})?,
            false => self.inner.commit(inner, overlay, now_ms, ordered)?,
        };
        state.commits += 1;
        match committed {
            Commit::Done(receipt) if waits && receipt != Receipt::default() => {
                let ticket = state.ticket();
                state.untold.push_back((ticket, receipt));
                Ok(Commit::Waiting(ticket))
            }
            Commit::Done(receipt) => Ok(Commit::Done(receipt)),
            Commit::Waiting(_) => panic!("the engine below waits itself"),
        }
    }

    /// Fails with [`EngineError::NotHere`] if the commit ends as if it had met another one, and with another error if the
    /// ticket is none of a commit.
    fn committed(&self, ticket: Ticket, waker: &Waker, ordered: Ordered<'_>) -> Result<Option<Receipt>> {
        let mut state = self.state.lock();
        if state.refused.remove(&ticket) {
            return Err(EngineError::NotHere);
        }
        match state.untold.front().copied() {
            Some((first, receipt)) if first == ticket => {
                if state.draw(50) {
                    waker.wake_by_ref();
                    return Ok(None);
                }
                state.untold.pop_front();
                ordered(receipt);
                drop(state);
                self.tick();
                Ok(Some(receipt))
            }
            _ if state.untold.iter().any(|(other, _)| *other == ticket) => {
                waker.wake_by_ref();
                Ok(None)
            }
            _ => Err(EngineError::Damaged("a ticket of no waiting commit".into())),
        }
    }

    fn expired_keys(&self, now_ms: u64, budget: u64, visit: &mut dyn FnMut(Db, &[u8])) -> Result<bool> {
        self.inner.expired_keys(now_ms, budget, visit)
    }

    fn sample_keys(&self, sample: &Sample, visit: &mut dyn FnMut(Db, &[u8], &Root)) -> Result<Sampled> {
        self.inner.sample_keys(sample, visit)
    }

    fn is_busy(&self, db: Db, key: &[u8]) -> bool {
        self.inner.is_busy(db, key)
    }

    fn watch(&self, db: Db, key: &[u8], watch: &Watch) {
        self.inner.watch(db, key, watch);
    }

    fn unwatch(&self, db: Db, key: &[u8], watch: &Watch) {
        self.inner.unwatch(db, key, watch);
    }
}

impl<E: Engine> Admin for Waiting<E> {
    fn checkpoint(&self, now_ms: u64) -> Result<()> {
        self.inner.checkpoint(now_ms)
    }

    fn reopen(&self, access: u32) -> Result<()> {
        self.inner.reopen(access)
    }

    fn begin_rewrite(&self) -> bool {
        self.inner.begin_rewrite()
    }

    fn rewriting(&self) -> Rewriting {
        self.inner.rewriting()
    }

    fn is_synced(&self, sync: bool) -> Result<bool> {
        self.inner.is_synced(sync)
    }

    fn report(&self) -> Vec<(&'static str, u64)> {
        self.inner.report()
    }

    fn last_finding(&self) -> Option<String> {
        self.inner.last_finding()
    }

    fn held_bytes(&self) -> u64 {
        self.inner.held_bytes()
    }

    fn garbage_bytes(&self) -> u64 {
        self.inner.garbage_bytes()
    }

    fn lacks_space(&self) -> bool {
        self.inner.lacks_space()
    }

    fn partitions(&self) -> u32 {
        self.inner.partitions()
    }

    fn partition(&self, key: &[u8]) -> u32 {
        self.inner.partition(key)
    }

    fn partition_seed(&self) -> u64 {
        self.inner.partition_seed()
    }

    fn put_derived(&self, number: u64, bytes: &[u8]) -> Result<()> {
        self.inner.put_derived(number, bytes)
    }

    fn derived(&self, number: u64) -> Option<Vec<u8>> {
        self.inner.derived(number)
    }

    fn remove_derived(&self, number: u64) {
        self.inner.remove_derived(number);
    }

    fn list_derived(&self) -> Vec<u64> {
        self.inner.list_derived()
    }
}
