//! The grid: a position as the number of the cell it is in.
//!
//! A cell of `n` steps is one of 2^n columns and 2^n rows. Its number has the bits of column and row by turns, so that
//! the cells within a larger cell are a run of numbers; 26 steps make 52 bits, which a score holds exactly.
//!
//! ```text
//! bit    51 50 49 48 …  1  0
//!         c  r  c  r …  c  r      c: column (longitude), r: row (latitude), the highest bits first
//! ```
//!
//! Rows end at the latitudes where the map of the Mercator projection is a square; there is no position beyond. The very
//! last longitude and latitude stand one column and one row beyond the grid, as in Redis, and take a 53rd and a 54th bit.

use super::Position;

/// Steps of a score.
pub const STEPS_MAX: u32 = 26;

/// Letters of the geohash that other systems know.
const ALPHABET: &[u8; 32] = b"0123456789bcdefghjkmnpqrstuvwxyz";

/// Letters of a geohash. The last one stands for bits that a score does not have: always `0`.
pub const TEXT_LETTERS: usize = 11;

/// Values between two ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// The lower end.
    pub min: f64,
    /// The upper end.
    pub max: f64,
}

/// Longitudes of the grid.
pub const LONGITUDES: Span = Span { min: -180.0, max: 180.0 };

/// Latitudes of the grid.
pub const LATITUDES: Span = Span { min: -85.051_128_78, max: 85.051_128_78 };

/// Latitudes of the geohash that other systems know.
const ALL_LATITUDES: Span = Span { min: -90.0, max: 90.0 };

impl Span {
    /// Whether a value is within, ends included.
    pub fn contains(&self, value: f64) -> bool {
        value >= self.min && value <= self.max
    }

    /// Which of 2^`steps` equal parts a value is in.
    fn part_of(&self, value: f64, steps: u32) -> u32 {
        let share = (value - self.min) / (self.max - self.min);
        (share * f64::from(1_u32 << steps)) as u32
    }

    /// One of 2^`steps` equal parts.
    fn part(&self, number: u32, steps: u32) -> Span {
        let at =
            |number: u32| self.min + f64::from(number) / f64::from(1_u32 << steps) * (self.max - self.min);
        // A number of 32 bits wraps in Redis as well; only a score that is no position has one.
        Span { min: at(number), max: at(number.wrapping_add(1)) }
    }

    fn middle(&self) -> f64 {
        (self.min + self.max) / 2.0
    }

    /// The value within that is nearest.
    fn nearest(&self, value: f64) -> f64 {
        value.clamp(self.min, self.max)
    }
}

/// A cell of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    bits: u64,
    steps: u32,
}

impl Cell {
    /// The cell with 2^`steps` columns and rows that a position is in; at most [`STEPS_MAX`] steps.
    pub fn of(position: Position, steps: u32) -> Cell {
        Cell::on(LONGITUDES, LATITUDES, position, steps)
    }

    fn on(longitudes: Span, latitudes: Span, position: Position, steps: u32) -> Cell {
        let column = longitudes.part_of(position.longitude, steps);
        let row = latitudes.part_of(position.latitude, steps);
        Cell { bits: interleaved(column, row), steps }
    }

    /// The longitudes and the latitudes of the cell.
    pub fn spans(&self) -> (Span, Span) {
        let (column, row) = (gathered(self.bits >> 1), gathered(self.bits));
        (LONGITUDES.part(column, self.steps), LATITUDES.part(row, self.steps))
    }

    /// The cell so many columns to the east and rows to the north, of which each is -1, 0 or 1; the grid has no ends.
    pub fn neighbour(&self, east: i32, north: i32) -> Cell {
        let within = (1_u32 << self.steps) - 1;
        let moved = |number: u32, by: i32| {
            if by == 0 { number } else { number.wrapping_add_signed(by) & within }
        };
        let column = moved(gathered(self.bits >> 1), east);
        let row = moved(gathered(self.bits), north);
        Cell { bits: interleaved(column, row), steps: self.steps }
    }

    /// The scores of the positions within: the first, and the first that is beyond.
    pub fn scores(&self) -> (f64, f64) {
        let score = |bits: u64| (bits << (2 * (STEPS_MAX - self.steps))) as f64;
        (score(self.bits), score(self.bits + 1))
    }
}

/// The score of a position.
pub fn score_of(position: Position) -> u64 {
    Cell::of(position, STEPS_MAX).bits
}

/// The position of a score: the middle of its cell. Any score has one; beyond the grid it is the nearest that is on it.
pub fn position_of(score: f64) -> Position {
    let (longitudes, latitudes) = Cell { bits: bits_of(score), steps: STEPS_MAX }.spans();
    Position {
        longitude: LONGITUDES.nearest(longitudes.middle()),
        latitude: LATITUDES.nearest(latitudes.middle()),
    }
}

/// A score as an integer: what a processor's conversion gives, also for scores that have none.
pub fn integer_of(score: f64) -> i64 {
    let has_one = score >= i64::MIN as f64 && score < -(i64::MIN as f64);
    if has_one { score as i64 } else { i64::MIN }
}

fn bits_of(score: f64) -> u64 {
    const HALF: f64 = (1_u64 << 63) as f64;
    if score >= HALF {
        integer_of(score - HALF).cast_unsigned() ^ 1 << 63
    } else {
        integer_of(score).cast_unsigned()
    }
}

/// The geohash of a position as other systems write it, which count rows from pole to pole.
pub fn text_of(position: Position) -> [u8; TEXT_LETTERS] {
    const LETTER_BITS: usize = 5;
    let bits = Cell::on(LONGITUDES, ALL_LATITUDES, position, STEPS_MAX).bits;
    let mut text = [b'0'; TEXT_LETTERS];
    for (at, letter) in text.iter_mut().enumerate().take(TEXT_LETTERS - 1) {
        let shift = 2 * STEPS_MAX as usize - (at + 1) * LETTER_BITS;
        *letter = ALPHABET[(bits >> shift) as usize % ALPHABET.len()];
    }
    text
}

/// How bits are moved apart: by so much, then kept where the mask says.
const SPREAD: [(u32, u64); 5] = [
    (16, 0x0000_FFFF_0000_FFFF),
    (8, 0x00FF_00FF_00FF_00FF),
    (4, 0x0F0F_0F0F_0F0F_0F0F),
    (2, 0x3333_3333_3333_3333),
    (1, 0x5555_5555_5555_5555),
];

/// The bits of the column in the odd places, those of the row in the even ones.
fn interleaved(column: u32, row: u32) -> u64 {
    let spread = |number: u32| {
        SPREAD.iter().fold(u64::from(number), |bits, (shift, mask)| (bits | bits << shift) & mask)
    };
    spread(column) << 1 | spread(row)
}

/// The bits in the even places.
fn gathered(bits: u64) -> u32 {
    let mut bits = bits & 0x5555_5555_5555_5555;
    let masks = SPREAD.iter().rev().skip(1).map(|(_, mask)| *mask).chain([0xFFFF_FFFF]);
    for ((shift, _), mask) in SPREAD.iter().rev().zip(masks) {
        bits = (bits | bits >> shift) & mask;
    }
    // The last mask left 32 bits.
    bits as u32
}
