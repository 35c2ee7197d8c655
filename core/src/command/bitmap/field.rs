//! BITFIELD and BITFIELD_RO: integers of any width at any bit of a string.
//!
//! A string that fits into the log is read once, changed in memory and written once, however many operations there are.
//! Of one that has a blob only the bytes of each field are read and written.

use smallvec::SmallVec;

use super::{OFFSET_OUT_OF_RANGE, bit_offset};
use crate::command::args::{self, is_option};
use crate::command::{CommandError, Context, Outcome};
use crate::data::bits::{Field, WINDOW_BYTES};
use crate::data::string;
use crate::resp::parse_i64;
use crate::server::hub::notify;

/// `BITFIELD key [GET encoding offset | [OVERFLOW <WRAP | SAT | FAIL>] <SET … | INCRBY …> …]`
pub(super) fn bitfield(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (key, steps) = (args[1], parse(ctx, &args[2..])?);
    let outcome = run(ctx, key, &steps);
    if !steps.iter().any(Step::writes) {
        ctx.note_reads(&[key], true);
    }
    outcome
}

/// `BITFIELD_RO key [GET encoding offset [GET encoding offset ...]]`
pub(super) fn bitfield_ro(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let steps = parse(ctx, &args[2..])?;
    if steps.iter().any(|step| step.writes()) {
        return Err(CommandError::text("ERR BITFIELD_RO only supports the GET subcommand"));
    }
    run(ctx, args[1], &steps)
}

/// What happens to a result that does not fit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Overflow {
    Wrap,
    Saturate,
    Fail,
}

#[derive(Clone, Copy)]
enum Action {
    Get,
    Set(i64),
    Add(i64),
}

#[derive(Clone, Copy)]
struct Step {
    action: Action,
    field: Field,
    is_signed: bool,
    overflow: Overflow,
}

fn parse(ctx: &Context<'_, '_>, mut rest: &[&[u8]]) -> Result<Vec<Step>, CommandError> {
    let mut steps = Vec::new();
    let mut overflow = Overflow::Wrap;
    while let [word, after @ ..] = rest {
        let (place, value) = match after {
            [encoding, offset, after @ ..] if is_option(word, "GET") => {
                rest = after;
                ((encoding, offset), None)
            }
            [encoding, offset, value, after @ ..] if is_option(word, "SET") || is_option(word, "INCRBY") => {
                rest = after;
                ((encoding, offset), Some(value))
            }
            [kind, after @ ..] if is_option(word, "OVERFLOW") => {
                overflow = match *kind {
                    kind if is_option(kind, "WRAP") => Overflow::Wrap,
                    kind if is_option(kind, "SAT") => Overflow::Saturate,
                    kind if is_option(kind, "FAIL") => Overflow::Fail,
                    _ => return Err(CommandError::text("ERR Invalid OVERFLOW type specified")),
                };
                rest = after;
                continue;
            }
            _ => return Err(CommandError::SYNTAX),
        };
        let (is_signed, width) = encoding(place.0)?;
        let field = Field { offset: offset(ctx, place.1, width)?, width };
        let action = match value.map(|value| args::integer(value)).transpose()? {
            None => Action::Get,
            Some(value) if is_option(word, "SET") => Action::Set(value),
            Some(value) => Action::Add(value),
        };
        steps.push(Step { action, field, is_signed, overflow });
    }
    Ok(steps)
}

/// Whether `i8` and the like is signed, and its width. Replies are signed, so `u64` would not fit.
fn encoding(text: &[u8]) -> Result<(bool, u32), CommandError> {
    let (is_signed, widest) = match text.first() {
        Some(b'i') => (true, 64),
        _ => (false, 63),
    };
    let width = match text {
        [b'i' | b'u', width @ ..] => parse_i64(width),
        _ => None,
    };
    let width =
        width.and_then(|width| u32::try_from(width).ok()).filter(|width| (1..=widest).contains(width));
    let width = width.ok_or(CommandError::text(
        "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.",
    ))?;
    Ok((is_signed, width))
}

/// The number of a field's first bit; behind `#` the number of the field.
fn offset(ctx: &Context<'_, '_>, text: &[u8], width: u32) -> Result<u64, CommandError> {
    let number = match text {
        [b'#', number @ ..] => parse_i64(number).ok_or(OFFSET_OUT_OF_RANGE)?.checked_mul(i64::from(width)),
        number => parse_i64(number),
    };
    bit_offset(ctx, number)
}

fn run(ctx: &mut Context<'_, '_>, key: &[u8], steps: &[Step]) -> Outcome {
    let end = steps.iter().filter(|step| step.writes()).map(|step| step.field.end_byte()).max();
    let mut bytes = Bytes::open(ctx, key, end)?;
    let mut is_told = false;
    ctx.reply.array(steps.len());
    for step in steps {
        let mut window = bytes.read(ctx, step.field)?;
        let before = step.read(&window);
        let (after, answer) = match step.action {
            Action::Get => (None, Some(before)),
            Action::Set(value) => (step.fit(value, 0), Some(before)),
            Action::Add(increment) => {
                let after = step.fit(before, increment);
                (after, after)
            }
        };
        match answer.filter(|_| after.is_some() || !step.writes()) {
            Some(answer) => ctx.reply.integer(answer),
            None => ctx.reply.null(),
        }
        is_told |= after.is_some_and(|after| bytes.has_grown || after != before);
        if let Some(after) = after.filter(|after| *after != before) {
            step.field.set(&mut window, after.cast_unsigned());
            bytes.write(ctx, step.field, &window)?;
        }
    }
    bytes.close(ctx)?;
    if is_told {
        ctx.notify(notify::STRING, "setbit", key);
    }
    Ok(())
}

