//! Which statements may be prepared, and what they are.
//!
//! SQLite asks while it prepares a statement, for each thing that the statement would do. What runs for VACUUM and for a PRAGMA that
//! is used as a table is prepared while a statement runs.

use std::ffi::c_int;

use rusqlite::ffi;

use crate::shared::Shared;

/// What a statement does to transactions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Control {
    /// Nothing.
    #[default]
    None,
    Begin,
    Commit,
    Rollback,
    Savepoint,
    Release,
    RollbackTo,
}

/// What the authorizer learns of a statement.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Noted {
    pub control: Control,
    /// It makes a temporary table, index, trigger or view.
    pub makes_temporary: bool,
    /// It is allowed only while transactions stay open between texts, so it may not be kept for other texts.
    pub is_for_open: bool,
}

/// Which values a PRAGMA may be given.
enum Values {
    /// None: it is read.
    None,
    /// Any: it reads about what is named, or sets what is part of the data or lasts until the end of the transaction.
    Any,
    /// These: all others would change the connection for its next user.
    Only(&'static [&'static str]),
}

const TRUE: Values = Values::Only(&["1", "on", "true", "yes"]);
const ZERO: Values = Values::Only(&["0"]);

/// The PRAGMAs that are allowed. All others are not since they change how the connection works for its next user (`cache_size`,
/// `case_sensitive_like`), how the file is written (`journal_mode`, `page_size`), or touch what lies beneath (`writable_schema`).
const PRAGMAS: &[(&str, Values)] = &[
    // They tell of tables, indexes and what there is.
    ("table_info", Values::Any),
    ("table_xinfo", Values::Any),
    ("table_list", Values::Any),
    ("index_list", Values::Any),
    ("index_info", Values::Any),
    ("index_xinfo", Values::Any),
    ("foreign_key_list", Values::Any),
    ("collation_list", Values::None),
    ("database_list", Values::None),
    ("function_list", Values::None),
    ("module_list", Values::None),
    ("pragma_list", Values::None),
    ("compile_options", Values::None),
    // They check the data.
    ("foreign_key_check", Values::Any),
    ("integrity_check", Values::Any),
    ("quick_check", Values::Any),
    // Numbers in the first page that belong to the user.
    ("application_id", Values::Any),
    ("user_version", Values::Any),
    // Until the end of the transaction.
    ("defer_foreign_keys", Values::Any),
    // ANALYZE where it is worth it.
    ("optimize", Values::Any),
    // Clients send these, and they are so anyway.
    ("foreign_keys", TRUE),
    ("busy_timeout", ZERO),
    ("recursive_triggers", ZERO),
    // Settings and counts, to be read.
    ("analysis_limit", Values::None),
    ("auto_vacuum", Values::None),
    ("cache_size", Values::None),
    ("data_version", Values::None),
    ("encoding", Values::None),
    ("freelist_count", Values::None),
    ("journal_mode", Values::None),
    ("locking_mode", Values::None),
    ("max_page_count", Values::None),
    ("page_count", Values::None),
    ("page_size", Values::None),
    ("schema_version", Values::None),
    ("secure_delete", Values::None),
    ("synchronous", Values::None),
    ("temp_store", Values::None),
];

/// Why a PRAGMA is refused; None if it is not.
fn refused_pragma(name: &[u8], value: Option<&[u8]>) -> Option<String> {
    let shown = String::from_utf8_lossy(name);
    let Some((_, values)) = PRAGMAS.iter().find(|(known, _)| name.eq_ignore_ascii_case(known.as_bytes()))
    else {
        return Some(format!("PRAGMA {shown} is not allowed here"));
    };
    let is_allowed = match (values, value) {
        (Values::Any, _) | (_, None) => true,
        (Values::None, Some(_)) => false,
        (Values::Only(allowed), Some(value)) => {
            allowed.iter().any(|allowed| value.eq_ignore_ascii_case(allowed.as_bytes()))
        }
    };
    (!is_allowed).then(|| format!("PRAGMA {shown} may not be set to this here"))
}

fn is_foreign_keys(name: Option<&[u8]>) -> bool {
    name.is_some_and(|name| name.eq_ignore_ascii_case(b"foreign_keys"))
}

