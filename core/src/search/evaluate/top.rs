//! The first of the matches, in some order.

use std::cmp::Ordering;

use crate::search::index::part::{DocumentId, View};
use crate::search::schema::FieldId;

use super::nearest::{cut, order};
use super::{Failure, Matches, Meter};

/// A document of an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The number of its view.
    pub view: usize,
    /// Its place there.
    pub place: u32,
    /// Its id.
    pub id: DocumentId,
    /// Its score.
    pub score: f64,
}

/// In which order documents come. Ties are in the order of ids.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    /// The best score first.
    Score,
    /// By a numeric field; documents without a number come last.
    Number {
        /// The field.
        field: FieldId,
        /// Whether the greatest comes first.
        is_descending: bool,
    },
    /// By the bytes of another sortable field; documents without a value come last.
    Text {
        /// The field.
        field: FieldId,
        /// Whether the greatest comes first.
        is_descending: bool,
    },
}

/// The matches from `offset` on, at most `count`.
///
/// # Errors
/// More memory or work than allowed.
pub fn top(
    views: &[View<'_>],
    matches: &Matches,
    by: Order,
    offset: u64,
    count: u64,
    meter: &Meter<'_>,
) -> Result<Vec<Hit>, Failure> {
    let end = usize::try_from(offset.saturating_add(count).min(matches.total)).unwrap_or(usize::MAX);
    let start = usize::try_from(offset).unwrap_or(usize::MAX).min(end);
    let mut found: Vec<(Hit, Option<f64>)> = Vec::new();
    let gathered = end.saturating_mul(2).max(64).min(usize::try_from(matches.total).unwrap_or(usize::MAX));
    meter.memory(gathered.saturating_mul(size_of::<(Hit, Option<f64>)>()))?;
    meter.work(matches.total)?;
    let text = |hit: &Hit, field| views.get(hit.view).and_then(|view| view.part.sort_text(field, hit.place));
    let compare = |(a, a_number): &(Hit, Option<f64>), (b, b_number): &(Hit, Option<f64>)| {
        let first = match by {
            Order::Score => order(b.score, a.score),
            Order::Number { is_descending, .. } => {
                present(*a_number, *b_number, is_descending, |a, b| order(*a, *b))
            }
            Order::Text { field, is_descending } => {
                present(text(a, field), text(b, field), is_descending, Ord::cmp)
            }
        };
        first.then(a.id.cmp(&b.id))
    };
    for (number, (view, hits)) in views.iter().zip(&matches.views).enumerate() {
        for (at, place) in hits.places.iter().enumerate() {
            let score = hits.scores.get(at).copied().unwrap_or(0.0);
            let hit = Hit { view: number, place: *place, id: view.part.id(*place), score };
            let key = match by {
                Order::Number { field, .. } => view.part.number(field, *place),
                _ => None,
            };
            found.push((hit, key));
            if found.len() >= end.saturating_mul(2).max(64) {
                cut(&mut found, end, compare);
            }
        }
    }
    cut(&mut found, end, compare);
    found.sort_unstable_by(compare);
    Ok(found.into_iter().skip(start).map(|(hit, _)| hit).collect())
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

/// All matches in the order of their ids.
///
/// # Errors
/// More memory than allowed.
pub fn in_id_order(views: &[View<'_>], matches: &Matches, meter: &Meter<'_>) -> Result<Vec<Hit>, Failure> {
    let total = usize::try_from(matches.total).unwrap_or(usize::MAX);
    meter.memory(total.saturating_mul(size_of::<Hit>()))?;
    let mut all = Vec::with_capacity(total);
    for (number, (view, hits)) in views.iter().zip(&matches.views).enumerate() {
        all.extend(hits.places.iter().enumerate().map(|(at, place)| Hit {
            view: number,
            place: *place,
            id: view.part.id(*place),
            score: hits.scores.get(at).copied().unwrap_or(0.0),
        }));
    }
    all.sort_by_key(|hit| hit.id);
    Ok(all)
}
