//! A walk over the members of one set in their order, that other walks of the same transaction may run beside.
//!
//! The engine shows members to a visitor, which cannot use the transaction again. So a walk fetches a batch of members,
//! lets go of the transaction, and fetches the next one when it runs out. [`Walk::seek`] jumps ahead, in the batch if
//! the member is there and with a search in O(log n) if not. Batches double while they are used up and halve while they
//! are jumped over, so that combining two sets costs about as much as merging them where they are similar, and about
//! as much as looking up the members of the small one where they are not.

use std::ops::ControlFlow;

use super::super::Result;
use crate::engine::{Db, Start, SubWalk, Txn, Want};

/// Most members of a batch: enough to make the search before it cheap.
const BATCH_MAX_MEMBERS: usize = 256;

/// A batch ends when its members take more bytes than this, so that sets of huge members do not fill the memory.
const BATCH_MAX_BYTES: usize = 64 * 1024;

/// A walk over a set, or over nothing if there is no such key.
#[derive(Debug)]
pub struct Walk<'k> {
    db: Db,
    key: &'k [u8],
    /// The members of the batch, one after the other.
    bytes: Vec<u8>,
    /// Where in `bytes` each member ends.
    ends: Vec<usize>,
    /// The member of the batch the walk stands at.
    at: usize,
    /// How many members the next batch is to have.
    batch_members: usize,
    /// Members of the batch the walk has stood at.
    used: usize,
    /// Whether a batch was fetched.
    is_begun: bool,
    /// Whether the batch is the last.
    is_last: bool,
}

impl<'k> Walk<'k> {
    /// A walk from the first member on.
    pub fn new(db: Db, key: &'k [u8]) -> Walk<'k> {
        Walk {
            db,
            key,
            bytes: Vec::new(),
            ends: Vec::new(),
            at: 0,
            batch_members: 8,
            used: 0,
            is_begun: false,
            is_last: false,
        }
    }

    /// The member the walk stands at; None behind the last one.
    pub fn member(&mut self, txn: &mut Txn<'_>) -> Result<Option<&[u8]>> {
        if self.at >= self.ends.len() && !self.is_last {
            let last = self.is_begun.then(|| self.batch_member(self.at.wrapping_sub(1)).to_vec());
            self.fetch(txn, last.as_deref(), false)?;
        }
        Ok((self.at < self.ends.len()).then(|| self.batch_member(self.at)))
    }

    /// Goes to the next member.
    pub fn step(&mut self) {
        self.at += 1;
        self.used += 1;
    }

    /// Goes ahead to the first member that is not smaller than `target`, and says whether it is `target`; None if there
    /// is none so large. `target` must not be smaller than where the walk stands.
    pub fn seek(&mut self, txn: &mut Txn<'_>, target: &[u8]) -> Result<Option<bool>> {
        let reaches = self.ends.len().checked_sub(1).is_some_and(|last| self.batch_member(last) >= target);
        if reaches {
            let (mut low, mut high) = (self.at, self.ends.len());
            while low < high {
                let middle = low + (high - low) / 2;
                if self.batch_member(middle) < target {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            self.used += usize::from(self.at != low);
            self.at = low;
        } else if self.is_last {
            self.at = self.ends.len();
        } else {
            self.fetch(txn, Some(target), true)?;
            self.used = 1;
        }
        Ok((self.at < self.ends.len()).then(|| self.batch_member(self.at) == target))
    }

    /// Fetches the batch from `from` on, or from the member behind it.
    fn fetch(&mut self, txn: &mut Txn<'_>, from: Option<&[u8]>, with_from: bool) -> Result<()> {
        if self.is_begun {
            let is_used_up = self.used * 2 >= self.ends.len();
            self.batch_members = match is_used_up {
                true => (self.batch_members * 2).min(BATCH_MAX_MEMBERS),
                false => (self.batch_members / 2).max(1),
            };
        }
        self.bytes.clear();
        self.ends.clear();
        (self.at, self.used, self.is_begun, self.is_last) = (0, 0, true, true);
        let start = from.map_or(Start::End, Start::Subkey);
        // One more than the batch holds if the member it begins with is skipped.
        let skipped = u64::from(from.is_some() && !with_from);
        let walk = SubWalk::up(start, Want::Subkeys).expecting(self.batch_members as u64 + skipped);
        txn.sub_scan(self.db, self.key, walk, &mut |member, _| {
            if !with_from && from == Some(member) {
                return ControlFlow::Continue(());
            }
            self.bytes.extend_from_slice(member);
            self.ends.push(self.bytes.len());
            if self.ends.len() >= self.batch_members || self.bytes.len() > BATCH_MAX_BYTES {
                self.is_last = false;
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        })?;
        Ok(())
    }

    #[cfg(test)]
    pub(super) fn batch_bytes(&self) -> usize {
        self.bytes.len()
    }

    fn batch_member(&self, at: usize) -> &[u8] {
        let start = at.checked_sub(1).and_then(|before| self.ends.get(before)).copied().unwrap_or(0);
        let end = self.ends.get(at).copied().unwrap_or(start);
        self.bytes.get(start..end).unwrap_or_default()
    }
}
