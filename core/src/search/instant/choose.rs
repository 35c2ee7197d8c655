//! Which of the matches are in the answer, and in which order.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use smallvec::SmallVec;

use crate::search::evaluate::Failure;
use crate::search::index::part::{DocumentId, View};
use crate::search::schema::{FieldId, Schema};
use crate::sorted;

use super::facets::{key_of, tells_case};
use super::progress::Candidate;
use super::relevance::Relevance;
use super::{Answer, Hit, Request};

/// By what hits are sorted. Documents without a value come last. Of several numbers, the one that comes first in the order counts: the
/// least, or the greatest if that order descends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortKey {
    /// The field.
    pub field: FieldId,
    /// Whether it is sorted by numbers, not by texts.
    pub is_number: bool,
    /// Whether the greatest comes first.
    pub is_descending: bool,
}

impl SortKey {
    /// A document's least and greatest number as a key: the first in the order is the least.
    fn key(&self, extremes: Option<(f64, f64)>) -> u64 {
        extremes.map_or(u64::MAX, |(least, greatest)| {
            let number = if self.is_descending { greatest } else { least };
            let rising = sorted::rising(number);
            if self.is_descending && !number.is_nan() { !rising } else { rising }
        })
    }
}

/// Puts the hits into the answer, and returns the matches, whose memory may be used again.
pub(super) fn choose(
    schema: &Schema,
    views: &[View<'_>],
    request: &Request<'_>,
    found: Vec<Candidate>,
    (close, relevance): (&[u32], Relevance),
    answer: &mut Answer,
) -> Result<Vec<Candidate>, Failure> {
    let end = request.offset.saturating_add(request.count).min(found.len());
    // All that were looked at closely come before all others.
    let is_close = end <= close.len();
    if request.sort.is_empty() && request.distinct.is_none() && (is_close || request.ties.is_empty()) {
        let mut order: Vec<u32> = if is_close { close.to_vec() } else { (0..found.len() as u32).collect() };
        request.meter.memory(order.len() * 2 * size_of::<u128>())?;
        by_score(views, request, &found, &mut order, end)?;
        order.truncate(end);
        answer.hits = shown(views, request, (&found, &order), relevance);
        return Ok(found);
    }
    let sort = Values::read(views, request, request.sort, &found)?;
    let ties = Values::read(views, request, request.ties, &found)?;
    request.meter.memory(found.len() * 4)?;
    let compare = |a: u32, b: u32| {
        let (Some(first), Some(second)) = (found.get(a as usize), found.get(b as usize)) else {
            return Ordering::Equal;
        };
        sort.compare((a, first), (b, second))
            .then_with(|| second.score.cmp(&first.score))
            .then_with(|| ties.compare((a, first), (b, second)))
            .then_with(|| id_of(views, first).cmp(&id_of(views, second)))
    };
    let wanted = if request.distinct.is_none() { end } else { found.len() };
    let mut order = sorted::first(found.len() as u32, wanted, &compare);
    if let Some(field) = request.distinct {
        request.meter.work(found.len() as u64)?;
        distinct(schema, views, (request, field), &found, &mut order)?;
        answer.total = order.len() as u64;
    }
    order.truncate(end);
    answer.hits = shown(views, request, (&found, &order), relevance);
    Ok(found)
}

/// The hits that are wanted, of those in order up to the last of them.
fn shown(
    views: &[View<'_>],
    request: &Request<'_>,
    (found, order): (&[Candidate], &[u32]),
    relevance: Relevance,
) -> Vec<Hit> {
    let hits = order.iter().filter_map(|at| hit_of(views, relevance, found.get(*at as usize)?));
    if !request.sort.is_empty() {
        return hits.skip(request.offset).collect();
    }
    // Of what was not looked at closely more is believed than of what comes before it.
    let falling = hits.scan(1.0f64, |least, hit| {
        *least = least.min(hit.relevance);
        Some(Hit { relevance: *least, ..hit })
    });
    falling.skip(request.offset).collect()
}

/// Keeps of candidates that share any value of a field the first. Those without a value are different from each other.
fn distinct(
    schema: &Schema,
    views: &[View<'_>],
    (request, field): (&Request<'_>, FieldId),
    found: &[Candidate],
    order: &mut Vec<u32>,
) -> Result<(), Failure> {
    let tells_case = tells_case(schema, field);
    // A value has a number in all views together, which is looked up once for each view: that of a view's tag is 0 until then.
    let mut numbers: BTreeMap<Vec<u8>, u32> = BTreeMap::new();
    let mut of_views = Vec::with_capacity(views.len());
    for view in views {
        let tags = view.part.tag_count(field) as usize;
        request.meter.memory(tags * size_of::<u32>())?;
        of_views.push(vec![0u32; tags]);
    }
    // Whether the value with this number is one of a candidate that stays.
    let mut seen = vec![false];
    let mut values: SmallVec<[u32; 8]> = SmallVec::new();
    let mut memory = Ok(());
    order.retain(|at| {
        let Some(candidate) = found.get(*at as usize) else { return false };
        let view = usize::from(candidate.view);
        let (Some(view), Some(of_view)) = (views.get(view), of_views.get_mut(view)) else { return false };
        values.clear();
        view.part.tags_of(field, candidate.place, &mut |tag| {
            let Some(number) = of_view.get_mut(tag as usize) else { return };
            if *number == 0 {
                let key = key_of(view.part.tag_name(field, tag), tells_case);
                let bytes = key.len() + size_of::<(Vec<u8>, u32, bool)>();
                memory = memory.and_then(|()| request.meter.memory(bytes));
                *number = *numbers.entry(key).or_insert(seen.len() as u32);
                seen.resize(seen.len().max(*number as usize + 1), false);
            }
            values.push(*number);
        });
        let is_seen = |number: &u32| seen.get(*number as usize) == Some(&true);
        if memory.is_err() || values.iter().any(is_seen) {
            return false;
        }
        for number in &values {
            if let Some(seen) = seen.get_mut(*number as usize) {
                *seen = true;
            }
        }
        true
    });
    memory
}

/// Puts the numbers of candidates in the order of their scores, the best first. Ties among the first `wanted` are in the order that the
/// request says, then of ids.
fn by_score(
    views: &[View<'_>],
    request: &Request<'_>,
    found: &[Candidate],
    order: &mut [u32],
    wanted: usize,
) -> Result<(), Failure> {
    let key = |at: &u32| found.get(*at as usize).map_or(u64::MAX, Candidate::order_key);
    sorted::by_key(order, key);
    let mut sure = 0;
    for same in order.chunk_by_mut(|a, b| key(a) == key(b)) {
        if sure >= wanted {
            break;
        }
        by_ties(views, request, request.ties, found, same)?;
        sure += same.len();
    }
    Ok(())
}

/// Puts candidates that differ in nothing but these keys and their ids in order.
pub(super) fn by_ties(
    views: &[View<'_>],
    request: &Request<'_>,
    keys: &[SortKey],
    found: &[Candidate],
    same: &mut [u32],
) -> Result<(), Failure> {
    if same.len() < 2 {
        return Ok(());
    }
    request.meter.work(same.len() as u64)?;
    let of = |at: u32| found.get(at as usize);
    let Some((key, rest)) = keys.split_first() else {
        sorted::by_key(same, |at| of(*at).and_then(|candidate| id_of(views, candidate)).unwrap_or(0));
        return Ok(());
    };
    if key.is_number {
        let mut numbers: Vec<(u64, u32)> = same
            .iter()
            .map(|at| (of(*at).map_or(u64::MAX, |candidate| number_key(views, key, candidate)), *at))
            .collect();
        sorted::by_key(&mut numbers, |(number, _)| *number);
        same.iter_mut().zip(&numbers).for_each(|(to, (_, at))| *to = *at);
        let mut left = same;
        for equal in numbers.chunk_by(|one, other| one.0 == other.0) {
            let (now, later) = left.split_at_mut(equal.len().min(left.len()));
            by_ties(views, request, rest, found, now)?;
            left = later;
        }
        return Ok(());
    }
    let text = |at: u32| of(at).and_then(|candidate| text(views, candidate, key.field));
    sorted::all(same, |one, other| compare_texts(key, text(*one), text(*other)));
    same.chunk_by_mut(|one, other| text(*one) == text(*other))
        .try_for_each(|same| by_ties(views, request, rest, found, same))
}

/// The number by which a candidate is sorted, as a key.
pub(super) fn number_key(views: &[View<'_>], key: &SortKey, candidate: &Candidate) -> u64 {
    let view = views.get(usize::from(candidate.view));
    key.key(view.and_then(|view| view.part.extremes(key.field, candidate.place)))
}

/// The text by which a candidate is sorted.
fn text<'v>(views: &[View<'v>], candidate: &Candidate, field: FieldId) -> Option<&'v [u8]> {
    views.get(usize::from(candidate.view))?.part.sort_text(field, candidate.place)
}

/// The id of a candidate's document.
pub(super) fn id_of(views: &[View<'_>], candidate: &Candidate) -> Option<DocumentId> {
    Some(views.get(usize::from(candidate.view))?.part.id(candidate.place))
}

fn hit_of(views: &[View<'_>], relevance: Relevance, candidate: &Candidate) -> Option<Hit> {
    Some(Hit {
        view: usize::from(candidate.view),
        place: candidate.place,
        id: id_of(views, candidate)?,
        score: candidate.score,
        relevance: relevance.of(candidate),
    })
}

/// What candidates are sorted by: numbers, which are read once, and texts, which are looked up.
struct Values<'v> {
    views: &'v [View<'v>],
    keys: &'v [SortKey],
    /// Of each key that sorts by numbers, those of the candidates, as [`number_key`] has them.
    numbers: Vec<Vec<u64>>,
}

impl<'v> Values<'v> {
    /// Those of the candidates.
    fn read(
        views: &'v [View<'v>],
        request: &Request<'_>,
        keys: &'v [SortKey],
        found: &[Candidate],
    ) -> Result<Values<'v>, Failure> {
        let read = |key: &SortKey| {
            if !key.is_number {
                return Ok(Vec::new());
            }
            request.meter.memory(found.len() * size_of::<u64>())?;
            request.meter.work(found.len() as u64)?;
            Ok(found.iter().map(|candidate| number_key(views, key, candidate)).collect())
        };
        Ok(Values { views, keys, numbers: keys.iter().map(read).collect::<Result<_, Failure>>()? })
    }

    /// Compares two candidates, each with its number.
    fn compare(&self, (a, first): (u32, &Candidate), (b, second): (u32, &Candidate)) -> Ordering {
        let mut result = Ordering::Equal;
        for (key, numbers) in self.keys.iter().zip(&self.numbers) {
            let number = |at: u32| numbers.get(at as usize);
            result = result.then_with(|| {
                if key.is_number {
                    number(a).cmp(&number(b))
                } else {
                    compare_texts(
                        key,
                        text(self.views, first, key.field),
                        text(self.views, second, key.field),
                    )
                }
            });
        }
        result
    }
}

/// Compares texts, where there are any.
fn compare_texts(key: &SortKey, a: Option<&[u8]>, b: Option<&[u8]>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) if key.is_descending => b.cmp(a),
        (Some(a), Some(b)) => a.cmp(b),
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}
