//! HyperLogLog: a sketch of a set in at most 12 KiB, from which its size is estimated with an error of about 0.8 %.
//!
//! Every element is hashed; some bits of the hash choose one of 16384 registers, and the register keeps the longest run of
//! zeros that it has seen in the remaining bits (Flajolet et al., HyperLogLog, 2007). A sketch is a string, and users copy,
//! store and compare these strings, so the bytes are exactly those of Redis
//! (<https://redis.io/docs/latest/develop/data-types/probabilistic/hyperloglogs/>):
//!
//! ```text
//!  0      4          5       8                     16
//!  "HYLL" encoding   unused  estimate, 8 bytes LE  registers
//!         0 dense            top bit set: unknown   dense: 16384 × 6 bits, from the low bit of each byte up
//!         1 sparse                                  sparse: runs of equal registers, see `sparse`
//! ```
//!
//! A new sketch is sparse and becomes dense, for good, when a register grows beyond 32 or the string beyond
//! `hll-sparse-max-bytes`. These modules work on bytes from outside: whatever these are, nothing here panics.

mod dense;
mod estimate;
mod hash;
mod self_test;
mod sparse;
#[cfg(test)]
mod tests;

pub use self_test::self_test;
pub use sparse::Run;

/// Bits of the hash that choose a register.
const INDEX_BITS: u32 = 14;

/// Number of registers.
pub const REGISTERS: usize = 1 << INDEX_BITS;

/// Bits of the hash in which zeros are counted.
const RUN_BITS: u32 = u64::BITS - INDEX_BITS;

const MAGIC: [u8; 4] = *b"HYLL";
const DENSE: u8 = 0;
const SPARSE: u8 = 1;

/// Bytes before the registers.
pub const HEADER_BYTES: usize = 16;

/// In the last byte of the estimate: it is not known.
const ESTIMATE_UNKNOWN: u64 = 1 << 63;

/// No valid sketch is longer: as if every register had a run of two bytes.
pub const SKETCH_MAX_BYTES: u64 = (HEADER_BYTES + 2 * REGISTERS) as u64;

/// The registers do not add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("corrupted sketch")]
pub struct Corrupted;

/// One value for each register.
pub type Registers = [u8; REGISTERS];

/// A sketch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sketch {
    encoding: u8,
    unused: [u8; 3],
    estimate: u64,
    /// In the form that `encoding` says.
    registers: Vec<u8>,
}

impl Default for Sketch {
    /// A sketch of nothing.
    fn default() -> Sketch {
        Sketch { encoding: SPARSE, unused: [0; 3], estimate: 0, registers: sparse::empty() }
    }
}

impl Sketch {
    /// Whether a string of `len` bytes that begins like this may be a sketch. The registers may still not add up.
    pub fn is_sketch(head: &[u8], len: u64) -> bool {
        match head {
            [b'H', b'Y', b'L', b'L', DENSE, ..] => len == (HEADER_BYTES + dense::BYTES) as u64,
            [b'H', b'Y', b'L', b'L', SPARSE, ..] => len >= HEADER_BYTES as u64,
            _ => false,
        }
    }

    /// Reads a sketch; None if the bytes are none.
    pub fn read(bytes: &[u8]) -> Option<Sketch> {
        if !Sketch::is_sketch(bytes, bytes.len() as u64) {
            return None;
        }
        let (_, rest) = bytes.split_first_chunk::<4>()?;
        let (encoding, rest) = rest.split_first()?;
        let (unused, rest) = rest.split_first_chunk()?;
        let (estimate, registers) = rest.split_first_chunk()?;
        Some(Sketch {
            encoding: *encoding,
            unused: *unused,
            estimate: u64::from_le_bytes(*estimate),
            registers: registers.to_vec(),
        })
    }

    /// The bytes of the string.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEADER_BYTES + self.registers.len());
        bytes.extend_from_slice(&MAGIC);
        bytes.push(self.encoding);
        bytes.extend_from_slice(&self.unused);
        bytes.extend_from_slice(&self.estimate.to_le_bytes());
        bytes.extend_from_slice(&self.registers);
        bytes
    }

    /// Whether every register has its own place.
    pub fn is_dense(&self) -> bool {
        self.encoding == DENSE
    }

    /// Adds an element; true if a register changed. `sparse_max_bytes` is `hll-sparse-max-bytes`.
    pub fn add(&mut self, element: &[u8], sparse_max_bytes: u64) -> Result<bool, Corrupted> {
        let (index, value) = hash::register_of(element);
        self.raise(index, value, sparse_max_bytes)
    }

    /// Makes a register at least `value`, which is above 0; true if it changed.
    pub fn raise(&mut self, index: usize, value: u8, sparse_max_bytes: u64) -> Result<bool, Corrupted> {
        if !self.is_dense() {
            let code_max_bytes = sparse_max_bytes.saturating_sub(HEADER_BYTES as u64);
            match sparse::raise(&mut self.registers, index, value, code_max_bytes)? {
                sparse::Raised::Unchanged => return Ok(false),
                sparse::Raised::Changed => return Ok(true),
                sparse::Raised::BudgetExceeded => self.make_dense()?,
            }
        }
        Ok(dense::raise(&mut self.registers, index, value))
    }

    /// Gives every register its own place.
    pub fn make_dense(&mut self) -> Result<(), Corrupted> {
        if self.is_dense() {
            return Ok(());
        }
        let mut registers = vec![0; dense::BYTES];
        sparse::show(&self.registers, &mut |index, value| dense::set(&mut registers, index, value))?;
        (self.encoding, self.registers) = (DENSE, registers);
        Ok(())
    }

    /// Raises `all` to the registers of this sketch.
    pub fn merge_into(&self, all: &mut Registers) -> Result<(), Corrupted> {
        let mut raise = |index: usize, value: u8| {
            if let Some(register) = all.get_mut(index) {
                *register = (*register).max(value);
            }
        };
        if self.is_dense() {
            (0..REGISTERS).for_each(|index| raise(index, dense::get(&self.registers, index)));
            return Ok(());
        }
        sparse::show(&self.registers, &mut raise)
    }

    /// The value of every register, as far as the encoding is dense.
    pub fn dense_registers(&self) -> impl Iterator<Item = u8> {
        (0..REGISTERS).map(|index| dense::get(&self.registers, index))
    }

    /// The runs of a sparse sketch as they stand there.
    pub fn runs(&self) -> impl Iterator<Item = Run> {
        sparse::runs(&self.registers)
    }

    /// The estimate that the string holds, unless a register changed after it was made.
    pub fn known_estimate(&self) -> Option<u64> {
        (self.estimate & ESTIMATE_UNKNOWN == 0).then_some(self.estimate)
    }

    /// Estimates how many different elements were added, and keeps the estimate.
    pub fn estimate(&mut self) -> Result<u64, Corrupted> {
        let mut counts = estimate::Counts::default();
        if self.is_dense() {
            self.dense_registers().for_each(|value| counts.add(value, 1));
        } else {
            sparse::check(&self.registers)?;
            self.runs().for_each(|run| counts.add(run.value, run.len));
        }
        self.estimate = counts.estimate();
        Ok(self.estimate)
    }

    /// Says that a register changed. The stale estimate stays, as in Redis.
    pub fn forget_estimate(&mut self) {
        self.estimate |= ESTIMATE_UNKNOWN;
    }
}

/// The estimate of a union, from the highest value of each register.
pub fn estimate(registers: &Registers) -> u64 {
    let mut counts = estimate::Counts::default();
    registers.iter().for_each(|value| counts.add(*value, 1));
    counts.estimate()
}
