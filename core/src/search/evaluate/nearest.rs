//! The nearest vectors: exact, by looking at all that match.

use std::collections::BinaryHeap;

use crate::search::index::{DocumentId, Part, View};
use crate::search::query::Nearest;
use crate::search::schema::{FieldId, FieldKind, Schema};
use crate::search::vector::Probe;

use super::{Failure, Matches, Meter};

/// A document and its distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    /// The number of its view.
    pub view: usize,
    /// Its place.
    pub place: u32,
    /// Its id.
    pub id: DocumentId,
    /// Its score by the rest of the query.
    pub score: f64,
    /// Its distance.
    pub distance: f64,
}

/// Orders by distance, then by id.
struct Far(Neighbour);

impl PartialEq for Far {
    fn eq(&self, other: &Far) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Far {}

impl PartialOrd for Far {
    fn partial_cmp(&self, other: &Far) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Far {
    fn cmp(&self, other: &Far) -> std::cmp::Ordering {
        self.0.distance.total_cmp(&other.0.distance).then(self.0.id.cmp(&other.0.id))
    }
}

/// A vector to compare with those of a field.
pub(super) fn probe(schema: &Schema, field: FieldId, vector: &[u8]) -> Result<Probe, Failure> {
    match schema.field(field).map(|field| &field.kind) {
        Some(FieldKind::Vector(options)) => Probe::new(options, vector).ok_or(Failure::Vector),
        _ => Err(Failure::Vector),
    }
}

/// The nearest of the matches, the nearest first.
///
/// # Errors
/// It takes too much, or the vector has another length than the field's.
pub fn nearest(
    schema: &Schema,
    views: &[View<'_>],
    matches: &Matches,
    wanted: &Nearest,
    meter: &Meter<'_>,
) -> Result<Vec<Neighbour>, Failure> {
    let probe = probe(schema, wanted.field, &wanted.vector)?;
    let count = usize::try_from(wanted.count).unwrap_or(usize::MAX);
    let mut best: BinaryHeap<Far> = BinaryHeap::new();
    for (number, (view, hits)) in views.iter().zip(&matches.by_view).enumerate() {
        meter.work(hits.places.len() as u64 * probe.work())?;
        for (place, at) in hits.places.iter().zip(0..) {
            let Some(vector) = view.part.vector(wanted.field, *place) else { continue };
            let distance = probe.distance(vector);
            if best.len() >= count && best.peek().is_none_or(|worst| distance > worst.0.distance) {
                continue;
            }
            let (id, score) = (view.part.id(*place), hits.scores.get(at).copied().unwrap_or(0.0));
            best.push(Far(Neighbour { view: number, place: *place, id, score, distance }));
            if best.len() > count {
                best.pop();
            }
        }
    }
    Ok(best.into_sorted_vec().into_iter().map(|far| far.0).collect())
}

/// The distance of a document's vector to a query's; infinite without one.
pub fn distance_of(schema: &Schema, field: FieldId, vector: &[u8], part: &dyn Part, place: u32) -> f64 {
    let Ok(probe) = probe(schema, field, vector) else { return f64::INFINITY };
    part.vector(field, place).map_or(f64::INFINITY, |vector| probe.distance(vector))
}
