//! The bytes of datafiles: the file header and the record. The byte-by-byte picture is `core/FORMAT.md`.
//!
//! Promises: what is written here reads back equal or not at all (a checksum covers everything after itself), no length
//! found in a file is believed before the bytes are there, and nothing panics on any input.

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::engine::{BlobRef, Kind, checksum_append};
use crate::packed::varint::{read_varint, varint_len, write_varint};

/// First bytes of every datafile.
pub(super) const MAGIC: &[u8; 8] = b"EDGECASK";

/// Versions of the format that are read; a file with another one is refused.
const FORMAT_VERSIONS: std::ops::RangeInclusive<u32> = 1..=MANIFEST_VERSION;

/// Version of the datafiles that are made: they may hold keys of the catalog (as those of version 2 may, which version 1
/// does not know), and roots whose blobs have checksums for their pieces, a manifest must list them, and the checksums of
/// their records are salted. Builds that know nothing of these must refuse the store.
pub(super) const MANIFEST_VERSION: u32 = 3;

/// Longest header of a datafile: one that replaces thousands of others. A damaged length is not believed beyond that.
const FILE_HEADER_MAX_BYTES: u64 = 64 * 1024;

/// Longest record: it lies in a datafile, whose offsets are kept in four bytes.
const RECORD_MAX_BYTES: u64 = u32::MAX as u64;

/// Bytes of a record before its variable part.
const FIXED_LEN: usize = 24;

/// Most bytes a record has before its key.
pub(super) const HEADER_MAX_LEN: usize = FIXED_LEN + 10 + 10 + 10 + 8 + 10;

const FLAG_FIRST: u8 = 1;
const FLAG_LAST: u8 = 2;
const FLAG_EXPIRY: u8 = 4;
const FLAG_COLLECTION: u8 = 8;
const FLAG_BLOB: u8 = 16;

/// The meaning of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum RecordType {
    /// A key has this root. Owner: space.
    Root = 1,
    /// A key is gone. Owner: space.
    RootTombstone = 2,
    /// A subkey has this value. Owner: collection.
    Sub = 3,
    /// A subkey is gone. Owner: collection.
    SubTombstone = 4,
    /// The value lists the space of each database, as u64. Owner: 0.
    Databases = 5,
    /// How much of this datafile was on the disk when the record was written; see [`synced_record`]. Owner: 0.
    Synced = 6,
}

impl RecordType {
    pub(super) fn from_number(number: u8) -> Option<RecordType> {
        Some(match number {
            1 => RecordType::Root,
            2 => RecordType::RootTombstone,
            3 => RecordType::Sub,
            4 => RecordType::SubTombstone,
            5 => RecordType::Databases,
            6 => RecordType::Synced,
            _ => return None,
        })
    }

    /// Whether the record says that something is gone.
    pub(super) fn is_tombstone(self) -> bool {
        matches!(self, RecordType::RootTombstone | RecordType::SubTombstone)
    }
}

/// What the checksums of a datafile's records begin from. In version 3 it depends on the store's seed, which no client
/// knows: a client cannot store bytes that pass for records. Before, it is 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Salt(u32);

impl Salt {
    /// The salt of the datafiles of a format version in the store with this seed.
    pub(super) fn of(version: u32, seed: u64) -> Salt {
        match version < MANIFEST_VERSION {
            true => Salt(0),
            false => Salt(xxh3_64_with_seed(b"EdgeCask record", seed) as u32),
        }
    }
}

/// A record without its key and value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) record_type: RecordType,
    /// First record of its frame.
    pub(super) is_first: bool,
    /// Last record of its frame.
    pub(super) is_last: bool,
    /// Redis type of a root, else 0.
    pub(super) kind: u8,
    /// Encoding byte of a root, else 0.
    pub(super) encoding: u8,
    /// Number of the frame.
    pub(super) sequence: u64,
    /// Unix time in milliseconds of the commit.
    pub(super) timestamp_ms: u64,
    /// Space or collection, by the type.
    pub(super) owner: u64,
    /// Unix time in milliseconds.
    pub(super) expires_at_ms: Option<u64>,
    /// The collection of a root that has subkeys (or of the one a tombstone removes).
    pub(super) collection: Option<u64>,
    /// Whether the value only refers to a blob; see [`BlobRef`].
    pub(super) has_blob: bool,
    pub(super) key_len: u64,
    pub(super) value_len: u64,
}

impl Header {
    /// A one-record frame of this type with everything else zero.
    pub(super) fn new(record_type: RecordType, sequence: u64, timestamp_ms: u64, owner: u64) -> Header {
        Header {
            record_type,
            is_first: true,
            is_last: true,
            kind: 0,
            encoding: 0,
            sequence,
            timestamp_ms,
            owner,
            expires_at_ms: None,
            collection: None,
            has_blob: false,
            key_len: 0,
            value_len: 0,
        }
    }

