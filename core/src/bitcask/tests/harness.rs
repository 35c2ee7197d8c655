//! A store driven by a random plan on a simulated machine, and what it must hold after each step of the plan.
//!
//! A [`Plan`] is a script of transactions with chores (sync, merge, hints …) between them. A [`Phase`] runs a stretch of
//! it and knows the contents the reference engine has after each transaction. Whatever survives a failure must equal
//! the contents after some prefix of the stretch that includes every acknowledged transaction: that proves at once that
//! nothing is lost and nothing is half there.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::bitcask::{BackupError, Bitcask, OnDamage, Opened, Options};
use crate::engine::laws::{self, DATABASES, Dump, Operation, Script};
use crate::engine::memory::MemoryEngine;
use crate::engine::{Admin, EngineError, Kind, NewRoot, Receipt};
use crate::storage::{DeviceTarget, MemoryDevice, Simulation, Storage};

/// Datafiles are small, so that a few transactions fill several; some values are larger than a whole one.
pub(super) const OPTIONS: Options = Options {
    databases: DATABASES,
    datafile_max_bytes: 6 * 1024,
    seed: 7,
    on_damage: OnDamage::Refuse,
    access: 0,
};

/// Opens the store on a machine.
pub(super) fn open(machine: &Simulation) -> Result<Opened, String> {
    open_with(machine, &OPTIONS)
}

/// Opens the store on a machine, with other options.
pub(super) fn open_with(machine: &Simulation, options: &Options) -> Result<Opened, String> {
    let storage: Arc<dyn Storage> = Arc::new(machine.open().map_err(|error| error.to_string())?);
    Bitcask::open(storage, options).map_err(|error| format!("does not open: {error}"))
}

/// The names of a machine's datafiles, in order.
pub(super) fn datafile_names(machine: &Simulation) -> Vec<String> {
    let mut names = machine.file_names();
    names.retain(|name| name.ends_with(".data"));
    names
}

/// When a host syncs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Policy {
    Always,
    Sometimes,
    Never,
}

/// What a host does between two transactions.
#[derive(Clone, Copy, Debug)]
pub(super) enum Chore {
    Sync,
    Merge(u64),
    Hint,
    Checkpoint,
    Reopen,
    Drain(u64),
    Sweep,
    Expire(u64),
    NoteSynced,
    HintAhead(u64),
    Rewrite,
    Backup,
    Prepare,
}

impl Chore {
    pub(super) fn run(self, store: &Bitcask, now_ms: u64) -> Result<(), EngineError> {
        match self {
            Chore::Sync => store.sync().map(drop),
            Chore::Merge(budget) => store.merge_step(budget).map(drop),
            Chore::Hint => store.hint_step().map(drop),
            Chore::Checkpoint => store.checkpoint(now_ms),
            Chore::Reopen => store.reopen(0),
            Chore::Drain(budget) => {
                store.drain_garbage(budget);
                Ok(())
            }
            Chore::Sweep => store.sweep_blobs().map(drop),
            Chore::Expire(budget) => laws::expire(store, now_ms, budget).map(drop),
            Chore::NoteSynced => store.note_synced(),
            Chore::HintAhead(bytes) => store.hint_ahead(bytes).map(drop),
            Chore::Rewrite => {
                store.begin_rewrite();
                Ok(())
            }
            Chore::Backup => back_up_to_memory(store),
            Chore::Prepare => store.prepare(),
        }
    }

    /// Its name, without what it is given.
    pub(super) fn name(self) -> &'static str {
        match self {
            Chore::Sync => "sync",
            Chore::Merge(_) => "merge",
            Chore::Hint => "hint",
            Chore::Checkpoint => "checkpoint",
            Chore::Reopen => "reload",
            Chore::Drain(_) => "drain",
            Chore::Sweep => "sweep",
            Chore::Expire(_) => "expire",
            Chore::NoteSynced => "note",
            Chore::HintAhead(_) => "hint ahead",
            Chore::Rewrite => "rewrite",
            Chore::Backup => "backup",
            Chore::Prepare => "prepare",
        }
    }
}

/// Takes a backup that nobody reads: what counts is what it does to the store.
fn back_up_to_memory(store: &Bitcask) -> Result<(), EngineError> {
    let taken = store.backup(&mut DeviceTarget::new(MemoryDevice::default(), &mut |_, _| true));
    match taken {
        Ok(_) => Ok(()),
        Err(BackupError::Store(error)) => Err(error),
        Err(BackupError::Storage(error)) => Err(EngineError::Damaged(error.to_string())),
    }
}

/// Transactions with the times at which they run, and the chores that follow each.
pub(super) struct Plan {
    pub(super) transactions: Vec<(Vec<Operation>, u64)>,
    pub(super) chores: Vec<Vec<Chore>>,
}

