//! The first of the matches, in some order.

use std::cmp::Ordering;

use crate::search::index::part::{DocumentId, View};
use crate::search::schema::FieldId;
use crate::sorted;

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
    let total = usize::try_from(matches.total).unwrap_or(usize::MAX);
    meter.memory(total.saturating_mul(size_of::<Hit>() + size_of::<u64>()))?;
    meter.work(matches.total)?;
    let all = all(views, matches);
    // What comes first has the least key.
    let keys: Vec<u64> = all.iter().map(|hit| key(views, by, hit)).collect();
    let text = |hit: &Hit, field| views.get(hit.view).and_then(|view| view.part.sort_text(field, hit.place));
    let compare = |a: u32, b: u32| {
        let (a, b) = (a as usize, b as usize);
        let (Some(first), Some(second)) = (all.get(a), all.get(b)) else { return Ordering::Equal };
        let mut result = keys.get(a).cmp(&keys.get(b));
        if let Order::Text { field, is_descending } = by {
            result = result.then_with(|| match text(first, field).cmp(&text(second, field)) {
                ordering if is_descending => ordering.reverse(),
                ordering => ordering,
            });
        }
        result.then_with(|| first.id.cmp(&second.id))
    };
    let order = sorted::first(u32::try_from(all.len()).unwrap_or(u32::MAX), end, &compare);
    Ok(order.iter().skip(start).filter_map(|at| all.get(*at as usize).copied()).collect())
}

/// What a hit is sorted by, as far as it is a number; of texts, whether there is one.
fn key(views: &[View<'_>], by: Order, hit: &Hit) -> u64 {
    let Some(view) = views.get(hit.view) else { return u64::MAX };
    match by {
        Order::Score => !sorted::rising(hit.score),
        Order::Number { field, is_descending } => match view.part.number(field, hit.place) {
            Some(number) if is_descending => !sorted::rising(number),
            Some(number) => sorted::rising(number),
            None => u64::MAX,
        },
        Order::Text { field, .. } => u64::from(view.part.sort_text(field, hit.place).is_none()),
    }
}

/// All matches in the order of their ids.
///
/// # Errors
/// More memory than allowed.
pub fn in_id_order(views: &[View<'_>], matches: &Matches, meter: &Meter<'_>) -> Result<Vec<Hit>, Failure> {
    let total = usize::try_from(matches.total).unwrap_or(usize::MAX);
    meter.memory(total.saturating_mul(size_of::<Hit>()))?;
    let mut all = all(views, matches);
    sorted::by_key(&mut all, |hit| hit.id);
    Ok(all)
}

/// All matches, view by view.
fn all(views: &[View<'_>], matches: &Matches) -> Vec<Hit> {
    let mut all = Vec::with_capacity(usize::try_from(matches.total).unwrap_or(0));
    for (number, (view, hits)) in views.iter().zip(&matches.views).enumerate() {
        all.extend(hits.places.iter().enumerate().map(|(at, place)| Hit {
            view: number,
            place: *place,
            id: view.part.id(*place),
            score: hits.scores.get(at).copied().unwrap_or(0.0),
        }));
    }
    all
}
