//! A start after a crash reads what was written since the last hints, though nobody asked for a checkpoint.

use super::harness::{contents, datafile_names, open, put, remove, run, sub_put};
use crate::engine::{Admin, EngineError, laws};
use crate::storage::Simulation;

/// So much of the datafile that is appended to may have no hints.
const AHEAD_BYTES: u64 = 2000;

#[test]
fn hints_of_the_active_datafile_go_on() {
    let machine = Simulation::new(9);
    let store = open(&machine).expect("open").store;
    let mut random = fastrand::Rng::with_seed(4);
    for round in 0..40_u8 {
        for _ in 0..12 {
            let key = format!("key {}", random.u8(0..40));
            match random.u8(0..10) {
                0 => run(&store, &[remove(&key)]),
                1 => run(&store, &[sub_put("hash", &key, &[round; 30])]),
                _ => run(&store, &[put(&key, &[round; 40])]),
            }
        }
        if round % 8 == 7 {
            while store.merge_step(100_000).expect("a device in order").is_unfinished {}
        }
        while store.hint_ahead(AHEAD_BYTES).expect("a device in order") {}
        let next = open(&machine.after_kill()).expect("open");
        assert_eq!(laws::difference(&contents(&store), &contents(&next.store)), None, "round {round}");
        assert_eq!(next.rejected_hints, 0, "round {round}");
        // A record takes at least forty bytes; of a datafile that merge is about to take there need be no hints.
        let bound = AHEAD_BYTES / 40 + unhinted(&store);
        assert!(next.replayed_records <= bound, "round {round}: {} of {bound}", next.replayed_records);
    }
}

/// How many records at most stand in sealed datafiles that are half dead.
fn unhinted(store: &crate::bitcask::Bitcask) -> u64 {
    let files = store.log.files();
    let half_dead = files.values().filter(|file| file.is_sealed() && file.dead() >= file.len() / 2);
    half_dead.map(|file| file.len() / 40).sum()
}

/// One flipped bit in a datafile that nobody else reads.
#[test]
fn damaged_datafile_keeps_all_others_without_hints() {
    let machine = Simulation::new(9);
    let store = open(&machine).expect("open").store;
    for number in 0..60 {
        run(&store, &[put(&format!("key {number}"), &[7; 500])]);
    }
    store.sync().expect("a device in order");
    let names = datafile_names(&machine);
    assert!(names.len() > 4, "{names:?}");
    assert!(machine.flip_bit(&names[1], 2000, 3));
    let outcomes: Vec<_> = (0..names.len()).map(|_| store.hint_ahead(1)).collect();
    let damaged = |outcome: &&Result<bool, EngineError>| matches!(outcome, Err(EngineError::Damaged(_)));
    assert_eq!(outcomes.iter().filter(damaged).count(), 1, "it is read once: {outcomes:?}");
    assert_eq!(outcomes.last(), Some(&Ok(true)), "{outcomes:?}");
    assert_eq!(store.hint_ahead(1), Ok(false));
    assert_eq!(store.unhinted_bytes(), 0, "all others have hints");
    // It cannot be merged either, so writers need not wait for that.
    let stuck = || store.space().0 - store.space_to_merge().0;
    assert!(stuck() < 100, "its seal: {}", stuck());
    run(&store, &[remove("key 10"), remove("key 11"), remove("key 12"), remove("key 13")]);
    assert!(stuck() > 2 * 500, "{}", stuck());
    assert_eq!(store.space().1, store.space_to_merge().1);
    store.checkpoint(0).expect("the damage is known");
}
