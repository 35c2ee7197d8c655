//! The live records of datafiles, found through the keydir instead of by asking it about each record.
//!
//! A few keys that are overwritten again and again leave datafiles of which nearly nothing lives. Reading all of it, only to
//! find that out record by record, would take most of what a merge costs. Where the keydir is small it is looked through once
//! instead, and merge reads what it points at. Where much lives in datafiles that are most of the store they are read from one
//! end to the other all the same, for merge or for hints, but looking through the keydir costs less than to look up each record.
//!
//! Merge reads nothing but live records only where no tombstones have to be found: a datafile without tombstones has none that are
//! needed, and before the oldest datafile none is needed. What is written while the keydir is looked through has no record in
//! what is asked about, and collections are looked up by their numbers, so none is missed that is renamed meanwhile. A record that
//! dies meanwhile may be found; it is a dead one in the output of a merge, and in hints the one that replaced it comes later.
//!
//! Damage of a record that nothing points at stays unnoticed where only live records are read; it goes with the datafile. A live
//! record is compared with its checksum before it is copied, as in a walk.

use std::sync::Arc;

use super::Bitcask;
use super::files::File;
use super::keydir::{Location, RootEntry, SHARD_BITS, SHARDS, SubEntry};
use super::record::{HEADER_MAX_LEN, Header, Record};
use super::scan;
use crate::storage::StorageError;

/// Looking at a key costs about as much as reading so many bytes.
const KEY_COST_BYTES: u64 = 200;

/// Looking at a key costs a sixth of looking it up, or less: with records of any size that is the cheaper way to find those of
/// this part of the store.
const PART_OF_STORE: u64 = 6;

/// No more keys than these are looked at, so that no shard is locked for longer than some hundred microseconds.
const KEYS_MAX: u64 = 16 * 1024 * SHARDS as u64;

/// No more subkeys and keys than these: a tenth of a second. In WebAssembly nothing else runs meanwhile.
const ALL_KEYS_MAX: u64 = if cfg!(target_family = "wasm") { 256 * 1024 } else { 4 * 1024 * 1024 };

/// So many subkeys are looked at before their shard is unlocked for a moment.
const SUBKEYS_AT_ONCE: u64 = 2048;

/// No more live records than these are remembered, which takes four bytes each.
const FOUND_MAX: usize = 2 * 1024 * 1024;

/// Where the live records of some datafiles begin, those of each in ascending order.
pub(super) struct LiveOffsets(Vec<Vec<u32>>);

impl LiveOffsets {
    /// For a walk over the datafile at this place among the inputs, from `from` on.
    pub(super) fn of_input(&self, input: usize, from: u64) -> LiveHere<'_> {
        let all = self.0.get(input).map_or(&[] as &[u32], Vec::as_slice);
        let passed = all.partition_point(|offset| u64::from(*offset) < from);
        LiveHere(all.get(passed..).unwrap_or_default())
    }
}

/// The live records of one datafile from some place on.
pub(super) struct LiveHere<'o>(&'o [u32]);

impl LiveHere<'_> {
    /// Whether a live record begins at `offset`, which is beyond those asked about before.
    pub(super) fn begins_at(&mut self, offset: u64) -> bool {
        while let Some((first, rest)) = self.0.split_first()
            && u64::from(*first) <= offset
        {
            self.0 = rest;
            if u64::from(*first) == offset {
                return true;
            }
        }
        false
    }
}

/// The live records of datafiles that have yet to be read, in the order in which they stand there.
pub(super) struct LiveRecords {
    offsets: LiveOffsets,
    /// The place of the next one: its datafile among the inputs, and its number there.
    input: usize,
    number: usize,
}

impl LiveRecords {
    /// The place among the inputs of the datafile that has the next one, and where it begins there.
    pub(super) fn next_place(&mut self) -> Option<(usize, u64)> {
        loop {
            let of_input = self.offsets.0.get(self.input)?;
            if let Some(offset) = of_input.get(self.number) {
                return Some((self.input, u64::from(*offset)));
            }
            (self.input, self.number) = (self.input + 1, 0);
        }
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
        let Some((input, begin)) = self.next_place() else { return Ok(None) };
        self.number += 1;
        let Some(file) = inputs.get(input) else { return Ok(None) };
        let left = file.len().saturating_sub(begin);
        let mut len = None;
        file.datafile.read(begin, left.min(HEADER_MAX_LEN as u64), &mut |head| {
            len = Header::read(head).map(|(header, _)| header.record_len());
        })?;
        let Some(len) = len.filter(|len| *len <= left) else { return Ok(None) };
        // Copied out, as in a walk.
        scan::read(file, begin, len, bytes)?;
        let record = Record::read(bytes, file.salt);
        // Datafiles are shorter than 4 GiB.
        Ok(record.map(|record| (Location { file: file.id(), offset: begin as u32 }, record)))
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
        let offsets = self.find_live(inputs, dead_bytes / KEY_COST_BYTES)?;
        Some(LiveRecords { offsets, input: 0, number: 0 })
    }

    /// Where the live records of datafiles begin of which `bytes` are about to be read. All commits to that part must be in the
    /// keydir. None if looking up each record costs less.
    pub(super) fn live_offsets(&self, inputs: &[Arc<File>], bytes: u64) -> Option<LiveOffsets> {
        // Tests take both ways, though their stores are small.
        if cfg!(test) && inputs.first().is_some_and(|first| first.id() % 2 == 0) {
            return None;
        }
        let (_, live_bytes) = self.space();
        let is_cheaper = live_bytes / PART_OF_STORE <= bytes;
        is_cheaper.then(|| self.find_live(inputs, u64::MAX)).flatten()
    }

    /// Looks through the keydir; None if it has more than `keys_max` keys and subkeys, or too many.
    fn find_live(&self, inputs: &[Arc<File>], keys_max: u64) -> Option<LiveOffsets> {
        let mut keys_left = keys_max.min(ALL_KEYS_MAX);
        let ids: Vec<u32> = inputs.iter().map(|input| input.id()).collect();
        let mut found = vec![Vec::new(); inputs.len()];
        let mut count = 0;
        let mut note = |location: Location| {
            if let Some(input) = ids.iter().position(|id| *id == location.file) {
                count += 1;
                if count <= FOUND_MAX {
                    found[input].push(location.offset);
                }
            }
        };
        for (at, shard) in self.shards.iter().enumerate() {
            let mut roots_left = KEYS_MAX / SHARDS as u64;
            let shard = shard.lock();
            for table in shard.spaces.iter().flat_map(|space| [&space.short, &space.long]) {
                keys_left = keys_left.checked_sub(table.len())?;
                roots_left = roots_left.checked_sub(table.len())?;
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
        if count > FOUND_MAX {
            return None;
        }
        for offsets in &mut found {
            offsets.sort_unstable();
            offsets.dedup();
        }
        Some(LiveOffsets(found))
    }

    /// Notes where the records of a collection's subkeys are; none if there are more than `keys_left`, which it lowers.
    fn look_into(&self, collection: u64, keys_left: &mut u64, note: &mut dyn FnMut(Location)) -> Option<()> {
        let len = self.in_collection(collection, |tree| Some(tree.len())).unwrap_or(0);
        if len > *keys_left {
            return None;
        }
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
