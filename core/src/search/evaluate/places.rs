//! Positions on the earth.

use crate::search::index::Part;
use crate::search::schema::FieldId;

/// The earth's radius in metres: Redis' figure.
const RADIUS_M: f64 = 6_372_797.560_856;

/// The distance of two positions, each a longitude and a latitude in degrees, in metres: haversine, as Redis computes it.
pub fn distance_m(one: (f64, f64), other: (f64, f64)) -> f64 {
    let (one_lat, other_lat) = (one.1.to_radians(), other.1.to_radians());
    let half = |from: f64, to: f64| ((to - from) / 2.0).sin();
    let (latitude, longitude) = (half(one_lat, other_lat), half(one.0.to_radians(), other.0.to_radians()));
    let share = latitude * latitude + one_lat.cos() * other_lat.cos() * longitude * longitude;
    2.0 * RADIUS_M * share.sqrt().min(1.0).asin()
}

/// Whether a document has a position within a circle.
pub(super) fn is_near(part: &dyn Part, (field, place): (FieldId, u32), centre: (f64, f64), radius_m: f64) -> bool {
    let mut is_near = false;
    // Nothing is nearer than its latitude says.
    let degrees = (radius_m / RADIUS_M).to_degrees();
    part.positions_of(field, place, &mut |longitude, latitude| {
        let may_be = (latitude - centre.1).abs() <= degrees + 1e-6;
        is_near |= may_be && distance_m((longitude, latitude), centre) <= radius_m;
    });
    is_near
}
