//! Intersection, difference and union of sets, in the order of their members.
//!
//! All three walk the sets side by side ([`Walk`]) and keep one batch of each in memory. Keys that are not there count
//! as empty sets; the same key may come several times.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::ControlFlow;

use super::super::{Result, root_of_kind};
use super::{AskLimits, Encoding, INTSET, Walk};
use crate::engine::{Db, Kind, Root, Txn};
use crate::number::parse_i64;
use crate::sorted;

/// Sees the members of a result and says whether to go on.
pub type ResultVisitor<'v> = &'v mut dyn FnMut(&[u8]) -> ControlFlow<()>;

/// Which members a combination has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Those of all sets.
    Intersection,
    /// Those of the first set that are in no other.
    Difference,
    /// Those of any set.
    Union,
}

/// The sets of a combination, checked to be sets.
#[derive(Debug)]
pub struct Sources<'k> {
    db: Db,
    operation: Operation,
    keys: Vec<&'k [u8]>,
    /// The smallest set of an intersection, the first one otherwise.
    first: Option<Root>,
}

impl<'k> Sources<'k> {
    /// Looks up all keys; each must be missing or a set.
    pub fn open(txn: &mut Txn<'_>, db: Db, operation: Operation, keys: &[&'k [u8]]) -> Result<Sources<'k>> {
        let mut found = Vec::with_capacity(keys.len());
        for key in keys {
            let root = root_of_kind(txn, db, key, Kind::Set)?;
            found.push((*key, root, 0));
        }
        match operation {
            Operation::Union => found.retain(|(_, root, _)| root.is_some()),
            Operation::Difference => {
                let has_first = matches!(found.first(), Some((_, Some(_), _)));
                found.retain(|(_, root, _)| has_first && root.is_some());
            }
            Operation::Intersection => {
                if found.iter().any(|(_, root, _)| root.is_none()) {
                    found.clear();
                }
                for (key, _, len) in &mut found {
                    *len = txn.sub_len(db, key)?;
                }
                // The fewest members first: they say which are looked for in the others.
                sorted::all(&mut found, |(.., one), (.., other)| one.cmp(other));
            }
        }
        let first = found.first().and_then(|(_, root, _)| *root);
        Ok(Sources { db, operation, keys: found.into_iter().map(|(key, _, _)| key).collect(), first })
    }

    /// The encoding in which Redis would begin to store these members of the combination.
    pub fn encoding_for(
        &self,
        txn: &mut Txn<'_>,
        members: &[Vec<u8>],
        ask: AskLimits<'_>,
    ) -> Result<Encoding<'static>> {
        if self.operation == Operation::Difference && self.is_taken_from_copy(txn)? {
            return self.encoding_of_copy(txn);
        }
        let is_packed = self.operation == Operation::Intersection
            && self.first.is_some_and(|root| root.encoding != INTSET)
            && (members.len() as u64 > ask().intset_entries
                || members.iter().any(|member| parse_i64(member).is_none()));
        Ok(if is_packed { Encoding::Packed } else { Encoding::Grown })
    }

    /// Whether Redis would make a difference by taking the members of the others out of a copy of the first set, which
    /// keeps the encoding it needed before; that is when the others are small enough. Else it adds what is left over.
    fn is_taken_from_copy(&self, txn: &mut Txn<'_>) -> Result<bool> {
        if self.first.is_none_or(|root| root.encoding == INTSET) {
            return Ok(false);
        }
        let mut lens = Vec::with_capacity(self.keys.len());
        for key in &self.keys {
            lens.push(txn.sub_len(self.db, key)?);
        }
        let first = lens.first().copied().unwrap_or(0);
        let by_looking = first.saturating_mul(lens.len() as u64) / 2;
        Ok(by_looking > lens.iter().sum())
    }

    /// The encoding of a set that got all members of the first one.
    fn encoding_of_copy(&self, txn: &mut Txn<'_>) -> Result<Encoding<'static>> {
        let Some(key) = self.keys.first() else { return Ok(Encoding::Grown) };
        let hint = txn.sub_len(self.db, key)?;
        let mut walk = Walk::new(self.db, key);
        while let Some(member) = walk.member(txn)? {
            if parse_i64(member).is_none() {
                return Ok(Encoding::Fit { first: b"", hint });
            }
            walk.step();
        }
        Ok(Encoding::Fit { first: b"0", hint })
    }

    /// Shows the members of the combination until told to stop.
    pub fn combine(&self, txn: &mut Txn<'_>, visit: ResultVisitor<'_>) -> Result<()> {
        let mut walks = self.keys.iter().map(|key| Walk::new(self.db, key));
        match self.operation {
            Operation::Union => unite(txn, walks.collect(), visit),
            Operation::Intersection | Operation::Difference => {
                let Some(first) = walks.next() else { return Ok(()) };
                let others: Vec<Walk<'_>> = walks.collect();
                match self.operation {
                    Operation::Intersection => intersect(txn, first, others, visit),
                    _ => subtract(txn, first, others, visit),
                }
            }
        }
    }
}

/// Leapfrog: whichever set stands ahead says where the others may go on.
fn intersect(
    txn: &mut Txn<'_>,
    mut first: Walk<'_>,
    mut others: Vec<Walk<'_>>,
    visit: ResultVisitor<'_>,
) -> Result<()> {
    let mut candidate = Vec::new();
    'candidates: while let Some(member) = first.member(txn)? {
        candidate.clear();
        candidate.extend_from_slice(member);
        for other in &mut others {
            match other.seek(txn, &candidate)? {
                Some(true) => {}
                None => return Ok(()),
                Some(false) => {
                    candidate.clear();
                    candidate.extend_from_slice(other.member(txn)?.unwrap_or_default());
                    if first.seek(txn, &candidate)?.is_none() {
                        return Ok(());
                    }
                    continue 'candidates;
                }
            }
        }
        if visit(&candidate).is_break() {
            return Ok(());
        }
        first.step();
    }
    Ok(())
}

fn subtract(
    txn: &mut Txn<'_>,
    mut first: Walk<'_>,
    mut others: Vec<Walk<'_>>,
    visit: ResultVisitor<'_>,
) -> Result<()> {
    let mut candidate = Vec::new();
    'candidates: while let Some(member) = first.member(txn)? {
        candidate.clear();
        candidate.extend_from_slice(member);
        first.step();
        for other in &mut others {
            if other.seek(txn, &candidate)? == Some(true) {
                continue 'candidates;
            }
        }
        if visit(&candidate).is_break() {
            return Ok(());
        }
    }
    Ok(())
}

/// A merge: the heap holds the member each walk stands at.
fn unite(txn: &mut Txn<'_>, mut walks: Vec<Walk<'_>>, visit: ResultVisitor<'_>) -> Result<()> {
    let mut heads = BinaryHeap::with_capacity(walks.len());
    for (at, walk) in walks.iter_mut().enumerate() {
        if let Some(member) = walk.member(txn)? {
            heads.push(Reverse((member.to_vec(), at)));
        }
    }
    let mut shown: Option<Vec<u8>> = None;
    while let Some(Reverse((member, at))) = heads.pop() {
        let is_new = shown.as_ref() != Some(&member);
        if is_new && visit(&member).is_break() {
            return Ok(());
        }
        let Some(walk) = walks.get_mut(at) else { continue };
        walk.step();
        let mut buffer = if is_new { shown.replace(member).unwrap_or_default() } else { member };
        if let Some(next) = walk.member(txn)? {
            buffer.clear();
            buffer.extend_from_slice(next);
            heads.push(Reverse((buffer, at)));
        }
    }
    Ok(())
}
