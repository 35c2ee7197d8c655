//! The parameters of a text, spread over its statements.

use std::ffi::c_int;

use edgecask_core::sql::{Parameter, SqlError};
use rusqlite::ffi;

use crate::ffi::Statement;

/// The parameters that are left for the statements to come.
pub(crate) struct Parameters<'a> {
    all: &'a [Parameter<'a>],
    /// How many of those without a name are used.
    used: usize,
    /// How many there are.
    placed: usize,
}

impl<'a> Parameters<'a> {
    pub fn new(all: &'a [Parameter<'a>]) -> Parameters<'a> {
        Parameters { all, used: 0, placed: all.iter().filter(|one| one.name.is_none()).count() }
    }

    /// Binds the parameters of a statement. One that the statement names, and that was given by this name, gets that; all others get
    /// the next ones that have no name, `?3` the third of the statement's.
    ///
    /// After the last statement none without a name may be left. A name that no statement has does no harm.
    pub fn bind(&mut self, statement: &mut Statement, is_last: bool) -> Result<(), SqlError> {
        let count = statement.parameter_count();
        let mut named = 0;
        for number in 1..=count {
            let by_name = statement.parameter_name(number).and_then(|name| self.named(name));
            if let Some(parameter) = by_name {
                named += 1;
                statement.bind(number, parameter.value)?;
                continue;
            }
            let place = self.used + usize::try_from(number - 1 - named).unwrap_or(0);
            match self.placed(place) {
                Some(parameter) => statement.bind(number, parameter.value)?,
                None => return Err(self.too_few(statement, number)),
            }
        }
        self.used += usize::try_from(count - named).unwrap_or(0);
        if is_last && self.used < self.placed {
            return Err(range_error(format!(
                "{} parameters are given, but the statements take {}",
                self.placed, self.used
            )));
        }
        Ok(())
    }

    fn named(&self, name: &[u8]) -> Option<&'a Parameter<'a>> {
        let (first, bare) = name.split_first()?;
        if *first == b'?' {
            return None;
        }
        self.all.iter().find(|one| one.name.is_some_and(|given| given == name || given == bare))
    }

    fn placed(&self, place: usize) -> Option<&'a Parameter<'a>> {
        if self.placed == self.all.len() {
            return self.all.get(place);
        }
        self.all.iter().filter(|one| one.name.is_none()).nth(place)
    }

    fn too_few(&self, statement: &Statement, number: c_int) -> SqlError {
        match statement.parameter_name(number) {
            Some(name) if !name.starts_with(b"?") => {
                range_error(format!("no value is given for the parameter {}", String::from_utf8_lossy(name)))
            }
            _ => range_error(format!("{} parameters are given, but the statements take more", self.placed)),
        }
    }
}

fn range_error(message: String) -> SqlError {
    SqlError::Failed { code: ffi::SQLITE_RANGE, message, offset: None }
}
