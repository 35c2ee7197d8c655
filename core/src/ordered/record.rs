//! The value of a root in the cluster: everything of a key that is small.
//!
//! ```text
//! flags 1 | stamp 8 | kind 1 | encoding 1 | use 3 | [expiry] | value | subkeys
//! ```
//!
//! Numbers without a size are varints, all others little-endian. The stamp is another one after every write. A value beyond
//! [`PIECE_BYTES`] lies in pieces under a home of its own, a huge one in a blob ([`super::blobs`]), to which the record refers. Few
//! short subkeys are in the record itself; others are entries under a home, counted by levels above ([`super::runs`]).

use super::names::{Home, Names};
use super::runs::Tree;
use crate::engine::{BlobRef, Kind};
use crate::packed::varint::{read_varint, write_varint};

/// A longer value lies outside of the record, in pieces of at most so many bytes.
pub(super) const PIECE_BYTES: usize = 128 * 1024;

/// A record holds subkeys with their values up to so many bytes. Beyond, a write of the whole costs more than an entry and
/// its counts do.
pub const SMALL_BYTES: usize = 2 * 1024;

const HAS_EXPIRY: u8 = 1;
const IN_PIECES: u8 = 2;
const SMALL: u8 = 4;
const TREE: u8 = 8;
const BLOB: u8 = 16;
const KNOWN: u8 = HAS_EXPIRY | IN_PIECES | SMALL | TREE | BLOB;

/// What the cluster holds of a key in one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    /// Another number after every write of the key.
    pub(super) stamp: u64,
    pub(super) kind: Kind,
    pub(super) encoding: u8,
    /// The 24 bits of its last use ([`crate::engine::Root::access`]): of the last write, since reading does not write.
    pub(super) access: u32,
    pub(super) expires_at_ms: Option<u64>,
    pub(super) value: Value,
    pub(super) subkeys: Subkeys,
}

/// The root's own value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// In the record.
    Here(Vec<u8>),
    /// So many bytes, in pieces.
    Pieces(Home, u64),
    /// In a blob.
    Blob(BlobRef),
}

/// The subkeys of a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Subkeys {
    /// In the record, in order.
    Small(Small),
    /// Entries of their own.
    Tree(Tree),
}

/// Subkeys with their values, packed: of each its length, itself, the length of its value, and that.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Small {
    bytes: Vec<u8>,
    count: u64,
}

impl Value {
    /// Its length in bytes.
    pub(super) fn byte_count(&self) -> u64 {
        match self {
            Value::Here(bytes) => bytes.len() as u64,
            Value::Pieces(_, len) => *len,
            Value::Blob(blob) => blob.len,
        }
    }

    /// Where it lies, if not in the record.
    pub(super) fn home(&self) -> Option<Home> {
        match self {
            Value::Pieces(home, _) => Some(*home),
            Value::Blob(blob) => Some(Names::blob(blob.id)),
            Value::Here(_) => None,
        }
    }
}

impl Default for Subkeys {
    fn default() -> Subkeys {
        Subkeys::Small(Small::default())
    }
}

impl Small {
    /// How many bytes they take.
    pub(super) fn byte_count(&self) -> usize {
        self.bytes.len()
    }

    /// Adds one behind all others.
    pub(super) fn push(&mut self, subkey: &[u8], value: &[u8]) {
        for part in [subkey, value] {
            write_varint(part.len() as u64, &mut self.bytes);
            self.bytes.extend_from_slice(part);
        }
        self.count += 1;
    }

    /// All of them in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let mut rest = self.bytes.as_slice();
        std::iter::from_fn(move || Some((take_part(&mut rest)?, take_part(&mut rest)?)))
    }
}

fn take_part<'b>(rest: &mut &'b [u8]) -> Option<&'b [u8]> {
    let len = usize::try_from(read_varint(rest)?).ok()?;
    let (part, behind) = rest.split_at_checked(len)?;
    *rest = behind;
    Some(part)
}

fn write_home(home: Home, out: &mut Vec<u8>) {
    write_varint(u64::from(home.space), out);
    write_varint(u64::from(home.slot), out);
    out.extend_from_slice(&home.number.to_le_bytes());
}

fn read_home(rest: &mut &[u8]) -> Option<Home> {
    let space = u32::try_from(read_varint(rest)?).ok()?;
    let slot = u16::try_from(read_varint(rest)?).ok()?;
    let (number, behind) = rest.split_first_chunk()?;
    *rest = behind;
    Some(Home { space, slot, number: u64::from_le_bytes(*number) })
}

impl Record {
    /// The homes that are in use by the key.
    pub(super) fn homes(&self) -> impl Iterator<Item = Home> {
        self.value.home().into_iter().chain(self.subkeys.home())
    }

