//! A full device is freed from inside: what only takes away still commits, merge finds room for its output, and then
//! ordinary writes go on, without a restart and as often as the device is filled.

use std::sync::Arc;

use super::harness::{NOW_MS, put, remove, sub_put};
use crate::bitcask::fault_injection::{Fault, with_fault};
use crate::bitcask::merge::Merge;
use crate::bitcask::{Bitcask, Options};
use crate::engine::laws::{self, DATABASES, Operation};
use crate::engine::memory::MemoryEngine;
use crate::engine::{Admin, Engine, EngineError, Kind, NewRoot};
use crate::storage::{Simulation, Storage};

const CAPACITY_BYTES: u64 = 2 * 1024 * 1024;

/// Datafiles as large as the device lets them be.
const OPTIONS: Options = Options {
    databases: DATABASES,
    datafile_max_bytes: 256 * 1024 * 1024,
    seed: 7,
    on_damage: crate::bitcask::OnDamage::Refuse,
    access: 0,
};

const ROUNDS: usize = 20;

fn open(machine: &Simulation) -> Bitcask {
    let storage: Arc<dyn Storage> = Arc::new(machine.open().expect("a device in order"));
    Bitcask::open(storage, &OPTIONS).unwrap_or_else(|error| panic!("{error}")).store
}

/// A store on a device with a capacity, and what it should hold.
struct Scene {
    machine: Simulation,
    store: Bitcask,
    model: MemoryEngine,
    random: fastrand::Rng,
}

impl Scene {
    fn new() -> Scene {
        let machine = Simulation::new(11);
        machine.set_capacity_bytes(Some(CAPACITY_BYTES));
        let store = open(&machine);
        Scene { machine, store, model: MemoryEngine::new(DATABASES), random: fastrand::Rng::with_seed(3) }
    }

    /// Runs a transaction; false if the device is full for it.
    fn runs(&self, operations: &[Operation]) -> bool {
        match laws::run(&self.store, operations, NOW_MS) {
            Ok(_) => {
                laws::run(&self.model, operations, NOW_MS).expect("memory");
                true
            }
            Err(EngineError::Full(_)) => false,
            Err(error) => panic!("{error}: {:?}", self.machine.faults_seen()),
        }
    }

    /// Runs transactions until one finds the device full, and returns how many did not.
    fn fill(&self, transaction: impl Fn(usize) -> Operation) -> usize {
        (0..100_000).find(|number| !self.runs(&[transaction(*number)])).expect("the device becomes full")
    }

    /// What maintenance does until there is nothing left to do.
    fn maintain(&self) {
        let mut idle = 0;
        for _ in 0..10_000 {
            let freed = self.store.drain_garbage(1000);
            self.store.sweep_blobs().expect("a device in order");
            let step = self.store.merge_step(1 << 20).unwrap_or_else(|error| panic!("{error}"));
            // One step may seal the active datafile, the next begins its merge.
            idle = if step.is_unfinished || freed > 0 { 0 } else { idle + 1 };
            if idle > 3 {
                return;
            }
        }
        panic!("maintenance does not come to an end");
    }

    /// For the messages of failing tests.
    fn told(&self) -> String {
        format!("{:?} bytes free, {:?}", self.store.log.storage().free_bytes(), self.store.report())
    }

    fn check(&self, at: &str) {
        let dumps = (laws::dump(&self.store, NOW_MS), laws::dump(&self.model, NOW_MS));
        assert_eq!(laws::difference(&dumps.0.expect("store"), &dumps.1.expect("memory")), None, "{at}");
    }

    /// The same with a new process, after a kill of this one.
    fn restarted(self) -> Scene {
        let machine = self.machine.after_kill();
        let store = open(&machine);
        Scene { machine, store, ..self }
    }
}

fn field(number: usize) -> String {
    format!("field {number:06}")
}

#[test]
fn few_keys_overwritten_until_the_device_is_full() {
    for value_bytes in [300, 20_000, 60_000] {
        let scene = Scene::new();
        for round in 0..ROUNDS {
            let key = |number: usize| put(&format!("key {}", number % 5), &vec![number as u8; value_bytes]);
            let written = scene.fill(key) * value_bytes;
            scene.check(&format!("round {round} of values of {value_bytes} bytes"));
            let least = CAPACITY_BYTES as usize * if round == 0 { 3 } else { 2 } / 4;
            assert!(
                written >= least,
                "round {round}: {written} bytes of {value_bytes} each; {}",
                scene.told()
            );
            scene.maintain();
        }
    }
}

