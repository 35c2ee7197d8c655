//! Evaluates a plan, part by part, a set of places at a time.

use crate::search::bits::Bits;
use crate::search::index::View;
use crate::search::query::Node;
use crate::search::schema::Schema;

use super::plan::{Planner, Step, Terms, What, Window};
use super::score::{Judge, Scorer, Weights, statistics};
use super::terms::Offsets;
use super::{Failure, Meter, Options, places, proximity, terms};

/// Places of one part in rising order, and their scores, if these are needed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hits {
    /// The places.
    pub places: Vec<u32>,
    /// The score of each; empty if none are needed.
    pub scores: Vec<f64>,
}

/// What a query matches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matches {
    /// By the number of the view.
    pub by_view: Vec<Hits>,
}

impl Matches {
    /// How many documents match.
    pub fn total(&self) -> u64 {
        self.by_view.iter().map(|hits| hits.places.len() as u64).sum()
    }
}

/// The evaluation in one part.
pub(super) struct Run<'r> {
    pub(super) number: usize,
    pub(super) view: View<'r>,
    pub(super) judge: &'r Judge,
    pub(super) has_scores: bool,
    pub(super) meter: &'r Meter<'r>,
}

/// Evaluates a query.
///
/// # Errors
/// It takes too much.
pub fn evaluate(schema: &Schema, views: &[View<'_>], root: &Node, options: &Options<'_>) -> Result<Matches, Failure> {
    let weights = Weights::new(schema);
    let needs_statistics = options.needs_scores && options.scorer.needs_words() && options.scorer != Scorer::DisMax;
    let known = match options.statistics {
        Some(known) => known,
        None if needs_statistics => statistics(schema, views),
        None => super::Statistics::default(),
    };
    let judge = Judge::new(options.scorer, weights, known);
    let plan = Planner::new(schema, views, options, &judge).plan(root)?;
    let has_scores = options.needs_scores && options.scorer.needs_words();
    let mut matches = Matches::default();
    for (number, view) in views.iter().enumerate() {
        let run = Run { number, view: *view, judge: &judge, has_scores, meter: &options.meter };
        let mut hits = run.step(&plan, None)?;
        if let Some(only) = options.in_documents {
            hits.keep(|place| only.contains(&view.part.id(place)));
        }
        if options.needs_scores {
            run.score(&plan, &mut hits);
        }
        matches.by_view.push(hits);
    }
    if options.needs_scores && options.scorer == Scorer::Bm25StdNorm {
        let scores = || matches.by_view.iter().flat_map(|hits| &hits.scores);
        let best = scores().copied().fold(0.0, f64::max);
        if best > 0.0 {
            matches.by_view.iter_mut().flat_map(|hits| &mut hits.scores).for_each(|score| *score /= best);
        }
    }
    Ok(matches)
}

impl Hits {
    /// Keeps some places.
    fn keep(&mut self, is_kept: impl Fn(u32) -> bool) {
        let kept: Vec<bool> = self.places.iter().map(|place| is_kept(*place)).collect();
        let mut at = kept.iter();
        self.places.retain(|_| at.next().copied().unwrap_or(false));
        let mut at = kept.iter();
        self.scores.retain(|_| at.next().copied().unwrap_or(false));
    }
}

impl Run<'_> {
    fn is_live(&self, place: u32) -> bool {
        self.view.live.has(place)
    }

    /// Live places, of certain ones only if there are some.
    fn all(&self, within: Option<&[u32]>) -> Vec<u32> {
        match within {
            Some(within) => within.iter().copied().filter(|place| self.is_live(*place)).collect(),
            None => self.view.live.iter().collect(),
        }
    }

    /// Places that match without words, all of which score the same.
    fn plain(&self, places: Vec<u32>) -> Result<Hits, Failure> {
        self.meter.memory(places.len() * if self.has_scores { 12 } else { 4 })?;
        let score = |place: &u32| self.judge.plain(self.view.part, *place);
        let scores = if self.has_scores { places.iter().map(score).collect() } else { Vec::new() };
        Ok(Hits { places, scores })
    }

    fn zero(&self, places: Vec<u32>) -> Hits {
        let scores = if self.has_scores { vec![0.0; places.len()] } else { Vec::new() };
        Hits { places, scores }
    }

    /// What a step matches, of certain places only if there are some.
    fn step(&self, step: &Step, within: Option<&[u32]>) -> Result<Hits, Failure> {
        let mut hits = match &step.what {
            What::All => self.plain(self.all(within))?,
            What::Nothing => Hits::default(),
            What::Words(words) => terms::words(self, words, within)?,
            What::Tags(tags) => terms::tags(self, tags, within)?,
            What::And(members, window) => self.and(members, *window, within)?,
            What::Or(members) => self.or(members, within)?,
            What::Not(inner) => {
                let all = self.all(within);
                let inner = self.step(inner, Some(&all))?;
                self.meter.work(all.len() as u64)?;
                self.zero(without(all, &inner.places))
            }
            What::Optional(inner) => {
                let all = self.all(within);
                let inner = self.step(inner, Some(&all))?;
                let mut hits = self.zero(all);
                add(&mut hits, &inner);
                hits
            }
            What::Number(field, low, high) => {
                self.meter.work(u64::from(self.view.part.places()))?;
                let mut found = Bits::none(self.view.part.places());
                self.view.part.numbers_within(*field, *low, *high, &mut found);
                found.keep(self.view.live);
                self.plain(match within {
                    Some(within) => within.iter().copied().filter(|place| found.has(*place)).collect(),
                    None => found.iter().collect(),
                })?
            }
            What::Geo { field, longitude, latitude, radius_m } => {
                let all = self.all(within);
                self.meter.work(all.len() as u64)?;
                let is_near = |place: &u32| {
                    places::is_near(self.view.part, (*field, *place), (*longitude, *latitude), *radius_m)
                };
                self.plain(all.into_iter().filter(is_near).collect())?
            }
            What::Near { field, radius, probe } => {
                let all = self.all(within);
                self.meter.work(all.len() as u64 * probe.work())?;
                let is_near = |place: &u32| {
                    let vector = self.view.part.vector(*field, *place);
                    vector.is_some_and(|vector| probe.distance(vector) <= *radius)
                };
                self.plain(all.into_iter().filter(is_near).collect())?
            }
            What::Missing(field) => {
                let all = self.all(within);
                self.meter.work(all.len() as u64)?;
                self.plain(all.into_iter().filter(|place| !self.view.part.has(*field, *place)).collect())?
            }
        };
        if step.weight != 1.0 {
            hits.scores.iter_mut().for_each(|score| *score *= step.weight);
        }
        Ok(hits)
    }

    /// Begins with what has the fewest; what is optional or must not be comes last. Scores are added in the order of the members, so that
    /// they are the same in every part.
    fn and(&self, members: &[Step], window: Option<Window>, within: Option<&[u32]>) -> Result<Hits, Failure> {
        let rank = |member: &Step| match member.what {
            What::Not(_) => u64::MAX - 1,
            What::Optional(_) => u64::MAX,
            _ => member.estimate(self.number, self.view),
        };
        let mut order: Vec<usize> = (0..members.len()).collect();
        order.sort_by_key(|at| members.get(*at).map(rank));
        let mut places: Option<Vec<u32>> = None;
        let mut scores: Vec<Vec<f64>> = vec![Vec::new(); members.len()];
        for at in order {
            let Some(member) = members.get(at) else { continue };
            let found = self.step(member, places.as_deref().or(within))?;
            if let Some(before) = &places
                && before.len() != found.places.len()
            {
                let kept = marks(before, &found.places);
                for scores in scores.iter_mut().filter(|scores| !scores.is_empty()) {
                    let mut at = kept.iter();
                    scores.retain(|_| at.next().copied().unwrap_or(false));
                }
            }
            places = Some(found.places);
            if let Some(own) = scores.get_mut(at) {
                *own = found.scores;
            }
            if places.as_ref().is_some_and(Vec::is_empty) {
                return Ok(Hits::default());
            }
        }
        let places = places.unwrap_or_default();
        let sum = |at: usize| scores.iter().filter_map(|scores| scores.get(at)).sum::<f64>();
        let sums = if self.has_scores { (0..places.len()).map(sum).collect() } else { Vec::new() };
        let mut hits = Hits { places, scores: sums };
        if let Some(window) = window {
            self.keep_near(members, window, &mut hits)?;
        }
        Ok(hits)
    }

    /// Keeps places in which the words of the members stand near to each other.
    fn keep_near(&self, members: &[Step], window: Window, hits: &mut Hits) -> Result<(), Failure> {
        let mut offsets: Vec<Vec<Offsets<'_>>> = members.iter().map(|member| self.offsets(member)).collect();
        offsets.retain(|of| !of.is_empty());
        if offsets.len() < 2 {
            return Ok(());
        }
        let lists: usize = offsets.iter().flatten().map(Offsets::len).sum();
        self.meter.work((hits.places.len() * lists) as u64)?;
        let mut positions: Vec<Vec<u64>> = vec![Vec::new(); offsets.len()];
        let near: Vec<bool> = hits
            .places
            .iter()
            .map(|place| {
                let starts = self.starts(*place);
                self.gather(&mut offsets, *place, &starts, &mut positions);
                proximity::is_within(&positions, window.slop, window.in_order)
            })
            .collect();
        let mut at = near.iter();
        hits.places.retain(|_| at.next().copied().unwrap_or(false));
        let mut at = near.iter();
        hits.scores.retain(|_| at.next().copied().unwrap_or(false));
        Ok(())
    }

    fn gather(
        &self,
        offsets: &mut [Vec<Offsets<'_>>],
        place: u32,
        starts: &[u64],
        positions: &mut [Vec<u64>],
    ) {
        for (of, into) in offsets.iter_mut().zip(positions) {
            into.clear();
            of.iter_mut().for_each(|offsets| offsets.at(place, starts, into));
            into.sort_unstable();
            into.dedup();
        }
    }

    /// Where the text fields of a document begin, counted in words through all of them.
    fn starts(&self, place: u32) -> Vec<u64> {
        let mut start = 0;
        (0..self.judge.weights.text_fields())
            .map(|field| {
                let own = start;
                start += u64::from(self.view.part.field_words(field, place));
                own
            })
            .collect()
    }

    /// The words of a member whose positions count; of others there are none.
    fn offsets<'s>(&'s self, member: &Step) -> Vec<Offsets<'s>> {
        fn words<'p>(step: &'p Step, into: &mut Vec<&'p Terms>) {
            match &step.what {
                What::Words(terms) => into.push(terms),
                What::Or(members) => members.iter().for_each(|member| words(member, into)),
                _ => {}
            }
        }
        let mut terms = Vec::new();
        words(member, &mut terms);
        terms.into_iter().map(|terms| Offsets::new(self, terms)).collect()
    }

    fn or(&self, members: &[Step], within: Option<&[u32]>) -> Result<Hits, Failure> {
        let is_best = self.judge.scorer == Scorer::DisMax;
        let estimate = members.iter().map(|member| member.estimate(self.number, self.view)).sum();
        let mut gather = terms::Gather::new(self, estimate)?;
        for member in members {
            let found = self.step(member, within)?;
            self.meter.work(found.places.len() as u64)?;
            for (place, at) in found.places.iter().zip(0..) {
                gather.add(*place, found.scores.get(at).copied().unwrap_or(0.0), is_best);
            }
        }
        gather.hits(self, is_best)
    }

    /// Makes the sums of matches scores of documents.
    fn score(&self, plan: &Step, hits: &mut Hits) {
        if !self.has_scores {
            hits.scores = vec![0.0; hits.places.len()];
        }
        let mut offsets: Vec<Vec<Offsets<'_>>> = Vec::new();
        if let What::And(members, _) = &plan.what
            && self.judge.scorer.needs_distance()
        {
            offsets = members.iter().map(|member| self.offsets(member)).filter(|of| !of.is_empty()).collect();
        }
        let mut positions: Vec<Vec<u64>> = vec![Vec::new(); offsets.len()];
        for (place, score) in hits.places.iter().zip(&mut hits.scores) {
            let mut distance = 1.0;
            if offsets.len() > 1 {
                let starts = self.starts(*place);
                self.gather(&mut offsets, *place, &starts, &mut positions);
                distance = proximity::distance(&positions).max(1) as f64;
            }
            let frequency_max = f64::from(self.view.part.frequency_max(*place)).max(1.0);
            *score = self.judge.score(*score, self.view.part, *place, distance, frequency_max);
        }
    }
}

/// Which places of one list are in another one, both in rising order.
fn marks(places: &[u32], kept: &[u32]) -> Vec<bool> {
    let mut rest = kept.iter().peekable();
    places
        .iter()
        .map(|place| {
            while rest.next_if(|kept| *kept < place).is_some() {}
            rest.next_if(|kept| *kept == place).is_some()
        })
        .collect()
}

fn without(mut places: Vec<u32>, gone: &[u32]) -> Vec<u32> {
    let marks = marks(&places, gone);
    let mut at = marks.iter();
    places.retain(|_| !at.next().copied().unwrap_or(false));
    places
}

/// Adds scores to those of the same places.
fn add(hits: &mut Hits, more: &Hits) {
    let mut more = more.places.iter().zip(more.scores.iter()).peekable();
    for (place, score) in hits.places.iter().zip(&mut hits.scores) {
        while more.next_if(|(other, _)| *other < place).is_some() {}
        if let Some((_, added)) = more.next_if(|(other, _)| *other == place) {
            *score += added;
        }
    }
}
