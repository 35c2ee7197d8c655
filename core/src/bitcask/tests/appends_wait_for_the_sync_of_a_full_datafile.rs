//! Nobody waits for the disk because a datafile is full, as long as the host prepares in time.

use super::harness::{OPTIONS, contents, datafile_names, open, put, run};
use crate::bitcask::{Bitcask, Opened};
use crate::storage::Simulation;
use crate::storage::simulated::Survival;

/// A few of them fill a datafile.
const VALUE: [u8; 500] = [7; 500];

/// What the device had to do while this ran.
fn operations(machine: &Simulation, during: impl FnOnce()) -> Vec<String> {
    machine.record_cuts();
    during();
    machine.take_cuts().into_iter().map(|cut| cut.operation).collect()
}

/// Puts a key for each number.
fn fill(store: &Bitcask, numbers: std::ops::Range<u32>) {
    numbers.for_each(|number| run(store, &[put(&format!("key:{number}"), &VALUE)]));
}

/// A store whose active datafile is more than half full, and how many keys it has.
fn half_full(machine: &Simulation) -> (Opened, u32) {
    let opened = open(machine).expect("a new store");
    let keys = (OPTIONS.datafile_max_bytes / 2 / VALUE.len() as u64) as u32 + 1;
    fill(&opened.store, 0..keys);
    opened.store.sync().expect("a healthy device");
    assert!(opened.store.wants_preparation());
    opened.store.prepare().expect("a healthy device");
    assert!(!opened.store.wants_preparation());
    (opened, keys)
}

#[test]
fn append_that_finds_the_datafile_full_waits_for_no_sync() {
    let machine = Simulation::new(1);
    let (Opened { store, .. }, keys) = half_full(&machine);
    let before = store.log.files().len();
    let done = operations(&machine, || fill(&store, keys..3 * keys / 2 + 2));
    assert_eq!(store.log.files().len(), before + 1, "the first one is full");
    assert!(!done.is_empty() && done.iter().all(|operation| operation.starts_with("write")), "{done:?}");
    assert!(store.wants_preparation(), "the first one is not synced yet");
    let done = operations(&machine, || store.prepare().expect("a healthy device"));
    assert!(done.iter().any(|operation| operation.starts_with("sync")), "{done:?}");
    assert_eq!(store.synced(), store.appended());
}

/// One key is overwritten, so nearly all of the datafile is dead long before it is full.
#[test]
fn append_that_seals_a_dead_datafile_early_waits_for_a_sync() {
    let machine = Simulation::new(1);
    let Opened { store, .. } = open(&machine).expect("a new store");
    let value = &VALUE[..50];
    let overwrite = |count: u64| (0..count).for_each(|_| run(&store, &[put("key", value)]));
    let quarter = OPTIONS.datafile_max_bytes / 4 / value.len() as u64;
    overwrite(quarter);
    assert!(store.wants_preparation(), "merge could have most of it");
    store.prepare().expect("a healthy device");
    let before = store.log.files().len();
    let done = operations(&machine, || overwrite(2));
    assert_eq!(store.log.files().len(), before + 1, "the first one is sealed");
    assert!(done.iter().all(|operation| operation.starts_with("write")), "{done:?}");
    // Where nobody prepares it is sealed all the same, with its sync.
    overwrite(3 * quarter);
    assert!(store.log.files().len() > before + 1);
}

#[test]
fn append_does_all_in_order_where_nobody_prepares() {
    let machine = Simulation::new(1);
    let Opened { store, .. } = open(&machine).expect("a new store");
    let keys = (OPTIONS.datafile_max_bytes / VALUE.len() as u64) as u32 + 1;
    fill(&store, 0..keys);
    assert_eq!(store.log.files().len(), 2);
    assert!(store.synced() > 0, "the first one was synced before the second one was begun");
}

