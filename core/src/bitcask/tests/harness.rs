//! A store driven by a random plan on a simulated machine, interrupted anywhere, and the judge of what is left.
//!
//! A [`Plan`] is a script of transactions with chores (sync, merge, hints …) between them. A [`Phase`] runs a stretch of
//! it and knows the contents the reference engine has after each transaction. Whatever survives a failure must equal
//! the contents after some prefix of the stretch that includes every acknowledged transaction: that proves at once that
//! nothing is lost and nothing is half there. [`Matrix`] interrupts a phase at every operation of the device.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use crate::bitcask::planted::{self, Mistake};
use crate::bitcask::{Bitcask, Opened, Options};
use crate::engine::laws::{self, DATABASES, Dump, Operation, Script};
use crate::engine::memory::MemoryEngine;
use crate::engine::{Admin, EngineError, Kind, NewRoot, Receipt};
use crate::storage::device::Bug;
use crate::storage::simulated::{Moment, Survival};
use crate::storage::{Simulation, Storage};

/// Datafiles are small, so that a few transactions fill several; some values are larger than a whole one.
pub(super) const OPTIONS: Options = Options { databases: DATABASES, datafile_max_bytes: 6 * 1024, seed: 7 };

/// Opens the store on a machine.
pub(super) fn open(machine: &Simulation) -> Result<Opened, String> {
    open_with(machine, &OPTIONS)
}

/// Opens the store on a machine, with other options.
pub(super) fn open_with(machine: &Simulation, options: &Options) -> Result<Opened, String> {
    let storage: Arc<dyn Storage> = Arc::new(machine.open().map_err(|error| error.to_string())?);
    Bitcask::open(storage, options).map_err(|error| format!("does not open: {error}"))
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
    Drain(u64),
    Expire(u64),
}

