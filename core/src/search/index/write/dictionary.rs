//! Writes a dictionary of a segment: terms in the order of their bytes, each with a list.

use super::super::bytes::{put, shared};

/// Terms in a block: within it each shares a beginning with the one before.
pub(in crate::search::index) const TERM_BLOCK: usize = 32;

/// A dictionary and its lists.
#[derive(Default)]
pub(in crate::search::index) struct DictionaryWriter {
    table: Vec<u8>,
    entries: Vec<u8>,
    lists: Vec<u8>,
    before: Vec<u8>,
    count: u32,
    list_at: usize,
    /// Terms, to find their numbers: the end of each in `texts`.
    texts: Vec<u8>,
    ends: Vec<u32>,
}

impl DictionaryWriter {
    /// Begins a term, which must be greater than those before it, with so many documents; its list is appended to what is returned.
    pub fn begin(&mut self, term: &[u8], documents: u32) -> &mut Vec<u8> {
        let mut same = 0;
        if self.count as usize % TERM_BLOCK == 0 {
            self.table.extend_from_slice(&(self.entries.len() as u32).to_le_bytes());
            self.table.extend_from_slice(&(self.lists.len() as u32).to_le_bytes());
        } else {
            same = shared(term, &self.before);
        }
        put(&mut self.entries, same as u32);
        put(&mut self.entries, (term.len() - same) as u32);
        self.entries.extend_from_slice(term.get(same..).unwrap_or_default());
        put(&mut self.entries, documents);
        self.before.clear();
        self.before.extend_from_slice(term);
        self.count += 1;
        self.texts.extend_from_slice(term);
        self.ends.push(self.texts.len() as u32);
        self.list_at = self.lists.len();
        &mut self.lists
    }

    /// Ends the term's list.
    pub fn end(&mut self) {
        put(&mut self.entries, (self.lists.len() - self.list_at) as u32);
    }

    /// How many terms there are.
    pub fn count(&self) -> u32 {
        self.count
    }

    fn text(&self, number: usize) -> &[u8] {
        let start = number.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(number).copied().unwrap_or(start);
        self.texts.get(start as usize..end as usize).unwrap_or_default()
    }

    /// The number of a term.
    pub fn number_of(&self, term: &[u8]) -> Option<u32> {
        let (mut low, mut high) = (0, self.ends.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.text(middle).cmp(term) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return u32::try_from(middle).ok(),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// The dictionary, and the lists.
    pub fn finish(mut self) -> (Vec<u8>, Vec<u8>) {
        let mut dictionary = (self.table.len() as u32).to_le_bytes().to_vec();
        dictionary.append(&mut self.table);
        dictionary.append(&mut self.entries);
        (dictionary, self.lists)
    }
}
