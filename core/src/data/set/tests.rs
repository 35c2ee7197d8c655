use std::collections::BTreeSet;

use super::algebra::{Operation, Sources};
use super::*;
use crate::data::testing::with_txn;
use crate::engine::memory::MemoryEngine;

type Model = BTreeSet<Vec<u8>>;

fn limits() -> Limits {
    Limits { intset_entries: 512, listpack_entries: 128, listpack_value_bytes: 64 }
}

fn fill(txn: &mut Txn<'_>, key: &[u8], members: &Model) {
    if members.is_empty() {
        txn.remove(0, key).expect("removed");
    } else {
        let mut set = Set::make(txn, 0, key, Encoding::Grown, &limits).expect("a set");
        set.add(members.iter().map(Vec::as_slice), &limits).expect("added");
    }
}

fn contents(txn: &mut Txn<'_>, key: &[u8]) -> Model {
    let mut members = Model::new();
    if let Some(mut set) = Set::open(txn, 0, key).expect("no error") {
        set.members(&mut |member| assert!(members.insert(member.to_vec()))).expect("members");
    }
    members
}

/// Members of one, two or three letters, so that sets of any size overlap.
fn random_members(random: &mut fastrand::Rng) -> Model {
    let most = [0, 1, 5, 60, 900][random.usize(..5)];
    let letters = random.u8(1..40);
    (0..most).map(|_| (0..random.usize(1..4)).map(|_| random.u8(..letters)).collect()).collect()
}

fn expected(operation: Operation, sets: &[&Model]) -> Model {
    let Some((first, others)) = sets.split_first() else { return Model::new() };
    others.iter().fold((*first).clone(), |result, other| match operation {
        Operation::Intersection => result.intersection(other).cloned().collect(),
        Operation::Difference => result.difference(other).cloned().collect(),
        Operation::Union => result.union(other).cloned().collect(),
    })
}

#[test]
fn combination_differs_from_ordered_sets() {
    let seed = 3;
    let mut random = fastrand::Rng::with_seed(seed);
    let keys: [&[u8]; 4] = [b"a", b"b", b"c", b"d"];
    for round in 0..150 {
        let engine = MemoryEngine::new(1);
        let mut models: Vec<Model> = keys.iter().map(|_| random_members(&mut random)).collect();
        with_txn(&engine, |txn| keys.iter().zip(&models).for_each(|(key, model)| fill(txn, key, model)));
        with_txn(&engine, |txn| {
            // Some members only live in the transaction.
            for (key, model) in keys.iter().zip(&mut models).filter(|(_, model)| model.len() > 10) {
                let gone = model.iter().nth(3).cloned().expect("more than ten");
                model.remove(&gone);
                model.insert(b"new".to_vec());
                let mut set = Set::open(txn, 0, key).expect("no error").expect("a set");
                set.remove([gone.as_slice()].into_iter()).expect("removed");
                set.add([b"new".as_slice()].into_iter(), &limits).expect("added");
            }
            for operation in [Operation::Intersection, Operation::Difference, Operation::Union] {
                let picked: Vec<usize> = (0..random.usize(1..5)).map(|_| random.usize(..4)).collect();
                let picked_keys: Vec<&[u8]> = picked.iter().map(|at| keys[*at]).collect();
                let picked_models: Vec<&Model> = picked.iter().map(|at| &models[*at]).collect();
                let mut result = Vec::new();
                Sources::open(txn, 0, operation, &picked_keys)
                    .and_then(|sources| {
                        sources.combine(txn, &mut |member| {
                            result.push(member.to_vec());
                            ControlFlow::Continue(())
                        })
                    })
                    .expect("sets");
                let expected: Vec<Vec<u8>> = expected(operation, &picked_models).into_iter().collect();
                assert_eq!(result, expected, "seed {seed} round {round} {operation:?} of {picked:?}");
            }
        });
    }
}