/// The ways to take away what fills the device.
fn ways_to_free(count: usize, way: usize) -> Vec<Operation> {
    let keys = |operation: fn(usize) -> Operation| (0..count).map(operation).collect();
    match way {
        0 => keys(|number| remove(&format!("key {number}"))),
        1 => vec![Operation::Flush(0)],
        2 => keys(|number| Operation::SubRemove(0, b"hash".to_vec(), field(number).into_bytes())),
        _ => vec![remove("hash")],
    }
}

#[test]
fn live_data_fill_the_device_and_cannot_be_taken_away() {
    for with_restarts in [false, true] {
        let mut scene = Scene::new();
        for round in 0..ROUNDS {
            let way = round % 4;
            let value = vec![round as u8; [700, 5000][scene.random.usize(..2)]];
            let more = |number: usize| match way {
                0 | 1 => put(&format!("key {number}"), &value),
                _ => sub_put("hash", &field(number), &value),
            };
            // Until merge finds nothing to free any more.
            let (mut count, mut added) = (0, usize::MAX);
            while added > 1 {
                let before = count;
                added = scene.fill(|number| more(before + number));
                count += added;
                scene.maintain();
            }
            let at = format!("round {round}, {count} values of {}", value.len());
            assert!(count * value.len() > CAPACITY_BYTES as usize * 3 / 4, "{at}");
            assert!(!scene.runs(&[put("more", &[7; 100_000])]), "{at}: nothing was freed yet");
            if with_restarts {
                scene = scene.restarted();
            }
            for operation in ways_to_free(count, way) {
                if !scene.runs(std::slice::from_ref(&operation)) {
                    // Removals take room, too; merge gives it back.
                    scene.maintain();
                    assert!(scene.runs(&[operation]), "{at}: a removal is refused");
                }
            }
            scene.check(&at);
            scene.maintain();
            assert!(scene.runs(&[put("more", &[7; 100_000])]), "{at}: what was freed is not there");
            assert!(scene.runs(&[remove("more")]), "{at}");
            scene.maintain();
        }
    }
}

#[test]
fn keys_that_expire_keep_the_device_full() {
    let scene = Scene::new();
    for round in 0..ROUNDS {
        let root = NewRoot { expires_at_ms: Some(NOW_MS + 1), ..NewRoot::of(Kind::String) };
        let key = |number: usize| format!("{round} {number}").into_bytes();
        let count = scene.fill(|number| Operation::Put(0, key(number), root, vec![7; 500]));
        assert!(count * 500 > CAPACITY_BYTES as usize / 2, "round {round}: {count}");
        for _ in 0..100 {
            laws::expire(&scene.store, NOW_MS + 2, 1000).unwrap_or_else(|error| panic!("{error}"));
            scene.maintain();
            laws::expire(&scene.model, NOW_MS + 2, 100_000).expect("memory");
        }
        scene.check("all have expired");
    }
}

#[test]
fn removals_are_refused_while_merge_uses_the_reserve() {
    let scene = Scene::new();
    // Half of what fills the device is dead, in every datafile.
    let count = scene.fill(|number| match number % 2 {
        0 => put("over and over", &[1; 900]),
        _ => put(&format!("key {number}"), &[2; 900]),
    });
    let (mut refused, mut beside) = (0, 0);
    for number in (1..count).step_by(2) {
        let step = scene.store.merge_step(8 * 1024).unwrap_or_else(|error| panic!("{error}"));
        beside += usize::from(step.is_unfinished);
        refused += usize::from(!scene.runs(&[remove(&format!("key {number}"))]));
    }
    assert!(beside > count / 4, "{beside} of {} removals were beside a merge", count / 2);
    assert_eq!(refused, 0, "of {}", count / 2);
    scene.check("at the end");
}

/// Half of every datafile stays alive, so merge must work with the room that ordinary writes left.
#[test]
fn half_of_everything_is_overwritten() {
    let scene = Scene::new();
    let live = CAPACITY_BYTES as usize / 2 / 1000;
    for number in 0..live {
        assert!(scene.runs(&[put(&format!("key {number}"), &[1; 900])]));
    }
    for round in 0..ROUNDS {
        let mut random = fastrand::Rng::with_seed(round as u64);
        let keys: Vec<usize> = (0..100_000).map(|_| random.usize(0..live)).collect();
        let written = scene.fill(|number| put(&format!("key {}", keys[number]), &[round as u8; 900]));
        assert!(written > 100, "round {round}: {written}");
        scene.maintain();
    }
    scene.check("at the end");
}

