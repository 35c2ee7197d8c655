//! Writing damaged datafiles anew, without what cannot be read.
//!
//! Each gets a successor that stands at its place in the order of replay and holds every whole record; it names the damaged
//! one as replaced, as the output of a merge does. What is missing or foreign leaves the manifest. In this order:
//!
//! 1. A note ([`super::notes`]) with everything that is lost is on the disk. It makes the successors count for nothing.
//! 2. The successors are published.
//! 3. One manifest lists all of them in place of the damaged datafiles, which are dropped.
//! 4. Recovery goes on as at any start ([`super::recovery`]), and because of the note it sets the dropped ones aside under
//!    other names instead of removing them. The note stays as a report.
//!
//! A crash before 3 leaves the damaged store as it was, a crash after it a whole one that still says what was lost.

use std::sync::Arc;

use super::damage::{Damage, OpenError};
use super::fault_injection::{Fault, is_injected};
use super::files::{File, FileTable};
use super::listing::seal_of;
use super::log::Counters;
use super::manifest::Manifest;
use super::merge::{append, write_alone};
use super::notes;
use super::record::{FileHeader, MANIFEST_VERSION, RecordType, seal_record};
use super::salvage::{self, Step};
use crate::sorted;
use crate::storage::{DatafileId, Storage, StorageError};

/// A successor is written in pieces of about this many bytes.
const PIECE_BYTES: usize = 256 * 1024;

/// What a recovery found in a store with damage.
pub(super) struct Unmended<'r> {
    pub(super) table: &'r FileTable,
    /// Datafiles that are not this store's, or cannot be read at all.
    pub(super) foreign: &'r [u32],
    pub(super) counters: Counters,
    /// The manifest as it would be without the damage.
    pub(super) manifest: Manifest,
}

/// Replaces the damaged datafiles of a store. `report` says in words what is lost.
pub(super) fn mend(
    storage: &dyn Storage,
    unmended: Unmended<'_>,
    damages: &[Damage],
    report: String,
) -> Result<(), OpenError> {
    let Unmended { table, foreign, counters, mut manifest } = unmended;
    let damaged = sorted::set(damages.iter().filter_map(|damage| damage.file));
    let damaged: Vec<&Arc<File>> = damaged.iter().filter_map(|id| table.get(id)).collect();
    let successors: Vec<u32> = (manifest.next_file..).take(damaged.len()).collect();
    manifest.generation += 1;
    let note = notes::Salvage {
        generation: manifest.generation,
        successors: successors.clone(),
        aside: damaged.iter().map(|file| file.id()).chain(foreign.iter().copied()).collect(),
        report,
    };
    if !is_injected(Fault::SuccessorBeforeNote) {
        note.write(storage)?;
    }
    for (file, id) in damaged.into_iter().zip(&successors) {
        let header = FileHeader {
            version: MANIFEST_VERSION,
            id: *id,
            next_sequence: counters.next_sequence,
            next_number: counters.next_number,
            replaces: vec![file.id()],
            ..file.header.clone()
        };
        match write_successor(storage, file, header.clone()) {
            Ok(seal) => manifest.replace(&header, seal),
            Err(error) => {
                discard(storage, &successors);
                return Err(error.into());
            }
        }
    }
    manifest.files.retain(|id, _| !foreign.contains(id));
    manifest.dropped.extend_from_slice(foreign);
    let listed = storage.put_manifest(&manifest.to_bytes());
    if matches!(listed, Err(StorageError::Full(_) | StorageError::Exhausted(_))) {
        discard(storage, &successors);
    }
    Ok(listed?)
}

/// Removes successors that are not going to be listed, as far as possible; the next start finds the rest.
fn discard(storage: &dyn Storage, successors: &[u32]) {
    for id in successors {
        let _ = storage.remove(DatafileId(*id));
    }
}

/// Writes every whole record of a datafile to a new one; returns the new one's length and last checksum.
fn write_successor(
    storage: &dyn Storage,
    damaged: &Arc<File>,
    header: FileHeader,
) -> Result<(u64, u32), StorageError> {
    let bytes = header.to_bytes();
    let id = DatafileId(header.id);
    let datafile = storage.create_hidden(id, &bytes)?;
    let base_sequence = header.base_sequence;
    let output = File::new(header, datafile, bytes.len() as u64);
    let (mut piece, mut outcome) = (Vec::new(), Ok(()));
    salvage::walk(damaged, damaged.header_len, damaged.len(), base_sequence, &mut |step| {
        let Step::Record(_, record) = step else { return };
        if record.header.record_type == RecordType::Synced || outcome.is_err() {
            return;
        }
        write_alone(record, output.salt, &mut piece);
        if piece.len() >= PIECE_BYTES {
            outcome = append(&output, &mut piece);
        }
    })?;
    outcome?;
    let is_first = damaged.header.replaces.is_empty();
    let is_flipped = is_injected(Fault::SuccessorFlipped) && is_first;
    if let Some(byte) = piece.last_mut().filter(|_| is_flipped || is_injected(Fault::EverySuccessorFlipped)) {
        *byte ^= 1;
    }
    piece.extend_from_slice(&seal_record(
        &output.header,
        output.len() + piece.len() as u64,
        base_sequence,
        0,
    ));
    append(&output, &mut piece)?;
    output.datafile.cut(output.len())?;
    storage.publish(id)?;
    Ok(seal_of(&output, output.len())?.unwrap_or_default())
}
