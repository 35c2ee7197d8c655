//! A small workload on [`DeviceStorage`] with every operation interrupted in every way, and what must be left.
//!
//! The injected bugs must each be seen by the same judge, or it judges nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::device::Bug;
use super::super::memory::apply_to_pairs;
use super::super::{Datafile, DatafileId, MetaOp, Storage, StorageError};
use super::{Moment, Simulation, Survival};

/// One call of the workload.
#[derive(Clone, Copy, Debug)]
enum Step {
    Create(u32),
    CreateHidden(u32),
    Append(u32, u64),
    Sync(u32),
    Publish(u32),
    Remove(u32),
    Meta,
    MetaLazily,
}

use Step::{Append, Create, CreateHidden, Meta, MetaLazily, Publish, Remove, Sync};

const HEADER_BYTES: u64 = 16;

/// Not ours: it must be as it was whatever happens.
const FOREIGN: (&str, &[u8]) = ("note.txt", b"left alone");

const SCENARIO: [Step; 25] = [
    Create(1),
    Append(1, 100),
    Append(1, 700),
    Append(1, 13),
    Sync(1),
    Append(1, 1300),
    MetaLazily,
    CreateHidden(2),
    Append(2, 1000),
    Append(2, 24),
    Meta,
    Publish(2),
    MetaLazily,
    MetaLazily,
    Append(2, 40),
    Sync(2),
    Remove(1),
    Create(3),
    Append(3, 5),
    Sync(3),
    CreateHidden(4),
    Append(3, 600),
    Meta,
    Sync(3),
    MetaLazily,
];

/// The bytes that file `id` has between two offsets.
fn expected(id: u32, from: u64, to: u64) -> Vec<u8> {
    (from..to).map(|offset| ((u64::from(id) * 31 + offset * 7) % 251 + 1) as u8).collect()
}

/// Batch `number` of metadata: one counter, one key put and one deleted.
fn batch(number: u64) -> Vec<MetaOp> {
    let value = number.to_string().into_bytes();
    let key = |number: u64| format!("key {}", number % 3).into_bytes();
    vec![
        MetaOp::Put(b"count".to_vec(), value.clone()),
        MetaOp::Put(key(number), value),
        MetaOp::Delete(key(number + 1)),
    ]
}

fn pairs_after(batches: u64) -> BTreeMap<Vec<u8>, Vec<u8>> {
    let mut pairs = BTreeMap::new();
    (1..=batches).for_each(|number| apply_to_pairs(&mut pairs, &batch(number)));
    pairs
}

/// What was promised about one file.
#[derive(Default)]
struct FileBook {
    handle: Option<Arc<dyn Datafile>>,
    /// Its creation (publication, if it was hidden) was tried, and so it may be listed.
    offered: bool,
    /// It was acknowledged, and so it must be listed.
    listed: bool,
    removal_tried: bool,
    removed: bool,
    /// Bytes that were tried to be appended, that an append acknowledged, and that a sync or publication did.
    tried: u64,
    written: u64,
    synced: u64,
    /// Bytes that are there if it is listed at all.
    whole: u64,
    /// A call failed; a log would not touch the file again.
    abandoned: bool,
}

/// What was promised.
#[derive(Default)]
struct Book {
    files: BTreeMap<u32, FileBook>,
    batches_tried: u64,
    batches_written: u64,
    batches_durable: u64,
    meta_abandoned: bool,
}

impl Book {
    /// Makes one call unless its object was abandoned, and writes down what it promised.
    fn run(&mut self, storage: &impl Storage, step: Step) -> Result<(), StorageError> {
        let (Create(id) | CreateHidden(id) | Append(id, _) | Sync(id) | Publish(id) | Remove(id)) = step
        else {
            return self.run_meta(storage, step);
        };
        let file = self.files.entry(id).or_default();
        if file.abandoned {
            return Ok(());
        }
        let outcome = file.run(storage, step, id);
        // A full disk promises that the same call may be made again.
        file.abandoned = matches!(outcome, Err(ref error) if !matches!(error, StorageError::Full(_)));
        outcome
    }

    fn run_meta(&mut self, storage: &impl Storage, step: Step) -> Result<(), StorageError> {
        if self.meta_abandoned {
            return Ok(());
        }
        let durably = matches!(step, Meta);
        let changes = batch(self.batches_written + 1);
        self.batches_tried = self.batches_written + 1;
        let meta = storage.meta();
        let outcome = if durably { meta.apply(&changes) } else { meta.apply_lazily(&changes) };
        match &outcome {
            Ok(()) => self.batches_written = self.batches_tried,
            Err(StorageError::Full(_)) => self.batches_tried = self.batches_written,
            Err(_) => self.meta_abandoned = true,
        }
        if durably && outcome.is_ok() {
            self.batches_durable = self.batches_written;
        }
        outcome
    }
}

