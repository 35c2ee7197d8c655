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
//! after insertions, always ends, and can miss elements only if some were deleted before it. Collections in their
//! small encoding are returned in one step, as in Redis, and need none of this.
//!
//! Cursors come from outside: any number is one, and the worst a made-up one does is to start somewhere else.

use std::collections::VecDeque;
use std::ops::{ControlFlow, Range};

use super::args::{integer, is_option};
use super::glob::Glob;
use super::{CommandError, Context, Outcome};
use crate::engine::{Direction, Kind, Root, Start, Txn, Want};
use crate::limits::{SCAN_POSITION_MAX_BYTES, SCAN_POSITIONS_MAX, SCAN_POSITIONS_MAX_BYTES, SCAN_STEPS_MIN};
use crate::resp::Reply;

type Result<T> = std::result::Result<T, CommandError>;

/// How many elements a call looks at unless COUNT says so: Redis' own figure.
const DEFAULT_COUNT: u64 = 10;

/// Cursors of the engine stay below this.
const ENGINE_CURSOR_MASK: u64 = (1 << 48) - 1;

/// Bits of a cursor that hold the ticket of its position; the rank stands above.
const TICKET_BITS: u32 = 20;

/// Tickets go from 1 to this and begin again; 0 is a cursor without a position.
const TICKET_MAX: u32 = (1 << TICKET_BITS) - 1;

const _: () = assert!(SCAN_POSITIONS_MAX < TICKET_MAX as usize, "two positions must not share a ticket");

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
        let kinds = [Kind::String, Kind::List, Kind::Set, Kind::SortedSet, Kind::Hash, Kind::Stream];
        let named = kinds.into_iter().find(|kind| name.eq_ignore_ascii_case(kind.name().as_bytes()));
        named.map_or(KindFilter::Nothing, KindFilter::Only)
    }
}

/// The options behind a cursor.
#[derive(Clone, Copy, Debug)]
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
        self.glob.is_none_or(|glob| glob.matches(name))
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
    // An engine shows one bucket a step, and buckets may be empty: like Redis, ten steps for each key asked for.
    let mut steps = options.count.saturating_mul(10).max(SCAN_STEPS_MIN);
    let db = context.db();
    let mut elements = context.reply.beside();
    let (mut seen, mut returned) = (0, 0);
    let mut next = cursor & ENGINE_CURSOR_MASK;
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
        let ticket = self.cursor as u32 & TICKET_MAX;
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
        let ticket = context.shared.scan_positions.lock().remember(walk, rank, &next);
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
        txn.sub_scan(db, self.key, start, Direction::Ascending, self.want, &mut |subkey, value| {
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

/// Tells walks over different keys apart. A hash is enough: a collision could only make a walk go on at the position of
/// another one that has the same ticket and rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct WalkId(u64);

impl WalkId {
    fn of(db: u32, key: &[u8]) -> WalkId {
        WalkId(xxhash_rust::xxh3::xxh3_64_with_seed(key, u64::from(db)))
    }
}

/// Where unfinished walks over subkeys stand, the oldest first; one table a server.
///
/// Invariant: the ticket of the entry at index `i` is that of the first entry plus `i`, modulo [`TICKET_MAX`].
#[derive(Debug, Default)]
pub struct Positions {
    entries: VecDeque<Position>,
    /// Tickets given out before the first entry's, modulo [`TICKET_MAX`].
    forgotten: u32,
    subkeys_bytes: usize,
}

#[derive(Debug)]
struct Position {
    walk: WalkId,
    rank: u32,
    next: Box<[u8]>,
}

impl Positions {
    /// Remembers the subkey at which a walk goes on, and returns its ticket; 0 if it is too long to be kept.
    fn remember(&mut self, walk: WalkId, rank: u32, next: &[u8]) -> u32 {
        if next.len() > SCAN_POSITION_MAX_BYTES {
            return 0;
        }
        self.entries.push_back(Position { walk, rank, next: next.into() });
        self.subkeys_bytes += next.len();
        while self.entries.len() > SCAN_POSITIONS_MAX || self.subkeys_bytes > SCAN_POSITIONS_MAX_BYTES {
            let Some(oldest) = self.entries.pop_front() else { break };
            self.subkeys_bytes -= oldest.next.len();
            self.forgotten = (self.forgotten + 1) % TICKET_MAX;
        }
        // There are far fewer entries than tickets.
        let newest = self.entries.len() as u32 - 1;
        (self.forgotten + newest) % TICKET_MAX + 1
    }

    /// The subkey under a ticket, if it is remembered and belongs to this walk at this rank.
    fn find(&self, ticket: u32, walk: WalkId, rank: u32) -> Option<&[u8]> {
        let at = (ticket.checked_sub(1)? + TICKET_MAX - self.forgotten) % TICKET_MAX;
        let position = self.entries.get(usize::try_from(at).ok()?)?;
        (position.walk == walk && position.rank == rank).then_some(&*position.next)
    }
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

    #[test]
    fn position_found_under_a_wrong_ticket() {
        let mut positions = Positions::default();
        let walk = WalkId::of(0, b"key");
        let mut given = VecDeque::new();
        for step in 0..TICKET_MAX + 5000 {
            let ticket = positions.remember(walk, step, &step.to_le_bytes());
            assert!((1..=TICKET_MAX).contains(&ticket));
            given.push_back((ticket, step));
            if step % 4999 == 0 {
                given.drain(..given.len().saturating_sub(SCAN_POSITIONS_MAX));
                for (ticket, step) in given.iter().copied().step_by(97) {
                    let found = positions.find(ticket, walk, step);
                    assert_eq!(found, Some(step.to_le_bytes().as_slice()), "ticket {ticket}");
                }
            }
        }
        let (ticket, step) = given.pop_back().expect("the last one");
        assert_eq!(positions.find(ticket, WalkId::of(1, b"key"), step), None);
        assert_eq!(positions.find(ticket, walk, step + 1), None);
        assert_eq!(positions.find(0, walk, step), None);
    }

    #[test]
    fn positions_fill_the_memory() {
        let mut positions = Positions::default();
        let walk = WalkId::of(0, b"key");
        assert_eq!(positions.remember(walk, 1, &vec![0; SCAN_POSITION_MAX_BYTES + 1]), 0);
        for step in 0..1000 {
            let ticket = positions.remember(walk, step, &vec![1; SCAN_POSITION_MAX_BYTES]);
            assert_eq!(positions.find(ticket, walk, step).map(<[u8]>::len), Some(SCAN_POSITION_MAX_BYTES));
        }
        assert!(positions.subkeys_bytes <= SCAN_POSITIONS_MAX_BYTES);
        assert_eq!(positions.entries.len(), SCAN_POSITIONS_MAX_BYTES / SCAN_POSITION_MAX_BYTES);
    }
}
