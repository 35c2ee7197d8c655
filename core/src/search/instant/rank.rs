//! The best candidates are looked at closer: how near to each other the words stand, and how much of a field they are.

use crate::search::evaluate::Failure;
use crate::sorted;

use super::choose::{by_ties, id_of, number_key};
use super::progress::{Candidate, Reading, Search, best_first};
use super::weights::CLOSE_SCORE;
use super::words::Expansions;

/// How many candidates are looked at closely. All others come behind them, so that pages fit together whatever their length.
const CLOSE_MAX: usize = 128;

/// Occurrences of a word in a document that are compared with those of the next word.
const POSITIONS_MAX: usize = 64;

/// Candidates that are looked at together.
const CLOSE_STEP: usize = 16;

/// A candidate that may be looked at closely.
#[derive(Clone, Copy)]
struct Close {
    at: u32,
    /// The score that it has at most.
    bound: i32,
    /// Whether its first field has as many words as the query.
    may_be_whole: bool,
}

/// The best scores that are known for sure, as many as hits are wanted.
struct Leaders {
    wanted: usize,
    /// The best first.
    scores: Vec<i32>,
}

impl Leaders {
    fn new(wanted: usize) -> Leaders {
        Leaders { wanted, scores: Vec::new() }
    }

    fn add(&mut self, score: i32) {
        if self.wanted < CLOSE_MAX {
            let at = self.scores.partition_point(|other| *other >= score);
            self.scores.insert(at, score);
            self.scores.truncate(self.wanted);
        }
    }

    /// The last of the leaders, once there are as many as are wanted: what has less is none of them.
    fn least(&self) -> Option<i32> {
        if self.scores.len() < self.wanted {
            None
        } else {
            Some(self.scores.last().copied().unwrap_or(i32::MAX))
        }
    }
}

