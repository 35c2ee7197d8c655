//! How near words stand to each other. Positions are counted through all text fields of a document, as RediSearch counts them.

/// Combinations that are looked at before the nearest one so far counts.
const TRIES_MAX: usize = 10_000;

/// Whether there is a position of each list such that no more than `slop` other words stand between all of them, in the order of the lists
/// if that is wanted. Lists are in rising order; one without positions is never near.
pub(super) fn is_within(lists: &[Vec<u64>], slop: Option<u64>, in_order: bool) -> bool {
    if lists.iter().any(Vec::is_empty) {
        return false;
    }
    if in_order { is_in_order(lists, slop) } else { is_together(lists, slop) }
}

/// Of each position of the first list the nearest ones behind it are taken, one after the other: they end first.
fn is_in_order(lists: &[Vec<u64>], slop: Option<u64>) -> bool {
    let Some((first, rest)) = lists.split_first() else { return true };
    first.iter().any(|begin| {
        let mut last = *begin;
        for list in rest {
            let at = list.partition_point(|position| *position <= last);
            let Some(next) = list.get(at) else { return false };
            last = *next;
        }
        // The words themselves take one place each.
        let between = last - begin + 1 - lists.len() as u64;
        slop.is_none_or(|slop| between <= slop)
    })
}

/// A window over all lists: its first position moves on until it is small enough.
fn is_together(lists: &[Vec<u64>], slop: Option<u64>) -> bool {
    let Some(slop) = slop else { return true };
    let mut at = vec![0_usize; lists.len()];
    for _ in 0..TRIES_MAX {
        let positions = || lists.iter().zip(&at).filter_map(|(list, at)| list.get(*at));
        let (Some(least), Some(greatest)) = (positions().min(), positions().max()) else { return false };
        let spread = greatest - least + 1;
        // Lists may share a position: then nothing lies between.
        if spread.saturating_sub(lists.len() as u64) <= slop {
            return true;
        }
        let least = *least;
        let first = lists.iter().zip(&at).position(|(list, at)| list.get(*at) == Some(&least));
        let Some(first) = first else { return false };
        let Some(place) = at.get_mut(first) else { return false };
        *place += 1;
        if lists.get(first).is_none_or(|list| *place >= list.len()) {
            return false;
        }
    }
    false
}

/// The sum of the least distances between neighbouring lists: 1 for words next to each other, 0 if a list is empty.
pub(super) fn distance(lists: &[Vec<u64>]) -> u64 {
    lists
        .windows(2)
        .map(|pair| match pair {
            [left, right] => nearest(left, right),
            _ => 0,
        })
        .sum()
}

fn nearest(left: &[u64], right: &[u64]) -> u64 {
    let of = |position: &u64| {
        let at = right.partition_point(|other| other < position);
        let behind = right.get(at).map(|other| other - position);
        let before = at.checked_sub(1).and_then(|at| right.get(at)).map(|other| position - other);
        behind.into_iter().chain(before).min()
    };
    left.iter().filter_map(of).min().unwrap_or(0)
}
