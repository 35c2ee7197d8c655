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
    /// Which spaces the databases show: FLUSHDB and SWAPDB.
    Databases,
}

impl std::error::Error for Damage {}

impl fmt::Display for Damage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.offset {
            Some(offset) => write!(out, "{} is damaged at offset {offset}: {}", self.part, self.what),
            None => write!(out, "{} {}", self.part, self.what),
        }
    }
}

impl Damage {
    /// Damage of a datafile, which reaches to its end as far as is known.
    pub(super) fn in_file(storage: &dyn Storage, file: u32, offset: u64, what: &'static str) -> Damage {
        let part = name_of_file(storage, file);
        Damage { part, file: Some(file), offset: Some(offset), len: None, what, records: Vec::new() }
    }

    /// Damage of a datafile as a whole.
    pub(super) fn of_file(storage: &dyn Storage, file: u32, what: &'static str) -> Damage {
        Damage { offset: None, ..Damage::in_file(storage, file, 0, what) }
    }

    /// Damage of the manifest.
    pub(super) fn of_manifest(storage: &dyn Storage, what: &'static str) -> Damage {
        let part = format!("the manifest ({})", storage.place(Part::Manifest));
        Damage { part, file: None, offset: None, len: None, what, records: Vec::new() }
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
                self.damages.push(damage);
                Ok(())
            }
        }
    }

    /// The datafiles that have to be written anew, or set aside, before the store goes on.
    pub(super) fn damaged_files(&self) -> impl Iterator<Item = u32> {
        self.damages.iter().filter_map(|damage| damage.file)
    }
}
