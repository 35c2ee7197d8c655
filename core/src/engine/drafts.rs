//! Arguments that came as blobs.

use super::{Draft, EngineError};

/// The arguments of one request that were written to blobs while they arrived; in the request they stand empty.
#[derive(Debug, Default)]
pub struct Drafts(Vec<(usize, Result<Draft, EngineError>)>);

impl Drafts {
    /// None.
    pub const fn new() -> Drafts {
        Drafts(Vec::new())
    }

    /// Adds an argument by its number, or why it could not be written.
    pub fn push(&mut self, number: usize, draft: Result<Draft, EngineError>) {
        self.0.push((number, draft));
    }

    /// Whether all arguments are in the request itself.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Why the request cannot be carried out, if an argument could not be written.
    pub fn failure(&self) -> Option<&EngineError> {
        self.0.iter().find_map(|(_, draft)| draft.as_ref().err())
    }

    /// Takes an argument out.
    pub fn take(&mut self, number: usize) -> Option<Draft> {
        let at = self.0.iter().position(|(its_number, _)| *its_number == number)?;
        self.0.swap_remove(at).1.ok()
    }

    /// Removes the blobs that were not taken.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}
