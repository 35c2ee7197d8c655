//! Bits flip, files are cut, the metadata map is gone, old or nonsense: the store says so, naming datafile and offset,
//! or opens with everything; never does it show a value that was not written.

use std::ops::ControlFlow;

use super::harness::{
    Chore, Meta, OPTIONS, Phase, Plan, Policy, contents, datafile_names, merge_all, open, open_with, put, run,
};
use crate::bitcask::record::SYNCED_RECORD_BYTES;
use crate::bitcask::{Opened, Options};
use crate::engine::laws;
use crate::engine::{Admin, Engine, EngineError, Overlay, Scope, SubWalk, Txn, Want};
use crate::storage::Simulation;
use crate::storage::simulated::{Moment, Survival};

const TRANSACTIONS: usize = 70;

/// A store at rest with all its promises kept, and what it holds.
struct Scene {
    plan: Plan,
    machine: Simulation,
}

impl Scene {
    /// Every transaction was synced by itself; with `hints`, everything is hinted.
    fn new(seed: u64, hints: bool) -> Scene {
        let mut plan = Plan::new(seed, Policy::Always, TRANSACTIONS);
        if !hints {
            let is_hint =
                |chore: &Chore| matches!(chore, Chore::Hint | Chore::HintAhead(_) | Chore::Checkpoint);
            plan.chores.iter_mut().for_each(|chores| chores.retain(|chore| !is_hint(chore)));
        }
        let machine = Simulation::new(seed);
        let opened = open(&machine).expect("open");
        let driven = Phase::new(&plan, &[], 0..TRANSACTIONS).drive(&opened.store, false);
        assert_eq!(driven.committed, TRANSACTIONS);
        opened.store.sync().expect("a healthy device");
        if hints {
            opened.store.checkpoint(0).expect("a healthy device");
        }
        drop(opened);
        // What an unfinished merge left is litter, in which flips mean nothing: the next process removes it.
        let machine = machine.after_kill();
        drop(open(&machine).expect("open"));
        Scene { plan, machine: machine.after_kill() }
    }

    fn phase(&self) -> Phase<'_> {
        Phase::new(&self.plan, &[], 0..TRANSACTIONS)
    }

    fn now_ms(&self) -> u64 {
        self.plan.transactions[TRANSACTIONS - 1].1
    }

    /// Name, number and length of each datafile, in the order of their numbers, and whether it is the last to be
    /// replayed.
    fn datafiles(&self) -> Vec<(String, u32, u64, bool)> {
        let base = |name: &String| {
            let bytes = self.machine.bytes(name).unwrap_or_default();
            bytes
                .get(28..36)
                .map(<[u8]>::to_vec)
                .map(|base| u64::from_le_bytes(base.try_into().unwrap_or_default()))
        };
        let names = datafile_names(&self.machine);
        let last = names.iter().max_by_key(|name| base(name)).cloned();
        let row = |name: String| {
            let number = name.trim_end_matches(".data").parse().expect("the name of a datafile");
            let len = self.machine.bytes(&name).map_or(0, |bytes| bytes.len() as u64);
            let is_last = Some(&name) == last.as_ref();
            (name, number, len, is_last)
        };
        names.into_iter().map(row).collect()
    }
}

/// Whether an error names the datafile and an offset not behind the damage.
fn names_place(error: &str, number: u32, damage: u64) -> bool {
    let after = |text: &str, word: &str| -> Option<u64> {
        let rest = &text[text.find(word)? + word.len()..];
        rest.split(|letter: char| !letter.is_ascii_digit()).next()?.parse().ok()
    };
    after(error, "datafile ") == Some(u64::from(number))
        && after(error, "at offset ").is_some_and(|at| at <= damage)
}

#[test]
fn flips_in_data_are_refused() {
    let (mut refused, mut cut) = (0, 0);
    for seed in 0..3 {
        let scene = Scene::new(seed, false);
        let phase = scene.phase();
        let mut random = fastrand::Rng::with_seed(seed);
        for (name, number, len, is_last) in scene.datafiles() {
            for offset in (0..len).filter(|offset| *offset < 300 || random.u8(0..20) == 0) {
                let machine = scene.machine.after_kill();
                assert!(machine.flip_bit(&name, offset, (offset % 8) as u8));
                let at = format!("seed {seed}: flip at {offset} of {len} in {name}");
                match open(&machine) {
                    Err(error) => assert!(names_place(&error, number, offset), "{at}: {error}"),
                    Ok(opened) => {
                        // Every frame but the last is followed by a record that says that it was synced.
                        let torn = opened.torn_tail.unwrap_or_else(|| panic!("{at}: nobody notices"));
                        assert!(is_last && torn.file == number && torn.offset <= offset, "{at}: {torn:?}");
                        assert_eq!(torn.whole_frames, 0, "{at}: {torn:?}");
                        let held = phase.held(&opened.store, scene.now_ms(), TRANSACTIONS - 2, TRANSACTIONS);
                        assert!(held.is_ok(), "{at}: {}", held.unwrap_err());
                        cut += 1;
                        continue;
                    }
                }
                refused += 1;
            }
        }
    }
    assert!(refused >= 2000, "only {refused} refused, {cut} cut");
}