impl Shared {
    /// The authorizer: SQLite's action and the two names that go with it.
    pub fn authorize(&self, action: c_int, first: Option<&[u8]>, second: Option<&[u8]>) -> c_int {
        if self.is_internal.get() {
            return ffi::SQLITE_OK;
        }
        let refusal = match action {
            // The connection is one user's as long as transactions stay open; afterwards it is set back.
            ffi::SQLITE_PRAGMA if self.keeps_open.get() && is_foreign_keys(first) => {
                let noted = self.noted.get();
                self.noted.set(Noted { is_for_open: true, ..noted });
                None
            }
            ffi::SQLITE_PRAGMA => refused_pragma(first.unwrap_or_default(), second),
            // VACUUM attaches a temporary database, which has no name, while it runs, and detaches it.
            ffi::SQLITE_ATTACH if self.is_stepping.get() && first.is_some_and(<[u8]>::is_empty) => None,
            ffi::SQLITE_DETACH if self.is_stepping.get() => None,
            ffi::SQLITE_ATTACH if self.is_stepping.get() => Some("VACUUM INTO is not allowed here".into()),
            ffi::SQLITE_ATTACH => Some("ATTACH is not allowed here".into()),
            ffi::SQLITE_DETACH => Some("DETACH is not allowed here".into()),
            // What PRAGMA optimize would run.
            ffi::SQLITE_ANALYZE | ffi::SQLITE_INSERT | ffi::SQLITE_UPDATE | ffi::SQLITE_DELETE
                if self.is_read_only.get() && self.is_stepping.get() =>
            {
                Some("the statement changes the database, which it may not do here".into())
            }
            _ => {
                self.note(action, first, second);
                None
            }
        };
        match refusal {
            None => ffi::SQLITE_OK,
            Some(refusal) => {
                *self.refusal.borrow_mut() = Some(refusal);
                ffi::SQLITE_DENY
            }
        }
    }

    fn note(&self, action: c_int, first: Option<&[u8]>, second: Option<&[u8]>) {
        let mut noted = self.noted.get();
        match action {
            ffi::SQLITE_CREATE_TEMP_INDEX
            | ffi::SQLITE_CREATE_TEMP_TABLE
            | ffi::SQLITE_CREATE_TEMP_TRIGGER
            | ffi::SQLITE_CREATE_TEMP_VIEW => noted.makes_temporary = true,
            ffi::SQLITE_TRANSACTION => {
                noted.control = match first {
                    Some(b"BEGIN") => Control::Begin,
                    Some(b"ROLLBACK") => Control::Rollback,
                    _ => Control::Commit,
                };
            }
            ffi::SQLITE_SAVEPOINT => {
                noted.control = match first {
                    Some(b"BEGIN") => Control::Savepoint,
                    Some(b"RELEASE") => Control::Release,
                    _ => Control::RollbackTo,
                };
                let mut savepoint = self.savepoint.borrow_mut();
                savepoint.clear();
                savepoint.extend_from_slice(second.unwrap_or_default());
            }
            _ => return,
        }
        self.noted.set(noted);
    }
}

#[cfg(test)]
mod tests {
    use super::refused_pragma;

    #[test]
    fn a_pragma_that_changes_the_connection_is_let_through() {
        for (name, value) in [
            ("writable_schema", None),
            ("cache_size", Some("1")),
            ("JOURNAL_MODE", Some("off")),
            ("foreign_keys", Some("OFF")),
            ("page_size", Some("512")),
            ("case_sensitive_like", None),
            ("temp_store_directory", Some("/tmp")),
        ] {
            assert!(refused_pragma(name.as_bytes(), value.map(str::as_bytes)).is_some(), "{name}");
        }
    }

    #[test]
    fn a_pragma_that_reads_is_refused() {
        for (name, value) in [
            ("Table_Info", Some("t")),
            ("journal_mode", None),
            ("foreign_keys", Some("ON")),
            ("user_version", Some("7")),
            ("integrity_check", None),
        ] {
            assert_eq!(refused_pragma(name.as_bytes(), value.map(str::as_bytes)), None, "{name}");
        }
    }
}