impl FileBook {
    fn run(&mut self, storage: &impl Storage, step: Step, id: u32) -> Result<(), StorageError> {
        let number = DatafileId(id);
        let header = expected(id, 0, HEADER_BYTES);
        match (step, self.handle.clone()) {
            (Create(_), _) => {
                (self.offered, self.tried, self.whole) = (true, HEADER_BYTES, HEADER_BYTES);
                self.handle = Some(storage.create(number, &header)?);
                (self.listed, self.written, self.synced) = (true, HEADER_BYTES, HEADER_BYTES);
            }
            (CreateHidden(_), _) => {
                self.tried = HEADER_BYTES;
                self.handle = Some(storage.create_hidden(number, &header)?);
                self.written = HEADER_BYTES;
            }
            (Append(_, len), Some(handle)) => {
                let from = self.written;
                self.tried = from + len;
                let bytes = expected(id, from, self.tried);
                let (first, second) = bytes.split_at(bytes.len() / 3);
                handle.append(from, &[first, second])?;
                self.written = self.tried;
            }
            (Sync(_), Some(handle)) => {
                handle.sync()?;
                self.synced = self.written;
            }
            (Publish(_), Some(_)) => {
                (self.offered, self.whole) = (true, self.written);
                storage.publish(number)?;
                (self.listed, self.synced) = (true, self.written);
            }
            (Remove(_), Some(_)) => {
                self.removal_tried = true;
                storage.remove(number)?;
                self.removed = true;
            }
            (step, _) => panic!("{step:?} is not a step of a file that exists"),
        }
        Ok(())
    }

    /// Whether the file is there as promised. `complete`: nothing that returned may be missing.
    fn judge(&self, storage: &impl Storage, id: u32, complete: bool) -> Result<(), String> {
        let listed = storage.list().map_err(|error| error.to_string())?.contains(&DatafileId(id));
        if !listed {
            let lost = self.listed && !self.removal_tried;
            return if lost { Err(format!("file {id} is lost")) } else { Ok(()) };
        }
        if !self.offered || (complete && self.removed) {
            return Err(format!("file {id} is listed"));
        }
        let file = storage.open(DatafileId(id)).map_err(|error| format!("file {id}: {error}"))?;
        let len = file.len().map_err(|error| format!("file {id}: {error}"))?;
        let promised = if complete { self.written } else { self.synced.max(self.whole) };
        if len < promised || len > self.tried {
            return Err(format!("file {id} has {len} bytes, not {promised} to {}", self.tried));
        }
        let mut same = false;
        let read = file.read(0, promised, &mut |bytes| same = bytes == expected(id, 0, promised));
        if read.is_err() || !same {
            return Err(format!("file {id} does not hold the {promised} bytes it should"));
        }
        Ok(())
    }
}

impl Book {
    /// Opens what is left and tells what is wrong with it, if anything is.
    fn judge(&self, left: &Simulation, complete: bool) -> Result<(), String> {
        let storage = left.open().map_err(|error| format!("does not open: {error}"))?;
        for (id, file) in &self.files {
            file.judge(&storage, *id, complete)?;
        }
        let strangers: Vec<String> =
            left.file_names().into_iter().filter(|name| !name.ends_with(".data")).collect();
        if strangers != [FOREIGN.0] || left.bytes(FOREIGN.0).as_deref() != Some(FOREIGN.1) {
            return Err(format!("besides datafiles there is {strangers:?}"));
        }
        let promised = if complete { self.batches_written } else { self.batches_durable };
        let pairs = left.meta_copy();
        if !(promised..=self.batches_tried).any(|batches| pairs_after(batches) == pairs) {
            return Err(format!("the metadata is not as after {promised} to {} batches", self.batches_tried));
        }
        Ok(())
    }

