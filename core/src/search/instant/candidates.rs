//! Documents that have all words, part by part, each with the best of a word's expansions.

use crate::search::bits::Bits;
use crate::search::evaluate::Failure;
use crate::search::index::part::{BLOCK, Block, List, Part, Position, Postings, Rank, View};
use crate::search::index::rank_of;
use crate::sorted;

use super::progress::{Candidate, Reading, Search};
use super::weights::{Table, Tables, Weights};
use super::words::{Expansion, Expansions};

/// With so many times more postings than candidates, a long list is searched for the candidates instead of read.
const SEEK_RATIO: u64 = 24;

/// What documents with more of the words are ahead of those with fewer.
pub(super) const MORE_WORDS_SCORE: i32 = 1_000_000;

/// As for [`SEEK_RATIO`], for one list.
const LIST_SEEK_RATIO: usize = 8;

/// Where a candidate is: its view, and its place there.
fn place_of(candidate: &Candidate) -> u64 {
    sorted::pair(candidate.view.into(), candidate.place)
}

impl Search<'_> {
    /// Finds all candidates of all readings of a query, view by view; a document that several readings find is there once.
    pub(super) fn run(&mut self, readings: &[Reading<'_>]) -> Result<(), Failure> {
        self.scratch.found.clear();
        self.scratch.close.clear();
        let mut first = 0;
        for (number, reading) in (0..).zip(readings) {
            let base = self.scratch.found.len();
            self.read(reading)?;
            if number == 0 {
                first = self.scratch.found.len();
            }
            for candidate in self.scratch.found.iter_mut().skip(base).filter(|_| number > 0) {
                candidate.reading = number;
                candidate.joined = reading.joined;
                candidate.score += reading.bonus;
            }
        }
        if self.scratch.found.len() > first {
            let found = &mut self.scratch.found;
            sorted::by_key(found, place_of);
            // The best of those that are the same is the first of them.
            found.dedup_by(|next, first| {
                let is_same = place_of(next) == place_of(first);
                if is_same && next.score > first.score {
                    *first = *next;
                }
                is_same
            });
        }
        Ok(())
    }

    /// Appends the candidates of one reading.
    fn read(&mut self, reading: &Reading<'_>) -> Result<(), Failure> {
        let words = &reading.words;
        for (number, view) in (0u16..).zip(self.views) {
            let allowed = self.allowed.get(usize::from(number)).and_then(Option::as_ref).unwrap_or(view.live);
            let within = reading.within.and_then(|within| within.get(usize::from(number)));
            let both = within.map(|within| {
                let mut both = allowed.clone();
                both.keep(within);
                both
            });
            let allowed = both.as_ref().unwrap_or(allowed);
            let base = self.scratch.found.len();
            if words.is_empty() {
                self.request.meter.work(u64::from(view.part.places()))?;
                self.request.meter.memory(allowed.count() as usize * size_of::<Candidate>())?;
                let all =
                    allowed.iter().map(|place| Candidate { place, view: number, ..Candidate::default() });
                self.scratch.found.extend(all);
            } else {
                self.intersect(*view, number, allowed, words)?;
            }
            if let Some(field) = self.request.popularity {
                let found = self.scratch.found.get_mut(base..).unwrap_or_default();
                self.request.meter.memory(found.len() * (size_of::<u32>() + size_of::<f64>()))?;
                let places: Vec<u32> = found.iter().map(|candidate| candidate.place).collect();
                let mut numbers = Vec::with_capacity(found.len());
                view.part.numbers(field, &places, &mut numbers);
                for (candidate, number) in found.iter_mut().zip(&numbers) {
                    candidate.score += self.request.weights.popularity(*number);
                }
            }
        }
        Ok(())
    }

    fn intersect(
        &mut self,
        view: View<'_>,
        number: u16,
        allowed: &Bits,
        words: &[&Expansions],
    ) -> Result<(), Failure> {
        let places = view.part.places() as usize;
        let scratch = &mut *self.scratch;
        if scratch.marks.len() < places {
            self.request.meter.memory((places - scratch.marks.len()) * 8)?;
            scratch.marks.resize(places, 0);
        }
        scratch.round = scratch.round.wrapping_add(1);
        if scratch.round == 0 {
            scratch.marks.fill(0);
            scratch.round = 1;
        }
        let sum = |word: &&Expansions| {
            word.of_view(number).iter().map(|list| u64::from(list.2.documents)).sum::<u64>()
        };
        let mut order: Vec<(u64, usize)> =
            words.iter().enumerate().map(|(at, word)| (sum(word), at)).collect();
        sorted::by_key(&mut order, |(sum, _)| *sum);
        let least = order.first().map_or(0, |first| first.0).min(places as u64);
        self.request.meter.memory(least as usize * size_of::<Candidate>())?;
        let mut work = Work {
            base: scratch.found.len(),
            marks: &mut scratch.marks,
            round: u64::from(scratch.round),
            found: &mut scratch.found,
            part: view.part,
            view: number,
            weights: self.request.weights,
            tables: &mut self.tables,
            fields: self.fields.as_deref(),
            turn: 0,
            word: 0,
            steps: 0,
        };
        for (turn, (sum, at)) in order.iter().enumerate() {
            let Some(word) = words.get(*at) else { continue };
            work.turn = turn as u8;
            work.word = *at;
            let count = work.found.len() - work.base;
            let are_few = turn > 0 && count as u64 * SEEK_RATIO < *sum;
            for (_, expansion, list) in word.of_view(number) {
                let Some(kind) = word.all.get(*expansion as usize) else { continue };
                let documents = list.documents as usize;
                if are_few && documents > BLOCK && count * LIST_SEEK_RATIO < documents {
                    work.seek(*list, *kind, *expansion as u16);
                } else if turn == 0 {
                    work.first(*list, *kind, *expansion as u16, allowed);
                } else {
                    work.read(*list, *kind, *expansion as u16);
                }
            }
            self.request.meter.work(std::mem::take(&mut work.steps))?;
            work.finish(order.len() > 1);
            if work.found.len() == work.base {
                break;
            }
        }
        Ok(())
    }

    /// Puts what more words have found before the rest. Fewer words find the same, but for matches in which neighbours are one word.
    pub(super) fn prefer(&mut self, before: &mut [Candidate]) {
        sorted::by_key(before, place_of);
        let mut is_there = vec![false; before.len()];
        for candidate in &mut self.scratch.found {
            if let Ok(at) = before.binary_search_by_key(&place_of(candidate), place_of)
                && let (Some(before), Some(is_there)) = (before.get(at), is_there.get_mut(at))
            {
                *is_there = true;
                candidate.score = before.score.saturating_add(MORE_WORDS_SCORE);
                candidate.joined = before.joined;
            }
        }
        for (before, _) in before.iter().zip(is_there).filter(|(_, is_there)| !is_there) {
            let score = before.score.saturating_add(MORE_WORDS_SCORE);
            self.scratch.found.push(Candidate {
                score,
                matched: before.matched.saturating_sub(1),
                ..*before
            });
        }
        // One view after the other, as everywhere.
        sorted::by_key(&mut self.scratch.found, place_of);
        // The best are no longer among those alone that were looked at closely.
        self.scratch.close.clear();
    }
}