#[test]
fn flips_under_a_hint_are_found_when_the_value_is_read() {
    let (mut found, mut refused) = (0, 0);
    for seed in 0..4 {
        let scene = Scene::new(seed, true);
        let phase = scene.phase();
        let mut random = fastrand::Rng::with_seed(seed);
        for (name, number, len, _) in scene.datafiles() {
            for offset in (0..len).filter(|_| random.u8(0..16) == 0) {
                let machine = scene.machine.after_kill();
                assert!(machine.flip_bit(&name, offset, (offset % 8) as u8));
                let at = format!("seed {seed}: flip at {offset} of {len} in {name}");
                let opened = match open(&machine) {
                    Ok(opened) => opened,
                    Err(error) => {
                        assert!(names_place(&error, number, offset), "{at}: {error}");
                        refused += 1;
                        continue;
                    }
                };
                assert_eq!(opened.torn_tail, None, "{at}: what was synced is cut off");
                found += unreadable(&scene, &phase, &opened, number, offset, &at);
                // Merge must not spread the damage, nor lose what is readable.
                for _ in 0..if offset % 7 == 0 { 40 } else { 0 } {
                    let _ = opened.store.merge_step(5000);
                }
                unreadable(&scene, &phase, &opened, number, offset, &at);
            }
        }
    }
    assert!(found >= 100, "only {found} found, {refused} refused");
}

/// Compares every key with what it should be; returns how many cannot be read, which must name the place.
fn unreadable(scene: &Scene, phase: &Phase<'_>, opened: &Opened, number: u32, damage: u64, at: &str) -> u64 {
    let now_ms = scene.now_ms();
    if laws::dump(&opened.store, now_ms).is_ok() {
        let held = phase.held(&opened.store, now_ms, TRANSACTIONS, TRANSACTIONS);
        assert!(held.is_ok(), "{at}: {}", held.unwrap_err());
        return 0;
    }
    let mut unreadable = 0;
    let expected = phase.last_state();
    let store = &opened.store;
    for (db, key) in expected.keys() {
        let mut snapshot = store.begin(Scope::Keys(&[key])).expect("begin");
        let mut overlay = Overlay::new();
        let mut txn = Txn::new(&mut snapshot, &mut overlay, now_ms);
        let mut subs = Vec::new();
        let read = txn.value(*db, key).and_then(|value| {
            txn.sub_scan(*db, key, SubWalk::all(Want::Values), &mut |subkey, value| {
                subs.push((subkey.to_vec(), value.to_vec()));
                ControlFlow::Continue(())
            })?;
            Ok(value)
        });
        match read {
            Ok(None) => {}
            Ok(Some(value)) => assert!(laws::holds(&expected, *db, key, &value, &subs), "{at}: {db} {key:?}"),
            Err(EngineError::Damaged(error)) => {
                assert!(names_place(&error, number, damage), "{at}: {error}");
                unreadable += 1;
            }
            Err(error) => panic!("{at}: {error}"),
        }
    }
    assert_eq!(unreadable, 1, "{at}: one flip damages one key");
    unreadable
}

#[test]
fn cut_files_are_refused_unless_nothing_proves_more() {
    let (mut refused, mut shorter) = (0, 0);
    for (seed, hints) in [(0, false), (1, true), (2, false), (3, true)] {
        let scene = Scene::new(seed, hints);
        let phase = scene.phase();
        let mut random = fastrand::Rng::with_seed(seed);
        for (name, number, len, is_last) in scene.datafiles() {
            let bytes = scene.machine.bytes(&name).unwrap_or_default();
            for kept in (0..len).filter(|kept| *kept < 80 || len - kept < 80 || random.u8(0..20) == 0) {
                let machine = scene.machine.after_kill();
                machine.set_bytes(&name, bytes[..kept as usize].to_vec());
                let at = format!("seed {seed}: {name} of {len} bytes cut to {kept}");
                match open(&machine) {
                    Err(error) => {
                        // What is cut off the last datafile may have replaced a root whose blob is gone.
                        let is_named = names_place(&error, number, kept)
                            || is_last && error.contains("blob") && error.contains("to which a key refers");
                        assert!(is_named, "{at}: {error}");
                        refused += 1;
                    }
                    Ok(opened) => {
                        assert!(is_last && !hints, "{at}: nobody notices");
                        let held = phase.held(&opened.store, scene.now_ms(), 0, TRANSACTIONS);
                        assert!(held.is_ok(), "{at}: {}", held.unwrap_err());
                        shorter += 1;
                    }
                }
            }
        }
    }
    assert!(refused > 1000 && shorter > 50, "only {refused} refused, {shorter} shorter");
}