impl Chore {
    pub(super) fn run(self, store: &Bitcask, now_ms: u64) -> Result<(), EngineError> {
        match self {
            Chore::Sync => store.sync().map(drop),
            Chore::Merge(budget) => store.merge_step(budget).map(drop),
            Chore::Hint => store.hint_step().map(drop),
            Chore::Checkpoint => store.checkpoint(now_ms),
            Chore::Drain(budget) => {
                store.drain_garbage(budget);
                Ok(())
            }
            Chore::Expire(budget) => store.expire_slice(now_ms, budget).map(drop),
        }
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
            if random.u8(0..100) < 5 {
                operations.extend(move_and_flush(&mut random));
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
        draw(30, Chore::Drain(3));
        draw(15, Chore::Expire(20));
        draw(if policy == Policy::Sometimes { 20 } else { 0 }, Chore::Sync);
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
        let mut driven = Driven { now_ms: self.first_ms(), ..Driven::default() };
        let mut positions: Vec<u64> = Vec::new();
        for number in self.range.clone() {
            let (operations, now_ms) = &self.plan.transactions[number];
            driven.now_ms = *now_ms;
            driven.attempted += 1;
            let committed = laws::run(store, operations, *now_ms);
            let Ok(receipt) = committed.map_err(|error| driven.errors.push(error)) else { break };
            driven.committed += 1;
            // Who changed nothing has seen what came before.
            positions.push(
                receipt.max(positions.last().copied().map_or(Receipt::default(), Receipt::at)).position(),
            );
            for chore in &self.plan.chores[number] {
                let outcome = chore.run(store, *now_ms);
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

    fn first_ms(&self) -> u64 {
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
        let found = laws::dump(store, now_ms).map_err(|error| format!("cannot be read: {error}"))?;
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
#[derive(Default)]
pub(super) struct Driven {
    pub(super) attempted: usize,
    /// Transactions whose commit returned.
    pub(super) committed: usize,
    /// Those of them that were on the disk for sure.
    pub(super) acknowledged: usize,
    pub(super) errors: Vec<EngineError>,
    pub(super) now_ms: u64,
}

/// What goes wrong at one operation of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    Cut(Moment),
    Fail,
}

pub(super) const CUTS: [Fault; 2] = [Fault::Cut(Moment::Before), Fault::Cut(Moment::During)];

/// A phase with one fault at each operation of the device, and each of the ways in which the machine may end then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matrix {
    pub(super) seed: u64,
    pub(super) policy: Policy,
    pub(super) transactions: usize,
    pub(super) faults: &'static [Fault],
    pub(super) preallocation_bytes: u64,
    pub(super) bug: Option<Bug>,
    pub(super) mistake: Option<Mistake>,
    /// The host takes what was appended for what was synced.
    pub(super) acknowledges_early: bool,
    /// Every so manieth crash state is crashed again, and again.
    pub(super) chain_every: usize,
}

impl Matrix {
    pub(super) fn new(seed: u64, policy: Policy, transactions: usize) -> Matrix {
        Matrix {
            seed,
            policy,
            transactions,
            faults: &CUTS,
            preallocation_bytes: 0,
            bug: None,
            mistake: None,
            acknowledges_early: false,
            chain_every: usize::MAX,
        }
    }

    fn machine(&self) -> Simulation {
        let machine = Simulation::new(self.seed);
        machine.plant(self.bug);
        machine.set_preallocation_bytes(self.preallocation_bytes);
        machine
    }

    /// Runs the whole matrix; ends early after a few violations.
    pub(super) fn run(&self, findings: &mut Findings) {
        planted::with(self.mistake, || self.run_planted(findings));
    }

    fn run_planted(&self, findings: &mut Findings) {
        let plan = Plan::new(self.seed, self.policy, self.transactions * 3);
        let phase = Phase::new(&plan, &[], 0..self.transactions);
        let healthy = self.machine();
        if let Ok(opened) = open(&healthy) {
            phase.drive(&opened.store, self.acknowledges_early);
        }
        for operation in 0..=healthy.operations() {
            for fault in self.faults {
                let machine = self.machine();
                match fault {
                    Fault::Cut(moment) => machine.cut_power_at(operation, *moment),
                    Fault::Fail => machine.fail_at(operation),
                }
                let driven = match open(&machine) {
                    Ok(opened) => phase.drive(&opened.store, self.acknowledges_early),
                    Err(_) => Driven { now_ms: phase.first_ms(), ..Driven::default() },
                };
                let at = format!("{self:?}, {fault:?} at operation {operation}");
                self.end(&plan, &phase, &machine, &driven, *fault, &at, findings);
                if findings.violations.len() > 2 {
                    return;
                }
            }
        }
    }

    /// Ends a run in every way.
    #[allow(clippy::too_many_arguments)] // all of them are one run's circumstances
    fn end(
        &self,
        plan: &Plan,
        phase: &Phase<'_>,
        machine: &Simulation,
        driven: &Driven,
        fault: Fault,
        at: &str,
        findings: &mut Findings,
    ) {
        let ways = Survival::samples(self.seed).map(Some).into_iter().chain([None]);
        for survival in ways {
            let (left, required) = match survival {
                Some(survival) => (machine.after_power_loss(survival), driven.acknowledged),
                None => (machine.after_kill(), driven.committed),
            };
            if !findings.is_new(&left, required, driven.attempted) {
                continue;
            }
            // After a failure a killed process leaves bytes that nothing can make durable any more: no promise is made
            // about what the next one builds on them.
            let goes_on = survival.is_some() || fault != Fault::Fail;
            let verdict = judge(phase, &left, driven, required).and_then(|(held, opened)| {
                let lineage: Vec<usize> = (0..held).collect();
                match findings.judged.is_multiple_of(self.chain_every) && goes_on {
                    true => {
                        drop(opened);
                        let next = self.transactions;
                        chain(plan, lineage, next..next * 2, left, self.seed ^ findings.judged as u64)
                    }
                    false if goes_on && findings.judged.is_multiple_of(5) => {
                        live_on(plan, &lineage, &left, &opened, self)
                    }
                    false => Ok(()),
                }
            });
            if let Err(violation) = verdict {
                let faults = machine.faults_seen();
                findings.violations.push(format!("{at} {faults:?}, {survival:?}: {violation}"));
            }
        }
    }
}

/// What a matrix found.
#[derive(Default)]
pub(super) struct Findings {
    images: HashSet<u64>,
    seen: HashSet<(u64, usize, usize)>,
    /// Crash states judged.
    pub(super) judged: usize,
    pub(super) violations: Vec<String>,
}

impl Findings {
    /// How many different disks were judged.
    pub(super) fn crash_states(&self) -> usize {
        self.images.len()
    }

    /// Whether such a disk with such promises was not judged before.
    fn is_new(&mut self, left: &Simulation, required: usize, attempted: usize) -> bool {
        let image = image_of(left);
        self.images.insert(image);
        let is_new = self.seen.insert((image, required, attempted));
        self.judged += usize::from(is_new);
        is_new
    }
}

/// A fingerprint of everything a machine holds, together with what its owner was promised about durability.
fn image_of(machine: &Simulation) -> u64 {
    let mut bytes = Vec::new();
    for name in machine.file_names() {
        bytes.extend_from_slice(name.as_bytes());
        let contents = machine.bytes(&name).unwrap_or_default();
        bytes.extend_from_slice(&(contents.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&contents);
    }
    for (key, value) in machine.meta_copy() {
        bytes.extend_from_slice(&key);
        bytes.extend_from_slice(&(value.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&value);
    }
    xxhash_rust::xxh3::xxh3_64(&bytes)
}

/// Opens what is left; returns how many transactions it holds.
fn judge(
    phase: &Phase<'_>,
    left: &Simulation,
    driven: &Driven,
    required: usize,
) -> Result<(usize, Opened), String> {
    let opened = open(left)?;
    if opened.rejected_hints > 0 {
        return Err(format!("{} hints do not fit", opened.rejected_hints));
    }
    let held = phase.held(&opened.store, driven.now_ms, required, driven.attempted)?;
    Ok((held, opened))
}

/// A recovered store takes a few more transactions, which survive the next loss of power.
fn live_on(
    plan: &Plan,
    lineage: &[usize],
    left: &Simulation,
    opened: &Opened,
    matrix: &Matrix,
) -> Result<(), String> {
    let next = matrix.transactions;
    let phase = Phase::new(plan, lineage, next..next + 3);
    let driven = phase.drive(&opened.store, false);
    opened.store.sync().map_err(|error| format!("does not live on: {error}"))?;
    let end = left.after_power_loss(Survival::None);
    judge(&phase, &end, &driven, driven.attempted).map(drop).map_err(|lost| format!("lived on, then {lost}"))
}

/// Goes on with a recovered store until the power is cut again, and again.
fn chain(
    plan: &Plan,
    mut lineage: Vec<usize>,
    mut range: Range<usize>,
    mut left: Simulation,
    seed: u64,
) -> Result<(), String> {
    let mut random = fastrand::Rng::with_seed(seed);
    while range.end <= plan.transactions.len() {
        let phase = Phase::new(plan, &lineage, range.clone());
        left.cut_power_at(random.u64(0..80), if random.bool() { Moment::Before } else { Moment::During });
        let driven = match open(&left) {
            Ok(opened) => phase.drive(&opened.store, false),
            Err(_) => Driven { now_ms: phase.first_ms(), ..Driven::default() },
        };
        let mut held = 0;
        let (faults, mut next) = (left.faults_seen(), None);
        for survival in Survival::samples(seed) {
            let after = left.after_power_loss(survival);
            let verdict = judge(&phase, &after, &driven, driven.acknowledged);
            held =
                verdict.map_err(|lost| format!("chained at {range:?} {faults:?}, {survival:?}: {lost}"))?.0;
            // What recovery itself did must not count as lost when the next power cut is planned.
            next = Some(after.after_power_loss(Survival::None));
        }
        lineage.extend(range.start..range.start + held);
        left = next.unwrap_or(left);
        range = range.end..range.end + range.len();
    }
    Ok(())
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