    /// The next process writes on; what it found and what it wrote survive the next loss of power.
    fn live_on(left: &Simulation) -> Result<(), String> {
        let fault = |error: StorageError| format!("does not live on: {error}");
        let storage = &left.open().map_err(fault)?;
        let found = storage.list().map_err(fault)?;
        let after_power_loss = || {
            let end = left.after_power_loss(Survival::None).open().map_err(fault)?;
            let kept = end.list().map_err(fault)?;
            Ok::<_, String>((end, kept))
        };
        // Syncing a file that is there already must be enough: it is what a log does with its last datafile.
        for id in &found {
            storage.open(*id).and_then(|file| file.sync()).map_err(fault)?;
        }
        let (_, kept) = after_power_loss()?;
        if kept != found {
            return Err(format!("of {found:?} the next loss of power left {kept:?}"));
        }
        let mut next = Book::default();
        for step in [Create(100), Append(100, 60), Sync(100)] {
            next.run(storage, step).map_err(fault)?;
        }
        let (end, _) = after_power_loss()?;
        next.files.iter().try_for_each(|(id, file)| file.judge(&end, *id, false))
    }
}

/// A machine with a foreign file in the directory.
fn machine(seed: u64, bug: Option<Bug>) -> Simulation {
    let machine = Simulation::new(seed);
    machine.inject(bug);
    machine.set_bytes(FOREIGN.0, FOREIGN.1.to_vec());
    machine
}

/// Runs all steps, failing ones too.
fn run(machine: &Simulation, steps: &[Step]) -> Book {
    let mut book = Book::default();
    if let Ok(storage) = machine.open() {
        for step in steps {
            // Its promise is in the book; whether it may fail is the business of the tests below.
            let _ = book.run(&storage, *step);
        }
    }
    book
}

/// Ends a run in every way and tells which of them broke a promise. `all_is_complete`: nothing failed but the power.
fn violations(machine: &Simulation, book: &Book, seed: u64, all_is_complete: bool) -> Vec<String> {
    let mut violations = Vec::new();
    let mut note = |how: String, verdict: Result<(), String>| {
        if let Err(violation) = verdict {
            violations.push(format!("seed {seed}, {:?}, {how}: {violation}", machine.faults_seen()));
        }
    };
    for survival in Survival::samples(seed) {
        let complete = all_is_complete && survival == Survival::All;
        let left = machine.after_power_loss(survival);
        note(format!("{survival:?}"), book.judge(&left, complete).and_then(|()| Book::live_on(&left)));
    }
    let left = machine.after_kill();
    note("killed".into(), book.judge(&left, true));
    // After a failed sync a new process on the same running machine sees bytes and names that cannot become durable,
    // and nothing tells it. So nothing is promised about what it builds on them.
    if all_is_complete {
        note("killed".into(), Book::live_on(&left));
    }
    violations
}

/// How many operations the steps make on a healthy machine, which must keep every promise.
fn operations(steps: &[Step], seed: u64) -> u64 {
    let machine = machine(seed, None);
    let book = run(&machine, steps);
    assert!(
        book.files.values().all(|file| !file.abandoned) && !book.meta_abandoned,
        "nothing fails by itself"
    );
    assert_eq!(violations(&machine, &book, seed, true), [""; 0]);
    machine.operations()
}

/// The power goes at every operation.
fn violations_by_power_cuts(steps: &[Step], seed: u64, bug: Option<Bug>) -> Vec<String> {
    let mut found = Vec::new();
    for operation in 0..=operations(steps, seed) {
        for moment in [Moment::Before, Moment::During] {
            let machine = machine(seed, bug);
            machine.cut_power_at(operation, moment);
            let book = run(&machine, steps);
            found.extend(violations(&machine, &book, seed, true));
        }
    }
    found
}

/// Every operation fails, once or from then on, and the power goes at the end or `later` operations after the failure.
fn violations_by_failures(steps: &[Step], seed: u64, bug: Option<Bug>) -> Vec<String> {
    let mut found = Vec::new();
    for operation in 0..operations(steps, seed) {
        for (forever, later) in [(false, None), (true, None), (false, Some(1)), (false, Some(4))] {
            let machine = machine(seed, bug);
            if forever {
                machine.fail_from(operation)
            } else {
                machine.fail_at(operation)
            };
            if let Some(later) = later {
                machine.cut_power_at(operation + later, Moment::During);
            }
            let book = run(&machine, steps);
            assert!(!machine.faults_seen().is_empty(), "seed {seed}: operation {operation} fails");
            found.extend(violations(&machine, &book, seed, false));
        }
    }
    found
}

#[test]
fn power_cut_anywhere_keeps_every_promise() {
    for seed in 0..8 {
        assert_eq!(violations_by_power_cuts(&SCENARIO, seed, None), [""; 0]);
    }
}

#[test]
fn failure_anywhere_keeps_every_promise() {
    for seed in 0..4 {
        assert_eq!(violations_by_failures(&SCENARIO, seed, None), [""; 0]);
    }
}

