//! What happens when a datafile is full: it is sealed, and appends go on in the next one.
//!
//! No append waits for the disk then, as long as a host calls [`Log::prepare`] in time:
//!
//! 1. Once the active datafile is half full, or has some length and is mostly dead, the next one is created and listed, with its
//!    header only.
//! 2. When the active one is full, or is to be merged, its seal is appended, without a sync, and appends go on in the next one.
//!    The log counts as synced up to a position in the old one at most.
//! 3. The next sync makes the old datafile durable with its seal, then the new one. Then the manifest says so.
//!
//! So up to two datafiles may end anyhow after the loss of power; [`super::super::successor`] says which of them counts. Where
//! the next datafile is not there in time, or the one before is not synced yet, the append does all of that in order.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use parking_lot::MutexGuard;

use super::{Active, Log, Sealing, Writer, never_again};
use crate::bitcask::fault_injection::{Fault, is_injected};
use crate::bitcask::files::File;
use crate::bitcask::record::{FileHeader, MANIFEST_VERSION, SYNCED_RECORD_BYTES};
use crate::engine::{EngineError, Result};
use crate::storage::{DatafileId, StorageError};

/// A datafile that is begun ahead gets a base sequence so far beyond the present one: what is still appended before it has
/// smaller sequences, refused commits included.
const SEQUENCES_AHEAD: u64 = 1 << 32;

/// So much must be dead in the active datafile before it is sealed for merge's sake: a new datafile costs syncs.
const SEALED_EARLY_LEAST_BYTES: u64 = 16 * 1024;

/// A datafile that is mostly dead is sealed once it has reached this part of its largest length and the next one is begun
/// ahead. Merge writes the less the longer it waits.
const STALE_PART: u64 = 4;

/// Whether there is no room, or no descriptor, at the moment.
fn is_short(error: &StorageError) -> bool {
    matches!(error, StorageError::Full(_) | StorageError::Exhausted(_))
}

impl Log {
    /// Seals the active datafile, unless it is empty, begins the next one, and syncs.
    pub(in crate::bitcask) fn seal_active(&self) -> Result<()> {
        {
            let mut writer = self.writer.lock();
            if let Some(reason) = &writer.poison {
                return Err(EngineError::ReadOnly(reason.clone()));
            }
            match &writer.active {
                Some(active) if active.len > active.file.header_len => self.rotate(&mut writer, 0)?,
                _ => return Ok(()),
            }
        }
        self.sync_now(&self.turn_to_sync()).map(drop)
    }

    /// Seals the active datafile where merge needs it: the device is nearly full, and a good part of the file is dead. True
    /// if it did.
    pub(in crate::bitcask) fn seal_for_room(&self, now_ms: u64) -> Result<bool> {
        {
            let mut writer = self.writer.lock();
            if let Some(reason) = &writer.poison {
                return Err(EngineError::ReadOnly(reason.clone()));
            }
            let is_worth_it = |active: &Active| {
                let dead = active.file.dead().saturating_sub(2 * SYNCED_RECORD_BYTES);
                dead > (active.len / 4).max(SEALED_EARLY_LEAST_BYTES)
            };
            if !writer.active.as_ref().is_some_and(is_worth_it) {
                return Ok(false);
            }
            self.rotate(&mut writer, now_ms)?;
        }
        self.sync_now(&self.turn_to_sync()).map(|_| true)
    }

    /// Whether a call of [`Log::prepare`] has something to do.
    pub(in crate::bitcask) fn wants_preparation(&self) -> bool {
        self.wants_preparation.load(Ordering::Acquire)
    }

    /// Does what appends would wait for if it was left to them: syncs a datafile that was sealed, and begins the one that comes
    /// after the active one once that is half full. A full device is no error: it is tried again later.
    pub(in crate::bitcask) fn prepare(&self) -> Result<()> {
        let _turn = self.turn_to_prepare();
        self.wants_preparation.store(false, Ordering::Release);
        let (is_sealing, wants_next) = {
            let writer = self.writer.lock();
            if let Some(reason) = &writer.poison {
                return Err(EngineError::ReadOnly(reason.clone()));
            }
            let wants_next =
                |active: &Active| self.wants_next(active) && active.file.header.version == MANIFEST_VERSION;
            let wants_next = writer.next.is_none() && writer.active.as_ref().is_some_and(wants_next);
            (writer.sealing.is_some(), wants_next)
        };
        if is_sealing {
            self.sync_now(&self.turn_to_sync())?;
        }
        if !wants_next {
            // A later start need not find out whether the sealed one is whole. With the next datafile it is written down anyway.
            return match self.manifest.write_seals() {
                Err(error) if !is_short(&error) => Err(self.poison(error)),
                _ => Ok(()),
            };
        }
        let header = self.header(self.sequence_bound().saturating_add(SEQUENCES_AHEAD), 0, Vec::new())?;
        let begun = match self.begin_datafile(header) {
            Ok(begun) => begun,
            Err(error) if is_short(&error) => return Ok(()),
            Err(error) => return Err(self.poison(error)),
        };
        let mut writer = self.writer.lock();
        // The numbers of datafiles that are appended to grow with time.
        if writer.active.as_ref().is_some_and(|active| active.file.id() < begun.id()) {
            writer.next = Some(begun);
            return Ok(());
        }
        drop(writer);
        self.discard(&begun);
        Ok(())
    }

