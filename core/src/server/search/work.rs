//! What one transaction changes of indexes, until its commit.

use std::sync::Arc;

use super::{Change, Contents, DocumentChange, Index, Indexes, Progress};
use crate::server::hub::Interest;

/// The changes of one transaction. They happen in the engine's callback at the place of the commit, under the locks of the transaction.
#[derive(Debug, Default)]
pub struct IndexWork {
    /// Indexes that come, change and go.
    pub changes: Vec<Change>,
    /// Documents and their indexes, in the order of the changes.
    pub documents: Vec<(Arc<Index>, DocumentChange)>,
    /// How far indexes are from then on.
    pub progress: Vec<(Arc<Contents>, Progress)>,
}

impl IndexWork {
    /// Whether there is nothing.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.documents.is_empty() && self.progress.is_empty()
    }

    /// Forgets everything: the run is thrown away.
    #[inline]
    pub fn clear(&mut self) {
        if !self.is_empty() {
            self.changes.clear();
            self.documents.clear();
            self.progress.clear();
        }
    }

    /// The transaction is committed.
    #[inline]
    pub fn committed(&mut self, indexes: &Indexes, interest: &Interest) {
        if !self.is_empty() {
            self.happen(indexes, interest);
        }
    }

    #[inline(never)]
    fn happen(&mut self, indexes: &Indexes, interest: &Interest) {
        if !self.changes.is_empty() {
            indexes.apply(interest, &self.changes);
            self.changes.clear();
        }
        for (contents, progress) in self.progress.drain(..) {
            contents.set_progress(progress);
        }
        for (index, change) in self.documents.drain(..) {
            let grown = index.contents.apply(change);
            indexes.note_memory(grown);
        }
    }
}
