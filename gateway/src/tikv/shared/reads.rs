//! Reads of transactions that only read: those that are asked for at the same time begin together and share their round.
//!
//! What shares a round also shares what holds it up, a lock or a region without a leader. So a round that takes much longer than others
//! do, or fails, is given up, and each of its reads goes on by itself, at the same timestamp.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use edgecask_core::ordered::cluster::{Answer, Ask, ClusterError, ReadDone};
use futures_util::future::join_all;
use parking_lot::Mutex;
use tikv_client::{Timestamp, TransactionClient};
use tokio::time::timeout;

use super::{Rounds, Tasks, Usual, run};
use crate::tikv::client::{Begun, gets};
use crate::tikv::errors::{During, classify};

/// So many rounds are under way at a time, not counting those that were given up: with more there is less to share, with fewer a
/// read waits longer for the next one.
const ROUNDS: usize = 8;

/// A round asks for so many keys at most, as long as one read does not want more.
const KEYS_A_ROUND: usize = 256;

/// A read of more keys than these shares nothing: others would wait for it.
const KEYS_MAX: usize = 16;

/// Reads that wait for their round.
#[derive(Default)]
pub(in crate::tikv) struct Reads {
    state: Mutex<State>,
    usual: Usual,
}

#[derive(Default)]
struct State {
    reads: Vec<Read>,
    tasks: Tasks,
}

/// What a transaction wants to read.
pub(in crate::tikv) struct Read {
    keys: Vec<Vec<u8>>,
    since: Instant,
    done: Option<ReadDone<Begun>>,
}

impl Read {
    fn end(mut self, outcome: Result<(Begun, Vec<Answer>), ClusterError>) {
        if let Some(done) = self.done.take() {
            done(outcome);
        }
    }
}

impl Drop for Read {
    /// Whatever became of its round, it has an end.
    fn drop(&mut self) {
        if let Some(done) = self.done.take() {
            done(Err(ClusterError::Unavailable("no answer".into())));
        }
    }
}

/// What rounds need.
#[derive(Clone)]
pub(in crate::tikv) struct ReadRounds {
    pub(in crate::tikv) client: Arc<TransactionClient>,
    pub(in crate::tikv) reads: Arc<Reads>,
    /// A read has its end after so long, whatever it waits for.
    pub(in crate::tikv) limit: Duration,
}

/// The keys that are asked for, if that is all and they are few enough to share a round.
pub(in crate::tikv) fn few_keys(asks: &[Ask]) -> Option<Vec<Vec<u8>>> {
    if asks.len() > KEYS_MAX {
        return None;
    }
    let key = |ask: &Ask| match ask {
        Ask::Get(key) => Some(key.clone()),
        Ask::Scan(_) => None,
    };
    asks.iter().map(key).collect()
}

impl Reads {
    /// Adds a read; true if the caller is to start [`ReadRounds::run`].
    pub(in crate::tikv) fn add(&self, keys: Vec<Vec<u8>>, done: ReadDone<Begun>) -> bool {
        let mut state = self.state.lock();
        state.reads.push(Read { keys, since: Instant::now(), done: Some(done) });
        state.tasks.starts(ROUNDS)
    }

    /// See [`Rounds::take`].
    fn take(&self) -> Option<(Vec<Read>, bool)> {
        let mut state = self.state.lock();
        state.tasks.is_called = false;
        let mut keys = 0;
        let mut fits = |read: &Read| {
            keys += read.keys.len();
            keys <= KEYS_A_ROUND
        };
        let count = state.reads.iter().take_while(|read| fits(read)).count();
        let rest = state.reads.split_off(count);
        let taken = std::mem::replace(&mut state.reads, rest);
        if taken.is_empty() {
            state.tasks.count -= 1;
            return None;
        }
        let starts = !state.reads.is_empty() && state.tasks.starts(ROUNDS);
        Some((taken, starts))
    }
}

impl ReadRounds {
    /// Runs rounds as long as anybody waits.
    pub(in crate::tikv) fn run(self) -> impl Future<Output = ()> + Send {
        run(self)
    }
}

impl Rounds for ReadRounds {
    type One = Read;

    fn take(&self) -> Option<(Vec<Read>, bool)> {
        self.reads.take()
    }

    fn since(read: &Read) -> Instant {
        read.since
    }

    fn limit(&self) -> Duration {
        self.limit
    }

    fn usual(&self) -> &Usual {
        &self.reads.usual
    }

    fn round(self, taken: Vec<Read>) -> impl Future<Output = ()> + Send {
        round(self, taken)
    }
}

