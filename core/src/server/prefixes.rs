//! Prefixes of keys, to be compared with every key that is written.
//!
//! Invariant: none of them begins with another one, so that only the last one that is not above a key can be a prefix of it.

/// Some prefixes.
#[derive(Clone, Debug, Default)]
pub(in crate::server) struct Prefixes {
    /// Whether the empty prefix is among them, so that every key has one.
    all: bool,
    /// Which bytes begin one, a bit each: most keys begin with another byte.
    first: [u64; 4],
    sorted: Vec<Box<[u8]>>,
}

impl Prefixes {
    /// These.
    pub fn of<'p>(prefixes: impl Iterator<Item = &'p [u8]>) -> Prefixes {
        let mut all: Vec<&[u8]> = prefixes.collect();
        all.sort_unstable();
        let mut set = Prefixes::default();
        for prefix in all {
            let Some(first) = prefix.first() else {
                set.all = true;
                continue;
            };
            if let Some(word) = set.first.get_mut(usize::from(first >> 6)) {
                *word |= 1 << (first & 63);
            }
            // One that begins with another one comes right behind it, or behind others that do.
            if set.sorted.last().is_none_or(|last| !prefix.starts_with(last)) {
                set.sorted.push(prefix.into());
            }
        }
        set
    }

    /// Whether the key begins with one of them.
    #[inline]
    pub fn has_one_of(&self, key: &[u8]) -> bool {
        if self.all {
            return true;
        }
        let Some(first) = key.first() else { return false };
        let word = self.first.get(usize::from(first >> 6)).copied().unwrap_or_default();
        word & 1 << (first & 63) != 0 && self.finds(key)
    }

    fn finds(&self, key: &[u8]) -> bool {
        let behind = self.sorted.partition_point(|prefix| **prefix <= *key);
        let last = behind.checked_sub(1).and_then(|at| self.sorted.get(at));
        last.is_some_and(|prefix| key.starts_with(prefix))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn short() -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::vec(prop_oneof![Just(b'a'), Just(b'b'), Just(0), Just(255)], 0..5)
    }

    proptest! {
        #[test]
        fn key_with_a_prefix_is_missed(prefixes in proptest::collection::vec(short(), 0..6), key in short()) {
            let set = Prefixes::of(prefixes.iter().map(Vec::as_slice));
            prop_assert_eq!(set.has_one_of(&key), prefixes.iter().any(|prefix| key.starts_with(prefix)));
        }
    }
}
