//! The changed subkeys of one key, in the order of their bytes.
//!
//! Most transactions change one or two short subkeys, and those are kept in place: no allocation, no search. What is
//! larger moves to an ordered map.

use std::collections::{BTreeMap, btree_map};
use std::ops::{Bound, RangeBounds};

use smallvec::SmallVec;

/// Bytes of a subkey or its value; short ones are kept in place.
pub type SubBytes = SmallVec<[u8; 32]>;

/// The change of one subkey by a transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubChange {
    /// The value it has now; None if it was removed.
    pub value: Option<SubBytes>,
    /// Whether the committed collection has the subkey. Invariant: a removal is only kept where this is true.
    pub in_base: bool,
}

/// Up to this many changes are kept in place: a member of a sorted set that gets another score is three.
const FEW: usize = 3;

/// Changed subkeys in order, each once.
#[expect(clippy::large_enum_variant, reason = "the large one is the usual one")]
#[derive(Debug)]
pub enum SubChanges {
    /// In place.
    Few(SmallVec<[(SubBytes, SubChange); FEW]>),
    /// In a map.
    Many(BTreeMap<SubBytes, SubChange>),
}

impl Default for SubChanges {
    fn default() -> SubChanges {
        SubChanges::Few(SmallVec::new())
    }
}

impl SubChanges {
    /// Number of changed subkeys.
    pub fn len(&self) -> usize {
        match self {
            SubChanges::Few(few) => few.len(),
            SubChanges::Many(many) => many.len(),
        }
    }

    /// Whether no subkey changed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All changes in ascending order.
    pub fn iter(&self) -> Iter<'_> {
        match self {
            SubChanges::Few(few) => Iter::Few(few.iter()),
            SubChanges::Many(many) => Iter::Many(many.range::<[u8], _>(..)),
        }
    }

    /// The changes within bounds; descending from its back.
    pub(super) fn range(&self, bounds: (Bound<&[u8]>, Bound<&[u8]>)) -> Iter<'_> {
        match self {
            SubChanges::Few(few) => {
                let is_inside = |subkey: &SubBytes| bounds.contains(subkey.as_slice());
                let from = few.iter().take_while(|(subkey, _)| !is_inside(subkey)).count();
                let inside = few.iter().skip(from).take_while(|(subkey, _)| is_inside(subkey)).count();
                Iter::Few(few.get(from..from + inside).unwrap_or_default().iter())
            }
            SubChanges::Many(many) => Iter::Many(many.range::<[u8], _>(bounds)),
        }
    }

    pub(super) fn get(&self, subkey: &[u8]) -> Option<&SubChange> {
        match self {
            SubChanges::Few(few) => {
                few.iter().find(|(other, _)| other.as_slice() == subkey).map(|(_, it)| it)
            }
            SubChanges::Many(many) => many.get(subkey),
        }
    }

    pub(super) fn get_mut(&mut self, subkey: &[u8]) -> Option<&mut SubChange> {
        match self {
            SubChanges::Few(few) => {
                few.iter_mut().find(|(other, _)| other.as_slice() == subkey).map(|(_, it)| it)
            }
            SubChanges::Many(many) => many.get_mut(subkey),
        }
    }

    /// Adds a change of a subkey that has none yet.
    pub(super) fn add(&mut self, subkey: &[u8], change: SubChange) {
        let subkey = SubBytes::from_slice(subkey);
        match self {
            SubChanges::Few(few) if few.len() < FEW => {
                let at = few.iter().take_while(|(other, _)| *other < subkey).count();
                few.insert(at, (subkey, change));
            }
            SubChanges::Few(few) => {
                let mut many: BTreeMap<SubBytes, SubChange> = few.drain(..).collect();
                many.insert(subkey, change);
                *self = SubChanges::Many(many);
            }
            SubChanges::Many(many) => {
                many.insert(subkey, change);
            }
        }
    }

    /// Makes this the change of a subkey, whether it has one or not.
    pub(super) fn set(&mut self, subkey: &[u8], change: SubChange) {
        match self.get_mut(subkey) {
            Some(place) => *place = change,
            None => self.add(subkey, change),
        }
    }

    /// Adds changes of subkeys that have none yet, in ascending order.
    pub(super) fn add_all(&mut self, changes: Vec<(SubBytes, SubChange)>) {
        if self.len() + changes.len() <= FEW {
            return changes.into_iter().for_each(|(subkey, change)| self.add(&subkey, change));
        }
        // A map made of an ordered list costs a fraction of as many insertions.
        let mut more: BTreeMap<SubBytes, SubChange> = changes.into_iter().collect();
        match self {
            SubChanges::Few(few) => {
                more.extend(few.drain(..));
                *self = SubChanges::Many(more);
            }
            SubChanges::Many(many) if many.len() > more.len() / 8 => many.append(&mut more),
            SubChanges::Many(many) => {
                more.extend(std::mem::take(many));
                *many = more;
            }
        }
    }

    pub(super) fn remove(&mut self, subkey: &[u8]) {
        match self {
            SubChanges::Few(few) => few.retain(|(other, _)| other.as_slice() != subkey),
            SubChanges::Many(many) => {
                many.remove(subkey);
            }
        }
    }

    pub(super) fn clear(&mut self) {
        *self = SubChanges::default();
    }
}

