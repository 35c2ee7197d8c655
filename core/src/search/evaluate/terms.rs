//! Places that have at least one of some terms.

use std::borrow::Cow;

use crate::search::bits::Bits;
use crate::search::index::part::{Block, List, Position, Postings, Rank, View};

use crate::sorted;

use super::Failure;
use super::plan::{ALL_FIELDS, Listed, Term, Terms, bit};
use super::run::{Hits, Run};
use super::score::Scorer;

/// Lists that together have less than one in so many of a part's places are sorted; others are marked in sets of all places.
const DENSE_RATIO: u64 = 16;

/// Gathers places in any order, and what each adds to its score.
pub(super) enum Gather {
    Sparse(Vec<(u32, f64)>),
    Dense(Bits, Vec<f64>),
}

impl Gather {
    /// For at most so many places of a view, roughly.
    pub(super) fn new(run: &Run<'_>, estimate: u64) -> Result<Gather, Failure> {
        let places = run.view.part.places();
        if estimate < u64::from(places) / DENSE_RATIO {
            return Ok(Gather::Sparse(Vec::new()));
        }
        let scores = if run.has_scores { places as usize } else { 0 };
        run.meter.memory(places as usize / 8 + scores * 8)?;
        Ok(Gather::Dense(Bits::none(places), vec![0.0; scores]))
    }

    pub(super) fn add(&mut self, place: u32, score: f64, is_best: bool) {
        match self {
            Gather::Sparse(pairs) => pairs.push((place, score)),
            Gather::Dense(bits, scores) => {
                bits.add(place);
                if let Some(sum) = scores.get_mut(place as usize) {
                    *sum = if is_best { sum.max(score) } else { *sum + score };
                }
            }
        }
    }

    pub(super) fn hits(self, run: &Run<'_>, is_best: bool) -> Result<Hits, Failure> {
        let mut hits = Hits::default();
        match self {
            Gather::Sparse(mut pairs) => {
                // Stable: what is added first is summed first, in every part alike.
                sorted::by_key(&mut pairs, |pair| pair.0.into());
                run.meter.memory(pairs.len() * 12)?;
                for same in pairs.chunk_by(|a, b| a.0 == b.0) {
                    let Some((place, _)) = same.first() else { continue };
                    hits.places.push(*place);
                    if run.has_scores {
                        let scores = same.iter().map(|pair| pair.1);
                        hits.scores.push(if is_best { scores.fold(0.0, f64::max) } else { scores.sum() });
                    }
                }
            }
            Gather::Dense(bits, scores) => {
                run.meter.memory(bits.count() as usize * if run.has_scores { 12 } else { 4 })?;
                hits.places.extend(bits.iter());
                if run.has_scores {
                    hits.scores.extend(
                        hits.places.iter().map(|place| scores.get(*place as usize).copied().unwrap_or(0.0)),
                    );
                }
            }
        }
        Ok(hits)
    }
}

/// Which places count.
pub(super) struct Within<'w> {
    /// The places in rising order, if they are not simply all live ones.
    places: Option<&'w [u32]>,
    marks: Cow<'w, Bits>,
}

impl<'w> Within<'w> {
    pub(super) fn new(run: &Run<'w>, places: Option<&'w [u32]>) -> Within<'w> {
        let marks = places.map_or(Cow::Borrowed(run.view.live), |places| {
            Cow::Owned(Bits::of(run.view.part.places(), places))
        });
        Within { places, marks }
    }
}

/// A list of fewer postings than so many for each place that counts is read as a whole.
const SKIP_RATIO: usize = 8;

/// Shows the postings of a list that count.
pub(super) fn each_posting(
    run: &Run<'_>,
    list: List,
    within: &Within<'_>,
    each: &mut dyn FnMut(u32, Rank),
) -> Result<(), Failure> {
    let mut postings = run.view.part.postings(list);
    let mut block = Block::default();
    let places =
        within.places.filter(|places| places.len().saturating_mul(SKIP_RATIO) < list.documents as usize);
    let mut rest = places.unwrap_or_default();
    loop {
        if places.is_some() {
            let Some(first) = rest.first() else { break };
            postings.skip_to(*first);
        }
        if !postings.next_block(&mut block) {
            break;
        }
        run.meter.work(block.len as u64)?;
        for (place, rank) in block.iter() {
            if within.marks.has(*place) {
                each(*place, *rank);
            }
        }
        if let Some(last) = block.places.get(block.len.saturating_sub(1)) {
            rest = rest.get(rest.partition_point(|place| place <= last)..).unwrap_or_default();
        }
    }
    Ok(())
}

/// Looks into the positions of a list where the rank says too little.
struct Looker<'r> {
    run: &'r Run<'r>,
    list: List,
    term: Term,
    postings: Option<Box<dyn Postings + 'r>>,
    positions: Vec<Position>,
}