impl Search<'_> {
    /// Looks closer at the best candidates.
    pub(super) fn rank(&mut self, readings: &[Reading<'_>]) -> Result<(), Failure> {
        if !self.request.sort.is_empty() && self.request.relevance_min.is_none() {
            return Ok(());
        }
        let mut best = std::mem::take(&mut self.scratch.close);
        self.best(&mut best)?;
        let mut leaders = Leaders::new(match self.request.wants_all_scores() {
            true => usize::MAX,
            false => self.request.offset.saturating_add(self.request.count),
        });
        for (number, reading) in (0u8..).zip(readings) {
            let of_reading = |at: &u32| {
                self.scratch.found.get(*at as usize).is_some_and(|candidate| candidate.reading == number)
            };
            let same: Vec<u32> = best.iter().copied().filter(of_reading).collect();
            self.look(&reading.words, &same, &mut leaders)?;
        }
        self.scratch.close = best;
        Ok(())
    }

    /// Looks closer at candidates of one reading, those that may be best first, until none of the rest can be among the leaders. The rest
    /// gets the best score that it may have, which is behind theirs.
    fn look(&mut self, words: &[&Expansions], best: &[u32], leaders: &mut Leaders) -> Result<(), Failure> {
        let weights = self.request.weights;
        let mut order: Vec<Close> = Vec::with_capacity(best.len());
        for at in best {
            let Some(candidate) = self.scratch.found.get_mut(*at as usize) else { continue };
            let Some(view) = self.views.get(usize::from(candidate.view)) else { continue };
            let field_words = i32::try_from(view.part.field_words(0, candidate.place)).unwrap_or(i32::MAX);
            let others = field_words - words.len() as i32;
            candidate.score +=
                CLOSE_SCORE + if others == 0 { weights.short } else { -weights.extra * others.clamp(0, 6) };
            let may_be_whole = others == 0;
            let bound = candidate.score + if may_be_whole { weights.whole } else { 0 };
            order.push(Close { at: *at, bound, may_be_whole });
        }
        sorted::by_key(&mut order, |close| best_first(close.bound));
        for step in order.chunks(CLOSE_STEP) {
            let bound = step.first().map_or(i32::MIN, |close| close.bound);
            if leaders.least().is_some_and(|least| bound < least) {
                for close in step {
                    if let Some(candidate) = self.scratch.found.get_mut(close.at as usize) {
                        candidate.score = close.bound;
                    }
                }
                continue;
            }
            let numbers: Vec<u32> = step.iter().map(|close| close.at).collect();
            let positions = self.positions(words, &numbers)?;
            for (number, close) in step.iter().enumerate() {
                let Some(candidate) = self.scratch.found.get(close.at as usize).copied() else { continue };
                let mut more = 0;
                if close.may_be_whole && self.are_in_first_field(words, &candidate)? {
                    more += weights.whole;
                }
                let of_words = positions.get(number * words.len()..(number + 1) * words.len());
                for pair in of_words.unwrap_or_default().windows(2) {
                    if let [first, second] = pair {
                        more -= weights.proximity * (distance(first, second).min(9) as i32 - 1);
                    }
                }
                if let Some(candidate) = self.scratch.found.get_mut(close.at as usize) {
                    candidate.score += more;
                    leaders.add(candidate.score);
                }
            }
        }
        Ok(())
    }

    /// Whether all words stand in the first text field of a candidate.
    fn are_in_first_field(&self, words: &[&Expansions], candidate: &Candidate) -> Result<bool, Failure> {
        if self.fields.as_ref().is_some_and(|fields| fields.first() != Some(&true)) {
            return Ok(false);
        }
        let Some(view) = self.views.get(usize::from(candidate.view)) else { return Ok(false) };
        let mut read = Vec::new();
        for (word, expansion) in words.iter().zip(candidate.expansions) {
            let Some(list) = word.list(candidate.view, expansion) else { return Ok(false) };
            read.clear();
            view.part.postings(list).positions(candidate.place, &mut read);
            self.request.meter.work(read.len() as u64 + 1)?;
            if read.first().is_none_or(|position| position.field > 0) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The numbers of the best candidates so far, in no order.
    fn best(&self, best: &mut Vec<u32>) -> Result<(), Failure> {
        let found = &self.scratch.found;
        best.clear();
        let least = enough(found);
        best.extend((0..).zip(found).filter(|(_, candidate)| candidate.score >= least).map(|(at, _)| at));
        if best.len() <= CLOSE_MAX {
            return Ok(());
        }
        self.request.meter.memory(best.len() * size_of::<u128>())?;
        let of = |at: &u32| found.get(*at as usize);
        let (mut sure, mut same) =
            divide(best, CLOSE_MAX, |at| of(at).map_or(u64::MAX, Candidate::order_key));
        // Many are equal where no number tells of popularity.
        let mut ties = self.request.ties;
        while sure.len() + same.len() > CLOSE_MAX
            && let Some((key, rest)) = ties.split_first()
            && key.is_number
        {
            let number =
                |at: &u32| of(at).map_or(u64::MAX, |candidate| number_key(self.views, key, candidate));
            let (more, equal) = divide(&same, CLOSE_MAX - sure.len(), number);
            sure.extend(more);
            (same, ties) = (equal, rest);
        }
        if sure.len() + same.len() > CLOSE_MAX {
            if ties.is_empty() {
                let id = |at: &u32| of(at).and_then(|candidate| id_of(self.views, candidate)).unwrap_or(0);
                let (more, equal) = divide(&same, CLOSE_MAX - sure.len(), id);
                sure.extend(more);
                same = equal;
            } else {
                by_ties(self.views, self.request, ties, found, &mut same)?;
            }
        }
        let wanted = CLOSE_MAX - sure.len();
        sure.extend(same.into_iter().take(wanted));
        *best = sure;
        Ok(())
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
                let list = word.list(*view, *expansion);
                let (Some(list), Some(view)) = (list, self.views.get(usize::from(*view))) else {
                    continue;
                };
                let mut postings = view.part.postings(list);
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

/// A score that at least as many candidates have as are looked at closely, and few more.
fn enough(found: &[Candidate]) -> i32 {
    let scores = || found.iter().map(|candidate| i64::from(candidate.score));
    let (Some(least), Some(greatest)) = (scores().min(), scores().max()) else { return i32::MIN };
    if found.len() <= CLOSE_MAX {
        return i32::MIN;
    }
    // Scores are counted in classes.
    const CLASSES: usize = 1024;
    let mut counts = [0usize; CLASSES];
    let width = (greatest - least) / CLASSES as i64 + 1;
    let shift = (width as u64).next_power_of_two().trailing_zeros();
    for score in scores() {
        if let Some(count) = counts.get_mut(((score - least) >> shift) as usize) {
            *count += 1;
        }
    }
    let mut sum = 0;
    let class = counts.iter().rposition(|count| {
        sum += count;
        sum >= CLOSE_MAX
    });
    (least + ((class.unwrap_or(0) as i64) << shift)) as i32
}

/// Those that are before the last of so many with the least keys, and those that have the same key as that one.
fn divide(items: &[u32], wanted: usize, key: impl Fn(&u32) -> u64) -> (Vec<u32>, Vec<u32>) {
    let least = sorted::least(items, wanted, &key);
    let last = least.iter().filter_map(|at| items.get(*at as usize)).map(&key).max().unwrap_or(0);
    let some =
        |is_wanted: &dyn Fn(u64) -> bool| items.iter().copied().filter(|at| is_wanted(key(at))).collect();
    (some(&|key| key < last), some(&|key| key == last))
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
