//! SQL databases: the pages of an SQLite file as subkeys of one key.
//!
//! ```text
//! root's value   format version, 1 byte: 1    page size as a power of 2, 1 byte
//! page           subkey: its number, 4 bytes   value: the whole page
//! patch          subkey: its number, 4 bytes, and 01   value: runs of the page that differ, each
//!                offset, 2 bytes   length, 2 bytes   bytes
//! ```
//!
//! Pages are counted from 0; numbers in subkeys are big-endian, so pages lie in their order, each before its patch; all else is
//! little-endian. A patch holds all differences to the page as it is stored, so it is replaced by the next one and never added to:
//! a statement changes some ten bytes in each of several pages, and whole pages would fill the log. A page that differs in more
//! than [`PATCH_MAX_BYTES`] is stored whole again, and its patch goes.
//!
//! What a page means is SQLite's; here nothing looks into one.

use std::ops::{ControlFlow, RangeInclusive};

use super::{DataError, Result, root_of_kind};
use crate::engine::{Db, EngineError, Kind, NewRoot, Root, Start, SubWalk, Txn, Want};

/// Bytes of a page of a new database. Larger ones cost more log for each statement, smaller ones more keydir.
pub const PAGE_BYTES: usize = 2048;

/// SQLite's bounds of a page, as powers of 2.
const PAGE_POWERS: RangeInclusive<u32> = 9..=16;

/// The format version that is written.
const VERSION: u8 = 1;

/// Longest patch, in bytes.
const PATCH_MAX_BYTES: usize = 512;

/// Bytes of a run's header in a patch.
const RUN_HEADER_BYTES: usize = 4;

/// Two differences closer than this many bytes are one run: a run of their own costs as much.
const RUN_GAP_BYTES: usize = 8;

/// Bytes that are compared at once.
const WORD_BYTES: usize = 8;

/// Subkeys that are removed between two walks.
const REMOVED_AT_ONCE: usize = 1024;

/// The subkey of a page, or of its patch.
struct PageKey([u8; 5], usize);

impl PageKey {
    fn page(page: u32) -> PageKey {
        let [a, b, c, d] = page.to_be_bytes();
        PageKey([a, b, c, d, 1], 4)
    }

    fn patch(page: u32) -> PageKey {
        PageKey(PageKey::page(page).0, 5)
    }

    fn bytes(&self) -> &[u8] {
        self.0.get(..self.1).unwrap_or_default()
    }
}

/// The number of the page that a subkey belongs to.
fn page_of(subkey: &[u8]) -> Option<u32> {
    subkey.first_chunk().map(|number| u32::from_be_bytes(*number))
}

/// A database, if the key is there and holds one.
///
/// # Errors
/// The key has another type; or its root is of a format that this version does not know.
pub fn open<'k>(txn: &mut Txn<'_>, db: Db, key: &'k [u8]) -> Result<Option<Database<'k>>> {
    let Some(root) = root_of_kind(txn, db, key, Kind::SqlDatabase)? else { return Ok(None) };
    let value = txn.value(db, key)?.unwrap_or_default();
    match *value.as_slice() {
        [VERSION, power] if PAGE_POWERS.contains(&u32::from(power)) => {
            Ok(Some(Database { db, key, page_bytes: 1 << power, root: Some(root) }))
        }
        _ => {
            let text = "an SQL database in a format that this version does not know";
            Err(DataError::Engine(EngineError::Damaged(text.into()).of_key(db, key)))
        }
    }
}

/// A database that is not there yet, with pages of [such a size](is_page_size), mostly [`PAGE_BYTES`]: its first page creates it.
pub fn new(db: Db, key: &[u8], page_bytes: usize) -> Database<'_> {
    Database { db, key, page_bytes, root: None }
}

/// Whether SQLite has pages of so many bytes.
pub fn is_page_size(bytes: usize) -> bool {
    bytes.is_power_of_two() && PAGE_POWERS.contains(&bytes.trailing_zeros())
}

