//! A store closed and opened again while its sessions stay: DEBUG RELOAD.
//!
//! Everybody is kept out, the log is synced, and recovery reads the storage as if the process had just begun. What it finds
//! takes the place of what was in memory: keydir, list of datafiles, blobs. Watches, positions in the log and blobs that are
//! being written stay, so that only the clock shows it.
//!
//! Hints are left aside, because they were made with the keydir that is to be checked against the records. All of the log
//! was synced a moment ago, so a record that does not carry its checksum is damage here and never a torn tail. On any error
//! the store goes on with what it had in memory.
//!
//! Takes the memory of a second keydir and reads every datafile once.

use super::Bitcask;
use super::damage::{Findings, OnDamage, OpenError};
use super::file_replay::Trust;
use super::keydir::{Shard, Sums};
use super::recovery::{New, Recovered, recover};
use super::replay::Replayed;
use super::snapshot::Snapshot;
use crate::engine::{EngineError, Reader, Result, Scope};
use crate::storage::StorageError;

impl Bitcask {
    /// The body of [`Admin::reopen`](crate::engine::Admin::reopen).
    pub(super) fn close_and_open(&self, access: u32) -> Result<()> {
        // Freed at the end, when no lock is held any more.
        let mut before: Vec<Shard> = Vec::new();
        let mut merge = self.merging.lock();
        let _hinting = self.hinting.lock();
        let (_preparing, turn, mut all) = loop {
            let (preparing, turn) = (self.log.turn_to_prepare(), self.log.turn_to_sync());
            if let Some(all) = Snapshot::soon(self, Scope::Everything) {
                break (preparing, turn, all);
            }
            drop((preparing, turn));
            // A transaction takes long. Nothing that others need is held while this waits for it.
            self.wait_for_commits();
        };
        all.hold_for_long();
        let shards = &mut all.shards;
        let position = self.log.sync_in(&turn, self.appended())?;
        let active = self.log.active_synced().map(|(header, len)| (header.id, len));
        let databases = shards.first().map_or(0, |(_, shard)| shard.databases.len());
        let storage = self.log.storage();
        let mut findings = Findings::new(OnDamage::Refuse);
        let trust = Trust::Records(active);
        let recovered =
            recover(&**storage, New { seed: self.seed, access }, databases as u32, trust, &mut findings)
                .map_err(refused)?;
        if recovered.seed != self.seed {
            return Err(EngineError::Damaged("the datafiles are those of another store".into()));
        }
        self.log.manifest.reopen(recovered.manifest).map_err(|error| refused(error.into()))?;
        // From here on nothing fails.
        let Recovered { table, active, litter, counters, replayed, blobs, .. } = recovered;
        let Replayed { shards: found, owners, databases_record, blob_roots, .. } = replayed;
        self.log.reopen(table, active, counters);
        self.blobs.reopen(blob_roots, &blobs, position);
        *self.owners.lock() = owners;
        *self.databases_record.lock() = databases_record;
        merge.reopen(litter);
        storage.set_lent_bytes(0);
        self.counts.forget_merge();
        for ((_, shard), mut found) in shards.iter_mut().zip(found) {
            found.recount();
            let held = shard.swap_held(Sums::default());
            found.swap_held(held);
            self.held.count(&mut found);
            before.push(std::mem::replace(&mut **shard, found));
        }
        drop((all, turn));
        Ok(())
    }
}

/// The running store's error for one of opening it again.
fn refused(error: OpenError) -> EngineError {
    match error {
        OpenError::Storage(StorageError::Full(what)) => EngineError::Full(what),
        error => EngineError::Damaged(format!("the store could not be opened again: {error}")),
    }
}
