//! Reads of transactions that only read: those that are asked for at the same time begin together and share their round.
//!
//! What shares a round also shares what holds it up, a lock or a region without a leader. So a round that takes much longer than others
//! do, or fails, is given up, and each of its reads goes on alone, at the same timestamp.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use edgecask_core::ordered::cluster::{Answer, Ask, ClusterError, ReadDone};
use futures_util::FutureExt;
use parking_lot::Mutex;
use tikv_client::{Error, Timestamp, TransactionClient};
use tokio::time::timeout;

use crate::tikv::client::{Begun, gets};
use crate::tikv::errors::{During, classify};
use crate::tikv::latency::Observed;

/// So many rounds are under way at a time, not counting those that were given up: with more there is less to share, with fewer a
/// read waits longer for the next one.
const ROUNDS: usize = 8;

/// A round asks for so many keys at most, as long as one read does not want more.
const KEYS_A_ROUND: usize = 256;

/// A read of more keys than these shares nothing: others would wait for it.
const KEYS_MAX: usize = 16;

/// Reads that wait for their round.
#[derive(Default)]
pub(in crate::tikv) struct Reads(Mutex<State>);

#[derive(Default)]
struct State {
    reads: Vec<Read>,
    /// How many tasks run rounds.
    rounds: usize,
    /// Whether a task has begun that will take what waits.
    is_called: bool,
}

/// What a transaction wants to read.
struct Read {
    keys: Vec<Vec<u8>>,
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
            done(Err(ClusterError::Unavailable("no answer in time".into())));
        }
    }
}

/// What rounds need.
#[derive(Clone)]
pub(in crate::tikv) struct Rounds {
    pub(in crate::tikv) client: Arc<TransactionClient>,
    pub(in crate::tikv) reads: Arc<Reads>,
    pub(in crate::tikv) observed: Arc<Observed>,
    /// A round is over after so long, whatever it waits for.
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
    /// Adds a read; true if the caller is to start [`Rounds::run`].
    pub(in crate::tikv) fn add(&self, keys: Vec<Vec<u8>>, done: ReadDone<Begun>) -> bool {
        let mut state = self.0.lock();
        state.reads.push(Read { keys, done: Some(done) });
        let starts = !state.is_called && state.rounds < ROUNDS;
        if starts {
            state.is_called = true;
            state.rounds += 1;
        }
        starts
    }

    /// The reads of the next round; none if nobody waits, and then the task ends.
    fn take(&self) -> Vec<Read> {
        let mut state = self.0.lock();
        state.is_called = false;
        let mut keys = 0;
        let mut fits = |read: &Read| {
            keys += read.keys.len();
            keys <= KEYS_A_ROUND
        };
        let count = state.reads.iter().take_while(|read| fits(read)).count();
        let rest = state.reads.split_off(count);
        let taken = std::mem::replace(&mut state.reads, rest);
        if taken.is_empty() {
            state.rounds -= 1;
        }
        taken
    }
}

impl Rounds {
    /// Runs rounds as long as anybody waits.
    pub(in crate::tikv) async fn run(self) {
        loop {
            let reads = self.reads.take();
            if reads.is_empty() {
                return;
            }
            // The client panics on some answers. The reads have their end all the same.
            let _ = timeout(self.limit, AssertUnwindSafe(self.round(reads)).catch_unwind()).await;
        }
    }

    async fn round(&self, reads: Vec<Read>) {
        let since = Instant::now();
        let at = match self.client.current_timestamp().await {
            Ok(at) => at,
            Err(error) => {
                let error = classify(&error, During::Read);
                return reads.into_iter().for_each(|read| read.end(Err(error.clone())));
            }
        };
        let (client, keys) = (self.client.clone(), all_keys(&reads));
        let begun = at.clone();
        let mut asked = Box::pin(async move { gets(&client, &begun, keys).await });
        match (timeout(super::slow(&self.observed.reads), &mut asked).await, <[Read; 1]>::try_from(reads)) {
            (Ok(found), Ok([read])) => end(read, at, since, found),
            (Ok(Ok(found)), Err(reads)) => share(reads, &at, since, found),
            (Err(_), Ok([read])) => self.go_on(since, async move { end(read, at, since, asked.await) }),
            (Err(_) | Ok(Err(_)), Err(reads)) => {
                for read in reads {
                    let (client, at) = (self.client.clone(), at.clone());
                    self.go_on(since, async move {
                        let found = gets(&client, &at, read.keys.clone()).await;
                        end(read, at, since, found);
                    });
                }
            }
        }
    }

    /// Lets something go on beside the rounds, up to the end of the time that it has.
    fn go_on(&self, since: Instant, work: impl Future<Output = ()> + Send + 'static) {
        let left = self.limit.saturating_sub(since.elapsed());
        tokio::spawn(timeout(left, work));
    }
}

/// The keys of all reads, each once.
fn all_keys(reads: &[Read]) -> Vec<Vec<u8>> {
    let mut keys: Vec<Vec<u8>> = reads.iter().flat_map(|read| read.keys.iter().cloned()).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

fn end(read: Read, at: Timestamp, since: Instant, found: Result<HashMap<Vec<u8>, Vec<u8>>, Error>) {
    match found {
        Ok(found) => share(vec![read], &at, since, found),
        Err(error) => read.end(Err(classify(&error, During::Read))),
    }
}

/// Gives each read what it wanted.
fn share(reads: Vec<Read>, at: &Timestamp, since: Instant, found: HashMap<Vec<u8>, Vec<u8>>) {
    for read in reads {
        let answers = read.keys.iter().map(|key| Answer::Value(found.get(key).cloned())).collect();
        read.end(Ok((Begun::to_read(at.clone(), since), answers)));
    }
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
        let round = reads.take();
        assert_eq!(round.len(), 2);
        drop(round);
        assert_eq!(*ended.lock(), [(0, true), (1, true)]);

        for name in 0..60 {
            read(name, KEYS_MAX);
        }
        assert_eq!(reads.0.lock().rounds, 2);
        assert_eq!(reads.take().len(), KEYS_A_ROUND / KEYS_MAX);
        std::mem::take(&mut reads.0.lock().reads);
        assert!(reads.take().is_empty());
        assert_eq!(reads.0.lock().rounds, 1);
    }

    #[test]
    fn rounds_without_number() {
        let reads = Reads::default();
        for _ in 0..3 * ROUNDS {
            reads.add(Vec::new(), Box::new(|_| {}));
            let mut state = reads.0.lock();
            state.is_called = false;
            assert!(state.rounds <= ROUNDS);
        }
    }

    #[test]
    fn keys_of_a_round() {
        let read = |keys: &[u8]| Read { keys: keys.iter().map(|key| vec![*key]).collect(), done: None };
        assert_eq!(all_keys(&[read(&[3, 1]), read(&[3]), read(&[2])]), [[1], [2], [3]]);
        let get = |key: u8| Ask::Get(vec![key]);
        assert_eq!(few_keys(&[get(7)]), Some(vec![vec![7]]));
        assert_eq!(few_keys(&vec![get(7); KEYS_MAX + 1]), None);
    }
}