    /// Bytes of the record before its value.
    pub(super) fn prefix_len(&self) -> u64 {
        let expiry = if self.expires_at_ms.is_some() { 8 } else { 0 };
        let collection = self.collection.map_or(0, varint_len);
        let lengths = varint_len(self.owner) + varint_len(self.key_len) + varint_len(self.value_len);
        FIXED_LEN as u64 + lengths + expiry + collection + self.key_len
    }

    /// Bytes of the whole record.
    pub(super) fn record_len(&self) -> u64 {
        self.prefix_len() + self.value_len
    }

    /// Appends header and key to `out` for a record whose value will follow; the checksum covers `value`. Returns the
    /// length of what was appended. `salt` is that of the datafile.
    pub(super) fn write(&self, key: &[u8], value: &[u8], salt: Salt, out: &mut Vec<u8>) -> usize {
        let start = out.len();
        let mut flags = 0;
        flags |= if self.is_first { FLAG_FIRST } else { 0 };
        flags |= if self.is_last { FLAG_LAST } else { 0 };
        flags |= if self.expires_at_ms.is_some() { FLAG_EXPIRY } else { 0 };
        flags |= if self.collection.is_some() { FLAG_COLLECTION } else { 0 };
        flags |= if self.has_blob { FLAG_BLOB } else { 0 };
        let mut fixed = [0; FIXED_LEN];
        fixed[4..8].copy_from_slice(&[self.record_type as u8, flags, self.kind, self.encoding]);
        fixed[8..16].copy_from_slice(&self.sequence.to_le_bytes());
        fixed[16..24].copy_from_slice(&self.timestamp_ms.to_le_bytes());
        out.extend_from_slice(&fixed);
        write_varint(self.owner, out);
        write_varint(key.len() as u64, out);
        write_varint(value.len() as u64, out);
        if let Some(at) = self.expires_at_ms {
            out.extend_from_slice(&at.to_le_bytes());
        }
        if let Some(collection) = self.collection {
            write_varint(collection, out);
        }
        out.extend_from_slice(key);
        let checksum = checksum_append(checksum_append(salt.0, &out[start + 4..]), value);
        out[start..start + 4].copy_from_slice(&checksum.to_le_bytes());
        out.len() - start
    }

    /// Reads a header at the start of `bytes`, without looking at the checksum. Returns it with its length before the
    /// key; None if it is cut short or says what no record says, such as a length that fits no datafile.
    pub(super) fn read(bytes: &[u8]) -> Option<(Header, usize)> {
        let fixed: &[u8; FIXED_LEN] = bytes.first_chunk()?;
        let [_, _, _, _, number, flags, kind, encoding, ..] = *fixed;
        let record_type = RecordType::from_number(number)?;
        let mut rest = &bytes[FIXED_LEN..];
        let owner = read_varint(&mut rest)?;
        let key_len = read_varint(&mut rest)?;
        let value_len = read_varint(&mut rest)?;
        let expires_at_ms = match flags & FLAG_EXPIRY {
            0 => None,
            _ => Some(read_u64(&mut rest)?),
        };
        let collection = match flags & FLAG_COLLECTION {
            0 => None,
            _ => Some(read_varint(&mut rest)?),
        };
        let header = Header {
            record_type,
            is_first: flags & FLAG_FIRST != 0,
            is_last: flags & FLAG_LAST != 0,
            kind,
            encoding,
            sequence: u64::from_le_bytes(*fixed[8..].first_chunk()?),
            timestamp_ms: u64::from_le_bytes(*fixed[16..].first_chunk()?),
            owner,
            expires_at_ms,
            collection,
            has_blob: flags & FLAG_BLOB != 0,
            key_len,
            value_len,
        };
        let len = header.key_len.checked_add(header.value_len)?.checked_add(HEADER_MAX_LEN as u64)?;
        (len <= RECORD_MAX_BYTES).then_some((header, bytes.len() - rest.len()))
    }

    /// The blob of a root with this value, if it has one.
    pub(super) fn blob(&self, value: &[u8]) -> Option<BlobRef> {
        BlobRef::read(value).filter(|_| self.has_blob && self.record_type == RecordType::Root)
    }

    /// The Redis type of a root, if the number is one.
    pub(super) fn redis_kind(&self) -> Option<Kind> {
        Kind::from_number(self.kind)
    }
}

/// One whole record as it stands in a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'b> {
    pub(super) header: Header,
    pub(super) checksum: u32,
    pub(super) key: &'b [u8],
    pub(super) value: &'b [u8],
}

