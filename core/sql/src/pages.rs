//! The pages of one database as SQLite sees them through the VFS, and the few things of them that stay in memory.
//!
//! SQLite asks at the begin of every statement for the size of the file and for bytes 24 to 40 of the first page, by which it
//! learns whether its cache still counts, and it writes that page at the end of every change for the sake of two counters:
//!
//! ```text
//! 24..28  count of changes          92..96  the same count, when 28..32 was written
//! 28..32  pages of the database     96..100 version of SQLite
//! 32..40  pages that are free
//! ```
//!
//! So a copy of the first page, the count and the number of pages stay in memory, and a page that differs in counters only is not
//! written.
//!
//! Invariant: SQLite's cache counts exactly as long as the count of changes that it is shown stays; [`Pages::forget`] shows one that
//! was never shown before.

use edgecask_core::engine::EngineError;
use edgecask_core::sql::SqlHost;

/// Where the count of changes lies, twice, and the version beside the second.
const COUNT: std::ops::Range<usize> = 24..28;
const COUNT_OF_SIZE: std::ops::Range<usize> = 92..96;
const COUNTERS_END: usize = 100;
/// The count of changes of the schema.
const SCHEMA_COUNT: std::ops::Range<usize> = 40..44;
/// The size of a page, big-endian, where 1 stands for 65,536.
const PAGE_SIZE: std::ops::Range<usize> = 16..18;

pub(crate) struct Pages {
    page_bytes: usize,
    /// Pages of the file, if known.
    count: Option<u32>,
    /// The first page as the host has it, if known.
    first: Option<Vec<u8>>,
    /// The count of changes that SQLite is shown; None before the first page was read or written.
    changes: Option<u32>,
    /// The highest that it was ever shown.
    highest: u32,
}

impl Pages {
    pub fn new(page_bytes: usize) -> Pages {
        Pages { page_bytes, count: None, first: None, changes: None, highest: 0 }
    }

    pub fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    /// The number of a page and the place in it. None where bytes are in no page or in two.
    pub fn place(&self, offset: i64, len: usize) -> Option<(u32, usize)> {
        let offset = u64::try_from(offset).ok()?;
        let page_bytes = self.page_bytes as u64;
        let within = usize::try_from(offset % page_bytes).ok()?;
        let fits = within.checked_add(len)? <= self.page_bytes;
        fits.then_some((u32::try_from(offset / page_bytes).ok()?, within))
    }

    /// Reads bytes of one page; false without such a page.
    pub fn read(
        &mut self,
        host: &mut dyn SqlHost,
        page: u32,
        within: usize,
        out: &mut [u8],
    ) -> Result<bool, EngineError> {
        if page != 0 {
            return host.read_page(page, within, out);
        }
        let Some(first) = self.first(host)? else { return Ok(false) };
        let Some(bytes) = first.get(within..within + out.len()) else { return Ok(false) };
        out.copy_from_slice(bytes);
        if let Some(changes) = self.changes {
            for shown in [COUNT, COUNT_OF_SIZE] {
                overlay(out, within, shown.start, &changes.to_be_bytes());
            }
        }
        Ok(true)
    }

    /// The first page as the host has it.
    fn first(&mut self, host: &mut dyn SqlHost) -> Result<Option<&[u8]>, EngineError> {
        if self.first.is_none() {
            let mut first = vec![0; self.page_bytes];
            if !host.read_page(0, 0, &mut first)? {
                return Ok(None);
            }
            if self.changes.is_none() {
                self.show(number(&first, COUNT));
            }
            self.first = Some(first);
        }
        Ok(self.first.as_deref())
    }

    fn show(&mut self, changes: Option<u32>) {
        self.changes = changes;
        self.highest = self.highest.max(changes.unwrap_or(0));
    }

    pub fn write(&mut self, host: &mut dyn SqlHost, page: u32, bytes: &[u8]) -> Result<(), EngineError> {
        if page == 0 {
            let is_same = self.first.as_deref().is_some_and(|first| differ_in_counters_only(first, bytes));
            if !is_same {
                let mut first = self.first.take().unwrap_or_default();
                host.write_page(0, bytes)?;
                first.clear();
                first.extend_from_slice(bytes);
                self.first = Some(first);
            }
            self.show(number(bytes, COUNT));
        } else {
            host.write_page(page, bytes)?;
        }
        if let Some(count) = &mut self.count {
            *count = (*count).max(page.saturating_add(1));
        }
        Ok(())
    }

    pub fn truncate(&mut self, host: &mut dyn SqlHost, pages: u32) -> Result<(), EngineError> {
        self.count = None;
        if pages == 0 {
            self.first = None;
        }
        host.truncate(pages)?;
        self.count = Some(pages);
        Ok(())
    }

    pub fn count(&mut self, host: &mut dyn SqlHost) -> Result<u32, EngineError> {
        if let Some(count) = self.count {
            return Ok(count);
        }
        let count = host.page_count()?;
        self.count = Some(count);
        Ok(count)
    }

    /// Drops what is in memory, and makes SQLite drop what it has.
    pub fn forget(&mut self) {
        self.count = None;
        self.first = None;
        self.highest = self.highest.wrapping_add(1);
        self.changes = Some(self.highest);
    }

    /// The count of changes of the schema, if it is in memory.
    pub fn kept_schema_count(&self) -> Option<u32> {
        self.first.as_deref().and_then(|first| number(first, SCHEMA_COUNT))
    }

    /// The same, read if need be; 0 without pages, as SQLite takes it.
    pub fn schema_count(&mut self, host: &mut dyn SqlHost) -> Result<u32, EngineError> {
        Ok(self.first(host)?.and_then(|first| number(first, SCHEMA_COUNT)).unwrap_or(0))
    }

    /// Whether the first page, if there is one, says that it is of this size.
    pub fn has_right_size(&mut self, host: &mut dyn SqlHost) -> Result<bool, EngineError> {
        let page_bytes = self.page_bytes;
        let Some(first) = self.first(host)? else { return Ok(self.count(host)? == 0) };
        let size = match first.get(PAGE_SIZE) {
            Some([0, 1]) => 65_536,
            Some([high, low]) => usize::from(u16::from_be_bytes([*high, *low])),
            _ => 0,
        };
        Ok(size == page_bytes)
    }
}

fn number(page: &[u8], at: std::ops::Range<usize>) -> Option<u32> {
    Some(u32::from_be_bytes(page.get(at)?.try_into().ok()?))
}

fn differ_in_counters_only(old: &[u8], new: &[u8]) -> bool {
    old.len() == new.len()
        && old.get(..COUNT.start) == new.get(..COUNT.start)
        && old.get(COUNT.end..COUNT_OF_SIZE.start) == new.get(COUNT.end..COUNT_OF_SIZE.start)
        && old.get(COUNTERS_END..) == new.get(COUNTERS_END..)
}

/// Puts bytes that lie at `at` of a page into a part of the page that begins at `within`.
fn overlay(part: &mut [u8], within: usize, at: usize, bytes: &[u8]) {
    for (place, byte) in (at..).zip(bytes) {
        if let Some(slot) = place.checked_sub(within).and_then(|place| part.get_mut(place)) {
            *slot = *byte;
        }
    }
}
