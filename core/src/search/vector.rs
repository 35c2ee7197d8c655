//! Distances of vectors, as bytes of a field's numbers: plain loops over partial sums, which the compiler turns into vector instructions.

use crate::search::schema::{Metric, Number, VectorOptions};

/// Partial sums that are independent of each other: one sum would have to wait for itself at every step.
const LANES: usize = 16;

/// A vector of a query, ready to be compared with vectors of its field.
#[derive(Clone, Debug)]
pub struct Probe {
    metric: Metric,
    number: Number,
    bytes: usize,
    /// The numbers, unless they have 64 bits.
    singles: Vec<f32>,
    /// The numbers, if they have 64 bits.
    doubles: Vec<f64>,
    /// The sum of the squares of the numbers, for [`Metric::Cosine`].
    square: f64,
}

/// What one pass over two vectors sums up.
struct Sums {
    /// Products, or squares of differences for [`Metric::L2`].
    pairs: f64,
    /// Squares of the second one's numbers, for [`Metric::Cosine`].
    squares: f64,
}

impl Probe {
    /// A vector, as bytes of the field's numbers; None if it has another length than the field's.
    pub fn new(options: &VectorOptions, vector: &[u8]) -> Option<Probe> {
        let bytes = (options.dimension as usize).checked_mul(options.number.bytes())?;
        if vector.len() != bytes {
            return None;
        }
        let (mut singles, mut doubles) = (Vec::new(), Vec::new());
        match options.number {
            Number::Float64 => doubles = vector.chunks_exact(8).map(double).collect(),
            Number::Float32 => singles = vector.chunks_exact(4).map(single).collect(),
            Number::Float16 => singles = vector.chunks_exact(2).map(half).collect(),
            Number::BFloat16 => singles = vector.chunks_exact(2).map(brain).collect(),
            Number::Int8 => singles = vector.chunks_exact(1).map(signed_byte).collect(),
            Number::Uint8 => singles = vector.chunks_exact(1).map(byte).collect(),
        }
        let mut probe =
            Probe { metric: options.metric, number: options.number, bytes, singles, doubles, square: 0.0 };
        probe.square = probe.sums(vector).squares;
        Some(probe)
    }

    /// The distance of a vector of the field; infinite if it has another length.
    pub fn distance(&self, vector: &[u8]) -> f64 {
        if vector.len() != self.bytes {
            return f64::INFINITY;
        }
        let sums = self.sums(vector);
        match self.metric {
            Metric::L2 => sums.pairs,
            Metric::InnerProduct => 1.0 - sums.pairs,
            Metric::Cosine => {
                // Of the same vector all sums are the same, so the distance is 0 to the bit. One of another length may come
                // out a little below it.
                let length = (self.square * sums.squares).sqrt();
                // A vector of zeros has no direction: it counts as being at a right angle to all others.
                if length > 0.0 { (1.0 - sums.pairs / length).max(0.0) } else { 1.0 }
            }
        }
    }

    fn sums(&self, vector: &[u8]) -> Sums {
        match self.number {
            Number::Float32 => singles::<4>(self.metric, &self.singles, vector, single),
            Number::Float16 => singles::<2>(self.metric, &self.singles, vector, half),
            Number::BFloat16 => singles::<2>(self.metric, &self.singles, vector, brain),
            Number::Int8 => singles::<1>(self.metric, &self.singles, vector, signed_byte),
            Number::Uint8 => singles::<1>(self.metric, &self.singles, vector, byte),
            Number::Float64 => doubles(self.metric, &self.doubles, vector),
        }
    }
}

#[inline(always)]
/// A vector's numbers as the bytes of a field; what a kind of numbers cannot hold becomes the nearest that it can.
pub fn encode(number: Number, numbers: &[f64]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(numbers.len() * number.bytes());
    for value in numbers {
        match number {
            Number::Float32 => bytes.extend_from_slice(&(*value as f32).to_le_bytes()),
            Number::Float64 => bytes.extend_from_slice(&value.to_le_bytes()),
            Number::Float16 => bytes.extend_from_slice(&half_of(*value as f32).to_le_bytes()),
            Number::BFloat16 => bytes.extend_from_slice(&brain_of(*value as f32).to_le_bytes()),
            Number::Int8 => bytes.extend_from_slice(&(*value as i8).to_le_bytes()),
            Number::Uint8 => bytes.push(*value as u8),
        }
    }
    bytes
}

/// The nearest number of 16 bits of the kind whose upper half of 32 bits it is; ties go to the even one.
fn brain_of(number: f32) -> u16 {
    let bits = number.to_bits();
    if number.is_nan() {
        return (bits >> 16) as u16 | 0x40;
    }
    (bits.wrapping_add(0x7FFF + (bits >> 16 & 1)) >> 16) as u16
}

