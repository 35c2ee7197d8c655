//! A salvage is cut at every operation of the device, by a kill or by the loss of power. Whatever is left, the next start finds
//! the damaged store as it was, or the mended one with a report of what was lost; and the damaged originals are still there.

use std::collections::HashSet;

use super::crash_states::image_of;
use super::harness::{OPTIONS, contents, datafile_names, open, open_with, put, run, sub_put};
use crate::bitcask::fault_injection::{self, Fault};
use crate::bitcask::{OnDamage, Opened, Options};
use crate::engine::Admin;
use crate::engine::laws::{self, Dump};
use crate::storage::Simulation;
use crate::storage::simulated::{Moment, Survival};

const SALVAGE: Options = Options { on_damage: OnDamage::Salvage, ..OPTIONS };

/// A store with damage in three datafiles, one of them in its header, a foreign one, and a blob that nothing names.
struct Scene {
    machine: Simulation,
    /// The damaged datafiles as they are.
    originals: Vec<Vec<u8>>,
    /// What a salvage without a cut leaves, and says.
    mended: Dump,
    lost: Vec<String>,
}

impl Scene {
    fn new() -> Scene {
        let machine = Simulation::new(1);
        let store = open(&machine).expect("open").store;
        for number in 0..40_u8 {
            run(
                &store,
                &[put(&format!("key {number}"), &[number; 500]), sub_put("hash", &format!("{number}"), b"v")],
            );
        }
        store.checkpoint(0).expect("a healthy device");
        drop(store);
        let names = datafile_names(&machine);
        let machine = machine.after_kill();
        for (name, offset) in [(&names[0], 700), (&names[1], 3), (&names[2], 900)] {
            assert!(machine.flip_bit(name, offset, 0));
        }
        machine.set_bytes("0000000077.data", vec![9; 300]);
        // A blob whose record is lost.
        const BLOB: &str = "00000000000000090000.blob";
        machine.set_bytes(BLOB, vec![8; 3000]);
        let originals = names[..3].iter().map(String::as_str).chain(["0000000077.data", BLOB]);
        let originals = originals.map(|name| machine.bytes(name).expect("a datafile")).collect();
        let opened = open_with(&machine.after_kill(), &SALVAGE).expect("salvaged");
        let lost: Vec<String> = opened.losses.iter().map(ToString::to_string).collect();
        assert!(lost.len() > 1 && opened.set_aside.len() == 5, "{lost:?}, {:?}", opened.set_aside);
        Scene { machine, originals, mended: contents(&opened.store), lost }
    }

    /// What the next starts make of what a cut has left; an error says what they must not.
    fn judge(&self, left: &Simulation) -> Result<bool, String> {
        let (is_refused, opened) = match open(left) {
            Ok(opened) => (false, opened),
            Err(refused) if refused.contains("damaged") || refused.contains("is not") => {
                (true, open_with(left, &SALVAGE)?)
            }
            Err(error) => return Err(error),
        };
        let Opened { store, losses, earlier_report, .. } = opened;
        if let Some(lines) = laws::difference(&self.mended, &contents(&store)) {
            return Err(format!("not what a salvage leaves: {lines}"));
        }
        drop(store);
        let read =
            |name: &String| String::from_utf8_lossy(&left.bytes(name).unwrap_or_default()).into_owned();
        let reports = left.file_names().into_iter().filter(|name| name.starts_with("salvage-"));
        let reports: String = reports.map(|name| read(&name)).collect();
        let told: Vec<String> = losses.iter().map(ToString::to_string).collect();
        for lost in &self.lost {
            let is_told =
                told.contains(lost) || earlier_report.as_ref().is_some_and(|told| told.contains(lost));
            if !(reports.contains(lost) && (is_told || earlier_report.is_none() && told.is_empty())) {
                return Err(format!("{lost} is not told: {told:?}, {earlier_report:?}, {reports:?}"));
            }
        }
        let there: Vec<_> = left.file_names().iter().filter_map(|name| left.bytes(name)).collect();
        match self.originals.iter().position(|original| !there.contains(original)) {
            Some(at) => Err(format!("original {at} is gone")),
            None => Ok(is_refused),
        }
    }

