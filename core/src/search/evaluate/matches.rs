//! The evaluation of a plan: sets of places, part by part.

use std::borrow::Cow;

use crate::search::index::part::View;
use crate::search::query::Node;
use crate::search::schema::Schema;
use crate::sorted;

use super::plan::{Planner, Step, What, Window};
use super::proximity::{Distance, retain};
use super::run::{Hits, Matches, Run};
use super::score::{Judge, Scorer, Statistics, Weights, statistics};
use super::terms::{Gather, tags, words};
use super::{Failure, Options, places};

/// Finds the documents that match a query's tree. The views are the parts of one index at one moment.
///
/// # Errors
/// More work or memory than the options allow; nesting beyond what the parser lets through; vectors of a wrong length.
pub fn evaluate(
    schema: &Schema,
    views: &[View<'_>],
    root: &Node,
    options: &Options<'_>,
) -> Result<Matches, Failure> {
    let has_scores = options.needs_scores && options.scorer.needs_words();
    let known = if has_scores {
        let unknown = views.iter().filter(|view| !view.has_words());
        let places = unknown.map(|view| u64::from(view.part.places())).sum();
        options.meter.work(places)?;
        statistics(schema, views)
    } else {
        Statistics::default()
    };
    let judge = Judge::new(options.scorer, Weights::new(schema), known);
    let plan = Planner::new(schema, views, options, &judge).plan(root)?;
    let mut matches = Matches::default();
    for (number, view) in views.iter().enumerate() {
        let run = Run {
            number,
            view: *view,
            judge: &judge,
            meter: &options.meter,
            has_scores,
            are_fields_apart: options.are_fields_apart,
        };
        let only = options.in_documents.map(|documents| {
            let mut places: Vec<u32> = documents.iter().filter_map(|id| view.part.find(*id)).collect();
            places.retain(|place| view.live.has(*place));
            sorted::by_key(&mut places, |place| u64::from(*place));
            places.dedup();
            places
        });
        let mut hits = run.step(&plan, only.as_deref())?;
        if options.needs_scores {
            run.finish(&plan, &mut hits)?;
        }
        matches.total += hits.places.len() as u64;
        matches.views.push(hits);
    }
    if options.needs_scores && options.scorer == Scorer::Bm25StdNorm {
        let scores = || matches.views.iter().flat_map(|hits| &hits.scores);
        let best = scores().copied().fold(0.0, f64::max);
        if best > 0.0 {
            matches.views.iter_mut().flat_map(|hits| &mut hits.scores).for_each(|score| *score /= best);
        }
    }
    Ok(matches)
}

impl<'r> Run<'r> {
    /// The places that match, of certain ones only if there are some. Recursion is bounded by the depth of plans.
    pub(super) fn step(&self, step: &Step, within: Option<&[u32]>) -> Result<Hits, Failure> {
        let mut hits = match &step.what {
            What::Nothing => Hits::default(),
            What::All => self.plain(self.all(within)?),
            What::Words(terms) => words(self, terms, within)?,
            What::Tags(terms) => tags(self, terms, within)?,
            What::And(members, window) => self.and(members, *window, within)?,
            What::Or(members) => self.or(members, within)?,
            What::Not(inner) => {
                let run = Run { has_scores: false, ..*self };
                let not = run.step(inner, within)?;
                self.silent(without(self.all(within)?.into_owned(), &not.places))
            }
            What::Optional(inner) => {
                let found = if self.has_scores { self.step(inner, within)? } else { Hits::default() };
                let mut hits = self.silent(self.all(within)?.into_owned());
                add_scores(&hits.places, &mut hits.scores, &found);
                hits
            }
            What::Numbers(field, ranges) => self.plain(places::numbers(self, *field, ranges, within)?.into()),
            What::Geo { field, longitude, latitude, radius_m } => {
                let all = self.all(within)?;
                self.plain(places::near_point(self, *field, (*longitude, *latitude), *radius_m, &all)?.into())
            }
            What::Near { field, radius, probe } => {
                let all = self.all(within)?;
                self.silent(places::near_vector(self, *field, probe, *radius, &all)?)
            }
            What::Missing(field) => {
                let all = self.all(within)?;
                self.meter.work(all.len() as u64)?;
                let missing = all.iter().copied().filter(|place| !self.view.part.has(*field, *place));
                self.plain(missing.collect::<Vec<u32>>().into())
            }
        };
        if step.weight != 1.0 {
            hits.scores.iter_mut().for_each(|score| *score *= step.weight);
        }
        Ok(hits)
    }

    /// All places that count.
    fn all<'w>(&self, within: Option<&'w [u32]>) -> Result<Cow<'w, [u32]>, Failure> {
        if let Some(within) = within {
            return Ok(Cow::Borrowed(within));
        }
        let count = self.view.live.count();
        self.meter.memory(count as usize * 4)?;
        self.meter.work(u64::from(count))?;
        Ok(Cow::Owned(self.view.live.to_vec()))
    }

    /// Places that match without words.
    fn plain(&self, places: Cow<'_, [u32]>) -> Hits {
        let scores = if self.has_scores {
            places.iter().map(|place| self.judge.plain(self.view.part, *place)).collect()
        } else {
            Vec::new()
        };
        Hits { places: places.into_owned(), scores }
    }

    /// Places that match and add nothing to scores.
    fn silent(&self, places: Vec<u32>) -> Hits {
        let scores = vec![0.0; if self.has_scores { places.len() } else { 0 }];
        Hits { places, scores }
    }

    fn and(&self, members: &[Step], window: Option<Window>, within: Option<&[u32]>) -> Result<Hits, Failure> {
        let mut order: Vec<(u64, usize)> = members
            .iter()
            .enumerate()
            .map(|(at, member)| (member.estimate(self.number, self.view), at))
            .collect();
        sorted::by_key(&mut order, |(estimate, _)| *estimate);
        let mut found: Vec<Hits> = vec![Hits::default(); members.len()];
        let mut current: Option<Vec<u32>> = within.map(<[u32]>::to_vec);
        for (_, at) in order {
            let Some(member) = members.get(at) else { continue };
            let mut hits = self.step(member, current.as_deref())?;
            current = Some(std::mem::take(&mut hits.places));
            if let (true, Some(found)) = (self.has_scores, found.get_mut(at)) {
                *found = Hits { places: current.clone().unwrap_or_default(), scores: hits.scores };
            }
        }
        let mut places = match current {
            Some(places) => places,
            None => self.all(None)?.into_owned(),
        };
        if let Some(window) = window {
            retain(self, members, window, &mut places)?;
        }
        let mut hits = self.silent(places);
        // In the order of the query, whatever the order of the work was: sums of numbers depend on it.
        found.iter().for_each(|found| add_scores(&hits.places, &mut hits.scores, found));
        Ok(hits)
    }

    fn or(&self, members: &[Step], within: Option<&[u32]>) -> Result<Hits, Failure> {
        let is_best = self.judge.scorer == Scorer::DisMax;
        let estimate = members.iter().map(|member| member.estimate(self.number, self.view)).sum();
        let mut gather =
            Gather::new(self, within.map_or(estimate, |within| estimate.min(within.len() as u64)))?;
        for member in members {
            let hits = self.step(member, within)?;
            for (at, place) in hits.places.iter().enumerate() {
                gather.add(*place, hits.scores.get(at).copied().unwrap_or(0.0), is_best);
            }
        }
        gather.hits(self, is_best)
    }

    /// Makes scores of sums.
    fn finish(&self, plan: &Step, hits: &mut Hits) -> Result<(), Failure> {
        let (part, scorer) = (self.view.part, self.judge.scorer);
        let mut distance = if scorer.needs_distance() { Distance::new(self, plan) } else { None };
        hits.scores.resize(hits.places.len(), 0.0);
        for (place, score) in hits.places.iter().zip(&mut hits.scores) {
            let words_between = match &mut distance {
                Some(distance) => distance.at(self, *place)?,
                None => 1.0,
            };
            let frequency_max =
                if scorer == Scorer::Tfidf { f64::from(part.frequency_max(*place).max(1)) } else { 1.0 };
            *score = self.judge.score(*score, part, *place, words_between, frequency_max);
        }
        Ok(())
    }
}

/// Adds scores where places are the same. Both are in rising order.
fn add_scores(places: &[u32], scores: &mut [f64], found: &Hits) {
    let mut more = found.places.iter().zip(&found.scores).peekable();
    for (place, score) in places.iter().zip(scores) {
        while more.next_if(|(other, _)| *other < place).is_some() {}
        if let Some((_, found)) = more.next_if(|(other, _)| *other == place) {
            *score += found;
        }
    }
}

/// The places that are not among others. Both are in rising order.
fn without(mut places: Vec<u32>, others: &[u32]) -> Vec<u32> {
    let mut others = others.iter().peekable();
    places.retain(|place| {
        while others.next_if(|other| *other < place).is_some() {}
        others.next_if(|other| *other == place).is_none()
    });
    places
}