impl<'r> Looker<'r> {
    fn new(run: &'r Run<'r>, list: List, term: Term) -> Looker<'r> {
        Looker { run, list, term, postings: None, positions: Vec::new() }
    }

    fn look(&mut self, place: u32) -> &[Position] {
        let postings = self.postings.get_or_insert_with(|| self.run.view.part.postings(self.list));
        self.positions.clear();
        postings.positions(place, &mut self.positions);
        &self.positions
    }

    /// Whether the term stands in one of its fields.
    fn is_in_fields(&mut self, place: u32, rank: Rank) -> bool {
        let fields = self.term.fields;
        if fields == ALL_FIELDS {
            return true;
        }
        let first = rank.0 >> 6;
        if first < 3 && fields & bit(usize::from(first)) != 0 {
            return true;
        }
        if fields == 0 || first < 3 && rank.0 & 7 == 1 {
            return false;
        }
        self.look(place).iter().any(|position| fields & bit(usize::from(position.field)) != 0)
    }

    /// How often it stands there, weights of fields included.
    fn frequency(&mut self, place: u32, rank: Rank) -> f64 {
        let (first, times) = (u16::from(rank.0 >> 6), rank.0 & 7);
        let (judge, is_stem) = (self.run.judge, self.term.is_stem);
        if times == 1 && first < 3 {
            return judge.weights.of(first, is_stem);
        }
        if let Some(weight) = judge.weights.uniform(is_stem)
            && times < 7
        {
            return weight * f64::from(times.max(1));
        }
        let frequency: f64 =
            self.look(place).iter().map(|position| judge.weights.of(position.field, is_stem)).sum();
        if frequency > 0.0 || is_stem {
            frequency
        } else {
            f64::from(times.max(1)) * judge.weights.of(first, is_stem)
        }
    }
}

/// Places that have one of the words.
pub(super) fn words(run: &Run<'_>, terms: &Terms, within: Option<&[u32]>) -> Result<Hits, Failure> {
    let lists = terms.of_view(run.number);
    let is_best = run.judge.scorer == Scorer::DisMax;
    let mut gather = Gather::new(run, estimate(lists, within))?;
    let within = Within::new(run, within);
    let mut group: Vec<(u32, f64, bool)> = Vec::new();
    for same in lists.chunk_by(|a, b| a.term == b.term) {
        let Some(term) = same.first().and_then(|listed| terms.terms.get(listed.term as usize)) else {
            continue;
        };
        let is_group = same.len() > 1 && run.has_scores;
        for listed in same {
            let mut looker = Looker::new(run, listed.list, *term);
            each_posting(run, listed.list, &within, &mut |place, rank| {
                let is_inside = looker.is_in_fields(place, rank);
                if !is_inside && !is_group {
                    return;
                }
                if !run.has_scores {
                    gather.add(place, 0.0, is_best);
                    return;
                }
                let frequency = looker.frequency(place, rank);
                if is_group {
                    // What stands in other fields counts, as it does for a single word, but finds nothing.
                    group.push((place, frequency, is_inside));
                } else {
                    gather.add(place, run.judge.term(term.rarity, frequency, run.view.part, place), is_best);
                }
            })?;
        }
        run.meter.memory(group.len() * size_of::<(u32, f64, bool)>())?;
        sorted::by_key(&mut group, |posting| posting.0.into());
        for same in group.chunk_by(|a, b| a.0 == b.0) {
            let Some((place, ..)) = same.first().filter(|_| same.iter().any(|posting| posting.2)) else {
                continue;
            };
            let frequency = same.iter().map(|posting| posting.1).sum();
            gather.add(*place, run.judge.term(term.rarity, frequency, run.view.part, *place), is_best);
        }
        group.clear();
    }
    gather.hits(run, is_best)
}

/// Places that have one of the tags.
pub(super) fn tags(run: &Run<'_>, terms: &Terms, within: Option<&[u32]>) -> Result<Hits, Failure> {
    let lists = terms.of_view(run.number);
    let is_best = run.judge.scorer == Scorer::DisMax;
    let mut gather = Gather::new(run, estimate(lists, within))?;
    let within = Within::new(run, within);
    for listed in lists {
        each_posting(run, listed.list, &within, &mut |place, _| {
            let score = if run.has_scores { run.judge.plain(run.view.part, place) } else { 0.0 };
            gather.add(place, score, is_best);
        })?;
    }
    gather.hits(run, is_best)
}

fn estimate(lists: &[Listed], within: Option<&[u32]>) -> u64 {
    let all = lists.iter().map(|listed| u64::from(listed.list.documents)).sum();
    within.map_or(all, |within| all.min(within.len() as u64 * lists.len() as u64))
}

/// The positions of terms at places in rising order.
pub(super) struct Offsets<'r> {
    lists: Vec<(Box<dyn Postings + 'r>, u128)>,
    positions: Vec<Position>,
}

impl<'r> Offsets<'r> {
    pub(super) fn new(run: &Run<'r>, terms: &Terms) -> Offsets<'r> {
        let lists = terms.of_view(run.number).iter();
        let fields =
            |listed: &Listed| terms.terms.get(listed.term as usize).map_or(ALL_FIELDS, |term| term.fields);
        let view: View<'r> = run.view;
        Offsets {
            lists: lists.map(|listed| (view.part.postings(listed.list), fields(listed))).collect(),
            positions: Vec::new(),
        }
    }

    /// Appends where the terms stand: words of the document counted through its fields, which begin at `starts`.
    pub(super) fn at(&mut self, place: u32, starts: &[u64], into: &mut Vec<u64>) {
        for (postings, fields) in &mut self.lists {
            self.positions.clear();
            postings.positions(place, &mut self.positions);
            let inside =
                self.positions.iter().filter(|position| *fields & bit(usize::from(position.field)) != 0);
            into.extend(inside.map(|position| {
                starts.get(usize::from(position.field)).copied().unwrap_or(0) + u64::from(position.word)
            }));
        }
    }

    /// How many lists are asked.
    pub(super) fn len(&self) -> usize {
        self.lists.len()
    }
}
