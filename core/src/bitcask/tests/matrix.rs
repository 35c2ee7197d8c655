//! The crash matrix: one phase of a plan with one fault at each operation of the device, ended in every way.

use std::collections::HashSet;
use std::ops::Range;

use super::harness::{Driven, Phase, Plan, Policy, open};
use crate::bitcask::Opened;
use crate::bitcask::fault_injection::{self, Fault};
use crate::storage::Simulation;
use crate::storage::device::Bug;
use crate::storage::simulated::{Moment, Survival};

/// What goes wrong at one operation of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeviceFault {
    Cut(Moment),
    Fail,
}

pub(super) const CUTS: [DeviceFault; 2] =
    [DeviceFault::Cut(Moment::Before), DeviceFault::Cut(Moment::During)];

/// A phase with one fault at each operation of the device, and each of the ways in which the machine may end then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matrix {
    pub(super) seed: u64,
    pub(super) policy: Policy,
    pub(super) transactions: usize,
    pub(super) faults: &'static [DeviceFault],
    pub(super) preallocation_bytes: u64,
    pub(super) bug: Option<Bug>,
    pub(super) injected: Option<Fault>,
    /// The host takes what was appended for what was synced.
    pub(super) acknowledges_early: bool,
    /// One of so many crash states is crashed again, and again.
    pub(super) chain_every: usize,
    /// Of one of so many crash states the recovery is killed.
    pub(super) kill_recovery_every: usize,
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
            injected: None,
            acknowledges_early: false,
            chain_every: usize::MAX,
            kill_recovery_every: 7,
        }
    }

    fn machine(&self) -> Simulation {
        let machine = Simulation::new(self.seed);
        machine.inject(self.bug);
        machine.set_preallocation_bytes(self.preallocation_bytes);
        machine
    }

    /// Runs the whole matrix; ends early after a few violations.
    pub(super) fn run(&self, findings: &mut Findings) {
        fault_injection::with_fault(self.injected, || self.run_faulty(findings));
    }

    fn run_faulty(&self, findings: &mut Findings) {
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
                    DeviceFault::Cut(moment) => machine.cut_power_at(operation, *moment),
                    DeviceFault::Fail => machine.fail_at(operation),
                }
                let driven = match open(&machine) {
                    Ok(opened) => phase.drive(&opened.store, self.acknowledges_early),
                    Err(_) => Driven { now_ms: phase.first_ms(), ..Driven::default() },
                };
                let run = Run { matrix: self, plan: &plan, phase: &phase, machine, driven, fault: *fault };
                for survival in Survival::samples(self.seed).map(Some).into_iter().chain([None]) {
                    if let Err(violation) = run.end(survival, findings) {
                        let at = format!("{self:?}, {fault:?} at operation {operation}");
                        let faults = run.machine.faults_seen();
                        findings.violations.push(format!("{at} {faults:?}, {survival:?}: {violation}"));
                    }
                }
                if findings.violations.len() > 2 {
                    return;
                }
            }
        }
    }
}

/// One run of the phase that met its fault.
struct Run<'r> {
    matrix: &'r Matrix,
    plan: &'r Plan,
    phase: &'r Phase<'r>,
    machine: Simulation,
    driven: Driven,
    fault: DeviceFault,
}

impl Run<'_> {
    /// Ends the machine by the loss of power, or only the process if nothing is said about survival, and judges.
    fn end(&self, survival: Option<Survival>, findings: &mut Findings) -> Result<(), String> {
        let Run { matrix, plan, phase, machine, driven, fault } = self;
        let (left, required) = match survival {
            Some(survival) => (machine.after_power_loss(survival), driven.acknowledged),
            None => (machine.after_kill(), driven.committed),
        };
        if !findings.is_new(&left, required, driven.attempted) {
            return Ok(());
        }
        let (held, opened) = judge(phase, &left, driven, required)?;
        // After a failure a killed process leaves bytes that nothing can make durable any more: no promise is made about
        // what the next one builds on them.
        if survival.is_none() && *fault == DeviceFault::Fail {
            return Ok(());
        }
        let lineage: Vec<usize> = (0..held).collect();
        let next = matrix.transactions;
        if findings.judged.is_multiple_of(matrix.kill_recovery_every) {
            drop(opened);
            self.kill_recovery(survival, required, findings.judged as u64)
        } else if findings.judged.is_multiple_of(matrix.chain_every) {
            drop(opened);
            chain(plan, lineage, next..next * 2, left, matrix.seed ^ findings.judged as u64)
        } else if findings.judged.is_multiple_of(5) {
            live_on(&Phase::new(plan, &lineage, next..next + 3), &left, &opened)
        } else {
            Ok(())
        }
    }
}

impl Run<'_> {
    /// Kills the process that recovers what is left, in the middle, and judges what the next one finds in the same run of
    /// the machine.
    fn kill_recovery(&self, survival: Option<Survival>, required: usize, seed: u64) -> Result<(), String> {
        let left = match survival {
            Some(survival) => self.machine.after_power_loss(survival),
            None => self.machine.after_kill(),
        };
        let mut random = fastrand::Rng::with_seed(self.matrix.seed ^ seed);
        left.cut_power_at(random.u64(0..16), if random.bool() { Moment::Before } else { Moment::During });
        drop(open(&left));
        let faults = left.faults_seen();
        let judged = judge(self.phase, &left.after_kill(), &self.driven, required);
        judged.map(drop).map_err(|lost| format!("recovery killed {faults:?}: {lost}"))
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
fn live_on(phase: &Phase<'_>, left: &Simulation, opened: &Opened) -> Result<(), String> {
    let driven = phase.drive(&opened.store, false);
    opened.store.sync().map_err(|error| format!("does not live on: {error}"))?;
    let end = left.after_power_loss(Survival::None);
    judge(phase, &end, &driven, driven.attempted).map(drop).map_err(|lost| format!("lived on, then {lost}"))
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
