//! What a transaction knows of the cluster's keys, and what it wants to know.
//!
//! A read finds what it needs here or fails with [`EngineError::NotHere`] and leaves a want. The wants of a whole run are
//! fetched in one round, at the transaction's timestamp; then the run begins again and gets further. So nothing here is ever
//! out of date within a transaction, and a transaction that asks for the same again finds it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::{Bound, ControlFlow};
use std::sync::Arc;

use super::blobs::{Mode, Run};
use super::certainty::Shown;
use super::cluster::{Answer, Ask, Scan};
use crate::engine::{Direction, EngineError, Result};

/// So many pairs are fetched where nobody says how many will be needed.
const PAIRS_AT_FIRST: u64 = 64;

/// A scan asks for at most so many pairs at once.
const PAIRS_MAX: u64 = 4096;

/// A scan that has seen no pair yet, and does not know how long they are, asks for at most so many.
const PAIRS_UNSEEN_MAX: u64 = 1024;

/// A scan that goes on asks for about so many bytes at once: few enough that a response stays far below what clients accept.
const SCAN_BYTES: u64 = 4 * 1024 * 1024;

/// Sees one pair and says whether to go on.
pub(super) type PairVisitor<'v> = &'v mut dyn FnMut(&[u8], &[u8]) -> ControlFlow<()>;

/// The part of the cluster that a transaction has read.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Keys that were asked for by themselves.
    values: HashMap<Vec<u8>, Option<Vec<u8>>>,
    /// The pairs within `spans`.
    pairs: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Ranges of which everything is known, from their first key to the one behind their last. They do not touch each other.
    spans: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Names that were scanned without their values.
    names: HashMap<(Vec<u8>, Vec<u8>), Names>,
    /// Each once, and in the same order whatever asked for them first.
    wants: BTreeSet<Ask>,
    /// What the transaction takes the databases for, once it has begun.
    pub(super) shown: Option<Shown>,
    /// Whether the transaction has begun to read only, and cannot write.
    pub(super) only_reads: bool,
    /// How often the transaction has begun anew because its reads met others.
    pub(super) tries: u32,
    /// What was written since: what the cluster shows of these keys is older.
    written: BTreeMap<Vec<u8>, Option<Vec<u8>>>,
    written_bytes: u64,
    /// What was read of blobs, which replies may need when this is gone.
    blobs: Transient,
}

/// The part of a run that reads blobs.
#[derive(Debug, Default)]
struct Transient(Arc<Run>);

impl Drop for Transient {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Names of a range, from its beginning.
#[derive(Debug)]
struct Names {
    names: Vec<Vec<u8>>,
    /// Whether there are more behind them.
    has_more: bool,
}

impl Known {
    /// What is known at the beginning of a transaction that has begun so often in vain. The mode says what it does that needs much of a
    /// blob.
    pub(super) fn after(tries: u32, mode: Mode) -> Known {
        let known = Known { tries, ..Known::default() };
        known.run().set_mode(mode);
        known
    }

    /// What is read of blobs.
    pub(super) fn run(&self) -> &Arc<Run> {
        &self.blobs.0
    }

    /// Begins a run that has its turn in a lane, with what others have read and written.
    pub(super) fn begin_turn(&mut self) {
        self.blobs = Transient(Arc::new(Run::in_lane()));
    }

    /// The value of a key, if it has one.
    ///
    /// # Errors
    /// It is not here.
    pub(super) fn get(&mut self, key: &[u8]) -> Result<Option<&[u8]>> {
        if !self.is_known(key) {
            self.want_get(key);
            return Err(EngineError::NotHere);
        }
        let found = match self.values.get(key) {
            Some(value) => value.as_deref(),
            None => self.pairs.get(key).map(Vec::as_slice),
        };
        Ok(found)
    }

    /// The value of a key that was asked for by itself; None if that is not here.
    pub(super) fn value(&self, key: &[u8]) -> Option<Option<&[u8]>> {
        self.values.get(key).map(Option::as_deref)
    }