impl Plan {
    pub(super) fn new(seed: u64, policy: Policy, count: usize) -> Plan {
        let mut script = Script::new(seed, 24);
        let mut random = fastrand::Rng::with_seed(seed.wrapping_mul(31));
        let (mut transactions, mut chores) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let mut operations = script.transaction();
            match random.u8(0..100) {
                0..5 => operations.extend(move_and_flush(&mut random)),
                5..17 => operations.push(grow_or_patch(&mut random)),
                _ => {}
            }
            transactions.push((operations, script.now_ms()));
            chores.push(Plan::chores(policy, &mut random));
        }
        Plan { transactions, chores }
    }

    fn chores(policy: Policy, random: &mut fastrand::Rng) -> Vec<Chore> {
        let mut chores = Vec::new();
        let budget = [700, 2500, 100_000][random.usize(0..3)];
        let mut draw = |percent: u8, chore: Chore| {
            if random.u8(0..100) < percent {
                chores.push(chore);
            }
        };
        draw(if policy == Policy::Always { 100 } else { 0 }, Chore::Sync);
        draw(50, Chore::Merge(budget));
        draw(12, Chore::Hint);
        draw(4, Chore::Checkpoint);
        draw(4, Chore::Reopen);
        draw(30, Chore::Drain(3));
        draw(15, Chore::Expire(20));
        draw(40, Chore::Sweep);
        draw(if policy == Policy::Sometimes { 20 } else { 0 }, Chore::Sync);
        draw(6, Chore::NoteSynced);
        draw(8, Chore::HintAhead(2000));
        draw(3, Chore::Rewrite);
        draw(2, Chore::Backup);
        draw(if policy == Policy::Always { 100 } else { 40 }, Chore::Prepare);
        chores
    }
}

/// A hash goes to another database, and the one it came from is emptied.
fn move_and_flush(random: &mut fastrand::Rng) -> [Operation; 3] {
    let (from, to) = (random.u32(0..DATABASES), random.u32(0..DATABASES));
    let key = format!("key:{}", random.u8(0..6)).into_bytes();
    [
        Operation::SubPut(from, key.clone(), b"moved".to_vec(), vec![b'm'; 90]),
        Operation::Rename(from, key.clone(), to, key),
        Operation::Flush(from),
    ]
}

/// A value that is a blob is put, grows at its end as by APPEND, or gets patches as by SETRANGE.
fn grow_or_patch(random: &mut fastrand::Rng) -> Operation {
    let (db, key) = (random.u32(0..DATABASES), format!("blob:{}", random.u8(0..2)).into_bytes());
    match random.u8(0..5) {
        0 => {
            Operation::Put(db, key, NewRoot::of(Kind::String), vec![random.u8(..); random.usize(1500..5000)])
        }
        1..3 => Operation::Write(db, key, u16::MAX, 0, vec![random.u8(..); random.usize(1..900)]),
        _ => Operation::Write(db, key, random.u16(..), 0, vec![random.u8(..); random.usize(1..40)]),
    }
}

/// How the error of a store begins that opens, and refuses to read a key.
pub(super) const UNREADABLE: &str = "cannot be read";

/// A stretch of a plan and the contents after each of its transactions, as the reference engine has them.
pub(super) struct Phase<'p> {
    plan: &'p Plan,
    range: Range<usize>,
    states: Vec<Dump>,
}

