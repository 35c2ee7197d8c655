//! Where one of Redis' nodes ends and the next begins.
//!
//! Redis packs a stream's entries into nodes: a node is full when it has had `stream-node-max-entries` entries, deleted
//! ones included, or when another one would make it longer than `stream-node-max-bytes`. Clients see nodes in one thing only:
//! approximate trimming (`~`) removes whole ones. Here every entry stands by itself, and subkeys mark the ids at
//! which nodes would begin, so that `~` removes what Redis removes, node by node, without looking at entries.
//!
//! The length of a node is reckoned as Redis' listpack would have it. Two things are not followed: a node that is emptied
//! while it is the last one is not replaced by the one before it, which may have had room, and the count of deleted
//! entries is taken to need one byte.

use smallvec::SmallVec;
use xxhash_rust::xxh3::xxh3_64;

use super::StreamId;
use crate::limits::STREAM_NODE_MAX_BYTES;
use crate::number::parse_i64;

/// Header and end of a listpack.
const LISTPACK_BYTES: u64 = 7;

/// Up to where an element of a listpack has no second byte for a number.
const SMALL_NUMBER_MAX: i64 = 127;

/// When nodes are full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeLimits {
    /// Most entries (`stream-node-max-entries`); 0 is any number.
    pub entries: u64,
    /// Most bytes (`stream-node-max-bytes`); 0 is any number.
    pub size_bytes: u64,
}

/// The last node, to which entries are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tail {
    /// The id of its first entry.
    pub(super) first: StreamId,
    /// A hash of the first entry's fields: entries with the same fields take less room.
    pub(super) fields: u64,
    /// How many entries it has had.
    pub(super) entries: u64,
    /// Its length as a listpack.
    pub(super) size_bytes: u64,
}

impl Tail {
    /// The last node after an entry (field, value, field, value …) was added to this one, or to a new one.
    pub(super) fn with(tail: Option<Tail>, id: StreamId, texts: &[&[u8]], limits: NodeLimits) -> Tail {
        let fields = fields_hash(texts.iter().step_by(2).copied());
        let open = tail.filter(|tail| tail.has_room(texts, limits));
        let mut tail = open.unwrap_or_else(|| Tail::begun_by(id, fields, texts));
        tail.entries = tail.entries.saturating_add(1);
        if tail.entries == SMALL_NUMBER_MAX.unsigned_abs() + 1 {
            tail.size_bytes += 1;
        }
        tail.size_bytes = tail.size_bytes.saturating_add(tail.entry_bytes(id, fields, texts));
        tail
    }

    fn begun_by(id: StreamId, fields: u64, texts: &[&[u8]]) -> Tail {
        let names: u64 = texts.iter().step_by(2).map(|field| text_bytes(field)).sum();
        // Three numbers stand around the names: entries, deleted ones, and the end of the names.
        let size_bytes = LISTPACK_BYTES + 3 * number_bytes(0) + count_bytes(texts.len() / 2) + names;
        Tail { first: id, fields, entries: 0, size_bytes }
    }

    fn has_room(&self, texts: &[&[u8]], limits: NodeLimits) -> bool {
        let most_bytes = match limits.size_bytes {
            0 => STREAM_NODE_MAX_BYTES,
            given => given.min(STREAM_NODE_MAX_BYTES),
        };
        let added: u64 = texts.iter().map(|text| text.len() as u64).sum();
        let is_short = self.size_bytes.saturating_add(added) < most_bytes;
        is_short && (limits.entries == 0 || self.entries < limits.entries)
    }

    /// What an entry adds to a listpack: flags, the distance of its id, fields unless they are the usual ones, values,
    /// and the number of these elements.
    fn entry_bytes(&self, id: StreamId, fields: u64, texts: &[&[u8]]) -> u64 {
        let pairs = texts.len() / 2;
        let distance = number_bytes(id.ms.wrapping_sub(self.first.ms).cast_signed())
            + number_bytes(id.seq.wrapping_sub(self.first.seq).cast_signed());
        let values: u64 = texts.iter().skip(1).step_by(2).map(|value| text_bytes(value)).sum();
        let rest = if fields == self.fields {
            count_bytes(pairs + 3)
        } else {
            let names: u64 = texts.iter().step_by(2).map(|field| text_bytes(field)).sum();
            count_bytes(pairs) + names + count_bytes(2 * pairs + 4)
        };
        number_bytes(0) + distance + values + rest
    }
}

/// Of the names of all fields of an entry.
pub(super) fn fields_hash<'t>(fields: impl Iterator<Item = &'t [u8]>) -> u64 {
    // Usually they are short, and beginning a hash that takes parts costs more than copying them.
    let mut all: SmallVec<[u8; 128]> = SmallVec::new();
    for field in fields {
        all.extend_from_slice(&(field.len() as u64).to_le_bytes());
        all.extend_from_slice(field);
    }
    xxh3_64(&all)
}

/// Length of a text as an element of a listpack, where numbers are numbers.
fn text_bytes(text: &[u8]) -> u64 {
    if let Some(number) = parse_i64(text) {
        return number_bytes(number);
    }
    let len = text.len() as u64;
    with_back_length(match len {
        0..64 => 1 + len,
        64..4096 => 2 + len,
        _ => 5 + len,
    })
}

fn count_bytes(count: usize) -> u64 {
    number_bytes(i64::try_from(count).unwrap_or(i64::MAX))
}

/// Length of a number as an element of a listpack.
fn number_bytes(number: i64) -> u64 {
    with_back_length(match number {
        0..=SMALL_NUMBER_MAX => 1,
        -4096..=4095 => 2,
        -0x8000..=0x7FFF => 3,
        -0x80_0000..=0x7F_FFFF => 4,
        -0x8000_0000..=0x7FFF_FFFF => 5,
        _ => 9,
    })
}

/// Every element ends in its own length, so that a listpack can be walked backwards.
fn with_back_length(len: u64) -> u64 {
    len + match len {
        0..=127 => 1,
        128..=16382 => 2,
        16383..=2_097_150 => 3,
        2_097_151..=268_435_454 => 4,
        _ => 5,
    }
}
