//! The first of the matches in some order.

use std::cmp::Ordering;

use crate::search::index::{DocumentId, View};
use crate::search::schema::FieldId;

use super::Matches;

/// A match.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The number of its view.
    pub view: usize,
    /// Its place.
    pub place: u32,
    /// Its id.
    pub id: DocumentId,
    /// Its score.
    pub score: f64,
}

/// An order of matches; equal ones stand in the order of their ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The greatest scores first.
    Score,
    /// By id alone.
    Id,
    /// By the number of a field; documents without one last.
    Number {
        /// The field.
        field: FieldId,
        /// Whether the greatest come first.
        descends: bool,
    },
    /// By the text of a sortable field; documents without one last.
    Text {
        /// The field.
        field: FieldId,
        /// Whether the greatest come first.
        descends: bool,
    },
}

/// All matches in the order of their ids.
pub fn in_id_order(views: &[View<'_>], matches: &Matches) -> Vec<Hit> {
    let mut hits = all(views, matches);
    hits.sort_unstable_by_key(|hit| hit.id);
    hits
}

fn all(views: &[View<'_>], matches: &Matches) -> Vec<Hit> {
    let mut hits = Vec::with_capacity(usize::try_from(matches.total()).unwrap_or(0));
    for (number, (view, of)) in views.iter().zip(&matches.by_view).enumerate() {
        for (place, at) in of.places.iter().zip(0..) {
            let score = of.scores.get(at).copied().unwrap_or(0.0);
            hits.push(Hit { view: number, place: *place, id: view.part.id(*place), score });
        }
    }
    hits
}

/// Compares two matches in an order.
pub fn compare(views: &[View<'_>], one: &Hit, other: &Hit, order: Order) -> Ordering {
    let part = |hit: &Hit| views.get(hit.view).map(|view| view.part);
    let number = |hit: &Hit, field| part(hit).and_then(|part| part.number(field, hit.place));
    let text = |hit: &Hit, field| part(hit).and_then(|part| part.sort_text(field, hit.place));
    let by = match order {
        Order::Score => other.score.total_cmp(&one.score),
        Order::Id => Ordering::Equal,
        Order::Number { field, descends } => {
            last(number(one, field), number(other, field), descends, |one, other| one.total_cmp(other))
        }
        Order::Text { field, descends } => {
            last(text(one, field), text(other, field), descends, |one, other| one.cmp(other))
        }
    };
    by.then(one.id.cmp(&other.id))
}

/// So many matches from an offset on.
pub fn top(views: &[View<'_>], matches: &Matches, order: Order, offset: usize, count: usize) -> Vec<Hit> {
    let mut hits = all(views, matches);
    let compare = |one: &Hit, other: &Hit| compare(views, one, other, order);
    let end = offset.saturating_add(count).min(hits.len());
    if end < hits.len() {
        // Only the first ones have to be in order.
        if end > 0 {
            hits.select_nth_unstable_by(end - 1, compare);
        }
        hits.truncate(end);
    }
    hits.sort_unstable_by(compare);
    hits.drain(..offset.min(hits.len()));
    hits
}

/// Compares values of which those that are not there come last, whatever the direction is.
fn last<T>(one: Option<T>, other: Option<T>, descends: bool, compare: impl Fn(&T, &T) -> Ordering) -> Ordering {
    match (one, other) {
        (Some(one), Some(other)) if descends => compare(&other, &one),
        (Some(one), Some(other)) => compare(&one, &other),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    }
}
