//! The device fails or is full, once or for ever, at every operation: what was not done is reported, what was promised
//! stays, reads go on, and merge and hints that fail harm nothing.

use super::crash_states::Findings;
use super::harness::{
    Chore, Driven, Phase, Plan, Policy, contents, merge_all, open, put, remove, run, sub_put,
};
use super::matrix::{DeviceFault, Matrix};
use crate::bitcask::Bitcask;
use crate::engine::laws::{self, DATABASES, Dump, Operation};
use crate::engine::memory::MemoryEngine;
use crate::engine::{Admin, EngineError};
use crate::storage::Simulation;
use crate::storage::simulated::Survival;

const TRANSACTIONS: usize = 60;

/// How many operations a phase makes on a healthy device.
fn operations(phase: &Phase<'_>, seed: u64) -> u64 {
    let machine = Simulation::new(seed);
    phase.drive(&open(&machine).expect("open").store, false);
    machine.operations()
}

#[test]
fn failures_anywhere_are_reported_and_lose_nothing() {
    let mut failures = 0;
    for seed in 0..6 {
        let policy = [Policy::Always, Policy::Sometimes, Policy::Never][seed as usize % 3];
        let plan = Plan::new(seed, policy, TRANSACTIONS + 20);
        let phase = Phase::new(&plan, &[], 0..TRANSACTIONS);
        for operation in 0..operations(&phase, seed) {
            for is_forever in [false, true] {
                let machine = Simulation::new(seed);
                if is_forever {
                    machine.fail_from(operation)
                } else {
                    machine.fail_at(operation)
                }
                let at = format!("seed {seed}, operation {operation}, for ever {is_forever}");
                let Ok(opened) = open(&machine) else { continue };
                let driven = phase.drive(&opened.store, false);
                check_failed(&machine, &opened.store, &plan, &phase, &driven, &at);
                failures += 1;
            }
        }
    }
    assert!(failures > 1000, "only {failures} failures");
}

fn check_failed(
    machine: &Simulation,
    store: &Bitcask,
    plan: &Plan,
    phase: &Phase<'_>,
    driven: &Driven,
    at: &str,
) {
    let at = format!("{at}: {:?}, {:?}", machine.faults_seen(), driven.errors);
    // A draft that came to nothing is removed without a word; if that fails, the next start removes it. Hints of a datafile
    // that is gone say nothing, so nobody needs to know that they could not be removed.
    let is_told = |fault: &String| {
        !(fault.contains(": remove ") && fault.ends_with(".blob") || fault.contains(": apply of "))
    };
    let must_tell = machine.faults_seen().iter().any(is_told);
    assert!(!must_tell || !driven.errors.is_empty(), "nothing is reported: {at}");
    assert!(!machine.faults_seen().is_empty() || driven.errors.is_empty(), "reported without a fault: {at}");
    let held = phase.held(store, driven.now_ms, driven.committed, driven.committed);
    assert!(held.is_ok(), "reads see what was refused: {at}: {}", held.unwrap_err());
    let is_read_only = driven.errors.iter().any(|error| matches!(error, EngineError::ReadOnly(_)));
    // A blob that cannot be written is no harm to the log: only its transaction is refused.
    let is_blob = driven.errors.iter().any(|error| matches!(error, EngineError::Damaged(_)));
    assert!(is_read_only || is_blob || driven.attempted == driven.committed, "{at}");
    if !is_read_only {
        return;
    }
    let (synced, appended) = (store.synced(), store.appended());
    for (operations, now_ms) in &plan.transactions[TRANSACTIONS..] {
        let refused = laws::run(store, operations, *now_ms);
        let changes_nothing = refused.as_ref().is_ok_and(|receipt| receipt.position() == 0);
        let is_refused = matches!(refused, Err(EngineError::ReadOnly(_) | EngineError::Damaged(_)));
        assert!(changes_nothing || is_refused, "{at}: {refused:?}");
        for chore in [Chore::Sync, Chore::Checkpoint, Chore::Merge(100_000)] {
            let refused = chore.run(store, *now_ms);
            let is_idle = matches!(chore, Chore::Merge(_));
            assert!(
                is_idle || matches!(refused, Err(EngineError::ReadOnly(_))),
                "{at}: {chore:?} {refused:?}"
            );
        }
    }
    assert_eq!((store.synced(), store.appended()), (synced, appended), "acknowledged after a failure: {at}");
    let held = phase.held(store, driven.now_ms, driven.committed, driven.committed);
    assert!(held.is_ok(), "reads do not go on: {at}: {}", held.unwrap_err());
}

