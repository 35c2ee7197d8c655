//! How good a match is.
//!
//! A word's score comes from its rank byte alone: the field, the place in it, how often; whether the word is whole; how many typos it has.
//! The best candidates are looked at closer: how near to each other the words stand, and how much of a field they are.

use crate::search::evaluate::Failure;
use crate::search::index::part::{Position, Rank};

use crate::search::sorted;

use super::candidates::Search;
use super::choose::by_score;
use super::words::{Expansion, Expansions};

/// How many candidates are looked at closely. All others come behind them, so that pages fit together whatever their length.
const CLOSE_MAX: usize = 128;

/// What the candidates that were looked at closely are ahead of the others.
const CLOSE_SCORE: i32 = 100_000;

/// Occurrences of a word in a document that are compared with those of the next word.
const POSITIONS_MAX: usize = 64;

/// How much each thing counts, in the same units. The defaults are tuned on twenty queries over Debian's packages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights {
    /// A word in the first, second, third and any later text field.
    pub field: [i32; 4],
    /// A whole word, not only its beginning, by field.
    pub exact: [i32; 4],
    /// Each class of positions that a word is behind the beginning of its field.
    pub position: i32,
    /// Each further occurrence.
    pub occurrence: i32,
    /// Each typo.
    pub typo: i32,
    /// Each doubling of popularity.
    pub popularity: i32,
    /// A first field that has no other words.
    pub whole: i32,
    /// Each word of the first field that is not in the query, up to six.
    pub extra: i32,
    /// Each word between two words of the query, up to eight.
    pub proximity: i32,
    /// Two words of the query that are one word of the document.
    pub joined: i32,
}

impl Default for Weights {
    fn default() -> Weights {
        Weights {
            field: [3000, 2700, 730, 0],
            exact: [420, 650, 280, 0],
            position: 130,
            occurrence: 8,
            typo: 600,
            popularity: 250,
            whole: 520,
            extra: 20,
            proximity: 180,
            joined: 3400,
        }
    }
}

/// What the postings of an expansion score, by the field.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    field: [i32; 4],
    position: i32,
    occurrence: i32,
}

impl Table {
    #[inline]
    pub(super) fn score(&self, rank: Rank) -> i32 {
        let field = self.field[usize::from(rank.0 >> 6)];
        field - i32::from(rank.0 >> 3 & 7) * self.position + i32::from(rank.0 & 7) * self.occurrence
    }
}

impl Weights {
    pub(super) fn table(&self, expansion: Expansion) -> Table {
        let mut field = self.field;
        for (field, exact) in field.iter_mut().zip(self.exact) {
            *field += if expansion.is_exact { exact } else { 0 };
            *field -= self.typo * i32::from(expansion.typos);
        }
        Table { field, position: self.position, occurrence: self.occurrence }
    }

    pub(super) fn popularity(&self, number: Option<f64>) -> i32 {
        let number = number.unwrap_or(0.0).clamp(0.0, f64::from(u32::MAX - 1)) as u32;
        (32 - (number + 1).leading_zeros()) as i32 * self.popularity
    }
}

/// The rank byte of positions in order, which are not empty.
pub(super) fn rank_of(positions: &[Position]) -> Rank {
    let (field, word) = positions.first().map_or((0, 0), |first| (first.field.min(3) as u8, first.word));
    let class = match word {
        0..=2 => word as u8,
        3..=4 => 3,
        5..=8 => 4,
        9..=20 => 5,
        21..=50 => 6,
        _ => 7,
    };
    Rank(field << 6 | class << 3 | positions.len().min(7) as u8)
}