impl<'p> Phase<'p> {
    /// A phase that begins with what the transactions of `lineage` made.
    pub(super) fn new(plan: &'p Plan, lineage: &[usize], range: Range<usize>) -> Phase<'p> {
        let model = MemoryEngine::new(DATABASES);
        let run = |number: usize| {
            let (operations, now_ms) = &plan.transactions[number];
            laws::run(&model, operations, *now_ms).expect("memory does not fail");
        };
        let dump = || laws::dump(&model, 0).expect("memory does not fail");
        lineage.iter().for_each(|number| run(*number));
        let mut states = vec![dump()];
        for number in range.clone() {
            run(number);
            states.push(dump());
        }
        Phase { plan, range, states }
    }

    /// Runs the phase on an open store until a commit fails.
    pub(super) fn drive(&self, store: &Bitcask, acknowledges_early: bool) -> Driven {
        self.drive_watched(store, acknowledges_early, &mut |_, _| ())
    }

    /// The same; `watch` sees after each step, by its name, what had become of the phase when the step began.
    pub(super) fn drive_watched(
        &self,
        store: &Bitcask,
        acknowledges_early: bool,
        watch: &mut dyn FnMut(&Driven, &'static str),
    ) -> Driven {
        let mut driven = Driven { now_ms: self.first_ms(), ..Driven::default() };
        let mut positions: Vec<u64> = Vec::new();
        for number in self.range.clone() {
            let (operations, now_ms) = &self.plan.transactions[number];
            driven.now_ms = *now_ms;
            driven.attempted += 1;
            let committed = laws::run(store, operations, *now_ms);
            watch(&driven, "commit");
            let Ok(receipt) = committed.map_err(|error| driven.errors.push(error)) else { break };
            driven.committed += 1;
            // A transaction that changed nothing has seen what came before.
            positions.push(
                receipt.max(positions.last().copied().map_or(Receipt::default(), Receipt::at)).position(),
            );
            for chore in &self.plan.chores[number] {
                let outcome = chore.run(store, *now_ms);
                watch(&driven, chore.name());
                driven.errors.extend(outcome.err());
                let reached = if acknowledges_early { store.appended() } else { store.synced() };
                driven.acknowledged = positions.iter().take_while(|position| **position <= reached).count();
            }
        }
        driven
    }

    /// What the last of its transactions leaves.
    pub(super) fn last_state(&self) -> Dump {
        self.states.last().cloned().unwrap_or_default()
    }

    /// What became of the phase where the store did not open.
    pub(super) fn not_begun(&self) -> Driven {
        Driven { now_ms: self.first_ms(), ..Driven::default() }
    }

    /// When the phase begins.
    pub(super) fn first_ms(&self) -> u64 {
        self.plan.transactions[self.range.start].1
    }

    /// How many transactions of the phase the store holds; they must be between these two.
    pub(super) fn held(
        &self,
        store: &Bitcask,
        now_ms: u64,
        required: usize,
        attempted: usize,
    ) -> Result<usize, String> {
        let found = laws::dump(store, now_ms).map_err(|error| format!("{UNREADABLE}: {error}"))?;
        let is_held = |prefix: &usize| laws::is_same_at(&self.states[*prefix], &found, now_ms);
        if let Some(prefix) = (required..=attempted).rev().find(is_held) {
            return Ok(prefix);
        }
        let other = (0..self.states.len()).find(is_held);
        let lines = laws::difference(&self.states[attempted], &found).unwrap_or_default();
        Err(format!(
            "not after {required} to {attempted} transactions but {other:?}\nkey: model | store\n{lines}"
        ))
    }
}

/// What became of a phase.
#[derive(Clone, Default)]
pub(super) struct Driven {
    pub(super) attempted: usize,
    /// Transactions whose commit returned.
    pub(super) committed: usize,
    /// Those of them that were on the disk for sure.
    pub(super) acknowledged: usize,
    pub(super) errors: Vec<EngineError>,
    pub(super) now_ms: u64,
}

/// What a crash may leave of a phase.
#[derive(Clone, Copy, Debug)]
pub(super) struct Promise {
    /// So many transactions of it at least.
    pub(super) required: usize,
    /// So many at most.
    pub(super) attempted: usize,
    pub(super) now_ms: u64,
}

impl Driven {
    /// What must be there if so many of its transactions must.
    pub(super) fn promise(&self, required: usize) -> Promise {
        Promise { required, attempted: self.attempted, now_ms: self.now_ms }
    }
}

/// Puts a string.
pub(super) fn put(key: &str, value: &[u8]) -> Operation {
    Operation::Put(0, key.as_bytes().to_vec(), NewRoot::of(Kind::String), value.to_vec())
}

/// Puts a field of a hash.
pub(super) fn sub_put(key: &str, field: &str, value: &[u8]) -> Operation {
    Operation::SubPut(0, key.as_bytes().to_vec(), field.as_bytes().to_vec(), value.to_vec())
}

/// Removes a key.
pub(super) fn remove(key: &str) -> Operation {
    Operation::Remove(0, key.as_bytes().to_vec())
}

/// Runs one transaction that must succeed.
pub(super) fn run(store: &Bitcask, operations: &[Operation]) {
    laws::run(store, operations, NOW_MS).expect("a healthy store");
}

/// When the tests with a scene of their own take place.
pub(super) const NOW_MS: u64 = 1_700_000_000_000;

/// What a store holds.
pub(super) fn contents(store: &Bitcask) -> Dump {
    laws::dump(store, NOW_MS).expect("a readable store")
}

/// Merges until there is nothing more to merge.
pub(super) fn merge_all(store: &Bitcask) {
    // One step begins a merge, and one that ended may be followed by another.
    let mut idle = 0;
    for _ in 0..10_000 {
        let step = store.merge_step(1 << 20).expect("a healthy store");
        idle = if step.is_unfinished { 0 } else { idle + 1 };
        if idle > 1 {
            return;
        }
    }
    panic!("merge does not come to an end");
}

/// The metadata map of a machine.
pub(super) type Meta = BTreeMap<Vec<u8>, Vec<u8>>;