#[test]
fn what_was_acknowledged_before_a_failure_survives() {
    let mut findings = Findings::default();
    for seed in 50..56 {
        let policy = [Policy::Always, Policy::Sometimes, Policy::Never][seed as usize % 3];
        Matrix { fault: DeviceFault::Fail, ..Matrix::new(seed, policy, 80) }.run(&mut findings);
        assert!(findings.violations.is_empty(), "{}", findings.violations.join("\n"));
    }
    assert!(findings.crash_states() > 1000, "only {} states", findings.crash_states());
}

#[test]
fn full_disk_anywhere_refuses_whole_transactions_until_there_is_room() {
    for seed in 0..6 {
        let plan = Plan::new(seed, Policy::Sometimes, TRANSACTIONS);
        let total = operations(&Phase::new(&plan, &[], 0..TRANSACTIONS), seed);
        for operation in (2..total).step_by(2) {
            let machine = Simulation::new(seed);
            machine.full_from(operation);
            let at = format!("seed {seed}, full from operation {operation}");
            let store = open(&machine).expect("opening needs no space").store;
            let model = MemoryEngine::new(DATABASES);
            let room_after = TRANSACTIONS / 2 + operation as usize % (TRANSACTIONS / 2);
            for (number, (operations, now_ms)) in plan.transactions.iter().enumerate() {
                if number == room_after {
                    machine.clear_faults();
                }
                match laws::run(&store, operations, *now_ms) {
                    Ok(_) => laws::run(&model, operations, *now_ms).map(drop).expect("memory"),
                    Err(EngineError::Full(_)) => assert!(number < room_after, "{at}: there is space again"),
                    Err(error) => panic!("{at}: {error}"),
                }
                for chore in &plan.chores[number] {
                    let outcome = chore.run(&store, *now_ms);
                    let is_full = matches!(outcome, Err(EngineError::Full(_)));
                    assert!(
                        outcome.is_ok() || (is_full && number < room_after),
                        "{at}: {chore:?} {outcome:?}"
                    );
                }
                if number % 10 == 0 {
                    assert_same(&store, &model, *now_ms, &at);
                }
            }
            let now_ms = plan.transactions[TRANSACTIONS - 1].1;
            assert_same(&store, &model, now_ms, &at);
            store.sync().expect("nothing failed");
            for left in [machine.after_power_loss(Survival::None), machine.after_kill()] {
                assert_same(&open(&left).expect("open").store, &model, now_ms, &at);
            }
        }
    }
}

fn assert_same(store: &Bitcask, model: &MemoryEngine, now_ms: u64, at: &str) {
    let dumps = (laws::dump(store, now_ms), laws::dump(model, now_ms));
    let (Ok(store), Ok(model)) = dumps else { panic!("{at}: {:?}", dumps.0.err()) };
    if let Some(lines) = laws::difference(&store, &model) {
        panic!("{at}\nkey: store | model\n{lines}");
    }
}

/// A store with several datafiles worth merging, among them tombstones whose keys are in other files.
fn worth_merging(machine: &Simulation) -> Bitcask {
    let store = open(machine).expect("open").store;
    for round in 0..12_u8 {
        run(&store, &[put(&format!("kept {round}"), &[round; 400]), sub_put("hash", "field", &[round; 900])]);
        run(&store, &[put(&format!("doomed {round}"), &[round; 900]), put("overwritten", &[round; 1500])]);
        if round > 2 {
            run(&store, &[remove(&format!("doomed {}", round - 3))]);
        }
    }
    store.sync().expect("a healthy device");
    store
}

/// Steps until merge has come to an end or was refused for good; failing steps are made again.
fn merge_on(store: &Bitcask) -> Vec<EngineError> {
    let (mut errors, mut idle) = (Vec::new(), 0);
    for _ in 0..400 {
        match store.merge_step(3000) {
            Ok(step) if !step.is_unfinished && idle > 1 => break,
            Ok(step) => idle = if step.is_unfinished { 0 } else { idle + 1 },
            Err(error) => errors.push(error),
        }
        if errors.len() > 3 {
            break;
        }
    }
    errors
}

