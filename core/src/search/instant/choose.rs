//! Which of the matches are in the answer, and in which order.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use crate::search::evaluate::Failure;
use crate::search::index::part::View;
use crate::search::schema::FieldId;

use super::candidates::Candidate;
use super::{Answer, Hit, Request};

/// By what hits are sorted. Documents without a value come last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortKey {
    /// The field.
    pub field: FieldId,
    /// Whether it is sorted by numbers, not by texts.
    pub is_number: bool,
    /// Whether the greatest comes first.
    pub is_descending: bool,
}

/// Puts the hits into the answer, and returns the matches, whose memory may be used again.
pub(super) fn choose(
    views: &[View<'_>],
    request: &Request<'_>,
    mut found: Vec<(u32, Candidate)>,
    answer: &mut Answer,
) -> Result<Vec<(u32, Candidate)>, Failure> {
    let end = request.offset.saturating_add(request.count).min(found.len());
    if request.sort.is_empty() && request.distinct.is_none() {
        let compare = |a: &(u32, Candidate), b: &(u32, Candidate)| by_score(views, a, b);
        if end == 0 {
            return Ok(found);
        }
        if end < found.len() {
            found.select_nth_unstable_by(end - 1, compare);
        }
        found.truncate(end);
        found.sort_unstable_by(compare);
        answer.hits = found.iter().skip(request.offset).filter_map(|hit| hit_of(views, hit)).collect();
        return Ok(found);
    }
    let numbers = numbers(views, request, &found)?;
    request.meter.memory(found.len() * 4)?;
    let mut order: Vec<u32> = (0..found.len() as u32).collect();
    let compare = |a: &u32, b: &u32| {
        let (Some(first), Some(second)) = (found.get(*a as usize), found.get(*b as usize)) else {
            return Ordering::Equal;
        };
        let mut result = Ordering::Equal;
        for (key, numbers) in request.sort.iter().zip(&numbers) {
            let values = |at: u32| numbers.get(at as usize).copied().flatten();
            result = result.then_with(|| {
                if key.is_number {
                    present(values(*a), values(*b), key.is_descending, |a, b| a.total_cmp(b))
                } else {
                    present(
                        text(views, first, key.field),
                        text(views, second, key.field),
                        key.is_descending,
                        Ord::cmp,
                    )
                }
            });
        }
        result.then_with(|| by_score(views, first, second))
    };
    if request.distinct.is_none() && end > 0 && end < order.len() {
        order.select_nth_unstable_by(end - 1, compare);
        order.truncate(end);
    }
    order.sort_unstable_by(compare);
    if let Some(field) = request.distinct {
        let mut seen: BTreeSet<&[u8]> = BTreeSet::new();
        order.retain(|at| {
            let Some((view, candidate)) = found.get(*at as usize) else { return false };
            let Some(view) = views.get(*view as usize) else { return false };
            let mut first = None;
            view.part.tags_of(field, candidate.place, &mut |tag| {
                first.get_or_insert(tag);
            });
            // Documents without a value are different from each other.
            first.is_none_or(|tag| seen.insert(view.part.tag_name(field, tag)))
        });
        request.meter.work(found.len() as u64)?;
        answer.total = order.len() as u64;
    }
    let hits = order.iter().skip(request.offset).take(request.count);
    answer.hits = hits.filter_map(|at| hit_of(views, found.get(*at as usize)?)).collect();
    Ok(found)
}

fn by_score(views: &[View<'_>], a: &(u32, Candidate), b: &(u32, Candidate)) -> Ordering {
    let id = |hit: &(u32, Candidate)| views.get(hit.0 as usize).map(|view| view.part.id(hit.1.place));
    b.1.score.cmp(&a.1.score).then_with(|| id(a).cmp(&id(b)))
}

fn hit_of(views: &[View<'_>], (view, candidate): &(u32, Candidate)) -> Option<Hit> {
    let number = *view as usize;
    let id = views.get(number)?.part.id(candidate.place);
    Some(Hit { view: number, place: candidate.place, id, score: candidate.score })
}

fn text<'v>(views: &[View<'v>], (view, candidate): &(u32, Candidate), field: FieldId) -> Option<&'v [u8]> {
    views.get(*view as usize)?.part.sort_text(field, candidate.place)
}

/// The numbers of each key that sorts by numbers, read once.
fn numbers(
    views: &[View<'_>],
    request: &Request<'_>,
    found: &[(u32, Candidate)],
) -> Result<Vec<Vec<Option<f64>>>, Failure> {
    let read = |key: &SortKey| {
        if !key.is_number {
            return Ok(Vec::new());
        }
        request.meter.memory(found.len() * size_of::<Option<f64>>())?;
        request.meter.work(found.len() as u64)?;
        let number = |(view, candidate): &(u32, Candidate)| {
            views.get(*view as usize)?.part.number(key.field, candidate.place)
        };
        Ok(found.iter().map(number).collect())
    };
    request.sort.iter().map(read).collect()
}

/// Compares values, where there are any.
fn present<T>(
    a: Option<T>,
    b: Option<T>,
    is_descending: bool,
    order: impl Fn(&T, &T) -> Ordering,
) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) if is_descending => order(&b, &a),
        (Some(a), Some(b)) => order(&a, &b),
        (a, b) => b.is_some().cmp(&a.is_some()),
    }
}