    fn is_known(&self, key: &[u8]) -> bool {
        self.values.contains_key(key) || self.span_at(key).is_some()
    }

    /// Says that the value of a key will be needed.
    pub(super) fn want_get(&mut self, key: &[u8]) {
        if !self.is_known(key) {
            self.want(Ask::Get(key.to_vec()));
        }
    }

    fn want(&mut self, ask: Ask) {
        self.wants.insert(ask);
    }

    /// Shows the pairs of a range until the visitor breaks. `expect` is how many it will want to see, as far as is known; a
    /// walk that knows nothing about that says [`u64::MAX`].
    ///
    /// # Errors
    /// Not all of them are here; the first ones were shown.
    pub(super) fn scan(
        &mut self,
        (from, to): (&[u8], &[u8]),
        direction: Direction,
        expect: u64,
        visit: PairVisitor<'_>,
    ) -> Result<()> {
        let mut walked = Walked::default();
        let mut show = |key: &[u8], value: &[u8]| {
            walked.count += 1;
            walked.bytes += (key.len() + value.len()) as u64;
            visit(key, value)
        };
        let missing = match direction {
            Direction::Ascending => self.ascend(from, to, &mut show),
            Direction::Descending => self.descend(from, to, &mut show),
        };
        let Some((from, to)) = missing else { return Ok(()) };
        let limit = walked.next_limit(expect);
        let is_reverse = direction == Direction::Descending;
        self.want(Ask::Scan(Scan { from, to, limit, is_reverse, keys_only: false }));
        Err(EngineError::NotHere)
    }

