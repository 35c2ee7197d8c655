//! What SCAN, HSCAN, SSCAN and ZSCAN share: arguments, cursors, and the walk over the subkeys of one key.
//!
//! The promise behind every cursor: an element that is there from the first call to the last is returned at least
//! once, whatever else comes and goes. SCAN has it from the engine, whose cursors are places in a hash table.
//!
//! Subkeys are ordered by their bytes, and neither obvious cursor keeps the promise over them. A rank shifts when an
//! element before it is deleted, which is what a client that deletes as it scans does all the time. A few bytes of the
//! subkey itself cannot tell long common prefixes apart, so they would skip or never end. A walk in the order of a hash
//! would need a second index of every collection. So the server remembers where a walk stands ([`Positions`]): the
//! subkey that comes next, under a ticket. A cursor carries both the ticket and the rank:
//!
//! ```text
//! cursor   rank (32 bits)        ticket (20 bits)      below 2^53, so that clients may keep it in a double
//! ```
//!
//! While the position is remembered, the walk goes on at exactly that subkey or its successor and the promise holds
//! under any changes. Positions are shared by all connections, since pools send every call over another one, and a
//! cursor may be used again after a lost reply. They are few and small, so the oldest are forgotten, and all are at a
//! restart: then the rank says where to go on. That is exact as long as the collection did not change, repeats elements
//! after insertions, always ends, and can miss elements only if some were deleted before it. A home that forgets its
//! memory while clients stay keeps their last positions elsewhere ([`Positions::freeze`]). Collections in their
//! small encoding are returned in one step, as in Redis, and need none of this.
//!
//! Cursors come from outside: any number is one, and the worst a made-up one does is to start somewhere else.

use std::ops::{ControlFlow, Range};

use crate::server::outbox::Action;
use crate::server::scan_positions::{TICKET_BITS, TICKET_MAX, Ticket, WalkId};

use super::args::{integer, is_option};
use super::{CommandError, Context, Outcome};
use crate::engine::{Kind, Root, Start, SubWalk, Txn, Want};
use crate::glob::Glob;
use crate::limits::SCAN_STEPS_MIN;
use crate::resp::Reply;

type Result<T> = std::result::Result<T, CommandError>;

/// How many elements a call looks at unless COUNT says so: Redis' own figure.
const DEFAULT_COUNT: u64 = 10;

/// Cursors of the engine stay below this.
const ENGINE_CURSORS: u64 = 1 << 48;

/// Which types SCAN returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KindFilter {
    /// All.
    Any,
    /// One.
    Only(Kind),
    /// A type there is none of: nothing matches.
    Nothing,
}

impl KindFilter {
    fn named(name: &[u8]) -> KindFilter {
        Kind::named(name).map_or(KindFilter::Nothing, KindFilter::Only)
    }
}

/// The options behind a cursor.
#[derive(Clone, Debug)]
pub struct ScanOptions<'a> {
    /// How many elements to look at; at least 1.
    pub count: u64,
    /// What their names must match.
    pub glob: Option<Glob<'a>>,
    /// Which types SCAN returns.
    pub kind: KindFilter,
}

/// A cursor as C's `strtoul` reads it, which is what Redis does: blanks in front are refused, a sign is not, a negative
/// number wraps, and the empty text is 0.
pub fn cursor(argument: &[u8]) -> Result<u64> {
    const INVALID: CommandError = CommandError::text("ERR invalid cursor");
    // C stops at a zero byte.
    let text = argument.split(|byte| *byte == 0).next().unwrap_or_default();
    let (is_negative, digits) = match text {
        [] => return Ok(0),
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if digits.is_empty() {
        return Err(INVALID);
    }
    let mut value: u64 = 0;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        let next = value.checked_mul(10).and_then(|value| value.checked_add(u64::from(digit)));
        value = next.filter(|_| digit <= 9).ok_or(INVALID)?;
    }
    Ok(if is_negative { value.wrapping_neg() } else { value })
}