    /// Cuts a salvage everywhere; returns how many states were damaged and mended, and what must not be.
    fn cut_everywhere(&self) -> (usize, usize, Vec<String>) {
        let (mut damaged, mut mended, mut violations) = (0, 0, Vec::new());
        let healthy = self.machine.after_kill();
        drop(open_with(&healthy, &SALVAGE));
        for operation in 0..healthy.operations() {
            for moment in [Moment::Before, Moment::During] {
                let machine = self.machine.after_kill();
                machine.cut_power_at(operation, moment);
                drop(open_with(&machine, &SALVAGE));
                for survival in Survival::samples(operation).map(Some).into_iter().chain([None]) {
                    let left = match survival {
                        Some(survival) => machine.after_power_loss(survival),
                        None => machine.after_kill(),
                    };
                    match self.judge(&left) {
                        Ok(true) => damaged += 1,
                        Ok(false) => mended += 1,
                        Err(error) => {
                            violations.push(format!("{:?}, {survival:?}: {error}", machine.faults_seen()));
                        }
                    }
                }
            }
        }
        (damaged, mended, violations)
    }
}

#[test]
fn original_is_gone_and_nothing_says_so() {
    let scene = Scene::new();
    let (damaged, mended, violations) = scene.cut_everywhere();
    assert!(violations.is_empty(), "{} violations: {}", violations.len(), violations[0]);
    assert!(damaged > 50 && mended > 50, "{damaged} damaged, {mended} mended");
}

/// The start after a cut is cut again, at each of its own operations.
#[test]
fn original_is_gone_after_a_second_cut() {
    let scene = Scene::new();
    let healthy = scene.machine.after_kill();
    healthy.record_cuts();
    drop(open_with(&healthy, &SALVAGE));
    let (mut judged, mut violations) = (HashSet::new(), Vec::new());
    for first in healthy.take_cuts().iter().step_by(2) {
        for survival in [None, Some(Survival::All), Some(Survival::Subset(3))] {
            let left = ended(&first.machine, survival);
            left.record_cuts();
            scene.judge(&left).expect("one cut is judged above");
            for second in left.take_cuts() {
                for again in [None, Some(Survival::None), Some(Survival::Subset(5))] {
                    let left = ended(&second.machine, again);
                    if judged.insert(image_of(&left))
                        && let Err(error) = scene.judge(&left)
                    {
                        let at = [&first.operation, &second.operation];
                        violations.push(format!("{at:?}, {survival:?}, {again:?}: {error}"));
                    }
                }
            }
        }
    }
    assert!(violations.is_empty(), "{} violations: {}", violations.len(), violations[0]);
    assert!(judged.len() > 200, "only {} states", judged.len());
}

fn ended(machine: &Simulation, survival: Option<Survival>) -> Simulation {
    survival.map_or_else(|| machine.after_kill(), |survival| machine.after_power_loss(survival))
}

#[test]
fn successors_published_before_their_note_are_not_noticed() {
    let scene = Scene::new();
    let fault = Some(Fault::SuccessorBeforeNote);
    let (_, _, violations) = fault_injection::with_fault(fault, || scene.cut_everywhere());
    assert!(!violations.is_empty(), "nobody notices");
}

#[test]
fn second_salvage_overwrites_what_the_first_set_aside() {
    let scene = Scene::new();
    let machine = scene.machine.after_kill();
    drop(open_with(&machine, &SALVAGE).expect("salvaged"));
    let before = machine.file_names();
    machine.set_bytes("0000000077.data", vec![8; 300]);
    let opened = open_with(&machine, &SALVAGE).expect("salvaged again");
    assert_eq!(opened.set_aside, ["0000000077.damaged-2"]);
    assert_eq!(opened.reports, ["salvage-2.txt"]);
    let after = machine.file_names();
    for name in before.iter().filter(|name| name.contains("damaged") || name.contains("salvage")) {
        assert!(after.contains(name), "{name} is gone");
    }
}
