//! Sets: a root of kind set, and one subkey a member, without a value.
//!
//! Members are ordered by their bytes in every set, which [`algebra`] uses to combine sets without reading more of them
//! than it must, and counted, which [`ranks`] uses to find members by rank. A set that has lost its last member has
//! lost its root.
//!
//! The root's byte is the encoding Redis would have reached: `intset` while all members are integers and few,
//! `listpack` while all are short and few, then `hashtable`. It only tells; every set is stored the same way.

pub mod algebra;
mod ranks;
mod walk;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;

use super::{Result, root_of_kind};
use crate::engine::{Db, Kind, NewRoot, Root, Start, SubWalk, Txn, Want};
use crate::number::parse_i64;

pub use walk::Walk;

/// The root's byte while all members are integers.
const INTSET: u8 = 0;

/// The root's byte while all members are short.
const LISTPACK: u8 = 1;

/// The root's byte of all other sets.
const HASHTABLE: u8 = 2;

/// Up to where the small encodings go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// `set-max-intset-entries`
    pub intset_entries: u64,
    /// `set-max-listpack-entries`
    pub listpack_entries: u64,
    /// `set-max-listpack-value`
    pub listpack_value_bytes: u64,
}

/// Asks for the settings; only called when they matter, since settings are not free.
pub type AskLimits<'l> = &'l dyn Fn() -> Limits;

/// Sees members.
pub type MemberVisitor<'v> = &'v mut dyn FnMut(&[u8]);

/// A set inside a transaction. It has at least one member, except between its making and the first addition.
pub struct Set<'t, 'e> {
    txn: &'t mut Txn<'e>,
    db: Db,
    key: &'t [u8],
    encoding: u8,
    encoding_was: u8,
    expires_at_ms: Option<u64>,
}

/// What encoding a new set begins with.
#[derive(Clone, Copy, Debug)]
pub enum Encoding<'m> {
    /// That of integers; it grows with what is added.
    Grown,
    /// That of few and short members of any kind; it grows with what is added.
    Packed,
    /// The one that fits this first member and this many members.
    Fit {
        /// The first member.
        first: &'m [u8],
        /// How many are to be added.
        hint: u64,
    },
}

/// The name of a set's encoding, as OBJECT ENCODING tells it.
pub fn encoding_name(root: &Root) -> &'static str {
    match root.encoding {
        INTSET => "intset",
        LISTPACK => "listpack",
        _ => "hashtable",
    }
}

/// Whether SSCAN returns the set in one step, as Redis does with the small encodings.
pub fn is_small(root: &Root) -> bool {
    root.encoding != HASHTABLE
}

impl<'t, 'e> Set<'t, 'e> {
    /// The set under a key, if the key is there.
    pub fn open(txn: &'t mut Txn<'e>, db: Db, key: &'t [u8]) -> Result<Option<Set<'t, 'e>>> {
        let root = root_of_kind(txn, db, key, Kind::Set)?;
        Ok(root.map(|root| Set {
            txn,
            db,
            key,
            encoding: root.encoding,
            encoding_was: root.encoding,
            expires_at_ms: root.expires_at_ms,
        }))
    }

    /// Makes a key an empty set, whatever it was. As in Redis the encoding it begins with depends on the first member
    /// and on how many (`hint`) are to follow.
    pub fn make(
        txn: &'t mut Txn<'e>,
        db: Db,
        key: &'t [u8],
        encoding: Encoding<'_>,
        ask: AskLimits<'_>,
    ) -> Result<Set<'t, 'e>> {
        let encoding = match encoding {
            Encoding::Grown => INTSET,
            Encoding::Packed => LISTPACK,
            Encoding::Fit { first, hint } => {
                let limits = ask();
                if parse_i64(first).is_some() && hint <= limits.intset_entries {
                    INTSET
                } else if hint <= limits.listpack_entries {
                    LISTPACK
                } else {
                    HASHTABLE
                }
            }
        };
        txn.put(db, key, NewRoot { encoding, ..NewRoot::of(Kind::Set) }, &[])?;
        Ok(Set { txn, db, key, encoding, encoding_was: encoding, expires_at_ms: None })
    }

    /// Number of members.
    #[expect(clippy::len_without_is_empty, reason = "a set that is there is never empty")]
    pub fn len(&mut self) -> Result<u64> {
        Ok(self.txn.sub_len(self.db, self.key)?)
    }

