//! The crash matrix must notice each of the faults that can be injected by itself: a matrix that stays green with one of
//! them proves nothing.

use super::crash_states::Findings;
use super::harness::{Phase, Plan, Policy, open};
use super::matrix::{DeviceFault, Matrix};
use crate::bitcask::fault_injection::{self, Fault};
use crate::engine::Admin;
use crate::storage::Simulation;
use crate::storage::device::Bug;

/// Runs the matrix of a few seeds until something is found; panics if nothing is. Without the fault nothing may be.
fn check(policy: Policy, fault: DeviceFault, inject: impl Fn(&mut Matrix)) {
    for seed in 100..116 {
        let mut matrix = Matrix { fault, ..Matrix::new(seed, policy, 100) };
        let mut findings = Findings::default();
        if seed == 100 {
            matrix.run(&mut findings);
            assert!(
                findings.violations.is_empty(),
                "nothing is injected yet: {}",
                findings.violations.join("\n")
            );
        }
        inject(&mut matrix);
        let mut findings = Findings::default();
        matrix.run(&mut findings);
        if !findings.violations.is_empty() {
            return;
        }
    }
    panic!("nobody notices");
}

#[test]
fn acknowledgement_before_the_sync() {
    check(Policy::Sometimes, DeviceFault::Cut, |matrix| matrix.acknowledges_early = true);
}

#[test]
fn rename_before_sync() {
    check(Policy::Always, DeviceFault::Cut, |matrix| matrix.bug = Some(Bug::RenameBeforeSync));
}

#[test]
fn directory_never_synced() {
    check(Policy::Always, DeviceFault::Cut, |matrix| matrix.bug = Some(Bug::SkipDirectorySync));
}

#[test]
fn file_never_synced() {
    check(Policy::Always, DeviceFault::Cut, |matrix| matrix.bug = Some(Bug::SkipFileSync));
}

#[test]
fn failed_sync_tried_again() {
    check(Policy::Always, DeviceFault::Fail, |matrix| matrix.bug = Some(Bug::RetrySyncAfterFailure));
}

#[test]
fn merge_published_before_the_log_is_synced() {
    check(Policy::Never, DeviceFault::Cut, |matrix| matrix.injected = Some(Fault::PublishUnsynced));
}

#[test]
fn blobs_synced_after_the_log() {
    check(Policy::Always, DeviceFault::Cut, |matrix| matrix.injected = Some(Fault::BlobsUnsynced));
}

#[test]
fn blob_removed_before_the_log_is_synced() {
    check(Policy::Sometimes, DeviceFault::Cut, |matrix| matrix.injected = Some(Fault::BlobRemovedUnsynced));
}

#[test]
fn hint_finished_before_the_log_is_synced() {
    check(Policy::Never, DeviceFault::Cut, |matrix| matrix.injected = Some(Fault::HintUnsynced));
}

#[test]
fn frames_appended_before_the_manifest_lists_their_datafile() {
    check(Policy::Never, DeviceFault::Cut, |matrix| matrix.injected = Some(Fault::AppendBeforeList));
}

#[test]
fn inputs_of_a_merge_removed_before_the_manifest_lists_its_output() {
    check(Policy::Never, DeviceFault::Cut, |matrix| matrix.injected = Some(Fault::RemoveBeforeReplace));
}

#[test]
fn manifest_names_the_present_run_before_the_end_of_the_log_is_settled() {
    check(Policy::Never, DeviceFault::Cut, |matrix| {
        matrix.injected = Some(Fault::BootBeforeSettle);
        matrix.nested_every = 1;
    });
}

#[test]
fn sealed_datafile_never_synced() {
    check(Policy::Never, DeviceFault::Cut, |matrix| matrix.injected = Some(Fault::SealUnsynced));
}

#[test]
fn manifest_says_of_more_than_was_synced_that_it_is_on_the_disk() {
    check(Policy::Sometimes, DeviceFault::Cut, |matrix| matrix.injected = Some(Fault::NoteUnsynced));
}

#[test]
fn record_of_the_databases_left_out_by_merge() {
    check(Policy::Always, DeviceFault::Cut, |matrix| matrix.injected = Some(Fault::DatabasesLeftOut));
}

#[test]
fn end_of_the_log_not_synced_by_recovery() {
    check(Policy::Never, DeviceFault::Cut, |matrix| {
        matrix.injected = Some(Fault::SettleUnsynced);
        matrix.nested_every = 1;
    });
}

#[test]
fn blobs_removed_by_recovery_before_the_end_of_the_log_is_synced() {
    check(Policy::Never, DeviceFault::Cut, |matrix| {
        matrix.injected = Some(Fault::BlobsBeforeSettle);
        matrix.nested_every = 1;
    });
}

/// The metadata map of one continuation of a store beside the datafiles of another.
#[test]
fn hint_trusted_over_data() {
    let strays = |fault: Option<Fault>| (0..20).filter(|seed| has_strayed(*seed, fault)).count();
    assert_eq!(strays(None), 0, "hints that do not fit are left aside");
    let is_noticed = (0..200).any(|seed| has_strayed(seed, Some(Fault::TrustHints)));
    assert!(is_noticed, "nobody notices");
}

fn has_strayed(seed: u64, fault: Option<Fault>) -> bool {
    let plan = Plan::new(seed, Policy::Never, 120);
    let start = Phase::new(&plan, &[], 0..20);
    let machine = Simulation::new(seed);
    let opened = open(&machine).expect("open");
    assert_eq!(start.drive(&opened.store, false).committed, 20);
    drop(opened);
    let lineage: Vec<usize> = (0..20).collect();
    let [hinted, other] = [machine.after_kill(), machine.after_kill()];
    let opened = open(&hinted).expect("open");
    Phase::new(&plan, &lineage, 20..30).drive(&opened.store, false);
    opened.store.checkpoint(0).expect("a healthy device");
    let phase = Phase::new(&plan, &lineage, 40..120);
    let opened = open(&other).expect("open");
    let driven = phase.drive(&opened.store, false);
    drop(opened);
    other.set_meta(hinted.meta_copy());
    let next = other.after_kill();
    fault_injection::with_fault(fault, || {
        // A hint that proves that there was more is reason enough to refuse.
        let Ok(opened) = open(&next) else { return false };
        let held = phase.held(&opened.store, driven.now_ms, 80, 80);
        held.inspect_err(|error| println!("seed {seed}: {error}")).is_err()
    })
}
