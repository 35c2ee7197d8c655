//! Paths as arguments, and what they find.

use crate::command::CommandError;
use crate::command::args::quoted;
use crate::data::json::Document;
use crate::json::node::Step;
use crate::json::path::tree::{Query, Selector};
use crate::json::path::{self, Ended, Found};
use crate::limits::{JSON_PATH_WORK_MAX, UNKNOWN_ARGUMENT_SHOWN_BYTES};
use crate::sorted;

type Result<T> = std::result::Result<T, CommandError>;

/// The way to a value.
type Steps = Vec<Step>;

/// A path of a request.
pub(super) struct Path<'a> {
    /// As it was sent.
    pub text: &'a [u8],
    query: Query,
    /// Whether it is one of RedisJSON's older form: of what it finds, one value is the reply, and not an array of all.
    pub is_legacy: bool,
}

/// The path where a request names none: the whole document.
pub(super) const ROOT: &[u8] = b".";

impl<'a> Path<'a> {
    /// Reads a path.
    ///
    /// # Errors
    /// It is none.
    pub fn read(text: &'a [u8]) -> Result<Path<'a>> {
        let is_legacy = text.first() != Some(&b'$');
        let parsed = std::str::from_utf8(text).ok().map(|path| match is_legacy {
            true => path::parse_legacy(path),
            false => path::parse(path),
        });
        match parsed {
            Some(Ok(query)) => Ok(Path { text, query, is_legacy }),
            Some(Err(fault)) => Err(CommandError::owned(format!(
                "ERR Search path error at offset {} of '{}': {}",
                fault.at,
                quoted(text, UNKNOWN_ARGUMENT_SHOWN_BYTES),
                fault.message
            ))),
            None => Err(CommandError::text("ERR a path is UTF-8")),
        }
    }

    /// Whether it is the whole document.
    pub fn is_root(&self) -> bool {
        self.query.segments.is_empty()
    }

    /// Whether it finds one value at most, so that only the pieces on the way are read.
    pub fn is_narrow(&self) -> bool {
        self.query.is_singular()
    }

    /// What it finds. A value may be found more than once.
    ///
    /// # Errors
    /// The engine's, or that it looks at too much.
    pub fn find(&self, document: &mut Document<'_, '_>) -> Result<Vec<Found>> {
        find(&self.query, document)
    }

    /// The places of what it finds, each once, parts behind what they are parts of.
    ///
    /// # Errors
    /// As for [`Path::find`].
    pub fn places(&self, document: &mut Document<'_, '_>) -> Result<Vec<Steps>> {
        places(&self.query, document)
    }

    /// Where a member stands that the path names and does not find: the objects, and its name. None if the last segment is no single name.
    ///
    /// # Errors
    /// As for [`Path::find`].
    pub fn parents(&self, document: &mut Document<'_, '_>) -> Result<Option<(Vec<Steps>, &str)>> {
        let Some((last, others)) = self.query.segments.split_last() else { return Ok(None) };
        let [Selector::Name(name)] = last.selectors.as_slice() else { return Ok(None) };
        if last.is_descendant {
            return Ok(None);
        }
        let parent = Query { is_relative: false, segments: others.to_vec() };
        Ok(Some((places(&parent, document)?, name)))
    }

    /// The error for a path that finds nothing.
    pub fn missing(&self) -> CommandError {
        CommandError::owned(format!(
            "ERR Path '{}' does not exist",
            quoted(&self.shown(), UNKNOWN_ARGUMENT_SHOWN_BYTES)
        ))
    }

    /// As RedisJSON shows it: an older path has a dollar before it.
    fn shown(&self) -> Vec<u8> {
        match self.text {
            text if !self.is_legacy => text.to_vec(),
            b"." => b"$".to_vec(),
            text if text.starts_with(b".") || text.starts_with(b"[") => [b"$", text].concat(),
            text => [b"$.", text].concat(),
        }
    }
}

/// The places of what a query finds, each once.
fn places(query: &Query, document: &mut Document<'_, '_>) -> Result<Vec<Steps>> {
    let mut places: Vec<Steps> = find(query, document)?.iter().map(|found| found.place.steps()).collect();
    sorted::plainly(&mut places);
    places.dedup();
    Ok(places)
}

fn find(query: &Query, document: &mut Document<'_, '_>) -> Result<Vec<Found>> {
    let top = document.top()?;
    let mut work = JSON_PATH_WORK_MAX;
    path::find(query, &top, document, &mut work).map_err(|ended| match ended {
        Ended::Stopped(stopped) => document.stopped(stopped).into(),
        Ended::TooMuch => CommandError::text("ERR the path looks at too many values"),
    })
}

/// The error for a key that must be there.
pub(super) const NO_KEY: CommandError =
    CommandError::text("ERR could not perform this operation on a key that doesn't exist");