#[test]
fn deleted_keys_return_after_a_failed_merge() {
    let machine = Simulation::new(1);
    let store = worth_merging(&machine);
    let begin = machine.operations();
    assert_eq!(merge_on(&store), []);
    let steps = machine.operations() - begin;
    assert!(steps > 15, "only {steps} operations");
    for operation in begin..begin + steps {
        let machine = Simulation::new(1);
        let store = worth_merging(&machine);
        let before = contents(&store);
        machine.fail_at(operation);
        let errors = merge_on(&store);
        let at = format!("operation {operation}: {:?}, {errors:?}", machine.faults_seen());
        assert!(!errors.is_empty(), "nothing is reported: {at}");
        assert_eq!(laws::difference(&before, &contents(&store)), None, "{at}");
        if laws::run(&store, &[put("new", b"value")], 0).is_err() {
            drop(store);
            check_reopened(&machine.after_power_loss(Survival::None), &before, &at);
            continue;
        }
        // Keys go, and so do their tombstones and the datafiles that kept them needed.
        let gone: Vec<Operation> = before.keys().map(|(_, key)| Operation::Remove(0, key.clone())).collect();
        gone.iter().for_each(|operation| run(&store, std::slice::from_ref(operation)));
        for round in 0..30_u8 {
            run(&store, &[put("filler", &[round; 3000]), remove("new")]);
        }
        merge_all(&store);
        store.sync().expect("a healthy device");
        let left = contents(&store);
        assert_eq!(left.len(), 1, "{at}");
        drop(store);
        check_reopened(&machine.after_power_loss(Survival::None), &left, &at);
        check_reopened(&machine.after_kill(), &left, &at);
    }
}

fn check_reopened(machine: &Simulation, expected: &Dump, at: &str) {
    let opened = open(machine).unwrap_or_else(|error| panic!("{at}: {error}"));
    assert_eq!(laws::difference(expected, &contents(&opened.store)), None, "{at}");
}

#[test]
fn failed_merges_fill_the_disk() {
    let machine = Simulation::new(1);
    let store = worth_merging(&machine);
    let before = contents(&store);
    let used: usize =
        machine.file_names().iter().filter_map(|name| machine.bytes(name)).map(|file| file.len()).sum();
    for free_bytes in (0..4000).step_by(97) {
        machine.set_capacity_bytes(Some(used as u64 + free_bytes));
        for _ in 0..40 {
            match store.merge_step(700) {
                Err(EngineError::Full(_)) => break,
                outcome => assert!(outcome.is_ok(), "{outcome:?}"),
            }
        }
        let hidden: Vec<String> =
            machine.file_names().into_iter().filter(|name| name.ends_with(".hidden")).collect();
        let step = store.merge_step(0);
        assert!(hidden.is_empty() || step.is_ok_and(|step| step.is_unfinished), "{hidden:?}");
        assert_eq!(laws::difference(&before, &contents(&store)), None);
    }
    machine.set_capacity_bytes(None);
    merge_all(&store);
    assert_eq!(laws::difference(&before, &contents(&store)), None);
    let files = machine.file_names().iter().filter(|name| name.ends_with(".data")).count() as u64;
    assert_eq!(store.report().first(), Some(&("datafiles", files)), "{:?}", machine.file_names());
}

#[test]
fn damaged_hints_map_stops_the_store() {
    let machine = Simulation::new(1);
    let store = worth_merging(&machine);
    let before = contents(&store);
    for round in 0..30 {
        store.sync().expect("a healthy device");
        machine.fail_at(machine.operations() + round % 4);
        let outcome = store.hint_step();
        machine.clear_faults();
        assert!(!matches!(outcome, Err(EngineError::ReadOnly(_))), "{outcome:?}");
        run(&store, &[put("overwritten", b"again")]);
    }
    run(&store, &[put("overwritten", &[11; 1500])]);
    store.checkpoint(0).expect("a healthy device");
    drop(store);
    check_reopened(&machine.after_power_loss(Survival::None), &before, "after failed hints");
}
