//! Values that are read together from a datafile differ from those that were written, or damage to one hides the others.

use std::ops::ControlFlow;

use super::harness::{NOW_MS, OPTIONS, datafile_names, open_with};
use crate::bitcask::{Bitcask, Options};
use crate::engine::{
    Commit, Direction, Engine, EngineError, Kind, NewRoot, Overlay, Result, Scope, Start, SubWalk, Txn, Want,
};
use crate::storage::Simulation;

const KEY: &[u8] = b"list";

/// More than are read at once.
const ELEMENTS: u64 = 300;

fn transact<R>(store: &Bitcask, body: impl FnOnce(&mut Txn<'_>) -> Result<R>) -> Result<R> {
    let mut snapshot = store.begin(Scope::Everything)?;
    let mut overlay = Overlay::new();
    let result = body(&mut Txn::new(&mut snapshot, &mut overlay, NOW_MS))?;
    let Commit::Done(_) = store.commit(snapshot, &mut overlay, NOW_MS, &mut |_| {})? else {
        panic!("the log does not wait")
    };
    Ok(result)
}

/// Some are short enough for the keydir, and some do not fit beside others.
fn value(number: u64) -> Vec<u8> {
    let len = match number % 50 {
        0 => 70_000,
        1..4 => 3000,
        number if number % 7 == 0 => 20,
        _ => 100,
    };
    vec![number as u8; len]
}

/// A collection whose records lie in several datafiles, with others between them.
fn fill(store: &Bitcask) {
    transact(store, |txn| txn.put(0, KEY, NewRoot::of(Kind::List), &[])).expect("a healthy device");
    for number in 0..ELEMENTS {
        let put = |txn: &mut Txn<'_>| {
            if number % 5 == 0 {
                txn.put(0, b"other", NewRoot::of(Kind::String), &[b'o'; 250])?;
            }
            txn.sub_put(0, KEY, &number.to_be_bytes(), &value(number)).map(drop)
        };
        transact(store, put).expect("a healthy device");
    }
}

/// The subkeys that a walk of so many steps shows; their values must be right. The error, if it ends with one.
fn walk(store: &Bitcask, walk: SubWalk<'_>, steps: u64) -> (Vec<u64>, Option<EngineError>) {
    let mut seen = Vec::new();
    let walked = transact(store, |txn| {
        txn.sub_scan(0, KEY, walk, &mut |subkey, shown| {
            let number = u64::from_be_bytes(subkey.try_into().expect("a number"));
            assert_eq!(shown, value(number), "the value of {number}");
            seen.push(number);
            if seen.len() as u64 == steps { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    });
    (seen, walked.err())
}

const SMALL: Options = Options { datafile_max_bytes: 200_000, ..OPTIONS };

#[test]
fn values_of_a_walk_differ_from_those_that_were_written() {
    let machine = Simulation::new(1);
    let store = open_with(&machine, &SMALL).expect("open").store;
    fill(&store);
    assert!(datafile_names(&machine).len() > 2, "several datafiles");
    for steps in [1, 2, 63, 64, 65, 200, ELEMENTS] {
        for expect in [steps, u64::MAX] {
            for from in [0, 1, 77, ELEMENTS - steps] {
                let up = SubWalk::up(Start::Rank(from), Want::Values).expecting(expect);
                let expected: Vec<u64> = (from..ELEMENTS).take(steps as usize).collect();
                assert_eq!(walk(&store, up, steps), (expected, None), "{steps} from {from} on");
                let down = SubWalk::new(Start::Rank(from), Direction::Descending, Want::Values);
                let expected: Vec<u64> = (0..=from).rev().take(steps as usize).collect();
                let seen = walk(&store, down.expecting(expect), steps);
                assert_eq!(seen, (expected, None), "{steps} from {from} down");
            }
        }
    }
}

#[test]
fn neighbour_of_a_damaged_value_is_not_shown() {
    let machine = Simulation::new(1);
    let store = open_with(&machine, &Options { datafile_max_bytes: 1 << 20, ..OPTIONS }).expect("open").store;
    transact(&store, |txn| txn.put(0, KEY, NewRoot::of(Kind::List), &[])).expect("a healthy device");
    for number in 1..40 {
        let put = |txn: &mut Txn<'_>| txn.sub_put(0, KEY, &u64::to_be_bytes(number), &[number as u8; 100]);
        transact(&store, put).expect("a healthy device");
    }
    let names = datafile_names(&machine);
    let [name] = &names[..] else { panic!("one datafile") };
    let bytes = machine.bytes(name).expect("its bytes");
    let place = bytes.windows(100).position(|part| part == [20; 100]).expect("the value");
    assert!(machine.flip_bit(name, place as u64 + 50, 3));
    for (direction, steps, expected) in [
        (Direction::Ascending, 39, (1..20).collect::<Vec<u8>>()),
        (Direction::Descending, 39, (21..40).rev().collect()),
        (Direction::Ascending, 19, (1..20).collect()),
    ] {
        let mut seen = Vec::new();
        let walked = transact(&store, |txn| {
            txn.sub_scan(0, KEY, SubWalk::new(Start::End, direction, Want::Values), &mut |_, value| {
                seen.push(value[0]);
                if seen.len() == steps { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
        });
        assert_eq!(seen, expected, "{direction:?}");
        match (walked, steps) {
            (Ok(()), 19) => {}
            (Err(EngineError::Damaged(text)), 39) => {
                assert!(
                    text.contains("key \"list\"") && text.contains(&format!("({name}) at offset ")),
                    "{text}"
                );
            }
            (walked, _) => panic!("{direction:?}: {walked:?}"),
        }
    }
}
