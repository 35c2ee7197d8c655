//! A scrub finds what has changed on the disk since it was written, wherever that is, and nothing else; merges, commits and
//! removals may go on meanwhile.

use super::harness::{NOW_MS, Plan, Policy, contents, merge_all, open, put, remove, run, sub_put};
use crate::bitcask::{Bitcask, Finding};
use crate::engine::laws;
use crate::engine::{Admin, Kind, NewRoot, Overlay};
use crate::storage::Simulation;

/// Scrubs everything in steps of so many bytes, with something else between them.
fn scrub_beside(store: &Bitcask, budget_bytes: u64, mut beside: impl FnMut(u32)) -> Vec<Finding> {
    assert!(store.begin_scrub());
    assert!(!store.begin_scrub(), "one at a time");
    let mut found = Vec::new();
    for number in 0..100_000 {
        let step = store.scrub_step(budget_bytes, NOW_MS);
        found.extend(step.findings);
        let known = store.scrubbing();
        assert_eq!((known.is_on, known.findings), (!step.has_ended, found.len() as u64));
        if step.has_ended {
            assert_eq!(known.done_bytes, known.all_bytes);
            return found;
        }
        beside(number);
    }
    panic!("the scrub never ends");
}

fn scrub(store: &Bitcask) -> Vec<Finding> {
    scrub_beside(store, 3000, |_| {})
}

#[test]
fn scrub_finds_damage_in_a_sound_store() {
    for seed in 0..8 {
        let plan = Plan::new(seed, Policy::Sometimes, 120);
        let machine = Simulation::new(seed);
        let store = open(&machine).expect("opens").store;
        let mut next = 0;
        let mut run_next = |count: usize| {
            for number in next..(next + count).min(plan.transactions.len()) {
                let (operations, now_ms) = &plan.transactions[number];
                laws::run(&store, operations, *now_ms).expect("a healthy device");
                for chore in &plan.chores[number] {
                    chore.run(&store, *now_ms).expect("a healthy device");
                }
            }
            next += count;
        };
        run_next(60);
        assert_eq!(scrub(&store), [], "seed {seed}");
        let found = scrub_beside(&store, [500, 20_000][seed as usize % 2], |_| run_next(1));
        assert_eq!(found, [], "seed {seed}, beside commits and merges");
    }
}

#[test]
fn scrub_misses_files_that_merge_makes_and_removes() {
    let machine = Simulation::new(2);
    let store = open(&machine).expect("opens").store;
    for number in 0..40 {
        run(
            &store,
            &[put(&format!("key {number}"), &[number; 700]), put(&format!("blob {number}"), &[number; 1600])],
        );
    }
    let found = scrub_beside(&store, 1000, |step| {
        let number = step % 40;
        run(&store, &[put(&format!("key {number}"), b"another"), remove(&format!("blob {number}"))]);
        store.sync().expect("a healthy device");
        store.sweep_blobs().expect("a healthy device");
        merge_all(&store);
    });
    assert_eq!(found, []);
}

/// A store with something in every kind of file, all of it needed.
fn filled(machine: &Simulation) -> Bitcask {
    let store = open(machine).expect("opens").store;
    for number in 0..12_u8 {
        run(
            &store,
            &[
                put(&format!("key {number}"), &[number; 600]),
                sub_put("hash", &[number; 3].escape_ascii().to_string(), &[number; 90]),
            ],
        );
        run(&store, &[put(&format!("blob {number}"), &vec![number; 100_000 + usize::from(number)])]);
    }
    store.checkpoint(NOW_MS).expect("a healthy device");
    store
}

