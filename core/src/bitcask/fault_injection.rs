//! Classic mistakes of a log, planted on purpose by tests: a crash test that stays green with one of them tests nothing.
//!
//! Outside of tests nothing can be planted, and every question about it is answered while compiling.

/// A mistake that can be planted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mistake {
    /// A hint is applied without looking whether it fits its datafile.
    TrustHints,
    /// A merge publishes its output while records that replaced what it dropped may still be lost.
    PublishUnsynced,
    /// A blob is removed while the record that took its root away may still be lost.
    BlobRemovedUnsynced,
    /// The log is synced before the blobs that it refers to.
    BlobsUnsynced,
    /// A hint is finished while records that replaced what it left out may still be lost.
    HintUnsynced,
}

#[cfg(test)]
thread_local! {
    static PLANTED: std::cell::Cell<Option<Mistake>> = const { std::cell::Cell::new(None) };
}

/// Whether this mistake is to be made.
#[cfg(test)]
pub(super) fn is_planted(mistake: Mistake) -> bool {
    PLANTED.get() == Some(mistake)
}

/// Whether this mistake is to be made: never.
#[cfg(not(test))]
pub(super) const fn is_planted(_: Mistake) -> bool {
    false
}

/// Runs something on this thread with a mistake planted.
#[cfg(test)]
pub(super) fn with<R>(mistake: Option<Mistake>, run: impl FnOnce() -> R) -> R {
    let before = PLANTED.replace(mistake);
    let outcome = run();
    PLANTED.set(before);
    outcome
}
