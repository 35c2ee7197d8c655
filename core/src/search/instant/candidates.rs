//! Documents that have all words, part by part, each with the best of a word's expansions.

use crate::search::bits::Bits;
use crate::search::evaluate::Failure;
use crate::search::index::part::{BLOCK, Block, List, Part, Position, Postings, Rank, View};

use super::rank::Weights;
use super::words::{Expansion, Expansions};
use super::{Request, Scratch, WORDS_MAX};

/// With so many times more postings than candidates, a long list is searched for the candidates instead of read.
const SEEK_RATIO: u64 = 24;

/// As for [`SEEK_RATIO`], for one list.
const LIST_SEEK_RATIO: usize = 8;

/// A document that has the words so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Candidate {
    pub(super) place: u32,
    pub(super) score: i32,
    /// What the present word has added.
    last: i32,
    /// How many words matched.
    matched: u8,
    /// The expansion of each word that counted most.
    pub(super) expansions: [u16; WORDS_MAX],
}

/// A query on its way.
pub(super) struct Search<'s> {
    pub(super) views: &'s [View<'s>],
    pub(super) request: &'s Request<'s>,
    pub(super) allowed: &'s [Option<Bits>],
    pub(super) scratch: &'s mut Scratch,
    /// Which text fields count, if not all.
    pub(super) fields: Option<Vec<bool>>,
}

impl Search<'_> {
    /// Finds all candidates, in the order of views and places.
    pub(super) fn run(&mut self, words: &[Expansions]) -> Result<(), Failure> {
        self.scratch.found.clear();
        for (number, view) in self.views.iter().enumerate() {
            let allowed = self.allowed.get(number).and_then(Option::as_ref).unwrap_or(view.live);
            self.scratch.candidates.clear();
            if words.is_empty() {
                self.request.meter.work(u64::from(view.part.places()))?;
                let all = allowed.iter().map(|place| Candidate { place, ..Candidate::default() });
                self.scratch.candidates.extend(all);
            } else {
                self.intersect(*view, number as u32, allowed, words)?;
            }
            self.request.meter.memory(self.scratch.candidates.len() * size_of::<(u32, Candidate)>())?;
            let popularity = self.request.popularity;
            let scratch = &mut *self.scratch;
            scratch.found.extend(scratch.candidates.iter().map(|candidate| {
                let popular = popularity.and_then(|field| view.part.number(field, candidate.place));
                let score = candidate.score + self.request.weights.popularity(popular);
                (number as u32, Candidate { score, ..*candidate })
            }));
        }
        Ok(())
    }

    fn intersect(
        &mut self,
        view: View<'_>,
        number: u32,
        allowed: &Bits,
        words: &[Expansions],
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
        let sum = |word: &Expansions| {
            word.of_view(number).iter().map(|list| u64::from(list.2.documents)).sum::<u64>()
        };
        let mut order: Vec<(u64, usize)> =
            words.iter().enumerate().map(|(at, word)| (sum(word), at)).collect();
        order.sort_unstable();
        let mut work = Work {
            scratch,
            part: view.part,
            weights: self.request.weights,
            fields: self.fields.as_deref(),
            turn: 0,
            word: 0,
            steps: 0,
        };
        for (turn, (sum, at)) in order.iter().enumerate() {
            let Some(word) = words.get(*at) else { continue };
            work.turn = turn as u8;
            work.word = *at;
            let are_few = turn > 0 && (work.scratch.candidates.len() as u64) * SEEK_RATIO < *sum;
            for (_, expansion, list) in word.of_view(number) {
                let Some(kind) = word.all.get(*expansion as usize) else { continue };
                let is_sought =
                    are_few && work.scratch.candidates.len() * LIST_SEEK_RATIO < list.documents as usize;
                if is_sought && list.documents as usize > BLOCK {
                    work.seek(*list, *kind, *expansion as u16);
                } else if turn == 0 {
                    work.first(*list, *kind, *expansion as u16, allowed);
                } else {
                    work.read(*list, *kind, *expansion as u16);
                }
            }
            self.request.meter.work(std::mem::take(&mut work.steps))?;
            work.finish(order.len() > 1);
            if work.scratch.candidates.is_empty() {
                break;
            }
        }
        Ok(())
    }
}

/// The work on one view.
struct Work<'w> {
    scratch: &'w mut Scratch,
    part: &'w dyn Part,
    weights: &'w Weights,
    fields: Option<&'w [bool]>,
    turn: u8,
    word: usize,
    steps: u64,
}

