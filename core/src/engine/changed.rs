//! What a transaction has changed so far, as reactions and the feed see it.

use std::ops::ControlFlow;

use super::key_state::{DbChange, PendingRoot, Source};
use super::overlay::Overlay;
use super::{Db, Result, Root, SubChange, Txn};

/// A key that a transaction has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The database that shows the key after the transaction.
    pub db: Db,
    /// The key.
    pub key: Vec<u8>,
    /// Its root before the transaction, expired or not.
    pub old: Option<Root>,
    /// Its root after it; equal to the old one if only subkeys changed.
    pub new: Option<Root>,
    /// How many subkeys were put or removed one by one. Those that went with the whole key are not counted.
    pub changed_subkeys: u64,
}

impl Overlay {
    /// The database that shows what is in a source, if one does.
    fn database_of(&self, source: Source) -> Option<Db> {
        let moved = self.db_changes().iter().find(|change| change.source == source).map(|change| change.db);
        moved.or(match source {
            Source::Base(db) if self.db_changes().iter().all(|change| change.db != db) => Some(db),
            _ => None,
        })
    }

    /// What has become of the key at a place, if it was changed.
    pub(super) fn changed_at(&self, at: usize) -> Option<Changed> {
        let state = self.keys.get(at).filter(|state| self.is_changed(state))?;
        let new = match state.root {
            PendingRoot::Unchanged => state.base,
            _ => state.pending_root(self.touch()),
        };
        Some(Changed {
            db: self.database_of(state.source)?,
            key: self.bytes(state.key).to_vec(),
            old: state.base,
            new,
            changed_subkeys: state.subs.len() as u64,
        })
    }

    /// The changed keys. Those that were only emptied or moved with their database are not among them.
    pub fn changed(&self) -> Vec<Changed> {
        (0..self.keys.len()).filter_map(|at| self.changed_at(at)).collect()
    }

    /// How many changes INFO shows for the commit: the changed subkeys of each key, or one if only its root changes, and one
    /// for each database that shows another source.
    pub fn change_count(&self) -> u64 {
        let keys = self.keys.iter().filter(|state| self.is_changed(state));
        keys.map(|state| state.subs.len().max(1) as u64).sum::<u64>() + self.db_changes().len() as u64
    }
}

impl Txn<'_> {
    /// How many keys were looked for and found, and how many not, of those that were new to the transaction since it had
    /// seen so many ([`Txn::keys_seen`]).
    pub fn lookups_since(&self, seen: usize) -> (u64, u64) {
        let new = self.overlay.keys.get(seen..).unwrap_or_default();
        let looked = new.iter().filter(|state| !state.is_blind).count();
        let hits = new.iter().filter(|state| state.base.is_some()).count();
        (hits as u64, (looked - hits) as u64)
    }

    /// Whether a commit would change nothing.
    pub fn is_unchanged(&self) -> bool {
        self.overlay.is_empty()
    }

    /// The databases that show other keys after the transaction than before.
    pub fn db_changes(&self) -> &[DbChange] {
        self.overlay.db_changes()
    }

    /// Whether a key has the subkeys that it had before the transaction, but for those that were changed one by one.
    pub fn keeps_subkeys(&self, db: Db, key: &[u8]) -> bool {
        let at = self.overlay.find(self.overlay.source(db), key);
        let state = at.and_then(|at| self.overlay.keys.get(at));
        let roots = state.and_then(|state| state.base.zip(state.subkeys_of));
        roots.is_some_and(|(base, of)| base.place == of.place && base.collection == of.collection)
    }

    /// The keys that the transaction has changed so far.
    pub fn changed(&self) -> Vec<Changed> {
        self.overlay.changed()
    }

    /// Whether the transaction has changed a key of this kind so far.
    pub fn has_changed(&self, is_meant: impl Fn(&[u8]) -> bool) -> bool {
        let overlay = &*self.overlay;
        overlay.keys.iter().any(|state| is_meant(overlay.bytes(state.key)) && overlay.is_changed(state))
    }

    /// What has become of a key so far; None if it was not changed.
    pub fn change_of(&self, db: Db, key: &[u8]) -> Option<Changed> {
        let at = self.overlay.find(self.overlay.source(db), key)?;
        self.overlay.changed_at(at)
    }

    /// The root that a key had before the transaction, expired or not.
    ///
    /// # Errors
    /// Those of looking for it.
    pub fn old_root(&mut self, db: Db, key: &[u8]) -> Result<Option<Root>> {
        let at = self.state(db, key)?;
        Ok(self.overlay.keys.get(at).and_then(|state| state.base))
    }

    /// Shows the changed subkeys of a key in order.
    pub fn changed_subkeys(
        &self,
        db: Db,
        key: &[u8],
        visit: &mut dyn FnMut(&[u8], &SubChange) -> ControlFlow<()>,
    ) {
        let Some(at) = self.overlay.find(self.overlay.source(db), key) else { return };
        let Some(state) = self.overlay.keys.get(at) else { return };
        for (subkey, change) in &state.subs {
            if visit(subkey, change).is_break() {
                return;
            }
        }
    }

    /// Shows the value that a subkey had before the transaction; false if it was not there.
    ///
    /// # Errors
    /// Those of reading it.
    pub fn old_subkey(&mut self, old: &Root, subkey: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        self.reader.sub_read(old, subkey, visit)
    }

    /// Shows the value that a root had before the transaction. One in a blob is not shown.
    ///
    /// # Errors
    /// Those of reading it, and [`EngineError::TooLarge`](super::EngineError::TooLarge) for a blob.
    pub fn old_value(&mut self, old: &Root, visit: &mut dyn FnMut(&[u8])) -> Result<()> {
        if old.blob.is_some() {
            return Err(super::EngineError::TooLarge(old.value_len));
        }
        if let Some(short) = &old.short {
            visit(short.as_bytes());
            return Ok(());
        }
        self.budget.ask(1, old.value_len)?;
        self.reader.read_value(old, (0, old.value_len), visit)
    }
}
