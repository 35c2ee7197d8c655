//! Sorting with little code: a sort of the standard library is some kilobytes of wasm for each type that it is used with, so here all keys
//! are one type, and all comparisons are of numbers of items. Sets and maps are filled one by one, since collecting them sorts first.
//! The standard library's own are left where most writes sort: members of SADD, words of a document, changes of a transaction.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Sorts by keys; items with equal keys stay in order.
pub fn by_key<T: Copy>(items: &mut [T], key: impl Fn(&T) -> u64) {
    let mut keys: Vec<u128> =
        items.iter().map(|item| u128::from(key(item)) << 32).zip(0..).map(|(key, at)| key | at).collect();
    if keys.is_sorted() {
        return;
    }
    sort(&mut keys);
    let sorted: Vec<T> = keys.iter().filter_map(|key| items.get(*key as u32 as usize).copied()).collect();
    items.iter_mut().zip(sorted).for_each(|(to, from)| *to = from);
}

/// The numbers of the items with the least keys, in no order: so many, or all. Of items with equal keys the first are meant.
pub fn least<T>(items: &[T], wanted: usize, key: impl Fn(&T) -> u64) -> Vec<u32> {
    let mut keys: Vec<u128> =
        items.iter().map(|item| u128::from(key(item)) << 32).zip(0..).map(|(key, at)| key | at).collect();
    select(&mut keys, wanted);
    keys.iter().take(wanted).map(|key| *key as u32).collect()
}

/// Puts so many of the least keys first.
#[inline(never)]
fn select(keys: &mut [u128], wanted: usize) {
    if (1..keys.len()).contains(&wanted) {
        keys.select_nth_unstable(wanted);
    }
}

#[inline(never)]
fn sort(keys: &mut [u128]) {
    keys.sort_unstable();
}

/// Two numbers as one key: sorted by the first, then by the second.
pub fn pair(first: u32, second: u32) -> u64 {
    u64::from(first) << 32 | u64::from(second)
}

/// A number as a key: the least first, what is no number last.
pub fn rising(number: f64) -> u64 {
    // Adding zero makes one of both zeros; all that are no numbers are the same.
    let bits = if number.is_nan() { f64::NAN.to_bits() & (u64::MAX >> 1) } else { (number + 0.0).to_bits() };
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// The numbers below `count` in the order that comparisons of them say; equal ones rise. Merges runs, and needs memory for as many again.
#[inline(never)]
pub fn by(count: u32, compare: &dyn Fn(u32, u32) -> Ordering) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count).collect();
    merge_sort(&mut order, compare);
    order
}

/// Sorts by a comparison; equal items stay in order. Where nobody counts the bytes of the program, by the standard library.
pub fn all<T>(items: &mut [T], compare: impl Fn(&T, &T) -> Ordering) {
    match cfg!(target_arch = "wasm32") {
        true => all_with_little_code(items, &compare),
        false => items.sort_by(compare),
    }
}

fn all_with_little_code<T>(items: &mut [T], compare: &dyn Fn(&T, &T) -> Ordering) {
    if items.is_sorted_by(|one, other| compare(one, other) != Ordering::Greater) {
        return;
    }
    let of = |at: u32| items.get(at as usize);
    let mut order = by(items.len() as u32, &|one, other| match (of(one), of(other)) {
        (Some(one), Some(other)) => compare(one, other),
        _ => Ordering::Equal,
    });
    // Each item goes to its place along a circle of places, each of which is looked at once.
    for start in 0..order.len() {
        let mut at = start;
        while let Some(from) = order.get_mut(at) {
            let from = std::mem::replace(from, at as u32) as usize;
            if from == start {
                break;
            }
            items.swap(at, from);
            at = from;
        }
    }
}

/// Sorts items by their own order; equal ones stay in order.
pub fn plainly<T: Ord>(items: &mut [T]) {
    all(items, T::cmp);
}

/// A set of these items.
pub fn set<T: Ord>(items: impl IntoIterator<Item = T>) -> BTreeSet<T> {
    let mut set = BTreeSet::new();
    set.extend(items);
    set
}

