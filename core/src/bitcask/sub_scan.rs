//! A walk over the subkeys of a collection that shows their values.
//!
//! Values that the keydir does not hold are read from the datafiles. Elements that were written one after the other lie
//! there side by side, so a walk reads such neighbours at once: the datafile is looked up and entered once for all of
//! them. Every record is compared with its own checksum, and its key with the subkey, before its value is shown.

use std::ops::ControlFlow;
use std::sync::Arc;

use smallvec::SmallVec;

use super::Bitcask;
use super::damage::name_of_file;
use super::files::{File, FileTable};
use super::keydir::SubEntry;
use super::record::{Salt, carries_checksum};
use crate::engine::{EngineError, Result, SubVisitor, Want};
use crate::packed::tree::{KeyBuffer, SplitKey};

/// Most records read at once. Twice as many are hardly faster.
const RUN_RECORDS: usize = 64;

/// Most bytes read at once, as long as it is more than one record. The gateway shows so many where they are, without a
/// copy.
const RUN_BYTES: u64 = 64 * 1024;

/// Records with at most so many bytes between them are neighbours: to skip them costs less than to read again where a
/// read is a copy.
const GAP_BYTES: u64 = 256;

/// One walk over the subkeys of a collection.
pub(super) struct SubScan<'s> {
    pub(super) store: &'s Bitcask,
    pub(super) files: &'s mut Arc<FileTable>,
    pub(super) collection: u64,
    pub(super) want: Want,
    /// How many subkeys the caller expects to see.
    pub(super) expect: u64,
}

/// A record to be read.
struct Wanted<'t> {
    subkey: SplitKey<'t>,
    entry: SubEntry,
    len: u32,
}

/// Neighbouring records of one datafile, in the order of the walk.
#[derive(Default)]
struct Run<'t> {
    file: u32,
    /// Where the first byte of all of them lies, and the first behind them.
    start: u64,
    end: u64,
    records: SmallVec<[Wanted<'t>; RUN_RECORDS]>,
}

impl<'t> Run<'t> {
    /// Takes a record as well if it is a neighbour, as it is of none; false if it is not.
    fn add(&mut self, subkey: SplitKey<'t>, entry: SubEntry, len: u64) -> bool {
        let start = u64::from(entry.location.offset);
        let end = start + len;
        if self.records.is_empty() {
            (self.file, self.start, self.end) = (entry.location.file, start, end);
        } else {
            let is_near = start <= self.end + GAP_BYTES && self.start <= end + GAP_BYTES;
            let (start, end) = (start.min(self.start), end.max(self.end));
            if !is_near || end - start > RUN_BYTES || entry.location.file != self.file {
                return false;
            }
            (self.start, self.end) = (start, end);
        }
        // Datafiles are shorter than 4 GiB, and so is a record.
        self.records.push(Wanted { subkey, entry, len: len as u32 });
        true
    }
}

impl Wanted<'_> {
    fn offset(&self) -> u64 {
        u64::from(self.entry.location.offset)
    }

    /// Subkey and value of the record, if its bytes carry their checksum and are about this subkey. `bytes` are shown from
    /// `start` of the datafile on.
    fn parts<'b>(&self, (bytes, start): (&'b [u8], u64), salt: Salt) -> Option<(&'b [u8], &'b [u8])> {
        let at = usize::try_from(self.offset().checked_sub(start)?).ok()?;
        let record = bytes.get(at..at.checked_add(self.len as usize)?)?;
        let value_start = record.len().checked_sub(self.entry.value_len as usize)?;
        let (before, value) = record.split_at_checked(value_start)?;
        let subkey = before.get(before.len().checked_sub(self.subkey.byte_count())?..)?;
        (carries_checksum(record, salt) && self.subkey.is_end_of(subkey)).then_some((subkey, value))
    }
}

