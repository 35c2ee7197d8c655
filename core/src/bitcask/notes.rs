//! Notes that recovery leaves beside a store for the next start.
//!
//! *Refused*: the store was found damaged, and no power had been lost since it was last open. What is damaged then stays
//! damaged: a later start of the machine must not turn it into a hole that the loss of power explains. So everything that was
//! there is synced, and the note says in which run of the machine the store was last open.
//!
//! *Salvage*: the store is being mended. The note names the successors, the datafiles that are set aside for them and all
//! losses, before the first successor is published. As long as the manifest does not list them the successors count for
//! nothing, and the damaged datafiles are the store; from then on it is the other way round. So a crash at any moment leaves a
//! store that is salvaged anew, or one that is whole and still says what was lost.
//!
//! *Unmended*: a salvage has ended, and the home has not mended yet what its losses mean for other keys. It is written before the
//! note of the salvage becomes a report, and the home removes it.
//!
//! ```text
//! EdgeCask refused 1                 EdgeCask salvage 1
//! boot 0123456789abcdef…             generation 17
//!                                    successors 9 10
//!                                    aside 2 5
//!
//!                                    the report, a line for each finding
//! crc32c 89abcdef                    crc32c 89abcdef
//! ```

use std::fmt::Write as _;

use super::manifest::Manifest;
use crate::storage::{BootId, Note, Storage, StorageError};

const REFUSED: &str = "EdgeCask refused 1\n";
const SALVAGE: &str = "EdgeCask salvage 1\n";
const UNMENDED: &str = "EdgeCask unmended 1\n";

/// Begins the last line, which holds the checksum of all bytes before it.
const CHECKSUM: &str = "crc32c ";

fn signed(mut text: String) -> Vec<u8> {
    let checksum = crc32c::crc32c(text.as_bytes());
    let _ = writeln!(text, "{CHECKSUM}{checksum:08x}");
    text.into_bytes()
}

/// The text of a note without its checksum; None if it does not carry that.
fn checked(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?.trim_end_matches('\0');
    let (body, checksum) = text.split_at(text.rfind(CHECKSUM)?);
    let expected = format!("{CHECKSUM}{:08x}\n", crc32c::crc32c(body.as_bytes()));
    (checksum == expected).then_some(body)
}

/// Notes that the store is damaged, unless the loss of power may explain it. Nothing depends on it but the judgement of a start
/// after the loss of power, so a failure is no loss of data and is left aside.
pub(super) fn note_damage(storage: &dyn Storage) {
    let _ = try_to_note_damage(storage);
}

fn try_to_note_damage(storage: &dyn Storage) -> Result<(), StorageError> {
    let manifest = storage.manifest()?.and_then(|bytes| Manifest::read(&bytes));
    let Some(boot) = manifest.and_then(|manifest| manifest.boot) else { return Ok(()) };
    if storage.boot_id() != Some(boot) || refused_in(storage)? == Some(boot) {
        return Ok(());
    }
    // From here on the loss of power takes nothing more.
    for id in storage.list()? {
        storage.open(id)?.sync()?;
    }
    for id in storage.list_blobs()? {
        storage.open_blob(id)?.sync()?;
    }
    let number = u128::from_be_bytes(boot.0);
    storage.put_note(Note::Refused, &signed(format!("{REFUSED}boot {number:032x}\n")))
}

/// The run of the machine in which the store was last open when it was found damaged.
pub(super) fn refused_in(storage: &dyn Storage) -> Result<Option<BootId>, StorageError> {
    let Some(bytes) = storage.note(Note::Refused)? else { return Ok(None) };
    let boot = checked(&bytes).and_then(|text| text.strip_prefix(REFUSED)?.trim().strip_prefix("boot "));
    Ok(boot.and_then(|boot| u128::from_str_radix(boot, 16).ok()).map(|boot| BootId(boot.to_be_bytes())))
}

/// Removes the note of a refusal, if there is one.
pub(super) fn forget_damage(storage: &dyn Storage) -> Result<(), StorageError> {
    match storage.note(Note::Refused)? {
        Some(_) => storage.remove_note(Note::Refused),
        None => Ok(()),
    }
}

/// Notes that a salvage has ended whose losses have yet to be mended.
pub(super) fn note_unmended(storage: &dyn Storage) -> Result<(), StorageError> {
    storage.put_note(Note::Unmended, &signed(UNMENDED.to_owned()))
}

/// The note of a salvage that has begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Salvage {
    /// The generation of the manifest that lists the successors.
    pub(super) generation: u64,
    pub(super) successors: Vec<u32>,
    /// Datafiles that are set aside once the manifest lists the successors.
    pub(super) aside: Vec<u32>,
    pub(super) report: String,
}

impl Salvage {
    fn to_bytes(&self) -> Vec<u8> {
        let ids = |ids: &[u32]| ids.iter().map(|id| format!(" {id}")).collect::<String>();
        let Salvage { generation, successors, aside, report } = self;
        let (successors, aside) = (ids(successors), ids(aside));
        signed(format!(
            "{SALVAGE}generation {generation}\nsuccessors{successors}\naside{aside}\n\n{}\n",
            report.trim_end()
        ))
    }

    fn parse(bytes: &[u8]) -> Option<Salvage> {
        let (head, report) = checked(bytes)?.strip_prefix(SALVAGE)?.split_once("\n\n")?;
        let mut lines = head.lines();
        let generation = lines.next()?.strip_prefix("generation ")?.parse().ok()?;
        let mut ids = |word: &str| -> Option<Vec<u32>> {
            lines.next()?.strip_prefix(word)?.split_whitespace().map(|id| id.parse().ok()).collect()
        };
        let (successors, aside) = (ids("successors")?, ids("aside")?);
        Some(Salvage { generation, successors, aside, report: report.trim_end().to_owned() })
    }

    /// Writes the note in place of the one before.
    pub(super) fn write(&self, storage: &dyn Storage) -> Result<(), StorageError> {
        storage.put_note(Note::Salvage, &self.to_bytes())
    }

    /// The note that is there. The text of one that does not carry its checksum is shown, and nothing of it is believed.
    pub(super) fn read(storage: &dyn Storage) -> Result<Found, StorageError> {
        let Some(bytes) = storage.note(Note::Salvage)? else { return Ok(Found::None) };
        Ok(Salvage::parse(&bytes)
            .map_or_else(|| Found::Damaged(String::from_utf8_lossy(&bytes).into_owned()), Found::Whole))
    }

    /// Whether a manifest has put the successors in the place of the damaged datafiles.
    pub(super) fn is_done(&self, manifest: Option<&Manifest>) -> bool {
        manifest.is_some_and(|manifest| {
            manifest.generation >= self.generation
                && self.successors.iter().all(|id| manifest.files.contains_key(id))
        })
    }
}

/// What is there of the note of a salvage.
pub(super) enum Found {
    None,
    Whole(Salvage),
    Damaged(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn note_reads_back_or_not_at_all() {
        let lines = "lost: a key\n\nlost: crc32c 00000000";
        let note =
            Salvage { generation: 17, successors: vec![9, 10], aside: vec![2], report: lines.to_owned() };
        let bytes = note.to_bytes();
        assert_eq!(Salvage::parse(&bytes), Some(note));
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 7);
            assert_eq!(Salvage::parse(&flipped), None, "flip at {at}");
            assert_eq!(Salvage::parse(&bytes[..at]), None, "cut to {at}");
        }
        let empty =
            Salvage { generation: 1, successors: vec![], aside: vec![], report: "the manifest".to_owned() };
        assert_eq!(Salvage::parse(&empty.to_bytes()), Some(empty));
    }
}
