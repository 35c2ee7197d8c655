//! How near to each other words stand: phrases, SLOP and INORDER, and the distance that some scorers divide by.
//!
//! Words of a document are counted through its text fields, which follow each other without a gap, as in RediSearch, unless they are meant
//! to be apart.

use crate::sorted;

use super::Failure;
use super::plan::{Step, What, Window};
use super::run::Run;
use super::terms::Offsets;

/// So many words lie between fields that are apart: more than a field has, and than the windows of phrases.
const APART: u64 = 1 << 32;

/// Where a member of an intersection stands in documents.
enum Cursor<'r> {
    /// Nowhere: a number, `*`.
    None,
    Words(Offsets<'r>),
    Many(Vec<Cursor<'r>>),
}

impl<'r> Cursor<'r> {
    fn new(run: &Run<'r>, step: &Step) -> Cursor<'r> {
        let many = |members: &[Step]| {
            let mut cursors: Vec<Cursor<'r>> =
                members.iter().map(|member| Cursor::new(run, member)).collect();
            cursors.retain(|cursor| !matches!(cursor, Cursor::None));
            if cursors.is_empty() { Cursor::None } else { Cursor::Many(cursors) }
        };
        match &step.what {
            What::Words(terms) => Cursor::Words(Offsets::new(run, terms)),
            What::And(members, _) | What::Or(members) => many(members),
            What::Optional(inner) => Cursor::new(run, inner),
            _ => Cursor::None,
        }
    }

    fn lists(&self) -> usize {
        match self {
            Cursor::None => 0,
            Cursor::Words(offsets) => offsets.len(),
            Cursor::Many(cursors) => cursors.iter().map(Cursor::lists).sum(),
        }
    }

    fn offsets(&mut self, place: u32, starts: &[u64], into: &mut Vec<u64>) {
        match self {
            Cursor::None => {}
            Cursor::Words(offsets) => offsets.at(place, starts, into),
            Cursor::Many(cursors) => {
                cursors.iter_mut().for_each(|cursor| cursor.offsets(place, starts, into))
            }
        }
    }
}

/// The members of an intersection that stand somewhere, and their offsets in the present document.
struct Group<'r> {
    cursors: Vec<Cursor<'r>>,
    offsets: Vec<Vec<u64>>,
    starts: Vec<u64>,
    steps: u64,
}

impl<'r> Group<'r> {
    fn new(run: &Run<'r>, members: &[Step]) -> Group<'r> {
        let mut cursors: Vec<Cursor<'r>> = members.iter().map(|member| Cursor::new(run, member)).collect();
        cursors.retain(|cursor| !matches!(cursor, Cursor::None));
        let steps = cursors.iter().map(Cursor::lists).sum::<usize>() as u64;
        Group { offsets: vec![Vec::new(); cursors.len()], cursors, starts: Vec::new(), steps }
    }

    fn read(&mut self, run: &Run<'r>, place: u32) -> Result<(), Failure> {
        run.meter.work(self.steps)?;
        self.starts.clear();
        let gap = if run.are_fields_apart { APART } else { 0 };
        let mut start = 0;
        for field in 0..run.judge.weights.text_fields() {
            self.starts.push(start);
            start += u64::from(run.view.part.field_words(field, place)) + gap;
        }
        for (cursor, offsets) in self.cursors.iter_mut().zip(&mut self.offsets) {
            offsets.clear();
            cursor.offsets(place, &self.starts, offsets);
            sorted::by_key(offsets, |offset| *offset);
            offsets.dedup();
        }
        Ok(())
    }
}

/// Keeps the places where the members stand near enough to each other.
pub(super) fn retain(
    run: &Run<'_>,
    members: &[Step],
    window: Window,
    places: &mut Vec<u32>,
) -> Result<(), Failure> {
    let mut group = Group::new(run, members);
    if group.cursors.len() < 2 {
        return Ok(());
    }
    let mut state = Ok(());
    places.retain(|place| {
        if state.is_err() {
            return false;
        }
        state = group.read(run, *place);
        // An optional member may be absent.
        let present: Vec<&[u64]> =
            group.offsets.iter().filter(|offsets| !offsets.is_empty()).map(Vec::as_slice).collect();
        let slop = window.slop.unwrap_or(u64::MAX);
        present.len() < 2
            || if window.in_order { is_in_order(&present, slop) } else { is_near(&present, slop) }
    });
    state
}

/// Whether there is an offset in each list, each behind the one before, with at most `slop` words between them.
fn is_in_order(lists: &[&[u64]], slop: u64) -> bool {
    let Some((first, rest)) = lists.split_first() else { return true };
    let mut at = vec![0usize; rest.len()];
    'starts: for start in *first {
        let (mut last, mut between) = (*start, 0u64);
        for (list, at) in rest.iter().zip(&mut at) {
            // Starts rise, so nothing that was passed over is of use again.
            while list.get(*at).is_some_and(|offset| *offset <= last) {
                *at += 1;
            }
            let Some(offset) = list.get(*at) else { return false };
            between = between.saturating_add(offset - last - 1);
            if between > slop {
                continue 'starts;
            }
            last = *offset;
        }
        return true;
    }
    false
}

/// Whether there is an offset in each list, in any order, with at most `slop` other words among them.
fn is_near(lists: &[&[u64]], slop: u64) -> bool {
    let mut at = vec![0usize; lists.len()];
    loop {
        let (mut least, mut most, mut least_list) = (u64::MAX, 0, 0);
        for (number, (list, at)) in lists.iter().zip(&at).enumerate() {
            let Some(offset) = list.get(*at).copied() else { return false };
            most = most.max(offset);
            if offset < least {
                (least, least_list) = (offset, number);
            }
        }
        if (most - least).saturating_sub(lists.len() as u64 - 1) <= slop {
            return true;
        }
        if let Some(at) = at.get_mut(least_list) {
            *at += 1;
        }
    }
}

/// The distance of the members of an intersection, as some scorers divide by it.
pub(super) struct Distance<'r> {
    group: Group<'r>,
    members: usize,
}

