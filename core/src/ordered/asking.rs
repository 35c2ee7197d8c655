//! Requests to the cluster that keep the calling thread until they have ended, for threads that serve nobody.

use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

use super::cluster::{Answer, Ask, Cluster, ClusterError, Pairs, ReadIn, Scan, Write};
use super::names::Range;

/// A place for what a call brings, for the thread that waits for it.
struct Arriving<T> {
    arrived: Mutex<Option<T>>,
    is_there: Condvar,
}

impl<T> Arriving<T> {
    fn new() -> Arc<Arriving<T>> {
        Arc::new(Arriving { arrived: Mutex::new(None), is_there: Condvar::new() })
    }

    fn put(&self, value: T) {
        *self.arrived.lock() = Some(value);
        self.is_there.notify_all();
    }

    fn wait(&self) -> T {
        let mut arrived = self.arrived.lock();
        loop {
            match arrived.take() {
                Some(value) => return value,
                None => self.is_there.wait(&mut arrived),
            }
        }
    }
}

/// What came of a read: the transaction, to go on with it, and the answers.
type Read<T> = Result<(T, Vec<Answer>), ClusterError>;

/// Reads in one round, in a transaction that has begun or in a new one.
///
/// # Errors
/// The cluster's.
pub(super) fn read<C: Cluster>(
    cluster: &C,
    transaction: Option<C::Transaction>,
    asks: Vec<Ask>,
) -> Read<C::Transaction> {
    let arriving = Arriving::new();
    let arrives = arriving.clone();
    let count = asks.len();
    let within = ReadIn::begun_or_new(transaction);
    cluster.read(within, asks, Box::new(move |outcome| arrives.put(outcome)));
    let (transaction, answers) = arriving.wait()?;
    if answers.len() == count { Ok((transaction, answers)) } else { Err(other_answer()) }
}

/// Ends a transaction, or a new one, with these changes.
///
/// # Errors
/// The cluster's.
pub(super) fn write<C: Cluster>(
    cluster: &C,
    transaction: Option<C::Transaction>,
    write: Write,
) -> Result<(), ClusterError> {
    let arriving = Arriving::new();
    let arrives = arriving.clone();
    cluster.write(transaction, write, Box::new(move |outcome| arrives.put(outcome)));
    arriving.wait()
}

/// Removes everything from one key up to another ([`Cluster::destroy`]).
///
/// # Errors
/// The cluster's.
pub(super) fn destroy<C: Cluster>(cluster: &C, (from, to): (Vec<u8>, Vec<u8>)) -> Result<(), ClusterError> {
    let arriving = Arriving::new();
    let arrives = arriving.clone();
    cluster.destroy(from, to, Box::new(move |outcome| arrives.put(outcome)));
    arriving.wait()
}

/// Asks for the first pairs of a range.
pub(super) fn scan((from, to): Range, limit: u32) -> Ask {
    Ask::Scan(Scan { from, to, limit, is_reverse: false, keys_only: false })
}

/// Asks for the first names of a range.
pub(super) fn scan_names((from, to): Range, limit: u32) -> Ask {
    Ask::Scan(Scan { from, to, limit, is_reverse: false, keys_only: true })
}

/// The first name behind this one: where a range that was read up to it goes on.
pub(super) fn behind(name: &[u8]) -> Vec<u8> {
    [name, &[0]].concat()
}

/// The value that a key was asked for.
///
/// # Errors
/// The answer is one to another question.
pub(super) fn value(answer: Option<Answer>) -> Result<Option<Vec<u8>>, ClusterError> {
    match answer {
        Some(Answer::Value(value)) => Ok(value),
        _ => Err(other_answer()),
    }
}

/// The pairs that a range was asked for.
///
/// # Errors
/// The answer is one to another question.
pub(super) fn pairs(answer: Option<Answer>) -> Result<Pairs, ClusterError> {
    match answer {
        Some(Answer::Pairs(pairs)) => Ok(pairs),
        _ => Err(other_answer()),
    }
}

fn other_answer() -> ClusterError {
    ClusterError::Refused("an answer to another question".into())
}
