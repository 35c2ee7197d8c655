//! The changed subkeys of one key, in the order of their bytes.
//!
//! Most transactions change one or two short subkeys, and those are kept in place: no allocation, no search. Some more, as a
//! group of requests changes, and any number that come in order, as those of a long RPUSH or of a stored union do, are a list,
//! which costs a fraction of a map. What is larger and comes in another order moves to an ordered map.

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

/// A list of so many changes takes one at any place for less than a map does.
const LIST_LEN: usize = 64;

/// A list begins with room for so many: as a group of requests changes.
const LIST_BEGINS_WITH: usize = 18;

/// Changed subkeys in order, each once.
#[expect(clippy::large_enum_variant, reason = "the large one is the usual one")]
#[derive(Debug)]
pub enum SubChanges {
    /// In place.
    Few(SmallVec<[(SubBytes, SubChange); FEW]>),
    /// In a list, because they are some, or were added in ascending order.
    Run(Vec<(SubBytes, SubChange)>),
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
            SubChanges::Run(run) => run.len(),
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
            SubChanges::Run(run) => Iter::Few(run.iter()),
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
            SubChanges::Run(run) => {
                let from = match bounds.0 {
                    Bound::Included(from) => run.partition_point(|(subkey, _)| subkey.as_slice() < from),
                    Bound::Excluded(from) => run.partition_point(|(subkey, _)| subkey.as_slice() <= from),
                    Bound::Unbounded => 0,
                };
                let to = match bounds.1 {
                    Bound::Included(to) => run.partition_point(|(subkey, _)| subkey.as_slice() <= to),
                    Bound::Excluded(to) => run.partition_point(|(subkey, _)| subkey.as_slice() < to),
                    Bound::Unbounded => run.len(),
                };
                Iter::Few(run.get(from..to).unwrap_or_default().iter())
            }
            SubChanges::Many(many) => Iter::Many(many.range::<[u8], _>(bounds)),
        }
    }

    pub(super) fn get(&self, subkey: &[u8]) -> Option<&SubChange> {
        match self {
            SubChanges::Few(few) => {
                few.iter().find(|(other, _)| other.as_slice() == subkey).map(|(_, it)| it)
            }
            SubChanges::Run(run) => place_in(run, subkey).ok().and_then(|at| run.get(at)).map(|(_, it)| it),
            SubChanges::Many(many) => many.get(subkey),
        }
    }

    pub(super) fn get_mut(&mut self, subkey: &[u8]) -> Option<&mut SubChange> {
        match self {
            SubChanges::Few(few) => {
                few.iter_mut().find(|(other, _)| other.as_slice() == subkey).map(|(_, it)| it)
            }
            SubChanges::Run(run) => {
                let at = place_in(run, subkey).ok()?;
                run.get_mut(at).map(|(_, it)| it)
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
                let mut run = Vec::with_capacity(LIST_BEGINS_WITH);
                run.extend(few.drain(..));
                insert_in(&mut run, subkey, change);
                *self = SubChanges::Run(run);
            }
            SubChanges::Run(run)
                if run.len() < LIST_LEN || run.last().is_none_or(|(last, _)| *last < subkey) =>
            {
                insert_in(run, subkey, change);
            }
            SubChanges::Run(_) => {
                self.many().insert(subkey, change);
            }
            SubChanges::Many(many) => {
                many.insert(subkey, change);
            }
        }
    }

    /// Moves the changes to a map, unless they are in one.
    fn many(&mut self) -> &mut BTreeMap<SubBytes, SubChange> {
        let many: BTreeMap<SubBytes, SubChange> = match self {
            SubChanges::Few(few) => few.drain(..).collect(),
            SubChanges::Run(run) => std::mem::take(run).into_iter().collect(),
            SubChanges::Many(many) => std::mem::take(many),
        };
        *self = SubChanges::Many(many);
        match self {
            SubChanges::Many(many) => many,
            SubChanges::Few(_) | SubChanges::Run(_) => unreachable!("they are in a map now"),
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
        if let SubChanges::Run(run) = self
            && run.last().map(|(last, _)| last) < changes.first().map(|(first, _)| first)
        {
            run.extend(changes);
            return;
        }
        // A map made of an ordered list costs a fraction of as many insertions.
        let mut more: BTreeMap<SubBytes, SubChange> = changes.into_iter().collect();
        match self {
            SubChanges::Few(few) => {
                more.extend(few.drain(..));
                *self = SubChanges::Many(more);
            }
            SubChanges::Run(run) => {
                more.extend(std::mem::take(run));
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
            SubChanges::Run(run)
                if run.len() <= LIST_LEN || run.last().is_some_and(|(last, _)| last.as_slice() == subkey) =>
            {
                if let Ok(at) = place_in(run, subkey) {
                    run.remove(at);
                }
            }
            SubChanges::Run(_) => {
                self.many().remove(subkey);
            }
            SubChanges::Many(many) => {
                many.remove(subkey);
            }
        }
    }

    pub(super) fn clear(&mut self) {
        *self = SubChanges::default();
    }
}

/// The place of a subkey in an ordered list, or the place where it belongs. What comes behind all others, as nearly every
/// subkey does that is looked for in one, is found at once.
fn place_in(run: &[(SubBytes, SubChange)], subkey: &[u8]) -> Result<usize, usize> {
    match run.last() {
        Some((last, _)) if last.as_slice() < subkey => Err(run.len()),
        _ => run.binary_search_by(|(other, _)| other.as_slice().cmp(subkey)),
    }
}

/// Puts a change that is not there into an ordered list.
fn insert_in(run: &mut Vec<(SubBytes, SubChange)>, subkey: SubBytes, change: SubChange) {
    let (Ok(at) | Err(at)) = place_in(run, &subkey);
    run.insert(at, (subkey, change));
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
    /// Those kept in place or in a list.
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
        assert_eq!(changes.len(), expected.len());
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

    /// Changes that come in order are kept in another form; everything else must be as with a map.
    #[test]
    fn changes_in_order_differ_from_a_map() {
        let mut random = fastrand::Rng::with_seed(15);
        for _ in 0..300 {
            let mut changes = SubChanges::default();
            let mut expected: BTreeMap<SubBytes, SubChange> = BTreeMap::new();
            let mut next = 0_u32;
            for _ in 0..random.usize(..200) {
                // Nearly always in order.
                next = if random.u8(..20) == 0 { random.u32(..next + 1) } else { next + random.u32(1..3) };
                let subkey = SubBytes::from_slice(&next.to_be_bytes());
                let change = SubChange { value: Some(subkey.clone()), in_base: random.bool() };
                match random.u8(..10) {
                    0 => {
                        changes.remove(&subkey);
                        expected.remove(&subkey);
                    }
                    1 => {
                        if let Some(last) = expected.keys().next_back().cloned() {
                            changes.remove(&last);
                            expected.remove(&last);
                        }
                    }
                    _ => {
                        changes.set(&subkey, change.clone());
                        expected.insert(subkey, change);
                    }
                }
                let probe = random.u32(..next + 3).to_be_bytes();
                assert_eq!(changes.get(&probe), expected.get(probe.as_slice()));
                assert_eq!(changes.get_mut(&probe), expected.get_mut(probe.as_slice()));
            }
            let kept: Vec<Vec<u8>> = expected.keys().map(|subkey| subkey.to_vec()).collect();
            assert_eq!(subkeys(&changes), kept);
            let (low, high) = (random.u32(..next + 2), random.u32(..next + 2));
            let (low, high) = (low.min(high).to_be_bytes(), low.max(high).to_be_bytes());
            for low in [Bound::Unbounded, Bound::Included(&low[..]), Bound::Excluded(&low[..])] {
                for high in [Bound::Unbounded, Bound::Included(&high[..])] {
                    let found: Vec<&[u8]> = changes.range((low, high)).map(|(subkey, _)| subkey).collect();
                    let wanted: Vec<&[u8]> =
                        expected.range::<[u8], _>((low, high)).map(|(subkey, _)| subkey.as_slice()).collect();
                    assert_eq!(found, wanted);
                }
            }
        }
    }
}
