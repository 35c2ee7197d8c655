//! The column of a field's first numbers.
//!
//! A number is `(least + packed) / 10^scale`, where all packed numbers take as many bytes, or the bits of a float.

use super::super::bytes::{has_bit, narrow};
use super::super::delta::within;
use super::super::write::columns::{FLOATS, unscaled};
use crate::search::bits::Bits;
use crate::search::query::Bound;

/// The first numbers of a field.
#[derive(Clone, Copy)]
pub(super) struct Numbers<'s> {
    pub(super) scale: u8,
    pub(super) width: u8,
    pub(super) least: i64,
    pub(super) packed: &'s [u8],
    /// Who has one, if some do not.
    pub(super) has: Option<&'s [u8]>,
}

impl Numbers<'_> {
    /// That of a document.
    #[inline]
    pub fn of(&self, place: u32) -> Option<f64> {
        self.has.is_none_or(|has| has_bit(has, place)).then(|| self.packed_at(place))
    }

    /// Those of many documents, which are appended; what is no number where there is none.
    pub fn of_all(&self, places: &[u32], into: &mut Vec<f64>) {
        let least = self.least;
        let whole = |number: u64| least.wrapping_add_unsigned(number) as f64;
        // Small whole numbers, which most columns have.
        match (self.has, self.scale, self.width) {
            (None, 0, 1) => {
                into.extend(places.iter().map(|place| whole(narrow(self.packed, 1, *place as usize))))
            }
            (None, 0, 2) => {
                into.extend(places.iter().map(|place| whole(narrow(self.packed, 2, *place as usize))))
            }
            (None, 0, 4) => {
                into.extend(places.iter().map(|place| whole(narrow(self.packed, 4, *place as usize))))
            }
            _ => into.extend(places.iter().map(|place| self.of(*place).unwrap_or(f64::NAN))),
        }
    }

    /// What stands at the place of a document, whether it has a number or not.
    #[inline]
    fn packed_at(&self, place: u32) -> f64 {
        let number = narrow(self.packed, self.width, place as usize);
        match self.scale {
            FLOATS => f64::from_bits(number),
            scale => unscaled(self.least.wrapping_add_unsigned(number), scale),
        }
    }
}

impl Numbers<'_> {
    /// Adds the places, below a bound, whose number lies in a range.
    pub fn within(&self, places: u32, low: Bound, high: Bound, into: &mut Bits) {
        if self.scale == FLOATS {
            let has = |place: &u32| self.of(*place).is_some_and(|number| within(number, low, high));
            (0..places).filter(has).for_each(|place| {
                into.add(place);
            });
            return;
        }
        let Some((least, greatest)) = self.packed_within(low, high) else { return };
        let is_inside = |packed: u64| packed.wrapping_sub(least) <= greatest - least;
        match self.width {
            1 => self.each_word(places, into, |bytes: &[u8; 1]| is_inside(bytes[0].into())),
            2 => self.each_word(places, into, |bytes| is_inside(u16::from_le_bytes(*bytes).into())),
            4 => self.each_word(places, into, |bytes| is_inside(u32::from_le_bytes(*bytes).into())),
            8 => self.each_word(places, into, |bytes| is_inside(u64::from_le_bytes(*bytes))),
            // All have the same.
            _ if is_inside(0) => (0..places.div_ceil(64)).for_each(|at| into.add_word(at, self.has_word(at))),
            _ => {}
        }
    }

    /// The least and the greatest packed number that lie in a range: they rise with the numbers.
    fn packed_within(&self, low: Bound, high: Bound) -> Option<(u64, u64)> {
        let number = |packed: u64| unscaled(self.least.wrapping_add_unsigned(packed), self.scale);
        let widest = u64::MAX.checked_shr(64 - 8 * u32::from(self.width)).unwrap_or(0);
        // What no column has, since it would be more than an i64.
        let most = widest.min(i64::MAX.abs_diff(self.least));
        let everything = Bound { value: f64::INFINITY, is_exclusive: false };
        let least = first(most, |packed| within(number(packed), low, everything))?;
        let nothing = Bound { value: f64::NEG_INFINITY, is_exclusive: false };
        let greatest = match first(most, |packed| !within(number(packed), nothing, high)) {
            Some(beyond) => beyond.checked_sub(1)?,
            None => most,
        };
        (least <= greatest).then_some((least, greatest))
    }

    /// Adds the places whose packed number is wanted, 64 at a time.
    fn each_word<const WIDTH: usize>(
        &self,
        places: u32,
        into: &mut Bits,
        is_wanted: impl Fn(&[u8; WIDTH]) -> bool,
    ) {
        let (numbers, _) = self.packed.as_chunks::<WIDTH>();
        for (chunk, at) in numbers.chunks(64).zip(0..places.div_ceil(64)) {
            let mut word = 0u64;
            for (number, bit) in chunk.iter().zip(0..64u32) {
                word |= u64::from(is_wanted(number)) << bit;
            }
            into.add_word(at, word & self.has_word(at));
        }
    }

    /// Which of 64 places have a number, a bit each.
    fn has_word(&self, at: u32) -> u64 {
        let Some(has) = self.has else { return u64::MAX };
        let mut bytes = [0; 8];
        let rest = has.get(at as usize * 8..).unwrap_or_default();
        bytes.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        u64::from_le_bytes(bytes)
    }
}

