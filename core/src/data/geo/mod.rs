//! Positions on the earth, kept as the scores of a sorted set.
//!
//! - [`hash`]: a position as a number of 52 bits that fits a score, and the cells of the grid behind it.
//! - [`area`]: what is searched, and the cells that cover it.
//! - [`search`]: the members of a sorted set within it; [`order`]: the first of them in an order.
//!
//! The figures (radius of the earth, edges of the grid, order of the steps of a calculation) are those of Redis, since
//! replies show digits that depend on them. Sines and cosines are the machine's own: natively the C library's, as in
//! Redis; on wasm32 the last digit of a distance may differ.

pub mod area;
pub mod hash;
pub mod order;
pub mod search;
#[cfg(test)]
mod tests;

pub use area::{Extent, Shape};
pub use hash::{LATITUDES, LONGITUDES};
pub use search::{Found, search};

/// Radius of the earth as a sphere, in metres.
const EARTH_RADIUS_M: f64 = 6_372_797.560_856;

const RADIANS_PER_DEGREE: f64 = std::f64::consts::PI / 180.0;

/// A place on the earth, in degrees.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Position {
    /// Degrees east of Greenwich.
    pub longitude: f64,
    /// Degrees north of the equator.
    pub latitude: f64,
}

/// The distance of two places along a great circle, in metres: the haversine formula.
pub fn distance_m(from: Position, to: Position) -> f64 {
    let across = ((radians(to.longitude) - radians(from.longitude)) / 2.0).sin();
    if across == 0.0 {
        return latitude_distance_m(from.latitude, to.latitude);
    }
    let (south, north) = (radians(from.latitude), radians(to.latitude));
    let along = ((north - south) / 2.0).sin();
    let haversine = along * along + south.cos() * north.cos() * across * across;
    // Rounding may carry the haversine of opposite ends of the earth above 1, where there is no arc.
    2.0 * EARTH_RADIUS_M * haversine.sqrt().min(1.0).asin()
}

/// The distance of two latitudes along a meridian, in metres.
fn latitude_distance_m(from: f64, to: f64) -> f64 {
    EARTH_RADIUS_M * (radians(to) - radians(from)).abs()
}

fn radians(degrees: f64) -> f64 {
    degrees * RADIANS_PER_DEGREE
}

fn degrees(radians: f64) -> f64 {
    radians / RADIANS_PER_DEGREE
}