impl<'c> IntoIterator for &'c SubChanges {
    type Item = (&'c [u8], &'c SubChange);
    type IntoIter = Iter<'c>;

    fn into_iter(self) -> Iter<'c> {
        self.iter()
    }
}

/// Changes in order.
pub enum Iter<'c> {
    /// Those kept in place.
    Few(std::slice::Iter<'c, (SubBytes, SubChange)>),
    /// Those of a map.
    Many(btree_map::Range<'c, SubBytes, SubChange>),
}

impl<'c> Iterator for Iter<'c> {
    type Item = (&'c [u8], &'c SubChange);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Iter::Few(few) => few.next().map(|(subkey, change)| (subkey.as_slice(), change)),
            Iter::Many(many) => many.next().map(|(subkey, change)| (subkey.as_slice(), change)),
        }
    }
}

impl DoubleEndedIterator for Iter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        match self {
            Iter::Few(few) => few.next_back().map(|(subkey, change)| (subkey.as_slice(), change)),
            Iter::Many(many) => many.next_back().map(|(subkey, change)| (subkey.as_slice(), change)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The changed subkeys, read from both ends.
    fn subkeys(changes: &SubChanges) -> Vec<Vec<u8>> {
        let ascending: Vec<Vec<u8>> = changes.iter().map(|(subkey, _)| subkey.to_vec()).collect();
        let mut descending: Vec<Vec<u8>> = changes.iter().rev().map(|(subkey, _)| subkey.to_vec()).collect();
        descending.reverse();
        assert_eq!(ascending, descending);
        ascending
    }

    #[test]
    fn few_and_many_changes_are_found_in_order() {
        let mut changes = SubChanges::default();
        let mut expected = BTreeMap::new();
        for number in 0..9_u8 {
            let subkey = vec![number.wrapping_mul(7) % 9; 1 + usize::from(number) * 8];
            let change = SubChange { value: Some(SubBytes::from_slice(&subkey)), in_base: number % 2 == 0 };
            changes.add(&subkey, change.clone());
            expected.insert(subkey, change);
            let kept: Vec<Vec<u8>> = expected.keys().cloned().collect();
            assert_eq!(subkeys(&changes), kept);
            assert_eq!(changes.len(), kept.len());
            for (from, to) in [(0, kept.len()), (kept.len() / 2, kept.len()), (0, kept.len() / 2)] {
                let low = kept.get(from).map_or(Bound::Unbounded, |key| Bound::Included(key.as_slice()));
                let high = kept.get(to).map_or(Bound::Unbounded, |key| Bound::Excluded(key.as_slice()));
                let found: Vec<&[u8]> = changes.range((low, high)).map(|(subkey, _)| subkey).collect();
                assert_eq!(found, kept[from..to]);
            }
            for (subkey, change) in &expected {
                assert_eq!(changes.get(subkey), Some(change));
                assert_eq!(changes.get_mut(subkey), Some(&mut change.clone()));
            }
            assert_eq!(changes.get(b"other"), None);
        }
        for few in 0..9_usize {
            for more in 0..40_u8 {
                let change = |_| SubChange { value: None, in_base: true };
                let mut changes = SubChanges::default();
                let kept: Vec<Vec<u8>> = expected.keys().take(few).cloned().collect();
                kept.iter().for_each(|subkey| changes.add(subkey, change(0)));
                let run: Vec<Vec<u8>> = (0..more).map(|number| vec![4, 200, number]).collect();
                changes.add_all(run.iter().map(|it| (SubBytes::from_slice(it), change(0))).collect());
                let mut all = [kept, run].concat();
                all.sort();
                assert_eq!(subkeys(&changes), all);
            }
        }
        for subkey in expected.keys() {
            changes.remove(subkey);
            assert_eq!(changes.get(subkey), None);
        }
        assert!(changes.is_empty());
    }
}
