//! Eviction looks for keys: it finds the one in a hundred thousand that has an expiry, it waits for nobody, and a key
//! whose name cannot be read does not keep it from others.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::bitcask::{Bitcask, Options};
use crate::engine::{Engine, Kind, NewRoot, Overlay, Result, Sample, Sampled, Scope, Txn, laws};
use crate::limits::EVICTION_LOOKED_MAX;
use crate::storage::Simulation;

fn store(machine: &Simulation) -> Bitcask {
    let opened = Bitcask::open(Arc::new(machine.open().expect("a device in order")), &Options::default());
    opened.unwrap_or_else(|error| panic!("{error}")).store
}

fn transact(store: &Bitcask, run: &mut dyn FnMut(&mut Txn<'_>) -> Result<()>) {
    laws::transact(store, None, 1, &mut Overlay::new(), run).expect("a healthy device");
}

/// Sets keys, with an expiry or without.
fn put(store: &Bitcask, names: &[Vec<u8>], expires_at_ms: Option<u64>) {
    for some in names.chunks(1000) {
        transact(store, &mut |txn| {
            some.iter().try_for_each(|name| {
                txn.put(0, name, NewRoot { expires_at_ms, ..NewRoot::of(Kind::String) }, b"v")
            })
        });
    }
}

fn names(prefix: &str, count: usize) -> Vec<Vec<u8>> {
    (0..count).map(|number| format!("{prefix}:{number}").into_bytes()).collect()
}

fn look(store: &Bitcask, random: u64, only_expiring: bool) -> (Sampled, BTreeSet<Vec<u8>>) {
    let mut shown = BTreeSet::new();
    let sample = Sample { random, count: 5, only_expiring, looked_max: EVICTION_LOOKED_MAX };
    let sampled = store.sample_keys(&sample, &mut |_, key, root| {
        assert!(!only_expiring || root.expires_at_ms.is_some());
        shown.insert(key.to_vec());
    });
    (sampled.expect("looks"), shown)
}

#[test]
fn one_key_in_many_with_an_expiry() {
    let store = store(&Simulation::new(1));
    put(&store, &names("stays", 100_000), None);
    assert_eq!(look(&store, 3, true).0, Sampled::NoneLeft);
    let long = format!("goes:{}", "x".repeat(1000)).into_bytes();
    for rare in [b"goes".to_vec(), long] {
        put(&store, std::slice::from_ref(&rare), Some(1000));
        let mut random = fastrand::Rng::with_seed(4);
        // Once it is known every look finds it.
        let found: Vec<bool> =
            (0..20).map(|_| look(&store, random.u64(..), true).1.contains(&rare)).collect();
        assert!(found[4..].iter().all(|found| *found), "{found:?}");
        transact(&store, &mut |txn| txn.set_expiry(0, &rare, None).map(drop));
        assert_eq!(look(&store, random.u64(..), true).0, Sampled::NoneLeft);
    }
}

#[test]
fn keys_that_get_an_expiry_later() {
    let store = store(&Simulation::new(2));
    put(&store, &names("stays", 20_000), None);
    put(&store, &names("goes", 60), Some(1000));
    let mut random = fastrand::Rng::with_seed(5);
    let mut all = |store: &Bitcask| {
        (0..3000).fold(BTreeSet::new(), |mut all, _| {
            all.extend(look(store, random.u64(..), true).1);
            all
        })
    };
    assert_eq!(all(&store).len(), 60);
    // Some more, and then so many that they are rare no more.
    put(&store, &names("also", 40), Some(1000));
    assert_eq!(all(&store).len(), 100);
    transact(&store, &mut |txn| names("goes", 60).iter().try_for_each(|key| txn.remove(0, key).map(drop)));
    assert_eq!(all(&store), names("also", 40).into_iter().collect());
    put(&store, &names("many", 80_000), Some(1000));
    assert!(all(&store).len() > 5000);
    transact(&store, &mut |txn| txn.flush(0));
    assert_eq!(look(&store, 3, true).0, Sampled::NoneLeft);
    assert_eq!(look(&store, 3, false).0, Sampled::NoneLeft);
}

#[test]
fn locked_shard_is_waited_for() {
    let store = store(&Simulation::new(3));
    put(&store, &names("key", 2000), Some(1000));
    let busy = b"key:77".as_slice();
    {
        let _snapshot = store.begin(Scope::Keys(&[busy])).expect("a snapshot");
        assert!(store.is_busy(0, busy));
        for random in 0..64 {
            let (sampled, shown) = look(&store, random << 58, random % 2 == 0);
            assert_eq!(sampled, Sampled::Found);
            assert!(!shown.contains(busy));
        }
    }
    assert!(!store.is_busy(0, busy));
    let _snapshot = store.begin(Scope::Everything).expect("a snapshot");
    assert_eq!(look(&store, 7, true).0, Sampled::Busy);
    assert_eq!(look(&store, 7, false).0, Sampled::Busy);
}

#[test]
fn name_that_cannot_be_read() {
    let machine = Simulation::new(4);
    let store = store(&machine);
    let long = |number: usize| format!("{number}:{}", "x".repeat(400)).into_bytes();
    put(&store, &(0..200).map(long).collect::<Vec<_>>(), None);
    // A bit of every other record is wrong: the name, and with it the checksum.
    let name = machine.file_names().into_iter().find(|name| name.ends_with(".data")).expect("a datafile");
    let bytes = machine.bytes(&name).expect("a datafile");
    for number in (0..200).step_by(2) {
        let wanted = long(number);
        let at = bytes.windows(wanted.len()).position(|window| window == wanted).expect("the key's record");
        assert!(machine.flip_bit(&name, at as u64 + 50, 3));
    }
    let mut all = BTreeSet::new();
    for random in 0..2000 {
        let (sampled, shown) = look(&store, u64::wrapping_mul(random, 0x9E37_79B9_7F4A_7C15), false);
        assert_ne!(sampled, Sampled::Busy);
        all.extend(shown);
    }
    assert_eq!(all, (1..200).step_by(2).map(long).collect());
}