impl Search<'_> {
    /// Looks closer at the best candidates.
    pub(super) fn rank(&mut self, readings: &[Vec<&Expansions>]) -> Result<(), Failure> {
        if !self.request.sort.is_empty() {
            return Ok(());
        }
        let mut best = std::mem::take(&mut self.scratch.close);
        self.best(&mut best);
        for (number, words) in (0u8..).zip(readings) {
            let of_reading = |at: &u32| {
                self.scratch.found.get(*at as usize).is_some_and(|candidate| candidate.reading == number)
            };
            let same: Vec<u32> = best.iter().copied().filter(of_reading).collect();
            self.look(words, &same)?;
        }
        self.scratch.close = best;
        Ok(())
    }

    /// Looks closer at candidates of one reading.
    fn look(&mut self, words: &[&Expansions], best: &[u32]) -> Result<(), Failure> {
        let positions = self.positions(words, best)?;
        for (number, at) in best.iter().enumerate() {
            let Some(candidate) = self.scratch.found.get_mut(*at as usize) else { continue };
            let Some(part) = self.views.get(usize::from(candidate.view)).map(|view| view.part) else {
                continue;
            };
            let weights = self.request.weights;
            let others =
                i32::try_from(part.field_words(0, candidate.place)).unwrap_or(i32::MAX) - words.len() as i32;
            let mut more = if others == 0 { weights.whole } else { -weights.extra * others.clamp(0, 6) };
            for pair in
                positions.get(number * words.len()..(number + 1) * words.len()).unwrap_or_default().windows(2)
            {
                if let [first, second] = pair {
                    more -= weights.proximity * (distance(first, second).min(9) as i32 - 1);
                }
            }
            candidate.score += more + CLOSE_SCORE;
        }
        Ok(())
    }

    /// The numbers of the best candidates so far.
    fn best(&self, best: &mut Vec<u32>) {
        let found = &self.scratch.found;
        best.clear();
        let mut least = i32::MIN;
        for (at, candidate) in (0..).zip(found) {
            if candidate.score < least {
                continue;
            }
            best.push(at);
            // Four times as many as wanted are gathered before the others are thrown away.
            if best.len() >= CLOSE_MAX * 4 {
                by_score(self.views, found, best);
                best.truncate(CLOSE_MAX);
                least = best
                    .last()
                    .and_then(|at| found.get(*at as usize))
                    .map_or(least, |candidate| candidate.score);
            }
        }
        if best.len() > CLOSE_MAX {
            by_score(self.views, found, best);
            best.truncate(CLOSE_MAX);
        }
    }

    /// Where the words stand in candidates: for each candidate, for each word.
    fn positions(&self, words: &[&Expansions], best: &[u32]) -> Result<Vec<Vec<u64>>, Failure> {
        if words.len() < 2 {
            return Ok(Vec::new());
        }
        let mut positions = vec![Vec::new(); best.len() * words.len()];
        let mut read = Vec::new();
        for (number, word) in words.iter().enumerate() {
            // One reader serves all candidates with the same expansion, whose places rise.
            let mut order: Vec<(u16, u16, u32, usize)> = Vec::with_capacity(best.len());
            for (at, best) in best.iter().enumerate() {
                if let Some(candidate) = self.scratch.found.get(*best as usize) {
                    let expansion = candidate.expansions.get(number).copied().unwrap_or(0);
                    order.push((candidate.view, expansion, candidate.place, at));
                }
            }
            sorted::by_key(&mut order, |(view, expansion, place, _)| {
                sorted::pair(u32::from(*view) << 16 | u32::from(*expansion), *place)
            });
            for same in order.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
                let Some((view, expansion, ..)) = same.first() else { continue };
                let lists = word.of_view(*view);
                let list = lists
                    .binary_search_by_key(&u32::from(*expansion), |list| list.1)
                    .ok()
                    .and_then(|at| lists.get(at));
                let (Some((.., list)), Some(view)) = (list, self.views.get(usize::from(*view))) else {
                    continue;
                };
                let mut postings = view.part.postings(*list);
                for (_, _, place, at) in same {
                    read.clear();
                    postings.positions(*place, &mut read);
                    if let Some(fields) = &self.fields {
                        read.retain(|position| fields.get(usize::from(position.field)) == Some(&true));
                    }
                    self.request.meter.work(read.len() as u64 + 1)?;
                    if let Some(to) = positions.get_mut(at * words.len() + number) {
                        to.extend(
                            read.iter()
                                .take(POSITIONS_MAX)
                                .map(|position| u64::from(position.field) << 32 | u64::from(position.word)),
                        );
                    }
                }
            }
        }
        Ok(positions)
    }
}

/// How far the second word is behind the first at the least; a word before the first is one further. Both lists are sorted.
fn distance(first: &[u64], second: &[u64]) -> u64 {
    let mut least = u64::MAX;
    let (mut a, mut b) = (first.iter().peekable(), second.iter().peekable());
    let (mut last_first, mut last_second): (Option<u64>, Option<u64>) = (None, None);
    loop {
        let is_first = match (a.peek(), b.peek()) {
            (Some(first), Some(second)) => first < second,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => return least,
        };
        if is_first {
            last_first = a.next().copied();
            if let (Some(first), Some(second)) = (last_first, last_second) {
                least = least.min(first - second + 1);
            }
        } else {
            last_second = b.next().copied();
            if let (Some(first), Some(second)) = (last_first, last_second) {
                // Equal: the same word stands for both.
                least = least.min((second - first).max(1));
            }
        }
    }
}
