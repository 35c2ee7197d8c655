//! Positions, distances and units as clients write them and as replies show them.

use crate::command::CommandError;
use crate::command::args::{float, is_option};
use crate::data::geo::{LATITUDES, LONGITUDES, Position};
use crate::resp::Reply;

type Result<T> = std::result::Result<T, CommandError>;

/// Metres in a unit.
const UNITS: [(&str, f64); 4] = [("M", 1.0), ("KM", 1000.0), ("FT", 0.3048), ("MI", 1609.34)];

/// Distances have four digits after the point.
const DISTANCE_SCALE: f64 = 1e4;

/// The metres in the unit of this name.
pub(super) fn unit_m(name: &[u8]) -> Result<f64> {
    let unit = UNITS.iter().find(|(unit, _)| is_option(name, unit));
    let error = CommandError::text("ERR unsupported unit provided. please use M, KM, FT, MI");
    unit.map(|(_, metres)| *metres).ok_or(error)
}

/// A position that the grid has.
pub(super) fn position(longitude: &[u8], latitude: &[u8]) -> Result<Position> {
    let (longitude, latitude) = (float(longitude)?, float(latitude)?);
    if LONGITUDES.contains(longitude) && LATITUDES.contains(latitude) {
        return Ok(Position { longitude, latitude });
    }
    let text = format!("ERR invalid longitude,latitude pair {longitude:.6},{latitude:.6}");
    Err(CommandError::owned(text))
}

/// Writes a position: two doubles with up to 17 digits after the point.
pub(super) fn reply_position(reply: &mut Reply, position: Position) {
    reply.array(2);
    for degrees in [position.longitude, position.latitude] {
        let text = format!("{degrees:.17}");
        let shown = text.trim_end_matches('0').trim_end_matches('.');
        reply.double_text(if shown == "-0" { "0" } else { shown });
    }
}

/// Writes a distance, as text in both protocols.
pub(super) fn reply_distance(reply: &mut Reply, distance: f64) {
    // The earth is not so large that this would overflow.
    let scaled = (distance * DISTANCE_SCALE).round_ties_even() as u64;
    let scale = DISTANCE_SCALE as u64;
    reply.bulk(format!("{}.{:04}", scaled / scale, scaled % scale).as_bytes());
}