#[test]
fn metadata_that_is_gone_old_or_nonsense_costs_only_time() {
    let mut old_maps = 0;
    for seed in 0..6 {
        let scene = Scene::new(seed, true);
        let phase = scene.phase();
        let meta = scene.machine.meta_copy();
        let check = |meta: Meta, what: &str| -> Opened {
            let machine = scene.machine.after_kill();
            machine.set_meta(meta);
            let opened = open(&machine).unwrap_or_else(|error| panic!("seed {seed}, {what}: {error}"));
            let held = phase.held(&opened.store, scene.now_ms(), TRANSACTIONS, TRANSACTIONS);
            assert!(held.is_ok(), "seed {seed}, {what}: {}", held.unwrap_err());
            opened
        };
        let opened = check(meta.clone(), "whole");
        assert_eq!((opened.hinted_datafiles, opened.replayed_records), (opened.datafiles, 0), "seed {seed}");
        let opened = check(Meta::new(), "gone");
        assert_eq!((opened.hinted_datafiles, opened.rejected_hints), (0, 0));
        assert!(opened.replayed_records > 0);
        for old in old_metadata(seed) {
            old_maps += 1;
            assert_eq!(check(old, "old").rejected_hints, 0, "an old hint fits, it only covers less");
        }
        let mut random = fastrand::Rng::with_seed(seed);
        let mut noise = |len: usize| -> Vec<u8> { (0..len).map(|_| random.u8(..)).collect() };
        let nonsense = meta.iter().map(|(key, value)| (key.clone(), noise(value.len()))).collect();
        let opened = check(nonsense, "nonsense");
        assert_eq!((opened.hinted_datafiles, opened.rejected_hints), (0, opened.datafiles));
        // Values under the keys of their neighbours.
        let others = meta.values().skip(2).chain(meta.values().take(2)).cloned();
        check(meta.keys().cloned().zip(others).collect(), "mixed up");
        let mut random = fastrand::Rng::with_seed(seed);
        for (key, value) in meta.iter().flat_map(|pair| [pair; 12]) {
            let mut flipped = meta.clone();
            let mut value = value.clone();
            let place = random.usize(0..value.len());
            value[place] ^= 1 << random.u8(0..8);
            flipped.insert(key.clone(), value);
            assert_eq!(check(flipped, "flipped").rejected_hints, 1, "seed {seed}, byte {place} of {key:?}");
        }
        let mut short = meta.clone();
        short.pop_first();
        check(short, "without its first block");
    }
    assert!(old_maps > 20, "only {old_maps} old maps");
}

#[test]
fn refused_store_has_already_removed_its_good_datafiles() {
    let machine = Simulation::new(1);
    let store = open(&machine).expect("open").store;
    for round in 0..20_u8 {
        run(&store, &[put("overwritten", &[round; 900]), put(&format!("kept {round}"), &[round; 300])]);
    }
    // Until an output is listed and its inputs are still there.
    let before = datafile_names(&machine).len();
    while datafile_names(&machine).len() <= before {
        store.merge_step(500).expect("a healthy device");
    }
    drop(store);
    let machine = machine.after_kill();
    let names = machine.file_names();
    let datafiles = datafile_names(&machine);
    let output = datafiles.last().expect("a datafile");
    assert!(machine.flip_bit(output, 500, 1));
    let refused = open(&machine).err().unwrap_or_default();
    assert!(names_place(&refused, datafiles.len() as u32, 500), "{refused}");
    assert!(machine.remove_file("REFUSED"), "a note says that it was refused");
    assert_eq!(machine.file_names(), names, "nothing else is changed by a store that does not open");
}

