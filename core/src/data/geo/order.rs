//! The nearest or the furthest of what was found, in their order.
//!
//! Where several are equally far, Redis' order shows in replies, and with COUNT even which of them are in it. All of
//! them are sorted without changing the order of equals; of fewer, only the places that are wanted are put in order, by
//! the quicksort of Bentley and McIlroy ("Engineering a sort function", 1993), whose steps are followed here one by one.
//! Its worst case is the square of the count, so beyond [`GEO_PARTIAL_SORT_MAX`] equals come as they were found.

use std::cmp::Ordering;

use super::Found;
use crate::limits::GEO_PARTIAL_SORT_MAX;
use crate::sorted;

/// Fewer than these are sorted by insertion.
const INSERTION_MAX: usize = 7;

/// From more than these the pivot is chosen among nine.
const NINTHER_MIN: usize = 40;

/// Compares two of them.
type Compare<'c> = &'c dyn Fn(&Found, &Found) -> Ordering;

/// Leaves the first `count` of an order.
pub fn keep_first(found: &mut Vec<Found>, count: usize, compare: Compare<'_>) {
    if count < found.len() && found.len() <= GEO_PARTIAL_SORT_MAX {
        sort_first(found, count, compare);
    } else {
        sorted::all(found, compare);
    }
    found.truncate(count);
}

/// Puts the first `count` places in order.
fn sort_first(all: &mut [Found], count: usize, compare: Compare<'_>) {
    let mut parts = vec![(0, all.len())];
    while let Some((start, end)) = parts.pop() {
        // A part behind the wanted places may stay as it is.
        if start >= count && start > 0 {
            continue;
        }
        let Some(part) = all.get_mut(start..end) else { continue };
        if let Some((smaller, larger)) = split(part, compare) {
            parts.extend(
                [(start, start + smaller), (end - larger, end)]
                    .into_iter()
                    .filter(|part| part.1 > part.0 + 1),
            );
        }
    }
}

/// Divides into smaller ones at the front, equal ones, and larger ones at the end; tells how many are smaller and how
/// many larger. None if there are so few that all were put in order.
fn split(part: &mut [Found], compare: Compare<'_>) -> Option<(usize, usize)> {
    let len = part.len();
    if len < INSERTION_MAX {
        insert(part, compare);
        return None;
    }
    let pivot = pivot(part, compare);
    part.swap(0, pivot);
    // Equal ones wait before `equal_low` and behind `equal_high`; the rest between `low` and `high` is to be divided.
    let (mut equal_low, mut low) = (1, 1);
    let (mut high, mut equal_high) = (len, len);
    loop {
        while low < high && compare(&part[low], &part[0]) != Ordering::Greater {
            if compare(&part[low], &part[0]) == Ordering::Equal {
                part.swap(equal_low, low);
                equal_low += 1;
            }
            low += 1;
        }
        while low < high && compare(&part[high - 1], &part[0]) != Ordering::Less {
            if compare(&part[high - 1], &part[0]) == Ordering::Equal {
                part.swap(high - 1, equal_high - 1);
                equal_high -= 1;
            }
            high -= 1;
        }
        if low >= high {
            break;
        }
        part.swap(low, high - 1);
        (low, high) = (low + 1, high - 1);
    }
    let (smaller, larger) = (low - equal_low, equal_high - high);
    exchange(part, 0, low, equal_low.min(smaller));
    exchange(part, low, len, larger.min(len - equal_high));
    Some((smaller, larger))
}

/// Exchanges `count` from `start` on with as many before `end`.
fn exchange(part: &mut [Found], start: usize, end: usize, count: usize) {
    for at in 0..count {
        part.swap(start + at, end - count + at);
    }
}

fn insert(part: &mut [Found], compare: Compare<'_>) {
    for end in 1..part.len() {
        let mut at = end;
        while at > 0 && compare(&part[at - 1], &part[at]) == Ordering::Greater {
            part.swap(at - 1, at);
            at -= 1;
        }
    }
}

/// The place of an element that is probably in the middle.
fn pivot(part: &[Found], compare: Compare<'_>) -> usize {
    let len = part.len();
    let (mut low, mut middle, mut high) = (0, len / 2, len - 1);
    if len == INSERTION_MAX {
        return middle;
    }
    if len > NINTHER_MIN {
        let step = len / 8;
        low = median(part, [low, low + step, low + 2 * step], compare);
        middle = median(part, [middle - step, middle, middle + step], compare);
        high = median(part, [high - 2 * step, high - step, high], compare);
    }
    median(part, [low, middle, high], compare)
}

fn median(part: &[Found], [a, b, c]: [usize; 3], compare: Compare<'_>) -> usize {
    let order = |left: usize, right: usize| compare(&part[left], &part[right]);
    let a_is_less = order(a, c) == Ordering::Less;
    match (order(a, b), order(b, c)) {
        (Ordering::Less, Ordering::Less) => b,
        (Ordering::Less, _) => {
            if a_is_less {
                c
            } else {
                a
            }
        }
        (_, Ordering::Greater) => b,
        _ => {
            if a_is_less {
                a
            } else {
                c
            }
        }
    }
}