    /// Waits for a call of [`Log::prepare`] that is under way, and keeps others from beginning.
    pub(in crate::bitcask) fn turn_to_prepare(&self) -> MutexGuard<'_, ()> {
        self.preparing.lock()
    }

    /// Takes back what was prepared, so that the store has nothing that older builds do not know.
    pub(in crate::bitcask) fn end_preparation(&self) -> Result<()> {
        let _turn = self.turn_to_prepare();
        self.sync_now(&self.turn_to_sync())?;
        let next = self.writer.lock().next.take();
        next.into_iter().for_each(|next| self.discard(&next));
        Ok(())
    }

    /// Whether the active datafile is sealed soon, so that the next one is begun ahead.
    pub(super) fn wants_next(&self, active: &Active) -> bool {
        let is_stale = active.len >= self.stale_bytes() && active.is_mostly_dead();
        active.len >= self.datafile_max_bytes() / 2 || is_stale
    }

    /// Length from which on an active datafile that is mostly dead is sealed early, so that merge can have it.
    pub(super) fn stale_bytes(&self) -> u64 {
        self.datafile_max_bytes() / STALE_PART
    }

    /// Takes a datafile with nothing but its header out of the store. Where that fails the next process does it.
    fn discard(&self, begun: &File) {
        if self.manifest.drop_file(begun.id()).is_ok() && self.storage.remove(DatafileId(begun.id())).is_ok()
        {
            self.manifest.note_removed(begun.id());
        }
    }

    /// Creates a datafile and lists it.
    fn begin_datafile(&self, header: FileHeader) -> std::result::Result<Arc<File>, StorageError> {
        let bytes = header.to_bytes();
        let id = DatafileId(header.id);
        let created = self.storage.create(id, &bytes);
        if let Err(error) = &created {
            self.give_back_number(header.id, error);
        }
        let datafile = created?;
        // One that is not listed stays empty, and the next process removes it as well.
        self.manifest.list(&header).inspect_err(|_| drop(self.storage.remove(id)))?;
        Ok(Arc::new(File::new(header, datafile, bytes.len() as u64)))
    }

    /// Seals the active datafile and goes on in the next one. If that was begun ahead, nothing waits for the disk: the seal is
    /// synced later, and the position up to which the log is synced stays before it until then.
    pub(super) fn rotate(&self, writer: &mut Writer, now_ms: u64) -> Result<()> {
        self.look_at_room();
        let is_late = |next: &mut Arc<File>| self.sequence_bound() >= next.header.base_sequence;
        if let Some(late) = writer.next.take_if(is_late) {
            self.discard(&late);
        }
        match writer.next.take_if(|_| writer.sealing.is_none()) {
            Some(next) => self.switch(writer, next, now_ms),
            None => self.rotate_in_order(writer, now_ms),
        }
    }

    /// Seals the active datafile, syncs it, and only then goes on.
    fn rotate_in_order(&self, writer: &mut Writer, now_ms: u64) -> Result<()> {
        self.sync_blobs(&std::mem::take(&mut writer.blobs), self.appended())
            .map_err(|error| writer.fail(error))?;
        if let Some(sealing) = writer.sealing.take() {
            self.finish(&sealing).map_err(|error| writer.fail(error))?;
        }
        if let Some(active) = writer.active.as_mut() {
            match active.seal(self.next_sequence(), now_ms) {
                Ok(seal) => self.manifest.note_sealed(active.file.id(), seal),
                Err(error) => return Err(writer.fail(error)),
            }
            self.synced.fetch_max(self.appended(), Ordering::AcqRel);
            writer.active = None;
        }
        let file = match writer.next.take() {
            Some(next) => next,
            None => {
                let header = self.header(self.next_sequence(), 0, Vec::new())?;
                self.begin_datafile(header).map_err(|error| writer.fail(error))?
            }
        };
        self.go_on_in(writer, file);
        Ok(())
    }

    /// Seals the active datafile without a sync, and goes on in one that was begun ahead.
    fn switch(&self, writer: &mut Writer, next: Arc<File>, now_ms: u64) -> Result<()> {
        if let Some(active) = writer.active.as_mut() {
            let checksum = match active.append_seal(self.next_sequence(), now_ms) {
                Ok(checksum) => checksum,
                Err(error) => {
                    writer.next = Some(next);
                    return Err(writer.fail(error));
                }
            };
            let Active { file, len, synced_len, .. } = active;
            let (file, len, synced_len) = (file.clone(), *len, *synced_len);
            writer.sealing = Some(Arc::new(Sealing { file, len, synced_len, checksum }));
            self.wants_preparation.store(true, Ordering::Release);
        }
        self.go_on_in(writer, next);
        Ok(())
    }

    fn go_on_in(&self, writer: &mut Writer, file: Arc<File>) {
        self.next_sequence.fetch_max(file.header.base_sequence.saturating_add(1), Ordering::Relaxed);
        self.add_file(file.clone());
        let len = file.len();
        let prepares_at = self.stale_bytes();
        writer.active = Some(Active { file, len, synced_len: len, marked_len: len, prepares_at });
    }

    /// Makes a sealed datafile durable. The blobs of its frames must be. May be done twice.
    pub(super) fn finish(&self, sealing: &Sealing) -> std::result::Result<(), StorageError> {
        if !is_injected(Fault::SealUnsynced) {
            sealing.file.datafile.cut(sealing.len).map_err(never_again)?;
        }
        sealing.file.is_sealed.store(true, Ordering::Release);
        self.manifest.note_sealed(sealing.file.id(), (sealing.len, sealing.checksum));
        Ok(())
    }
}