/// More than the reserve is free, and less than a write needs: the normal end of filling a device.
#[test]
fn full_device_looks_healthy_from_time_to_time() {
    let scene = Scene::new();
    assert!(scene.store.refusal().is_none());
    scene.fill(|number| put(&format!("key {number}"), &[7; 60_000]));
    for _ in 0..20 {
        assert!(matches!(scene.store.refusal(), Some(EngineError::Full(_))), "{}", scene.told());
        scene.store.merge_step(1 << 20).expect("a device in order");
    }
    assert!(scene.runs(&[Operation::Flush(0)]));
    scene.maintain();
    assert!(scene.store.refusal().is_none(), "{}", scene.told());
}

#[test]
fn refused_blobs_leave_no_trace() {
    let scene = Scene::new();
    let mut draft = scene.store.draft().expect("a blob");
    let refused = (0..CAPACITY_BYTES / 100_000 + 1).find_map(|_| draft.append(&[7; 100_000]).err());
    assert!(matches!(refused, Some(EngineError::Full(_))), "{refused:?}");
    for _ in 0..3 {
        assert!(matches!(scene.store.refusal(), Some(EngineError::Full(_))));
        scene.store.merge_step(1 << 20).expect("a device in order");
    }
    drop(draft);
    scene.store.log.storage().sync_removals().expect("a device in order");
    scene.store.merge_step(1 << 20).expect("a device in order");
    assert!(scene.store.refusal().is_none(), "{}", scene.told());
}

#[test]
fn refused_commits_use_up_the_numbers_of_datafiles() {
    let scene = Scene::new();
    scene.fill(|number| put(&format!("key {number}"), &[7; 20_000]));
    let number = |scene: &Scene| scene.store.log.header(0, 0, Vec::new()).expect("there are more").id;
    let before = number(&scene);
    for _ in 0..100 {
        assert!(!scene.runs(&[put("more", &[7; 100_000])]));
    }
    let after = number(&scene);
    assert!(after - before < 5, "{before} to {after}");
}

/// Nothing can be written at the end of each merge: the inputs go all the same, and what the manifest does not list yet is
/// listed before the next output is published.
fn merges_without_a_manifest() -> Result<(), String> {
    let machine = Simulation::new(11);
    let options = Options { datafile_max_bytes: 6 * 1024, ..OPTIONS };
    let open = || {
        let storage = Arc::new(machine.open().map_err(|error| error.to_string())?);
        Bitcask::open(storage, &options).map(|opened| opened.store).map_err(|error| error.to_string())
    };
    let store = open()?;
    for number in 0..40_u8 {
        laws::run(&store, &[put(&format!("key {number}"), &[number; 700])], NOW_MS).expect("room");
    }
    let mut replaced = 0;
    // The few that stay at first are what the outputs of the first merges hold.
    let (first, last): (Vec<u8>, Vec<u8>) = (0..39).partition(|number| number % 5 > 0);
    for number in first.into_iter().chain(last) {
        laws::run(&store, &[remove(&format!("key {number}"))], NOW_MS).expect("room");
        let mut idle = 0;
        while idle < 3 {
            let is_last = matches!(*store.merging.lock(), Merge::Relocating(_));
            if is_last {
                machine.full_from(machine.operations());
                replaced += 1;
            }
            let step = store.merge_step(1 << 20).map_err(|error| error.to_string())?;
            machine.clear_faults();
            idle = if step.is_unfinished { 0 } else { idle + 1 };
        }
    }
    assert!(replaced > 5, "only {replaced} merges");
    let before = laws::dump(&store, NOW_MS).expect("a readable store");
    drop(store);
    let storage = Arc::new(machine.after_kill().open().map_err(|error| error.to_string())?);
    let next = Bitcask::open(storage, &options).map_err(|error| error.to_string())?.store;
    let after = laws::dump(&next, NOW_MS).expect("a readable store");
    laws::difference(&before, &after).map_or(Ok(()), Err)
}

#[test]
fn merge_waits_for_room_for_the_manifest() {
    merges_without_a_manifest().unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn output_published_before_the_manifest_lists_the_one_it_stands_for() {
    let outcome = with_fault(Some(Fault::PublishBeforeManifest), merges_without_a_manifest);
    assert!(outcome.is_err(), "nobody notices");
}
