//! Payloads of suggestions: RediSearch's own, so that suggestions come and go between the two.
//!
//! ```text
//! module   `trietype0`, version 0 to 2; 1 is written
//! then     a number         how many suggestions
//!          a string         a text and a zero byte
//!          a double         its score
//!          a string         its payload, which may be empty, and a zero byte; from version 1 on
//!          a number         that means nothing here; in version 2
//! ```

use std::borrow::Cow;

use super::module::{self, Module};
use super::reader::{Bytes, Reader, are_distinct};
use super::writer::check_size;
use super::{BadFormat, types};
use crate::data::{Result, suggestions};
use crate::engine::{Db, Txn};
use crate::memory_budget::Gathered;

/// The name of the form.
pub(super) const MODULE: Module = Module::of(b"trietype0");

/// The version that is written: all RediSearch since 1.4 read it.
const VERSION: u64 = 1;

/// The newest version that is read.
const VERSION_MAX: u64 = 2;

/// The zero byte behind a string.
const END: &[u8] = &[0];

/// A suggestion that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Suggestion<'p> {
    pub(super) text: Bytes<'p>,
    pub(super) score: f64,
    pub(super) payload: Bytes<'p>,
}

pub(super) fn dump(txn: &mut Txn<'_>, db: Db, key: &[u8], out: &mut Vec<u8>, max: u64) -> Result<()> {
    out.push(types::MODULE);
    MODULE.put(out, VERSION);
    module::put_unsigned(out, suggestions::len(txn, db, key)?);
    suggestions::each(txn, db, key, &mut |text, score, payload| {
        module::put_string(out, &[text, END]);
        module::put_double(out, score);
        module::put_string(out, &[payload, END]);
        check_size(out, max)
    })?;
    module::put_end(out);
    check_size(out, max)
}

pub(super) fn load<'p>(reader: &mut Reader<'p>, version: u64) -> super::Result<Vec<Suggestion<'p>>> {
    if version > VERSION_MAX {
        return Err(BadFormat);
    }
    let mut all = Gathered::within(reader.share);
    for _ in 0..module::unsigned(reader)? {
        let text = before_zero(module::string(reader)?)?;
        let score = module::double(reader)?;
        let payload =
            if version > 0 { before_zero(module::string(reader)?)? } else { Cow::Borrowed(&[][..]) };
        if version > 1 {
            module::unsigned(reader)?;
        }
        all.push_with(0, || Suggestion { text, score, payload });
    }
    let all = all.all()?;
    let is_sound =
        |suggestion: &Suggestion<'_>| suggestions::is_text(&suggestion.text) && suggestion.score.is_finite();
    let is_sound =
        !all.is_empty() && all.iter().all(is_sound) && are_distinct(all.iter().map(|one| &one.text));
    if is_sound && module::unsigned_or_end(reader)?.is_none() { Ok(all) } else { Err(BadFormat) }
}

/// A string without the zero byte behind it.
fn before_zero(string: Bytes<'_>) -> super::Result<Bytes<'_>> {
    match string {
        Cow::Borrowed(bytes) => bytes.strip_suffix(END).map(Cow::Borrowed).ok_or(BadFormat),
        Cow::Owned(mut bytes) => bytes.pop_if(|byte| *byte == 0).map(|_| Cow::Owned(bytes)).ok_or(BadFormat),
    }
}

pub(super) fn store(txn: &mut Txn<'_>, db: Db, key: &[u8], value: &[Suggestion<'_>]) -> Result<()> {
    for Suggestion { text, score, payload } in value {
        let root = suggestions::root(txn, db, key)?;
        suggestions::put(txn, (db, key), root.as_ref(), (text, *score, payload))?;
    }
    Ok(())
}