/// Any order of calls that a log could make.
fn random_steps(seed: u64) -> Vec<Step> {
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut steps, mut listed, mut hidden) = (Vec::new(), Vec::new(), Vec::new());
    for id in 1..=random.u32(2..=5) {
        if random.bool() {
            steps.push(Create(id));
            listed.push(id);
        } else {
            steps.push(CreateHidden(id));
            hidden.push(id);
        }
        for _ in 0..random.usize(..8) {
            let all: Vec<u32> = listed.iter().chain(&hidden).copied().collect();
            let Some(id) = random.choice(&all).copied() else { continue };
            match random.u8(..10) {
                0..=3 => steps.push(Append(id, random.u64(..1500))),
                4..=5 => steps.push(Sync(id)),
                6 => steps.push(Meta),
                7 => steps.push(MetaLazily),
                8 if hidden.contains(&id) => {
                    steps.push(Publish(id));
                    hidden.retain(|other| *other != id);
                    listed.push(id);
                }
                _ if random.u8(..4) == 0 => {
                    steps.push(Remove(id));
                    hidden.retain(|other| *other != id);
                    listed.retain(|other| *other != id);
                }
                _ => {}
            }
        }
    }
    steps
}

#[test]
fn any_calls_interrupted_anywhere_keep_every_promise() {
    for seed in 0..40 {
        let steps = random_steps(seed);
        assert_eq!(violations_by_power_cuts(&steps, seed, None), [""; 0], "seed {seed}: {steps:?}");
        assert_eq!(violations_by_failures(&steps, seed, None), [""; 0], "seed {seed}: {steps:?}");
    }
}

#[test]
fn injected_bugs_of_power_cuts_are_seen() {
    for bug in [Bug::SkipFileSync, Bug::SkipDirectorySync, Bug::RenameBeforeSync] {
        let found = violations_by_power_cuts(&SCENARIO, 1, Some(bug));
        assert!(!found.is_empty(), "{bug:?} is seen");
    }
}

#[test]
fn injected_retry_of_a_failed_sync_is_seen() {
    let bug = Some(Bug::RetrySyncAfterFailure);
    assert_eq!(
        violations_by_power_cuts(&SCENARIO, 1, bug),
        [""; 0],
        "without a failure there is nothing to retry"
    );
    assert!(!violations_by_failures(&SCENARIO, 1, bug).is_empty(), "the retry is seen");
}

#[test]
fn full_disk_anywhere_is_only_a_pause() {
    let seed = 5;
    for operation in 0..operations(&SCENARIO, seed) {
        let machine = machine(seed, None);
        machine.full_from(operation);
        let storage = machine.open().expect("opening needs no space");
        let mut book = Book::default();
        for step in SCENARIO {
            let mut outcome = book.run(&storage, step);
            if let Err(StorageError::Full(_)) = outcome {
                machine.clear_faults();
                outcome = book.run(&storage, step);
            }
            assert_eq!(outcome, Ok(()), "{step:?} after space was made, full from operation {operation}");
        }
        assert_eq!(violations(&machine, &book, seed, true), [""; 0], "full from operation {operation}");
    }
}

#[test]
fn failed_sync_is_never_tried_again() {
    let mut syncs_failed = 0;
    for operation in 0..operations(&SCENARIO, 0) {
        let machine = machine(0, None);
        let Ok(storage) = machine.open() else { continue };
        machine.fail_at(operation);
        let mut book = Book::default();
        let failing = SCENARIO.iter().find(|step| book.run(&storage, **step).is_err());
        if !machine.faults_seen().iter().any(|fault| fault.contains(": sync of ")) {
            continue;
        }
        syncs_failed += 1;
        let before = machine.operations();
        let refused = |what: &str, outcome: Result<(), StorageError>| match outcome {
            Err(StorageError::Io(text)) => {
                assert!(text.contains("since an earlier failure"), "{what}: {text}")
            }
            other => panic!("{what} after the failure of {failing:?}: {other:?}"),
        };
        refused("create", storage.create(DatafileId(200), b"x").map(drop));
        refused("create hidden", storage.create_hidden(DatafileId(200), b"x").map(drop));
        for (id, file) in &book.files {
            let Some(handle) = &file.handle else { continue };
            refused("append", handle.append(file.written, &[b"x"]));
            refused("sync", handle.sync());
            refused("cut", handle.cut(0));
            refused("publish", storage.publish(DatafileId(*id)));
            let mut read = Vec::new();
            handle.read(0, file.written, &mut |bytes| read = bytes.to_vec()).expect("reads go on");
            assert_eq!(read, expected(*id, 0, file.written), "what was written stays readable");
        }
        for id in storage.list().expect("listing goes on") {
            refused("remove", storage.remove(id));
        }
        assert_eq!(machine.operations(), before, "a refusal does not reach the device");
    }
    assert!(syncs_failed >= 8, "only {syncs_failed} syncs failed");
}

