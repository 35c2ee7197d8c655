//! From registers to a number: the estimator of O. Ertl, New cardinality estimation algorithms for HyperLogLog sketches,
//! 2017 (arXiv:1702.01284), algorithm 6, which needs no table of corrections.

use super::{REGISTERS, RUN_BITS};

/// 1 / (2 ln 2).
const ALPHA: f64 = 0.721_347_520_444_481_7;

/// How many registers have each value. A dense register can hold values that no hash gives.
pub(super) struct Counts([u64; 64]);

impl Default for Counts {
    fn default() -> Counts {
        Counts([0; 64])
    }
}

impl Counts {
    /// Adds registers of one value.
    pub(super) fn add(&mut self, value: u8, registers: usize) {
        if let Some(count) = self.0.get_mut(usize::from(value)) {
            *count += registers as u64;
        }
    }

    fn of(&self, value: u32) -> f64 {
        self.0.get(value as usize).map_or(0.0, |count| *count as f64)
    }

    /// The estimated number of elements.
    pub(super) fn estimate(&self) -> u64 {
        let registers = REGISTERS as f64;
        let mut sum = registers * tau((registers - self.of(RUN_BITS + 1)) / registers);
        for value in (1..=RUN_BITS).rev() {
            sum = (sum + self.of(value)) * 0.5;
        }
        sum += registers * sigma(self.of(0) / registers);
        (ALPHA * registers * registers / sum).round() as u64
    }
}

/// x + Σ x^(2^k) 2^(k-1), what the registers at 0 add.
fn sigma(mut x: f64) -> f64 {
    if x == 1.0 {
        return f64::INFINITY;
    }
    let (mut factor, mut sum) = (1.0, x);
    loop {
        x *= x;
        let before = sum;
        sum += x * factor;
        factor += factor;
        if sum == before {
            return sum;
        }
    }
}

/// (1 - x - Σ (1 - x^(2^-k))² 2^-k) / 3, what the registers at the highest value add.
fn tau(mut x: f64) -> f64 {
    if x == 0.0 || x == 1.0 {
        return 0.0;
    }
    let (mut factor, mut sum) = (1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        let before = sum;
        factor *= 0.5;
        sum -= (1.0 - x) * (1.0 - x) * factor;
        if sum == before {
            return sum / 3.0;
        }
    }
}
