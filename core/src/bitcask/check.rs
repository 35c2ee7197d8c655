//! Reading everything that a storage holds, without changing anything: every record, every blob, every hint.

use super::damage::{Damage, Findings, OnDamage, OpenError};
use super::file_replay::{TornTail, Trust};
use super::hint::{self, Loaded};
use super::keydir::CATALOG_SPACE;
use super::losses::{self, DamagedBlob, Loss};
use super::pages;
use super::recovery::{New, Recovered, recover};
use super::replay::Replay;
use crate::engine::Db;
use crate::storage::Storage;

/// What [`check`] found.
pub struct Checked {
    /// Damaged parts of the store.
    pub damages: Vec<Damage>,
    /// What the damage took from which keys.
    pub losses: Vec<Loss>,
    /// Keys whose blobs are missing, short or do not carry their checksum.
    pub damaged_blobs: Vec<DamagedBlob>,
    /// What the next start will cut off the end of the log.
    pub torn_tail: Option<TornTail>,
    /// What it will cut off with a whole datafile behind that end.
    pub cut_datafile: Option<TornTail>,
    /// The numbers of datafiles whose hints do not fit; the next start does without.
    pub rejected_hints: Vec<u32>,
    /// How many datafiles there are.
    pub datafiles: u64,
    /// How many records were read.
    pub records: u64,
    /// How many blobs keys refer to, damaged ones included.
    pub blobs: u64,
}

impl Checked {
    /// Whether nothing is damaged, and the next start cuts no whole frames. Neither the end of an unfinished write nor a hint
    /// that does not fit is damage.
    pub fn is_sound(&self) -> bool {
        let cuts_frames = |torn: &Option<TornTail>| torn.as_ref().is_some_and(|torn| torn.whole_frames > 0);
        let cuts_frames = cuts_frames(&self.torn_tail) || cuts_frames(&self.cut_datafile);
        self.damages.is_empty() && self.damaged_blobs.is_empty() && !cuts_frames
    }
}

/// Reads a whole store. `databases` is how many logical databases it has. Fails if the storage does.
pub fn check(storage: &dyn Storage, databases: Db) -> Result<Checked, OpenError> {
    let mut findings = Findings::new(OnDamage::Salvage);
    let databases = databases.min(CATALOG_SPACE as Db);
    let recovered = recover(storage, New { seed: 0, access: 0 }, databases, Trust::Log, &mut findings)?;
    let Recovered { table, replayed, found, mut damaged_blobs, void, .. } = recovered;
    let damages = findings.damages;
    let losses = losses::of(&table, &replayed, &damages)?;
    let (count, unsummed) = pages::judge_all(storage, &table, &replayed, &mut damaged_blobs)?;
    damaged_blobs.extend(unsummed);
    let mut rejected_hints = Vec::new();
    for file in table.values() {
        // Hints are applied to nothing that is used.
        if let Loaded::Rejected(_) = hint::load(storage, file, &mut Replay::new(recovered.seed, 0))? {
            rejected_hints.push(file.id());
        }
    }
    Ok(Checked {
        damages,
        losses,
        damaged_blobs,
        torn_tail: found.torn_tail,
        cut_datafile: void.and_then(|(_, cut)| cut),
        rejected_hints,
        datafiles: table.len() as u64,
        records: found.replayed_records,
        blobs: count,
    })
}
