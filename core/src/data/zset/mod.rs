//! Sorted sets: members with scores, ordered by score and then by the member's bytes.
//!
//! A key of kind [`Kind::SortedSet`] has two families of subkeys, two for each member:
//!
//! ```text
//!  "m" member                     -> score, 8 bytes, little-endian IEEE 754      finds a member
//!  "s" sortable score, 8  member  -> nothing                                     keeps the order
//! ```
//!
//! The engine counts subkeys and `m` sorts before `s`, so with n members the first n ranks are the `m` family and the
//! next n ranks are the set in order: ZCARD is half of the subkeys, ZRANK is the rank of an `s` subkey less n, and any
//! range of ranks, scores or names is a run of `s` subkeys whose ends cost O(log n). An `s` subkey says score and
//! member by itself, so walking a range reads no values.
//!
//! Both families are needed. Without `m`, finding the score of a member means walking the set; without `s`, so does
//! everything ordered. Keeping only `m` while a set is small would write one record less for a member, but then every
//! range and every ZPOPMIN reads all values, each of which may be a disk read, to save a few bytes of log: the sets that
//! stay small are the queues that are popped from.
//!
//! Invariant: the families hold the same members, and an `s` subkey has the score its `m` subkey says.
//!
//! Zero has two signs that compare equal. The sortable form has one zero only; the sign is kept in the `m` value, and
//! the root remembers ([`NEGATIVE_ZERO`]) that a walk which shows scores has to look there for zeros.

mod mend;
mod range;
mod score;
mod source;

use std::ops::{ControlFlow, Range};

use smallvec::SmallVec;

use super::{Result, root_of_kind};
use crate::engine::{Db, Direction, Kind, NewRoot, Root, Start, SubWalk, Txn, Want};
use crate::sorted;

pub use range::{LexBound, LexRange, ScoreBound, ScoreRange};
use score::{SORTABLE_BYTES, from_sortable, sortable};
pub use source::Source;

/// In [`Root::encoding`]: the set has outgrown Redis' listpack.
const SKIPLIST: u8 = 1;

/// In [`Root::encoding`]: a member may have the score -0.
const NEGATIVE_ZERO: u8 = 2;

const MEMBER_FAMILY: u8 = b'm';
const SCORE_FAMILY: u8 = b's';

/// Where the member begins in an `s` subkey.
const SCORED_PREFIX_BYTES: usize = 1 + SORTABLE_BYTES;

/// The name OBJECT ENCODING has for a sorted set with this root.
pub fn encoding_name(root: &Root) -> &'static str {
    if root.encoding & SKIPLIST == 0 { "listpack" } else { "skiplist" }
}

/// Up to where a set has Redis' small encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListpackLimits {
    /// Most members (`zset-max-listpack-entries`).
    pub entries: u64,
    /// Longest member in bytes (`zset-max-listpack-value`).
    pub value_bytes: u64,
}

impl ListpackLimits {
    /// Whether a set of so many members, the longest with so many bytes, has the small encoding.
    fn hold(self, entries: u64, longest_bytes: u64) -> bool {
        entries <= self.entries && longest_bytes <= self.value_bytes
    }
}

/// One member's two subkeys, in one buffer.
///
/// ```text
///   0         1               8     9
///  "s"  sortable score  …  | "m" | member …       the score's last byte and "m" share a place:
///                                                  one of the two subkeys is there at a time
/// ```
pub struct Slot {
    bytes: SmallVec<[u8; 64]>,
}

impl Slot {
    /// The slot of a member.
    pub fn of(member: &[u8]) -> Slot {
        let mut slot = Slot { bytes: SmallVec::with_capacity(SCORED_PREFIX_BYTES + member.len()) };
        slot.reset(member);
        slot
    }

    /// Makes this the slot of another member.
    pub fn reset(&mut self, member: &[u8]) {
        self.bytes.clear();
        self.bytes.extend_from_slice(&[0; SCORED_PREFIX_BYTES]);
        self.bytes.extend_from_slice(member);
    }

    fn member(&self) -> &[u8] {
        self.bytes.get(SCORED_PREFIX_BYTES..).unwrap_or_default()
    }

    fn member_subkey(&mut self) -> &[u8] {
        let (_, subkey) = self.bytes.split_at_mut(SCORED_PREFIX_BYTES - 1);
        if let Some(family) = subkey.first_mut() {
            *family = MEMBER_FAMILY;
        }
        subkey
    }

    fn scored_subkey(&mut self, score: f64) -> &[u8] {
        let (prefix, _) = self.bytes.split_at_mut(SCORED_PREFIX_BYTES);
        prefix.copy_from_slice(&scored_prefix(score));
        &self.bytes
    }
}

