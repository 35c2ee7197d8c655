//! The processes that serve a store: each has a record with a lease, which it renews.
//!
//! ```text
//! until 8 | apart 1 | unlinked 1 | address
//!
//! until      the lease ends at this time of the cluster, in milliseconds
//! apart      1: the process does not count on what it knows of the databases, so the others need not tell it
//! unlinked   how many of the others it cannot reach, at most 255
//! address    where the others reach it
//! ```

use super::cluster::{Answer, Cluster, ClusterError, ReadIn, Write};
use super::{Ordered, asking, engine_error};
use crate::engine::Result;

/// A store has at most so many processes at a time.
const MEMBERS_MAX: u32 = 1024;

/// How a process stands to the others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// It does not count on what it knows of the databases, so the others need not tell it.
    pub is_apart: bool,
    /// How many of the others it cannot reach; 255 are that or more.
    pub unlinked: u8,
}

/// Another process that serves the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Its number.
    pub process: u32,
    /// Where it listens to others, as host:port.
    pub address: String,
    /// How it stood to the others when it renewed its lease.
    pub standing: Standing,
}

/// What a renewal brought.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The lease ends at this time of the cluster, in milliseconds.
    pub until_ms: u64,
    /// The others whose leases have not ended.
    pub others: Vec<Member>,
}

/// Called with what a renewal brought.
pub type Renewed = Box<dyn FnOnce(Result<Lease>) + Send>;

impl<C: Cluster> Ordered<C> {
    /// Renews the lease of this process for so many milliseconds, and sees who else is there. The lease does not count yet
    /// ([`Ordered::set_lease`]): the others must be told first.
    pub fn renew_lease(&self, address: &str, standing: Standing, lease_ms: u64, done: Renewed) {
        let inner = self.0.clone();
        let own = self.0.names.member(self.0.options.process);
        let address = address.as_bytes().to_vec();
        let asks = vec![asking::scan(self.0.names.members(), MEMBERS_MAX)];
        let written = inner.clone();
        let read = move |outcome: std::result::Result<(C::Transaction, Vec<Answer>), ClusterError>| {
            let read = outcome.and_then(|(transaction, answers)| {
                Ok((transaction, asking::pairs(answers.into_iter().next())?))
            });
            let (transaction, records) = match read {
                Ok(read) => read,
                Err(error) => return done(Err(engine_error(error))),
            };
            let now_ms = written.cluster.time_ms(&transaction);
            let (mut others, mut changes) = (Vec::new(), Vec::new());
            for (name, record) in records.into_iter().filter(|(name, _)| *name != own) {
                match (written.names.process_of(&name), read_record(&record)) {
                    (Some(process), Some((until_ms, standing, address))) if until_ms > now_ms => {
                        others.push(Member { process, address, standing });
                    }
                    // If it is about to renew a lease that has ended, one of the two writes fails: it is gone for those who do not
                    // wait for it any more, and for itself.
                    _ => changes.push((name, None)),
                }
            }
            let until_ms = now_ms + lease_ms;
            let apart = [u8::from(standing.is_apart), standing.unlinked];
            changes.push((own, Some([&until_ms.to_le_bytes()[..], &apart, &address].concat())));
            let write = Write { changes, ..Write::default() };
            let end = move |outcome: std::result::Result<(), ClusterError>| {
                done(outcome.map(|()| Lease { until_ms, others }).map_err(engine_error));
            };
            written.cluster.write(Some(transaction), write, Box::new(end));
        };
        inner.cluster.read(ReadIn::New, asks, Box::new(read));
    }

    /// Ends the lease of this process: others need not wait for it.
    pub fn end_lease(&self, done: Box<dyn FnOnce() + Send>) {
        self.set_lease(0);
        let write =
            Write { changes: vec![(self.0.names.member(self.0.options.process), None)], ..Write::default() };
        self.0.cluster.write(None, write, Box::new(move |_| done()));
    }
}

fn read_record(record: &[u8]) -> Option<(u64, Standing, String)> {
    let (until, rest) = record.split_first_chunk()?;
    let ([apart, unlinked], address) = rest.split_first_chunk()?;
    let standing = Standing { is_apart: *apart == 1, unlinked: *unlinked };
    Some((u64::from_le_bytes(*until), standing, String::from_utf8(address.to_vec()).ok()?))
}

#[cfg(test)]
mod tests {
    use parking_lot::Mutex;
    use std::sync::Arc;

    use super::super::simulated::{Faults, Simulated};
    use super::super::{Options, Ordered, SMALL_BYTES};
    use super::*;

    fn renew(store: &Ordered<Simulated>, lease_ms: u64) -> Lease {
        let renewed = Arc::new(Mutex::new(None));
        let put = renewed.clone();
        store.renew_lease(
            &format!("host:{}", store.process()),
            Standing { is_apart: store.process() == 1, unlinked: 3 },
            lease_ms,
            Box::new(move |outcome| *put.lock() = Some(outcome)),
        );
        let lease = renewed.lock().take();
        lease.expect("an answer").expect("a lease")
    }

    #[test]
    fn process_is_not_seen_by_others_or_for_ever() {
        let cluster = Simulated::new(1, Faults::default());
        let open = |process| {
            let options =
                Options { store: b"test".to_vec(), databases: 16, process, small_bytes: SMALL_BYTES };
            Ordered::new(cluster.clone(), options)
        };
        let (first, second) = (open(1), open(2));
        assert_eq!(renew(&first, 1000).others, []);
        let seen = renew(&second, 3).others;
        let standing = Standing { is_apart: true, unlinked: 3 };
        assert_eq!(seen, [Member { process: 1, address: "host:1".into(), standing }]);
        assert_eq!(renew(&first, 1000).others.len(), 1);
        // The time of this cluster goes on with every write.
        for _ in 0..4 {
            renew(&first, 1000);
        }
        assert_eq!(renew(&first, 1000).others, [], "its lease has ended");
        second.end_lease(Box::new(|| {}));
        first.end_lease(Box::new(|| {}));
        assert_eq!(cluster.key_count(), 0);
    }
}