impl<'b> Record<'b> {
    /// Reads and checks the record at the start of `bytes`; None if it is cut short or damaged. `salt` is that of the
    /// datafile.
    pub(super) fn read(bytes: &'b [u8], salt: Salt) -> Option<Record<'b>> {
        let (header, before_key) = Header::read(bytes)?;
        let record = bytes.get(..usize::try_from(header.record_len()).ok()?)?;
        let checksum = u32::from_le_bytes(*record.first_chunk()?);
        if checksum_append(salt.0, &record[4..]) != checksum {
            return None;
        }
        Record::parts(header, before_key, record)
    }

    /// Reads again a record that was checked in the same bytes.
    pub(super) fn read_again(bytes: &'b [u8]) -> Option<Record<'b>> {
        let (header, before_key) = Header::read(bytes)?;
        Record::parts(header, before_key, bytes.get(..usize::try_from(header.record_len()).ok()?)?)
    }

    fn parts(header: Header, before_key: usize, record: &'b [u8]) -> Option<Record<'b>> {
        let checksum = u32::from_le_bytes(*record.first_chunk()?);
        let key_end = before_key.checked_add(usize::try_from(header.key_len).ok()?)?;
        Some(Record {
            header,
            checksum,
            key: record.get(before_key..key_end)?,
            value: record.get(key_end..)?,
        })
    }
}

/// Whether these bytes, which are one whole record, carry their checksum. Cheaper than [`Record::read`] where the keydir says
/// what the record is. `salt` is that of the datafile.
pub(super) fn carries_checksum(record: &[u8], salt: Salt) -> bool {
    record
        .split_first_chunk()
        .is_some_and(|(checksum, rest)| checksum_append(salt.0, rest) == u32::from_le_bytes(*checksum))
}

/// Length of a [`synced_record`].
pub(super) const SYNCED_RECORD_BYTES: u64 = FIXED_LEN as u64 + 3 + 16;

/// A record, to stand at `offset`, that says that the first `synced_len` bytes of its datafile are on the disk. One that
/// counts itself among them is a *seal*: it is the last record of its file, and everything before it was synced first.
///
/// Before its seal, the output of a merge has one about the file that was active when it was published.
///
/// Its value: the length (u64), then a stamp (u64), the hash of file, offset and length under the store's seed. It says
/// which file is meant, and tells the record from a copy of one that a client stored as its value. `salt` is that of the
/// datafile in which the record is to stand.
pub(super) fn synced_record(
    file: &FileHeader,
    salt: Salt,
    offset: u64,
    synced_len: u64,
    sequence: u64,
    now_ms: u64,
) -> Vec<u8> {
    let mut value = synced_len.to_le_bytes().to_vec();
    value.extend_from_slice(&stamp(file, offset, synced_len).to_le_bytes());
    let mut header = Header::new(RecordType::Synced, sequence, now_ms, 0);
    header.value_len = value.len() as u64;
    let mut out = Vec::new();
    header.write(&[], &value, salt, &mut out);
    out.extend_from_slice(&value);
    out
}

/// The checksum at the beginning of a record's bytes.
pub(super) fn checksum_of(record: &[u8]) -> u32 {
    record.first_chunk().map_or(0, |checksum| u32::from_le_bytes(*checksum))
}

/// The seal of a datafile that would be `len` bytes long without it.
pub(super) fn seal_record(file: &FileHeader, len: u64, sequence: u64, now_ms: u64) -> Vec<u8> {
    synced_record(file, file.salt(), len, len + SYNCED_RECORD_BYTES, sequence, now_ms)
}

fn stamp(file: &FileHeader, offset: u64, synced_len: u64) -> u64 {
    let mut bytes = file.id.to_le_bytes().to_vec();
    bytes.extend_from_slice(&offset.to_le_bytes());
    bytes.extend_from_slice(&synced_len.to_le_bytes());
    xxh3_64_with_seed(&bytes, file.seed)
}

impl Record<'_> {
    /// How much of the file was on the disk, if this is a record that says so and was written for this place.
    pub(super) fn synced_len(&self, file: &FileHeader, offset: u64) -> Option<u64> {
        let mut rest = self.value;
        let synced_len = read_u64(&mut rest)?;
        let is_stamped = read_u64(&mut rest)? == stamp(file, offset, synced_len);
        (self.header.record_type == RecordType::Synced && is_stamped).then_some(synced_len)
    }
}

/// The header of a datafile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileHeader {
    pub(super) version: u32,
    pub(super) id: u32,
    /// Seed of the store's fingerprints and hashes.
    pub(super) seed: u64,
    /// Files are replayed in this order. All frames in files that stand before have smaller sequences; so may the first ones in
    /// this file, whose commits had begun when it was.
    pub(super) base_sequence: u64,
    /// The next sequence when the file was made.
    pub(super) next_sequence: u64,
    /// The next number of a collection or space when the file was made.
    pub(super) next_number: u64,
    /// Records that were dead at this sequence are not in the file: 0 for one that was not made by merge.
    pub(super) watermark: u64,
    /// The datafiles that this one stands for; they are litter if they are still there.
    pub(super) replaces: Vec<u32>,
}

impl FileHeader {
    /// About the smallest sequence of a frame in this file.
    pub(super) fn first_sequence(&self) -> u64 {
        match self.next_sequence {
            // Unknown.
            0 => self.base_sequence,
            next => self.base_sequence.min(next),
        }
    }