#[test]
fn walk_of_long_members_fills_the_memory() {
    let engine = MemoryEngine::new(1);
    let members: Model = (0..40_u8).map(|first| vec![first; 10_000]).collect();
    with_txn(&engine, |txn| {
        fill(txn, b"s", &members);
        let mut walk = Walk::new(0, b"s");
        for member in &members {
            assert_eq!(walk.member(txn).expect("no error"), Some(member.as_slice()));
            assert!(walk.batch_bytes() < 80_000, "{} bytes in a batch", walk.batch_bytes());
            walk.step();
        }
        assert_eq!(walk.member(txn).expect("no error"), None);
        assert_eq!(walk.seek(txn, b"zzz").expect("no error"), None);
    });
}

#[test]
fn taken_members_stay_or_others_go() {
    let members: Model = (0..200_u32).map(|number| number.to_string().into_bytes()).collect();
    // Few are looked up, many are walked over, and with nearly all the set is written anew.
    for count in [1, 5, 60, 150, 190, 199] {
        let engine = MemoryEngine::new(1);
        let mut random = fastrand::Rng::with_seed(count);
        with_txn(&engine, |txn| fill(txn, b"s", &members));
        let mut taken = Model::new();
        with_txn(&engine, |txn| {
            txn.set_expiry(0, b"s", Some(1000)).expect("an expiry");
            let mut ranks: Vec<u64> = (0..200).collect();
            random.shuffle(&mut ranks);
            ranks.truncate(count as usize);
            let mut set = Set::open(txn, 0, b"s").expect("no error").expect("a set");
            set.take(ranks, &mut |member| assert!(taken.insert(member.to_vec()))).expect("taken");
        });
        with_txn(&engine, |txn| {
            let left = contents(txn, b"s");
            assert_eq!(taken.len() as u64, count);
            assert_eq!(left, members.difference(&taken).cloned().collect::<Model>(), "{count} taken");
            let root = txn.root(0, b"s").expect("no error").expect("a set");
            assert_eq!((root.expires_at_ms, root.encoding), (Some(1000), INTSET), "{count} taken");
        });
    }
}

/// The name of the encoding of a new set of these members, added `step` at a time.
fn name(members: &[Vec<u8>], step: usize) -> &'static str {
    let engine = MemoryEngine::new(1);
    with_txn(&engine, |txn| {
        for chunk in members.chunks(step) {
            let (first, hint) = (chunk[0].as_slice(), chunk.len() as u64);
            let mut set = if txn.root(0, b"s").expect("no error").is_none() {
                Set::make(txn, 0, b"s", Encoding::Fit { first, hint }, &limits).expect("a set")
            } else {
                let mut set = Set::open(txn, 0, b"s").expect("no error").expect("a set");
                set.expect(hint, &limits);
                set
            };
            set.add(chunk.iter().map(Vec::as_slice), &limits).expect("added");
        }
        encoding_name(&txn.root(0, b"s").expect("no error").expect("a set"))
    })
}

#[test]
fn encoding_differs_from_redis() {
    let integers = |count: i64| (0..count).map(|number| (number - 3).to_string().into_bytes());
    let words = |count: i64| (0..count).map(|number| format!("w{number}").into_bytes());
    let mixed = |count| integers(count).chain(words(1)).collect::<Vec<_>>();
    for step in [1, 7] {
        assert_eq!(name(&integers(512).collect::<Vec<_>>(), step), "intset", "step {step}");
        assert_eq!(name(&integers(513).collect::<Vec<_>>(), step), "hashtable", "step {step}");
        assert_eq!(name(&words(128).collect::<Vec<_>>(), step), "listpack", "step {step}");
        assert_eq!(name(&words(129).collect::<Vec<_>>(), step), "hashtable", "step {step}");
        assert_eq!(name(&mixed(127), step), "listpack", "step {step}");
        assert_eq!(name(&mixed(128), step), "hashtable", "step {step}");
        assert_eq!(name(&[vec![b'x'; 64]], step), "listpack", "step {step}");
        assert_eq!(name(&[b"1".to_vec(), vec![b'x'; 65]], step), "hashtable", "step {step}");
    }
    // Redis guesses from the number of arguments, repeated or not.
    assert_eq!(name(&vec![b"1".to_vec(); 512], 512), "intset");
    assert_eq!(name(&vec![b"1".to_vec(); 513], 513), "hashtable");
    assert_eq!(name(&vec![b"x".to_vec(); 129], 129), "hashtable");
    assert_eq!(name(&vec![b"x".to_vec(); 256], 128), "listpack");
}
