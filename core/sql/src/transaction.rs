//! Transactions of a text with several statements.
//!
//! Such a text runs in one transaction of SQLite, so that it is atomic. What it begins and ends itself is a savepoint in that: BEGIN
//! sets it, COMMIT releases it, ROLLBACK goes back to it, and the first savepoint outside a BEGIN sets it as well, since SQLite begins
//! a transaction there. So a text with several transactions is atomic too. A deferred foreign key is checked at the end of the text
//! and not at its COMMIT, which fails the text all the same.

use std::ffi::CStr;

use edgecask_core::sql::SqlError;
use rusqlite::ffi;

use crate::authorizer::Control;
use crate::cache::Prepared;
use crate::ffi::Database;

const SET: &CStr = c"SAVEPOINT edgecask_text";
const RELEASE: &CStr = c"RELEASE edgecask_text";
const GO_BACK: &CStr = c"ROLLBACK TO edgecask_text";

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Begun {
    #[default]
    No,
    ByBegin,
    BySavepoint,
}

/// Which transactions the text itself has open.
#[derive(Default)]
pub(crate) struct Transactions {
    begun: Begun,
    /// The names of its savepoints, the outermost first.
    savepoints: Vec<Vec<u8>>,
}

/// What to do with a statement.
#[derive(PartialEq, Eq)]
pub(crate) enum Then {
    Run,
    /// It is done.
    Skip,
}

impl Transactions {
    /// To be called before a statement runs.
    pub fn before(&mut self, database: &Database, prepared: &Prepared) -> Result<Then, SqlError> {
        match (prepared.noted.control, self.begun) {
            (Control::Begin, Begun::No) => {
                database.execute(SET)?;
                self.begun = Begun::ByBegin;
                Ok(Then::Skip)
            }
            (Control::Begin, _) => Err(error("cannot start a transaction within a transaction")),
            (Control::Commit, Begun::No) => Err(error("cannot commit - no transaction is active")),
            (Control::Rollback, Begun::No) => Err(error("cannot rollback - no transaction is active")),
            (Control::Commit, _) => self.end(database),
            (Control::Rollback, _) => {
                database.execute(GO_BACK)?;
                self.end(database)
            }
            (Control::Savepoint, Begun::No) => {
                database.execute(SET)?;
                self.begun = Begun::BySavepoint;
                Ok(Then::Run)
            }
            _ => Ok(Then::Run),
        }
    }

    /// To be called after one has run.
    pub fn after(&mut self, database: &Database, prepared: &Prepared) -> Result<(), SqlError> {
        let name = &prepared.savepoint;
        let place = || self.savepoints.iter().rposition(|open| open.eq_ignore_ascii_case(name));
        match prepared.noted.control {
            Control::Savepoint => self.savepoints.push(name.clone()),
            Control::RollbackTo => {
                if let Some(place) = place() {
                    self.savepoints.truncate(place + 1);
                }
            }
            Control::Release => {
                if let Some(place) = place() {
                    self.savepoints.truncate(place);
                }
                if self.savepoints.is_empty() && self.begun == Begun::BySavepoint {
                    self.end(database)?;
                }
            }
            Control::None | Control::Begin | Control::Commit | Control::Rollback => {}
        }
        Ok(())
    }

    fn end(&mut self, database: &Database) -> Result<Then, SqlError> {
        database.execute(RELEASE)?;
        self.begun = Begun::No;
        self.savepoints.clear();
        Ok(Then::Skip)
    }

    /// Whether the text has ended all that it began.
    pub fn are_ended(&self) -> bool {
        self.begun == Begun::No
    }
}

fn error(message: &str) -> SqlError {
    SqlError::Failed { code: ffi::SQLITE_ERROR, message: message.into(), offset: None }
}

/// The error of a text that ends within a transaction.
pub(crate) fn left_open() -> SqlError {
    error("the text begins a transaction and does not end it, so it was rolled back")
}