    /// The header of no datafile, for one whose own cannot be read.
    pub(super) fn none() -> FileHeader {
        FileHeader {
            version: MANIFEST_VERSION,
            id: 0,
            seed: 0,
            base_sequence: 0,
            next_sequence: 0,
            next_number: 0,
            watermark: 0,
            replaces: Vec::new(),
        }
    }

    /// Whether merge made the file: then it was whole, sealed and on the disk before it was listed.
    pub(super) fn is_output(&self) -> bool {
        self.watermark != 0 || !self.replaces.is_empty()
    }

    /// What the checksums of its records begin from.
    pub(super) fn salt(&self) -> Salt {
        Salt::of(self.version, self.seed)
    }

    /// The seed in the bytes of a header that may be damaged.
    pub(super) fn seed_in(bytes: &[u8]) -> Option<u64> {
        read_u64(&mut bytes.get(20..)?)
    }
}

impl FileHeader {
    /// The bytes of the header: magic, version, length of the rest, rest, checksum of all before.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&self.version.to_le_bytes());
        out.extend_from_slice(&((4 + 8 * 5 + 4 + 4 * self.replaces.len()) as u32).to_le_bytes());
        out.extend_from_slice(&self.id.to_le_bytes());
        for number in [self.seed, self.base_sequence, self.next_sequence, self.next_number, self.watermark] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.extend_from_slice(&(self.replaces.len() as u32).to_le_bytes());
        for replaced in &self.replaces {
            out.extend_from_slice(&replaced.to_le_bytes());
        }
        out.extend_from_slice(&crc32c::crc32c(&out).to_le_bytes());
        out
    }

    /// How many bytes the header has, from its first 16; None if this is no datafile of our version.
    pub(super) fn len_of(first: &[u8]) -> Option<u64> {
        let version = u32::from_le_bytes(*first.get(MAGIC.len()..)?.first_chunk()?);
        FileHeader::len_of_any_version(first).filter(|_| FORMAT_VERSIONS.contains(&version))
    }

    /// The same for a header that a later build may have written.
    pub(super) fn len_of_any_version(first: &[u8]) -> Option<u64> {
        let rest = first.strip_prefix(MAGIC)?;
        let len = u32::from_le_bytes(*rest.get(4..)?.first_chunk()?);
        Some(16 + u64::from(len) + 4).filter(|len| *len <= FILE_HEADER_MAX_BYTES)
    }

    /// Whether these are a header's bytes as they were written.
    pub(super) fn carries_its_checksum(bytes: &[u8]) -> bool {
        bytes
            .split_last_chunk::<4>()
            .is_some_and(|(body, checksum)| crc32c::crc32c(body) == u32::from_le_bytes(*checksum))
    }

    /// Reads a whole header; None if it is damaged.
    pub(super) fn read(bytes: &[u8]) -> Option<FileHeader> {
        if bytes.len() as u64 != FileHeader::len_of(bytes)? || !FileHeader::carries_its_checksum(bytes) {
            return None;
        }
        let (body, _) = bytes.split_last_chunk::<4>()?;
        let version = read_u32(&mut body.get(MAGIC.len()..)?)?;
        let mut rest = body.get(16..)?;
        let id = read_u32(&mut rest)?;
        let seed = read_u64(&mut rest)?;
        let base_sequence = read_u64(&mut rest)?;
        let next_sequence = read_u64(&mut rest)?;
        let next_number = read_u64(&mut rest)?;
        let watermark = read_u64(&mut rest)?;
        let count = read_u32(&mut rest)?;
        let replaces = (0..count).map(|_| read_u32(&mut rest)).collect::<Option<Vec<u32>>>()?;
        Some(FileHeader { version, id, seed, base_sequence, next_sequence, next_number, watermark, replaces })
    }
}

/// Takes a little-endian u32 off the front.
pub(super) fn read_u32(bytes: &mut &[u8]) -> Option<u32> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u32::from_le_bytes(*number))
}

/// Takes a little-endian u64 off the front.
pub(super) fn read_u64(bytes: &mut &[u8]) -> Option<u64> {
    let (number, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(u64::from_le_bytes(*number))
}