/// How the `s` subkeys of a score begin.
fn scored_prefix(score: f64) -> [u8; SCORED_PREFIX_BYTES] {
    let mut prefix = [SCORE_FAMILY; SCORED_PREFIX_BYTES];
    let (_, rest) = prefix.split_at_mut(1);
    rest.copy_from_slice(&sortable(score));
    prefix
}

/// Score and member of an `s` subkey; None for bytes that are none.
fn split_scored(subkey: &[u8]) -> Option<(&[u8], f64)> {
    let (prefix, member) = subkey.split_at_checked(SCORED_PREFIX_BYTES)?;
    let (family, score) = prefix.split_first()?;
    let score = from_sortable(score.try_into().ok()?);
    (*family == SCORE_FAMILY).then_some((member, score))
}

/// Sees a member and its score.
pub type MemberVisitor<'v> = &'v mut dyn FnMut(&[u8], f64);

/// A key that is a sorted set or missing; a missing one reads as empty.
#[derive(Clone, Copy, Debug)]
pub struct SortedSet<'k> {
    db: Db,
    key: &'k [u8],
    encoding: u8,
    expires_at_ms: Option<u64>,
    is_there: bool,
}

impl<'k> SortedSet<'k> {
    /// The sorted set at a key.
    pub fn open(txn: &mut Txn<'_>, db: Db, key: &'k [u8]) -> Result<SortedSet<'k>> {
        let root = root_of_kind(txn, db, key, Kind::SortedSet)?;
        Ok(SortedSet {
            db,
            key,
            encoding: root.map_or(0, |root| root.encoding),
            expires_at_ms: root.and_then(|root| root.expires_at_ms),
            is_there: root.is_some(),
        })
    }

    /// Whether the key is there.
    pub fn is_there(&self) -> bool {
        self.is_there
    }

    /// Whether the set still has Redis' small encoding.
    pub fn is_listpack(&self) -> bool {
        self.encoding & SKIPLIST == 0
    }

    /// Number of members.
    pub fn len(&self, txn: &mut Txn<'_>) -> Result<u64> {
        Ok(txn.sub_len(self.db, self.key)? / 2)
    }

    /// The score of the slot's member.
    pub fn score(&self, txn: &mut Txn<'_>, slot: &mut Slot) -> Result<Option<f64>> {
        if !self.is_there {
            return Ok(None);
        }
        let mut score = None;
        txn.sub_read(self.db, self.key, slot.member_subkey(), &mut |value| score = read_score(value))?;
        Ok(score)
    }

    /// Whether the slot's member is there; reads no value.
    pub fn contains(&self, txn: &mut Txn<'_>, slot: &mut Slot) -> Result<bool> {
        Ok(self.is_there && txn.sub_contains(self.db, self.key, slot.member_subkey())?)
    }

    /// The rank from the lowest score of the slot's member, which has this score.
    pub fn rank(&self, txn: &mut Txn<'_>, slot: &mut Slot, score: f64) -> Result<u64> {
        let rank = txn.sub_rank(self.db, self.key, slot.scored_subkey(score))?;
        Ok(rank.saturating_sub(self.len(txn)?))
    }

    /// Says that the members with these ranks are about to be shown. A hint.
    pub fn announce_ranks(&self, txn: &mut Txn<'_>, ranks: &[u64]) -> Result<()> {
        let len = self.len(txn)?;
        let ranks: Vec<u64> = ranks.iter().map(|rank| len.saturating_add(*rank)).collect();
        Ok(txn.announce_ranks(self.db, self.key, &ranks)?)
    }

    /// Shows the members with these ranks, in either direction. A range must lie within the set.
    pub fn scan(
        &self,
        txn: &mut Txn<'_>,
        ranks: Range<u64>,
        direction: Direction,
        visit: MemberVisitor<'_>,
    ) -> Result<()> {
        if self.encoding & NEGATIVE_ZERO == 0 {
            return self.scan_sortable(txn, ranks, direction, visit);
        }
        let mut members = Vec::new();
        self.scan_sortable(txn, ranks, direction, &mut |member, score| {
            members.push((member.to_vec(), score))
        })?;
        for (member, mut score) in members {
            if score == 0.0 {
                score = self.score(txn, &mut Slot::of(&member))?.unwrap_or(score);
            }
            visit(&member, score);
        }
        Ok(())
    }

    /// Shows the members with these places in the order of their bytes, which must lie within the set.
    fn scan_by_name(&self, txn: &mut Txn<'_>, places: Range<u64>, visit: MemberVisitor<'_>) -> Result<()> {
        if places.is_empty() {
            return Ok(());
        }
        let mut left = places.end - places.start;
        let start = if places.start == 0 { Start::End } else { Start::Rank(places.start) };
        let walk = SubWalk::up(start, Want::Values).expecting(left);
        txn.sub_scan(self.db, self.key, walk, &mut |subkey, value| {
            if let Some(score) = read_score(value) {
                visit(member_of(subkey), score);
            }
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok(())
    }

    /// As [`scan`](Self::scan), but every zero is shown as positive.
    fn scan_sortable(
        &self,
        txn: &mut Txn<'_>,
        ranks: Range<u64>,
        direction: Direction,
        visit: MemberVisitor<'_>,
    ) -> Result<()> {
        let len = self.len(txn)?;
        let ranks = ranks.start..ranks.end.min(len);
        if ranks.is_empty() {
            return Ok(());
        }
        let start = match direction {
            Direction::Ascending if ranks.start == 0 => Start::Subkey(&[SCORE_FAMILY]),
            Direction::Ascending => Start::Rank(len + ranks.start),
            Direction::Descending if ranks.end == len => Start::End,
            Direction::Descending => Start::Rank(len + ranks.end - 1),
        };
        let mut left = ranks.end - ranks.start;
        let walk = SubWalk::new(start, direction, Want::Subkeys).expecting(left);
        txn.sub_scan(self.db, self.key, walk, &mut |subkey, _| {
            if let Some((member, score)) = split_scored(subkey) {
                visit(member, score);
            }
            left -= 1;
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok(())
    }

    /// Gets ready for `count` members to be put, the first of them with `first_bytes` bytes: like Redis, a set that is
    /// about to grow beyond the small encoding leaves it at once.
    pub fn expect(
        &mut self,
        txn: &mut Txn<'_>,
        count: u64,
        first_bytes: u64,
        limits: ListpackLimits,
    ) -> Result<()> {
        let first_bytes = if self.is_there { 0 } else { first_bytes };
        if self.is_listpack() && !limits.hold(count, first_bytes) {
            self.set_encoding(txn, self.encoding | SKIPLIST)?;
        }
        Ok(())
    }

    /// Gives the slot's member, which had the score `old` until now, another score. Makes the key if it is missing.
    /// `limits` is only asked while it matters.
    pub fn put(
        &mut self,
        txn: &mut Txn<'_>,
        slot: &mut Slot,
        old: Option<f64>,
        new: f64,
        limits: &mut dyn FnMut() -> ListpackLimits,
    ) -> Result<()> {
        if old.is_none() && self.is_listpack() {
            let len = self.len(txn)?;
            if !limits().hold(len + 1, slot.member().len() as u64) {
                self.set_encoding(txn, self.encoding | SKIPLIST)?;
            }
        }
        self.put_scored(txn, slot, old, new)
    }

    fn put_scored(&mut self, txn: &mut Txn<'_>, slot: &mut Slot, old: Option<f64>, new: f64) -> Result<()> {
        let new = self.storable(txn, new)?;
        self.ensure_root(txn)?;
        if let Some(old) = old {
            txn.sub_remove(self.db, self.key, slot.scored_subkey(old))?;
        }
        // A zero may change its sign in place.
        match old {
            Some(old) if old == new => {
                txn.sub_put(self.db, self.key, slot.scored_subkey(new), &[])?;
            }
            _ => txn.sub_add(self.db, self.key, slot.scored_subkey(new), &[])?,
        }
        let score = new.to_bits().to_le_bytes();
        match old {
            Some(_) => {
                txn.sub_put(self.db, self.key, slot.member_subkey(), &score)?;
            }
            None => txn.sub_add(self.db, self.key, slot.member_subkey(), &score)?,
        }
        Ok(())
    }

    /// Redis' listpack cannot tell -0 from 0 and stores 0; its skiplist keeps the sign.
    fn storable(&mut self, txn: &mut Txn<'_>, score: f64) -> Result<f64> {
        let is_negative_zero = score == 0.0 && score.is_sign_negative();
        if is_negative_zero && self.is_listpack() {
            return Ok(0.0);
        }
        if is_negative_zero && self.encoding & NEGATIVE_ZERO == 0 {
            self.set_encoding(txn, self.encoding | NEGATIVE_ZERO)?;
        }
        Ok(score)
    }

    fn set_encoding(&mut self, txn: &mut Txn<'_>, encoding: u8) -> Result<()> {
        self.encoding = encoding;
        if self.is_there {
            txn.update(self.db, self.key, encoding, self.expires_at_ms)?;
        }
        Ok(())
    }

    fn ensure_root(&mut self, txn: &mut Txn<'_>) -> Result<()> {
        if !self.is_there {
            let root = NewRoot { encoding: self.encoding, ..NewRoot::of(Kind::SortedSet) };
            txn.put(self.db, self.key, root, &[])?;
            self.is_there = true;
        }
        Ok(())
    }

    /// Removes the slot's member; true if it was there. The key goes with its last member.
    pub fn remove(&mut self, txn: &mut Txn<'_>, slot: &mut Slot) -> Result<bool> {
        let Some(score) = self.score(txn, slot)? else { return Ok(false) };
        txn.sub_remove(self.db, self.key, slot.scored_subkey(score))?;
        txn.sub_remove(self.db, self.key, slot.member_subkey())?;
        if txn.sub_len(self.db, self.key)? == 0 {
            self.remove_all(txn)?;
        }
        Ok(true)
    }

    /// Removes the members with these ranks, showing each if asked; the key goes with its last member.
    pub fn remove_ranks(
        &mut self,
        txn: &mut Txn<'_>,
        ranks: Range<u64>,
        direction: Direction,
        visit: Option<MemberVisitor<'_>>,
    ) -> Result<()> {
        let is_all = ranks.start == 0 && ranks.end >= self.len(txn)?;
        let mut gone: Vec<(Vec<u8>, f64)> = Vec::new();
        match visit {
            Some(visit) => self.scan(txn, ranks, direction, &mut |member, score| {
                visit(member, score);
                if !is_all {
                    gone.push((member.to_vec(), score));
                }
            })?,
            None if is_all => {}
            None => self.scan_sortable(txn, ranks, direction, &mut |member, score| {
                gone.push((member.to_vec(), score));
            })?,
        }
        if is_all {
            return self.remove_all(txn);
        }
        let mut slot = Slot::of(&[]);
        for (member, score) in gone {
            slot.reset(&member);
            txn.sub_remove(self.db, self.key, slot.scored_subkey(score))?;
            txn.sub_remove(self.db, self.key, slot.member_subkey())?;
        }
        Ok(())
    }

    fn remove_all(&mut self, txn: &mut Txn<'_>) -> Result<()> {
        txn.remove(self.db, self.key)?;
        self.is_there = false;
        Ok(())
    }
}

/// Replaces whatever a key is with a sorted set of these members, each named once; without any, the key is gone.
pub fn replace<M: AsRef<[u8]>>(
    txn: &mut Txn<'_>,
    db: Db,
    key: &[u8],
    members: &[(M, f64)],
    limits: ListpackLimits,
) -> Result<()> {
    if members.is_empty() {
        txn.remove(db, key)?;
    }
    let longest = members.iter().map(|(member, _)| member.as_ref().len() as u64).max().unwrap_or(0);
    let encoding = if limits.hold(members.len() as u64, longest) { 0 } else { SKIPLIST };
    let mut set = SortedSet { db, key, encoding, expires_at_ms: None, is_there: false };
    let mut slot = Slot::of(&[]);
    let mut stored = Vec::with_capacity(members.len());
    for (member, score) in members {
        stored.push((member.as_ref(), set.storable(txn, *score)?));
    }
    if !stored.is_empty() {
        set.ensure_root(txn)?;
    }
    // One family behind the other, and each in order: subkeys that come in order cost a fraction of others.
    sorted::all(&mut stored, |(left, _), (right, _)| left.cmp(right));
    for (member, score) in &stored {
        slot.reset(member);
        txn.sub_add(db, key, slot.member_subkey(), &score.to_bits().to_le_bytes())?;
    }
    // As their subkeys are sorted: both zeros are one, and no score is NaN.
    sorted::all(&mut stored, |(_, left), (_, right)| {
        left.partial_cmp(right).unwrap_or(std::cmp::Ordering::Equal)
    });
    for (member, score) in &stored {
        slot.reset(member);
        txn.sub_add(db, key, slot.scored_subkey(*score), &[])?;
    }
    Ok(())
}

/// The member of an `m` subkey.
pub fn member_of(subkey: &[u8]) -> &[u8] {
    subkey.split_first().map_or(subkey, |(_, member)| member)
}

/// The member of a subkey, if that is an `m` subkey.
pub fn named_member(subkey: &[u8]) -> Option<&[u8]> {
    subkey.strip_prefix(&[MEMBER_FAMILY])
}

/// The score in the value of an `m` subkey.
pub fn read_score(value: &[u8]) -> Option<f64> {
    Some(f64::from_bits(u64::from_le_bytes(value.try_into().ok()?)))
}