impl<'r> Distance<'r> {
    /// None if it is 1 in all documents.
    pub(super) fn new(run: &Run<'r>, step: &Step) -> Option<Distance<'r>> {
        let What::And(members, _) = &step.what else { return None };
        let group = Group::new(run, members);
        (group.cursors.len() > 1).then_some(Distance { group, members: members.len() })
    }

    /// The sum of the squares of the distances of neighbours.
    pub(super) fn at(&mut self, run: &Run<'r>, place: u32) -> Result<f64, Failure> {
        self.group.read(run, place)?;
        let mut sum = 0.0;
        let mut before: Option<&Vec<u64>> = None;
        for offsets in self.group.offsets.iter().filter(|offsets| !offsets.is_empty()) {
            if let Some(before) = before {
                let distance = least_distance(before, offsets) as f64;
                sum += distance * distance;
            }
            before = Some(offsets);
        }
        // Neighbours may stand at the same place; a division has to be possible.
        Ok(if sum > 0.0 { sum } else { (self.members.max(2) - 1) as f64 })
    }
}

/// How far apart two sorted lists are at the least.
fn least_distance(left: &[u64], right: &[u64]) -> u64 {
    let (mut left, mut right) = (left.iter().peekable(), right.iter().peekable());
    let mut least = u64::MAX;
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        least = least.min(a.abs_diff(**b));
        if least <= 1 {
            break;
        }
        if a < b {
            left.next();
        } else {
            right.next();
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows() {
        let lists: &[&[u64]] = &[&[1, 9, 13, 16, 22], &[4, 7, 32]];
        let at_slop = |slop| (is_near(lists, slop), is_in_order(lists, slop));
        assert_eq!([at_slop(0), at_slop(1), at_slop(2)], [(false, false), (true, false), (true, true)]);
        assert_eq!(least_distance(lists[0], lists[1]), 2);
        assert!(is_in_order(&[&[5], &[6], &[7]], 0) && !is_in_order(&[&[5], &[7], &[6]], 9));
        assert!(is_near(&[&[5], &[7], &[6]], 0));
        assert!(!is_in_order(&[&[5], &[5]], 9), "a word is not behind itself");
    }
}
