//! Places by numbers, positions on the earth and vectors.

use crate::search::bits::Bits;
use crate::search::query::Bound;
use crate::search::schema::FieldId;
use crate::search::vector::Probe;
use crate::sorted;

use super::Failure;
use super::run::{Run, counted};

/// The earth's radius in metres, as Redis has it.
const EARTH_RADIUS_M: f64 = 6_372_797.560856;

/// With so many ranges, a walk through all numbers for each takes as long as looking each number up among the ranges.
const WALKS_MAX: usize = 8;

/// The places with a number in one of these ranges.
pub(super) fn numbers(
    run: &Run<'_>,
    field: FieldId,
    ranges: &[(Bound, Bound)],
    within: Option<&[u32]>,
) -> Result<Vec<u32>, Failure> {
    let part = run.view.part;
    let places = part.places();
    run.meter.memory(places as usize / 8)?;
    let mut bits = Bits::none(places);
    if ranges.len() <= WALKS_MAX {
        run.meter.work(u64::from(places) * ranges.len() as u64)?;
        ranges.iter().for_each(|(low, high)| part.numbers_within(field, *low, *high, &mut bits));
    } else {
        run.meter.work(u64::from(places) * WALKS_MAX as u64)?;
        let ranges = apart(ranges);
        part.each_number(field, &mut |place, number| {
            let behind = ranges.partition_point(|(low, _)| low.is_below(number));
            let found = behind.checked_sub(1).and_then(|at| ranges.get(at));
            if found.is_some_and(|(_, high)| high.is_above(number)) {
                bits.add(place);
            }
        });
    }
    counted(run, bits, within)
}

/// The same numbers as ranges that do not overlap, in their order.
fn apart(ranges: &[(Bound, Bound)]) -> Vec<(Bound, Bound)> {
    // Adding zero makes one of both zeros.
    let plain = |bound: &Bound| Bound { value: bound.value + 0.0, ..*bound };
    let mut ranges: Vec<(Bound, Bound)> =
        ranges.iter().map(|(low, high)| (plain(low), plain(high))).collect();
    ranges.retain(|(low, high)| low.value <= high.value);
    sorted::all(&mut ranges, |(one, _), (other, _)| {
        one.value.total_cmp(&other.value).then(one.is_exclusive.cmp(&other.is_exclusive))
    });
    let mut found: Vec<(Bound, Bound)> = Vec::with_capacity(ranges.len());
    for (low, high) in ranges {
        match found.last_mut() {
            Some((_, last)) if last.is_above(low.value) || (low.value == last.value && !low.is_exclusive) => {
                if high.value > last.value || (high.value == last.value && !high.is_exclusive) {
                    *last = high;
                }
            }
            _ => found.push((low, high)),
        }
    }
    found
}

pub(super) fn near_point(
    run: &Run<'_>,
    field: FieldId,
    (longitude, latitude): (f64, f64),
    radius_m: f64,
    all: &[u32],
) -> Result<Vec<u32>, Failure> {
    run.meter.work(all.len() as u64)?;
    // Whatever the longitudes, no point of other latitudes is nearer than this. The millionth is for rounding.
    let degrees = (radius_m / EARTH_RADIUS_M).to_degrees() * 1.000001;
    let is_near = |place: &u32| {
        let mut is_near = false;
        run.view.part.positions_of(field, *place, &mut |other_longitude, other_latitude| {
            is_near |= (other_latitude - latitude).abs() <= degrees
                && distance_m((longitude, latitude), (other_longitude, other_latitude)) <= radius_m;
        });
        is_near
    };
    Ok(all.iter().copied().filter(is_near).collect())
}

/// Metres between two points, each a longitude and a latitude in degrees, by the haversine formula.
pub fn distance_m(from: (f64, f64), to: (f64, f64)) -> f64 {
    let (from_latitude, to_latitude) = (from.1.to_radians(), to.1.to_radians());
    let across = ((to.0.to_radians() - from.0.to_radians()) / 2.0).sin();
    let along = ((to_latitude - from_latitude) / 2.0).sin();
    let square = along * along + from_latitude.cos() * to_latitude.cos() * across * across;
    2.0 * EARTH_RADIUS_M * square.sqrt().min(1.0).asin()
}

pub(super) fn near_vector(
    run: &Run<'_>,
    field: FieldId,
    probe: &Probe,
    radius: f64,
    all: &[u32],
) -> Result<Vec<u32>, Failure> {
    run.meter.work(all.len() as u64)?;
    let is_near = |place: &u32| {
        run.view.part.vector(field, *place).is_some_and(|vector| probe.distance(vector) <= radius)
    };
    Ok(all.iter().copied().filter(is_near).collect())
}
