//! Columns of numbers: integers above the least one, after a decimal shift, so that prices like 3.99 take a byte or two.

use crate::search::bits::Bits;
use crate::search::index::bytes::{narrow, u32_at, u64_at};
use crate::search::query::Bound;

use super::{Kind, Segment};

/// The scale that says that numbers stand there as they are.
pub(in crate::search::index) const RAW: u8 = 15;

/// A power of ten, for scales up to 9.
pub(in crate::search::index) fn power(scale: u8) -> f64 {
    const POWERS: [f64; 10] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
    POWERS.get(usize::from(scale)).copied().unwrap_or(1.0)
}

/// How the numbers of a column are read.
#[derive(Clone, Copy)]
struct Column<'s> {
    codes: &'s [u8],
    width: u8,
    scale: u8,
    least: i64,
}

impl Column<'_> {
    #[inline]
    fn value(&self, code: u64) -> f64 {
        if self.scale == RAW {
            return f64::from_bits(code);
        }
        self.least.wrapping_add(code as i64) as f64 / power(self.scale)
    }

    /// The first code whose number is not before a bound: codes and numbers rise together.
    fn first(&self, is_before: impl Fn(f64) -> bool) -> u64 {
        let (mut low, mut high) = (0u64, 1u64 << 62);
        while low < high {
            let middle = low + (high - low) / 2;
            if is_before(self.value(middle)) { low = middle + 1 } else { high = middle }
        }
        low
    }
}

fn is_below(number: f64, low: Bound) -> bool {
    if low.is_exclusive { number <= low.value } else { number < low.value }
}

fn is_not_above(number: f64, high: Bound) -> bool {
    if high.is_exclusive { number < high.value } else { number <= high.value }
}

impl Segment {
    fn numbers(&self, field: u16) -> Option<Column<'_>> {
        let (bytes, width) = self.column(field, Kind::Numbers);
        let codes = bytes.get(8..)?;
        Some(Column { codes, width: width & 15, scale: width >> 4, least: u64_at(bytes, 0) as i64 })
    }

    /// Whether bits of a field say yes for a place.
    #[inline]
    pub(super) fn has_bit(&self, field: u16, kind: Kind, place: u32) -> bool {
        let (bits, width) = self.column(field, kind);
        match width {
            0 => false,
            1 => place < self.places,
            _ => bits.get(place as usize / 8).is_some_and(|byte| byte >> (place % 8) & 1 == 1),
        }
    }

    pub(super) fn first_number(&self, field: u16, place: u32) -> Option<f64> {
        if !self.has_bit(field, Kind::HasNumber, place) {
            return None;
        }
        let column = self.numbers(field)?;
        Some(column.value(narrow(column.codes, column.width, place as usize)))
    }

    /// The further numbers of a field: place and number.
    pub(super) fn further_numbers(&self, field: u16) -> impl Iterator<Item = (u32, f64)> + '_ {
        let entries = self.column(field, Kind::MoreNumbers).0.as_chunks::<12>().0;
        entries.iter().map(|entry| (u32_at(entry, 0), f64::from_bits(u64_at(entry, 4))))
    }

    pub(super) fn add_numbers_within(&self, field: u16, low: Bound, high: Bound, into: &mut Bits) {
        for (place, number) in self.further_numbers(field) {
            if !is_below(number, low) && is_not_above(number, high) {
                into.add(place);
            }
        }
        let Some(column) = self.numbers(field) else { return };
        let has_all = self.column(field, Kind::HasNumber).1 == 1;
        let mut add = |place: u32| {
            if has_all || self.has_bit(field, Kind::HasNumber, place) {
                into.add(place);
            }
        };
        if column.scale == RAW {
            let is_within = |code: u64| {
                let number = f64::from_bits(code);
                !is_below(number, low) && is_not_above(number, high)
            };
            scan(column.codes.as_chunks::<8>().0, |code| is_within(u64::from_le_bytes(code)), &mut add);
            return;
        }
        // Codes are compared instead of numbers: a range of them is the same.
        let first = column.first(|number| is_below(number, low));
        let end = column.first(|number| is_not_above(number, high));
        let span = end.saturating_sub(first);
        let is_within = |code: u64| code.wrapping_sub(first) < span;
        match column.width {
            0 => (0..if is_within(0) { self.places } else { 0 }).for_each(add),
            1 => scan(column.codes.as_chunks::<1>().0, |[code]| is_within(u64::from(code)), &mut add),
            2 => scan(
                column.codes.as_chunks::<2>().0,
                |code| is_within(u64::from(u16::from_le_bytes(code))),
                &mut add,
            ),
            4 => scan(
                column.codes.as_chunks::<4>().0,
                |code| is_within(u64::from(u32::from_le_bytes(code))),
                &mut add,
            ),
            _ => scan(column.codes.as_chunks::<8>().0, |code| is_within(u64::from_le_bytes(code)), &mut add),
        }
    }
}

/// Calls `add` with the index of each code that is within: 64 codes are compared at a time, without a branch.
#[inline]
fn scan<const N: usize>(codes: &[[u8; N]], is_within: impl Fn([u8; N]) -> bool, add: &mut dyn FnMut(u32)) {
    for (group, start) in codes.chunks(64).zip((0u32..).step_by(64)) {
        let mut mask = 0u64;
        for (code, bit) in group.iter().zip(0..) {
            mask |= u64::from(is_within(*code)) << bit;
        }
        while mask != 0 {
            add(start + mask.trailing_zeros());
            mask &= mask - 1;
        }
    }
}
