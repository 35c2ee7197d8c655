//! The laws of engines, on clusters that answer at once, meet others at random, and have collections of any size.

use std::ops::ControlFlow;

use super::simulated::{Faults, Simulated};
use super::{Options, Ordered, SMALL_BYTES};
use crate::engine::laws::{self, DATABASES};
use crate::engine::{Direction, Kind, NewRoot, Overlay, Result, Start, SubWalk, Txn, Want};

fn engine(seed: u64, faults: Faults) -> Ordered<Simulated> {
    // Every other one has no room for subkeys in its roots.
    let small_bytes = if seed.is_multiple_of(4) { 0 } else { SMALL_BYTES };
    let options = Options { store: b"test".to_vec(), databases: DATABASES, process: 1, small_bytes };
    Ordered::new(Simulated::new(seed, faults), options)
}

#[test]
fn cluster_breaks_a_law_of_engines() {
    let often = Faults { conflict_percent: 20, read_conflict_percent: 20 };
    for seed in 0..6 {
        let engine = engine(seed, if seed % 2 == 0 { Faults::default() } else { often });
        laws::check(&engine, seed, 300);
        assert_eq!(engine.0.waiting.lock().len(), 0, "somebody still waits");
    }
}

/// A collection beside a map that does the same.
struct Both {
    engine: Ordered<Simulated>,
    model: std::collections::BTreeMap<Vec<u8>, Vec<u8>>,
    random: fastrand::Rng,
}

fn subkey(number: u32) -> Vec<u8> {
    format!("member{number:07}").into_bytes()
}

impl Both {
    /// Puts and removes members, as one transaction.
    fn change(&mut self, put: &[u32], removed: &[u32]) {
        let keys: [&[u8]; 1] = [b"key"];
        laws::transact(&self.engine, Some(&keys), 0, &mut Overlay::new(), &mut |txn| {
            if txn.kind(0, b"key")?.is_none() {
                txn.put(0, b"key", NewRoot::of(Kind::Hash), &[])?;
            }
            let names: Vec<Vec<u8>> = put.iter().chain(removed).map(|number| subkey(*number)).collect();
            let names: Vec<&[u8]> = names.iter().map(Vec::as_slice).collect();
            txn.announce_subs(0, b"key", &names, true)?;
            for number in put {
                txn.sub_put(0, b"key", &subkey(*number), &number.to_le_bytes())?;
            }
            for number in removed {
                txn.sub_remove(0, b"key", &subkey(*number))?;
            }
            Ok(())
        })
        .expect("a commit");
        self.model.extend(put.iter().map(|number| (subkey(*number), number.to_le_bytes().to_vec())));
        removed.iter().for_each(|number| drop(self.model.remove(&subkey(*number))));
    }

    fn view<T>(&self, run: &mut dyn FnMut(&mut Txn<'_>) -> Result<T>) -> T {
        laws::view(&self.engine, 0, run).expect("readable")
    }

    /// Compares ranks, selections and ranges at some random places.
    fn compare(&mut self) {
        let all: Vec<(Vec<u8>, Vec<u8>)> = self.model.clone().into_iter().collect();
        assert_eq!(self.view(&mut |txn| txn.sub_len(0, b"key")), all.len() as u64);
        for _ in 0..12 {
            let asked = subkey(self.random.u32(..40_000));
            let rank = all.partition_point(|(subkey, _)| *subkey < asked);
            assert_eq!(self.view(&mut |txn| txn.sub_rank(0, b"key", &asked)), rank as u64);
            let at = self.random.usize(..=all.len());
            for direction in [Direction::Ascending, Direction::Descending] {
                for start in [Start::Rank(at as u64), Start::Subkey(&asked), Start::End] {
                    let walk = SubWalk::new(start, direction, Want::Values).expecting(30);
                    let entries: Vec<_> = all.iter().map(|(key, value)| (&key[..], &value[..])).collect();
                    let mut expected = Vec::new();
                    walk.over(&entries, &mut |subkey, value| {
                        expected.push((subkey.to_vec(), value.to_vec()));
                        if expected.len() == 40 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                    });
                    let seen = self.view(&mut |txn| {
                        let mut seen = Vec::new();
                        txn.sub_scan(0, b"key", walk, &mut |subkey, value| {
                            seen.push((subkey.to_vec(), value.to_vec()));
                            if seen.len() == 40 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                        })?;
                        Ok(seen)
                    });
                    assert_eq!(seen, expected, "{start:?} {direction:?}");
                }
            }
        }
    }
}

#[test]
fn counts_of_a_collection_are_wrong() {
    let mut both = Both {
        engine: engine(7, Faults::default()),
        model: Default::default(),
        random: fastrand::Rng::with_seed(3),
    };
    // It grows one by one and by many, at its ends and everywhere, and shrinks again.
    for round in 0..60_u32 {
        let many: Vec<u32> = (0..both.random.u32(..600)).map(|_| both.random.u32(..40_000)).collect();
        let few: Vec<u32> = (0..3).map(|_| both.random.u32(..40_000)).collect();
        let rising: Vec<u32> = (round * 100..round * 100 + 90).collect();
        match round % 3 {
            0 => both.change(&many, &few),
            1 => both.change(&rising, &[]),
            _ => both.change(&few, &many),
        }
        both.compare();
    }
    while both.model.len() > 20 {
        let all: Vec<u32> = both
            .model
            .values()
            .map(|value| u32::from_le_bytes(value[..].try_into().expect("four")))
            .collect();
        let gone: Vec<u32> = all.iter().copied().filter(|_| both.random.u8(..3) == 0).collect();
        both.change(&[], &gone);
        both.compare();
    }
}

/// What some operations on a large collection read and write, where nothing was announced: rounds and bytes.
#[test]
fn operation_on_a_large_collection_reads_much() {
    let mut both = Both {
        engine: engine(9, Faults::default()),
        model: Default::default(),
        random: fastrand::Rng::with_seed(5),
    };
    for start in (0..100_000).step_by(10_000) {
        let members: Vec<u32> = (start..start + 10_000).collect();
        both.change(&members, &[]);
    }
    let cluster = both.engine.cluster().clone();
    cluster.take_counted();
    both.change(&[100_001], &[]);
    let added = cluster.take_counted();
    assert!(added.reads <= 2 && added.written_bytes < 600, "{added:?}");
    both.view(&mut |txn| txn.sub_rank(0, b"key", &subkey(55_555)));
    let ranked = cluster.take_counted();
    assert!(ranked.reads <= 2 && ranked.read_bytes < 64 * 1024, "{ranked:?}");
    both.view(&mut |txn| {
        let walk = SubWalk::up(Start::Rank(70_000), Want::Values).expecting(100);
        let mut left = 100;
        txn.sub_scan(0, b"key", walk, &mut |_, _| {
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    });
    let ranged = cluster.take_counted();
    assert!(ranged.reads <= 4 && ranged.read_bytes < 64 * 1024, "{ranged:?}");
}