/// Reads for all of them at once; or, if that takes long or fails, for each by itself.
async fn round(rounds: ReadRounds, reads: Vec<Read>) {
    let ReadRounds { client, reads: shared, .. } = rounds;
    let since = Instant::now();
    let at = match client.current_timestamp().await {
        Ok(at) => at,
        Err(error) => {
            let error = classify(&error, During::Read);
            return reads.into_iter().for_each(|read| read.end(Err(error.clone())));
        }
    };
    let several = match <[Read; 1]>::try_from(reads) {
        Ok([read]) => {
            read_alone(&client, read, &at, since).await;
            return shared.usual.note(since.elapsed());
        }
        Err(several) => several,
    };
    let asked = timeout(shared.usual.slow(), gets(&client, &at, all_keys(&several))).await;
    match asked {
        Ok(Ok(found)) => {
            shared.usual.note(since.elapsed());
            several.into_iter().for_each(|read| give(read, &at, since, &found));
        }
        Ok(Err(_)) | Err(_) => {
            // If the cluster as a whole has become slower, the quickest of them is slow as well.
            let (begin, is_first) = (Instant::now(), AtomicBool::new(true));
            let each = several.into_iter().map(async |read| {
                read_alone(&client, read, &at, since).await;
                if is_first.swap(false, Ordering::Relaxed) {
                    shared.usual.note(begin.elapsed());
                }
            });
            join_all(each).await;
        }
    }
}

async fn read_alone(client: &TransactionClient, read: Read, at: &Timestamp, since: Instant) {
    match gets(client, at, all_keys(std::slice::from_ref(&read))).await {
        Ok(found) => give(read, at, since, &found),
        Err(error) => read.end(Err(classify(&error, During::Read))),
    }
}

/// The keys of all reads, each once.
fn all_keys(reads: &[Read]) -> Vec<Vec<u8>> {
    let mut keys: Vec<Vec<u8>> = reads.iter().flat_map(|read| read.keys.iter().cloned()).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Gives a read what it wanted.
fn give(read: Read, at: &Timestamp, since: Instant, found: &HashMap<Vec<u8>, Vec<u8>>) {
    let answers = read.keys.iter().map(|key| Answer::Value(found.get(key).cloned())).collect();
    read.end(Ok((Begun::to_read(at.clone(), since), answers)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn read_of_a_round_without_an_end_waits_for_ever() {
        let reads = Reads::default();
        let ended = Arc::new(Mutex::new(Vec::new()));
        let read = |name: u8, keys: usize| {
            let ended = ended.clone();
            let done = move |outcome: Result<(Begun, Vec<Answer>), ClusterError>| {
                ended.lock().push((name, outcome.is_err()));
            };
            reads.add(vec![vec![name]; keys], Box::new(done))
        };
        assert!(read(0, 1), "nobody has been called");
        assert!(!read(1, 1), "who was called takes it along");
        let (round, starts) = reads.take().expect("two wait");
        assert_eq!((round.len(), starts), (2, false));
        drop(round);
        assert_eq!(*ended.lock(), [(0, true), (1, true)]);

        for name in 0..60 {
            read(name, KEYS_MAX);
        }
        assert_eq!(reads.state.lock().tasks.count, 2);
        let (round, starts) = reads.take().expect("sixty wait");
        assert_eq!(
            (round.len(), starts),
            (KEYS_A_ROUND / KEYS_MAX, true),
            "who does not fit waits beside idle rounds"
        );
        std::mem::take(&mut reads.state.lock().reads);
        assert!(reads.take().is_none());
        assert_eq!(reads.state.lock().tasks.count, 2);
    }

    #[test]
    fn rounds_without_number() {
        let reads = Reads::default();
        for _ in 0..3 * ROUNDS {
            reads.add(Vec::new(), Box::new(|_| {}));
            let mut state = reads.state.lock();
            state.tasks.is_called = false;
            assert!(state.tasks.count <= ROUNDS);
        }
    }

    #[test]
    fn keys_of_a_round() {
        let read = |keys: &[u8]| Read {
            keys: keys.iter().map(|key| vec![*key]).collect(),
            since: Instant::now(),
            done: None,
        };
        assert_eq!(all_keys(&[read(&[3, 1]), read(&[3]), read(&[2])]), [[1], [2], [3]]);
        let get = |key: u8| Ask::Get(vec![key]);
        assert_eq!(few_keys(&[get(7)]), Some(vec![vec![7]]));
        assert_eq!(few_keys(&vec![get(7); KEYS_MAX + 1]), None);
    }
}
