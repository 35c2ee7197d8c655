//! Reactions: what must happen in the same commit as the changes that cause it (indexes, triggers, SQL's pages).
//!
//! The executor shows every transaction that has changed something to the registered reactions, in the order of their
//! registration, before it commits. A reaction reads and writes through the same transaction, so what it adds is in the
//! same frame, and it may refuse the whole. It sees the changes of the commands and of the reactions before it, never its
//! own.

use std::sync::Arc;

use parking_lot::RwLock;

use super::hub::Interest;
use crate::engine::{Changed, Result, Txn};

/// Sees changes before they are committed.
pub trait Reaction: Send + Sync {
    /// Whether it wants to see a change of this key; the others are left out of what it is shown.
    fn concerns(&self, changed: &Changed) -> bool;

    /// Reads what it needs of the changes ([`Txn::old_value`], [`Txn::changed_subkeys`] …) and adds its own through `txn`.
    ///
    /// # Errors
    /// [`EngineError::Refused`](crate::engine::EngineError::Refused) ends the transaction with its text as the reply and
    /// nothing changed. Errors of `txn` are to be passed on: the executor may run everything again.
    fn react(&self, changes: &[Changed], txn: &mut Txn<'_>) -> Result<()>;
}

/// The registered reactions.
#[derive(Default)]
pub struct Reactions(RwLock<Arc<[Arc<dyn Reaction>]>>);

impl std::fmt::Debug for Reactions {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Reactions({})", self.0.read().len())
    }
}

impl Reactions {
    /// Registers a reaction behind those that there are.
    pub fn add(&self, interest: &Interest, reaction: Arc<dyn Reaction>) {
        let mut registered = self.0.write();
        *registered = registered.iter().cloned().chain([reaction]).collect();
        interest.set(Interest::REACTIONS, true);
    }

    /// Takes a reaction away.
    pub fn remove(&self, interest: &Interest, reaction: &Arc<dyn Reaction>) {
        let mut registered = self.0.write();
        *registered = registered.iter().filter(|other| !Arc::ptr_eq(other, reaction)).cloned().collect();
        interest.set(Interest::REACTIONS, !registered.is_empty());
    }

    /// Shows a transaction's changes to all of them.
    ///
    /// # Errors
    /// The first error of a reaction, or of reading the changes.
    pub fn run(&self, txn: &mut Txn<'_>) -> Result<()> {
        let registered = self.0.read().clone();
        for reaction in &*registered {
            let changes: Vec<Changed> =
                txn.changed().into_iter().filter(|changed| reaction.concerns(changed)).collect();
            if !changes.is_empty() {
                reaction.react(&changes, txn)?;
            }
        }
        Ok(())
    }
}
