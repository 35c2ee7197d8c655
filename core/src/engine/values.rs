//! Values in parts: what a transaction does with a string that is too large for the log, or too large to be held.
//!
//! The rules of [`super::blob`] are kept here: bytes are added behind the end of the blob, blocks in the middle become
//! patches. Nothing of it shows before the commit, whose root says how much of the blob counts.

use std::ops::Bound;
use std::sync::Arc;

use super::blob::{patch_range, read_pieces};
use super::key_state::PendingRoot;
use super::{BlobRef, Db, Draft, EngineError, NewRoot, PATCH_BYTES, Result, Txn, blob_error};
use crate::limits::VALUE_IN_MEMORY_MAX_BYTES;
use crate::storage::Blob;

/// A part of a value on its way out.
pub enum Piece<'p> {
    /// These bytes.
    Bytes(&'p [u8]),
    /// A part of a stored value, which stays what it is for as long as it is held.
    Stored {
        /// Where the bytes are.
        source: Arc<dyn Blob>,
        /// Where they begin.
        offset: u64,
        /// How many there are.
        len: u64,
    },
}

impl Piece<'_> {
    /// Shows the bytes of the piece, wherever they are.
    pub fn read(&self, visit: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        match self {
            Piece::Bytes(bytes) => visit(bytes),
            Piece::Stored { source, offset, len } => read_pieces(&**source, (*offset, *len), visit),
        }
    }
}

