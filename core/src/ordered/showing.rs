//! Which space each database shows, among several processes: how that is changed, and how a process comes to count on what it knows.
//!
//! A process that counts on what it knows must hear of a change before it happens. Over the links it does. Where there is no link
//! between two processes, these two rules keep them right:
//!
//! - A change begins only in a process with a lease, in a transaction that began within the lease.
//! - A process that begins to count on the record writes it once, unchanged ([`Ordered::settle_databases`]). A process that nobody
//!   waits for any more may have begun a change before. That change meets the write and fails.

use std::sync::Arc;

use super::cluster::{Answer, Ask, Cluster, ClusterError, ReadIn, Write};
use super::databases::Databases;
use super::{Inner, Ordered, asking, engine_error};
use crate::engine::{EngineError, Result};

/// A change whose outcome nobody knows is settled again so often until that succeeds.
const SETTLE_PERIOD_MS: u64 = 500;

/// A change begins anew so long after one that had no lease.
const LEASE_PAUSE_MS: u64 = 20;

/// A record that others write at the same time is written so often in vain.
const SETTLE_TRIES: u32 = 10;

/// Called when the record was read.
pub type DatabasesRead = Box<dyn FnOnce(Result<()>) + Send>;

/// A transaction that has read the record, and what it says.
type Stored<C> = std::result::Result<(<C as Cluster>::Transaction, Databases), ClusterError>;

/// A transaction that changes which spaces the databases show.
pub(super) struct ChangeOfDatabases<T> {
    /// What they are afterwards.
    pub(super) databases: Databases,
    pub(super) transaction: Option<T>,
    pub(super) write: Write,
}

impl<C: Cluster> Ordered<C> {
    /// Reads which space each database shows, and counts on that from then on, unless it has begun to doubt meanwhile. To be called
    /// when all changes that may be under way have ended.
    pub fn read_databases(&self, done: DatabasesRead) {
        self.0.clone().read_databases(done);
    }

    /// Does the same where changes may be under way that this process is not told of. They fail.
    pub fn settle_databases(&self, done: DatabasesRead) {
        self.0.clone().settle_databases(SETTLE_TRIES, done);
    }
}

impl<C: Cluster> Inner<C> {
    /// What the record says in a transaction.
    fn stored_databases(
        &self,
        within: ReadIn<C::Transaction>,
        done: impl FnOnce(Stored<C>) + Send + 'static,
    ) {
        let read = move |outcome: std::result::Result<(C::Transaction, Vec<Answer>), ClusterError>| {
            done(outcome.and_then(|(transaction, answers)| {
                let stored = asking::value(answers.into_iter().next())?;
                let databases = Databases::read(stored.as_deref());
                let databases = databases.map_err(|error| ClusterError::Refused(error.to_string()))?;
                Ok((transaction, databases))
            }));
        };
        self.cluster.read(within, vec![Ask::Get(self.names.databases())], Box::new(read));
    }

    fn read_databases(self: Arc<Self>, done: DatabasesRead) {
        let doubts = self.certainty.doubts();
        let inner = self.clone();
        self.stored_databases(ReadIn::NewToRead, move |stored| {
            let trusted = stored.map(|(_, databases)| inner.certainty.trust(databases, doubts));
            done(trusted.map_err(engine_error));
        });
    }

    fn settle_databases(self: Arc<Self>, tries: u32, done: DatabasesRead) {
        let doubts = self.certainty.doubts();
        let inner = self.clone();
        self.stored_databases(ReadIn::New, move |stored| {
            let (transaction, databases) = match stored {
                Ok(stored) => stored,
                Err(error) => return inner.settle_again(error, tries, done),
            };
            let changes = vec![(inner.names.databases(), Some(databases.to_bytes()))];
            let after = inner.clone();
            let written = move |outcome| match outcome {
                Ok(()) => {
                    after.certainty.trust(databases, doubts);
                    done(Ok(()));
                }
                Err(error) => after.settle_again(error, tries, done),
            };
            let write = Write { changes, ..Write::default() };
            inner.cluster.write(Some(transaction), write, Box::new(written));
        });
    }

    fn settle_again(self: Arc<Self>, error: ClusterError, tries: u32, done: DatabasesRead) {
        match error {
            ClusterError::Conflict(_) | ClusterError::Moved(_) if tries > 0 => {
                self.settle_databases(tries - 1, done);
            }
            error => done(Err(engine_error(error))),
        }
    }

    /// Changes which spaces the databases show, once all others doubt it.
    pub(super) fn change_databases(
        self: Arc<Self>,
        change: ChangeOfDatabases<C::Transaction>,
        done: impl FnOnce(Result<()>) + Send + 'static,
    ) {
        let ChangeOfDatabases { databases, transaction, write } = change;
        let began_ms = transaction.as_ref().map(|begun| self.cluster.time_ms(begun));
        if !began_ms.is_some_and(|began_ms| self.certainty.had_lease(began_ms)) {
            if self.siblings.get().is_some_and(|siblings| siblings.stands_apart()) {
                let text = "other servers of the store do not know of this one: it does not reach them";
                return done(Err(EngineError::Unavailable(text.into())));
            }
            return self.cluster.later(LEASE_PAUSE_MS, Box::new(move || done(Err(EngineError::NotHere))));
        }
        let doubts = self.certainty.doubt();
        let siblings = self.siblings.get().cloned();
        let go_on = move |number: u64, by_all: bool| {
            if !by_all {
                self.end_change(number);
                let text = "a server of the store does not answer: there is no link to it";
                return done(Err(EngineError::Unavailable(text.into())));
            }
            self.clone().send(transaction, write, move |outcome| {
                if outcome.is_ok() {
                    self.certainty.trust(databases, doubts);
                }
                match outcome {
                    Err(EngineError::Unknown(_)) => self.clone().settle_change(number),
                    _ => self.end_change(number),
                }
                done(outcome);
            });
        };
        match siblings {
            Some(siblings) => siblings.before_databases_change(Box::new(go_on)),
            None => go_on(0, true),
        }
    }