/// The work on one view.
struct Work<'w> {
    marks: &'w mut [u64],
    round: u64,
    found: &'w mut Vec<Candidate>,
    /// Where the candidates of the view begin.
    base: usize,
    part: &'w dyn Part,
    view: u16,
    weights: &'w Weights,
    tables: &'w mut Tables,
    fields: Option<&'w [bool]>,
    turn: u8,
    word: usize,
    steps: u64,
}

/// Where the candidate of a mark is, if it was made in this round.
#[inline]
fn slot(mark: u64, round: u64) -> Option<usize> {
    (mark >> 32 == round).then_some((mark & 0xFFFF_FFFF) as usize)
}

impl Work<'_> {
    /// The postings of the first word make candidates.
    fn first(&mut self, list: List, kind: Expansion, number: u16, allowed: &Bits) {
        let table = self.tables.of(self.weights, kind);
        let mut inside = self.fields.map(|fields| Inside::new(self.part, list, fields));
        let mut postings = self.part.postings(list);
        let mut block = Block::default();
        while postings.next_block(&mut block) {
            self.steps += block.len as u64;
            for (place, rank) in block.iter() {
                let rank = match &mut inside {
                    None => *rank,
                    Some(inside) => match inside.rank(*place, *rank) {
                        Some(rank) => rank,
                        None => continue,
                    },
                };
                let Some(mark) = self.marks.get_mut(*place as usize) else { continue };
                let score = score_of(table, rank);
                if let Some(candidate) = slot(*mark, self.round).and_then(|slot| self.found.get_mut(slot)) {
                    merge(candidate, 0, self.word, number, score);
                } else if allowed.has(*place) {
                    *mark = self.round << 32 | self.found.len() as u64;
                    let mut candidate = Candidate {
                        place: *place,
                        score,
                        last: score,
                        view: self.view,
                        matched: 1,
                        ..Candidate::default()
                    };
                    if let Some(expansion) = candidate.expansions.get_mut(self.word) {
                        *expansion = number;
                    }
                    self.found.push(candidate);
                }
            }
        }
    }

    /// The postings of a later word meet the candidates.
    fn read(&mut self, list: List, kind: Expansion, number: u16) {
        let table = self.tables.of(self.weights, kind);
        let mut inside = self.fields.map(|fields| Inside::new(self.part, list, fields));
        let mut postings = self.part.postings(list);
        let mut block = Block::default();
        while postings.next_block(&mut block) {
            self.steps += block.len as u64;
            for (place, rank) in block.iter() {
                if let Some(slot) = self.marks.get(*place as usize).and_then(|mark| slot(*mark, self.round))
                    && let Some(rank) =
                        inside.as_mut().map_or(Some(*rank), |inside| inside.rank(*place, *rank))
                    && let Some(candidate) = self.found.get_mut(slot)
                {
                    merge(candidate, self.turn, self.word, number, score_of(table, rank));
                }
            }
        }
    }

    /// The candidates, which are in the order of places, are looked for in a long list.
    fn seek(&mut self, list: List, kind: Expansion, number: u16) {
        let table = self.tables.of(self.weights, kind);
        let mut inside = self.fields.map(|fields| Inside::new(self.part, list, fields));
        let mut postings = self.part.postings(list);
        let mut block = Block::default();
        let mut at = 0;
        for candidate in self.found.iter_mut().skip(self.base) {
            let last = block.len.checked_sub(1).and_then(|last| block.places.get(last).copied());
            if last.is_none_or(|last| last < candidate.place) {
                postings.skip_to(candidate.place);
                if !postings.next_block(&mut block) {
                    break;
                }
                self.steps += block.len as u64;
                at = 0;
            }
            let rest = block.places.get(at..block.len).unwrap_or_default();
            at += rest.partition_point(|place| *place < candidate.place);
            if let (Some(place), Some(rank)) = (block.places.get(at), block.ranks.get(at))
                && at < block.len
                && *place == candidate.place
                && let Some(rank) = inside.as_mut().map_or(Some(*rank), |inside| inside.rank(*place, *rank))
            {
                merge(candidate, self.turn, self.word, number, score_of(table, rank));
            }
        }
    }

    /// Drops candidates that the present word did not meet.
    fn finish(&mut self, has_more: bool) {
        let need = self.turn + 1;
        let round = self.round;
        if self.turn > 0 {
            let mut kept = self.base;
            for at in self.base..self.found.len() {
                let Some(candidate) = self.found.get(at).copied() else { break };
                if candidate.matched == need {
                    if let Some(to) = self.found.get_mut(kept) {
                        *to = candidate;
                    }
                    kept += 1;
                } else if let Some(mark) = self.marks.get_mut(candidate.place as usize) {
                    *mark = 0;
                }
            }
            self.found.truncate(kept);
        } else if has_more {
            // Later words are looked for in the order of places.
            self.in_order();
        }
        if has_more {
            for (at, candidate) in self.found.iter().enumerate().skip(self.base) {
                if let Some(mark) = self.marks.get_mut(candidate.place as usize) {
                    *mark = round << 32 | at as u64;
                }
            }
        }
    }
}

