//! Sorted sets after damage: each member is stored twice, and what one record lost the other one still says.

use std::ops::ControlFlow;

use super::super::Result;
use super::{MEMBER_FAMILY, SCORE_FAMILY, Slot, SortedSet, member_of, read_score, split_scored};
use crate::engine::{Start, SubWalk, Txn, Want};

/// Subkeys of a page: a set may be larger than memory.
const PAGE: usize = 1024;

impl SortedSet<'_> {
    /// Makes the two families of subkeys say the same again, and returns how many subkeys were put or removed.
    ///
    /// A subkey whose partner is missing gets it anew. Where a member has a score that is in no order, and stands in the order with
    /// another score, the older of its two records was lost last: the order is right, since one lost record explains it. A
    /// member that stands in the order with its score and with another one loses the other place. The sign of a zero is lost with
    /// the `m` subkey.
    pub fn mend(&self, txn: &mut Txn<'_>) -> Result<u64> {
        if !self.is_there {
            return Ok(0);
        }
        Ok(self.mend_members(txn)? + self.mend_order(txn)?)
    }

    /// Compares each place in the order with the score of its member.
    fn mend_members(&self, txn: &mut Txn<'_>) -> Result<u64> {
        let (mut mended, mut slot) = (0, Slot::of(&[]));
        let mut from = vec![SCORE_FAMILY];
        loop {
            let page = self.page(txn, &from, Want::Subkeys)?;
            let Some((last, _)) = page.last() else { return Ok(mended) };
            from = behind(last);
            for (subkey, _) in &page {
                let Some((member, score)) = split_scored(subkey) else { continue };
                slot.reset(member);
                match self.score(txn, &mut slot)? {
                    Some(known) if known == score => continue,
                    Some(known) if txn.sub_contains(self.db, self.key, slot.scored_subkey(known))? => {
                        txn.sub_remove(self.db, self.key, subkey)?;
                    }
                    _ => {
                        let score = score.to_bits().to_le_bytes();
                        txn.sub_put(self.db, self.key, slot.member_subkey(), &score)?;
                    }
                }
                mended += 1;
            }
        }
    }

    /// Gives each member that has none a place in the order.
    fn mend_order(&self, txn: &mut Txn<'_>) -> Result<u64> {
        let (mut mended, mut slot) = (0, Slot::of(&[]));
        let mut from = vec![MEMBER_FAMILY];
        loop {
            let page = self.page(txn, &from, Want::Values)?;
            let Some((last, _)) = page.last() else { return Ok(mended) };
            from = behind(last);
            for (subkey, score) in &page {
                let Some(score) = read_score(score) else { continue };
                slot.reset(member_of(subkey));
                if !txn.sub_contains(self.db, self.key, slot.scored_subkey(score))? {
                    txn.sub_put(self.db, self.key, slot.scored_subkey(score), &[])?;
                    mended += 1;
                }
            }
        }
    }

    /// Some subkeys and values of one family, from a subkey of it on; none at its end.
    fn page(&self, txn: &mut Txn<'_>, from: &[u8], want: Want) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
        let mut page = Vec::new();
        let walk = SubWalk::up(Start::Subkey(from), want).expecting(PAGE as u64);
        txn.sub_scan(self.db, self.key, walk, &mut |subkey, value| {
            if subkey.first() != from.first() {
                return ControlFlow::Break(());
            }
            page.push((subkey.to_vec(), value.to_vec()));
            if page.len() == PAGE { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok(page)
    }
}

/// The first bytes behind a subkey.
fn behind(subkey: &[u8]) -> Vec<u8> {
    let mut behind = subkey.to_vec();
    behind.push(0);
    behind
}