/// The pages of one database in a transaction.
#[derive(Clone, Debug)]
pub struct Database<'k> {
    db: Db,
    key: &'k [u8],
    page_bytes: usize,
    root: Option<Root>,
}

impl Database<'_> {
    /// Bytes of a page.
    pub fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    /// The committed collection that it was opened from; None for one that the transaction has made.
    pub fn collection(&self) -> Option<u64> {
        self.root.map(|root| root.collection).filter(|collection| *collection != 0)
    }

    /// Looks at the key again, which others may have changed since; the committed collection that it has now.
    ///
    /// # Errors
    /// The engine's; or the key has another type now.
    pub fn reopen(&mut self, txn: &mut Txn<'_>) -> Result<Option<u64>> {
        self.root = root_of_kind(txn, self.db, self.key, Kind::SqlDatabase)?;
        Ok(self.collection())
    }

    /// Reads bytes of a page from `offset` on; false if it was never written.
    ///
    /// # Errors
    /// The engine's; or the page is shorter than what is read.
    pub fn read(&self, txn: &mut Txn<'_>, page: u32, offset: usize, out: &mut [u8]) -> Result<bool> {
        let mut is_whole = false;
        let found = txn.sub_read(self.db, self.key, PageKey::page(page).bytes(), &mut |bytes| {
            if let Some(part) = bytes.get(offset..).and_then(|rest| rest.get(..out.len())) {
                out.copy_from_slice(part);
                is_whole = true;
            }
        })?;
        if !found {
            return Ok(false);
        }
        txn.sub_read(self.db, self.key, PageKey::patch(page).bytes(), &mut |patch| {
            is_whole &= apply(patch, offset, out).is_some();
        })?;
        if is_whole { Ok(true) } else { Err(self.damaged(page)) }
    }

    /// Writes a whole page, and makes the key if it is not there.
    ///
    /// # Errors
    /// The engine's.
    pub fn write(&mut self, txn: &mut Txn<'_>, page: u32, bytes: &[u8]) -> Result<()> {
        if self.root.is_none() {
            let power = self.page_bytes.trailing_zeros() as u8;
            txn.put(self.db, self.key, NewRoot::of(Kind::SqlDatabase), &[VERSION, power])?;
            self.root = txn.root(self.db, self.key)?;
        }
        let (page_key, patch_key) = (PageKey::page(page), PageKey::patch(page));
        let mut patch = None;
        let was_there = txn.sub_read(self.db, self.key, page_key.bytes(), &mut |old| {
            patch = difference(old, bytes);
        })?;
        match patch {
            Some(patch) if patch.is_empty() => {
                txn.sub_remove(self.db, self.key, patch_key.bytes())?;
            }
            Some(patch) => {
                txn.sub_put(self.db, self.key, patch_key.bytes(), &patch)?;
            }
            None if was_there => {
                txn.sub_replace(self.db, self.key, page_key.bytes(), bytes)?;
                txn.sub_remove(self.db, self.key, patch_key.bytes())?;
            }
            None => txn.sub_add(self.db, self.key, page_key.bytes(), bytes)?,
        }
        Ok(())
    }

    /// One more than the number of the last page; 0 without pages.
    ///
    /// # Errors
    /// The engine's.
    pub fn page_count(&self, txn: &mut Txn<'_>) -> Result<u32> {
        let subkeys = txn.sub_len(self.db, self.key)?;
        let Some(last) = subkeys.checked_sub(1) else { return Ok(0) };
        let last = txn.sub_select(self.db, self.key, last)?;
        Ok(last.and_then(|subkey| page_of(&subkey)).map_or(0, |page| page.saturating_add(1)))
    }

    /// Drops all pages from this one on.
    ///
    /// # Errors
    /// The engine's.
    pub fn truncate(&self, txn: &mut Txn<'_>, pages: u32) -> Result<()> {
        let first = PageKey::page(pages);
        loop {
            let mut subkeys: Vec<Vec<u8>> = Vec::new();
            let walk = SubWalk::up(Start::Subkey(first.bytes()), Want::Subkeys);
            txn.sub_scan(self.db, self.key, walk, &mut |subkey, _| {
                subkeys.push(subkey.to_vec());
                if subkeys.len() < REMOVED_AT_ONCE {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            })?;
            for subkey in &subkeys {
                txn.sub_remove(self.db, self.key, subkey)?;
            }
            if subkeys.len() < REMOVED_AT_ONCE {
                return Ok(());
            }
        }
    }

    /// Shows every page as it is now, in order.
    ///
    /// # Errors
    /// The engine's.
    pub fn pages(&self, txn: &mut Txn<'_>, visit: &mut dyn FnMut(u32, &[u8]) -> Result<()>) -> Result<()> {
        let mut bytes = vec![0; self.page_bytes];
        for page in 0..self.page_count(txn)? {
            if self.read(txn, page, 0, &mut bytes)? {
                visit(page, &bytes)?;
            }
        }
        Ok(())
    }

    fn damaged(&self, page: u32) -> DataError {
        let what = format!("page {page} of the SQL database");
        DataError::Engine(EngineError::Damaged(what).of_key(self.db, self.key))
    }
}