/// The bytes around a field.
type Window = SmallVec<[u8; WINDOW_BYTES]>;

/// The string that a request works on.
struct Bytes<'k> {
    key: &'k [u8],
    /// All of it, while it is changed in memory.
    held: Option<Vec<u8>>,
    is_changed: bool,
    /// It had to become longer, which a step that fails does not undo.
    has_grown: bool,
}

impl<'k> Bytes<'k> {
    /// Makes the string at least `end` bytes long, if anything is to be written.
    fn open(ctx: &mut Context<'_, '_>, key: &'k [u8], end: Option<u64>) -> Result<Bytes<'k>, CommandError> {
        let db = ctx.db();
        let root = string::root(ctx.txn, db, key)?;
        let mut bytes = Bytes { key, held: None, is_changed: false, has_grown: false };
        let Some(end) = end else { return Ok(bytes) };
        let before = root.map_or(0, |root| root.value_len);
        bytes.has_grown = end > before;
        let has_blob = root.is_some_and(|root| root.blob.is_some());
        if !has_blob && end.max(before) < ctx.txn.blob_min() {
            let mut held = ctx.txn.value(db, key)?.unwrap_or_default();
            // Below the length of a blob, so it fits into memory.
            held.resize(held.len().max(end as usize), 0);
            bytes.is_changed = end > before || root.as_ref().is_some_and(string::is_compact);
            bytes.held = Some(held);
        } else if end > before {
            string::overwrite(ctx.txn, db, key, root.as_ref(), end - 1, &[0])?;
        }
        Ok(bytes)
    }

    /// The bytes of a field; fewer where the string ends.
    fn read(&self, ctx: &mut Context<'_, '_>, field: Field) -> Result<Window, CommandError> {
        let range = field.first_byte()..field.end_byte();
        let mut window = Window::new();
        match &self.held {
            Some(held) => {
                let rest = held.iter().skip(range.start as usize);
                window.extend(rest.take((range.end - range.start) as usize).copied());
            }
            None => {
                let db = ctx.db();
                string::read(ctx.txn, db, self.key, range, &mut |bytes| window.extend_from_slice(bytes))?;
            }
        }
        Ok(window)
    }

    /// Writes the bytes of a field, which are there.
    fn write(&mut self, ctx: &mut Context<'_, '_>, field: Field, window: &[u8]) -> Outcome {
        let start = field.first_byte();
        if let Some(held) = &mut self.held {
            self.is_changed = true;
            let place = held.get_mut(start as usize..).unwrap_or_default();
            place.iter_mut().zip(window).for_each(|(place, byte)| *place = *byte);
            return Ok(());
        }
        let db = ctx.db();
        let root = string::root(ctx.txn, db, self.key)?;
        string::overwrite(ctx.txn, db, self.key, root.as_ref(), start, window)?;
        Ok(())
    }

    /// Puts what was changed in memory.
    fn close(self, ctx: &mut Context<'_, '_>) -> Outcome {
        if let Some(held) = self.held.filter(|_| self.is_changed) {
            let db = ctx.db();
            let expires_at_ms = string::root(ctx.txn, db, self.key)?.and_then(|root| root.expires_at_ms);
            string::put(ctx.txn, db, self.key, held.as_slice(), string::GROWN, expires_at_ms)?;
        }
        Ok(())
    }
}

impl Step {
    fn writes(&self) -> bool {
        !matches!(self.action, Action::Get)
    }

    /// The field's value.
    fn read(&self, window: &[u8]) -> i64 {
        let unsigned = self.field.get(window).cast_signed();
        if self.is_signed { self.sign_extended(unsigned) } else { unsigned }
    }

    fn sign_extended(&self, value: i64) -> i64 {
        let unused = u64::BITS - self.field.width;
        value << unused >> unused
    }

    /// The sum as the field can hold it; None if it cannot and must not wrap or saturate.
    fn fit(&self, value: i64, increment: i64) -> Option<i64> {
        let bound = if self.is_signed {
            self.signed_overflow(value, increment)
        } else {
            self.unsigned_overflow(value, increment)
        };
        let wrapped = value.wrapping_add(increment);
        match (bound, self.overflow) {
            (None, _) => Some(wrapped),
            (Some(_), Overflow::Fail) => None,
            (Some(bound), Overflow::Saturate) => Some(bound),
            (Some(_), Overflow::Wrap) if self.is_signed => Some(self.sign_extended(wrapped)),
            (Some(_), Overflow::Wrap) => Some(wrapped & self.unsigned_max()),
        }
    }

    /// The largest value of an unsigned field, which has at most 63 bits.
    fn unsigned_max(&self) -> i64 {
        i64::MAX >> (63 - self.field.width.min(63))
    }

    /// The bound that a sum goes beyond. To be set, a negative number counts as the large one with the same bits.
    fn unsigned_overflow(&self, value: i64, increment: i64) -> Option<i64> {
        let max = self.unsigned_max();
        if value < 0 || value > max || increment > max - value {
            Some(max)
        } else if increment < -value {
            Some(0)
        } else {
            None
        }
    }

    /// The bound that a sum goes beyond. The room above a value is a 64-bit number that wraps, as in Redis, where a number
    /// far below a narrow field therefore saturates at the upper bound.
    fn signed_overflow(&self, value: i64, increment: i64) -> Option<i64> {
        let max = i64::MAX >> (64 - self.field.width);
        let min = -max - 1;
        let (above, below) = (max.wrapping_sub(value), min.wrapping_sub(value));
        let is_narrow = self.field.width < 64;
        if value > max || increment > above && (is_narrow || value >= 0 && increment > 0) {
            Some(max)
        } else if value < min || increment < below && (is_narrow || value < 0 && increment < 0) {
            Some(min)
        } else {
            None
        }
    }
}
