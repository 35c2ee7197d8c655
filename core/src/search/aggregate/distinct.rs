//! Counting values that differ: exactly by 64-bit hashes, or by a HyperLogLog sketch.
//!
//! A sketch (Flajolet and others, 2007, with linear counting for small numbers) has 4,096 registers and errs by 1.6 %. The result of the
//! reducer HLL is the byte `H` and the registers, which only HLL_SUM reads.

use std::collections::BTreeSet;

use super::super::value::Value;

/// The bits of a hash that choose a register.
const REGISTER_BITS: u32 = 12;
const REGISTERS: usize = 1 << REGISTER_BITS;
const SKETCH_MARK: u8 = b'H';

/// Up to so many values COUNT_DISTINCTISH counts exactly. Their hashes then take about as much as a sketch does.
const EXACT_MAX: usize = 256;

/// What one hash in a set takes, roughly: nodes of the tree are two thirds full.
pub(super) const HASH_BYTES: u64 = 16;

/// Bytes of a sketch.
pub(super) const SKETCH_BYTES: u64 = REGISTERS as u64;

/// The hash by which values are told apart: two of a million values collide with a chance of 1 to 10^7.
pub(super) fn hash(value: &Value) -> u64 {
    let mut identity = Vec::new();
    value.write_identity(&mut identity);
    xxhash_rust::xxh3::xxh3_64(&identity)
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
    Few(BTreeSet<u64>),
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
                hashes.iter().for_each(|hash| sketch.add(*hash));
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