fn empty_block() -> Block {
    Block { places: [0; BLOCK], ranks: [Rank(0); BLOCK], len: 0 }
}

impl Work<'_> {
    /// Where a place's candidate is, if it has one in this round.
    #[inline]
    fn slot(&self, place: u32) -> Option<usize> {
        let mark = self.scratch.marks.get(place as usize).copied().unwrap_or(0);
        (mark >> 32 == u64::from(self.scratch.round)).then_some((mark & 0xFFFF_FFFF) as usize)
    }

    #[inline]
    fn mark(&mut self, place: u32, slot: usize) {
        let round = self.scratch.round;
        if let Some(mark) = self.scratch.marks.get_mut(place as usize) {
            *mark = u64::from(round) << 32 | slot as u64;
        }
    }

    /// The postings of the first word make candidates.
    fn first(&mut self, list: List, kind: Expansion, number: u16, allowed: &Bits) {
        let table = self.weights.table(kind);
        let mut inside = self.fields.map(|fields| Inside::new(self.part, list, fields));
        let mut postings = self.part.postings(list);
        let mut block = empty_block();
        while postings.next_block(&mut block) {
            self.steps += block.len as u64;
            for (place, rank) in block.places.iter().zip(&block.ranks).take(block.len) {
                let Some(rank) = inside.as_mut().map_or(Some(*rank), |inside| inside.rank(*place, *rank))
                else {
                    continue;
                };
                let score = table.score(rank);
                if let Some(candidate) =
                    self.slot(*place).and_then(|slot| self.scratch.candidates.get_mut(slot))
                {
                    merge(candidate, 0, self.word, number, score);
                    continue;
                }
                if !allowed.has(*place) {
                    continue;
                }
                self.mark(*place, self.scratch.candidates.len());
                let mut candidate = Candidate { place: *place, ..Candidate::default() };
                merge(&mut candidate, 0, self.word, number, score);
                self.scratch.candidates.push(candidate);
            }
        }
    }

    /// The postings of a later word meet the candidates.
    fn read(&mut self, list: List, kind: Expansion, number: u16) {
        let table = self.weights.table(kind);
        let mut inside = self.fields.map(|fields| Inside::new(self.part, list, fields));
        let mut postings = self.part.postings(list);
        let mut block = empty_block();
        while postings.next_block(&mut block) {
            self.steps += block.len as u64;
            for (place, rank) in block.places.iter().zip(&block.ranks).take(block.len) {
                if let Some(slot) = self.slot(*place)
                    && let Some(rank) =
                        inside.as_mut().map_or(Some(*rank), |inside| inside.rank(*place, *rank))
                    && let Some(candidate) = self.scratch.candidates.get_mut(slot)
                {
                    merge(candidate, self.turn, self.word, number, table.score(rank));
                }
            }
        }
    }

    /// The candidates, which are in the order of places, are looked for in a long list.
    fn seek(&mut self, list: List, kind: Expansion, number: u16) {
        let table = self.weights.table(kind);
        let mut inside = self.fields.map(|fields| Inside::new(self.part, list, fields));
        let mut postings = self.part.postings(list);
        let mut block = empty_block();
        let mut at = 0;
        for candidate in &mut self.scratch.candidates {
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
                merge(candidate, self.turn, self.word, number, table.score(rank));
            }
        }
    }

    /// Drops candidates that the present word did not meet.
    fn finish(&mut self, has_more: bool) {
        let need = self.turn + 1;
        if self.turn == 0 {
            self.scratch.candidates.sort_unstable_by_key(|candidate| candidate.place);
            if !has_more {
                return;
            }
        } else {
            let (marks, candidates) = (&mut self.scratch.marks, &mut self.scratch.candidates);
            candidates.retain(|candidate| {
                let is_kept = candidate.matched == need;
                if let Some(mark) = marks.get_mut(candidate.place as usize).filter(|_| !is_kept) {
                    *mark = 0;
                }
                is_kept
            });
        }
        for slot in 0..self.scratch.candidates.len() {
            if let Some(place) = self.scratch.candidates.get(slot).map(|candidate| candidate.place) {
                self.mark(place, slot);
            }
        }
    }
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
        Some(super::rank::rank_of(self.positions.get(first..).unwrap_or_default()))
    }
}