/// The runs in which a page differs from what is stored of it; None if they are too long for a patch.
fn difference(old: &[u8], new: &[u8]) -> Option<Vec<u8>> {
    if old.len() != new.len() {
        return None;
    }
    let (old_words, old_rest) = old.as_chunks::<WORD_BYTES>();
    let (new_words, new_rest) = new.as_chunks::<WORD_BYTES>();
    // Pages are whole words.
    if old_rest != new_rest {
        return None;
    }
    let mut patch = Vec::new();
    // The run that may go on.
    let (mut start, mut end) = (0, 0);
    for (number, (old, new_word)) in old_words.iter().zip(new_words).enumerate() {
        let differs = u64::from_le_bytes(*old) ^ u64::from_le_bytes(*new_word);
        if differs == 0 {
            continue;
        }
        let first = number * WORD_BYTES + differs.trailing_zeros() as usize / 8;
        let behind = (number + 1) * WORD_BYTES - differs.leading_zeros() as usize / 8;
        if end == 0 || first - end >= RUN_GAP_BYTES {
            add_run(&mut patch, start, new.get(start..end)?)?;
            start = first;
        }
        end = behind;
    }
    add_run(&mut patch, start, new.get(start..end)?)?;
    Some(patch)
}

/// Adds a run to a patch, unless it is empty; None if it does not fit.
fn add_run(patch: &mut Vec<u8>, start: usize, bytes: &[u8]) -> Option<()> {
    if bytes.is_empty() {
        return Some(());
    }
    if patch.len() + RUN_HEADER_BYTES + bytes.len() > PATCH_MAX_BYTES {
        return None;
    }
    patch.extend_from_slice(&u16::try_from(start).ok()?.to_le_bytes());
    patch.extend_from_slice(&u16::try_from(bytes.len()).ok()?.to_le_bytes());
    patch.extend_from_slice(bytes);
    Some(())
}

/// Puts the runs of a patch into a part of its page, from `offset` on; None if it is no patch of this page.
fn apply(mut patch: &[u8], offset: usize, out: &mut [u8]) -> Option<()> {
    while !patch.is_empty() {
        let (&[a, b, c, d], rest) = patch.split_first_chunk::<RUN_HEADER_BYTES>()?;
        let (start, len) = (usize::from(u16::from_le_bytes([a, b])), usize::from(u16::from_le_bytes([c, d])));
        let (bytes, rest) = rest.split_at_checked(len)?;
        patch = rest;
        let (low, high) = (start.max(offset), (start + len).min(offset + out.len()));
        if low < high {
            let part = bytes.get(low - start..high - start)?;
            out.get_mut(low - offset..high - offset)?.copy_from_slice(part);
        }
    }
    Some(())
}

#[cfg(test)]
mod tests;
