//! Whether the checksums of a blob's pieces are there, by which every read goes, and those of a salvaged store made anew.
//!
//! They are subkeys of the key with the blob ([`crate::engine`]), so damage may take them and leave the blob, and the root
//! with the checksum of the whole. Then nothing of the value is lost.

use super::Bitcask;
use super::damage::{Damage, LostKind};
use super::files::FileTable;
use super::keydir::SubEntry;
use super::losses::{self, DamagedBlob};
use super::replay::Replayed;
use crate::engine::{BlobRef, Db, Engine, Overlay, Result, Scope, Txn, fit_pages, is_page, sums_of_blob};
use crate::storage::{Storage, StorageError};

/// What a blob is to the readers of its key.
enum Judged {
    Whole,
    /// It is whole, and reads fail for want of checksums of its pieces.
    LacksSums,
    Damaged,
}

/// Reads a blob and compares it with what its root and the pages of the root's collection say.
fn judge(
    storage: &dyn Storage,
    replayed: &Replayed,
    (blob, collection): (BlobRef, Option<u64>),
) -> std::result::Result<Judged, StorageError> {
    let file = match storage.open_blob(blob.id) {
        Err(StorageError::Missing(_)) => return Ok(Judged::Damaged),
        opened => opened?,
    };
    if file.len()? < blob.len {
        return Ok(Judged::Damaged);
    }
    let all = sums_of_blob(&*file, blob).map_err(|error| StorageError::Io(error.to_string()))?;
    let Some(all) = all else { return Ok(Judged::Damaged) };
    let tree = collection.and_then(|collection| {
        replayed.shards.get(usize::from(*replayed.owners.get(&collection)?))?.collections.get(&collection)
    });
    // Pages are short enough for the keydir.
    let page = |subkey: &[u8]| SubEntry::read(tree?.get(subkey)?).map(|(_, value)| value.unwrap_or_default());
    let is_right = !blob.has_sums || fit_pages(&all, blob.len, &page);
    Ok(if is_right { Judged::Whole } else { Judged::LacksSums })
}

/// Judges the blobs of all keys but those that are known to be damaged, and notes more of these. Returns how many blobs roots refer
/// to, and those that are not read for want of checksums.
pub(super) fn judge_all(
    storage: &dyn Storage,
    table: &FileTable,
    replayed: &Replayed,
    damaged: &mut Vec<DamagedBlob>,
) -> std::result::Result<(u64, Vec<DamagedBlob>), StorageError> {
    let mut blobs = Vec::new();
    losses::each_root(replayed, table, &|entry| entry.blob.is_some(), &mut |space, key, entry| {
        blobs.extend(entry.blob.map(|blob| (space, key.map(<[u8]>::to_vec), blob, entry.collection)));
    });
    let count = blobs.len() as u64;
    blobs.retain(|(_, _, blob, _)| damaged.iter().all(|damaged| damaged.id != blob.id));
    let mut unsummed = Vec::new();
    for (space, key, blob, collection) in blobs {
        let db = losses::db_of(replayed, space);
        match judge(storage, replayed, (blob, collection))? {
            Judged::Whole => {}
            Judged::LacksSums => unsummed.push(DamagedBlob::without_sums(storage, blob.id, db, key)),
            Judged::Damaged => damaged.push(DamagedBlob::new(storage, blob.id, db, key)),
        }
    }
    Ok((count, unsummed))
}

/// Whether there may have been checksums of pieces among what damage took.
pub(super) fn may_be_lost(damages: &[Damage]) -> bool {
    damages.iter().filter(|damage| damage.file.is_some()).any(|damage| {
        let is_unnamed = damage.offset.is_none() || damage.unnamed_bytes > 0 || damage.unnamed_records > 0;
        is_unnamed
            || damage.records.iter().any(|record| record.kind == LostKind::Subkey && is_page(&record.key))
    })
}

/// Makes the checksums of a key's blob anew. The records have no time, since nothing was said by a client.
pub(super) fn renew(store: &Bitcask, db: Db, key: &[u8]) -> Result<()> {
    let mut snapshot = store.begin(Scope::Keys(&[key]))?;
    let mut overlay = Overlay::new();
    Txn::new(&mut snapshot, &mut overlay, 0).renew_sums(db, key)?;
    store.commit(snapshot, &mut overlay, 0, &mut |_| {}).map(drop)
}
