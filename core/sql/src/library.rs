//! Functions of the server's libraries, which a connection learns of when a statement names one that SQLite does not know.
//!
//! A call goes to the host by the function's name. So a function that was replaced is called as it is now, and one that is gone is an error;
//! but whether SQLite may take it for deterministic is fixed when it is added. All are forgotten when a library has changed since.

use std::ffi::CString;

use edgecask_core::sql::{SqlError, SqlValue};
use rusqlite::ffi::SQLITE_ERROR;
use smallvec::SmallVec;

use crate::ffi::Database;
use crate::function::{Output, answer_call, argument_text};
use crate::limits::LIBRARY_FUNCTIONS_MAX;
use crate::shared::Shared;

/// The functions of libraries that a connection knows.
#[derive(Default)]
pub(crate) struct Known {
    names: Vec<CString>,
    /// The state of the libraries when the first of them was added.
    state: Option<u64>,
}

impl Known {
    /// Forgets all functions if a library has changed. To be called while no statement runs.
    pub fn refresh(&mut self, database: &Database) {
        if self.names.is_empty() {
            return;
        }
        let state = database.shared().lease.with(|host| host.library_state()).flatten();
        if state.is_none() || state != self.state || self.names.len() > LIBRARY_FUNCTIONS_MAX / 2 {
            self.forget(database);
        }
    }

    /// Forgets all functions. Statements that use one ask again.
    pub fn forget(&mut self, database: &Database) {
        self.names.drain(..).for_each(|name| database.remove_function(&name));
    }

    /// Adds the function for want of which a statement could not be prepared; false if the error is another one, or there is no such
    /// function.
    pub fn add_missing(&mut self, database: &Database, error: &SqlError) -> bool {
        let SqlError::Failed { code: SQLITE_ERROR, message, .. } = error else { return false };
        let Some(name) = missing(message) else { return false };
        let Ok(name) = CString::new(name.to_ascii_lowercase()) else { return false };
        if self.names.contains(&name) || self.names.len() >= LIBRARY_FUNCTIONS_MAX {
            return false;
        }
        let shared = database.shared();
        let asked = shared.lease.with(|host| (host.library_function(name.as_bytes()), host.library_state()));
        let Some((Some(function), state)) = asked else { return false };
        if self.names.is_empty() {
            self.state = state;
        }
        if database.add_function(&name, function.is_deterministic).is_err() {
            return false;
        }
        self.names.push(name);
        true
    }
}

/// The function that SQLite does not know, by its words: the first for what a statement says, the second for what the schema says.
fn missing(message: &str) -> Option<&str> {
    let (_, rest) =
        message.split_once("no such function: ").or_else(|| message.split_once("unknown function: "))?;
    Some(rest.strip_suffix("()").unwrap_or(rest))
}

/// Calls a function of a library. With an argument that is NULL its value is NULL, as texts cannot say that.
pub(crate) fn call(shared: &Shared, name: &[u8], arguments: &[SqlValue<'_>], out: &mut dyn Output) {
    let mut texts: SmallVec<[SmallVec<[u8; 32]>; 8]> = SmallVec::new();
    for argument in arguments {
        let Some(text) = argument_text(*argument) else {
            return out.value(SqlValue::Null);
        };
        texts.push(text);
    }
    let texts: SmallVec<[&[u8]; 8]> = texts.iter().map(SmallVec::as_slice).collect();
    answer_call(shared, out, |host, reply| host.call_function(name, &texts, reply));
}

#[cfg(test)]
mod tests {
    use super::missing;

    #[test]
    fn a_function_is_not_asked_for() {
        for (message, name) in [
            ("no such function: f", Some("f")),
            ("unknown function: f()", Some("f")),
            ("error in trigger t: no such function: f", Some("f")),
            ("no such table: f", None),
        ] {
            assert_eq!(missing(message), name, "{message}");
        }
    }
}