    /// As the value of a root; never empty.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut flags = 0;
        let mut out = vec![0];
        out.extend_from_slice(&self.stamp.to_le_bytes());
        out.push(self.kind as u8);
        out.push(self.encoding);
        let [first, second, third, _] = self.access.to_le_bytes();
        out.extend_from_slice(&[first, second, third]);
        if let Some(at) = self.expires_at_ms {
            flags |= HAS_EXPIRY;
            write_varint(at, &mut out);
        }
        let has_subkeys = match &self.subkeys {
            Subkeys::Small(small) => small.count > 0,
            Subkeys::Tree(_) => true,
        };
        match &self.value {
            // To its end the record is the value.
            Value::Here(bytes) if !has_subkeys => {
                out.extend_from_slice(bytes);
            }
            Value::Here(bytes) => {
                write_varint(bytes.len() as u64, &mut out);
                out.extend_from_slice(bytes);
            }
            Value::Pieces(home, len) => {
                flags |= IN_PIECES;
                write_varint(*len, &mut out);
                write_home(*home, &mut out);
            }
            Value::Blob(blob) => {
                flags |= BLOB;
                let bytes = blob.to_bytes();
                write_varint(bytes.len() as u64, &mut out);
                out.extend_from_slice(&bytes);
            }
        }
        match &self.subkeys {
            Subkeys::Small(small) if has_subkeys => {
                flags |= SMALL;
                out.extend_from_slice(&small.bytes);
            }
            Subkeys::Small(_) => {}
            Subkeys::Tree(tree) => {
                flags |= TREE;
                write_home(tree.home, &mut out);
                write_varint(tree.len, &mut out);
                write_varint(tree.top_len, &mut out);
                out.push(tree.height);
            }
        }
        out[0] = flags;
        out
    }

    /// Reads what [`Record::to_bytes`] wrote.
    pub(super) fn read(bytes: &[u8]) -> Option<Record> {
        let (flags, rest) = bytes.split_first()?;
        let (stamp, mut rest) = rest.split_first_chunk()?;
        let stamp = u64::from_le_bytes(*stamp);
        if flags & !KNOWN != 0 {
            return None;
        }
        let ([kind, encoding, first, second, third], behind) = rest.split_first_chunk()?;
        rest = behind;
        let kind = Kind::from_number(*kind)?;
        let access = u32::from_le_bytes([*first, *second, *third, 0]);
        let expires_at_ms = if flags & HAS_EXPIRY == 0 { None } else { Some(read_varint(&mut rest)?) };
        let value = match flags & (IN_PIECES | BLOB | SMALL | TREE) {
            blob if blob & (BLOB | IN_PIECES) == BLOB => Value::Blob(BlobRef::read(take_part(&mut rest)?)?),
            0 => Value::Here(std::mem::take(&mut rest).to_vec()),
            in_pieces if in_pieces & IN_PIECES != 0 => {
                let len = read_varint(&mut rest)?;
                Value::Pieces(read_home(&mut rest)?, len)
            }
            _ => Value::Here(take_part(&mut rest)?.to_vec()),
        };
        let subkeys = match flags & (SMALL | TREE) {
            0 => Subkeys::default(),
            SMALL => {
                let mut small = Small { bytes: rest.to_vec(), count: 0 };
                small.count = small.iter().count() as u64;
                Subkeys::Small(small)
            }
            TREE => {
                let home = read_home(&mut rest)?;
                let (len, top_len) = (read_varint(&mut rest)?, read_varint(&mut rest)?);
                Subkeys::Tree(Tree { home, len, top_len, height: *rest.first()? })
            }
            _ => return None,
        };
        Some(Record { stamp, kind, encoding: *encoding, access, expires_at_ms, value, subkeys })
    }
}

impl Subkeys {
    /// Where they lie, if not in the record.
    pub(super) fn home(&self) -> Option<Home> {
        match self {
            Subkeys::Small(_) => None,
            Subkeys::Tree(tree) => Some(tree.home),
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> u64 {
        match self {
            Subkeys::Small(small) => small.count,
            Subkeys::Tree(tree) => tree.len,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::BlobId;

    #[test]
    fn record_does_not_read_back() {
        let home = Home { space: 70_000, slot: 16_383, number: u64::MAX };
        let mut small = Small::default();
        small.push(b"", b"value");
        small.push(b"field", b"");
        let blob = BlobRef { id: BlobId(u64::MAX - 7), len: 1 << 29, checksum: 5, has_sums: true };
        let values =
            [Value::Here(vec![]), Value::Here(vec![7; 300]), Value::Pieces(home, 1 << 30), Value::Blob(blob)];
        let tree = Tree { home, len: 1_000_000, top_len: 400, height: 2 };
        let subkeys = [Subkeys::default(), Subkeys::Small(small), Subkeys::Tree(tree)];
        for value in &values {
            for subkeys in &subkeys {
                for expires_at_ms in [None, Some(1 << 41)] {
                    let (value, subkeys) = (value.clone(), subkeys.clone());
                    let (kind, encoding, access) = (Kind::Stream, 3, 0x00AB_CDEF);
                    let record =
                        Record { stamp: 1 << 50, kind, encoding, access, expires_at_ms, value, subkeys };
                    let bytes = record.to_bytes();
                    assert_eq!(Record::read(&bytes), Some(record));
                    for end in 0..9 {
                        assert_eq!(Record::read(&bytes[..end]), None, "cut short");
                    }
                }
            }
        }
        assert_eq!(Record::read(&[0x80; 40]), None, "of a later build");
    }
}