impl Txn<'_> {
    /// Values of at least this many bytes become blobs; without this call none do.
    pub fn set_blob_min(&mut self, bytes: u64) {
        self.blob_min = bytes;
    }

    /// The length from which on a value is a blob.
    pub fn blob_min(&self) -> u64 {
        self.blob_min
    }

    /// An empty blob for a new value.
    pub fn draft(&self) -> Result<Draft> {
        Draft::new(self.reader.blobs())
    }

    /// A copy of a value, patches and all, in a blob of its own; empty if there is no key.
    pub fn draft_of(&mut self, db: Db, key: &[u8]) -> Result<Draft> {
        let mut draft = self.draft()?;
        let all = (0, u64::MAX);
        self.show_value(db, key, all, &mut |piece| piece.read(&mut |bytes| draft.append(bytes)))?;
        Ok(draft)
    }

    /// As [`Txn::put`], with a value that was written already.
    pub fn put_draft(
        &mut self,
        db: Db,
        key: &[u8],
        root: NewRoot,
        draft: impl Into<Arc<Draft>>,
    ) -> Result<()> {
        let draft = draft.into();
        self.put(db, key, root, &[])?;
        let at = self.state(db, key)?;
        self.refer(at, root, draft.reference());
        self.overlay.adopt(draft);
        Ok(())
    }

    /// Shows `len` bytes at `offset` of a root's value, cut to what is there, without holding what is stored; returns
    /// false if there is no key.
    pub fn show_value(
        &mut self,
        db: Db,
        key: &[u8],
        (offset, len): (u64, u64),
        show: &mut dyn FnMut(Piece<'_>) -> Result<()>,
    ) -> Result<bool> {
        let at = self.state(db, key)?;
        let Some(root) = self.root_at(at) else { return Ok(false) };
        let Some(blob) = root.blob else {
            let mut outcome = Ok(());
            self.read_value(db, key, (offset, len), &mut |bytes| outcome = show(Piece::Bytes(bytes)))?;
            return outcome.map(|()| true);
        };
        let offset = offset.min(blob.len);
        let end = offset + len.min(blob.len - offset);
        let source = self.value_of(at, blob, (offset, end)).map_err(|error| error.of_key(db, key))?;
        let stored = |from: u64, to: u64, show: &mut dyn FnMut(Piece<'_>) -> Result<()>| {
            if from == to {
                return Ok(());
            }
            show(Piece::Stored { source: source.clone(), offset: from, len: to - from })
        };
        let mut from = offset;
        let first = (offset / PATCH_BYTES).to_be_bytes();
        let changed = self.overlay.keys[at].subs.range((Bound::Included(&first), Bound::Unbounded));
        for (number, change) in changed {
            let (Some(number), Some(patch)) = (block_of(number), &change.value) else { continue };
            let (begin, stop) = patch_range(number, patch.len() as u64, (from, end));
            if begin >= end {
                break;
            }
            // A patch ends where the value ended when it was made.
            if stop <= begin {
                continue;
            }
            stored(from, begin, show)?;
            let start = (begin - number * PATCH_BYTES) as usize;
            show(Piece::Bytes(patch.get(start..start + (stop - begin) as usize).unwrap_or_default()))?;
            from = stop;
        }
        stored(from, end, show)?;
        Ok(true)
    }

    /// Shows a part of a value with a blob, in one piece.
    pub(super) fn read_blob(
        &mut self,
        (db, key): (Db, &[u8]),
        (offset, len): (u64, u64),
        visit: &mut dyn FnMut(&[u8]),
    ) -> Result<()> {
        if len > VALUE_IN_MEMORY_MAX_BYTES {
            return Err(EngineError::TooLarge(len));
        }
        let mut bytes = Vec::new();
        let mut copy = |piece: &[u8]| {
            bytes.extend_from_slice(piece);
            Ok(())
        };
        self.show_value(db, key, (offset, len), &mut |piece| piece.read(&mut copy))?;
        visit(&bytes);
        Ok(())
    }

    /// Writes `bytes` at `offset` of a value that has a blob, zeros filling what lies behind its end; returns the new
    /// length. Costs what is written, and a block at each end of it.
    pub fn write_to_blob(
        &mut self,
        db: Db,
        key: &[u8],
        encoding: u8,
        offset: u64,
        bytes: &[u8],
    ) -> Result<u64> {
        let at = self.state(db, key)?;
        let Some((root, blob)) = self.root_at(at).and_then(|root| Some((root, root.blob?))) else {
            return Err(EngineError::Damaged("no blob to write to".into()));
        };
        let new = NewRoot { kind: root.kind, encoding, expires_at_ms: root.expires_at_ms };
        let inside = usize::try_from(blob.len.saturating_sub(offset)).unwrap_or(usize::MAX).min(bytes.len());
        let (over, behind) = bytes.split_at(inside);
        self.refer(at, new, blob);
        self.patch((db, key), blob, offset, over)?;
        if behind.is_empty() {
            return Ok(blob.len);
        }
        let file = self.blob_of(blob).map_err(|error| error.of_key(db, key))?;
        let gap = offset.saturating_sub(blob.len);
        let mut longer = blob;
        if gap > 0 {
            // What a failed transaction left behind the end must not show.
            file.set_len(blob.len).map_err(blob_error)?;
            longer = longer.extended_by_zeros(gap);
        }
        file.write(longer.len, behind).map_err(blob_error)?;
        longer = longer.extended(behind);
        self.overlay.note_grown(blob.id, file);
        self.refer(at, new, longer);
        Ok(longer.len)
    }

    /// Writes a blob's bytes at the end of a value that has a blob; returns the new length.
    pub fn append_draft(&mut self, db: Db, key: &[u8], encoding: u8, more: &Draft) -> Result<u64> {
        let mut end = self.root(db, key)?.map_or(0, |root| root.value_len);
        read_pieces(&**more.blob(), (0, more.reference().len), &mut |piece| {
            end = self.write_to_blob(db, key, encoding, end, piece)?;
            Ok(())
        })?;
        Ok(end)
    }

    /// Overwrites a part of a value that has a blob, within its length.
    fn patch(&mut self, (db, key): (Db, &[u8]), blob: BlobRef, offset: u64, bytes: &[u8]) -> Result<()> {
        let mut done = 0;
        while done < bytes.len() {
            let at = offset + done as u64;
            let number = at / PATCH_BYTES;
            let begin = number * PATCH_BYTES;
            let len = PATCH_BYTES.min(blob.len - begin);
            let inside = (at - begin) as usize;
            let count = (len as usize - inside).min(bytes.len() - done);
            let mut block = Vec::new();
            if count < len as usize {
                self.read_blob((db, key), (begin, len), &mut |bytes| block.extend_from_slice(bytes))?;
            }
            block.resize(len as usize, 0);
            if let Some(place) = block.get_mut(inside..inside + count) {
                place.copy_from_slice(&bytes[done..done + count]);
            }
            self.sub_put(db, key, &number.to_be_bytes(), &block)?;
            done += count;
        }
        Ok(())
    }

    /// Makes a root refer to a blob; its patches stay.
    fn refer(&mut self, at: usize, root: NewRoot, blob: BlobRef) {
        let value = self.overlay.store(&blob.to_bytes());
        let NewRoot { kind, encoding, expires_at_ms } = root;
        self.overlay.note_root(at);
        self.overlay.keys[at].root =
            PendingRoot::Put { kind, encoding, expires_at_ms, value, blob: Some(blob) };
    }

    /// The blob itself.
    fn blob_of(&mut self, blob: BlobRef) -> Result<Arc<dyn Blob>> {
        match self.overlay.written_blob(blob.id) {
            Some(written) => Ok(written.clone()),
            None => self.reader.open_blob(blob.id),
        }
    }

    /// A value with those of its committed patches that lie in a range.
    fn value_of(&mut self, at: usize, blob: BlobRef, range: (u64, u64)) -> Result<Arc<dyn Blob>> {
        let base = self.blob_of(blob)?;
        match self.overlay.keys[at].subkeys_of {
            Some(root) => self.reader.patched(&root, base, range),
            None => Ok(base),
        }
    }
}

/// The number of the block that a patch is about.
fn block_of(subkey: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(*subkey.first_chunk()?))
}
