//! What the pages of a database were, for readers that look at it as it was.
//!
//! A reader notes the version of the database when it begins ([`View`](super::View)). From then on each commit that changes a page keeps what
//! the page was before, unless a commit that no reader lies behind has kept it already: of each page there is at most one old state
//! for each reader. A reader finds its state of a page as the first that was kept after its version; where there is none, the page is
//! as it was.
//!
//! ```text
//!  version     4        5            6        7
//!  page 9      a        a -> b       b        b -> c      kept: a before 5, b before 7
//!  readers     of 4: a               of 6: b              the next one: the page itself
//! ```
//!
//! What is kept has a bound for all databases together. Beyond it the oldest readers can no longer read.

use std::collections::{BTreeMap, HashMap};

/// What pages were before a transaction that changes them, and how many there were.
#[derive(Debug, Default)]
pub struct OldPages {
    pages: HashMap<u32, Option<Box<[u8]>>>,
    count: Option<u32>,
    bytes: usize,
}

/// Bytes that an old state of a page takes apart from the page.
const ENTRY_BYTES: usize = 64;

impl OldPages {
    /// Whether the page is known already.
    pub fn has(&self, page: u32) -> bool {
        self.pages.contains_key(&page)
    }

    /// What a page was; None if it was not there.
    pub fn add(&mut self, page: u32, bytes: Option<Box<[u8]>>) {
        self.bytes += ENTRY_BYTES + bytes.as_ref().map_or(0, |bytes| bytes.len());
        self.pages.insert(page, bytes);
    }

    /// How many pages there were; only the first answer counts.
    pub fn set_count(&mut self, count: u32) {
        self.count.get_or_insert(count);
    }

    /// Whether that is known.
    pub fn has_count(&self) -> bool {
        self.count.is_some()
    }

    /// Bytes that it takes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

/// What a reader finds of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found<T> {
    /// It is still as it was.
    Current,
    /// It was this.
    Old(T),
    /// Nobody knows any more.
    Lost,
}

/// What a page was until the commit with this version; None if it was not there.
type OldState = (u64, Option<Box<[u8]>>);

/// The old states of the pages of one database, each with the version of the commit that ended it.
#[derive(Debug, Default)]
pub(super) struct History {
    /// How many readers there are, by the version that they look at.
    readers: BTreeMap<u64, u32>,
    pages: HashMap<u32, Vec<OldState>>,
    counts: Vec<(u64, u32)>,
    /// Readers of older versions have lost what they need.
    readable_from: u64,
    bytes: usize,
}

