//! Counting values that differ: exactly by 64-bit hashes, or by a HyperLogLog sketch.
//!
//! A sketch (Flajolet and others, 2007, with linear counting for small numbers) has 4,096 registers and errs by 1.6 %. The result of the
//! reducer HLL is the byte `H` and the registers, which only HLL_SUM reads.

use super::super::value::Value;

/// The bits of a hash that choose a register.
const REGISTER_BITS: u32 = 12;
const REGISTERS: usize = 1 << REGISTER_BITS;
const SKETCH_MARK: u8 = b'H';

/// Up to so many values COUNT_DISTINCTISH counts exactly. Their hashes then take about as much as a sketch does.
const EXACT_MAX: usize = 256;

/// What one hash in a set takes, roughly: a quarter to three quarters of the places are free.
pub(super) const HASH_BYTES: u64 = 20;

/// Bytes of a sketch.
pub(super) const SKETCH_BYTES: u64 = REGISTERS as u64;

/// The hash by which values are told apart: two of a million values collide with a chance of 1 to 10^7.
pub(super) fn hash(value: &Value) -> u64 {
    let mut identity = Vec::new();
    value.write_identity(&mut identity);
    xxhash_rust::xxh3::xxh3_64(&identity)
}

/// A set of hashes: a table with open addressing, with a fraction of the code of a `BTreeSet`.
pub(super) struct Hashes {
    /// A power of two of places, or none; 0 is a free one.
    places: Vec<u64>,
    count: usize,
    /// Odd, of the seed: nobody can choose values that fall to one place.
    multiplier: u64,
}

impl Hashes {
    pub(super) fn new(seed: u64) -> Hashes {
        Hashes { places: Vec::new(), count: 0, multiplier: (seed ^ 0x9E37_79B9_7F4A_7C15) | 1 }
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Adds a hash; whether it is new.
    pub(super) fn insert(&mut self, hash: u64) -> bool {
        if self.count * 4 >= self.places.len() * 3 {
            let places = vec![0; (self.places.len() * 2).max(8)];
            for hash in core::mem::replace(&mut self.places, places).into_iter().filter(|hash| *hash != 0) {
                self.place(hash);
            }
        }
        // 0 marks a free place: the hash that is 0 shares that of 1.
        let is_new = self.place(hash.max(1));
        self.count += usize::from(is_new);
        is_new
    }

    fn place(&mut self, hash: u64) -> bool {
        let last = self.places.len() - 1;
        let mut at = (hash.wrapping_mul(self.multiplier) >> 32) as usize & last;
        while let Some(place) = self.places.get_mut(at) {
            if *place == 0 || *place == hash {
                let is_new = *place != hash;
                *place = hash;
                return is_new;
            }
            at = (at + 1) & last;
        }
        false
    }

    fn iter(&self) -> impl Iterator<Item = u64> {
        self.places.iter().copied().filter(|hash| *hash != 0)
    }
}

/// A sketch.
pub(super) struct Sketch(Vec<u8>);

impl Sketch {
    pub(super) fn new() -> Sketch {
        Sketch(vec![0; REGISTERS])
    }

    pub(super) fn add(&mut self, hash: u64) {
        let at = (hash >> (64 - REGISTER_BITS)) as usize;
        // The place of the first 1 in the other bits; the mark bounds it if there is none.
        let rank = ((hash << REGISTER_BITS) | 1 << (REGISTER_BITS - 1)).leading_zeros() as u8 + 1;
        if let Some(register) = self.0.get_mut(at) {
            *register = rank.max(*register);
        }
    }

    /// Adds the values of another one, as [`Sketch::to_value`] wrote it; anything else adds nothing.
    pub(super) fn merge(&mut self, value: &Value) {
        let Some([SKETCH_MARK, registers @ ..]) = value.as_text() else { return };
        if registers.len() == REGISTERS {
            for (register, other) in self.0.iter_mut().zip(registers) {
                *register = (*other).min(64 - REGISTER_BITS as u8 + 1).max(*register);
            }
        }
    }

    pub(super) fn to_value(&self) -> Value {
        Value::text(&[&[SKETCH_MARK], self.0.as_slice()].concat())
    }

    /// How many values there were, about.
    pub(super) fn count(&self) -> f64 {
        let registers = REGISTERS as f64;
        let sum: f64 = self.0.iter().map(|rank| 2_f64.powi(-i32::from(*rank))).sum();
        let estimate = 0.7213 / (1.0 + 1.079 / registers) * registers * registers / sum;
        let empty = self.0.iter().filter(|rank| **rank == 0).count();
        let counted = if estimate <= 2.5 * registers && empty > 0 {
            registers * (registers / empty as f64).ln()
        } else {
            estimate
        };
        counted.round()
    }
}

/// COUNT_DISTINCTISH: exact while there are few.
pub(super) enum Distinctish {
    Few(Hashes),
    Many(Sketch),
}

impl Distinctish {
    /// Adds a value; how many bytes this takes.
    pub(super) fn add(&mut self, hash: u64) -> u64 {
        match self {
            Distinctish::Few(hashes) => {
                let is_new = hashes.insert(hash);
                if hashes.len() <= EXACT_MAX {
                    return u64::from(is_new) * HASH_BYTES;
                }
                let mut sketch = Sketch::new();
                hashes.iter().for_each(|hash| sketch.add(hash));
                *self = Distinctish::Many(sketch);
                SKETCH_BYTES
            }
            Distinctish::Many(sketch) => {
                sketch.add(hash);
                0
            }
        }
    }

    pub(super) fn count(&self) -> f64 {
        match self {
            Distinctish::Few(hashes) => hashes.len() as f64,
            Distinctish::Many(sketch) => sketch.count(),
        }
    }
}
