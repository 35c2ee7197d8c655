//! Writes that rest on nothing that was read, such as SET's: those of one region that come at the same time are one transaction,
//! which is one request and one phase.
//!
//! They have nothing to do with each other, so what goes wrong with one must not touch the others: where their transaction meets another
//! one, or a lock, nothing has happened, and each goes on alone. Only if nobody knows whether it has happened, nobody knows it of any of them.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use edgecask_core::ordered::cluster::{ClusterError, Write, WriteDone};
use futures_util::future::join_all;
use parking_lot::Mutex;
use tikv_client::{TransactionClient, TransactionOptions};

use super::{Rounds, Tasks, Usual, run};
use crate::tikv::client::{Begun, begin, commit, options};

/// So many transactions of one region are under way at a time, not counting slow ones.
const ROUNDS: usize = 4;

/// A transaction has so many bytes at most: one phase ends at 16 KiB.
const ROUND_BYTES: usize = 12 * 1024;

/// And so many keys.
const ROUND_KEYS: usize = 128;

/// A longer write shares nothing.
const WRITE_BYTES: usize = 2 * 1024;

/// A write of more keys, too.
const WRITE_KEYS: usize = 16;

/// The writes that wait, by their regions.
#[derive(Default)]
pub(in crate::tikv) struct Writes {
    lines: Mutex<HashMap<u64, Line>>,
    usual: Usual,
}

/// Those of a region.
#[derive(Default)]
struct Line {
    waiting: VecDeque<One>,
    tasks: Tasks,
}

/// A write that may be part of a transaction.
pub(in crate::tikv) struct One {
    write: Write,
    since: Instant,
    done: Option<WriteDone>,
    /// Whether it has been sent: what is not known then may have happened.
    is_sent: bool,
}

impl One {
    fn end(mut self, outcome: Result<(), ClusterError>) {
        if let Some(done) = self.done.take() {
            done(outcome);
        }
    }
}

impl Drop for One {
    /// Whatever became of its transaction, it has an end.
    fn drop(&mut self) {
        if let Some(done) = self.done.take() {
            let text = "no answer".to_string();
            done(Err(match self.is_sent {
                true => ClusterError::Unknown(text),
                false => ClusterError::Unavailable(text),
            }));
        }
    }
}

/// What the transactions of a region need.
#[derive(Clone)]
pub(in crate::tikv) struct WriteRounds {
    pub(in crate::tikv) client: Arc<TransactionClient>,
    pub(in crate::tikv) writes: Arc<Writes>,
    /// A write has its end after so long, whatever it waits for.
    pub(in crate::tikv) limit: Duration,
    pub(in crate::tikv) region: u64,
}

fn bytes_of(write: &Write) -> usize {
    write.changes.iter().map(|(key, value)| key.len() + value.as_ref().map_or(0, Vec::len)).sum()
}

/// The keys of a write that may be part of a transaction with others.
pub(in crate::tikv) fn keys_to_share(write: &Write) -> Option<impl Iterator<Item = &[u8]>> {
    let is_small = !write.changes.is_empty()
        && write.changes.len() <= WRITE_KEYS
        && write.locks.is_empty()
        && bytes_of(write) <= WRITE_BYTES;
    is_small.then(|| write.changes.iter().map(|(key, _)| key.as_slice()))
}

impl Writes {
    /// Adds a write to a region; true if the caller is to start [`WriteRounds::run`].
    pub(in crate::tikv) fn add(&self, region: u64, write: Write, done: WriteDone) -> bool {
        let mut lines = self.lines.lock();
        let line = lines.entry(region).or_default();
        line.waiting.push_back(One { write, since: Instant::now(), done: Some(done), is_sent: false });
        line.tasks.starts(ROUNDS)
    }

    /// See [`Rounds::take`].
    fn take(&self, region: u64) -> Option<(Vec<One>, bool)> {
        let mut lines = self.lines.lock();
        let line = lines.get_mut(&region)?;
        line.tasks.is_called = false;
        let taken = line.take();
        if taken.is_empty() {
            line.tasks.count -= 1;
            if line.tasks.count == 0 {
                lines.remove(&region);
            }
            return None;
        }
        let starts = !line.waiting.is_empty() && line.tasks.starts(ROUNDS);
        Some((taken, starts))
    }
}

impl Line {
    /// The next ones, as many as fit. A key is there once, so that each write has its own place in the order.
    fn take(&mut self) -> Vec<One> {
        let (mut taken, mut names, mut bytes) = (Vec::<One>::new(), HashSet::new(), 0);
        while let Some(next) = self.waiting.front() {
            bytes += bytes_of(&next.write);
            let own = next.write.changes.iter().map(|(name, _)| name);
            let is_full = bytes > ROUND_BYTES || names.len() + next.write.changes.len() > ROUND_KEYS;
            if !taken.is_empty() && (is_full || own.clone().any(|name| names.contains(name))) {
                break;
            }
            names.extend(own.cloned());
            taken.extend(self.waiting.pop_front());
        }
        taken
    }
}

impl WriteRounds {
    /// Runs transactions as long as anybody waits.
    pub(in crate::tikv) fn run(self) -> impl Future<Output = ()> + Send {
        run(self)
    }
}

impl Rounds for WriteRounds {
    type One = One;

    fn take(&self) -> Option<(Vec<One>, bool)> {
        self.writes.take(self.region)
    }

    fn since(one: &One) -> Instant {
        one.since
    }

    fn limit(&self) -> Duration {
        self.limit
    }

    fn usual(&self) -> &Usual {
        &self.writes.usual
    }

    fn round(self, taken: Vec<One>) -> impl Future<Output = ()> + Send {
        round(self, taken)
    }
}

