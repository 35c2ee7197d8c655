//! Faults that a log must not have, injected on purpose by tests: a crash test that stays green with one of them tests
//! nothing.
//!
//! Outside of tests no fault can be injected, and every question about one is answered while compiling.

/// A fault that can be injected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// A hint is applied without looking whether it fits its datafile.
    TrustHints,
    /// A merge publishes its output while records that replaced what it dropped may still be lost.
    PublishUnsynced,
    /// A blob is removed while the record that took its root away may still be lost.
    BlobRemovedUnsynced,
    /// The log is synced before the blobs that it refers to.
    BlobsUnsynced,
    /// Frames are appended to a datafile before the manifest lists it.
    AppendBeforeList,
    /// The inputs of a merge are removed before the manifest lists its output in their place.
    RemoveBeforeReplace,
    /// The output of a merge is published while the manifest does not list the store as it is.
    PublishBeforeManifest,
    /// The manifest says that the store was opened in this run of the machine before the end of the log is settled.
    BootBeforeSettle,
    /// Successors of damaged datafiles are published before a note says what they are.
    SuccessorBeforeNote,
    /// A bit of what is written in place of a damaged datafile changes on its way to the disk.
    SuccessorFlipped,
    /// The same, for everything that a salvage ever writes.
    EverySuccessorFlipped,
    /// A hint is finished while records that replaced what it left out may still be lost.
    HintUnsynced,
    /// A datafile that was sealed counts as synced, and never was.
    SealUnsynced,
    /// The manifest says that all of the active datafile is on the disk, although it is not synced.
    NoteUnsynced,
    /// Recovery goes on with what a killed process left in the operating system, and does not sync it.
    SettleUnsynced,
    /// Recovery removes the blobs that have no root before the record that took the root away is on the disk.
    BlobsBeforeSettle,
    /// Merge leaves out the record that says which spaces the databases show.
    DatabasesLeftOut,
    /// Dead blobs are removed while a backup is under way.
    BackupUnheld,
    /// A store that was opened from a backup writes to the files that it shares.
    SharedBlobWritten,
}

#[cfg(test)]
thread_local! {
    static INJECTED: std::cell::Cell<Option<Fault>> = const { std::cell::Cell::new(None) };
}

/// Whether the store has this fault.
#[cfg(test)]
pub(super) fn is_injected(fault: Fault) -> bool {
    INJECTED.get() == Some(fault)
}

/// Whether the store has this fault: never.
#[cfg(not(test))]
pub(super) const fn is_injected(_: Fault) -> bool {
    false
}

/// Runs something on this thread with a fault injected.
#[cfg(test)]
pub(super) fn with_fault<R>(fault: Option<Fault>, run: impl FnOnce() -> R) -> R {
    let before = INJECTED.replace(fault);
    let outcome = run();
    INJECTED.set(before);
    outcome
}
