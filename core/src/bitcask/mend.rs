//! Writing damaged datafiles anew, without what cannot be read.
//!
//! Each gets a successor that stands at its place in the order of replay and holds every whole record; it names the damaged
//! one as replaced, as the output of a merge does. The damaged file is then set aside under another name, and the manifest
//! lists the successor. What is missing or foreign leaves the manifest. A crash in between leaves a store that is salvaged
//! again.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::damage::{Damage, OpenError};
use super::files::{File, FileTable};
use super::hint;
use super::listing::seal_of;
use super::log::Counters;
use super::manifest::Manifest;
use super::merge::{append, write_alone};
use super::record::{FileHeader, MANIFEST_VERSION, RecordType, seal_record};
use super::salvage::{self, Step};
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

/// Replaces the damaged datafiles of a store; returns where they are from now on.
pub(super) fn mend(
    storage: &dyn Storage,
    recovered: Unmended<'_>,
    damages: &[Damage],
) -> Result<Vec<String>, OpenError> {
    let Unmended { table, foreign, counters, mut manifest } = recovered;
    let damaged: BTreeSet<u32> = damages.iter().filter_map(|damage| damage.file).collect();
    let mut set_aside = Vec::new();
    for file in damaged.iter().filter_map(|id| table.get(id)) {
        let header = FileHeader {
            version: MANIFEST_VERSION,
            id: manifest.next_file,
            next_sequence: counters.next_sequence,
            next_number: counters.next_number,
            replaces: vec![file.id()],
            ..file.header.clone()
        };
        let seal = write_successor(storage, file, header.clone())?;
        hint::forget(storage.meta(), file.id())?;
        set_aside.push(storage.set_aside(DatafileId(file.id()))?);
        manifest.replace(&header, seal);
        manifest.dropped.retain(|id| *id != file.id());
    }
    for id in foreign {
        hint::forget(storage.meta(), *id)?;
        set_aside.push(storage.set_aside(DatafileId(*id))?);
    }
    manifest.files.retain(|id, _| !foreign.contains(id));
    write(storage, manifest)?;
    Ok(set_aside)
}

fn write(storage: &dyn Storage, mut manifest: Manifest) -> Result<(), StorageError> {
    manifest.generation += 1;
    storage.put_manifest(&manifest.to_bytes())
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