/// A map of these pairs; of pairs with one key the last one counts.
pub fn map<K: Ord, V>(pairs: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, V> {
    let mut map = BTreeMap::new();
    map.extend(pairs);
    map
}

fn merge_sort(order: &mut Vec<u32>, compare: &dyn Fn(u32, u32) -> Ordering) {
    let mut from = std::mem::take(order);
    let mut to = Vec::with_capacity(from.len());
    let mut width = 1;
    while width < from.len() {
        to.clear();
        for run in from.chunks(width * 2) {
            let (mut left, mut right) = run.split_at(width.min(run.len()));
            while let (Some(a), Some(b)) = (left.first(), right.first()) {
                if compare(*a, *b) == Ordering::Greater {
                    to.push(*b);
                    right = right.get(1..).unwrap_or_default();
                } else {
                    to.push(*a);
                    left = left.get(1..).unwrap_or_default();
                }
            }
            to.extend_from_slice(left);
            to.extend_from_slice(right);
        }
        std::mem::swap(&mut from, &mut to);
        width *= 2;
    }
    *order = from;
}

/// The numbers below `count` in the order of the texts that they have; equal ones rise.
#[inline(never)]
pub fn by_text<'t>(count: u32, text: &dyn Fn(u32) -> &'t [u8]) -> Vec<u32> {
    // The beginnings of the texts are numbers that are compared at once.
    let mut keys: Vec<u128> = (0..count).map(|at| beginning(text(at)) | u128::from(at)).collect();
    sort(&mut keys);
    let mut order: Vec<u32> = keys.iter().map(|key| *key as u32).collect();
    let mut start = 0;
    for same in keys.chunk_by(|one, other| one >> 32 == other >> 32) {
        let range = start..start + same.len();
        start = range.end;
        let Some(run) = order.get_mut(range).filter(|run| run.len() > 1) else { continue };
        // Short ones without zeros at the end are the same text if they are equally long.
        let len = run.first().map_or(0, |at| text(*at).len());
        if len <= BEGINNING && run.iter().all(|at| text(*at).len() == len) {
            continue;
        }
        let mut sorted = run.to_vec();
        merge_sort(&mut sorted, &|one, other| text(one).cmp(text(other)));
        run.copy_from_slice(&sorted);
    }
    order
}

/// Bytes of a text that a key has.
const BEGINNING: usize = 12;

/// The first bytes of a text, as the upper bits of a number.
fn beginning(text: &[u8]) -> u128 {
    let mut bytes = [0; 16];
    bytes.iter_mut().zip(text.iter().take(BEGINNING)).for_each(|(to, from)| *to = *from);
    u128::from_be_bytes(bytes)
}

/// The first `wanted` of [`by()`], without sorting all.
#[inline(never)]
pub fn first(count: u32, wanted: usize, compare: &dyn Fn(u32, u32) -> Ordering) -> Vec<u32> {
    if wanted == 0 {
        return Vec::new();
    }
    let most = wanted.saturating_mul(2).max(256);
    let mut best: Vec<u32> = Vec::new();
    let mut bound: Option<u32> = None;
    for at in 0..count {
        if bound.is_some_and(|bound| compare(bound, at) != Ordering::Greater) {
            continue;
        }
        best.push(at);
        if best.len() >= most {
            merge_sort(&mut best, compare);
            best.truncate(wanted);
            bound = best.last().copied();
        }
    }
    merge_sort(&mut best, compare);
    best.truncate(wanted);
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sorts_are_those_of_the_standard_library() {
        let mut rng = fastrand::Rng::with_seed(3);
        for count in [0u32, 1, 2, 7, 300, 3000] {
            let numbers: Vec<u16> = (0..count).map(|_| rng.u16(0..500)).collect();
            let mut wanted: Vec<u32> = (0..count).collect();
            wanted.sort_by_key(|at| numbers[*at as usize]);
            let compare = |a: u32, b: u32| numbers[a as usize].cmp(&numbers[b as usize]);
            assert_eq!(by(count, &compare), wanted);
            let mut items: Vec<u32> = (0..count).collect();
            by_key(&mut items, |at| u64::from(numbers[*at as usize]));
            assert_eq!(items, wanted);
            for some in [0, 1, 10, 400, 5000] {
                let mut least = least(&numbers, some, |number| u64::from(*number));
                least.sort_by_key(|at| (numbers[*at as usize], *at));
                assert_eq!(least, wanted[..wanted.len().min(some)]);
            }
            let mut items: Vec<(u16, u32)> = numbers.iter().copied().zip(0..).collect();
            all_with_little_code(&mut items, &|one, other| one.0.cmp(&other.0));
            assert!(items.iter().map(|item| item.1).eq(wanted.iter().copied()));
            plainly(&mut items);
            assert!(items.is_sorted());
            for some in [0, 1, 10, 400, 5000] {
                assert_eq!(first(count, some, &compare), wanted[..wanted.len().min(some)]);
            }
        }
    }

    #[test]
    fn texts_are_in_the_order_of_their_bytes() {
        let mut rng = fastrand::Rng::with_seed(5);
        for count in [0u32, 1, 2, 300] {
            let mut text = || -> Vec<u8> {
                let common = &b"abcdefghijklmnop"[..rng.usize(0..17)];
                common.iter().copied().chain((0..rng.usize(0..3)).map(|_| rng.u8(0..2))).collect()
            };
            let texts: Vec<Vec<u8>> = (0..count).map(|_| text()).collect();
            let mut wanted: Vec<u32> = (0..count).collect();
            wanted.sort_by_key(|at| &texts[*at as usize]);
            assert_eq!(by_text(count, &|at| &texts[at as usize]), wanted);
        }
    }

    #[test]
    fn numbers_as_keys() {
        let numbers = [f64::NEG_INFINITY, -2.0, -0.5, 0.0, 1e-300, 3.0, f64::INFINITY, f64::NAN];
        assert!(numbers.map(rising).is_sorted_by(|a, b| a < b));
        assert_eq!((rising(-0.0), rising(-f64::NAN)), (rising(0.0), rising(f64::NAN)));
    }
}
