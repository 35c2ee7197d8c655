//! The documents whose vectors are nearest to one, found by looking at all that match.

use crate::search::index::part::{DocumentId, View};
use crate::search::schema::{FieldId, FieldKind, Schema};
use crate::search::vector::Probe;
use crate::sorted;

use super::{Failure, Matches, Meter};

/// A document and its distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    /// The number of its view.
    pub view: usize,
    /// Its place there.
    pub place: u32,
    /// Its id.
    pub id: DocumentId,
    /// How far its vector is.
    pub distance: f64,
}

/// A vector of a query; an error if its length is not that of the field's.
pub(super) fn probe(schema: &Schema, field: FieldId, vector: &[u8]) -> Result<Probe, Failure> {
    match schema.field(field).map(|field| &field.kind) {
        Some(FieldKind::Vector(options)) => Probe::new(options, vector).ok_or(Failure::Vector),
        _ => Err(Failure::Vector),
    }
}

/// The `count` documents nearest to a vector, nearest first, ties by id: of those that match, or of all live ones if `matches` is None.
///
/// # Errors
/// A vector of another length than the field's; more work or memory than allowed.
pub fn nearest(
    schema: &Schema,
    views: &[View<'_>],
    matches: Option<&Matches>,
    field: FieldId,
    vector: &[u8],
    count: u64,
    meter: &Meter<'_>,
) -> Result<Vec<Neighbour>, Failure> {
    let probe = probe(schema, field, vector)?;
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let mut found: Vec<Neighbour> = Vec::new();
    let mut bound = f64::INFINITY;
    for (number, view) in views.iter().enumerate() {
        let mut look = |place: u32| -> Result<(), Failure> {
            let Some(vector) = view.part.vector(field, place) else { return Ok(()) };
            let distance = probe.distance(vector);
            // Written so that a distance that is no number passes until there are enough others.
            if distance > bound {
                return Ok(());
            }
            if found.len() == found.capacity() {
                meter.memory(found.len().max(16) * size_of::<Neighbour>())?;
            }
            found.push(Neighbour { view: number, place, id: view.part.id(place), distance });
            // Twice as many as wanted are gathered before half of them is thrown away.
            if found.len() >= count.saturating_mul(2).max(64) {
                found = nearer(&found, count);
                bound = found.last().map_or(f64::NEG_INFINITY, |neighbour| neighbour.distance);
            }
            Ok(())
        };
        match matches {
            Some(matches) => {
                let places = matches.views.get(number).map_or(&[][..], |hits| &hits.places);
                meter.work(places.len() as u64)?;
                places.iter().try_for_each(|place| look(*place))?;
            }
            None => {
                meter.work(u64::from(view.part.places()))?;
                view.live.iter().try_for_each(&mut look)?;
            }
        }
    }
    found = nearer(&found, count);
    Ok(found)
}

/// The nearest of some, in order.
fn nearer(found: &[Neighbour], count: usize) -> Vec<Neighbour> {
    let key =
        |at: u32| found.get(at as usize).map(|neighbour| (sorted::rising(neighbour.distance), neighbour.id));
    let order = sorted::first(found.len() as u32, count, &|a, b| key(a).cmp(&key(b)));
    order.iter().filter_map(|at| found.get(*at as usize).copied()).collect()
}

/// How far a document's vector is from one of the query; infinite if it has none, or one of another length.
pub fn distance_of(schema: &Schema, field: FieldId, vector: &[u8], view: &View<'_>, place: u32) -> f64 {
    let distance = |probe: Probe| view.part.vector(field, place).map(|vector| probe.distance(vector));
    probe(schema, field, vector).ok().and_then(distance).unwrap_or(f64::INFINITY)
}
