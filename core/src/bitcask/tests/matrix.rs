//! The crash matrix: one phase of a plan with one fault at each operation of the device, ended in every way; and the same
//! once more inside of the recovery from each of these crashes.

use std::collections::VecDeque;

use super::crash_states::{Findings, kind_of};
use super::harness::{Driven, Meta, Phase, Plan, Policy, Promise, UNREADABLE, open};
use super::judge::{chain, findings_of_check, judge, judge_contents, live_on};
use crate::bitcask::fault_injection::{self, Fault};
use crate::storage::Simulation;
use crate::storage::device::Bug;
use crate::storage::simulated::{Cut, Survival};

/// What goes wrong at one operation of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DeviceFault {
    /// The power goes, before the operation and in the middle of it.
    Cut,
    /// The operation fails.
    Fail,
}

/// A matrix ends early after so many violations.
const VIOLATIONS_MAX: usize = 3;

/// So many earlier states wait for metadata that is newer than they are.
const EARLIER_STATES: usize = 8;

/// A phase with one fault at each operation of the device, and each of the ways in which the machine may end then.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matrix {
    pub(super) seed: u64,
    pub(super) policy: Policy,
    pub(super) transactions: usize,
    pub(super) fault: DeviceFault,
    pub(super) preallocation_bytes: u64,
    pub(super) bug: Option<Bug>,
    pub(super) injected: Option<Fault>,
    /// The host takes what was appended for what was synced.
    pub(super) acknowledges_early: bool,
    /// One of so many crash states is crashed again, and again.
    pub(super) chain_every: usize,
    /// Of one of so many crash states the recovery is cut at each of its own operations.
    pub(super) nested_every: usize,
    /// One of so many crash states is checked, and gets metadata of other moments.
    pub(super) metadata_every: usize,
}

impl Matrix {
    pub(super) fn new(seed: u64, policy: Policy, transactions: usize) -> Matrix {
        Matrix {
            seed,
            policy,
            transactions,
            fault: DeviceFault::Cut,
            preallocation_bytes: 0,
            bug: None,
            injected: None,
            acknowledges_early: false,
            chain_every: usize::MAX,
            nested_every: 7,
            metadata_every: 11,
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
        let mut judging = Judging {
            matrix: self,
            plan: &plan,
            phase: &phase,
            findings,
            metadata: Vec::new(),
            earlier: VecDeque::new(),
        };
        match self.fault {
            DeviceFault::Cut => judging.cut_everywhere(),
            DeviceFault::Fail => judging.fail_everywhere(),
        }
    }
}

/// A machine that met its fault.
struct Crash {
    machine: Simulation,
    driven: Driven,
    /// What the store did.
    step: &'static str,
    /// The operation of the device.
    operation: String,
    at: String,
}

/// A matrix that runs.
struct Judging<'r> {
    matrix: &'r Matrix,
    plan: &'r Plan,
    phase: &'r Phase<'r>,
    findings: &'r mut Findings,
    /// What the metadata map held at earlier moments.
    metadata: Vec<Meta>,
    earlier: VecDeque<(Simulation, Promise)>,
}

