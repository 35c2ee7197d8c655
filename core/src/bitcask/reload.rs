//! A store closed and opened again while its sessions stay: DEBUG RELOAD.
//!
//! Everybody is kept out, the log is synced, and recovery reads the storage as if the process had just begun. What it finds
//! takes the place of what was in memory: keydir, list of datafiles, blobs. Watches, positions in the log and blobs that are
//! being written stay, so that nobody but the clock notices.
//!
//! Hints are left aside, because they were made with the keydir that is to be checked against the records. All of the log
//! was synced a moment ago, so a record that does not carry its checksum is damage here and never a torn tail. On any error
//! the store goes on with what it had in memory.
//!
//! Takes the memory of a second keydir and reads every datafile once.

use super::keydir::Shard;
use super::recovery::{Recovered, Trust, recover};
use super::replay::Replayed;
use super::{Bitcask, OpenError};
use crate::engine::{EngineError, Result};
use crate::storage::StorageError;

impl Bitcask {
    /// The body of [`Admin::reopen`](crate::engine::Admin::reopen).
    pub(super) fn close_and_open(&self) -> Result<()> {
        // What is freed at last is freed when nobody waits any more.
        let mut before: Vec<Shard> = Vec::new();
        let mut merge = self.merging.lock();
        let _hinting = self.hinting.lock();
        let turn = self.log.turn_to_sync();
        let mut shards: Vec<_> = self.shards.iter().map(|shard| shard.lock()).collect();
        let position = self.log.sync_in(&turn, self.appended())?;
        let active = self.log.active_synced().map(|(header, len)| (header.id, len));
        let databases = shards.first().map_or(0, |shard| shard.databases.len());
        let storage = self.log.storage();
        let recovered =
            recover(&**storage, self.seed, databases as u32, Trust::Records(active)).map_err(refused)?;
        if recovered.seed != self.seed {
            return Err(EngineError::Damaged("the datafiles are those of another store".into()));
        }
        // From here on nothing fails.
        let Recovered { table, active, litter, counters, replayed, blobs, .. } = recovered;
        let Replayed { shards: found, owners, databases_record, blob_roots } = replayed;
        self.log.reopen(table, active, counters);
        self.blobs.reopen(blob_roots, &blobs, position);
        *self.owners.lock() = owners;
        *self.databases_record.lock() = databases_record;
        merge.reopen(litter);
        self.counts.forget_merge();
        for (shard, mut found) in shards.iter_mut().zip(found) {
            found.watches = std::mem::take(&mut shard.watches);
            before.push(std::mem::replace(&mut **shard, found));
        }
        drop((shards, turn));
        Ok(())
    }
}

/// What it means for the running store that it could not be opened again.
fn refused(error: OpenError) -> EngineError {
    match error {
        OpenError::Storage(StorageError::Full(what)) => EngineError::Full(what),
        error => EngineError::Damaged(format!("the store could not be opened again: {error}")),
    }
}
