//! A frame under construction: the records of one commit, in one buffer but for large values, which stay where they are.

use smallvec::SmallVec;

use super::keydir::Location;
use super::log::too_large;
use super::record::{HEADER_MAX_LEN, Header, RecordType, Salt};
use crate::engine::{Result, SubBytes, SubChanges};

/// Values of at least this many bytes go from the overlay to the datafile without a copy into the frame buffer.
pub(super) const BORROWED_VALUE_BYTES: usize = 4 * 1024;

/// Largest value of one record: its length is kept in four bytes.
pub(super) const VALUE_MAX_BYTES: u64 = u32::MAX as u64;

/// Memory for so many records is reserved at once.
const MANY_RECORDS: usize = 1024;

/// A frame under construction.
pub(super) struct Frame<'o> {
    sequence: u64,
    now_ms: u64,
    salt: Salt,
    /// Records that are still to come, the next one included.
    missing: u64,
    /// Everything but the borrowed values.
    pub(super) bytes: Vec<u8>,
    /// Where in `bytes` a borrowed value belongs.
    borrowed: SmallVec<[(usize, &'o [u8]); 1]>,
    borrowed_len: u64,
    /// Where in the frame each record begins, in order.
    offsets: SmallVec<[u32; 20]>,
    /// Length of the tombstones among them.
    pub(super) tombstones_len: u64,
}

impl<'o> Frame<'o> {
    /// A frame of so many records, in an empty buffer.
    pub(super) fn new(
        (sequence, now_ms): (u64, u64),
        salt: Salt,
        records: u64,
        buffer: Vec<u8>,
    ) -> Frame<'o> {
        Frame {
            sequence,
            now_ms,
            salt,
            missing: records,
            bytes: buffer,
            borrowed: SmallVec::new(),
            borrowed_len: 0,
            offsets: SmallVec::new(),
            tombstones_len: 0,
        }
    }

    pub(super) fn len(&self) -> u64 {
        self.bytes.len() as u64 + self.borrowed_len
    }

    pub(super) fn add(&mut self, mut header: Header, key: &[u8], value: &'o [u8]) -> Result<()> {
        let offset = u32::try_from(self.len()).map_err(|_| too_large())?;
        header.is_first = self.offsets.is_empty();
        header.is_last = self.missing == 1;
        header.key_len = key.len() as u64;
        header.value_len = value.len() as u64;
        if header.value_len > VALUE_MAX_BYTES {
            return Err(too_large());
        }
        self.missing = self.missing.saturating_sub(1);
        self.offsets.push(offset);
        header.write(key, value, self.salt, &mut self.bytes);
        if value.len() < BORROWED_VALUE_BYTES {
            self.bytes.extend_from_slice(value);
        } else {
            self.borrowed.push((self.bytes.len(), value));
            self.borrowed_len += value.len() as u64;
        }
        if header.record_type.is_tombstone() {
            self.tombstones_len += header.record_len();
        }
        Ok(())
    }

    pub(super) fn header(&self, record_type: RecordType, owner: u64) -> Header {
        Header::new(record_type, self.sequence, self.now_ms, owner)
    }

    /// Adds the records of changed subkeys.
    pub(super) fn add_subkeys(&mut self, collection: u64, subs: &'o SubChanges) -> Result<()> {
        if subs.len() >= MANY_RECORDS {
            // In one step, since twice of so much may be more than there is.
            let kept = |value: &Option<SubBytes>| {
                value.as_ref().map_or(0, |value| value.len()).min(BORROWED_VALUE_BYTES)
            };
            let bytes =
                subs.into_iter().map(|(subkey, sub)| HEADER_MAX_LEN + subkey.len() + kept(&sub.value));
            // By a quarter at least, should there be more of them.
            self.bytes.reserve_exact(bytes.sum::<usize>().max(self.bytes.capacity() / 4));
        }
        for (subkey, sub) in subs {
            let (record_type, value) = match &sub.value {
                Some(value) => (RecordType::Sub, value.as_slice()),
                None => (RecordType::SubTombstone, [].as_slice()),
            };
            self.add(self.header(record_type, collection), subkey, value)?;
        }
        Ok(())
    }

    /// Where each record lies, in order, if the frame begins there.
    pub(super) fn locations(&self, begin: Location) -> impl Iterator<Item = Location> {
        self.offsets.iter().map(move |offset| Location {
            file: begin.file,
            // The frame ends within the datafile, whose offsets fit.
            offset: begin.offset.saturating_add(*offset),
        })
    }

    /// The frame in order, as parts to append.
    pub(super) fn parts(&self) -> SmallVec<[&[u8]; 4]> {
        let mut parts: SmallVec<[&[u8]; 4]> = SmallVec::new();
        let mut from = 0;
        for (at, value) in &self.borrowed {
            parts.push(&self.bytes[from..*at]);
            parts.push(value);
            from = *at;
        }
        parts.push(&self.bytes[from..]);
        parts
    }
}
