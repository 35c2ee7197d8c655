//! What a word may stand for: itself, words that it begins, words with typos, words that mean the same.

use crate::search::edits::{Edits, Rules};
use crate::search::evaluate::{Failure, Synonyms};
use crate::search::index::part::{Block, List, View, Walk};
use crate::sorted;

use super::heads::{self, Kept};
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

impl Expansion {
    /// Fewer typos first, then exact before others.
    pub(super) fn class(&self) -> u64 {
        u64::from(self.typos) << 1 | u64::from(!self.is_exact)
    }
}

/// All that a word may stand for.
#[derive(Debug, Default)]
pub(super) struct Expansions {
    /// Fewer typos first, then exact before others, then by name.
    pub(super) all: Vec<Expansion>,
    /// Where their postings are: view, number of the expansion, list; in this order.
    lists: Vec<(u16, u32, List)>,
    names: Vec<u8>,
    /// Whether the same word may have been found twice, and names tell.
    has_names: bool,
    is_cut: bool,
}

impl Expansions {
    /// Looks a word up in all views.
    pub(super) fn find(
        views: &[View<'_>],
        request: &Request<'_>,
        word: &str,
        is_open: bool,
        (typos, synonyms_of): (Typos, Synonyms<'_>),
    ) -> Result<Expansions, Failure> {
        // Most words that are being typed stand for some hundred.
        let (all, lists) = (Vec::with_capacity(256), Vec::with_capacity(256));
        let mut found = Expansions { all, lists, ..Expansions::default() };
        let mut synonyms = Vec::new();
        synonyms_of(word, &mut |other| synonyms.push(other.to_string()));
        found.has_names = views.len() > 1 || !synonyms.is_empty();
        if is_open
            && synonyms.is_empty()
            && distance_max(word, typos) == 0
            && let Some(kept) = heads::kept(views, request, word.as_bytes())?
        {
            return Ok(Expansions::of_kept(kept, word.as_bytes()));
        }
        for (view, number) in views.iter().zip(0..) {
            found.find_in_view(*view, number, request, word, is_open, typos)?;
            for other in &synonyms {
                if let Some(list) = view.part.word(other.as_bytes()) {
                    found.push(other.as_bytes(), number, list, 0, false);
                }
            }
        }
        request.meter.memory(found.names.len() + found.lists.len() * 2 * size_of::<Expansion>())?;
        if found.has_names {
            found.merge();
        } else {
            found.order();
        }
        found.cut(request.postings_max());
        sorted::by_key(&mut found.lists, |list| sorted::pair(list.0.into(), list.1));
        Ok(found)
    }

    /// Those that the cut keeps, the word itself first, then by name.
    fn of_kept(kept: Vec<Kept>, word: &[u8]) -> Expansions {
        let mut found = Expansions { is_cut: true, ..Expansions::default() };
        for (number, kept) in (0..).zip(kept) {
            found.lists.extend(kept.lists.iter().map(|(view, list)| (*view, number, *list)));
            let (is_exact, len) = (kept.name == word, kept.name.len());
            found.all.push(Expansion { typos: 0, is_exact, documents: kept.documents, start: 0, len });
        }
        sorted::by_key(&mut found.lists, |list| sorted::pair(list.0.into(), list.1));
        found
    }

    fn find_in_view(
        &mut self,
        view: View<'_>,
        number: u16,
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
        let distance_max = distance_max(word, typos);
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
        request.meter.work(steps)
    }

    fn push(&mut self, term: &[u8], view: u16, list: List, typos: u8, is_exact: bool) {
        let start = self.names.len();
        if self.has_names {
            self.names.extend_from_slice(term);
        }
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

    /// Puts expansions of one view in order. They were found in the order of names already.
    fn order(&mut self) {
        if self.all.is_sorted_by_key(Expansion::class) {
            return;
        }
        let mut order: Vec<(Expansion, (u16, u32, List))> =
            self.all.drain(..).zip(self.lists.drain(..)).collect();
        sorted::by_key(&mut order, |(expansion, _)| expansion.class());
        for ((expansion, (view, _, list)), number) in order.into_iter().zip(0..) {
            self.all.push(expansion);
            self.lists.push((view, number, list));
        }
    }

    /// Makes one expansion of those with the same name, and puts them in order.
    fn merge(&mut self) {
        let all = &self.all;
        let name = |at: u32| all.get(at as usize).map_or(&[][..], |expansion| self.name(expansion));
        let mut order = sorted::by_text(all.len() as u32, &name);
        let mut merged: Vec<(Expansion, u32)> = Vec::with_capacity(order.len());
        let mut lists = Vec::with_capacity(self.lists.len());
        for same in order.chunk_by(|one, other| name(*one) == name(*other)) {
            let expansion = |at: u32| all.get(at as usize).copied();
            let Some(mut best) = same.iter().filter_map(|at| expansion(*at)).min_by_key(Expansion::class)
            else {
                continue;
            };
            best.documents = 0;
            let number = merged.len() as u32;
            let first = lists.len();
            for at in same {
                let Some((view, _, list)) = self.lists.get(*at as usize).copied() else { continue };
                // The same word of the same view may come twice: with a typo, and as a synonym.
                if lists.iter().skip(first).all(|(other, _, _)| *other != view) {
                    best.documents += u64::from(list.documents);
                    lists.push((view, number, list));
                }
            }
            merged.push((best, number));
        }
        // They stay in the order of names where they are of one class.
        sorted::by_key(&mut merged, |(expansion, _)| expansion.class());
        order.resize(merged.len(), 0);
        for (new, (_, old)) in (0..).zip(&merged) {
            if let Some(number) = order.get_mut(*old as usize) {
                *number = new;
            }
        }
        lists.iter_mut().for_each(|list| list.1 = order.get(list.1 as usize).copied().unwrap_or(0));
        self.all = merged.into_iter().map(|(expansion, _)| expansion).collect();
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
        sorted::by_key(&mut order, |at| {
            self.all.get(*at as usize).map_or(u64::MAX, |expansion| {
                expansion.class() << 56 | (!expansion.documents & (u64::MAX >> 8))
            })
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

    /// In how many documents that live its expansions are, counted for each of them.
    pub(super) fn live_documents(&self, views: &[View<'_>], request: &Request<'_>) -> Result<u64, Failure> {
        let mut count = 0;
        let mut block = Block::default();
        for (view, _, list) in &self.lists {
            let Some(view) = views.get(usize::from(*view)) else { continue };
            request.meter.work(u64::from(list.documents))?;
            let mut postings = view.part.postings(*list);
            while postings.next_block(&mut block) {
                let places = block.places.iter().take(block.len);
                count += places.filter(|place| view.live.has(**place)).count() as u64;
            }
        }
        Ok(count)
    }

    /// Whether nothing was left out.
    pub(super) fn is_whole(&self) -> bool {
        !self.is_cut
    }

    /// The postings of an expansion in a view.
    pub(super) fn list(&self, view: u16, expansion: u16) -> Option<List> {
        let lists = self.of_view(view);
        let at = lists.binary_search_by_key(&u32::from(expansion), |list| list.1).ok()?;
        lists.get(at).map(|(_, _, list)| *list)
    }

    /// The lists of a view: the number of the expansion, and where its postings are.
    pub(super) fn of_view(&self, view: u16) -> &[(u16, u32, List)] {
        let start = self.lists.partition_point(|list| list.0 < view);
        let end = self.lists.partition_point(|list| list.0 <= view);
        self.lists.get(start..end).unwrap_or_default()
    }
}

/// How many typos a word may have.
pub(super) fn distance_max(word: &str, typos: Typos) -> u8 {
    let characters = word.chars().count();
    match typos.one_min {
        Some(one_min) if characters >= typos.two_min.max(one_min) => 2,
        Some(one_min) if characters >= one_min => 1,
        _ => 0,
    }
}
