//! A cursor over argument words, with the error texts of RediSearch's argument parser.

use super::super::value::{Message, message};

/// Why a word is not as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WordError {
    /// There is none.
    Absent,
    /// It is no number.
    Unparsed,
    /// The number is too small or too large.
    OutOfBounds,
}

impl WordError {
    /// The text, with the name of what the words belong to.
    #[inline(never)]
    pub(super) fn text(self, name: &[u8]) -> Message {
        let why: &[u8] = match self {
            WordError::Absent => b"Expected an argument, but none provided",
            WordError::Unparsed => b"Could not convert argument to expected type",
            WordError::OutOfBounds => b"Value is outside acceptable bounds",
        };
        message(&[b"Bad arguments for ", name, b": ", why])
    }
}

/// Words, from the front. What nearly every option calls is kept out of line: inlined, it makes the parser three times as large.
#[derive(Clone, Copy)]
pub(super) struct Words<'a> {
    all: &'a [&'a [u8]],
    at: usize,
}

impl<'a> Words<'a> {
    pub(super) fn new(all: &'a [&'a [u8]]) -> Self {
        Self { all, at: 0 }
    }

    pub(super) fn rest(&self) -> &'a [&'a [u8]] {
        self.all.get(self.at..).unwrap_or_default()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rest().is_empty()
    }

    /// How many words were taken.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn next(&mut self) -> Option<&'a [u8]> {
        let word = self.rest().first()?;
        self.at += 1;
        Some(word)
    }

    /// Takes the next word if it is this keyword, in any case.
    #[inline(never)]
    pub(super) fn take(&mut self, keyword: &str) -> bool {
        let is_next = self.rest().first().is_some_and(|word| word.eq_ignore_ascii_case(keyword.as_bytes()));
        self.at += usize::from(is_next);
        is_next
    }

    /// A whole number of at least `least`.
    #[inline(never)]
    pub(super) fn number(&mut self, least: u64) -> Result<u64, WordError> {
        let word = self.rest().first().ok_or(WordError::Absent)?;
        let number = match crate::number::parse_u64(word) {
            Some(number) => number,
            None if crate::number::parse_i64(word).is_some() => return Err(WordError::OutOfBounds),
            None => return Err(WordError::Unparsed),
        };
        if number < least {
            return Err(WordError::OutOfBounds);
        }
        self.at += 1;
        Ok(number)
    }

    /// A count, and so many words.
    #[inline(never)]
    pub(super) fn counted(&mut self) -> Result<&'a [&'a [u8]], WordError> {
        let start = self.at;
        let count = self.number(0)?;
        let words = usize::try_from(count).ok().and_then(|count| self.rest().get(..count));
        match words {
            Some(words) => {
                self.at += words.len();
                Ok(words)
            }
            None => {
                self.at = start;
                Err(WordError::Absent)
            }
        }
    }
}
