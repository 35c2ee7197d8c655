//! Terms that are some edits away from a word.
//!
//! Terms come in the order of their bytes, so each shares its beginning with the one before. The edit distances of a beginning to all
//! beginnings of the word are one row of a table; rows of what is shared are used again, and where no row can lead to a match, all terms
//! with that beginning are passed over.

use super::part::{List, Part, Walk};

/// Longer words, in characters, have no typos: the table is this wide.
pub const FUZZY_WORD_MAX: usize = 40;

/// More edits than this are never allowed for.
pub const FUZZY_EDITS_MAX: u8 = 3;

/// No row behind this one leads to a match, since it would be of a term too long.
const ROWS: usize = FUZZY_WORD_MAX + FUZZY_EDITS_MAX as usize + 3;

/// How terms are compared with a word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fuzzy {
    /// How many edits a term may be away: characters that are inserted, left out or exchanged, or two neighbours that changed places.
    pub max: u8,
    /// Whether the beginning of a term is enough.
    pub is_prefix: bool,
    /// Whether the first character must be that of the word.
    pub first_fixed: bool,
}

/// A distance that does not count.
const FAR: u8 = 200;

struct Table {
    word: Vec<u32>,
    rows: Vec<[u8; FUZZY_WORD_MAX + 2]>,
    /// The characters of the term, where each ends, and by depth the least distance of the whole word to a beginning.
    characters: [u32; ROWS],
    ends: [usize; ROWS],
    best: [u8; ROWS],
    /// By depth the distance of the whole word.
    distances: [u8; ROWS],
    depth: usize,
}

impl Table {
    fn new(word: &str) -> Option<Table> {
        let word: Vec<u32> = word.chars().map(u32::from).collect();
        if word.is_empty() || word.len() > FUZZY_WORD_MAX {
            return None;
        }
        let mut rows = vec![[FAR; FUZZY_WORD_MAX + 2]; ROWS];
        rows.iter_mut().take(1).flatten().zip(0..).for_each(|(cell, number)| *cell = number);
        let mut best = [FAR; ROWS];
        best.iter_mut().take(1).for_each(|best| *best = word.len() as u8);
        Some(Table { word, rows, characters: [0; ROWS], ends: [0; ROWS], distances: best, best, depth: 0 })
    }

    /// Keeps the rows of characters that end within so many bytes.
    fn keep(&mut self, bytes: usize) {
        while self.depth > 0 && self.end() > bytes {
            self.depth -= 1;
        }
    }

    /// Where the last character ends.
    fn end(&self) -> usize {
        self.depth.checked_sub(1).and_then(|last| self.ends.get(last)).copied().unwrap_or(0)
    }

    /// Adds a character that ends at a byte, and returns the least distance in its row. Only distances up to `max` count, so cells
    /// further than that from the diagonal are not computed.
    #[inline]
    fn push(&mut self, character: u32, end: usize, max: u8) -> u8 {
        let depth = self.depth;
        let (len, band) = (self.word.len(), usize::from(max));
        let before = depth.checked_sub(1).map(|last| self.characters[last]);
        if depth + 1 >= ROWS || depth >= len + band {
            return u8::MAX;
        }
        self.ends[depth] = end;
        self.characters[depth] = character;
        let (low, high) = ((depth + 1).saturating_sub(band).max(1), (depth + 1 + band).min(len));
        let (done, fresh) = self.rows.split_at_mut(depth + 1);
        let (above, row) = (&done[depth], &mut fresh[0]);
        let before_that = depth.checked_sub(1).map(|last| &done[last]);
        let mut left = if low == 1 { depth as u8 + 1 } else { FAR };
        row[low - 1] = left;
        let mut least = left;
        for column in low..=high {
            let wanted = self.word[column - 1];
            let mut distance =
                (above[column - 1] + u8::from(wanted != character)).min(above[column] + 1).min(left + 1);
            if let Some(before_that) = before_that
                && column > 1
                && before == Some(wanted)
                && self.word[column - 2] == character
            {
                distance = distance.min(before_that[column - 2] + 1);
            }
            left = distance;
            row[column] = distance;
            least = least.min(distance);
        }
        let is_whole = high == len && low <= len;
        if high < len {
            row[high + 1] = FAR;
        }
        self.distances[depth + 1] = if is_whole { left } else { FAR };
        self.best[depth + 1] = self.best[depth].min(self.distances[depth + 1]);
        self.depth += 1;
        least
    }

    /// The distance of what was pushed to the whole word.
    fn distance(&self) -> u8 {
        self.distances.get(self.depth).copied().unwrap_or(FAR)
    }

    fn best(&self) -> u8 {
        self.best.get(self.depth).copied().unwrap_or(u8::MAX)
    }
}

/// A character of bytes that are UTF-8, and behind it.
#[inline]
fn character_at(bytes: &[u8], at: usize) -> (u32, usize) {
    let first = bytes.get(at).copied().unwrap_or(0);
    if first < 0x80 {
        return (u32::from(first), at + 1);
    }
    let len = if first >= 0xF0 {
        4
    } else if first >= 0xE0 {
        3
    } else {
        2
    };
    let more = bytes.get(at + 1..(at + len).min(bytes.len())).unwrap_or_default();
    let lead = u32::from(first) & (0x7F >> len);
    (more.iter().fold(lead, |number, byte| number << 6 | u32::from(byte & 0x3F)), (at + len).min(bytes.len()))
}

/// Shows the words of a part that are at most so many edits away from a word, the word itself included: the word, its edits, its postings.
/// They come in the order of their bytes. A word of more than [`FUZZY_WORD_MAX`] characters has none.
pub fn fuzzy(part: &dyn Part, word: &str, how: Fuzzy, visit: &mut dyn FnMut(&[u8], u8, List)) {
    let Some(mut table) = Table::new(word) else { return };
    let max = how.max.min(FUZZY_EDITS_MAX);
    let first = word.get(..word.chars().next().map_or(0, char::len_utf8)).unwrap_or_default().as_bytes();
    let from = if how.first_fixed { first } else { &[] };
    // How many bytes of the term were a match of a prefix already, so that nothing behind them counts.
    let mut settled: Option<(usize, u8)> = None;
    part.words(from, &mut |term, common, list| {
        if how.first_fixed && !term.starts_with(first) {
            return Walk::End;
        }
        if let Some((bytes, typos)) = settled {
            if common >= bytes {
                visit(term, typos, list);
                return Walk::On;
            }
            settled = None;
        }
        table.keep(common);
        let mut at = table.end();
        while at < term.len() {
            let (character, end) = character_at(term, at);
            let least = table.push(character, end, max);
            at = end;
            if least > max {
                if how.is_prefix && table.best() <= max {
                    settled = Some((end, table.best()));
                    visit(term, table.best(), list);
                    return Walk::On;
                }
                return Walk::Past(end);
            }
        }
        let typos = if how.is_prefix { table.best() } else { table.distance() };
        if typos <= max {
            visit(term, typos, list);
        }
        Walk::On
    });
}
