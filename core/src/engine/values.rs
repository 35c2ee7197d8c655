//! Values in parts: what a transaction does with a string that is too large for the log, or too large to be held.
//!
//! The rules of [`super::blob`] are kept here: bytes are added behind the end of the blob, blocks in the middle become
//! patches. Nothing of it shows before the commit, whose root says how much of the blob counts. And nothing is shown, or
//! built upon, that was not compared with the checksums of its pieces ([`super::sums`]) before.

use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

use super::blob::{damage, patch_range, read_pieces};
use super::checked::Checked;
use super::key_state::PendingRoot;
use super::sums::{
    Page, SumWriter, Sums, last_page, page_bytes, page_key, page_number, pages_of, read_page, sums_of_blob,
    zero_page,
};
use super::{
    BlobRef, Db, Draft, EngineError, NewRoot, PATCH_BYTES, Patched, Result, Start, SubWalk, Txn, Want,
    blob_error,
};
use crate::limits::{CHECKED_BEFORE_REPLY_MAX_BYTES, VALUE_IN_MEMORY_MAX_BYTES};
use crate::storage::{Blob, BlobId};

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

    /// To be called before a reply announces the piece: what is damaged now becomes an error and not a reply that ends
    /// too early. Of a piece that is longer than [`CHECKED_BEFORE_REPLY_MAX_BYTES`] only the end is looked at; the rest is
    /// compared just before it is sent.
    ///
    /// # Errors
    /// What is stored is not what was written, or cannot be read.
    pub fn check(&self) -> Result<()> {
        let Piece::Stored { source, offset, len } = self else { return Ok(()) };
        if *len > CHECKED_BEFORE_REPLY_MAX_BYTES {
            return read_pieces(&**source, (offset + len - 1, 1), &mut |_| Ok(()));
        }
        let patched = source.as_any().downcast_ref::<Patched>();
        let base = patched.map_or(&**source, Patched::base);
        let checked = base.as_any().downcast_ref::<Checked>();
        if checked.is_some_and(Checked::is_compared) {
            return Ok(());
        }
        read_pieces(&**source, (*offset, *len), &mut |_| Ok(()))?;
        if let Some(checked) = checked {
            checked.note_compared(*offset, *len);
        }
        Ok(())
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
        self.put_pages((db, key), draft.pages())?;
        self.overlay.adopt(draft);
        Ok(())
    }

    /// As [`Txn::put_draft`] of a build that knew no checksums of pieces.
    #[cfg(test)]
    pub(crate) fn put_older_draft(&mut self, db: Db, key: &[u8], root: NewRoot, draft: Draft) -> Result<()> {
        self.put(db, key, root, &[])?;
        let at = self.state(db, key)?;
        self.refer(at, root, BlobRef { has_sums: false, ..draft.reference() });
        self.overlay.adopt(Arc::new(draft));
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
            let show = &mut |bytes: &[u8]| outcome = show(Piece::Bytes(bytes));
            self.read_root((db, key), (at, &root), (offset, len), 1, show)?;
            return outcome.map(|()| true);
        };
        let offset = offset.min(blob.len);
        let end = offset + len.min(blob.len - offset);
        let source = self.value_of((db, key), blob, (offset, end))?;
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
            // Pages of checksums are behind the patches.
            let Some(number) = block_of(number) else { break };
            let Some(patch) = &change.value else { continue };
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
    /// length. Costs what is written, and a block at each end of it; and once a copy of the value where its file is shared with
    /// another store and must grow.
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
        let file = self.blob_of(key, blob.id)?;
        if file.len().map_err(blob_error)? < blob.len {
            return Err(self.damaged(key, blob.id, "the file is shorter than the value"));
        }
        let inside = usize::try_from(blob.len.saturating_sub(offset)).unwrap_or(usize::MAX).min(bytes.len());
        let (over, behind) = bytes.split_at(inside);
        if !behind.is_empty() && self.reader.blobs().is_shared(blob.id) {
            let own = self.draft_of(db, key)?;
            self.put_draft(db, key, new, own)?;
            return self.write_to_blob(db, key, encoding, offset, bytes);
        }
        let blob = self.with_sums((db, key), blob)?;
        self.refer(at, new, blob);
        self.patch((db, key), blob, offset, over)?;
        if behind.is_empty() {
            return Ok(blob.len);
        }
        let mut sums = self.sums_at_end((db, key), blob)?;
        let gap = offset.saturating_sub(blob.len);
        let mut longer = blob;
        if gap > 0 {
            // What a failed transaction left behind the end must not show.
            file.set_len(blob.len).map_err(blob_error)?;
            longer = longer.extended_by_zeros(gap);
            sums.write_zeros(gap);
        }
        file.write(longer.len, behind).map_err(blob_error)?;
        longer = longer.extended(behind);
        sums.write(behind);
        self.overlay.note_grown(blob.id, file);
        self.refer(at, new, longer);
        self.put_pages((db, key), sums.pages())?;
        Ok(longer.len)
    }

    /// Writes a blob's bytes at the end of a value that has a blob; returns the new length.
    pub fn append_draft(&mut self, db: Db, key: &[u8], encoding: u8, more: &Draft) -> Result<u64> {
        let mut end = self.root(db, key)?.map_or(0, |root| root.value_len);
        read_pieces(&more.checked(key), (0, more.byte_count()), &mut |piece| {
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
    fn blob_of(&mut self, key: &[u8], id: BlobId) -> Result<Arc<dyn Blob>> {
        if let Some(written) = self.overlay.written_blob(id) {
            return Ok(written.clone());
        }
        self.reader.open_blob(id).map_err(|error| match error {
            EngineError::Damaged(what) => self.damaged(key, id, &what),
            error => error,
        })
    }

    /// A value, compared with its checksums, with those of its committed patches that lie in a range.
    fn value_of(
        &mut self,
        (db, key): (Db, &[u8]),
        blob: BlobRef,
        range: (u64, u64),
    ) -> Result<Arc<dyn Blob>> {
        let base = Arc::new(self.checked((db, key), blob, range)?);
        let at = self.state(db, key)?;
        match self.overlay.keys[at].subkeys_of {
            Some(root) => self.reader.patched((db, key), &root, base, range),
            None => Ok(base),
        }
    }

    /// The blob of a value with the checksums of the pieces in a range (from, to).
    fn checked(&mut self, (db, key): (Db, &[u8]), blob: BlobRef, (from, to): (u64, u64)) -> Result<Checked> {
        let base = self.blob_of(key, blob.id)?;
        let sums = if from >= to {
            Sums::default()
        } else if blob.has_sums {
            self.sums_of((db, key), blob, (from, to))?
        } else {
            Sums::part(&self.older_sums(key, blob)?, (from, to))
        };
        Ok(Checked::new((self.reader.blobs(), blob.id, key), base, blob.len, sums))
    }

    /// The checksums of the pieces that hold a range, which is not empty.
    fn sums_of(&mut self, (db, key): (Db, &[u8]), blob: BlobRef, range: (u64, u64)) -> Result<Sums> {
        let mut sums = Sums::of_zeros(range);
        let (first, last) = sums.pages();
        if first == last {
            let page = self.page_of((db, key), blob, first)?;
            sums.take_page(first, &page);
            return Ok(sums);
        }
        let mut next = first;
        let mut is_right = true;
        let start = page_key(first);
        let walk = SubWalk::up(Start::Subkey(&start), Want::Values).expecting(last - first + 1);
        self.sub_scan(db, key, walk, &mut |subkey, value| {
            let Some(number) = page_number(subkey).filter(|number| *number <= last) else {
                return ControlFlow::Break(());
            };
            next = number + 1;
            match read_page(number, blob.len, value) {
                Some(page) => sums.take_page(number, &page),
                None => is_right = false,
            }
            if number < last { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        if !is_right {
            return Err(self.wrong_page(key, blob.id));
        }
        if next <= last {
            // The last piece may be shorter than the others.
            sums.take_page(last, &zero_page(last, blob.len));
        }
        Ok(sums)
    }

    /// All checksums of a value of an older build, whose blob is compared as a whole.
    fn older_sums(&mut self, key: &[u8], blob: BlobRef) -> Result<Arc<[u32]>> {
        let sums = self.reader.older_sums(blob).map_err(|error| match error {
            EngineError::Damaged(what) => self.damaged(key, blob.id, &what),
            error => error,
        })?;
        sums.ok_or_else(|| self.damaged(key, blob.id, "the value does not carry its checksum"))
    }

    /// Gives a value of an older build checksums.
    fn with_sums(&mut self, (db, key): (Db, &[u8]), blob: BlobRef) -> Result<BlobRef> {
        if !blob.has_sums {
            let all = self.older_sums(key, blob)?;
            let pages: Vec<(u64, Page)> = pages_of(&all).collect();
            self.put_pages((db, key), pages.iter().map(|(number, page)| (*number, page)))?;
        }
        Ok(BlobRef { has_sums: true, ..blob })
    }

    /// Makes the checksums of the pieces of a huge string anew. Does nothing to a key without a blob, and to one whose blob never had
    /// any.
    ///
    /// # Errors
    /// The blob cannot be read, or is not what the checksum of the whole says.
    pub fn renew_sums(&mut self, db: Db, key: &[u8]) -> Result<()> {
        let Some(blob) = self.root(db, key)?.and_then(|root| root.blob).filter(|blob| blob.has_sums) else {
            return Ok(());
        };
        let all = sums_of_blob(&*self.blob_of(key, blob.id)?, blob)?;
        let all = all.ok_or_else(|| self.damaged(key, blob.id, "the value does not carry its checksum"))?;
        let pages: Vec<(u64, Page)> = pages_of(&all).collect();
        self.put_pages((db, key), pages.iter().map(|(number, page)| (*number, page)))
    }

    /// Where the checksums of a value go on. Fails if its last piece is not what was written: nothing is built on that.
    fn sums_at_end(&mut self, (db, key): (Db, &[u8]), blob: BlobRef) -> Result<SumWriter> {
        if blob.len == 0 {
            return Ok(SumWriter::new());
        }
        // What the transaction itself wrote just now need not be read.
        if self.overlay.written_blob(blob.id).is_none() {
            let end = (blob.len - 1, blob.len);
            self.checked((db, key), blob, end)?.check(end.0, 1).map_err(blob_error)?;
        }
        let number = last_page(blob.len);
        Ok(SumWriter::at_end(blob.len, self.page_of((db, key), blob, number)?))
    }

    /// A page of the checksums of a value.
    fn page_of(&mut self, (db, key): (Db, &[u8]), blob: BlobRef, number: u64) -> Result<Page> {
        let mut page = None;
        let read = &mut |bytes: &[u8]| page = read_page(number, blob.len, bytes);
        match self.sub_read(db, key, &page_key(number), read)? {
            true => page.ok_or_else(|| self.wrong_page(key, blob.id)),
            false => Ok(zero_page(number, blob.len)),
        }
    }

    fn wrong_page(&self, key: &[u8], id: BlobId) -> EngineError {
        self.damaged(key, id, "a page of checksums has the wrong length")
    }

    /// Puts pages of checksums under a key whose root refers to their blob.
    fn put_pages<'p>(
        &mut self,
        (db, key): (Db, &[u8]),
        pages: impl Iterator<Item = (u64, &'p Page)>,
    ) -> Result<()> {
        for (number, page) in pages {
            self.sub_put(db, key, &page_key(number), &page_bytes(page))?;
        }
        Ok(())
    }

    fn damaged(&self, key: &[u8], id: BlobId, what: &str) -> EngineError {
        EngineError::Damaged(damage(&*self.reader.blobs(), id, key, what))
    }
}

/// The number of the block that a patch is about.
fn block_of(subkey: &[u8]) -> Option<u64> {
    Some(u64::from_be_bytes(subkey.try_into().ok()?))
}
