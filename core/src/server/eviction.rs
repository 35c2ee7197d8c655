//! What a server knows of its memory: how much of it connections take, whether there is too much, and which keys are the
//! next to go.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;

use super::settings::Policy;
use crate::engine::Db;
use crate::limits::{EVICTION_FAILED_KEYS, EVICTION_POOL_KEYS};

/// The memory of a server, the store's own aside.
#[derive(Debug)]
pub struct Memory {
    /// Bytes that connections take, as they said last.
    pub clients_bytes: Arc<AtomicU64>,
    /// The most memory that was ever counted.
    peak_bytes: AtomicU64,
    /// Keys that went to make room.
    pub evicted_keys: AtomicU64,
    /// Connections that were closed to make room.
    pub evicted_clients: AtomicU64,
    /// Unix time in milliseconds since when there has been too much; 0 if there is not.
    exceeded_since_ms: AtomicU64,
    /// For how many milliseconds there was too much before that.
    exceeded_ms: AtomicU64,
    /// When connections were last looked at to close the largest.
    pub(super) clients_pass: Pass,
    /// The next keys to go.
    pub(crate) pool: Mutex<EvictionPool>,
}

impl Memory {
    /// Nothing is in use. The seed decides which keys are looked at.
    pub(super) fn new(seed: u64) -> Memory {
        Memory {
            clients_bytes: Arc::default(),
            peak_bytes: AtomicU64::new(0),
            evicted_keys: AtomicU64::new(0),
            evicted_clients: AtomicU64::new(0),
            exceeded_since_ms: AtomicU64::new(0),
            exceeded_ms: AtomicU64::new(0),
            clients_pass: Pass::default(),
            pool: Mutex::new(EvictionPool {
                candidates: Vec::new(),
                failed: VecDeque::new(),
                policy: None,
                last_db: 0,
                random: fastrand::Rng::with_seed(seed),
            }),
        }
    }

    /// Notes how much memory is counted at this moment; returns the most that there ever was. To be called by the host every
    /// so often.
    pub fn note_counted(&self, bytes: u64) -> u64 {
        self.peak_bytes.fetch_max(bytes, Ordering::Relaxed).max(bytes)
    }

    /// Notes whether there is too much.
    pub(crate) fn note_exceeded(&self, is_exceeded: bool, now_ms: u64) {
        let since_ms = self.exceeded_since_ms.load(Ordering::Relaxed);
        if is_exceeded == (since_ms > 0) {
            return;
        }
        let since = if is_exceeded { now_ms.max(1) } else { 0 };
        let swapped =
            self.exceeded_since_ms.compare_exchange(since_ms, since, Ordering::Relaxed, Ordering::Relaxed);
        if !is_exceeded && swapped.is_ok() {
            self.exceeded_ms.fetch_add(now_ms.saturating_sub(since_ms), Ordering::Relaxed);
        }
    }

    /// Milliseconds for which there has been too much: since the start, and of these the ones that have not ended.
    pub fn exceeded_ms(&self, now_ms: u64) -> (u64, u64) {
        let present = match self.exceeded_since_ms.load(Ordering::Relaxed) {
            0 => 0,
            since_ms => now_ms.saturating_sub(since_ms),
        };
        (self.exceeded_ms.load(Ordering::Relaxed) + present, present)
    }

    /// Sets to zero what CONFIG RESETSTAT does.
    pub(super) fn reset(&self) {
        for counter in [&self.evicted_keys, &self.evicted_clients, &self.exceeded_since_ms, &self.exceeded_ms]
        {
            counter.store(0, Ordering::Relaxed);
        }
    }
}

/// Milliseconds between two looks at all connections: with ten thousand of them one takes about a millisecond.
const CLIENTS_PASS_MS: u64 = 10;

/// The same where the last look has found none to close: the others stay (CLIENT NO-EVICT), or have yet to end.
const FUTILE_PASS_MS: u64 = 100;

/// Work that is done once in some milliseconds, by one thread.
#[derive(Debug, Default)]
pub(super) struct Pass {
    /// Unix time in milliseconds at which it was done last.
    at_ms: AtomicU64,
    was_futile: AtomicBool,
}

impl Pass {
    /// Whether it is time, and nobody else has begun. A clock that jumps does not put it off.
    pub(super) fn begin(&self, now_ms: u64) -> bool {
        let last_ms = self.at_ms.load(Ordering::Relaxed);
        let period_ms =
            if self.was_futile.load(Ordering::Relaxed) { FUTILE_PASS_MS } else { CLIENTS_PASS_MS };
        now_ms.abs_diff(last_ms) >= period_ms
            && self.at_ms.compare_exchange(last_ms, now_ms, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Says whether it was of any use.
    pub(super) fn end(&self, was_useful: bool) {
        self.was_futile.store(!was_useful, Ordering::Relaxed);
    }
}

/// A key that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// The larger, the sooner it goes.
    pub(crate) rank: u64,
    pub(crate) db: Db,
    pub(crate) key: Vec<u8>,
}

/// The best candidates of all that were looked at lately, as in Redis: an order by a few keys looked at for each that goes
/// comes close to the order of all keys if the runners-up are remembered.
#[derive(Debug)]
pub(crate) struct EvictionPool {
    /// Ascending by rank.
    candidates: Vec<Candidate>,
    /// Keys that could not be deleted, the latest last: they are left alone, so that others go.
    failed: VecDeque<(Db, Vec<u8>)>,
    /// The policy by which they were ranked.
    policy: Option<Policy>,
    /// The database from which a key went last.
    pub(crate) last_db: Db,
    pub(crate) random: fastrand::Rng,
}

impl EvictionPool {
    /// Forgets candidates that another policy has ranked.
    pub(crate) fn follow(&mut self, policy: Policy) {
        if self.policy.replace(policy) != Some(policy) {
            self.candidates.clear();
        }
    }

