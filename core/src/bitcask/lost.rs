//! Which records stood in a hole of a datafile, or in one that is not there any more.
//!
//! Two things say it: the headers in the hole, as far as they can be read, and the hints of the datafile, which were written
//! elsewhere. Hints list what was live when they were written. So where they cover a hole, and fit the rest of the datafile, what
//! they do not list was dead and is not lost.

use std::collections::BTreeMap;

use super::damage::{LostKind, LostRecord};
use super::files::File;
use super::hint;
use super::record::{HEADER_MAX_LEN, Header, RecordType};
use crate::storage::{MetaMap, StorageError};

/// Lost records are named up to this many for each damaged place; of more, only the number and the length is given.
const NAMED_MAX: usize = 100_000;

/// The records of a datafile that its hints list, by offset.
#[derive(Default)]
pub(super) struct Listed {
    /// So much of the datafile the hints are about, in bytes.
    covered: u64,
    /// Whether the datafile is the one that they are about, as far as can be seen.
    fits: bool,
    /// With the key, unless only its fingerprint is known. The headers have no sequence.
    records: BTreeMap<u64, (Header, Option<Vec<u8>>)>,
}

impl Listed {
    /// What hints list of a datafile. Hints that cannot be read list nothing.
    pub(super) fn of(meta: &dyn MetaMap, file: &File) -> Result<Listed, StorageError> {
        let mut listed = Listed::of_missing(meta, file.id(), file.header.seed);
        listed.fits = listed.covered > 0 && hint::covers(meta, file)?;
        Ok(listed)
    }

    /// The same for one that is not there.
    pub(super) fn of_missing(meta: &dyn MetaMap, file: u32, seed: u64) -> Listed {
        let mut records = BTreeMap::new();
        let covered = hint::entries(meta, (file, seed), &mut |header, key, offset| {
            records.insert(offset, (header, key.map(<[u8]>::to_vec)));
        });
        Listed { covered, fits: covered > 0, records }
    }

    /// So much of the datafile was there once, in bytes.
    pub(super) fn covered(&self) -> u64 {
        self.covered
    }
}

/// What a hole says of the records that stood there.
#[derive(Default)]
pub(super) struct Hole {
    pub(super) records: Vec<LostRecord>,
    /// Records that are known of and are not named: too many, or only the fingerprint of the key is known.
    pub(super) unnamed_records: u64,
    /// How many bytes of the hole belong to records that are not named.
    pub(super) unnamed_bytes: u64,
}

impl Hole {
    fn take(&mut self, header: &Header, key: Option<Vec<u8>>) {
        let kind = match header.record_type {
            RecordType::Root => LostKind::Key,
            RecordType::RootTombstone => LostKind::KeyRemoval,
            RecordType::Sub => LostKind::Subkey,
            RecordType::SubTombstone => LostKind::SubkeyRemoval,
            RecordType::Databases => LostKind::Databases,
            RecordType::Synced => return,
        };
        let Some(key) = key.filter(|_| self.records.len() < NAMED_MAX) else {
            self.unnamed_records += 1;
            self.unnamed_bytes += header.record_len();
            return;
        };
        self.records.push(LostRecord {
            kind,
            owner: header.owner,
            key,
            sequence: header.sequence,
            time_ms: header.timestamp_ms,
            collection: header.collection,
            has_blob: header.has_blob,
        });
    }
}

/// The records between two offsets of a datafile, of which `file` is what is there. `last_sequence` is the largest sequence
/// before them.
pub(super) fn lost_records(
    file: Option<&File>,
    (from, to): (u64, u64),
    listed: &Listed,
    last_sequence: u64,
) -> Result<Hole, StorageError> {
    let mut hole = Hole::default();
    let mut at = from;
    while at < to {
        let next = listed.records.range(at + 1..to).next().map_or(to, |(offset, _)| *offset);
        let found = match file {
            Some(file) => header_at(file, at, to)?,
            None => None,
        };
        // A header that leads beyond the next record is damaged itself.
        let found = found.filter(|(header, _)| !listed.fits || header.record_len() <= next - at);
        at = match (found, listed.records.get(&at)) {
            (found, Some((header, key))) if listed.fits || found.is_none() => {
                let is_same = |found: &Header| {
                    found.record_len() == header.record_len() && found.timestamp_ms == header.timestamp_ms
                };
                let sequence = found.filter(|(found, _)| is_same(found)).map(|(found, _)| found.sequence);
                let header = Header { sequence: sequence.unwrap_or(last_sequence), ..*header };
                hole.take(&header, key.clone());
                at.saturating_add(header.record_len())
            }
            (Some((header, key)), _) => {
                hole.take(&header, Some(key));
                at.saturating_add(header.record_len())
            }
            (None, _) => {
                let known_to = if listed.fits { listed.covered } else { 0 };
                // Where hints end, a record begins.
                let stop = if at < known_to { next.min(known_to) } else { next };
                hole.unnamed_bytes += stop - at.max(known_to).min(stop);
                stop
            }
        };
    }
    Ok(hole)
}

/// The header at an offset of a datafile and its key, if what stands there looks like a record that ends before `to`.
fn header_at(file: &File, at: u64, to: u64) -> Result<Option<(Header, Vec<u8>)>, StorageError> {
    let left = to.min(file.datafile.len()?).saturating_sub(at);
    if left == 0 {
        return Ok(None);
    }
    let mut found = None;
    file.datafile.read(at, left.min(HEADER_MAX_LEN as u64), &mut |bytes| found = Header::read(bytes))?;
    let fits = |(header, before_key): &(Header, usize)| {
        header.record_len().max((*before_key as u64).saturating_add(header.key_len)) <= left
    };
    let Some((header, before_key)) = found.filter(fits) else { return Ok(None) };
    let mut key = Vec::new();
    if header.key_len > 0 {
        file.datafile
            .read(at + before_key as u64, header.key_len, &mut |bytes| key.extend_from_slice(bytes))?;
    }
    Ok(Some((header, key)))
}
