//! What one transaction changes of indexes, until its commit.

use std::sync::Arc;

use super::{Change, Contents, Index, Indexes, Progress};
use crate::search::index::{DocumentId, Prepared};
use crate::server::hub::Interest;

/// One document that comes, goes or gets another expiry in one index.
#[derive(Debug)]
pub struct DocumentChange {
    /// The index.
    pub index: Arc<Index>,
    /// The document that is no more: the older state of the key.
    pub removed: Option<DocumentId>,
    /// The document that comes.
    pub added: Option<Prepared>,
    /// The expiry that the removed document had, or the one whose expiry changes.
    pub old_expiry: Option<u64>,
    /// The expiry of the document that comes, or the new one.
    pub new_expiry: Option<u64>,
    /// The document of which only the expiry changes.
    pub kept: Option<DocumentId>,
}

/// The changes of one transaction. They happen in the engine's callback at the place of the commit, under the locks of the transaction.
#[derive(Debug, Default)]
pub struct IndexWork {
    /// Indexes that come, change and go.
    pub changes: Vec<Change>,
    /// Documents, in the order of their changes.
    pub documents: Vec<DocumentChange>,
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
        for change in self.documents.drain(..) {
            let index = change.index.clone();
            let grown = index.contents.apply(change);
            indexes.note_memory(grown);
        }
    }
}