    /// Tells the others that a change has ended once it surely has.
    fn settle_change(self: Arc<Self>, number: u64) {
        let inner = self.clone();
        self.settle_databases(
            SETTLE_TRIES,
            Box::new(move |outcome| match outcome {
                Ok(()) => inner.end_change(number),
                Err(_) => {
                    let again = inner.clone();
                    inner.cluster.later(SETTLE_PERIOD_MS, Box::new(move || again.settle_change(number)));
                }
            }),
        );
    }

    fn end_change(self: &Arc<Self>, number: u64) {
        match self.siblings.get() {
            Some(siblings) => siblings.after_databases_change(number),
            None if self.certainty.is_trusted() => {}
            None => self.clone().read_databases(Box::new(drop)),
        }
    }
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;

    use super::super::simulated::{Faults, Simulated};
    use super::super::{Options, SMALL_BYTES, Siblings, Told};
    use super::*;
    use crate::engine::{DbChange, Source};

    /// Others who answer when the test has them do so, and what they were told last is over.
    #[derive(Default)]
    struct Others {
        are_out_of_reach: bool,
        asked: Mutex<Option<Told>>,
        ended: Mutex<Vec<u64>>,
    }

    impl Siblings for Others {
        fn stands_apart(&self) -> bool {
            self.are_out_of_reach
        }

        fn before_databases_change(&self, told: Told) {
            *self.asked.lock() = Some(told);
        }

        fn after_databases_change(&self, number: u64) {
            self.ended.lock().push(number);
        }

        fn definitions_changed(&self, told: Told) {
            told(0, true);
        }
    }

    /// The number of a process that does not reach the others.
    const OUT_OF_REACH: u32 = 9;

    fn open(cluster: &Simulated, process: u32) -> (Ordered<Simulated>, Arc<Others>) {
        let options = Options { store: b"test".to_vec(), databases: 16, process, small_bytes: SMALL_BYTES };
        let store = Ordered::new(cluster.clone(), options);
        let others = Arc::new(Others { are_out_of_reach: process == OUT_OF_REACH, ..Others::default() });
        store.set_siblings(others.clone());
        (store, others)
    }

    /// Begins to flush database 0, up to where the others are asked; what is returned has the outcome in the end.
    fn begin_flush(store: &Ordered<Simulated>) -> Arc<Mutex<Option<Result<()>>>> {
        let inner = store.0.clone();
        let outcome = Arc::<Mutex<_>>::default();
        let put = outcome.clone();
        let read = vec![Ask::Get(inner.names.databases())];
        let begun = move |read: std::result::Result<_, ClusterError>| {
            let (transaction, _) = read.expect("readable");
            let flush = DbChange { db: 0, source: Source::Fresh(0) };
            let (databases, _) = Databases::default().changed(&[flush], 7);
            let changes = vec![(inner.names.databases(), Some(databases.to_bytes()))];
            let write = Write { changes, ..Write::default() };
            let change = ChangeOfDatabases { databases, transaction: Some(transaction), write };
            inner.change_databases(change, move |outcome| *put.lock() = Some(outcome));
        };
        store.cluster().read(ReadIn::New, read, Box::new(begun));
        outcome
    }

    fn settled(store: &Ordered<Simulated>) -> Databases {
        store.settle_databases(Box::new(|outcome| outcome.expect("settled")));
        let shown = store.0.certainty.present();
        assert!(shown.until_ms > 0, "it counts on nothing");
        (*shown.databases).clone()
    }

    fn answer(others: &Others) {
        let told = others.asked.lock().take().expect("the others are asked");
        told(3, true);
        assert_eq!(*others.ended.lock(), [3]);
    }

    #[test]
    fn flush_of_a_stopped_process_happens_unseen_by_one_that_began_meanwhile() {
        let cluster = Simulated::new(1, Faults::default());
        let ((stopped, its_others), (new, _)) = (open(&cluster, 1), open(&cluster, 2));
        let outcome = begin_flush(&stopped);
        assert_eq!(*outcome.lock(), None);
        assert_eq!(settled(&new), Databases::default());
        answer(&its_others);
        assert_eq!(*outcome.lock(), Some(Err(EngineError::NotHere)), "it would begin anew");
        assert_eq!(settled(&new), Databases::default());
        // One that has happened before is seen.
        let outcome = begin_flush(&stopped);
        its_others.ended.lock().clear();
        answer(&its_others);
        assert_eq!(*outcome.lock(), Some(Ok(())));
        assert_ne!(settled(&new), Databases::default());
    }

    #[test]
    fn process_that_others_do_not_know_of_flushes() {
        let cluster = Simulated::new(1, Faults::default());
        let (store, others) = open(&cluster, 1);
        store.set_lease(0);
        assert_eq!(*begin_flush(&store).lock(), Some(Err(EngineError::NotHere)), "it may soon have one");
        let (apart, _) = open(&cluster, OUT_OF_REACH);
        apart.set_lease(0);
        assert!(matches!(*begin_flush(&apart).lock(), Some(Err(EngineError::Unavailable(_)))));
        assert!(others.asked.lock().is_none());
        store.set_lease(u64::MAX);
        assert_eq!(settled(&store), Databases::default());
    }
}
