//! Questions about many bits at once: BITCOUNT and BITPOS. Values of any size are read in pieces, and long ones once the
//! transaction has ended: they stay what they are, so nobody else has to wait for a lock meanwhile.

use std::ops::{ControlFlow, Range};

use super::as_integer;
use crate::command::args::{self, is_option};
use crate::command::{CommandError, Context, Outcome};
use crate::data::{bits, string};
use crate::limits::VALUE_PIECE_BYTES;

/// `BITCOUNT key [start end [BYTE | BIT]]`. Like Redis this has no objection to the range of a key that is missing.
pub(super) fn bitcount(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (db, key) = (ctx.db(), args[1]);
    let range = match string::root(ctx.txn, db, key)? {
        Some(root) => count_range(args.get(2..).unwrap_or_default(), root.value_len)?,
        None => None,
    };
    let Some(range) = range else {
        ctx.reply.integer(0);
        return Ok(());
    };
    let mut outside = 0;
    for edge in [range.start / 8, (range.end - 1) / 8] {
        let mut byte = [super::read_byte(ctx, key, edge)?];
        let before = bits::count_ones(&byte);
        blank_outside(&range, edge, &mut byte, false);
        outside += before - bits::count_ones(&byte);
        if (range.end - 1) / 8 == range.start / 8 {
            break;
        }
    }
    let see = |ones: &mut u64, _, bytes: &[u8]| {
        *ones += bits::count_ones(bytes);
        ControlFlow::Continue(())
    };
    look_through(ctx, key, bytes_of(&range), 0, see, move |ones| as_integer(ones - outside))
}

/// `BITPOS key bit [start [end [BYTE | BIT]]]`
pub(super) fn bitpos(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let wanted = match args::integer(args[2])? {
        0 => false,
        1 => true,
        _ => return Err(CommandError::text("ERR The bit argument must be 1 or 0.")),
    };
    let (db, key) = (ctx.db(), args[1]);
    let Some(root) = string::root(ctx.txn, db, key)? else {
        // A missing key is zeros without end, whatever the range.
        ctx.reply.integer(if wanted { -1 } else { 0 });
        return Ok(());
    };
    let asked = match args.get(3..).unwrap_or_default() {
        [] => Asked { bounds: (0, None), in_bits: false },
        [start, rest @ ..] if rest.len() <= 2 => {
            let start = args::integer(start)?;
            let in_bits = rest.get(1).map_or(Ok(false), |unit| is_bit(unit))?;
            let end = rest.first().map(|end| args::integer(end)).transpose()?;
            Asked { bounds: (start, end), in_bits }
        }
        _ => return Err(CommandError::SYNTAX),
    };
    let Some(range) = asked.range(root.value_len) else {
        ctx.reply.integer(-1);
        return Ok(());
    };
    let bytes = bytes_of(&range);
    let behind = range.end;
    let see = move |found: &mut Option<u64>, at, piece: &[u8]| {
        let mut blanked = Vec::new();
        let piece = if has_outside(&range, at, piece.len() as u64) {
            blanked.extend_from_slice(piece);
            blank_outside(&range, at, &mut blanked, !wanted);
            &blanked
        } else {
            piece
        };
        *found = bits::find(piece, wanted).map(|bit| at * 8 + bit);
        if found.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    look_through(ctx, key, bytes, None, see, move |found| match found {
        Some(bit) => as_integer(bit),
        // Behind a string are zeros, unless the request says where to stop.
        None if !wanted && asked.bounds.1.is_none() => as_integer(behind),
        None => -1,
    })
}

/// Shows bytes of a string, which must be there, to `see` until that has seen enough, and replies with what `answer` makes of
/// what it has found. Where the bytes are many and in a blob, this is done once the transaction has ended, or not at all if its
/// connection has ended by then.
fn look_through<F: Send + Sync + 'static>(
    ctx: &mut Context<'_, '_>,
    key: &[u8],
    bytes: Range<u64>,
    mut found: F,
    see: impl Fn(&mut F, u64, &[u8]) -> ControlFlow<()> + Send + Sync + 'static,
    answer: impl FnOnce(F) -> i64 + Send + Sync + 'static,
) -> Outcome {
    let (db, len) = (ctx.db(), bytes.end - bytes.start);
    ctx.expect_bytes(len)?;
    let has_blob = string::root(ctx.txn, db, key)?.is_some_and(|root| root.blob.is_some());
    if !has_blob || len <= VALUE_PIECE_BYTES {
        string::walk(ctx.txn, db, key, bytes, &mut |at, piece| see(&mut found, at, piece))?;
        ctx.reply.integer(answer(found));
        return Ok(());
    }
    let held = string::hold(ctx.txn, db, key, bytes)?;
    ctx.finish_later(Box::new(move |reply, inbox| {
        held.walk(&mut |at, piece| {
            let is_waited_for = !inbox.must_close();
            if is_waited_for { see(&mut found, at, piece) } else { ControlFlow::Break(()) }
        })?;
        reply.integer(answer(found));
        Ok(())
    }))
}