impl History {
    pub fn has_readers(&self) -> bool {
        !self.readers.is_empty()
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    pub fn begin(&mut self, version: u64) {
        *self.readers.entry(version).or_default() += 1;
    }

    pub fn end(&mut self, version: u64) {
        if let Some(count) = self.readers.get_mut(&version) {
            *count -= 1;
            if *count == 0 {
                self.readers.remove(&version);
            }
        }
        self.prune();
    }

    /// Drops what no reader needs.
    fn prune(&mut self) {
        let oldest = self.readers.keys().find(|version| **version >= self.readable_from);
        let Some(&oldest) = oldest else {
            self.pages = HashMap::new();
            self.counts = Vec::new();
            self.bytes = 0;
            return;
        };
        let mut freed = 0;
        self.pages.retain(|_, states| {
            states.retain(|(ended, bytes)| {
                let is_needed = *ended > oldest;
                freed += if is_needed { 0 } else { state_bytes(bytes.as_deref()) };
                is_needed
            });
            !states.is_empty()
        });
        self.bytes = self.bytes.saturating_sub(freed);
        self.counts.retain(|(ended, _)| *ended > oldest);
    }

    /// A commit gave the database this version.
    pub fn committed(&mut self, version: u64, before: OldPages) {
        let Some((&newest, _)) = self.readers.last_key_value() else { return };
        if let Some(count) = before.count
            && self.counts.last().is_none_or(|(ended, _)| *ended <= newest)
        {
            self.counts.push((version, count));
        }
        for (page, bytes) in before.pages {
            let states = self.pages.entry(page).or_default();
            // Else every reader has an older state of it.
            if states.last().is_none_or(|(ended, _)| *ended <= newest) {
                self.bytes += state_bytes(bytes.as_deref());
                states.push((version, bytes));
            }
        }
    }

    /// All readers from before this version have lost what they need.
    pub fn lose(&mut self, version: u64) {
        self.readable_from = self.readable_from.max(version);
        self.prune();
    }

    /// The version of the oldest reader that can still read.
    pub fn oldest(&self) -> Option<u64> {
        self.readers.keys().copied().find(|version| *version >= self.readable_from)
    }

    /// What a page was at a version.
    pub fn page(&self, version: u64, page: u32) -> Found<Option<&[u8]>> {
        if version < self.readable_from {
            return Found::Lost;
        }
        let states = self.pages.get(&page).map(Vec::as_slice).unwrap_or_default();
        let after = states.partition_point(|(ended, _)| *ended <= version);
        states.get(after).map_or(Found::Current, |(_, bytes)| Found::Old(bytes.as_deref()))
    }

    /// How many pages there were at a version.
    pub fn count(&self, version: u64) -> Found<u32> {
        if version < self.readable_from {
            return Found::Lost;
        }
        let after = self.counts.partition_point(|(ended, _)| *ended <= version);
        self.counts.get(after).map_or(Found::Current, |(_, count)| Found::Old(*count))
    }
}

fn state_bytes(bytes: Option<&[u8]>) -> usize {
    ENTRY_BYTES + bytes.map_or(0, <[u8]>::len)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(byte: u8) -> Option<Box<[u8]>> {
        Some(vec![byte; 4].into())
    }

    fn before(pages: &[(u32, u8)]) -> OldPages {
        let mut before = OldPages::default();
        pages.iter().for_each(|(number, byte)| before.add(*number, page(*byte)));
        before
    }

    #[test]
    fn reader_sees_a_later_commit() {
        let mut history = History::default();
        history.begin(4);
        history.committed(5, before(&[(9, b'a')]));
        history.begin(5);
        history.committed(6, before(&[(8, b'x')]));
        history.begin(6);
        history.committed(7, before(&[(9, b'b')]));
        let seen = |history: &History, version, page| match history.page(version, page) {
            Found::Old(Some([byte, ..])) => char::from(*byte),
            Found::Current => '.',
            _ => '!',
        };
        assert_eq!([4, 5, 6, 7].map(|version| seen(&history, version, 9)), ['a', 'b', 'b', '.']);
        assert_eq!([4, 5, 6, 7].map(|version| seen(&history, version, 8)), ['x', 'x', '.', '.']);
        // A page that was not there.
        let mut new = OldPages::default();
        new.add(20, None);
        new.set_count(20);
        history.committed(8, new);
        assert_eq!(history.page(6, 20), Found::Old(None));
        assert_eq!((history.count(6), history.count(8)), (Found::Old(20), Found::Current));
        history.end(4);
        assert_eq!(seen(&history, 5, 9), 'b');
        history.end(5);
        history.end(6);
        assert_eq!((history.bytes(), history.pages.len(), history.counts.len()), (0, 0, 0));
    }

    #[test]
    fn reader_for_a_day_keeps_every_commit() {
        let mut history = History::default();
        history.begin(1);
        for version in 2..1000 {
            history.committed(version, before(&[(1, 1), (2, 2)]));
        }
        assert_eq!(history.pages.values().map(Vec::len).sum::<usize>(), 2, "it needs the first ones only");
        history.begin(999);
        history.committed(1000, before(&[(1, 9)]));
        assert_eq!(history.pages.values().map(Vec::len).sum::<usize>(), 3);
        history.end(1);
        assert_eq!(history.pages.values().map(Vec::len).sum::<usize>(), 1);
        assert_eq!(history.bytes(), ENTRY_BYTES + 4);
    }

    #[test]
    fn reader_that_lost_its_pages_reads_others() {
        let mut history = History::default();
        history.begin(1);
        history.committed(2, before(&[(1, 1)]));
        history.begin(2);
        assert_eq!(history.oldest(), Some(1));
        history.lose(2);
        assert_eq!((history.page(1, 1), history.page(1, 7)), (Found::Lost, Found::Lost));
        assert_eq!((history.page(2, 1), history.oldest()), (Found::Current, Some(2)));
        history.lose(3);
        assert_eq!((history.count(2), history.oldest(), history.bytes()), (Found::Lost, None, 0));
        history.begin(3);
        assert_eq!(history.page(3, 1), Found::Current);
    }
}
