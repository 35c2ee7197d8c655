//! Statements that stay prepared, by the text that they came from.
//!
//! A text whose tables changed since needs nothing here: SQLite prepares such a statement again by itself.

use std::collections::HashMap;

use crate::authorizer::Noted;
use crate::ffi::Statement;
use crate::limits::{CACHED_STATEMENT_BYTES_MAX, CACHED_TEXT_BYTES_MAX, CACHED_TEXTS_MAX};

/// A statement of a text.
pub(crate) struct Prepared {
    pub statement: Statement,
    pub noted: Noted,
    /// The name of the savepoint that it begins, releases or goes back to.
    pub savepoint: Vec<u8>,
    /// Where it begins in the text.
    pub begin: usize,
    /// Where it ends.
    pub end: usize,
}

struct Entry {
    statements: Vec<Prepared>,
    bytes: usize,
    /// When it was used last, by the count of uses.
    used: u64,
}

#[derive(Default)]
pub(crate) struct Cache {
    entries: HashMap<Box<[u8]>, Entry>,
    bytes: usize,
    uses: u64,
}

impl Cache {
    /// Whether the statements of a text may be kept.
    pub fn may_keep(text: &[u8]) -> bool {
        text.len() <= CACHED_TEXT_BYTES_MAX
    }

    /// The statements of a text, all of them; they are to be [given back](Self::put).
    pub fn take(&mut self, text: &[u8]) -> Option<Vec<Prepared>> {
        if !Cache::may_keep(text) {
            return None;
        }
        self.uses += 1;
        let entry = self.entries.get_mut(text)?;
        entry.used = self.uses;
        (!entry.statements.is_empty()).then(|| std::mem::take(&mut entry.statements))
    }

    /// Keeps all statements of a text, reset and without parameters, if there is room, for which the longest unused ones go.
    pub fn put(&mut self, text: &[u8], statements: Vec<Prepared>) {
        if let Some(entry) = self.entries.get_mut(text) {
            entry.statements = statements;
            return;
        }
        let bytes = text.len() + statements.iter().map(|one| one.statement.memory_bytes()).sum::<usize>();
        if !Cache::may_keep(text) || bytes > CACHED_STATEMENT_BYTES_MAX || statements.is_empty() {
            return;
        }
        while self.entries.len() >= CACHED_TEXTS_MAX || self.bytes + bytes > CACHED_STATEMENT_BYTES_MAX {
            let oldest =
                self.entries.iter().min_by_key(|(_, entry)| entry.used).map(|(text, _)| text.clone());
            let Some(oldest) = oldest else { break };
            self.drop_entry(&oldest);
        }
        self.bytes += bytes;
        self.entries.insert(text.into(), Entry { statements, bytes, used: self.uses });
    }

    fn drop_entry(&mut self, text: &[u8]) {
        if let Some(entry) = self.entries.remove(text) {
            self.bytes = self.bytes.saturating_sub(entry.bytes);
        }
    }
}