/// Writes all of them as one transaction; or, if something is in its way, each by itself.
async fn round(rounds: WriteRounds, taken: Vec<One>) {
    let WriteRounds { client, writes, .. } = rounds;
    let since = Instant::now();
    let several = match <[One; 1]>::try_from(taken) {
        Ok([one]) => {
            write_alone(&client, one).await;
            return writes.usual.note(since.elapsed());
        }
        Err(several) => several,
    };
    // A lock is not waited for: it is in the way of one only.
    let Some((begun, mut ones)) = begin_for(&client, several, options().no_resolve_locks()).await else {
        return;
    };
    ones.iter_mut().for_each(|one| one.is_sent = true);
    let changes = ones.iter().flat_map(|one| one.write.changes.iter().cloned()).collect();
    let outcome = commit(&client, begun, Write { changes, ..Write::default() }).await;
    writes.usual.note(since.elapsed());
    match outcome {
        Err(ClusterError::Conflict(_) | ClusterError::Refused(_)) => {
            ones.iter_mut().for_each(|one| one.is_sent = false);
            join_all(ones.into_iter().map(|one| write_alone(&client, one))).await;
        }
        outcome => ones.into_iter().for_each(|one| one.end(outcome.clone())),
    }
}

/// Begins a transaction for writes; those that it would be too late for, or all if it does not begin, have their end.
async fn begin_for(
    client: &TransactionClient,
    mut ones: Vec<One>,
    options: TransactionOptions,
) -> Option<(Begun, Vec<One>)> {
    match begin(client, options).await {
        Ok(begun) => {
            let is_late = |one: &mut One| begun.is_too_late(&one.write);
            ones.extract_if(.., is_late).for_each(|late| late.end(Err(ClusterError::Late)));
            (!ones.is_empty()).then_some((begun, ones))
        }
        Err(error) => {
            ones.into_iter().for_each(|one| one.end(Err(error.clone())));
            None
        }
    }
}

async fn write_alone(client: &TransactionClient, one: One) {
    let Some((begun, ones)) = begin_for(client, vec![one], options()).await else { return };
    let Some(mut one) = ones.into_iter().next() else { return };
    one.is_sent = true;
    let own = std::mem::take(&mut one.write);
    let outcome = commit(client, begun, own).await;
    one.end(outcome);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A write of a key that tells how it has ended.
    fn add(writes: &Writes, key: &str, value_bytes: usize, ended: &Arc<Mutex<Vec<String>>>) -> bool {
        let (ended, name) = (ended.clone(), key.to_owned());
        let done = move |outcome: Result<(), ClusterError>| {
            ended.lock().push(match outcome {
                Ok(()) => name,
                Err(error) => format!("{name}: {error}"),
            });
        };
        let changes = vec![(key.as_bytes().to_vec(), Some(vec![1; value_bytes]))];
        writes.add(7, Write { changes, ..Write::default() }, Box::new(done))
    }

    fn keys(taken: &[One]) -> Vec<String> {
        let names = taken.iter().flat_map(|one| &one.write.changes);
        names.map(|(name, _)| String::from_utf8_lossy(name).into_owned()).collect()
    }

    #[test]
    fn two_writes_of_a_key_are_in_one_transaction() {
        let (writes, ended) = (Writes::default(), Arc::default());
        assert!(add(&writes, "a", 1, &ended));
        assert!(!add(&writes, "b", 1, &ended), "who was called takes it along");
        assert!(!add(&writes, "a", 2, &ended));
        assert!(!add(&writes, "c", 1, &ended));
        let (round, starts) = writes.take(7).expect("four wait");
        assert_eq!((keys(&round), starts), (vec!["a".into(), "b".into()], true));
        drop(round);
        let (round, starts) = writes.take(7).expect("two wait");
        assert_eq!((keys(&round), starts), (vec!["a".into(), "c".into()], false));
        drop(round);
        assert!(writes.take(7).is_none() && writes.take(7).is_none());
        assert!(writes.lines.lock().is_empty(), "a region that nobody writes to stays known");
        assert_eq!(ended.lock().len(), 4);
    }

    #[test]
    fn transaction_takes_two_phases() {
        let (writes, ended) = (Writes::default(), Arc::default());
        for number in 0..9 {
            add(&writes, &format!("{number}"), 2000, &ended);
        }
        let count = || writes.take(7).map_or(0, |(taken, _)| taken.len());
        assert_eq!([count(), count()], [6, 3]);
        for number in 0..2 * ROUND_KEYS {
            add(&writes, &format!("{number}"), 1, &ended);
        }
        assert_eq!(writes.take(7).map(|(taken, _)| taken.len()), Some(ROUND_KEYS));
    }

    #[test]
    fn write_that_may_have_happened_is_repeated() {
        let (writes, ended) = (Writes::default(), Arc::default());
        for key in ["a", "b"] {
            add(&writes, key, 1, &ended);
        }
        let (mut taken, _) = writes.take(7).expect("two wait");
        taken[1].is_sent = true;
        drop(taken);
        let told = ended.lock().join("; ");
        assert!(told.starts_with("a: the cluster cannot be reached"), "{told}");
        assert!(told.contains("b: whether the write has happened is not known"), "{told}");
    }

    #[test]
    fn rounds_without_number() {
        let (writes, ended) = (Writes::default(), Arc::default());
        for number in 0..3 * ROUNDS {
            add(&writes, &format!("{number}"), 1, &ended);
            writes.lines.lock().get_mut(&7).expect("a line").tasks.is_called = false;
        }
        assert_eq!(writes.lines.lock()[&7].tasks.count, ROUNDS);
    }
}
