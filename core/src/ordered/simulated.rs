//! A cluster in memory for tests: snapshots, conflicts, and faults by odds.
//!
//! It keeps every version of every key, so a transaction reads what there was when it began. Nothing waits: answers come before the
//! call returns.

use std::collections::BTreeMap;
use std::sync::Arc;

use parking_lot::Mutex;

use super::cluster::{Answer, Ask, Cluster, ClusterError, ReadDone, ReadIn, Scan, Write, WriteDone};

/// The test cluster. Clones are the same cluster.
#[derive(Clone, Debug)]
pub struct Simulated(Arc<Mutex<State>>);

/// Odds in percent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    /// A write meets another one and does not happen.
    pub conflict_percent: u8,
    /// A read meets a write and must begin anew.
    pub read_conflict_percent: u8,
}

/// What it was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Rounds of reading.
    pub reads: u64,
    /// Transactions written.
    pub writes: u64,
    /// Bytes that reads have shown.
    pub read_bytes: u64,
    /// Bytes that writes have brought.
    pub written_bytes: u64,
}

#[derive(Debug)]
struct State {
    now: u64,
    clock_ms: u64,
    /// Versions of each key with the time of their commit, the oldest first. Locks are versions, too.
    keys: BTreeMap<Vec<u8>, Vec<(u64, Version)>>,
    random: fastrand::Rng,
    faults: Faults,
    counted: Counted,
}

/// A transaction: when it began, and whether it did so to read.
#[derive(Clone, Copy, Debug)]
pub struct Begun {
    at: u64,
    only_reads: bool,
}

#[derive(Clone, Debug)]
enum Version {
    Value(Vec<u8>),
    Removed,
    /// It was locked and stays what it is.
    Same,
}

impl Simulated {
    /// An empty cluster.
    pub fn new(seed: u64, faults: Faults) -> Simulated {
        Simulated(Arc::new(Mutex::new(State {
            now: 0,
            clock_ms: 0,
            keys: BTreeMap::new(),
            random: fastrand::Rng::with_seed(seed),
            faults,
            counted: Counted::default(),
        })))
    }

    /// What it was asked for since the last call.
    pub fn take_counted(&self) -> Counted {
        std::mem::take(&mut self.0.lock().counted)
    }

    /// Everything that is there.
    pub fn pairs(&self) -> Vec<(Vec<u8>, Vec<u8>)> {
        let state = self.0.lock();
        let value = |(key, versions): (&Vec<u8>, &Vec<(u64, Version)>)| {
            Some((key.clone(), state.value(versions, u64::MAX)?.to_vec()))
        };
        state.keys.iter().filter_map(value).collect()
    }

    /// How many keys there are.
    pub fn key_count(&self) -> usize {
        let state = self.0.lock();
        state.keys.values().filter(|versions| state.value(versions, u64::MAX).is_some()).count()
    }
}

impl State {
    fn draw(&mut self, percent: u8) -> bool {
        percent > 0 && self.random.u8(..100) < percent
    }