#[test]
fn log_counts_as_synced_before_the_sealed_datafile_is() {
    let machine = Simulation::new(1);
    let (Opened { store, .. }, keys) = half_full(&machine);
    let synced = store.synced();
    fill(&store, keys..3 * keys / 2 + 2);
    assert_eq!(store.synced(), synced, "nothing was synced since");
    let contents_then = contents(&store);
    store.sync().expect("a healthy device");
    assert_eq!(store.synced(), store.appended());
    let opened = open(&machine.after_power_loss(Survival::None)).expect("a log with a beginning and an end");
    assert_eq!(contents(&opened.store), contents_then);
}

/// The successor's frames are on the disk, and some that come before them are not.
#[test]
fn frames_behind_lost_ones_come_back() {
    let machine = Simulation::new(1);
    let (Opened { store, .. }, keys) = half_full(&machine);
    let before = contents(&store);
    fill(&store, keys..3 * keys / 2 + 2);
    drop(store);
    let names = datafile_names(&machine);
    let [first, second] = names.as_slice() else { panic!("{names:?}") };
    let lost = machine.after_power_loss(Survival::None);
    let written = machine.bytes(second).expect("the second one");
    lost.set_bytes(second, written);
    let opened = open(&lost).expect("the loss of power explains it");
    assert_eq!(contents(&opened.store), before, "what was synced, and nothing behind a gap");
    let cut = opened.cut_datafile.expect("it says what it cuts off");
    assert!(cut.whole_frames > 0 && cut.set_aside.is_some_and(|copy| lost.bytes(&copy).is_some()));
    assert_eq!(datafile_names(&lost), std::slice::from_ref(first));
    drop(opened.store);
    assert_eq!(open(&lost.after_kill()).expect("open").cut_datafile, None);
}

/// Something says that a part of the successor was synced, so all before it was.
#[test]
fn damage_to_the_end_of_a_sealed_datafile_passes_for_a_torn_tail() {
    let machine = Simulation::new(1);
    let (Opened { store, .. }, keys) = half_full(&machine);
    fill(&store, keys..3 * keys / 2 + 2);
    store.sync().expect("a healthy device");
    // It carries the marker of that sync.
    fill(&store, 0..1);
    store.sync().expect("a healthy device");
    drop(store);
    let [first, _] = datafile_names(&machine).try_into().expect("two of them");
    let len = machine.bytes(&first).expect("the first one").len() as u64;
    let next = machine.after_power_loss(Survival::None);
    assert!(next.flip_bit(&first, len - 300, 3));
    assert!(open(&next).is_err());
}

/// A kill leaves all that was appended, and the seal comes before the first frame in the next datafile.
#[test]
fn lost_end_of_a_datafile_passes_for_a_torn_tail_in_the_same_run_of_the_machine() {
    let machine = Simulation::new(1);
    let (Opened { store, .. }, keys) = half_full(&machine);
    fill(&store, keys..3 * keys / 2 + 2);
    let all = contents(&store);
    drop(store);
    let killed = machine.after_kill();
    assert_eq!(contents(&open(&killed).expect("open").store), all);
    let [first, _] = datafile_names(&machine).try_into().expect("two of them");
    let next = machine.after_kill();
    let bytes = next.bytes(&first).expect("the first one");
    next.set_bytes(&first, bytes[..bytes.len() - 100].to_vec());
    assert!(open(&next).is_err());
}

/// Builds that know nothing of this read a manifest of version 1 and refuse others.
#[test]
fn store_is_refused_by_older_builds_though_no_datafile_is_begun_ahead() {
    let version = |machine: &Simulation| machine.bytes("MANIFEST").map(|bytes| bytes[8]);
    let machine = Simulation::new(1);
    let (Opened { store, .. }, _) = half_full(&machine);
    assert_eq!(version(&machine), Some(3));
    let next = machine.after_kill();
    drop(open(&next).expect("open"));
    assert_eq!(version(&next), Some(1), "it was opened again");
    store.end_preparation().expect("a healthy device");
    assert_eq!((version(&machine), datafile_names(&machine).len()), (Some(1), 1), "it was closed");
}