impl SubScan<'_> {
    /// Shows the entries until the visitor breaks or none is left.
    pub(super) fn walk<'t>(
        &mut self,
        entries: impl Iterator<Item = (SplitKey<'t>, &'t [u8])>,
        visit: SubVisitor<'_>,
    ) -> Result<()> {
        let mut buffer = KeyBuffer::default();
        if self.want == Want::Subkeys {
            for (subkey, _) in entries {
                if visit(buffer.join(subkey), &[]).is_break() {
                    break;
                }
            }
            return Ok(());
        }
        let mut run = Run::default();
        let mut seen: u64 = 0;
        for (subkey, bytes) in entries {
            seen += 1;
            let damaged = || EngineError::Damaged("an entry of the keydir".into());
            let (entry, inline) = SubEntry::read(bytes).ok_or_else(damaged)?;
            if let Some(value) = inline {
                let subkey = if self.want == Want::Values { buffer.join(subkey) } else { &[] };
                if self.show(&mut run, visit)?.is_break() || visit(subkey, value).is_break() {
                    return Ok(());
                }
                continue;
            }
            let len = entry.record_len(self.collection, subkey.byte_count() as u64);
            if !run.add(subkey, entry, len) {
                if self.show(&mut run, visit)?.is_break() {
                    return Ok(());
                }
                run.add(subkey, entry, len);
            }
            let is_full = run.records.len() == RUN_RECORDS || seen >= self.expect;
            if is_full && self.show(&mut run, visit)?.is_break() {
                return Ok(());
            }
        }
        self.show(&mut run, visit).map(drop)
    }

    /// Shows the values of a run, which is empty then.
    #[inline]
    fn show(&mut self, run: &mut Run<'_>, visit: SubVisitor<'_>) -> Result<ControlFlow<()>> {
        if run.records.is_empty() {
            return Ok(ControlFlow::Continue(()));
        }
        let flow = self.read(run, visit);
        run.records.clear();
        flow
    }

    #[inline(never)]
    fn read(&mut self, run: &Run<'_>, visit: SubVisitor<'_>) -> Result<ControlFlow<()>> {
        let file = known_file(self.store, self.files, run.file);
        let Some(file) = file.cloned() else {
            return Err(self.damaged(run.file, run.start, "the file is missing"));
        };
        let (mut flow, mut shown) = (ControlFlow::Continue(()), 0);
        // Shows records from the first that was not shown on, and says whether there is something left to do.
        let mut show = |bytes: &[u8], start: u64, until: usize| {
            for wanted in run.records.iter().take(until).skip(shown) {
                let Some((subkey, value)) = wanted.parts((bytes, start), file.salt) else { break };
                shown += 1;
                flow = visit(subkey, value);
                if flow.is_break() {
                    break;
                }
            }
            shown == until && flow.is_continue()
        };
        let (all, len) = (run.records.len(), run.end - run.start);
        let read = file.datafile.read(run.start, len, &mut |bytes| {
            show(bytes, run.start, all);
        });
        if read.is_err() {
            // Perhaps only some of the bytes cannot be read: what stands before them is shown.
            for (index, wanted) in run.records.iter().enumerate() {
                let (start, len) = (wanted.offset(), u64::from(wanted.len));
                let mut goes_on = false;
                let read =
                    file.datafile.read(start, len, &mut |bytes| goes_on = show(bytes, start, index + 1));
                read.map_err(|error| self.damaged(run.file, start, &error.to_string()))?;
                if !goes_on {
                    break;
                }
            }
        }
        match run.records.get(shown) {
            Some(bad) if flow.is_continue() => {
                Err(self.damaged(run.file, bad.offset(), "the record does not carry its checksum"))
            }
            _ => Ok(flow),
        }
    }

    fn damaged(&self, file: u32, offset: u64, what: &str) -> EngineError {
        let file = name_of_file(&**self.store.log.storage(), file);
        EngineError::Damaged(format!("{file} at offset {offset}: {what}"))
    }
}

/// The datafile with this number, if there is one; what was made since `files` was looked at is found as well.
pub(super) fn known_file<'f>(
    store: &Bitcask,
    files: &'f mut Arc<FileTable>,
    number: u32,
) -> Option<&'f Arc<File>> {
    if !files.contains_key(&number) {
        *files = store.log.files();
    }
    files.get(&number)
}
