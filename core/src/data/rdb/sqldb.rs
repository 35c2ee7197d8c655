//! Payloads of SQL databases. Redis has none, so they have the form of a value of a module, of a name that nobody else has:
//! what reads payloads can tell where such a value ends, and a Redis says that it lacks the module.
//!
//! ```text
//! module   count           the name `edgecasql` in 9 times 6 bits, and version 1 in the last 10
//! then     02 count        bytes of a page
//!          02 count 05 string   a page: its number and its bytes, in order
//!          00              the end
//! ```

use super::reader::{Bytes, Reader};
use super::writer::{check_size, put_count};
use super::{BadFormat, types};
use crate::data::{Result, sqldb};
use crate::engine::{Db, Txn};

/// The name and the version of the form.
const MODULE: u64 = module(b"edgecasql", 1);

/// What comes next in a value of a module.
mod parts {
    pub const END: u64 = 0;
    pub const UNSIGNED: u64 = 2;
    pub const STRING: u64 = 5;
}

/// A database that was read: the size of a page, and pages by their numbers, which ascend.
#[derive(Clone, Debug, PartialEq)]
pub struct SqlPages<'p> {
    pub(super) page_bytes: usize,
    pub(super) pages: Vec<(u32, Bytes<'p>)>,
}

/// The number that Redis makes of the name of a type and its version.
const fn module(name: &[u8; 9], version: u64) -> u64 {
    let (mut number, mut at) = (0, 0);
    while at < name.len() {
        // A to Z, a to z, 0 to 9, -, _ are 0 to 63; this name has small letters only.
        number = number << 6 | (name[at] - b'a' + 26) as u64;
        at += 1;
    }
    number << 10 | version
}

pub(super) fn dump(txn: &mut Txn<'_>, db: Db, key: &[u8], out: &mut Vec<u8>, max: u64) -> Result<()> {
    let Some(database) = sqldb::open(txn, db, key)? else { return Ok(()) };
    out.push(types::MODULE);
    put_count(out, MODULE);
    put_count(out, parts::UNSIGNED);
    put_count(out, database.page_bytes() as u64);
    database.pages(txn, &mut |page, bytes| {
        put_count(out, parts::UNSIGNED);
        put_count(out, u64::from(page));
        put_count(out, parts::STRING);
        put_count(out, bytes.len() as u64);
        out.extend_from_slice(bytes);
        check_size(out, max)
    })?;
    put_count(out, parts::END);
    check_size(out, max)
}

pub(super) fn load<'p>(reader: &mut Reader<'p>) -> super::Result<SqlPages<'p>> {
    if reader.count()? != MODULE || reader.count()? != parts::UNSIGNED {
        return Err(BadFormat);
    }
    let page_bytes = usize::try_from(reader.count()?).ok().filter(|bytes| sqldb::is_page_size(*bytes));
    let page_bytes = page_bytes.ok_or(BadFormat)?;
    let mut pages: Vec<(u32, Bytes<'p>)> = Vec::new();
    loop {
        match reader.count()? {
            parts::END if !pages.is_empty() => return Ok(SqlPages { page_bytes, pages }),
            parts::UNSIGNED => {}
            _ => return Err(BadFormat),
        }
        let page = u32::try_from(reader.count()?).map_err(|_| BadFormat)?;
        if pages.last().is_some_and(|(last, _)| *last >= page) || reader.count()? != parts::STRING {
            return Err(BadFormat);
        }
        let bytes = reader.string()?;
        if bytes.len() != page_bytes {
            return Err(BadFormat);
        }
        pages.push((page, bytes));
    }
}

pub(super) fn store(txn: &mut Txn<'_>, db: Db, key: &[u8], value: &SqlPages<'_>) -> Result<()> {
    let mut database = sqldb::new(db, key, value.page_bytes);
    for (page, bytes) in &value.pages {
        database.write(txn, *page, bytes)?;
    }
    Ok(())
}
