//! Arguments that came as blobs.

use std::sync::Arc;

use super::{Draft, EngineError};

/// The arguments of one request that were written to blobs while they arrived; in the request they stand empty.
///
/// A run borrows them, so that it can be thrown away and repeated: a draft is removed when neither the request nor a
/// transaction has it any more.
#[derive(Debug, Default)]
pub struct Drafts(Vec<(usize, Result<Arc<Draft>, EngineError>)>);

impl Drafts {
    /// None.
    pub const fn new() -> Drafts {
        Drafts(Vec::new())
    }

    /// Adds an argument by its number, or why it could not be written.
    pub fn push(&mut self, number: usize, draft: Result<Draft, EngineError>) {
        self.0.push((number, draft.map(Arc::new)));
    }

    /// Whether all arguments are in the request itself.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Why the request cannot be carried out, if an argument could not be written.
    pub fn failure(&self) -> Option<&EngineError> {
        self.0.iter().find_map(|(_, draft)| draft.as_ref().err())
    }

    /// An argument by its number.
    pub fn get(&self, number: usize) -> Option<Arc<Draft>> {
        let (_, draft) = self.0.iter().find(|(its_number, _)| *its_number == number)?;
        draft.as_ref().ok().cloned()
    }

    /// Forgets all; the blobs that no transaction has taken are removed.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}