    /// Whether a member is there.
    pub fn contains(&mut self, member: &[u8]) -> Result<bool> {
        Ok(self.txn.sub_contains(self.db, self.key, member)?)
    }

    /// Adds members and returns how many are new.
    pub fn add<'m>(&mut self, members: impl Iterator<Item = &'m [u8]>, ask: AskLimits<'_>) -> Result<u64> {
        let mut added = 0;
        let mut limits = None;
        for member in members {
            // A member that is there must not be written again: it would count as a change for WATCH and the log.
            if self.txn.sub_contains(self.db, self.key, member)? {
                continue;
            }
            self.txn.sub_add(self.db, self.key, member, &[])?;
            added += 1;
            if self.encoding != HASHTABLE {
                let limits = limits.get_or_insert_with(ask);
                self.encoding = self.encoding_with(member, limits)?;
            }
        }
        self.keep_encoding()?;
        Ok(added)
    }

    /// Prepares a set that was there before for `hint` additions: like Redis, a small encoding is given up when as many
    /// members are named as it may hold, new or not.
    pub fn expect(&mut self, hint: u64, ask: AskLimits<'_>) {
        // One member never is too many, except under a limit of 0, which `add` will see.
        if hint > 1 && self.encoding != HASHTABLE {
            let limits = ask();
            let most = if self.encoding == INTSET { limits.intset_entries } else { limits.listpack_entries };
            if hint > most {
                self.encoding = HASHTABLE;
            }
        }
    }

    /// Whether the order in which members are added shows nowhere: the small encodings end with the first that does not fit.
    pub fn has_no_order(&self) -> bool {
        self.encoding == HASHTABLE
    }

    /// Removes members and returns how many were there; without any left the key is gone.
    pub fn remove<'m>(&mut self, members: impl Iterator<Item = &'m [u8]>) -> Result<u64> {
        let mut removed = 0;
        for member in members {
            removed += u64::from(self.txn.sub_remove(self.db, self.key, member)?);
        }
        if removed > 0 && self.len()? == 0 {
            self.txn.remove(self.db, self.key)?;
        }
        Ok(removed)
    }

    /// Shows all members.
    pub fn members(&mut self, visit: MemberVisitor<'_>) -> Result<()> {
        let walk = SubWalk::all(Want::Subkeys).expecting(self.len()?);
        self.txn.sub_scan(self.db, self.key, walk, &mut |member, _| {
            visit(member);
            ControlFlow::Continue(())
        })?;
        Ok(())
    }

    /// Says that the members with these ranks are about to be shown. A hint.
    pub fn announce_ranks(&mut self, ranks: &[u64]) -> Result<()> {
        Ok(self.txn.announce_ranks(self.db, self.key, ranks)?)
    }

    /// Shows the member with this rank, which must be there.
    pub fn select(&mut self, rank: u64, visit: MemberVisitor<'_>) -> Result<()> {
        let walk = SubWalk::up(Start::Rank(rank), Want::Subkeys).expecting(1);
        self.txn.sub_scan(self.db, self.key, walk, &mut |member, _| {
            visit(member);
            ControlFlow::Break(())
        })?;
        Ok(())
    }

    /// The encoding after `member` was added.
    fn encoding_with(&mut self, member: &[u8], limits: &Limits) -> Result<u8> {
        let len = self.len()?;
        if self.encoding == INTSET && parse_i64(member).is_some() {
            return Ok(if len <= limits.intset_entries { INTSET } else { HASHTABLE });
        }
        // The integers of an intset that becomes a listpack are as long as the longest of them can be; Redis compares
        // that with the limit as well, but a limit below twenty bytes is not worth a walk here.
        let fits = len <= limits.listpack_entries && member.len() as u64 <= limits.listpack_value_bytes;
        Ok(if fits { LISTPACK } else { HASHTABLE })
    }

    /// Makes the set one of these members, which were its own.
    fn replace(&mut self, members: &[Vec<u8>]) -> Result<()> {
        let (encoding, expires_at_ms) = (self.encoding, self.expires_at_ms);
        self.txn.put(self.db, self.key, NewRoot { kind: Kind::Set, encoding, expires_at_ms }, &[])?;
        for member in members {
            self.txn.sub_put(self.db, self.key, member, &[])?;
        }
        Ok(())
    }

    fn keep_encoding(&mut self) -> Result<()> {
        if self.encoding != self.encoding_was {
            self.txn.update(self.db, self.key, self.encoding, self.expires_at_ms)?;
            self.encoding_was = self.encoding;
        }
        Ok(())
    }
}