/// The bits that BITCOUNT is asked about, of a string of `len` bytes; None if there are none.
fn count_range(options: &[&[u8]], len: u64) -> Result<Option<Range<u64>>, CommandError> {
    let (start, end, rest) = match options {
        [] => return Ok(Asked { bounds: (0, None), in_bits: false }.range(len)),
        [start, end, rest @ ..] if rest.len() <= 1 => (start, end, rest),
        _ => return Err(CommandError::SYNTAX),
    };
    let (start, end) = (args::integer(start)?, args::integer(end)?);
    // Elsewhere both would mean the first byte where they lie before it.
    if start < 0 && end < 0 && start > end {
        return Ok(None);
    }
    let in_bits = rest.first().map_or(Ok(false), |unit| is_bit(unit))?;
    Ok(Asked { bounds: (start, Some(end)), in_bits }.range(len))
}

/// The bits that a request names.
struct Asked {
    bounds: (i64, Option<i64>),
    in_bits: bool,
}

impl Asked {
    /// As numbers of bits of a string of `len` bytes; None if there are none.
    fn range(&self, len: u64) -> Option<Range<u64>> {
        let unit_bits = if self.in_bits { 1 } else { 8 };
        let total = len * 8 / unit_bits;
        let resolve = |index: i64| match u64::try_from(index) {
            Ok(index) => index,
            Err(_) => total.saturating_sub(index.unsigned_abs()),
        };
        let start = resolve(self.bounds.0);
        let last = self.bounds.1.map_or(u64::MAX, resolve).min(total.checked_sub(1)?);
        (start <= last).then(|| start * unit_bits..(last + 1) * unit_bits)
    }
}

fn is_bit(unit: &[u8]) -> Result<bool, CommandError> {
    if is_option(unit, "BIT") {
        Ok(true)
    } else if is_option(unit, "BYTE") {
        Ok(false)
    } else {
        Err(CommandError::SYNTAX)
    }
}

/// The bytes that hold these bits.
fn bytes_of(bits: &Range<u64>) -> Range<u64> {
    bits.start / 8..bits.end.div_ceil(8)
}

/// Whether a piece of so many bytes that begins at byte `at` has bits outside of a range.
fn has_outside(range: &Range<u64>, at: u64, len: u64) -> bool {
    8 * at < range.start || 8 * (at + len) > range.end
}

/// Gives `filler` to the bits outside of a range that share a byte with it, in a piece that begins at byte `at`.
fn blank_outside(range: &Range<u64>, at: u64, piece: &mut [u8], filler: bool) {
    let mut fill = |byte: u64, outside: u8| {
        let index = byte.checked_sub(at).and_then(|index| usize::try_from(index).ok());
        if let Some(byte) = index.and_then(|index| piece.get_mut(index)) {
            *byte = if filler { *byte | outside } else { *byte & !outside };
        }
    };
    fill(range.start / 8, !(u8::MAX >> (range.start % 8)));
    if !range.end.is_multiple_of(8) {
        fill(range.end / 8, u8::MAX >> (range.end % 8));
    }
}
