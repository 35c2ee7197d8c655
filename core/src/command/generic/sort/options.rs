//! The options of SORT.

use std::ops::Range;

use super::pattern::Pattern;
use crate::command::CommandError;
use crate::command::args::{integer, is_option};

/// What the elements are ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By<'a> {
    /// Themselves.
    Element,
    /// The values of keys that they name.
    Pattern(Pattern<'a>),
    /// Not at all: the pattern names the same key for all.
    Nothing,
}

/// All of them; of options given twice the later counts, except that every GET counts.
#[derive(Debug)]
pub(super) struct Options<'a> {
    pub by: By<'a>,
    pub descending: bool,
    pub by_text: bool,
    pub gets: Vec<Pattern<'a>>,
    pub store: Option<&'a [u8]>,
    /// Offset and count, either of which may be negative.
    limit: (i64, i64),
}

impl<'a> Options<'a> {
    /// Reads what follows the key. Where the request may store, `catalog` finds the destination by the same rules.
    /// `reads_all` says whether the user may read keys that only the elements name.
    pub fn parse(
        mut rest: &[&'a [u8]],
        may_store: bool,
        reads_all: bool,
    ) -> Result<Options<'a>, CommandError> {
        let mut options = Options {
            by: By::Element,
            descending: false,
            by_text: false,
            gets: Vec::new(),
            store: None,
            limit: (0, -1),
        };
        while let [word, after @ ..] = rest {
            rest = match after {
                _ if is_option(word, "ASC") || is_option(word, "DESC") => {
                    options.descending = is_option(word, "DESC");
                    after
                }
                _ if is_option(word, "ALPHA") => {
                    options.by_text = true;
                    after
                }
                [offset, count, after @ ..] if is_option(word, "LIMIT") => {
                    options.limit = (integer(offset)?, integer(count)?);
                    after
                }
                [destination, after @ ..] if may_store && is_option(word, "STORE") => {
                    options.store = Some(destination);
                    after
                }
                [pattern, after @ ..] if is_option(word, "BY") => {
                    let pattern = Pattern::new(pattern);
                    if pattern.has_star() && !reads_all {
                        return Err(denied("BY"));
                    }
                    // A pattern without a star is not undone by a later one.
                    options.by = match options.by {
                        By::Element | By::Pattern(_) if pattern.has_star() => By::Pattern(pattern),
                        _ => By::Nothing,
                    };
                    after
                }
                [_, ..] if is_option(word, "GET") && !reads_all => return Err(denied("GET")),
                [pattern, after @ ..] if is_option(word, "GET") => {
                    options.gets.push(Pattern::new(pattern));
                    after
                }
                _ => return Err(CommandError::SYNTAX),
            };
        }
        Ok(options)
    }

    /// The part of `len` elements that LIMIT leaves.
    pub fn window(&self, len: u64) -> Range<u64> {
        let start = u64::try_from(self.limit.0).unwrap_or(0).min(len);
        let count = u64::try_from(self.limit.1).unwrap_or(u64::MAX);
        start..start.saturating_add(count).min(len)
    }

    /// The elements that LIMIT leaves.
    pub fn cut(&self, mut elements: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
        let window = self.window(elements.len() as u64);
        // Within the length of the vector.
        elements.truncate(window.end as usize);
        elements.drain(..window.start as usize);
        elements
    }
}

fn denied(option: &str) -> CommandError {
    CommandError::owned(format!("ERR {option} option of SORT denied due to insufficient ACL permissions."))
}
