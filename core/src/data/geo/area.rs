//! What a search looks for, and the cells it has to look into.
//!
//! The cells are the one with the centre and its eight neighbours, of a size at which they cover the area: about as
//! large as the radius. Those that the area does not reach are left out.

use super::hash::{Cell, STEPS_MAX};
use super::{EARTH_RADIUS_M, Position, degrees, distance_m, latitude_distance_m, radians};

/// Half of the earth's circumference on the map, in metres.
const MERCATOR_MAX_M: f64 = 20_037_726.37;

/// Cells of a search: the middle and its neighbours.
pub const CELLS: usize = 9;

/// Steps to the east and to the north of the cells, in the order in which they are searched.
const ORDER: [(i32, i32); CELLS] =
    [(0, 0), (0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1)];

/// The size of an area, in its unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Extent {
    /// All that is no further away than this.
    Radius(f64),
    /// A box along meridians and parallels.
    Box {
        /// From west to east.
        width: f64,
        /// From south to north.
        height: f64,
    },
}

/// An area.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// Its middle.
    pub centre: Position,
    /// Its size.
    pub extent: Extent,
    /// Metres in the unit of the size.
    pub unit_m: f64,
}

/// The degrees between which an area lies.
struct Limits {
    west: f64,
    south: f64,
    east: f64,
    north: f64,
}

impl Shape {
    /// The distance of a position from the centre in metres, if the position is in the area.
    pub fn distance_m(&self, position: Position) -> Option<f64> {
        match self.extent {
            Extent::Radius(radius) => {
                let distance_m = distance_m(self.centre, position);
                (distance_m <= radius * self.unit_m).then_some(distance_m)
            }
            Extent::Box { width, height } => {
                let (width_m, height_m) = (width * self.unit_m, height * self.unit_m);
                if latitude_distance_m(position.latitude, self.centre.latitude) > height_m / 2.0 {
                    return None;
                }
                let on_meridian = Position { latitude: position.latitude, ..self.centre };
                if distance_m(position, on_meridian) > width_m / 2.0 {
                    return None;
                }
                Some(distance_m(self.centre, position))
            }
        }
    }

    /// The cells that cover the area, in the order of the search.
    pub fn cells(&self) -> [Option<Cell>; CELLS] {
        let limits = self.limits();
        let mut steps = steps_for(self.radius_m(), self.centre.latitude);
        if steps > 1 && !reach(Cell::of(self.centre, steps), &limits) {
            steps -= 1;
        }
        let middle = Cell::of(self.centre, steps);
        let (longitudes, latitudes) = middle.spans();
        ORDER.map(|(east, north)| {
            let is_needless = east < 0 && longitudes.min < limits.west
                || east > 0 && longitudes.max > limits.east
                || north < 0 && latitudes.min < limits.south
                || north > 0 && latitudes.max > limits.north;
            // Of four cells each is needed.
            (steps < 2 || !is_needless).then(|| middle.neighbour(east, north))
        })
    }

    /// Distance of the furthest point, in metres.
    fn radius_m(&self) -> f64 {
        let radius = match self.extent {
            Extent::Radius(radius) => radius,
            Extent::Box { width, height } => {
                let (width, height) = (width / 2.0, height / 2.0);
                (width * width + height * height).sqrt()
            }
        };
        radius * self.unit_m
    }

    fn limits(&self) -> Limits {
        let (width, height) = match self.extent {
            Extent::Radius(radius) => (radius, radius),
            Extent::Box { width, height } => (width / 2.0, height / 2.0),
        };
        let (width_m, height_m) = (self.unit_m * width, self.unit_m * height);
        let Position { longitude, latitude } = self.centre;
        let up = degrees(height_m / EARTH_RADIUS_M);
        // The parallel of the area that is nearer to its pole is the shorter one, and takes the most degrees.
        let outermost = if latitude < 0.0 { latitude - up } else { latitude + up };
        let aside = degrees(width_m / EARTH_RADIUS_M / radians(outermost).cos());
        Limits {
            west: longitude - aside,
            south: latitude - up,
            east: longitude + aside,
            north: latitude + up,
        }
    }
}

/// Whether the neighbours of a cell reach to all limits.
fn reach(cell: Cell, limits: &Limits) -> bool {
    let north = cell.neighbour(0, 1).spans().1.max;
    let south = cell.neighbour(0, -1).spans().1.min;
    let east = cell.neighbour(1, 0).spans().0.max;
    let west = cell.neighbour(-1, 0).spans().0.min;
    // Limits that are no number, around a pole, count as reached.
    let falls_short =
        north < limits.north || south > limits.south || east < limits.east || west > limits.west;
    !falls_short
}

/// How many steps make cells of about this radius, at this latitude.
fn steps_for(radius_m: f64, latitude: f64) -> u32 {
    if radius_m == 0.0 {
        return STEPS_MAX;
    }
    let (mut reached_m, mut steps) = (radius_m, 1_u32);
    // The smallest radius above 0 is doubled about a thousand times.
    while reached_m < MERCATOR_MAX_M {
        reached_m *= 2.0;
        steps += 1;
    }
    // Larger cells than that, since the centre may be at the edge of one; and larger still near the poles, where they
    // are narrow.
    let narrowed = 2 + u32::from(latitude.abs() > 66.0) + u32::from(latitude.abs() > 80.0);
    steps.saturating_sub(narrowed).clamp(1, STEPS_MAX)
}