/// The options behind a cursor; `TYPE` is only one of SCAN's.
pub fn options<'a>(mut args: &[&'a [u8]], takes_type: bool) -> Result<ScanOptions<'a>> {
    let mut options = ScanOptions { count: DEFAULT_COUNT, glob: None, kind: KindFilter::Any };
    while let [name, rest @ ..] = args {
        let [value, rest @ ..] = rest else { return Err(CommandError::SYNTAX) };
        if is_option(name, "COUNT") {
            let count = u64::try_from(integer(value)?).map_err(|_| CommandError::SYNTAX)?;
            if count == 0 {
                return Err(CommandError::SYNTAX);
            }
            options.count = count;
        } else if is_option(name, "MATCH") {
            options.glob = Some(Glob::new(value)).filter(|glob| !glob.is_star());
        } else if takes_type && is_option(name, "TYPE") {
            options.kind = KindFilter::named(value);
        } else {
            return Err(CommandError::SYNTAX);
        }
        args = rest;
    }
    Ok(options)
}

impl ScanOptions<'_> {
    /// Whether an element of this name is to be returned.
    pub fn takes(&self, name: &[u8]) -> bool {
        self.glob.as_ref().is_none_or(|glob| glob.matches(name))
    }

    fn takes_kind(&self, root: &Root) -> bool {
        match self.kind {
            KindFilter::Any => true,
            KindFilter::Only(kind) => root.kind == kind,
            KindFilter::Nothing => false,
        }
    }
}

/// Runs SCAN over the keys of the selected database.
pub fn reply_keys(context: &mut Context<'_, '_>, cursor: u64, options: &ScanOptions<'_>) -> Outcome {
    if cursor >= ENGINE_CURSORS {
        // No reply gave it out: like -1 in Redis, which is its last bucket, it stands at the end.
        let nothing = context.reply.beside();
        reply_step(context.reply, 0, &nothing, 0);
        return Ok(());
    }
    // An engine shows one bucket a step, and buckets may be empty: like Redis, ten steps for each key asked for.
    let mut steps = options.count.saturating_mul(10).max(SCAN_STEPS_MIN);
    let db = context.db();
    let mut elements = context.reply.beside();
    let (mut seen, mut returned) = (0, 0);
    let mut next = cursor;
    loop {
        next = context.txn.scan_keys(db, next, &mut |key, root| {
            seen += 1;
            if options.takes_kind(root) && options.takes(key) {
                elements.bulk(key);
                returned += 1;
            }
        })?;
        steps -= 1;
        if next == 0 || seen >= options.count || steps == 0 {
            break;
        }
    }
    reply_step(context.reply, next, &elements, returned);
    Ok(())
}

/// Writes one element from its name and value.
pub type ElementWriter<'w> = &'w mut dyn FnMut(&mut Reply, &[u8], &[u8]);

/// One call of HSCAN, SSCAN or ZSCAN on a key that is there.
pub struct SubScan<'a> {
    /// The key.
    pub key: &'a [u8],
    /// The cursor as the client sent it.
    pub cursor: u64,
    /// Its options.
    pub options: ScanOptions<'a>,
    /// The ranks of the subkeys to walk: all of a hash, one family of a sorted set.
    pub ranks: Range<u64>,
    /// Whether the key has the small encoding of its type and goes in one step.
    pub is_small: bool,
    /// Whether `write` needs the values of the subkeys.
    pub want: Want,
}

