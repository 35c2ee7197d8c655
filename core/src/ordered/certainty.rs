//! What this process knows of the databases, and for how long that counts.
//!
//! Which space a database shows is one record in the cluster, and no transaction should have to read it. So a process keeps what it was,
//! and counts on it only
//!
//! - up to the end of its *lease*, a time of the cluster: who changes the record waits until all others know, or until their leases
//!   have ended. A transaction that begins later, in a process that was stopped meanwhile, does not count on it; and
//! - while it has no *doubt*: before a process changes the record, it has all others doubt.
//!
//! A transaction in doubt reads the record beside what it reads anyway, in its own snapshot.

use std::sync::Arc;

use parking_lot::RwLock;

use super::databases::Databases;

/// What a transaction takes the databases for.
#[derive(Clone, Debug)]
pub(super) struct Shown {
    pub(super) databases: Arc<Databases>,
    /// That is what they are for a transaction that began at this time of the cluster, in milliseconds, or before; 0 for none.
    pub(super) until_ms: u64,
}

impl Shown {
    /// What the record said in the transaction's own snapshot.
    pub(super) fn read(databases: Databases) -> Shown {
        Shown { databases: Arc::new(databases), until_ms: u64::MAX }
    }
}

/// What a process knows.
#[derive(Debug)]
pub(super) struct Certainty(RwLock<State>);

#[derive(Debug)]
struct State {
    databases: Arc<Databases>,
    /// Whether it may count on them at all.
    is_trusted: bool,
    lease_until_ms: u64,
    /// How often it began to doubt.
    doubts: u64,
}

impl Default for Certainty {
    /// Of a process that has the store for itself.
    fn default() -> Certainty {
        let databases = Arc::default();
        Certainty(RwLock::new(State { databases, is_trusted: true, lease_until_ms: u64::MAX, doubts: 0 }))
    }
}

impl Certainty {
    /// What a transaction that begins now takes the databases for.
    pub(super) fn present(&self) -> Shown {
        let state = self.0.read();
        let until_ms = if state.is_trusted { state.lease_until_ms } else { 0 };
        Shown { databases: state.databases.clone(), until_ms }
    }

    /// Begins to doubt; returns what [`Certainty::trust`] wants to know.
    pub(super) fn doubt(&self) -> u64 {
        let mut state = self.0.write();
        state.is_trusted = false;
        state.doubts += 1;
        state.doubts
    }

    /// How often it began to doubt.
    pub(super) fn doubts(&self) -> u64 {
        self.0.read().doubts
    }

    /// The record was read, or written, since that doubt began. If no other one has begun since, this is what counts from now on.
    pub(super) fn trust(&self, databases: Databases, doubts: u64) {
        let mut state = self.0.write();
        state.databases = Arc::new(databases);
        state.is_trusted |= state.doubts == doubts;
    }

    /// The record was read; whether it may be counted on stays as it is.
    pub(super) fn saw(&self, databases: Databases) {
        self.0.write().databases = Arc::new(databases);
    }

    /// Sets the end of the lease, in milliseconds of the cluster's time. Of 0 nothing is left.
    pub(super) fn set_lease(&self, until_ms: u64) {
        self.0.write().lease_until_ms = until_ms;
    }

    /// Whether a transaction that began at this time did so within the lease.
    pub(super) fn had_lease(&self, began_ms: u64) -> bool {
        let until_ms = self.0.read().lease_until_ms;
        until_ms > 0 && began_ms <= until_ms
    }

    /// Whether it counts on what it knows.
    pub(super) fn is_trusted(&self) -> bool {
        let state = self.0.read();
        state.is_trusted && state.lease_until_ms > 0
    }
}
