//! What recovery says of damage: which part of the store, where, and what could be read of the records that are lost.
//!
//! A store is opened with one of two answers to damage. *Refuse* ends with the first finding and changes nothing. *Salvage*
//! goes on with everything else and collects the findings.

use std::fmt;

use crate::storage::{DatafileId, Part, Storage, StorageError};

/// Why a store does not open. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// A part of the store is damaged: bytes that were on the disk are gone or do not carry their checksum any more.
    #[error(transparent)]
    Damaged(Box<Damage>),
    /// The storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// What to do about damage when a store is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnDamage {
    /// The store does not open, and nothing is changed.
    #[default]
    Refuse,
    /// The store opens with everything that can be read; the rest is set aside and reported.
    Salvage,
}

/// One damaged part of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The part by its kind and number, and where an operator finds it.
    pub part: String,
    /// The number of the datafile, if it is about one.
    pub file: Option<u32>,
    /// Where the damage begins, in bytes; `None` for a part as a whole.
    pub offset: Option<u64>,
    /// How many bytes cannot be used, as far as that is known.
    pub len: Option<u64>,
    /// What does not fit.
    pub what: &'static str,
    /// The records that stood there, as far as their headers can be read.
    pub records: Vec<LostRecord>,
    /// Lost records of which only the header was looked at, because there are so many.
    pub unnamed_records: u64,
    /// How many bytes were lost with records that are not in the list, as far as that is known.
    pub unnamed_bytes: u64,
    /// How many whole frames stand behind it, if that is why it is damage and no torn end.
    pub frames_behind: u64,
}

/// A record without its checksum: what its header and key say, which may itself be damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostRecord {
    /// The type of the record.
    pub kind: LostKind,
    /// The number of the space (of a key) or of the collection (of a subkey).
    pub owner: u64,
    /// The key, or the subkey.
    pub key: Vec<u8>,
    /// The number of its frame.
    pub sequence: u64,
    /// When it was committed, unix time in milliseconds.
    pub time_ms: u64,
    /// The collection that a key's record names.
    pub collection: Option<u64>,
    /// Whether the key's value is in a blob.
    pub has_blob: bool,
}

/// What a lost record was about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostKind {
    /// The value of a key.
    Key,
    /// The removal of a key.
    KeyRemoval,
    /// The value of a subkey.
    Subkey,
    /// The removal of a subkey.
    SubkeyRemoval,
    /// Checksums of a part of a huge string, which has the checksum of the whole as well.
    Sums,
    /// Which spaces the databases show: FLUSHDB and SWAPDB.
    Databases,
}

impl std::error::Error for Damage {}

impl fmt::Display for Damage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.offset {
            Some(offset) => write!(out, "{} is damaged at offset {offset}: {}", self.part, self.what)?,
            None => write!(out, "{} {}", self.part, self.what)?,
        }
        match self.frames_behind {
            0 => Ok(()),
            frames => write!(out, " ({frames} whole frames)"),
        }
    }
}

impl Damage {
    fn of(part: String, what: &'static str) -> Damage {
        let records = Vec::new();
        let (unnamed_records, unnamed_bytes, frames_behind) = (0, 0, 0);
        Damage {
            part,
            file: None,
            offset: None,
            len: None,
            what,
            records,
            unnamed_records,
            unnamed_bytes,
            frames_behind,
        }
    }

    /// Where the damage begins and ends; None for a part as a whole.
    fn range(&self) -> Option<(u64, u64)> {
        let offset = self.offset?;
        Some((offset, offset.saturating_add(self.len.unwrap_or(0))))
    }

    /// Takes in another finding about the same place; false if it is about another one.
    fn absorb(&mut self, other: &Damage) -> bool {
        let (Some(here), Some(there)) = (self.range(), other.range()) else { return false };
        let is_same =
            self.file.is_some() && self.file == other.file && here.0 <= there.1 && there.0 <= here.1;
        let is_known = here.0 <= there.0 && there.1 <= here.1 && self.len.is_some();
        if is_same && self.records.is_empty() && there.0 <= here.0 && here.1 <= there.1 && other.len.is_some()
        {
            // The other one has looked at what this one only measures.
            (self.offset, self.len) = (other.offset, other.len);
            self.records.clone_from(&other.records);
            (self.unnamed_records, self.unnamed_bytes) = (other.unnamed_records, other.unnamed_bytes);
            self.frames_behind = self.frames_behind.max(other.frames_behind);
        } else if is_same && !is_known {
            let (from, to) = (here.0.min(there.0), here.1.max(there.1));
            self.offset = Some(from);
            self.len = (self.len.is_some() || other.len.is_some()).then_some(to - from);
            self.records.extend(other.records.iter().cloned());
            self.unnamed_records += other.unnamed_records;
            self.unnamed_bytes += other.unnamed_bytes;
            self.frames_behind = self.frames_behind.max(other.frames_behind);
        } else if is_same && self.records.is_empty() && self.unnamed_bytes > 0 {
            // The same of a part of it.
            self.records.clone_from(&other.records);
            self.unnamed_records += other.unnamed_records;
            let named = other.len.unwrap_or(0).saturating_sub(other.unnamed_bytes);
            self.unnamed_bytes = self.unnamed_bytes.saturating_sub(named);
        }
        is_same
    }

    /// Damage of a datafile, which reaches to its end as far as is known.
    pub(super) fn in_file(storage: &dyn Storage, file: u32, offset: u64, what: &'static str) -> Damage {
        let part = name_of_file(storage, file);
        Damage { file: Some(file), offset: Some(offset), ..Damage::of(part, what) }
    }

    /// Damage of a datafile as a whole.
    pub(super) fn of_file(storage: &dyn Storage, file: u32, what: &'static str) -> Damage {
        Damage { offset: None, ..Damage::in_file(storage, file, 0, what) }
    }

    /// Damage of the manifest.
    pub(super) fn of_manifest(storage: &dyn Storage, what: &'static str) -> Damage {
        let part = format!("the manifest ({})", storage.place(Part::Manifest));
        Damage::of(part, what)
    }
}

/// A datafile in messages: its number and its place.
pub(super) fn name_of_file(storage: &dyn Storage, file: u32) -> String {
    format!("datafile {file} ({})", storage.place(Part::Datafile(DatafileId(file))))
}

/// The findings of one recovery.
pub(super) struct Findings {
    on_damage: OnDamage,
    pub(super) damages: Vec<Damage>,
}

impl Findings {
    pub(super) fn new(on_damage: OnDamage) -> Findings {
        Findings { on_damage, damages: Vec::new() }
    }

    /// Whether the first finding ends the recovery.
    pub(super) fn refuses(&self) -> bool {
        self.on_damage == OnDamage::Refuse
    }

    /// Notes damage; an error where the store is not to be opened with it.
    pub(super) fn note(&mut self, damage: Damage) -> Result<(), OpenError> {
        match self.on_damage {
            OnDamage::Refuse => Err(OpenError::Damaged(Box::new(damage))),
            OnDamage::Salvage => {
                // The manifest and the records of a datafile may tell of the same damage.
                if !self.damages.iter_mut().any(|known| known.absorb(&damage)) {
                    self.damages.push(damage);
                }
                Ok(())
            }
        }
    }

    /// The datafiles that have to be written anew, or set aside, before the store goes on.
    pub(super) fn damaged_files(&self) -> impl Iterator<Item = u32> {
        self.damages.iter().filter_map(|damage| damage.file)
    }
}