#[test]
fn flipped_bit_is_not_found_before_somebody_reads_it() {
    let machine = Simulation::new(3);
    let store = filled(&machine);
    let before = contents(&store);
    let mut random = fastrand::Rng::with_seed(15);
    let names = machine.file_names();
    for round in 0..300 {
        let name = &names[random.usize(0..names.len())];
        let len = machine.bytes(name).map_or(0, |bytes| bytes.len() as u64);
        let (offset, bit) = (random.u64(0..len), random.u8(0..8));
        assert!(machine.flip_bit(name, offset, bit));
        let found = scrub(&store);
        let told: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert!(!told.is_empty(), "round {round}: bit {bit} at {offset} of {name}");
        assert!(told.iter().any(|line| line.contains(name)), "{name} is not named: {told:?}");
        if name.ends_with(".blob") {
            assert!(told.iter().all(|line| line.contains("\"blob ")), "no key is named: {told:?}");
        }
        assert_eq!(store.scrubbing().last_finding.as_deref(), told.last().map(String::as_str));
        assert_eq!(store.last_finding(), store.scrubbing().last_finding);
        // It stays what it was for everybody else.
        assert!(machine.flip_bit(name, offset, bit));
    }
    assert_eq!(scrub(&store), []);
    assert_eq!(laws::difference(&before, &contents(&store)), None);
}

#[test]
fn lost_record_has_no_name() {
    let machine = Simulation::new(4);
    let store = filled(&machine);
    let name = machine.file_names().into_iter().find(|name| name.ends_with(".data")).expect("a datafile");
    let bytes = machine.bytes(&name).expect("its bytes");
    let value = bytes
        .windows(600)
        .position(|part| part == [3; 600])
        .unwrap_or_else(|| bytes.windows(600).position(|part| part == [0; 600]).expect("a value"));
    let number = bytes[value];
    assert!(machine.flip_bit(&name, value as u64 + 300, 1));
    let told: Vec<String> = scrub(&store).iter().map(ToString::to_string).collect();
    assert!(told.len() == 1 && told[0].contains(&format!("\"key {number}\"")), "{told:?}");
}

#[test]
fn damaged_hints_and_lost_files_are_not_found() {
    let machine = Simulation::new(5);
    let store = filled(&machine);
    let whole = machine.meta_copy();
    for (key, value) in whole.iter().filter(|(key, _)| key.starts_with(b"hint/")) {
        let mut pairs = whole.clone();
        let mut damaged = value.clone();
        damaged[value.len() / 2] ^= 4;
        pairs.insert(key.clone(), damaged);
        machine.set_meta(pairs);
        let found = scrub(&store);
        assert!(matches!(found.as_slice(), [Finding::Hints(_)]), "{found:?}");
    }
    machine.set_meta(whole);
    let blob = machine.file_names().into_iter().find(|name| name.ends_with(".blob")).expect("a blob");
    assert!(machine.remove_file(&blob));
    assert!(machine.remove_file("MANIFEST"));
    let told: Vec<String> = scrub(&store).iter().map(ToString::to_string).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(
        told[0].contains("manifest") && told[1].contains(&blob) && told[1].contains("\"blob "),
        "{told:?}"
    );
}

#[test]
fn blob_of_an_older_build_is_left_out() {
    let machine = Simulation::new(6);
    let store = open(&machine).expect("opens").store;
    laws::transact(&store, None, NOW_MS, &mut Overlay::new(), &mut |txn| {
        let mut draft = txn.draft()?;
        draft.append(&[7; 200_000])?;
        txn.put_older_draft(0, b"film", NewRoot::of(Kind::String), draft)
    })
    .expect("a healthy device");
    assert_eq!(scrub(&store), []);
    let blob = machine.file_names().into_iter().find(|name| name.ends_with(".blob")).expect("a blob");
    assert!(machine.flip_bit(&blob, 123_456, 0));
    let told: Vec<String> = scrub(&store).iter().map(ToString::to_string).collect();
    assert!(told.len() == 1 && told[0].contains("\"film\""), "{told:?}");
}

#[test]
fn restart_forgets_when_the_last_scrub_was() {
    let machine = Simulation::new(7);
    let store = open(&machine).expect("opens").store;
    assert_eq!(store.scrub_ended_at_ms(5000), Ok(5000), "a store that was never scrubbed begins to count");
    assert_eq!(store.scrub_ended_at_ms(9000), Ok(5000));
    assert_eq!(scrub(&store), []);
    let next = open(&machine.after_kill()).expect("opens").store;
    assert_eq!(next.scrubbing().ended_at_ms, None);
    assert_eq!(next.scrub_ended_at_ms(NOW_MS + 7), Ok(NOW_MS));
    assert_eq!(next.scrub_ended_at_ms(NOW_MS + 8), Ok(NOW_MS), "and need not ask again");
}
