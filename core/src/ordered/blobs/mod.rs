//! Huge values in the cluster: blobs, which are written ahead of the transaction that refers to them, and read behind it.
//!
//! A blob is a home of its own in a space that belongs to no database, and its bytes are pieces of
//! [`PIECE_BYTES`](super::record::PIECE_BYTES). A piece that is missing stands for zeros; whether a value is what was written is known by
//! its checksums ([`crate::engine::BlobRef`]). What is referred to never changes: a write behind its end makes a
//! copy.
//!
//! ```text
//! bytes arrive -> draft: a mark, then pieces, a few at a time      | mark "drafted"
//! commit       -> the root refers to the blob                      | mark "elsewhere", which names the root; "drafted" goes
//! DEL, SET     -> no root refers to it                             | mark "dropped"; then the pieces go, the marks last
//! ```
//!
//! The marks make every step safe against every crash: `drafted` is written before any piece, a commit fails where it is gone, and
//! all that makes a root refer to a blob writes `elsewhere`, so that it meets a collector ([`upkeep`]) that is about to drop the
//! blob.

mod draft;
mod fetch;
mod run;
#[cfg(test)]
mod tests;
pub(super) mod upkeep;

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::task::Waker;

use parking_lot::Mutex;

pub(super) use self::draft::{Drafted, Drafting};
use self::fetch::Pieces;
pub(super) use self::run::{Mode, Run};
use super::Inner;
use super::cluster::Cluster;
use super::names::{Home, Names};
use super::record::PIECE_BYTES;
use crate::engine::{BlobStore, Result};
use crate::storage::{self, Blob, BlobId, StorageError};

/// A piece as a length.
const PIECE: u64 = PIECE_BYTES as u64;

/// The drafts that this process is writing, by the numbers of their homes.
pub(super) type Registry<C> = Mutex<HashMap<u64, Weak<Drafting<C>>>>;

/// Where a transaction's blobs come from, or those of values that arrive.
pub(super) struct Blobs<C: Cluster> {
    inner: Arc<Inner<C>>,
    /// The run that makes them; none for a value that arrives, whose host looks how much it may bring.
    run: Option<Arc<Run>>,
}

impl<C: Cluster> Blobs<C> {
    /// The store of one transaction, or of a value that arrives.
    pub(super) fn shared(inner: Arc<Inner<C>>, run: Option<Arc<Run>>) -> Arc<dyn BlobStore> {
        Arc::new(Blobs { inner, run })
    }
}

impl<C: Cluster> BlobStore for Blobs<C> {
    /// Nothing is written before the first piece is whole.
    fn create(&self) -> Result<(BlobId, Arc<dyn Blob>)> {
        // Blobs of one process do not lie side by side, so that they do not all meet one region.
        let id = BlobId(self.inner.number().reverse_bits());
        let drafting = Drafting::new(self.inner.clone(), Names::blob(id), self.run.clone());
        self.inner.drafts.lock().insert(id.0, Arc::downgrade(&drafting));
        Ok((id, drafting))
    }

    fn discard(&self, id: BlobId) {
        let drafting = self.inner.drafts.lock().remove(&id.0);
        if let Some(drafting) = drafting.and_then(|drafting| drafting.upgrade()) {
            drafting.discard();
        }
    }

    /// Only what this transaction writes is its own: any other process may read the rest, and write behind its end at the same
    /// time.
    fn is_shared(&self, id: BlobId) -> bool {
        let drafting = self.inner.drafts.lock().get(&id.0).and_then(Weak::upgrade);
        drafting.is_none_or(|drafting| drafting.is_handed_over())
    }
}

/// The numbers of the pieces in a range of bytes.
fn pieces_of(offset: u64, len: u64) -> std::ops::Range<u64> {
    offset / PIECE..offset.saturating_add(len).div_ceil(PIECE)
}

/// Shows the part of a piece that lies within a range (from, to) of the value; zeros stand for what the piece lacks.
fn show_part(number: u64, piece: &[u8], (from, to): (u64, u64), visit: &mut dyn FnMut(&[u8])) {
    let begin = number.saturating_mul(PIECE);
    // Both lie within the piece, so they are lossless.
    let first = from.saturating_sub(begin).min(PIECE) as usize;
    let last = to.saturating_sub(begin).min(PIECE) as usize;
    let there = piece.get(first..last.min(piece.len())).unwrap_or_default();
    if there.len() + first >= last {
        return visit(there);
    }
    let mut whole = Vec::with_capacity(last.saturating_sub(first));
    whole.extend_from_slice(there);
    whole.resize(last.saturating_sub(first), 0);
    visit(&whole);
}

/// A blob that a committed root refers to.
pub(super) struct Committed<C: Cluster> {
    pieces: Arc<Pieces<C>>,
    run: Arc<Run>,
    home: Home,
}

impl<C: Cluster> Committed<C> {
    pub(super) fn open(inner: Arc<Inner<C>>, id: BlobId, run: Arc<Run>) -> Arc<dyn Blob> {
        let home = Names::blob(id);
        Arc::new(Committed { pieces: Pieces::new(inner, home), run, home })
    }
}

impl<C: Cluster> Blob for Committed<C> {
    fn write(&self, _offset: u64, _bytes: &[u8]) -> storage::Result<()> {
        Err(StorageError::Refused("what is in the cluster is never written over".into()))
    }

    /// Within its run what is not here is fetched with everything else that the run misses, as long as that is little; else, and behind
    /// the run, the calling thread waits.
    fn read(&self, offset: u64, len: u64, visit: &mut dyn FnMut(&[u8])) -> storage::Result<()> {
        let names = self.pieces.names();
        let name = |number: u64| names.piece(self.home, number);
        let numbers = pieces_of(offset, len);
        let range = (offset, offset.saturating_add(len));
        if !self.run.fetches(numbers.clone().map(name))? {
            return self.pieces.read(range, visit);
        }
        for number in numbers {
            self.run.show(&name(number), &mut |piece| show_part(number, piece, range, visit));
        }
        Ok(())
    }

    fn set_len(&self, _len: u64) -> storage::Result<()> {
        Err(StorageError::Refused("what is in the cluster is never cut".into()))
    }

    /// How long the value is, only its root knows; behind its end there are zeros.
    fn len(&self) -> storage::Result<u64> {
        Ok(u64::MAX)
    }

    fn sync(&self) -> storage::Result<()> {
        Ok(())
    }

    fn announce(&self, offset: u64, len: u64) {
        let names = self.pieces.names();
        self.run.announce(pieces_of(offset, len).map(|number| names.piece(self.home, number)));
    }

    fn is_at_hand(&self, offset: u64, len: u64, waker: &Waker) -> bool {
        let names = self.pieces.names();
        let mut numbers = pieces_of(offset, len);
        numbers.all(|number| self.run.has(&names.piece(self.home, number)))
            || self.pieces.are_at_hand(pieces_of(offset, len), waker)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