/// With so many places for each candidate, a sort is quicker than a walk through a bit for each place.
const SORT_RATIO: usize = 1024;

impl Work<'_> {
    /// Puts the candidates of the view in the order of their places.
    fn in_order(&mut self) {
        let own = self.found.get_mut(self.base..).unwrap_or_default();
        if own.len() < self.part.places() as usize / SORT_RATIO {
            sorted::by_key(own, |candidate| candidate.place.into());
            return;
        }
        let mut places = Bits::none(self.part.places());
        own.iter().for_each(|candidate| {
            places.add(candidate.place);
        });
        let slots = places
            .iter()
            .filter_map(|place| self.marks.get(place as usize).and_then(|mark| slot(*mark, self.round)));
        let ordered: Vec<Candidate> = slots.filter_map(|slot| self.found.get(slot).copied()).collect();
        self.found.truncate(self.base);
        self.found.extend(ordered);
    }
}

#[inline]
fn score_of(table: &Table, rank: Rank) -> i32 {
    table[usize::from(rank.0)]
}

/// A further expansion of a word counts if it is better than the one before; the earlier one wins ties.
#[inline]
fn merge(candidate: &mut Candidate, turn: u8, word: usize, number: u16, score: i32) {
    if candidate.matched == turn {
        candidate.matched += 1;
        candidate.score += score;
    } else if candidate.matched == turn + 1 && score > candidate.last {
        candidate.score += score - candidate.last;
    } else {
        return;
    }
    candidate.last = score;
    if let Some(expansion) = candidate.expansions.get_mut(word) {
        *expansion = number;
    }
}

/// Ranks of a list within some fields only.
struct Inside<'w> {
    part: &'w dyn Part,
    list: List,
    fields: &'w [bool],
    postings: Option<Box<dyn Postings + 'w>>,
    positions: Vec<Position>,
}

impl<'w> Inside<'w> {
    fn new(part: &'w dyn Part, list: List, fields: &'w [bool]) -> Inside<'w> {
        Inside { part, list, fields, postings: None, positions: Vec::new() }
    }

    /// The rank within the fields; None if the word does not stand there.
    fn rank(&mut self, place: u32, rank: Rank) -> Option<Rank> {
        let is_inside = |field: u16| self.fields.get(usize::from(field)).copied().unwrap_or(false);
        let first = u16::from(rank.0 >> 6);
        if first < 3 && is_inside(first) {
            return Some(rank);
        }
        if first < 3 && rank.0 & 7 == 1 {
            return None;
        }
        self.positions.clear();
        let postings = self.postings.get_or_insert_with(|| self.part.postings(self.list));
        postings.positions(place, &mut self.positions);
        let first = self
            .positions
            .iter()
            .position(|position| self.fields.get(usize::from(position.field)) == Some(&true))?;
        Some(rank_of(self.positions.get(first..).unwrap_or_default()))
    }
}
