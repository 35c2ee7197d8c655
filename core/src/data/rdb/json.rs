//! Payloads of JSON documents: RedisJSON's own, so that documents come and go between the two.
//!
//! ```text
//! module   `ReJSON-RL`, version 3
//! then     a string         the document as text
//! ```

use super::module::{self, Module};
use super::reader::Reader;
use super::writer::check_size;
use super::{BadFormat, types};
use crate::data::Result;
use crate::data::json::Document;
use crate::engine::{Db, Txn};
use crate::json::text;

/// The name of the form.
pub(super) const MODULE: Module = Module::of(b"ReJSON-RL");

/// The version that all RedisJSON since 2.0 write.
const VERSION: u64 = 3;

pub(super) fn dump(txn: &mut Txn<'_>, db: Db, key: &[u8], out: &mut Vec<u8>, max: u64) -> Result<()> {
    let Some(mut document) = Document::open(txn, db, key)? else { return Ok(()) };
    out.push(types::MODULE);
    MODULE.put(out, VERSION);
    module::put_string(out, &[&document.text()?]);
    module::put_end(out);
    check_size(out, max)
}

/// The document, packed.
pub(super) fn load(reader: &mut Reader<'_>, version: u64) -> super::Result<Vec<u8>> {
    if version != VERSION {
        return Err(BadFormat);
    }
    let text = module::string(reader)?;
    let parsed = text::parse(&text).map_err(|_| BadFormat)?;
    if module::unsigned_or_end(reader)?.is_none() { Ok(parsed.packed) } else { Err(BadFormat) }
}