    /// Takes a key, unless it is full and all the others are to go before it, or the key could not be deleted before.
    pub(crate) fn offer(&mut self, candidate: Candidate) {
        if self.has_failed(candidate.db, &candidate.key) {
            return;
        }
        let mut at = self.candidates.partition_point(|other| other.rank < candidate.rank);
        if self.candidates.len() >= EVICTION_POOL_KEYS {
            if at == 0 {
                return;
            }
            self.candidates.remove(0);
            at -= 1;
        }
        self.candidates.insert(at, candidate);
    }

    /// Takes the next key to go out, of those that may go now.
    pub(crate) fn take(&mut self, may_go: impl Fn(&Candidate) -> bool) -> Option<Candidate> {
        let at = self.candidates.iter().rposition(may_go)?;
        Some(self.candidates.remove(at))
    }

    /// Whether there is no candidate.
    pub(crate) fn is_empty(&self) -> bool {
        self.candidates.is_empty()
    }

    /// A key could not be deleted.
    pub(crate) fn note_failed(&mut self, db: Db, key: Vec<u8>) {
        if self.failed.len() >= EVICTION_FAILED_KEYS {
            self.failed.pop_front();
        }
        self.failed.push_back((db, key));
    }

    /// Whether a key could not be deleted lately.
    pub(crate) fn has_failed(&self, db: Db, key: &[u8]) -> bool {
        self.failed.iter().any(|(failed_db, failed)| *failed_db == db && failed == key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::settings::First;

    fn candidate(rank: u64) -> Candidate {
        Candidate { rank, db: 0, key: vec![rank as u8] }
    }

    #[test]
    fn worse_candidate_goes_first() {
        let memory = Memory::new(1);
        let mut pool = memory.pool.lock();
        for rank in [5, 9, 1, 7, 3, 2, 8].into_iter().chain(20..30) {
            pool.offer(candidate(rank));
        }
        // One of 17 found no place: the worst.
        let ranks: Vec<u64> =
            std::iter::from_fn(|| pool.take(|_| true)).map(|candidate| candidate.rank).collect();
        assert_eq!(ranks, [29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 9, 8, 7, 5, 3, 2]);
    }

    #[test]
    fn candidate_of_another_policy_goes() {
        let memory = Memory::new(1);
        let mut pool = memory.pool.lock();
        let policy = Policy { only_expiring: true, first: First::LeastRecent };
        pool.follow(policy);
        pool.offer(candidate(1));
        pool.follow(policy);
        assert!(pool.take(|_| true).is_some());
        pool.offer(candidate(1));
        pool.follow(Policy { only_expiring: false, ..policy });
        assert_eq!(pool.take(|_| true), None);
    }

    #[test]
    fn key_that_cannot_be_deleted_keeps_others() {
        let memory = Memory::new(1);
        let mut pool = memory.pool.lock();
        pool.note_failed(0, vec![9]);
        (1..=9).for_each(|rank| pool.offer(candidate(rank)));
        // Those whose locks somebody holds stay for later.
        assert_eq!(pool.take(|candidate| candidate.rank < 6), Some(candidate(5)));
        assert_eq!(pool.take(|_| true), Some(candidate(8)));
        (0..EVICTION_FAILED_KEYS).for_each(|_| pool.note_failed(1, vec![9]));
        assert!(!pool.has_failed(0, &[9]));
    }

    #[test]
    fn all_connections_are_looked_at_for_every_command() {
        let pass = Pass::default();
        let begins = |pass: &Pass, from_ms: u64| {
            (from_ms..from_ms + 1000)
                .filter(|now_ms| pass.begin(*now_ms))
                .inspect(|_| pass.end(from_ms < 5000))
                .count()
        };
        assert_eq!(begins(&pass, 1000), 100);
        assert_eq!(begins(&pass, 10_000), 10);
        // The clock was set back.
        assert!(pass.begin(2000));
    }

    #[test]
    fn time_with_too_much_memory_is_lost() {
        let memory = Memory::new(1);
        memory.note_exceeded(false, 50);
        memory.note_exceeded(true, 100);
        memory.note_exceeded(true, 130);
        assert_eq!(memory.exceeded_ms(150), (50, 50));
        memory.note_exceeded(false, 160);
        memory.note_exceeded(true, 200);
        assert_eq!(memory.exceeded_ms(205), (65, 5));
        memory.reset();
        assert_eq!(memory.exceeded_ms(300), (0, 0));
    }
}