    fn value<'v>(&self, versions: &'v [(u64, Version)], at: u64) -> Option<&'v [u8]> {
        let seen = versions.iter().rev().filter(|(time, _)| *time <= at);
        let mut values = seen.filter_map(|(_, version)| match version {
            Version::Value(value) => Some(Some(value.as_slice())),
            Version::Removed => Some(None),
            Version::Same => None,
        });
        values.next().flatten()
    }

    fn answer(&self, ask: &Ask, at: u64) -> Answer {
        match ask {
            Ask::Get(key) => {
                let value = self.keys.get(key).and_then(|versions| self.value(versions, at));
                Answer::Value(value.map(<[u8]>::to_vec))
            }
            Ask::Scan(Scan { from, to, limit, is_reverse, keys_only }) => {
                if from >= to {
                    return Answer::Pairs(Vec::new());
                }
                let range = self.keys.range::<Vec<u8>, _>(from..to);
                let show = |(key, versions): (&Vec<u8>, &Vec<(u64, Version)>)| {
                    let value = self.value(versions, at)?;
                    Some((key.clone(), if *keys_only { Vec::new() } else { value.to_vec() }))
                };
                let limit = *limit as usize;
                Answer::Pairs(match is_reverse {
                    false => range.filter_map(show).take(limit).collect(),
                    true => range.rev().filter_map(show).take(limit).collect(),
                })
            }
        }
    }

    fn write(&mut self, at: u64, write: Write) -> Result<(), ClusterError> {
        assert!(write.changes.iter().all(|(_, value)| value.as_ref().is_none_or(|value| !value.is_empty())));
        let touched = write.changes.iter().map(|(key, _)| key).chain(&write.locks);
        for key in touched {
            if self.keys.get(key).and_then(|versions| versions.last()).is_some_and(|(time, _)| *time > at) {
                return Err(ClusterError::Conflict(format!("{} has changed", key.escape_ascii())));
            }
        }
        let percent = self.faults.conflict_percent;
        if self.draw(percent) {
            return Err(ClusterError::Conflict("by chance".into()));
        }
        self.now += 1;
        self.counted.writes += 1;
        let now = self.now;
        for (key, value) in write.changes {
            self.counted.written_bytes += (key.len() + value.as_ref().map_or(0, Vec::len)) as u64;
            let version = value.map_or(Version::Removed, Version::Value);
            self.keys.entry(key).or_default().push((now, version));
        }
        for key in write.locks {
            self.keys.entry(key).or_default().push((now, Version::Same));
        }
        Ok(())
    }
}

fn bytes_of(answer: &Answer) -> u64 {
    match answer {
        Answer::Value(value) => value.as_ref().map_or(0, Vec::len) as u64,
        Answer::Pairs(pairs) => pairs.iter().map(|(key, value)| (key.len() + value.len()) as u64).sum(),
    }
}

impl Cluster for Simulated {
    type Transaction = Begun;

    fn time_ms(&self, transaction: &Begun) -> u64 {
        transaction.at
    }

    fn read(&self, within: ReadIn<Begun>, asks: Vec<Ask>, done: ReadDone<Begun>) {
        let mut state = self.0.lock();
        state.counted.reads += 1;
        let percent = state.faults.read_conflict_percent;
        if state.draw(percent) {
            drop(state);
            return done(Err(ClusterError::Conflict("by chance".into())));
        }
        let begun = match within {
            ReadIn::Begun(begun) => begun,
            ReadIn::New => Begun { at: state.now, only_reads: false },
            ReadIn::NewToRead => Begun { at: state.now, only_reads: true },
        };
        let answers: Vec<Answer> = asks.iter().map(|ask| state.answer(ask, begun.at)).collect();
        state.counted.read_bytes += answers.iter().map(bytes_of).sum::<u64>();
        drop(state);
        done(Ok((begun, answers)));
    }

    fn write(&self, transaction: Option<Begun>, write: Write, done: WriteDone) {
        assert!(transaction.is_none_or(|begun| !begun.only_reads), "others read at the same time");
        let mut state = self.0.lock();
        let at = transaction.map_or(state.now, |begun| begun.at);
        let is_late = transaction.is_none() && write.begins_until_ms.is_some_and(|until_ms| at > until_ms);
        let outcome = if is_late { Err(ClusterError::Late) } else { state.write(at, write) };
        drop(state);
        done(outcome);
    }

    /// Every look is a millisecond later.
    fn now_ms(&self) -> u64 {
        let mut state = self.0.lock();
        state.clock_ms += 1;
        state.clock_ms
    }

    /// Time flies.
    fn later(&self, delay_ms: u64, call: Box<dyn FnOnce() + Send>) {
        self.0.lock().clock_ms += delay_ms;
        call();
    }

    fn destroy(&self, from: Vec<u8>, to: Vec<u8>, done: WriteDone) {
        let mut state = self.0.lock();
        state.keys.retain(|key, _| *key < from || *key >= to);
        drop(state);
        done(Ok(()));
    }
}
