//! The memory that the keydir takes is known without walking it, whatever was done to it.

use super::harness::{Plan, Policy, open};
use crate::engine::laws;
use crate::engine::{Admin, Kind, NewRoot, Overlay, Result, Txn};
use crate::storage::Simulation;

#[test]
fn sums_differ_from_what_is_there() {
    for seed in 0..10 {
        let machine = Simulation::new(seed);
        let mut store = open(&machine).expect("opens").store;
        let plan = Plan::new(seed, Policy::Sometimes, 150);
        for (step, ((operations, now_ms), chores)) in plan.transactions.iter().zip(&plan.chores).enumerate() {
            laws::run(&store, operations, *now_ms).expect("a healthy device");
            for chore in chores {
                chore.run(&store, *now_ms).expect("a healthy device");
            }
            let sums = (store.held_bytes(), store.garbage_bytes());
            assert_eq!(sums, store.held_anew(), "seed {seed}, step {step}");
            if step % 50 == 49 {
                drop(store);
                store = open(&machine).expect("opens again").store;
                assert_eq!((store.held_bytes(), 0), store.held_anew(), "seed {seed}, step {step}");
            }
        }
    }
}

#[test]
fn removed_keys_are_counted_for_ever() {
    let machine = Simulation::new(1);
    let store = open(&machine).expect("opens").store;
    let transact = |run: &mut dyn FnMut(&mut Txn<'_>) -> Result<()>| {
        laws::transact(&store, None, 1, &mut Overlay::new(), run).expect("a healthy device");
    };
    let put = |keys: std::ops::Range<u32>| {
        for key in keys {
            let key = key.to_be_bytes();
            transact(&mut |txn| {
                txn.put(0, &key, NewRoot::of(Kind::Hash), &[])?;
                (0..20_u8).try_for_each(|field| txn.sub_put(0, &key, &[field; 30], &[field; 30]).map(drop))
            });
        }
    };
    put(0..1);
    let one = store.held_bytes();
    put(0..500);
    let full = store.held_bytes();
    // A field and its value are there whole, and what is around them is not much more.
    assert!((500 * 20 * 60..500 * 20 * 120).contains(&full), "{full} bytes");
    transact(&mut |txn| txn.flush(0));
    assert!(store.garbage_bytes() > 0 && store.held_bytes() > full / 100);
    while store.drain_garbage(1000) > 0 {}
    assert_eq!(store.garbage_bytes(), 0);
    // The maps that find collections keep their places.
    assert!(store.held_bytes() < one + full / 10, "{} bytes are left", store.held_bytes());
}
