//! What a word may stand for: itself, words that it begins, words with typos, words that mean the same.

use std::cmp::Reverse;

use crate::search::edits::{Edits, Rules};
use crate::search::evaluate::Failure;
use crate::search::index::part::{List, View, Walk};

use super::{Request, Typos};

/// Expansions that a word keeps at most: their numbers take 16 bits in a candidate.
const EXPANSIONS_MAX: usize = 65_535;

/// One word of the index.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expansion {
    /// How many edits it is away.
    pub(super) typos: u8,
    /// Whether it is the word itself, not only what begins with it.
    pub(super) is_exact: bool,
    /// In how many documents it is, those that are gone included.
    documents: u64,
    /// Where its name is.
    start: usize,
    len: usize,
}

/// All that a word may stand for.
#[derive(Debug, Default)]
pub(super) struct Expansions {
    /// Fewer typos first, then exact before others, then by name.
    pub(super) all: Vec<Expansion>,
    /// Where their postings are: view, number of the expansion, list; in this order.
    lists: Vec<(u32, u32, List)>,
    names: Vec<u8>,
    is_cut: bool,
}

impl Expansions {
    /// Looks a word up in all views.
    pub(super) fn find(
        views: &[View<'_>],
        request: &Request<'_>,
        word: &str,
        is_open: bool,
        typos: Typos,
    ) -> Result<Expansions, Failure> {
        let mut found = Expansions::default();
        for (view, number) in views.iter().zip(0..) {
            found.find_in_view(*view, number, request, word, is_open, typos)?;
        }
        request.meter.memory(found.names.len() + found.lists.len() * 2 * size_of::<Expansion>())?;
        found.merge(views.len());
        found.cut(request.postings_max);
        found.lists.sort_unstable_by_key(|list| (list.0, list.1));
        Ok(found)
    }

    fn find_in_view(
        &mut self,
        view: View<'_>,
        number: u32,
        request: &Request<'_>,
        word: &str,
        is_open: bool,
        typos: Typos,
    ) -> Result<(), Failure> {
        let bytes = word.as_bytes();
        let mut steps = 0u64;
        if is_open {
            view.part.words(bytes, &mut |term, _, list| {
                steps += 1;
                if !term.starts_with(bytes) {
                    return Walk::End;
                }
                self.push(term, number, list, 0, term.len() == bytes.len());
                Walk::On
            });
        } else if let Some(list) = view.part.word(bytes) {
            self.push(bytes, number, list, 0, true);
        }
        let characters = word.chars().count();
        let distance_max = match typos.one_min {
            Some(one_min) if characters >= typos.two_min.max(one_min) => 2,
            Some(one_min) if characters >= one_min => 1,
            _ => 0,
        };
        if distance_max > 0 {
            let mut edits = Edits::default();
            edits.start(word, Rules { distance_max, is_prefix: is_open, has_swaps: true });
            // The first letter is nearly always right, and leaves most terms out.
            let first = word.chars().next().map_or(0, char::len_utf8);
            let first = bytes.get(..first).unwrap_or_default();
            view.part.words(first, &mut |term, shared, list| {
                steps += 1;
                if !term.starts_with(first) {
                    return Walk::End;
                }
                let (distance, walk) = edits.next(term, shared);
                if let Some(distance) = distance.filter(|distance| *distance > 0) {
                    self.push(term, number, list, distance, false);
                }
                walk
            });
        }
        (request.synonyms)(word, &mut |other| {
            if let Some(list) = view.part.word(other.as_bytes()) {
                self.push(other.as_bytes(), number, list, 0, false);
            }
        });
        request.meter.work(steps)
    }

    fn push(&mut self, term: &[u8], view: u32, list: List, typos: u8, is_exact: bool) {
        let start = self.names.len();
        self.names.extend_from_slice(term);
        self.lists.push((view, self.all.len() as u32, list));
        self.all.push(Expansion {
            typos,
            is_exact,
            documents: u64::from(list.documents),
            start,
            len: term.len(),
        });
    }

    fn name(&self, expansion: &Expansion) -> &[u8] {
        self.names.get(expansion.start..expansion.start + expansion.len).unwrap_or_default()
    }

    /// Makes one expansion of those with the same name, and puts them in order.
    fn merge(&mut self, views: usize) {
        let mut order: Vec<u32> = (0..self.all.len() as u32).collect();
        let all = &self.all;
        let key = |at: u32| {
            all.get(at as usize).map(|expansion| (self.name(expansion), expansion.typos, !expansion.is_exact))
        };
        let is_merged = views == 1
            && all
                .iter()
                .zip(all.iter().skip(1))
                .all(|(a, b)| (a.typos, !a.is_exact, self.name(a)) < (b.typos, !b.is_exact, self.name(b)));
        if is_merged {
            return;
        }
        order.sort_unstable_by(|a, b| key(*a).cmp(&key(*b)));
        let mut merged: Vec<Expansion> = Vec::with_capacity(order.len());
        let mut numbers: Vec<u32> = vec![0; all.len()];
        let mut lists = Vec::with_capacity(self.lists.len());
        for at in order {
            let (Some(expansion), Some((view, _, list))) =
                (all.get(at as usize), self.lists.get(at as usize))
            else {
                continue;
            };
            match merged.last_mut() {
                Some(last) if self.name(last) == self.name(expansion) => {
                    // The same word of the same view may come twice: with a typo, and as a synonym.
                    let number = merged.len() as u32 - 1;
                    if lists
                        .iter()
                        .rev()
                        .take_while(|(_, other, _)| *other == number)
                        .all(|(other, _, _)| other != view)
                    {
                        last_documents(&mut merged, expansion.documents);
                        lists.push((*view, number, *list));
                    }
                }
                _ => {
                    lists.push((*view, merged.len() as u32, *list));
                    merged.push(*expansion);
                }
            }
        }
        let mut sorted: Vec<u32> = (0..merged.len() as u32).collect();
        let rank = |at: u32| {
            merged
                .get(at as usize)
                .map(|expansion| (expansion.typos, !expansion.is_exact, self.name(expansion)))
        };
        sorted.sort_unstable_by(|a, b| rank(*a).cmp(&rank(*b)));
        for (new, old) in (0..).zip(&sorted) {
            if let Some(number) = numbers.get_mut(*old as usize) {
                *number = new;
            }
        }
        lists.iter_mut().for_each(|list| list.1 = numbers.get(list.1 as usize).copied().unwrap_or(0));
        self.all = sorted.iter().filter_map(|at| merged.get(*at as usize).copied()).collect();
        self.lists = lists;
    }

    /// Keeps the best: fewer typos, the word itself, then the frequent ones, until they have too many postings.
    fn cut(&mut self, postings_max: u64) {
        let sum: u64 = self.all.iter().map(|expansion| expansion.documents).sum();
        if sum <= postings_max && self.all.len() <= EXPANSIONS_MAX {
            return;
        }
        let mut order: Vec<u32> = (0..self.all.len() as u32).collect();
        // Stable, so that ties are by name.
        order.sort_by_key(|at| {
            self.all
                .get(*at as usize)
                .map(|expansion| (expansion.typos, !expansion.is_exact, Reverse(expansion.documents)))
        });
        let (mut sum, mut kept) = (0u64, vec![false; self.all.len()]);
        for (count, at) in order.iter().enumerate() {
            let Some(expansion) = self.all.get(*at as usize) else { break };
            sum = sum.saturating_add(expansion.documents);
            if count > 0 && sum > postings_max || count >= EXPANSIONS_MAX {
                break;
            }
            if let Some(kept) = kept.get_mut(*at as usize) {
                *kept = true;
            }
        }
        let mut numbers = Vec::with_capacity(kept.len());
        let mut number = 0u32;
        for kept in &kept {
            numbers.push(kept.then_some(number));
            number += u32::from(*kept);
        }
        let new = |number: u32| numbers.get(number as usize).copied().flatten();
        self.is_cut = true;
        self.lists = self
            .lists
            .iter()
            .filter_map(|(view, number, list)| Some((*view, new(*number)?, *list)))
            .collect();
        self.all =
            self.all.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(expansion, _)| *expansion).collect();
    }

    /// Whether nothing was left out.
    pub(super) fn is_whole(&self) -> bool {
        !self.is_cut
    }

    /// The lists of a view: the number of the expansion, and where its postings are.
    pub(super) fn of_view(&self, view: u32) -> &[(u32, u32, List)] {
        let start = self.lists.partition_point(|list| list.0 < view);
        let end = self.lists.partition_point(|list| list.0 <= view);
        self.lists.get(start..end).unwrap_or_default()
    }
}

fn last_documents(merged: &mut [Expansion], more: u64) {
    if let Some(last) = merged.last_mut() {
        last.documents += more;
    }
}
