//! What a store must be after a crash.

use super::harness::{Phase, Plan, Promise, open};
use crate::bitcask::{Bitcask, Opened, check};
use crate::engine::laws::DATABASES;
use crate::storage::Simulation;
use crate::storage::simulated::{Moment, Survival};

/// What a start found.
pub(super) struct Judged {
    /// How many transactions of the phase are there.
    pub(super) held: usize,
    pub(super) opened: Opened,
}

/// Opens what a crash left. It must open, be without damage, and hold the contents after some whole transaction that is
/// not before the last acknowledged one.
pub(super) fn judge(phase: &Phase<'_>, left: &Simulation, promise: Promise) -> Result<Judged, String> {
    let opened = open(left)?;
    if opened.rejected_hints > 0 {
        return Err(format!("{} hints do not fit", opened.rejected_hints));
    }
    let held = judge_contents(phase, &opened, promise)?;
    Ok(Judged { held, opened })
}

/// The same for a store beside whose datafiles lie other metadata than its own: hints may not fit.
pub(super) fn judge_contents(phase: &Phase<'_>, opened: &Opened, promise: Promise) -> Result<usize, String> {
    if !opened.damages.is_empty() || !opened.damaged_blobs.is_empty() {
        return Err(format!("damage: {:?}, {:?}", opened.damages, opened.damaged_blobs));
    }
    is_as_listed(&opened.store)?;
    phase.held(&opened.store, promise.now_ms, promise.required, promise.attempted)
}

/// The manifest lists exactly the datafiles in use, and says of each how it ends.
fn is_as_listed(store: &Bitcask) -> Result<(), String> {
    let (listed, files) = (store.log.manifest.current().files, store.log.files());
    if !listed.keys().eq(files.keys()) {
        return Err(format!("listed {:?}, in use {:?}", listed.keys(), files.keys()));
    }
    for (id, listed) in listed {
        let (is_sealed, len) = (files[&id].is_sealed(), files[&id].len());
        if listed.seal.is_some() != is_sealed || listed.seal.is_some_and(|(end, _)| end != len) {
            return Err(format!("datafile {id} of {len} bytes, sealed {is_sealed}, is listed as {listed:?}"));
        }
    }
    Ok(())
}

/// What `edgecask check` finds, in words; it changes nothing.
pub(super) fn findings_of_check(left: &Simulation) -> Result<Option<String>, String> {
    let storage = left.open().map_err(|error| error.to_string())?;
    let checked = check(&storage, DATABASES).map_err(|error| format!("cannot be checked: {error}"))?;
    let is_sound = checked.damages.is_empty() && checked.damaged_blobs.is_empty();
    Ok((!is_sound).then(|| format!("check finds {:?}, {:?}", checked.damages, checked.damaged_blobs)))
}

/// A recovered store takes a few more transactions, which survive the next loss of power.
pub(super) fn live_on(phase: &Phase<'_>, left: &Simulation, opened: &Opened) -> Result<(), String> {
    let driven = phase.drive(&opened.store, false);
    opened.store.sync().map_err(|error| format!("does not live on: {error}"))?;
    let end = left.after_power_loss(Survival::None);
    let promise = Promise { required: driven.attempted, attempted: driven.attempted, now_ms: driven.now_ms };
    judge(phase, &end, promise).map(drop).map_err(|lost| format!("lived on, then {lost}"))
}

/// Goes on with a recovered store until the power is cut again, and again.
pub(super) fn chain(
    plan: &Plan,
    mut lineage: Vec<usize>,
    mut range: std::ops::Range<usize>,
    mut left: Simulation,
    seed: u64,
) -> Result<(), String> {
    let mut random = fastrand::Rng::with_seed(seed);
    while range.end <= plan.transactions.len() {
        let phase = Phase::new(plan, &lineage, range.clone());
        left.cut_power_at(random.u64(0..80), if random.bool() { Moment::Before } else { Moment::During });
        let driven = match open(&left) {
            Ok(opened) => phase.drive(&opened.store, false),
            Err(_) => phase.not_begun(),
        };
        let mut held = 0;
        let (faults, mut next) = (left.faults_seen(), None);
        for survival in Survival::samples(seed) {
            let after = left.after_power_loss(survival);
            let verdict = judge(&phase, &after, driven.promise(driven.acknowledged));
            let lost = |lost| format!("chained at {range:?} {faults:?}, {survival:?}: {lost}");
            held = verdict.map_err(lost)?.held;
            // What recovery itself did must not count as lost when the next power cut is planned.
            next = Some(after.after_power_loss(Survival::None));
        }
        lineage.extend(range.start..range.start + held);
        left = next.unwrap_or(left);
        range = range.end..range.end + range.len();
    }
    Ok(())
}
