//! Payloads of SQL databases. Redis has none, so they have the form of a value of a [`module`], of a name that nobody else has.
//!
//! ```text
//! module   `edgecasql`, version 1
//! then     a number         bytes of a page
//!          a number, a string   a page: its number and its bytes, in order
//! ```

use super::module::{self, Module};
use super::reader::{Bytes, Reader};
use super::writer::check_size;
use super::{BadFormat, types};
use crate::data::{Result, sqldb};
use crate::engine::{Db, Txn};

/// The name of the form.
pub(super) const MODULE: Module = Module::of(b"edgecasql");

/// Its version.
const VERSION: u64 = 1;

/// A database that was read: the size of a page, and pages by their numbers, which ascend.
#[derive(Clone, Debug, PartialEq)]
pub struct SqlPages<'p> {
    pub(super) page_bytes: usize,
    pub(super) pages: Vec<(u32, Bytes<'p>)>,
}

pub(super) fn dump(txn: &mut Txn<'_>, db: Db, key: &[u8], out: &mut Vec<u8>, max: u64) -> Result<()> {
    let Some(database) = sqldb::open(txn, db, key)? else { return Ok(()) };
    out.push(types::MODULE);
    MODULE.put(out, VERSION);
    module::put_unsigned(out, database.page_bytes() as u64);
    database.pages(txn, &mut |page, bytes| {
        module::put_unsigned(out, u64::from(page));
        module::put_string(out, &[bytes]);
        check_size(out, max)
    })?;
    module::put_end(out);
    check_size(out, max)
}

pub(super) fn load<'p>(reader: &mut Reader<'p>, version: u64) -> super::Result<SqlPages<'p>> {
    if version != VERSION {
        return Err(BadFormat);
    }
    let page_bytes =
        usize::try_from(module::unsigned(reader)?).ok().filter(|bytes| sqldb::is_page_size(*bytes));
    let page_bytes = page_bytes.ok_or(BadFormat)?;
    let mut pages: Vec<(u32, Bytes<'p>)> = Vec::new();
    while let Some(page) = module::unsigned_or_end(reader)? {
        let page = u32::try_from(page).map_err(|_| BadFormat)?;
        let bytes = module::string(reader)?;
        if pages.last().is_some_and(|(last, _)| *last >= page) || bytes.len() != page_bytes {
            return Err(BadFormat);
        }
        pages.push((page, bytes));
    }
    if pages.is_empty() { Err(BadFormat) } else { Ok(SqlPages { page_bytes, pages }) }
}

pub(super) fn store(txn: &mut Txn<'_>, db: Db, key: &[u8], value: &SqlPages<'_>) -> Result<()> {
    let mut database = sqldb::new(db, key, value.page_bytes);
    for (page, bytes) in &value.pages {
        database.write(txn, *page, bytes)?;
    }
    Ok(())
}
