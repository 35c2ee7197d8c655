//! A transaction that runs again asks its cluster for the same: whatever it drew, counted or noted in the run before is gone, and it
//! looks at no clock. Here every transaction meets another one at each of its rounds and begins anew, so each round is asked
//! for twice.

use std::sync::Arc;

use parking_lot::Mutex;

use super::Console;
use super::transcript_differs::TRANSCRIPTS;
use crate::ordered::cluster::{Ask, Cluster, ClusterError, ReadDone, ReadIn, Scan, Write, WriteDone};
use crate::ordered::simulated::{self, Faults, Simulated};
use crate::ordered::{Options, Ordered, SMALL_BYTES};
use crate::transcript::{self, Step};

/// What the rounds of a transaction asked for.
type Rounds = Vec<Vec<Ask>>;

/// A cluster in which every transaction runs into another one at each round, once.
#[derive(Clone)]
struct Twice {
    inner: Simulated,
    runs: Arc<Mutex<Runs>>,
}

/// The runs of one transaction.
#[derive(Default)]
struct Runs {
    /// The rounds before the last conflict.
    before: Rounds,
    /// Those of the run behind it.
    after: Rounds,
    /// Whether that has yet to begin.
    is_over: bool,
}

/// A transaction with the rounds that it has had.
struct Begun {
    inner: simulated::Begun,
    rounds: Rounds,
}

/// The part of a name that tells whose data it is: up to the home, behind the name of the store "test".
const HOME_BYTES: usize = 20;

/// The collection that something was asked of; None for a root.
fn home(ask: &Ask) -> Option<&[u8]> {
    let (Ask::Get(name) | Ask::Scan(Scan { from: name, .. })) = ask;
    name.get(..HOME_BYTES).filter(|home| home[11] == 1)
}

/// Whether another run asks for the same, or for more of it: it knows by then how long the collection is, and need not go on
/// where a first part has ended.
fn is_same(ask: &Ask, other: &Ask) -> bool {
    match (ask, other) {
        (Ask::Scan(scan), Ask::Scan(other)) => {
            scan.is_reverse == other.is_reverse && other.from <= scan.from && scan.to <= other.to
        }
        _ => ask == other,
    }
}

impl Runs {
    /// Whether all that was asked before a conflict was asked behind it as well. In which round may differ: a run may know more by
    /// then of a collection that it has seen meanwhile; or it knows that the collection is another one.
    fn check(&self) {
        let homes: Vec<&[u8]> = self.after.iter().flatten().filter_map(home).collect();
        for ask in self.before.iter().flatten() {
            let is_gone = home(ask).is_some_and(|home| !homes.contains(&home));
            let (before, after) = (&self.before, &self.after);
            assert!(
                is_gone || after.iter().flatten().any(|other| is_same(ask, other)),
                "a replay lacks {ask:?}: {before:?}, then {after:?}"
            );
        }
    }

    /// The transaction has ended.
    fn end(&mut self) {
        self.check();
        *self = Runs::default();
    }
}

impl Cluster for Twice {
    type Transaction = Begun;

    fn time_ms(&self, transaction: &Begun) -> u64 {
        self.inner.time_ms(&transaction.inner)
    }

    fn now_ms(&self) -> u64 {
        self.inner.now_ms()
    }

    fn later(&self, delay_ms: u64, call: Box<dyn FnOnce() + Send>) {
        self.inner.later(delay_ms, call);
    }

    fn read(&self, within: ReadIn<Begun>, asks: Vec<Ask>, done: ReadDone<Begun>) {
        let mut runs = self.runs.lock();
        if !matches!(within, ReadIn::Begun(_)) && !std::mem::take(&mut runs.is_over) {
            runs.end();
        }
        let (within, mut rounds) = match within {
            ReadIn::Begun(Begun { inner, rounds }) => (ReadIn::Begun(inner), rounds),
            ReadIn::New => (ReadIn::New, Vec::new()),
            ReadIn::NewToRead => (ReadIn::NewToRead, Vec::new()),
        };
        rounds.push(asks.clone());
        if rounds.len() > runs.before.len() {
            *runs = Runs { before: rounds, after: Vec::new(), is_over: true };
            drop(runs);
            return done(Err(ClusterError::Conflict("at every round once".into())));
        }
        runs.after.clone_from(&rounds);
        drop(runs);
        let again = move |outcome: Result<(simulated::Begun, _), _>| {
            done(outcome.map(|(inner, answers)| (Begun { inner, rounds }, answers)));
        };
        self.inner.read(within, asks, Box::new(again));
    }

    fn write(&self, transaction: Option<Begun>, write: Write, done: WriteDone) {
        self.runs.lock().end();
        self.inner.write(transaction.map(|begun| begun.inner), write, done);
    }

    fn destroy(&self, from: Vec<u8>, to: Vec<u8>, done: WriteDone) {
        self.inner.destroy(from, to, done);
    }
}

#[test]
fn replay_asks_for_something_else() {
    // What others do between the requests of one connection is not of its transactions.
    for (number, (name, text)) in (0..).zip(TRANSCRIPTS) {
        for small_bytes in [SMALL_BYTES, 0] {
            let options = Options { store: b"test".to_vec(), databases: 16, process: 1, small_bytes };
            let inner = Simulated::new(number, Faults::default());
            let cluster = Twice { inner, runs: Arc::default() };
            let mut console = Console::new(Ordered::new(cluster.clone(), options));
            console.server.shared.settings.set("blob-min-bytes", "64gb").expect("a setting");
            for step in transcript::parse(text).unwrap_or_else(|error| panic!("{name}: {error}")) {
                match step {
                    Step::Advance(pause_ms) => console.now_ms += pause_ms,
                    Step::Request { connection, args, .. } => {
                        console.call(connection, &args);
                        cluster.runs.lock().end();
                    }
                }
            }
        }
    }
}