    /// Says that the first pairs of a range in a direction will be needed.
    pub(super) fn want_scan(&mut self, range: (&[u8], &[u8]), direction: Direction, count: u64) {
        let mut left = count;
        // A want is what it is for.
        let _ = self.scan(range, direction, count, &mut |_, _| {
            left = left.saturating_sub(1);
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
    }

    /// Walks up; returns the rest of the range if it is not known.
    fn ascend(&self, from: &[u8], to: &[u8], visit: PairVisitor<'_>) -> Option<(Vec<u8>, Vec<u8>)> {
        let mut from = from;
        while from < to {
            let Some((_, end)) = self.span_at(from) else { return Some((from.to_vec(), to.to_vec())) };
            let end = end.min(to);
            for (key, value) in self.pairs.range::<[u8], _>((Bound::Included(from), Bound::Excluded(end))) {
                if visit(key, value).is_break() {
                    return None;
                }
            }
            from = end;
        }
        None
    }

    /// Walks down; returns the rest of the range if it is not known.
    fn descend(&self, from: &[u8], to: &[u8], visit: PairVisitor<'_>) -> Option<(Vec<u8>, Vec<u8>)> {
        let mut to = to;
        while from < to {
            let below = (Bound::Unbounded, Bound::Excluded(to));
            let span = self.spans.range::<[u8], _>(below).next_back();
            let Some((begin, _)) = span.filter(|(_, end)| end.as_slice() >= to) else {
                return Some((from.to_vec(), to.to_vec()));
            };
            let begin = begin.as_slice().max(from);
            let inside = (Bound::Included(begin), Bound::Excluded(to));
            for (key, value) in self.pairs.range::<[u8], _>(inside).rev() {
                if visit(key, value).is_break() {
                    return None;
                }
            }
            to = begin;
        }
        None
    }

    /// The span that has this key.
    fn span_at(&self, key: &[u8]) -> Option<(&[u8], &[u8])> {
        let up_to = (Bound::Unbounded, Bound::Included(key));
        let (from, to) = self.spans.range::<[u8], _>(up_to).next_back()?;
        (to.as_slice() > key).then_some((from, to))
    }

    /// The first `limit` names of a range, and whether there may be more behind them.
    ///
    /// # Errors
    /// They are not here.
    pub(super) fn names(&mut self, (from, to): (&[u8], &[u8]), limit: u32) -> Result<(&[Vec<u8>], bool)> {
        let range = (from.to_vec(), to.to_vec());
        if !self.names.contains_key(&range) {
            let (from, to) = range;
            self.want(Ask::Scan(Scan { from, to, limit, is_reverse: false, keys_only: true }));
            return Err(EngineError::NotHere);
        }
        let found = self.names.get(&range);
        Ok(found.map_or((&[], false), |found| (&found.names, found.has_more)))
    }

    /// Whether something is to be fetched.
    pub(super) fn has_wants(&self) -> bool {
        !self.wants.is_empty() || self.run().has_wants()
    }

    /// What is to be fetched.
    pub(super) fn take_wants(&mut self) -> Vec<Ask> {
        let of_blobs = self.blobs.0.take_wants().into_iter().map(Ask::Get);
        std::mem::take(&mut self.wants).into_iter().chain(of_blobs).collect()
    }

    /// Forgets what was to be fetched.
    pub(super) fn drop_wants(&mut self) {
        self.run().drop_wants();
        self.wants.clear();
    }

    /// Takes what was fetched.
    pub(super) fn fill(&mut self, asks: Vec<Ask>, answers: Vec<Answer>) {
        for (ask, answer) in asks.into_iter().zip(answers) {
            match (ask, answer) {
                (Ask::Get(key), Answer::Value(value)) => {
                    // Pieces of blobs are the run's.
                    if let Some((key, value)) = self.blobs.0.take(key, value)
                        && !self.written.contains_key(&key)
                    {
                        self.values.insert(key, value);
                    }
                }
                (Ask::Scan(scan), Answer::Pairs(pairs)) if scan.keys_only => {
                    let has_more = pairs.len() as u64 >= u64::from(scan.limit);
                    let names = pairs.into_iter().map(|(name, _)| name).collect();
                    let names = self.with_written_names(&scan, names, has_more);
                    self.names.insert((scan.from, scan.to), Names { names, has_more });
                }
                (Ask::Scan(scan), Answer::Pairs(pairs)) => self.fill_span(scan, pairs),
                // An answer to something else is none, and what was asked is asked again.
                (Ask::Get(_), Answer::Pairs(_)) | (Ask::Scan(_), Answer::Value(_)) => {}
            }
        }
    }

    fn fill_span(&mut self, scan: Scan, pairs: Vec<(Vec<u8>, Vec<u8>)>) {
        let is_whole = (pairs.len() as u64) < u64::from(scan.limit);
        let last = pairs.last().map(|(key, _)| key);
        let (from, to) = match (is_whole, last, scan.is_reverse) {
            (false, Some(last), false) => (scan.from, [last, &[0][..]].concat()),
            (false, Some(last), true) => (last.clone(), scan.to),
            _ => (scan.from, scan.to),
        };
        self.pairs.extend(pairs);
        if from < to {
            let inside = (Bound::Included(&from), Bound::Excluded(&to));
            for (key, value) in self.written.range::<Vec<u8>, _>(inside) {
                set(&mut self.pairs, key, value.as_ref());
            }
        }
        self.add_span(from, to);
    }

    /// Names that were scanned, as they are after what was written.
    fn with_written_names(&self, scan: &Scan, names: Vec<Vec<u8>>, has_more: bool) -> Vec<Vec<u8>> {
        if self.written.is_empty() || scan.from >= scan.to {
            return names;
        }
        let end = match names.last() {
            Some(last) if has_more => Bound::Included(last.clone()),
            _ => Bound::Excluded(scan.to.clone()),
        };
        let mut names: BTreeSet<Vec<u8>> = names.into_iter().collect();
        for (key, value) in self.written.range((Bound::Included(scan.from.clone()), end)) {
            match value {
                Some(_) => names.insert(key.clone()),
                None => names.remove(key),
            };
        }
        names.into_iter().collect()
    }

    /// Says that all of these will be needed, those that are here left out.
    pub(super) fn want_all(&mut self, asks: Vec<Ask>) {
        for ask in asks {
            if !matches!(&ask, Ask::Get(key) if self.is_known(key)) {
                self.wants.insert(ask);
            }
        }
    }

    /// Shows these changes from now on as if the cluster had them.
    pub(super) fn write(&mut self, changes: Vec<(Vec<u8>, Option<Vec<u8>>)>) {
        self.names.clear();
        for (key, value) in changes {
            if self.span_at(&key).is_some() {
                set(&mut self.pairs, &key, value.as_ref());
            }
            self.values.insert(key.clone(), value.clone());
            let before = self.written.get(&key).map_or(0, |before| bytes_of(&key, before.as_ref()));
            self.written_bytes = self.written_bytes.saturating_sub(before) + bytes_of(&key, value.as_ref());
            self.written.insert(key, value);
        }
    }

    /// Whether it shows something that the cluster does not have.
    pub(super) fn has_written(&self) -> bool {
        !self.written.is_empty()
    }

    /// How many bytes what was written has, names included.
    pub(super) fn written_bytes(&self) -> u64 {
        self.written_bytes
    }

    /// What was written.
    pub(super) fn into_written(self) -> BTreeMap<Vec<u8>, Option<Vec<u8>>> {
        self.written
    }

    fn add_span(&mut self, mut from: Vec<u8>, mut to: Vec<u8>) {
        if from >= to {
            return;
        }
        while let Some((begin, end)) = self.spans.range(..=to.clone()).next_back()
            && *end >= from
        {
            let (begin, end) = (begin.clone(), end.clone());
            self.spans.remove(&begin);
            from = from.min(begin);
            to = to.max(end);
        }
        self.spans.insert(from, to);
    }
}

fn bytes_of(key: &[u8], value: Option<&Vec<u8>>) -> u64 {
    (key.len() + value.map_or(0, Vec::len)) as u64
}

/// Gives a key this value, or none.
fn set(pairs: &mut BTreeMap<Vec<u8>, Vec<u8>>, key: &[u8], value: Option<&Vec<u8>>) {
    match value {
        Some(value) => pairs.insert(key.to_vec(), value.clone()),
        None => pairs.remove(key),
    };
}

/// What a walk has seen.
#[derive(Default)]
struct Walked {
    count: u64,
    bytes: u64,
}

impl Walked {
    /// How many pairs to ask for next. A walk that goes on beyond what was expected asks for ever more, so that it begins
    /// again a few times only.
    fn next_limit(&self, expect: u64) -> u32 {
        let expected = expect.saturating_sub(self.count);
        let count = match (expect, self.count) {
            (u64::MAX, 0) => PAIRS_AT_FIRST,
            (_, 0) => expected.max(1),
            _ if expect != u64::MAX && expected > 0 => expected,
            _ => self.count.saturating_mul(2),
        };
        let average = (self.bytes / self.count.max(1)).max(1);
        let by_bytes = if self.count == 0 { PAIRS_UNSEEN_MAX } else { (SCAN_BYTES / average).max(1) };
        u32::try_from(count.min(by_bytes).clamp(1, PAIRS_MAX)).unwrap_or(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(numbers: std::ops::Range<u8>) -> Vec<(Vec<u8>, Vec<u8>)> {
        numbers.map(|number| (vec![number], vec![number, 1])).collect()
    }

    /// Answers what is wanted from the pairs 10 to 19.
    fn answer(known: &mut Known) -> usize {
        let wants = known.take_wants();
        let answers = wants.iter().map(|ask| match ask {
            Ask::Get(key) => Answer::Value(
                pairs(10..20).into_iter().find(|(other, _)| other == key).map(|(_, value)| value),
            ),
            Ask::Scan(scan) => {
                let mut found = pairs(10..20);
                found.retain(|(key, _)| *key >= scan.from && *key < scan.to);
                if scan.is_reverse {
                    found.reverse();
                }
                found.truncate(scan.limit as usize);
                Answer::Pairs(found)
            }
        });
        let (answers, count) = (answers.collect(), wants.len());
        known.fill(wants, answers);
        count
    }

    fn walk(known: &mut Known, range: (u8, u8), direction: Direction, count: u64) -> Result<Vec<u8>> {
        let mut seen = Vec::new();
        known.scan((&[range.0], &[range.1]), direction, count, &mut |key, _| {
            seen.push(key[0]);
            if seen.len() as u64 == count { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok(seen)
    }

    #[test]
    fn walk_misses_a_pair_or_never_ends() {
        let walks =
            [(0, 255, 3), (5, 15, u64::MAX), (12, 14, 1), (14, 14, 2), (18, 200, u64::MAX), (0, 10, 4)];
        for direction in [Direction::Ascending, Direction::Descending] {
            let mut known = Known::default();
            for (from, to, count) in walks {
                let mut expected: Vec<u8> = (from.max(10)..to.clamp(10, 20)).collect();
                if direction == Direction::Descending {
                    expected.reverse();
                }
                expected.truncate(usize::try_from(count).unwrap_or(usize::MAX));
                let seen = (0..9).find_map(|_| {
                    let seen = walk(&mut known, (from, to), direction, count).ok();
                    answer(&mut known);
                    seen
                });
                assert_eq!(seen, Some(expected), "{from} to {to} {direction:?}");
                assert!(!known.has_wants());
            }
        }
    }

    #[test]
    fn key_is_asked_for_twice() {
        let mut known = Known::default();
        assert_eq!(known.get(&[11]), Err(EngineError::NotHere));
        assert_eq!(known.get(&[11]), Err(EngineError::NotHere));
        known.want_get(&[3]);
        assert_eq!(answer(&mut known), 2);
        assert_eq!(known.get(&[11]), Ok(Some(&[11, 1][..])));
        assert_eq!(known.get(&[3]), Ok(None));
        known.want_scan((&[0], &[255]), Direction::Ascending, 5);
        assert_eq!(answer(&mut known), 1);
        // Within what a scan has shown, nothing is asked for again.
        assert_eq!(known.get(&[13]), Ok(Some(&[13, 1][..])));
        assert_eq!(known.get(&[9]), Ok(None));
        assert_eq!(known.get(&[15]), Err(EngineError::NotHere), "behind the scan's limit");
    }

    #[test]
    fn what_was_written_is_not_seen() {
        for written_first in [true, false] {
            let mut known = Known::default();
            let changes =
                || vec![(vec![12], None), (vec![13], Some(vec![99])), (vec![25], Some(vec![1, 2, 3]))];
            if written_first {
                known.write(changes());
            }
            known.want_scan((&[11], &[15]), Direction::Ascending, 9);
            known.want_get(&[12]);
            known.want_get(&[18]);
            let _ = known.names((&[10], &[200]), 4);
            answer(&mut known);
            known.write(changes());
            assert_eq!(known.get(&[12]), Ok(None));
            assert_eq!(known.get(&[13]), Ok(Some(&[99][..])));
            assert_eq!(known.get(&[18]), Ok(Some(&[18, 1][..])));
            assert_eq!(walk(&mut known, (11, 15), Direction::Ascending, 9), Ok(vec![11, 13, 14]));
            assert_eq!(walk(&mut known, (11, 15), Direction::Descending, 1), Ok(vec![14]));
            assert!(known.names((&[10], &[200]), 50).is_err(), "of before");
            answer(&mut known);
            let (names, has_more) = known.names((&[10], &[200]), 50).expect("names");
            let expected: Vec<Vec<u8>> =
                [10, 11, 13, 14, 15, 16, 17, 18, 19, 25].into_iter().map(|name| vec![name]).collect();
            assert_eq!((names, has_more), (expected.as_slice(), false));
            assert_eq!(known.written_bytes(), 1 + 2 + 4);
            let written = known.into_written();
            assert_eq!(written.into_iter().collect::<Vec<_>>(), changes());
        }
    }
}
