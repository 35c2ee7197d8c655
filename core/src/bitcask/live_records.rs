//! The live records of datafiles that are to be merged, found through the keydir instead of by reading the datafiles.
//!
//! A few keys that are overwritten again and again leave datafiles of which nearly nothing lives. Reading all of it, only to
//! find that out record by record, would take most of what a merge costs. Where the keydir is small it is looked through once
//! instead, and merge reads what it points at.
//!
//! That finds every live record only where no tombstones have to be found: a datafile without tombstones has none that are
//! needed, and before the oldest datafile none is needed. What is written while the keydir is looked through has no record in a
//! sealed datafile, and collections are looked up by their numbers, so none is missed that is renamed meanwhile.
//!
//! Damage of a record that nothing points at stays unnoticed here; it goes with the datafile. A live record is compared with its
//! checksum before it is copied, as in a walk.

use std::sync::Arc;

use super::Bitcask;
use super::files::File;
use super::keydir::{Location, RootEntry, SHARD_BITS, SHARDS, SubEntry};
use super::record::{HEADER_MAX_LEN, Header, Record};
use super::scan;
use crate::storage::StorageError;

/// Looking at a key costs about as much as reading so many bytes.
const KEY_COST_BYTES: u64 = 200;

/// No more keys and subkeys than these are looked at, so that no shard is locked for longer than some hundred microseconds.
const KEYS_MAX: u64 = 4096 * SHARDS as u64;

/// So many subkeys are looked at before their shard is unlocked for a moment.
const SUBKEYS_AT_ONCE: u64 = 4096;

/// A record that was live when it was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Found {
    /// The place of its datafile among the inputs.
    input: usize,
    offset: u32,
}

/// The live records of datafiles that have yet to be read, in the order in which they stand there.
pub(super) struct LiveRecords(std::vec::IntoIter<Found>);

impl LiveRecords {
    /// The place among the inputs of the datafile that has the next one, and where it begins there.
    pub(super) fn next_place(&self) -> Option<(usize, u64)> {
        self.0.as_slice().first().map(|next| (next.input, u64::from(next.offset)))
    }

    /// Reads the next record into `bytes`, with the place of its datafile. None if there is no whole record where the keydir
    /// says so, or none is left.
    ///
    /// # Errors
    /// The datafile cannot be read.
    pub(super) fn read_next<'b>(
        &mut self,
        inputs: &[Arc<File>],
        bytes: &'b mut Vec<u8>,
    ) -> Result<Option<(Location, Record<'b>)>, StorageError> {
        let Some(Found { input, offset }) = self.0.next() else { return Ok(None) };
        let Some(file) = inputs.get(input) else { return Ok(None) };
        let (begin, left) = (u64::from(offset), file.len().saturating_sub(u64::from(offset)));
        let mut len = None;
        file.datafile.read(begin, left.min(HEADER_MAX_LEN as u64), &mut |head| {
            len = Header::read(head).map(|(header, _)| header.record_len());
        })?;
        let Some(len) = len.filter(|len| *len <= left) else { return Ok(None) };
        // Copied out, as in a walk.
        scan::read(file, begin, len, bytes)?;
        let record = Record::read(bytes, file.salt);
        Ok(record.map(|record| (Location { file: file.id(), offset }, record)))
    }
}

impl Bitcask {
    /// The live records of sealed datafiles, all commits to which must be in the keydir; None where they have to be found by
    /// reading the datafiles, or that costs less. `needs_tombstones` says whether there are older datafiles.
    pub(super) fn live_records(&self, inputs: &[Arc<File>], needs_tombstones: bool) -> Option<LiveRecords> {
        if needs_tombstones && inputs.iter().any(|input| input.tombstones() > 0) {
            return None;
        }
        let dead_bytes: u64 = inputs.iter().map(|input| input.dead()).sum();
        let mut keys_left = (dead_bytes / KEY_COST_BYTES).min(KEYS_MAX);
        let mut found = Vec::new();
        let mut note = |location: Location| {
            if let Some(input) = inputs.iter().position(|input| input.id() == location.file) {
                found.push(Found { input, offset: location.offset });
            }
        };
        for (at, shard) in self.shards.iter().enumerate() {
            let shard = shard.lock();
            for table in shard.spaces.iter().flat_map(|space| [&space.short, &space.long]) {
                keys_left = keys_left.checked_sub(table.len())?;
                let mut next = Some((at as u64) << (u64::BITS - SHARD_BITS));
                while let Some(from) = next {
                    next = table.look_into(from, &mut |_, entry| {
                        RootEntry::read(entry).into_iter().for_each(|entry| note(entry.location));
                    });
                }
            }
        }
        // No more of them than there are keys.
        let collections: Vec<u64> = self.owners.lock().keys().copied().collect();
        for collection in collections {
            self.look_into(collection, &mut keys_left, &mut note)?;
        }
        self.databases_record.lock().into_iter().for_each(note);
        found.sort_unstable();
        found.dedup();
        Some(LiveRecords(found.into_iter()))
    }

    /// Notes where the records of a collection's subkeys are; none if there are more than `keys_left`, which it lowers.
    fn look_into(&self, collection: u64, keys_left: &mut u64, note: &mut dyn FnMut(Location)) -> Option<()> {
        // Not by rank: subkeys may be removed while the shard is unlocked.
        let mut last: Option<Vec<u8>> = None;
        loop {
            let mut seen = 0;
            let next = self.in_collection(collection, |tree| {
                let entries = tree.iter_from_key(last.as_deref().unwrap_or_default());
                for (subkey, entry) in entries {
                    seen += 1;
                    SubEntry::read(entry).into_iter().for_each(|(entry, _)| note(entry.location));
                    if seen == SUBKEYS_AT_ONCE {
                        return Some([subkey.prefix, subkey.suffix].concat());
                    }
                }
                None
            });
            *keys_left = keys_left.checked_sub(seen)?;
            // The last one is seen again.
            let Some(next) = next else { return Some(()) };
            last = Some(next);
        }
    }
}