/// The nearest number of IEEE 754 half precision; ties go to the even one.
fn half_of(number: f32) -> u16 {
    let sign = ((number.to_bits() >> 16) & 0x8000) as u16;
    let magnitude = number.abs();
    let bits = match magnitude {
        _ if number.is_nan() => 0x7E00,
        // Half way to what would be the next power of two.
        _ if magnitude >= 65_520.0 => 0x7C00,
        // Below the smallest normal number all are multiples of 2^-24.
        _ if magnitude < 2.0_f32.powi(-14) => (magnitude * 2.0_f32.powi(24)).round_ties_even() as u16,
        _ => {
            let bits = magnitude.to_bits();
            let rounded = bits + 0x0FFF + (bits >> 13 & 1);
            ((rounded >> 13) - ((127 - 15) << 10)) as u16
        }
    };
    sign | bits
}

fn single(bytes: &[u8]) -> f32 {
    f32::from_le_bytes(bytes.try_into().unwrap_or_default())
}

#[inline(always)]
fn double(bytes: &[u8]) -> f64 {
    f64::from_le_bytes(bytes.try_into().unwrap_or_default())
}

#[inline(always)]
fn signed_byte(bytes: &[u8]) -> f32 {
    f32::from(i8::from_le_bytes(bytes.try_into().unwrap_or_default()))
}

#[inline(always)]
fn byte(bytes: &[u8]) -> f32 {
    f32::from(bytes.first().copied().unwrap_or_default())
}

#[inline(always)]
fn brain(bytes: &[u8]) -> f32 {
    f32::from_bits(u32::from(u16::from_le_bytes(bytes.try_into().unwrap_or_default())) << 16)
}

/// IEEE 754 half precision: 1 bit of sign, 5 of exponent, 10 of fraction.
#[inline(always)]
fn half(bytes: &[u8]) -> f32 {
    let bits = u32::from(u16::from_le_bytes(bytes.try_into().unwrap_or_default()));
    let sign = (bits & 0x8000) << 16;
    // The exponent's bias grows from 15 to 127. A multiplication by 2^112 does this, and normalises what is subnormal.
    let magnitude = f32::from_bits((bits & 0x7FFF) << 13) * f32::from_bits((112 + 127) << 23);
    let magnitude =
        if bits & 0x7C00 == 0x7C00 { f32::from_bits(0x7F80_0000 | (bits & 0x3FF) << 13) } else { magnitude };
    f32::from_bits(magnitude.to_bits() | sign)
}

#[inline(always)]
fn singles<const BYTES: usize>(
    metric: Metric,
    probe: &[f32],
    vector: &[u8],
    read: impl Fn(&[u8]) -> f32 + Copy,
) -> Sums {
    match metric {
        Metric::L2 => {
            let pairs = sum::<BYTES>(probe, vector, |a, bytes| {
                let difference = a - read(bytes);
                difference * difference
            });
            Sums { pairs, squares: 0.0 }
        }
        Metric::InnerProduct => {
            Sums { pairs: sum::<BYTES>(probe, vector, |a, bytes| a * read(bytes)), squares: 0.0 }
        }
        Metric::Cosine => Sums {
            pairs: sum::<BYTES>(probe, vector, |a, bytes| a * read(bytes)),
            squares: sum::<BYTES>(probe, vector, |_, bytes| {
                let b = read(bytes);
                b * b
            }),
        },
    }
}

#[inline(always)]
fn sum<const BYTES: usize>(probe: &[f32], vector: &[u8], term: impl Fn(f32, &[u8]) -> f32) -> f64 {
    let mut sums = [0f32; LANES];
    let (heads, tails) = (probe.chunks_exact(LANES), vector.chunks_exact(LANES * BYTES));
    let (head_rest, tail_rest) = (heads.remainder(), tails.remainder());
    for (numbers, bytes) in heads.zip(tails) {
        for ((sum, number), bytes) in sums.iter_mut().zip(numbers).zip(bytes.chunks_exact(BYTES)) {
            *sum += term(*number, bytes);
        }
    }
    let rest: f32 =
        head_rest.iter().zip(tail_rest.chunks_exact(BYTES)).map(|(a, bytes)| term(*a, bytes)).sum();
    f64::from(sums.iter().sum::<f32>() + rest)
}

fn doubles(metric: Metric, probe: &[f64], vector: &[u8]) -> Sums {
    let product = |a: f64, b: f64| a * b;
    match metric {
        Metric::L2 => Sums { pairs: sum_doubles(probe, vector, |a, b| (a - b) * (a - b)), squares: 0.0 },
        Metric::InnerProduct => Sums { pairs: sum_doubles(probe, vector, product), squares: 0.0 },
        Metric::Cosine => Sums {
            pairs: sum_doubles(probe, vector, product),
            squares: sum_doubles(probe, vector, |_, b| b * b),
        },
    }
}