impl Judging<'_> {
    /// One run, with what it would have left if the power had gone.
    fn cut_everywhere(&mut self) {
        let (matrix, phase) = (self.matrix, self.phase);
        let machine = matrix.machine();
        machine.record_cuts();
        let mut take = |driven: &Driven, step: &'static str| {
            for Cut { machine, operation, moment } in machine.take_cuts() {
                let at = format!("cut {moment:?} {operation} in {step}");
                self.end(&Crash { machine, driven: driven.clone(), step, operation, at });
            }
            self.metadata.push(machine.meta_copy());
        };
        let opened = open(&machine);
        take(&phase.not_begun(), "start");
        let Ok(opened) = opened else { return };
        let driven = phase.drive_watched(&opened.store, matrix.acknowledges_early, &mut take);
        let (step, operation) = ("end", String::from("nothing"));
        self.end(&Crash { machine: machine.clone(), driven, step, operation, at: "at the end".into() });
    }

    /// A run for each operation, which fails.
    fn fail_everywhere(&mut self) {
        let (matrix, phase) = (self.matrix, self.phase);
        let healthy = matrix.machine();
        if let Ok(opened) = open(&healthy) {
            phase.drive(&opened.store, matrix.acknowledges_early);
        }
        for operation in 0..=healthy.operations() {
            let machine = matrix.machine();
            machine.fail_at(operation);
            let driven = match open(&machine) {
                Ok(opened) => phase.drive(&opened.store, matrix.acknowledges_early),
                Err(_) => phase.not_begun(),
            };
            let at = format!("operation {operation} {:?}", machine.faults_seen());
            let operation = machine.faults_seen().pop().unwrap_or_default();
            self.end(&Crash { machine, driven, step: "failure", operation, at });
        }
    }

    /// Ends a machine in every way, and judges.
    fn end(&mut self, crash: &Crash) {
        for survival in Survival::samples(self.matrix.seed).map(Some).into_iter().chain([None]) {
            if self.findings.violations.len() >= VIOLATIONS_MAX {
                return;
            }
            if let Err(violation) = self.judge_end(crash, survival) {
                let how = survival.map_or("killed".into(), |survival| format!("{survival:?}"));
                self.findings.violations.push(format!("{:?}: {}, {how}: {violation}", self.matrix, crash.at));
            }
        }
    }

    /// Ends a machine by the loss of power, or only the process if nothing is said about survival, and judges.
    fn judge_end(&mut self, crash: &Crash, survival: Option<Survival>) -> Result<(), String> {
        let (left, promise) = ended(&crash.machine, survival, &crash.driven);
        let place = || format!("{}: {}", crash.step, kind_of(&crash.operation));
        if !self.findings.is_new(&left, promise, &place) {
            return Ok(());
        }
        let (matrix, phase, number) = (self.matrix, self.phase, self.findings.judged);
        // After a failure a killed process leaves bytes that nothing can make durable any more: no promise is made about
        // what the next one builds on them.
        let is_failed = matrix.fault == DeviceFault::Fail;
        if is_failed && survival.is_none() {
            return judge(phase, &left, promise).map(drop);
        }
        let mut checked = None;
        if number.is_multiple_of(matrix.metadata_every) {
            checked = findings_of_check(&left)?;
            self.judge_metadata_apart(crash, survival)?;
        }
        let is_nested = !is_failed && number.is_multiple_of(matrix.nested_every);
        if is_nested {
            left.record_cuts();
        }
        let judged = judge(phase, &left, promise)?;
        // A check keeps what a salvage would keep: what only the loss of power has torn off may look damaged to it.
        let is_cut = judged.opened.torn_tail.is_some() || judged.opened.cut_datafile.is_some();
        if let Some(found) = checked.filter(|_| survival.is_none() || !is_cut) {
            return Err(found);
        }
        let (next, lineage) = (matrix.transactions, (0..judged.held).collect::<Vec<_>>());
        if is_nested {
            drop(judged.opened);
            self.cut_recovery(crash, survival, &left, judged.held)
        } else if number.is_multiple_of(matrix.chain_every) {
            drop(judged.opened);
            chain(self.plan, lineage, next..next * 2, left, matrix.seed ^ number as u64)
        } else if number.is_multiple_of(5) {
            live_on(&Phase::new(self.plan, &lineage, next..next + 3), &left, &judged.opened)
        } else {
            Ok(())
        }
    }

    /// Ends a recovery at each of its own operations, and after the last one, by a kill and by the loss of power; and judges
    /// what the next start finds.
    fn cut_recovery(
        &mut self,
        crash: &Crash,
        survival: Option<Survival>,
        recovered: &Simulation,
        held: usize,
    ) -> Result<(), String> {
        let driven = &crash.driven;
        for cut in recovered.take_cuts() {
            for again in Survival::samples(self.matrix.seed).map(Some).into_iter().chain([None]) {
                // What only the operating system has survives two kills, and no loss of power.
                let required = match survival.or(again) {
                    Some(_) => driven.acknowledged,
                    None => driven.committed,
                };
                let at = || format!("then cut {:?} {} of the recovery, {again:?}", cut.moment, cut.operation);
                let place = || format!("recovery: {}", kind_of(&cut.operation));
                self.judge_again(&cut.machine, again, driven.promise(required), &place)
                    .map_err(|lost| format!("{}: {lost}", at()))?;
            }
        }
        // What a start has found is as safe as what was synced.
        let promise = Promise { required: held, attempted: held, now_ms: driven.now_ms };
        for again in [Some(Survival::None), None] {
            self.judge_again(recovered, again, promise, &|| "recovery: end".into())
                .map_err(|lost| format!("recovered, then {again:?}: {lost}"))?;
        }
        Ok(())
    }

    fn judge_again(
        &mut self,
        machine: &Simulation,
        survival: Option<Survival>,
        promise: Promise,
        place: &dyn Fn() -> String,
    ) -> Result<(), String> {
        let left = after(machine, survival);
        match self.findings.is_new(&left, promise, place) {
            true => judge(self.phase, &left, promise).map(drop),
            false => Ok(()),
        }
    }

    /// The metadata map only saves time: without it, or with an older one, the same is there. A newer one can only come from
    /// elsewhere, since hints wait for the log; it may be refused, or show damage, but is never believed.
    fn judge_metadata_apart(&mut self, crash: &Crash, survival: Option<Survival>) -> Result<(), String> {
        let (left, promise) = ended(&crash.machine, survival, &crash.driven);
        let newest = crash.machine.meta_copy();
        let mut random = fastrand::Rng::with_seed(self.findings.judged as u64);
        let older = random.choice(&self.metadata).cloned().unwrap_or_default();
        for (metadata, age) in [(Meta::new(), "no"), (older, "older")] {
            let machine = after(&left, None);
            machine.set_meta(metadata);
            let place = || format!("{age} metadata");
            if self.findings.is_new(&machine, promise, &place) {
                open(&machine)
                    .and_then(|opened| judge_contents(self.phase, &opened, promise))
                    .map_err(|lost| format!("with {age} metadata: {lost}"))?;
            }
        }
        if let Some((earlier, promise)) = self.earlier.front() {
            let machine = after(earlier, None);
            machine.set_meta(newest);
            if self.findings.is_new(&machine, *promise, &|| "newer metadata".into())
                && let Ok(opened) = open(&machine)
                && opened.damaged_blobs.is_empty()
            {
                match judge_contents(self.phase, &opened, *promise) {
                    Err(lost) if !lost.starts_with(UNREADABLE) => {
                        return Err(format!("with newer metadata: {lost}"));
                    }
                    _ => {}
                }
            }
        }
        self.earlier.push_back((left, promise));
        if self.earlier.len() > EARLIER_STATES {
            self.earlier.pop_front();
        }
        Ok(())
    }
}

/// What the end of a machine leaves, or of the process alone if nothing is said about survival.
fn after(machine: &Simulation, survival: Option<Survival>) -> Simulation {
    survival.map_or_else(|| machine.after_kill(), |survival| machine.after_power_loss(survival))
}

/// The same with what must be there of the phase then.
fn ended(machine: &Simulation, survival: Option<Survival>, driven: &Driven) -> (Simulation, Promise) {
    let required = if survival.is_some() { driven.acknowledged } else { driven.committed };
    (after(machine, survival), driven.promise(required))
}
