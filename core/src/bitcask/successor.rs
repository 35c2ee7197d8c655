//! Which of two datafiles the log ends in, where the last one was begun before the one before it was sealed for sure.
//!
//! Call them the *previous* one and the *successor*; the manifest lists both without a seal. Frames go to the successor once
//! the previous one has its seal, and that is synced first ([`super::log`]). So after the process was killed the previous one is
//! whole, or the successor has nothing but its header. After the loss of power anything may be missing of both, until something
//! says that a part of the successor's frames was on the disk:
//!
//! - If the previous one is whole and ends with its seal, the log goes on in the successor, which may have a torn tail.
//! - Otherwise the log ends in the previous one, and the successor is *void*: what it has comes after what is missing.

use std::sync::Arc;

use super::damage::OpenError;
use super::file_replay::{TornTail, Trust};
use super::files::File;
use super::hint;
use super::manifest::Manifest;
use super::salvage;
use super::scan::{self, End};
use crate::storage::{Storage, StorageError};

/// Where the log ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// In the last datafile; all before it were synced.
    Usual,
    /// In the last datafile. The one before it ends here, with a seal that may not be synced.
    Behind(u64),
    /// In the last datafile but one. What the last one has, if anything, is cut off.
    Before(Option<TornTail>),
}

/// Facts that the judgement needs.
pub(super) struct Evidence<'e> {
    pub(super) storage: &'e dyn Storage,
    pub(super) manifest: Option<&'e Manifest>,
    pub(super) trust: Trust,
    /// So much of the last datafile others say was on the disk.
    pub(super) synced_len: u64,
    pub(super) may_have_lost_power: bool,
    /// Whether whole frames that come after missing ones are to be kept, as damage is.
    pub(super) keeps_all: bool,
}

impl Evidence<'_> {
    /// Judges the end of these datafiles, which stand in the order of replay.
    pub(super) fn judge(&self, files: &[Arc<File>]) -> Result<Ending, OpenError> {
        let [.., previous, successor] = files else { return Ok(Ending::Usual) };
        let is_open = |file: &File| {
            let listed = self.manifest.and_then(|manifest| manifest.files.get(&file.id()));
            !file.header.is_output() && listed.is_some_and(|listed| listed.is_open())
        };
        if !is_open(previous) || !is_open(successor) || self.was_synced(successor)? {
            return Ok(Ending::Usual);
        }
        if let Some(end) = whole_until(previous)? {
            return Ok(Ending::Behind(end));
        }
        let Some(cut) = contents(successor)? else { return Ok(Ending::Before(None)) };
        let is_explained = self.may_have_lost_power && (cut.whole_frames == 0 || !self.keeps_all);
        Ok(if is_explained { Ending::Before(Some(cut)) } else { Ending::Usual })
    }

    /// Whether anything says that more of a datafile than its header was on the disk.
    fn was_synced(&self, file: &Arc<File>) -> Result<bool, StorageError> {
        if matches!(self.trust, Trust::Records(_)) {
            // This process says what is appended to.
            return Ok(self.synced_len > file.header_len);
        }
        let hinted = hint::covered_once(self.storage.meta(), file);
        let end = file.datafile.len()?;
        Ok(self.synced_len.max(hinted) > file.header_len
            || scan::was_synced(file, file.header_len, end, true)?)
    }
}

/// Where a datafile ends that is whole and has its seal.
fn whole_until(file: &Arc<File>) -> Result<Option<u64>, StorageError> {
    let end_of_content = salvage::end_of_content(file, file.header_len, file.datafile.len()?)?;
    let Some(end) = scan::end_of_seal(file, end_of_content)? else { return Ok(None) };
    let walked = scan::frames(file, file.header_len, end, &mut |_, _| {})?;
    Ok((walked == End::Clean).then_some(end))
}

/// What a void datafile has behind its header, if it has anything.
pub(super) fn contents(file: &Arc<File>) -> Result<Option<TornTail>, StorageError> {
    let (offset, len) = (file.header_len, file.datafile.len()?);
    let end = salvage::end_of_content(file, offset, len)?;
    let mut whole_frames = 0;
    let walked = scan::frames(file, offset, end, &mut |_, record| {
        whole_frames += u64::from(record.header.is_last);
    })?;
    if let End::Broken(broken) = walked {
        whole_frames += salvage::whole_frames_behind(file, broken, end, file.header.first_sequence())?.frames;
    }
    let torn = TornTail { file: file.id(), offset, bytes: end - offset, whole_frames, set_aside: None };
    Ok((end > offset).then_some(torn))
}