/// The first of the numbers from 0 to `most` from which on something is so.
fn first(most: u64, is_so: impl Fn(u64) -> bool) -> Option<u64> {
    let (mut low, mut high) = (0, most);
    while low < high {
        let middle = low + (high - low) / 2;
        if is_so(middle) { high = middle } else { low = middle + 1 }
    }
    is_so(low).then_some(low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_find_what_comparisons_find() {
        let mut bytes: Vec<u8> = (0..200u32).map(|byte| (byte * 37 % 251) as u8).collect();
        bytes.extend([0, 1, u8::MAX, u8::MAX, u8::MAX, u8::MAX, u8::MAX, u8::MAX]);
        let values = [
            f64::NEG_INFINITY,
            -1e300,
            -2.5,
            0.0,
            0.2,
            3.0,
            40.0,
            250.0,
            251.0,
            6e8,
            1e300,
            f64::INFINITY,
            f64::NAN,
        ];
        let bound = |value: f64, is_exclusive: bool| Bound { value, is_exclusive };
        for (width, least, scale) in [0, 1, 2, 4, 8]
            .into_iter()
            .flat_map(|width| [-3, 0, 1 << 60, i64::MIN].map(|least| (width, least)))
            .flat_map(|(width, least)| [0, 1, FLOATS].map(|scale| (width, least, scale)))
        {
            if width == 8 && least != i64::MIN && scale != FLOATS {
                // No column has numbers beyond an i64.
                continue;
            }
            let places = if width == 0 { 77 } else { (bytes.len() / usize::from(width)) as u32 };
            for has in [None, Some(&bytes[..places as usize / 8])] {
                let numbers = Numbers { scale, width, least, packed: &bytes, has };
                let own = numbers.of(5).into_iter().chain(values);
                let own: Vec<f64> = own.collect();
                for (low, high) in own.iter().flat_map(|low| own.iter().map(|high| (*low, *high))) {
                    for (low, high) in
                        [(bound(low, false), bound(high, true)), (bound(low, true), bound(high, false))]
                    {
                        let mut found = Bits::none(places);
                        numbers.within(places, low, high, &mut found);
                        let expected = (0..places).filter(|place| {
                            numbers.of(*place).is_some_and(|number| within(number, low, high))
                        });
                        assert_eq!(
                            found.to_vec(),
                            expected.collect::<Vec<u32>>(),
                            "{width} {least} {scale} {low:?} {high:?}"
                        );
                    }
                }
            }
        }
    }
}