impl SubScan<'_> {
    /// Runs the call. `name` takes the element's name out of a subkey, `write` writes the element (`width` replies) from
    /// name and value.
    pub fn reply(
        &self,
        context: &mut Context<'_, '_>,
        width: usize,
        name: fn(&[u8]) -> &[u8],
        write: ElementWriter<'_>,
    ) -> Outcome {
        let mut elements = context.reply.beside();
        let mut returned = 0;
        let mut emit = |subkey: &[u8], value: &[u8]| {
            let name = name(subkey);
            if self.options.takes(name) {
                write(&mut elements, name, value);
                returned += width;
            }
        };
        let next = if self.is_small {
            self.walk(context, (Start::Rank(self.ranks.start), self.ranks.start), u64::MAX, &mut emit)?;
            0
        } else {
            self.step(context, &mut emit)?
        };
        reply_step(context.reply, next, &elements, returned);
        Ok(())
    }

    /// Shows the elements at the cursor and returns the next one.
    fn step(&self, context: &mut Context<'_, '_>, emit: &mut dyn FnMut(&[u8], &[u8])) -> Result<u64> {
        let db = context.db();
        let rank = u32::try_from(self.cursor >> TICKET_BITS).unwrap_or(u32::MAX);
        let ticket = self.cursor as Ticket & TICKET_MAX;
        let walk = WalkId::of(db, self.key);
        let remembered = context.shared.scan_positions.lock().find(ticket, walk, rank).map(<[u8]>::to_vec);
        let (start, from) = match &remembered {
            Some(next) => (Start::Subkey(next), context.txn.sub_rank(db, self.key, next)?),
            None => {
                let from = self.ranks.start.saturating_add(u64::from(rank));
                (Start::Rank(from), from)
            }
        };
        let Some(next) = self.walk(context, (start, from), self.options.count, emit)? else { return Ok(0) };
        let rank = from.saturating_sub(self.ranks.start).saturating_add(self.options.count);
        // Collections of more elements than this do not exist; if one did, a forgotten position would repeat some.
        let rank = u32::try_from(rank).unwrap_or(u32::MAX);
        let position = context.shared.scan_positions.lock().position(walk, rank, &next);
        let ticket = position.ticket();
        context.outbox.push(Action::KeepPosition(position));
        // A run that is thrown away gives the same ticket again, and one that nothing is kept under does no harm.
        context.client.was_given(ticket);
        Ok(u64::from(rank) << TICKET_BITS | u64::from(ticket))
    }

    /// Shows up to `count` elements from `start`, which has the rank `from`; returns the subkey behind them, if there is
    /// one.
    fn walk(
        &self,
        context: &mut Context<'_, '_>,
        (start, from): (Start<'_>, u64),
        count: u64,
        emit: &mut dyn FnMut(&[u8], &[u8]),
    ) -> Result<Option<Vec<u8>>> {
        let (mut left, mut left_here) = (count, self.ranks.end.saturating_sub(from));
        let mut next = None;
        if left_here == 0 {
            return Ok(None);
        }
        let (db, txn): (_, &mut Txn<'_>) = (context.client.db, context.txn);
        // One more than is shown, which is where the next step begins.
        let walk = SubWalk::up(start, self.want).expecting(count.saturating_add(1).min(left_here));
        txn.sub_scan(db, self.key, walk, &mut |subkey, value| {
            if left == 0 {
                next = Some(subkey.to_vec());
                return ControlFlow::Break(());
            }
            emit(subkey, value);
            left -= 1;
            left_here -= 1;
            if left_here == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok(next)
    }
}

/// The reply when there is no such key.
pub fn reply_nothing(reply: &mut Reply) {
    reply_step(reply, 0, &Reply::default(), 0);
}

fn reply_step(reply: &mut Reply, cursor: u64, elements: &Reply, count: usize) {
    reply.array(2);
    reply.bulk(itoa::Buffer::new().format(cursor).as_bytes());
    reply.array(count);
    reply.append(elements);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursor_differs_from_strtoul() {
        let cases: [(&[u8], Option<u64>); 12] = [
            (b"0", Some(0)),
            (b"", Some(0)),
            (b"+7", Some(7)),
            (b"-1", Some(u64::MAX)),
            (b"007", Some(7)),
            (b"7\0x", Some(7)),
            (b"18446744073709551615", Some(u64::MAX)),
            (b"18446744073709551616", None),
            (b" 1", None),
            (b"1 ", None),
            (b"-", None),
            (b"x", None),
        ];
        for (text, expected) in cases {
            assert_eq!(cursor(text).ok(), expected, "{}", text.escape_ascii());
        }
    }
}
