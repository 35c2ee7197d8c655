//! The name of a list's encoding, as OBJECT ENCODING tells it: `listpack` while small, then `quicklist`.
//!
//! Lists are stored in one way only, so the name is a courtesy and must cost next to nothing. Redis compares the bytes
//! that a listpack of all elements would take with `list-max-listpack-size` on every write. Here the root's byte is
//! set when a write can tell by itself that the limit is passed (by count, or by the size of its own arguments), and is
//! cleared when a list has shrunk to half the limit. A limit in bytes is not looked at after every removal; where it was
//! not, the sizes are added up when OBJECT ENCODING asks.
//!
//! Differences from Redis 7.2: a list that passed a limit in bytes by small steps and shrank again is called a listpack
//! as soon as it is below the limit, not below half of it. A list that has shrunk below half by small steps and grows
//! again may be called a quicklist below the limit. A small list is always a listpack, where Redis waits until the
//! quicklist has one node left.

use std::ops::ControlFlow;

use super::{Fill, List, Result};
use crate::engine::{SubWalk, Want};
use crate::number::parse_i64;

/// The root's byte of a list that is (or may be) small.
const LISTPACK: u8 = 0;

/// The root's byte of a list that passed a limit in bytes.
const QUICKLIST: u8 = 1;

/// The root's byte of a list that passed a limit in elements. Every removal compares their number with the limit, so this
/// byte is right for every reader, also after `list-max-listpack-size` has changed.
const COUNTED_QUICKLIST: u8 = 2;

/// Bytes of a listpack without elements.
const LISTPACK_BYTES: u64 = 7;

/// Bytes of the smallest element of a listpack.
const ENTRY_MIN_BYTES: u64 = 2;

/// With a limit in elements, a list is also never a listpack of more bytes than this: Redis' own figure.
const COUNT_LIMIT_BYTES: u64 = 8192;

/// A shrinking list is only looked through when it has at most this many elements.
const SHRINK_LOOK_MAX: u64 = 128;

/// A removal of this share of the limit is worth a look: so few of them empty a list that looks stay rare.
const LARGE_REMOVAL_SHARE: u64 = 16;

/// What `list-max-listpack-size` stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    Elements(u64),
    Bytes(u64),
}

impl Limit {
    /// Positive values are elements (0 is one), -1 to -5 are 4 KiB to 64 KiB.
    fn of(fill: i64) -> Limit {
        match fill {
            0.. => Limit::Elements(fill.unsigned_abs().max(1)),
            _ => Limit::Bytes(2048 << fill.unsigned_abs().min(5)),
        }
    }
}

impl List<'_, '_> {
    /// The name of the encoding; `fill` is `list-max-listpack-size`.
    pub fn encoding_name(&mut self, fill: i64) -> Result<&'static str> {
        let is_small = match (self.encoding, Limit::of(fill)) {
            (LISTPACK, Limit::Elements(most)) => self.len()? <= most && self.fits(COUNT_LIMIT_BYTES)?,
            (LISTPACK, Limit::Bytes(most)) => self.fits(most)?,
            (QUICKLIST, Limit::Bytes(most)) => self.fits(most / 2)?,
            _ => false,
        };
        Ok(if is_small { "listpack" } else { "quicklist" })
    }

    /// To be called before `count` elements of together `size_bytes` are put into a list of `len`.
    pub(super) fn before_growth(
        &mut self,
        len: u64,
        count: u64,
        size_bytes: u64,
        fill: Fill<'_>,
    ) -> Result<()> {
        if self.encoding == LISTPACK {
            let least = (LISTPACK_BYTES + len * ENTRY_MIN_BYTES).saturating_add(size_bytes);
            match Limit::of(fill()) {
                Limit::Elements(most) if len + count > most || least > COUNT_LIMIT_BYTES => {
                    self.set_encoding(COUNTED_QUICKLIST)?;
                }
                Limit::Bytes(most) if least > most => self.set_encoding(QUICKLIST)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// To be called after elements went or were replaced, on a list of `len` elements; those that went had together at
    /// least `removed_bytes`.
    pub(super) fn after_shrink(&mut self, len: u64, removed_bytes: u64, fill: Fill<'_>) -> Result<()> {
        if self.encoding != LISTPACK {
            let is_small = match Limit::of(fill()) {
                Limit::Elements(most) => len <= most / 2,
                // Only at powers of two and after large removals, so that a queue that is popped empty is not looked
                // through at every step.
                Limit::Bytes(most) => {
                    let is_worth_it = len.is_power_of_two() || removed_bytes >= most / LARGE_REMOVAL_SHARE;
                    len <= SHRINK_LOOK_MAX && is_worth_it && self.fits(most / 2)?
                }
            };
            if is_small {
                self.set_encoding(LISTPACK)?;
            }
        }
        Ok(())
    }

    fn set_encoding(&mut self, encoding: u8) -> Result<()> {
        self.encoding = encoding;
        self.txn.update(self.db, self.key, encoding, self.expires_at_ms)?;
        Ok(())
    }

    /// Whether a listpack of all elements keeps within so many bytes; looks at no more of them than it must.
    fn fits(&mut self, most_bytes: u64) -> Result<bool> {
        if self.len()? > most_bytes / ENTRY_MIN_BYTES {
            return Ok(false);
        }
        let mut size_bytes = LISTPACK_BYTES;
        self.scan(SubWalk::all(Want::Values), &mut |_, element| {
            size_bytes = size_bytes.saturating_add(entry_bytes(element));
            if size_bytes > most_bytes { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok(size_bytes <= most_bytes)
    }
}

/// Bytes of one element in a listpack: its head, itself, and the length that lets it be walked backwards.
fn entry_bytes(element: &[u8]) -> u64 {
    let body = match parse_i64(element) {
        Some(0..=127) => 1,
        Some(-4096..=4095) => 2,
        Some(-0x8000..=0x7FFF) => 3,
        Some(-0x80_0000..=0x7F_FFFF) => 4,
        Some(-0x8000_0000..=0x7FFF_FFFF) => 5,
        Some(_) => 9,
        None => match element.len() as u64 {
            len @ 0..64 => 1 + len,
            len @ 64..4096 => 2 + len,
            len => 5_u64.saturating_add(len),
        },
    };
    let backwards = match body {
        0..=127 => 1,
        128..=16_382 => 2,
        16_383..=2_097_150 => 3,
        2_097_151..=268_435_454 => 4,
        _ => 5,
    };
    body.saturating_add(backwards)
}