#[inline(always)]
fn sum_doubles(probe: &[f64], vector: &[u8], term: impl Fn(f64, f64) -> f64) -> f64 {
    let mut sums = [0f64; LANES];
    let (heads, tails) = (probe.chunks_exact(LANES), vector.chunks_exact(LANES * 8));
    let (head_rest, tail_rest) = (heads.remainder(), tails.remainder());
    for (numbers, bytes) in heads.zip(tails) {
        for ((sum, number), bytes) in sums.iter_mut().zip(numbers).zip(bytes.chunks_exact(8)) {
            *sum += term(*number, double(bytes));
        }
    }
    let rest: f64 =
        head_rest.iter().zip(tail_rest.chunks_exact(8)).map(|(a, bytes)| term(*a, double(bytes))).sum();
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(number: Number, metric: Metric, dimension: u32) -> VectorOptions {
        VectorOptions { dimension, number, metric, is_hnsw: false, attributes: Vec::new() }
    }

    #[test]
    fn distances_are_those_of_the_definitions() {
        let a = [1.0f32, 2.0, 3.0];
        let b = [2.0f32, 0.0, -1.0];
        let bytes = |v: &[f32]| v.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
        let distance = |metric| {
            Probe::new(&options(Number::Float32, metric, 3), &bytes(&a)).expect("fits").distance(&bytes(&b))
        };
        assert_eq!(distance(Metric::L2), 1.0 + 4.0 + 16.0);
        assert_eq!(distance(Metric::InnerProduct), 1.0 - (2.0 - 3.0));
        let cosine = 1.0 + 1.0 / (14f64.sqrt() * 5f64.sqrt());
        assert!((distance(Metric::Cosine) - cosine).abs() < 1e-6);
    }

    #[test]
    fn all_kinds_of_numbers_mean_the_same() {
        for dimension in [1u32, 7, 16, 33] {
            let numbers: Vec<f32> = (0..dimension).map(|x| x as f32 * 0.5 - 2.0).collect();
            let halves: Vec<u8> = numbers.iter().flat_map(|x| half_of(*x).to_le_bytes()).collect();
            let brains: Vec<u8> =
                numbers.iter().flat_map(|x| ((x.to_bits() >> 16) as u16).to_le_bytes()).collect();
            let doubles: Vec<u8> = numbers.iter().flat_map(|x| f64::from(*x).to_le_bytes()).collect();
            let singles: Vec<u8> = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
            for metric in [Metric::L2, Metric::InnerProduct, Metric::Cosine] {
                let distance = |number: Number, bytes: &[u8]| {
                    let zero = vec![0u8; bytes.len()];
                    let probe = Probe::new(&options(number, metric, dimension), bytes).expect("fits");
                    (probe.distance(bytes), probe.distance(&zero))
                };
                let want = distance(Number::Float64, &doubles);
                for (number, bytes) in
                    [(Number::Float16, &halves), (Number::BFloat16, &brains), (Number::Float32, &singles)]
                {
                    let got = distance(number, bytes);
                    assert!((got.0 - want.0).abs() < 1e-3 * (1.0 + want.0.abs()), "{number:?} {metric:?}");
                    assert!((got.1 - want.1).abs() < 1e-3 * (1.0 + want.1.abs()), "{number:?} {metric:?}");
                }
            }
        }
    }

    fn half_of(number: f32) -> u16 {
        let bits = number.to_bits();
        if number == 0.0 {
            return 0;
        }
        let exponent = ((bits >> 23 & 0xFF) as i32 - 112) as u32;
        ((bits >> 16 & 0x8000) | exponent << 10 | bits >> 13 & 0x3FF) as u16
    }

    #[test]
    fn half_numbers_at_their_limits() {
        assert_eq!(half(&0x7C00u16.to_le_bytes()), f32::INFINITY);
        assert_eq!(half(&0xFC00u16.to_le_bytes()), f32::NEG_INFINITY);
        assert!(half(&0x7E00u16.to_le_bytes()).is_nan());
        assert_eq!(half(&1u16.to_le_bytes()), 2f32.powi(-24));
        assert_eq!(half(&0x7BFFu16.to_le_bytes()), 65504.0);
    }

    #[test]
    fn other_lengths_are_refused() {
        let options = options(Number::Float32, Metric::L2, 2);
        assert!(Probe::new(&options, &[0; 7]).is_none());
        assert_eq!(Probe::new(&options, &[0; 8]).map(|probe| probe.distance(&[0; 4])), Some(f64::INFINITY));
    }
}