#[test]
fn failed_write_of_a_header_harms_nothing_else() {
    let machine = Simulation::new(3);
    let storage = machine.open().expect("open");
    let file = storage.create(DatafileId(1), b"head").expect("create");
    machine.fail_at(machine.operations() + 1);
    assert!(storage.create(DatafileId(2), b"head").is_err());
    assert_eq!(machine.file_names(), ["0000000001.data"], "the unfinished file is gone");
    file.append(4, &[b"more"]).expect("append");
    file.sync().expect("sync");
    storage.create(DatafileId(2), b"head").expect("create again");
}

#[test]
fn failed_rename_stops_all_writing() {
    let machine = Simulation::new(3);
    let storage = machine.open().expect("open");
    machine.fail_at(machine.operations() + 3);
    assert!(storage.create(DatafileId(1), b"head").is_err());
    assert!(machine.faults_seen()[0].contains("rename"), "{:?}", machine.faults_seen());
    assert!(storage.create(DatafileId(2), b"head").is_err(), "nobody knows what the directory holds");
    assert_eq!(storage.list(), Ok(vec![]));
}

#[test]
fn cuts_are_durable() {
    let machine = Simulation::new(0);
    let file = machine.open().expect("open").create(DatafileId(1), b"head").expect("create");
    file.append(4, &[b"longer than needed"]).expect("append");
    file.cut(10).expect("cut");
    for survival in Survival::samples(9) {
        let left = machine.after_power_loss(survival);
        assert_eq!(left.bytes("0000000001.data").as_deref(), Some(&b"headlonger"[..]), "{survival:?}");
    }
}

#[test]
fn litter_is_removed_and_strange_names_are_not() {
    let machine = Simulation::new(0);
    let strange = [
        "1.data",
        "00000000001.data",
        "4294967296.data",
        "+000000005.data",
        "0000000001.data.old",
        "\u{e4}.hidden",
    ];
    let ours = ["0000000001.data", "0000000002.hidden", "0000000003.temporary", "4294967295.data"];
    strange.iter().chain(&ours).for_each(|name| machine.set_bytes(name, b"x".to_vec()));
    let storage = machine.open().expect("open");
    assert_eq!(storage.list(), Ok(vec![DatafileId(1), DatafileId(u32::MAX)]));
    let mut left: Vec<&str> = strange.iter().chain([&ours[0], &ours[3]]).copied().collect();
    left.sort_unstable();
    assert_eq!(machine.file_names(), left);
}

/// All that a machine holds: files and metadata.
fn contents(machine: &Simulation) -> [BTreeMap<Vec<u8>, Vec<u8>>; 2] {
    let bytes = |name: String| (name.clone().into_bytes(), machine.bytes(&name).unwrap_or_default());
    [machine.file_names().into_iter().map(bytes).collect(), machine.meta_copy()]
}

#[test]
fn recorded_cut_leaves_something_else_than_a_planned_one() {
    for seed in 0..8 {
        let recorded = machine(seed, None);
        recorded.set_preallocation_bytes(seed % 2 * 4096);
        recorded.record_cuts();
        run(&recorded, &SCENARIO);
        let cuts = recorded.take_cuts();
        assert_eq!(cuts.len() as u64, 2 * recorded.operations());
        for (number, cut) in cuts.iter().enumerate() {
            let planned = machine(seed, None);
            planned.set_preallocation_bytes(seed % 2 * 4096);
            planned.cut_power_at(number as u64 / 2, cut.moment);
            run(&planned, &SCENARIO);
            assert_eq!(planned.faults_seen(), cut.machine.faults_seen());
            for survival in Survival::samples(seed) {
                let [left, other] =
                    [&planned, &cut.machine].map(|machine| machine.after_power_loss(survival));
                assert_eq!(contents(&left), contents(&other), "seed {seed}, {}, {survival:?}", cut.operation);
            }
            assert_eq!(contents(&planned.after_kill()), contents(&cut.machine.after_kill()), "seed {seed}");
        }
    }
}