/// The last datafile may be sealed, and even merged, if the power went before the next one was made: nothing of it can
/// be the tail of an unfinished write.
#[test]
fn flips_in_a_sealed_last_datafile_are_refused() {
    let write = |machine: &Simulation| {
        let Ok(Opened { store, .. }) = open(machine) else { return };
        for round in 0..8_u8 {
            let operations =
                [put("overwritten", &[round; 700]), put(&format!("kept {round}"), &[round; 100])];
            if laws::run(&store, &operations, 0).is_err() {
                return;
            }
        }
    };
    let is_creation = |fault: &String| fault.contains("create 0000000002");
    let sealed = (1..80).find_map(|operation| {
        let machine = Simulation::new(1);
        machine.cut_power_at(operation, Moment::Before);
        write(&machine);
        machine.faults_seen().iter().any(is_creation).then(|| machine.after_power_loss(Survival::None))
    });
    let sealed = sealed.expect("a second datafile is made");
    let merged = sealed.after_kill();
    merge_all(&open(&merged).expect("open").store);
    let merged = merged.after_kill();
    assert_ne!(datafile_names(&sealed), datafile_names(&merged));
    for machine in [sealed, merged] {
        let name = datafile_names(&machine).pop().expect("a datafile");
        let number: u32 = name.trim_end_matches(".data").parse().expect("its number");
        assert_eq!(datafile_names(&machine).len(), 1);
        let len = machine.bytes(&name).map_or(0, |bytes| bytes.len() as u64);
        // Without its seal the first one is a file that is written to, and nothing is lost.
        for offset in 0..if number == 1 { len - SYNCED_RECORD_BYTES } else { len } {
            let flipped = machine.after_kill();
            assert!(flipped.flip_bit(&name, offset, 3));
            let refused = open(&flipped).err().unwrap_or_default();
            assert!(names_place(&refused, number, offset), "flip at {offset} of {name}: {refused}");
        }
    }
}

/// A merge drops what the active datafile replaces: without the active datafile neither would be there.
#[test]
fn active_datafile_cut_below_what_a_merge_relied_on() {
    let machine = Simulation::new(1);
    let store = open(&machine).expect("open").store;
    let write = |round: u8| run(&store, &[put(&format!("key {}", round % 8), &[round; 700])]);
    let before_last = |machine: &Simulation| datafile_names(machine).len();
    (0..20).for_each(write);
    let files = before_last(&machine);
    let mut round = 20;
    while before_last(&machine) == files {
        write(round);
        round += 1;
    }
    (round..round + 4).for_each(write);
    merge_all(&store);
    drop(store);
    let machine = machine.after_power_loss(Survival::None);
    let active = format!("{:010}.data", files + 1);
    let bytes = machine.bytes(&active).expect("the active datafile");
    let datafiles = datafile_names(&machine);
    assert!(datafiles.len() > 1 && datafiles.last() != Some(&active));
    for kept in 64..bytes.len() {
        let machine = machine.after_kill();
        machine.set_bytes(&active, bytes[..kept].to_vec());
        let refused = open(&machine).err().unwrap_or_default();
        assert!(
            names_place(&refused, files as u32 + 1, kept as u64),
            "cut to {kept} of {}: {refused}",
            bytes.len()
        );
    }
}

/// What a client stores must never be taken for the log's own word that bytes were on the disk.
#[test]
fn torn_tail_full_of_copied_log_is_taken_for_damage() {
    // In one datafile, however much of it is dead.
    let open = |machine: &Simulation| open_with(machine, &Options { datafile_max_bytes: 1 << 20, ..OPTIONS });
    let synced_rounds = |rounds: u8| {
        let machine = Simulation::new(1);
        let store = open(&machine).expect("open").store;
        for round in 0..rounds {
            run(&store, &[put(&format!("key {round}"), &[round; 200])]);
            store.sync().expect("a healthy device");
        }
        let name = datafile_names(&machine).pop().expect("a datafile");
        let datafile = machine.bytes(&name).unwrap_or_default();
        (machine, store, name, datafile)
    };
    // The records at the end of another store's datafile say of more than this one has that it was synced.
    let (_, _, _, other) = synced_rounds(18);
    let (machine, store, name, datafile) = synced_rounds(4);
    assert!(other.len() > datafile.len() + 3600);
    let before = contents(&store);
    run(&store, &[put("unsynced", &[1; 1000]), put("copy", &other[other.len() - 2000..])]);
    drop(store);
    let machine = machine.after_kill();
    let mut torn = machine.bytes(&name).unwrap_or_default();
    torn[datafile.len() + 100..datafile.len() + 600].fill(0);
    machine.set_bytes(&name, torn);
    let opened = open(&machine).unwrap_or_else(|error| panic!("{error}"));
    assert!(opened.torn_tail.is_some());
    assert_eq!(laws::difference(&before, &contents(&opened.store)), None);
}

/// The metadata map of the scene as it was at earlier times.
fn old_metadata(seed: u64) -> Vec<Meta> {
    let plan = Plan::new(seed, Policy::Always, TRANSACTIONS);
    let machine = Simulation::new(seed);
    let opened = open(&machine).expect("open");
    let mut old = Vec::new();
    for number in 0..TRANSACTIONS {
        Phase::new(&plan, &[], number..number + 1).drive(&opened.store, false);
        old.push(machine.meta_copy());
    }
    old.dedup();
    old
}
