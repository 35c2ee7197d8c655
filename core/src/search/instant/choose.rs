//! Which of the matches are in the answer, and in which order.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use crate::search::evaluate::Failure;
use crate::search::index::part::{DocumentId, View};
use crate::search::schema::FieldId;
use crate::search::sorted;

use super::progress::Candidate;
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
    found: Vec<Candidate>,
    close: &[u32],
    answer: &mut Answer,
) -> Result<Vec<Candidate>, Failure> {
    let end = request.offset.saturating_add(request.count).min(found.len());
    if request.sort.is_empty() && request.distinct.is_none() {
        // All that were looked at closely come before all others.
        let mut order: Vec<u32> =
            if end <= close.len() { close.to_vec() } else { (0..found.len() as u32).collect() };
        request.meter.memory(order.len() * 2 * size_of::<u128>())?;
        by_score(views, &found, &mut order);
        order.truncate(end);
        let hits = order.iter().skip(request.offset);
        answer.hits = hits.filter_map(|at| hit_of(views, found.get(*at as usize)?)).collect();
        return Ok(found);
    }
    let numbers = numbers(views, request, &found)?;
    request.meter.memory(found.len() * 4)?;
    let compare = |a: u32, b: u32| {
        let (Some(first), Some(second)) = (found.get(a as usize), found.get(b as usize)) else {
            return Ordering::Equal;
        };
        let mut result = Ordering::Equal;
        for (key, numbers) in request.sort.iter().zip(&numbers) {
            let values = |at: u32| numbers.get(at as usize).copied().flatten();
            result = result.then_with(|| {
                if key.is_number {
                    present(values(a), values(b), key.is_descending, |a, b| a.total_cmp(b))
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
        result
            .then_with(|| second.score.cmp(&first.score))
            .then_with(|| id_of(views, first).cmp(&id_of(views, second)))
    };
    let wanted = if request.distinct.is_none() { end } else { found.len() };
    let mut order = sorted::first(found.len() as u32, wanted, &compare);
    if let Some(field) = request.distinct {
        let mut seen: BTreeSet<&[u8]> = BTreeSet::new();
        order.retain(|at| {
            let Some(candidate) = found.get(*at as usize) else { return false };
            let Some(view) = views.get(usize::from(candidate.view)) else { return false };
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

/// Puts the numbers of candidates in the order of their scores, the best first; ties are in the order of ids.
pub(super) fn by_score(views: &[View<'_>], found: &[Candidate], order: &mut [u32]) {
    let score = |at: &u32| found.get(*at as usize).map_or(i32::MIN, |candidate| candidate.score);
    sorted::by_key(order, |at| u64::from(!score(at).cast_unsigned() ^ 1 << 31));
    for same in order.chunk_by_mut(|a, b| score(a) == score(b)) {
        if same.len() > 1 {
            sorted::by_key(same, |at| {
                found.get(*at as usize).and_then(|candidate| id_of(views, candidate)).unwrap_or(0)
            });
        }
    }
}

/// The id of a candidate's document.
pub(super) fn id_of(views: &[View<'_>], candidate: &Candidate) -> Option<DocumentId> {
    Some(views.get(usize::from(candidate.view))?.part.id(candidate.place))
}

fn hit_of(views: &[View<'_>], candidate: &Candidate) -> Option<Hit> {
    let id = id_of(views, candidate)?;
    Some(Hit { view: usize::from(candidate.view), place: candidate.place, id, score: candidate.score })
}

fn text<'v>(views: &[View<'v>], candidate: &Candidate, field: FieldId) -> Option<&'v [u8]> {
    views.get(usize::from(candidate.view))?.part.sort_text(field, candidate.place)
}

/// The numbers of each key that sorts by numbers, read once.
fn numbers(
    views: &[View<'_>],
    request: &Request<'_>,
    found: &[Candidate],
) -> Result<Vec<Vec<Option<f64>>>, Failure> {
    let read = |key: &SortKey| {
        if !key.is_number {
            return Ok(Vec::new());
        }
        request.meter.memory(found.len() * size_of::<Option<f64>>())?;
        request.meter.work(found.len() as u64)?;
        let number = |candidate: &Candidate| {
            views.get(usize::from(candidate.view))?.part.number(key.field, candidate.place)
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
