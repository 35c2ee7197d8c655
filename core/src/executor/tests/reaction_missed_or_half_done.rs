//! Reactions see every change before it is committed, and what they do is part of the same commit.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;

use super::{Connection, NOW_MS, bulk, server};
use crate::engine::{Changed, EngineError, Kind, NewRoot, Result, Txn};
use crate::executor::Expiry;
use crate::resp::Value;
use crate::server::reaction::Reaction;

/// A key, and the string that it held before.
type Seen = (Vec<u8>, Option<Vec<u8>>);

/// Counts the strings that begin with `word` under the key `index`, refuses those that say so, and remembers what it saw.
#[derive(Default)]
struct Index {
    seen: Mutex<Vec<Seen>>,
    runs: AtomicU64,
}

impl Reaction for Index {
    fn concerns(&self, changed: &Changed) -> bool {
        changed.key != b"index"
    }

    fn react(&self, changes: &[Changed], txn: &mut Txn<'_>) -> Result<()> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        for changed in changes {
            let mut old = None;
            if let Some(root) = changed.old.filter(|root| root.kind == Kind::String) {
                txn.old_value(&root, &mut |bytes| old = Some(bytes.to_vec()))?;
            }
            if txn.value(changed.db, &changed.key)?.is_some_and(|value| value == b"refuse") {
                return Err(EngineError::Refused("ERR the index refuses it".into()));
            }
            if txn.kind(changed.db, b"index")?.is_none() {
                txn.put(changed.db, b"index", NewRoot::of(Kind::Hash), &[])?;
            }
            let now = changed.new.map_or(&b"gone"[..], |_| b"there");
            txn.sub_put(changed.db, b"index", &changed.key, now)?;
            self.seen.lock().push((changed.key.clone(), old));
        }
        Ok(())
    }
}

#[test]
fn reaction_missed_or_half_done() {
    let server = server();
    let index = Arc::new(Index::default());
    let mut one = Connection::new(1);
    one.run(&server, "SET before 1");
    assert_eq!(index.runs.load(Ordering::Relaxed), 0);
    let interest = &server.shared.hub.interest;
    server.shared.reactions.add(interest, index.clone());
    // The index is in another shard than most keys: the transaction takes its lock when it turns out to need it.
    one.run(&server, "SET a 1");
    one.run(&server, "SET a 2 PX 1000");
    one.run(&server, "GET a");
    one.run(&server, "HSET h f v");
    assert_eq!(one.run(&server, "HGET index a"), bulk("there"));
    assert_eq!(one.run(&server, "HGET index h"), bulk("there"));
    let refused = one.run(&server, "MSET b 1 c refuse");
    assert_eq!(refused, Value::Error(b"ERR the index refuses it".to_vec()));
    assert_eq!(one.run(&server, "EXISTS b c"), Value::Integer(0));
    assert_eq!(one.run(&server, "HEXISTS index b"), Value::Integer(0));
    one.run(&server, "DEL h");
    assert_eq!(one.run(&server, "HGET index h"), bulk("gone"));
    // Keys whose time has come pass the same way.
    let expired = Expiry::new(&server.shared).step(&server, NOW_MS + 2000, 1000).expect("a healthy store");
    assert_eq!(expired.keys, 1);
    assert_eq!(one.run(&server, "HGET index a"), bulk("gone"));
    let seen = std::mem::take(&mut *index.seen.lock());
    let old_of_a: Vec<_> = seen.iter().filter(|(key, _)| key == b"a").map(|(_, old)| old.clone()).collect();
    assert!(
        old_of_a.contains(&Some(b"1".to_vec())) && old_of_a.contains(&Some(b"2".to_vec())),
        "{old_of_a:?}"
    );
    let as_reaction: Arc<dyn Reaction> = index.clone();
    server.shared.reactions.remove(interest, &as_reaction);
    one.run(&server, "SET d 1");
    assert_eq!(one.run(&server, "HEXISTS index d"), Value::Integer(0));
}
