//! Sparse registers: runs of registers with the same value, one after the other, 16384 registers in all.
//!
//! ```text
//!  00llllll            a run of zeros: l + 1 registers, up to 64
//!  01llllll llllllll   a longer one: l + 1 registers, up to 16384, high byte first
//!  1vvvvvll            l + 1 registers, up to 4, of the value v + 1, up to 32
//! ```
//!
//! One set of registers has many spellings. Which one comes about depends on how [`raise`] changes runs, so its steps are
//! those of Redis, and strings made of the same elements in the same order are equal.

use super::{Corrupted, REGISTERS};

const SHORT_ZEROS_MAX: usize = 64;
const VALUE_MAX: u8 = 32;
const VALUE_RUN_MAX: usize = 4;

const LONG_ZEROS: u8 = 0x40;
const VALUES: u8 = 0x80;

/// So many runs, from the one before the change on, are looked at for neighbours to be joined.
const JOINED_RUNS: usize = 5;

/// Some registers with the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The value.
    pub value: u8,
    /// Number of registers.
    pub len: usize,
    /// Whether it is written in the long form.
    pub is_long: bool,
}

impl Run {
    /// Length in bytes.
    fn byte_count(self) -> usize {
        if self.is_long { 2 } else { 1 }
    }
}

/// What came of raising a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Raised {
    /// It was as high already.
    Unchanged,
    /// It has the value now.
    Changed,
    /// The result does not fit; nothing changed.
    BudgetExceeded,
}

/// All registers 0.
pub(super) fn empty() -> Vec<u8> {
    let mut code = Code::default();
    code.zeros(REGISTERS);
    code.bytes().to_vec()
}

/// The run that begins at a byte. A missing second byte counts as 0.
fn run_at(code: &[u8], at: usize) -> Option<Run> {
    let first = *code.get(at)?;
    let low = usize::from(first & 0x3F);
    Some(match first {
        VALUES.. => Run { value: (first >> 2 & 0x1F) + 1, len: usize::from(first & 3) + 1, is_long: false },
        LONG_ZEROS.. => {
            let second = code.get(at + 1).copied().unwrap_or(0);
            Run { value: 0, len: (low << 8 | usize::from(second)) + 1, is_long: true }
        }
        _ => Run { value: 0, len: low + 1, is_long: false },
    })
}

/// The runs in order.
pub(super) fn runs(code: &[u8]) -> impl Iterator<Item = Run> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let run = run_at(code, at)?;
        at += run.byte_count();
        Some(run)
    })
}

/// Whether the runs are as many registers as there are.
pub(super) fn check(code: &[u8]) -> Result<(), Corrupted> {
    let total: usize = runs(code).map(|run| run.len).sum();
    if total == REGISTERS { Ok(()) } else { Err(Corrupted) }
}

/// Shows the registers that are not 0.
pub(super) fn show(code: &[u8], visit: &mut dyn FnMut(usize, u8)) -> Result<(), Corrupted> {
    check(code)?;
    let mut first = 0;
    for run in runs(code) {
        if run.value > 0 {
            (first..first + run.len).for_each(|index| visit(index, run.value));
        }
        first += run.len;
    }
    Ok(())
}

/// A few bytes of code.
#[derive(Default)]
struct Code {
    bytes: [u8; 5],
    len: usize,
}

impl Code {
    fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    fn push(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.len) {
            *place = byte;
            self.len += 1;
        }
    }

    /// A run of zeros in its shortest form.
    fn zeros(&mut self, len: usize) {
        // At most 14 bits, as there are registers.
        let [high, low] = (len.saturating_sub(1) as u16).to_be_bytes();
        match len {
            0 => {}
            1..=SHORT_ZEROS_MAX => self.push(low),
            _ => {
                self.push(LONG_ZEROS | high);
                self.push(low);
            }
        }
    }

    /// Registers that have this value or none.
    fn run(&mut self, value: u8, len: usize) {
        match value {
            0 => self.zeros(len),
            _ if len > 0 => self.push(values(value, len)),
            _ => {}
        }
    }
}

/// The code of up to four registers with a value from 1 to 32.
fn values(value: u8, len: usize) -> u8 {
    VALUES | (value.saturating_sub(1) & 0x1F) << 2 | (len.saturating_sub(1) & 3) as u8
}

/// Makes a register at least `value`, if the code then has at most `code_max_bytes`.
pub(super) fn raise(
    code: &mut Vec<u8>,
    index: usize,
    value: u8,
    code_max_bytes: u64,
) -> Result<Raised, Corrupted> {
    if value > VALUE_MAX {
        return Ok(Raised::BudgetExceeded);
    }
    let (mut at, mut before, mut first) = (0, 0, 0);
    let run = loop {
        let run = run_at(code, at).ok_or(Corrupted)?;
        if index < first + run.len {
            break run;
        }
        (before, first) = (at, first + run.len);
        at += run.byte_count();
    };
    if run.value >= value {
        return Ok(Raised::Unchanged);
    }
    // The run becomes three: what is before the register, the register, and what is behind it.
    let mut changed = Code::default();
    changed.run(run.value, index - first);
    changed.run(value, 1);
    changed.run(run.value, first + run.len - 1 - index);
    let replaced = run.byte_count();
    // The code may lack the second byte of its last run.
    let grown = (code.len() + changed.len).saturating_sub(replaced);
    if changed.len > replaced && grown as u64 > code_max_bytes {
        return Ok(Raised::BudgetExceeded);
    }
    let end = code.len().min(at + replaced);
    code.splice(at..end, changed.bytes().iter().copied());
    join(code, before);
    Ok(Raised::Changed)
}

/// Joins neighbours of equal value from `at` on.
fn join(code: &mut Vec<u8>, mut at: usize) {
    for _ in 0..JOINED_RUNS {
        let Some(run) = run_at(code, at) else { break };
        let next = run_at(code, at + run.byte_count());
        let joined =
            next.filter(|next| run.value > 0 && next.value == run.value).map(|next| run.len + next.len);
        match joined.filter(|len| *len <= VALUE_RUN_MAX) {
            // The joined run may be joined once more.
            Some(len) => {
                code.remove(at);
                if let Some(place) = code.get_mut(at) {
                    *place = values(run.value, len);
                }
            }
            None => at += run.byte_count(),
        }
    }
}
