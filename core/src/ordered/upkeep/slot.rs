//! One slot of a walk over the store: its roots page by page, in one snapshot, and then the homes that none of them has.

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;

use super::super::asking::{behind, pairs, scan, scan_names};
use super::super::cluster::{Answer, Ask, Cluster, ClusterError};
use super::super::names::{Home, Named, Names, Range, Space};
use super::super::record::Record;
use super::elsewhere::{Marked, read_marks};
use super::homes::Homes;
use super::site::Site;
use crate::engine::Db;

/// A key that expired so long ago was not found by its hint.
const LATE_MS: u64 = 30_000;

/// So many roots, and about so many bytes of them, are read at once.
const ROOTS_A_PAGE: u32 = 256;
const PAGE_BYTES: usize = 1024 * 1024;

/// So many marks are read at once.
const MARKS_A_PAGE: u32 = 512;

/// So many gaps between homes are looked at in one round.
const GAPS_A_ROUND: usize = 32;

/// A slot whose roots are being read.
pub(super) struct Slot<T> {
    pub(super) space: Space,
    pub(super) number: u16,
    db: Db,
    /// The snapshot; it is there between two reads.
    transaction: Option<T>,
    /// The roots that are still to be read.
    roots: Range,
    limit: u32,
    /// The numbers of homes in the slot that are somebody's, or that wait to be collected.
    known: BTreeSet<u64>,
    /// Whether all roots could be read so far: else any home may be somebody's.
    is_readable: bool,
}

impl<T> Slot<T> {
    pub(super) fn new(names: &Names, (space, number): (Space, u16), db: Db, transaction: T) -> Slot<T> {
        Slot {
            space,
            number,
            db,
            transaction: Some(transaction),
            roots: names.roots(space, number),
            limit: ROOTS_A_PAGE / 8,
            known: BTreeSet::new(),
            is_readable: true,
        }
    }

    /// Reads a page of roots, and behind the last one looks at the homes; None when the slot is done.
    pub(super) fn step<C: Cluster<Transaction = T>>(
        mut self,
        site: &Site<'_, C>,
        homes: &mut Homes,
    ) -> Result<Option<Slot<T>>, ClusterError> {
        let mut answers = self.read(site, vec![scan(self.roots.clone(), self.limit)])?;
        let roots = pairs(answers.next())?;
        let is_last = (roots.len() as u64) < u64::from(self.limit);
        let bytes: usize = roots.iter().map(|(name, value)| name.len() + value.len()).sum();
        let fitting = PAGE_BYTES / (bytes / roots.len().max(1)).max(1);
        self.limit = u32::try_from(fitting).unwrap_or(ROOTS_A_PAGE).clamp(1, ROOTS_A_PAGE);
        if let Some((name, _)) = roots.last() {
            self.roots.0 = behind(name);
        }
        roots.iter().for_each(|(name, stored)| self.look_at(site, name, stored));
        if !is_last {
            return Ok(Some(self));
        }
        if self.is_readable {
            self.find_homes(site, homes)?;
        }
        Ok(None)
    }

    fn read<C: Cluster<Transaction = T>>(
        &mut self,
        site: &Site<'_, C>,
        asks: Vec<Ask>,
    ) -> Result<std::vec::IntoIter<Answer>, ClusterError> {
        // A snapshot that an error has taken is not followed by another one.
        let transaction = self.transaction.take().ok_or_else(no_snapshot)?;
        let (transaction, answers) = site.read(Some(transaction), asks)?;
        self.transaction = Some(transaction);
        Ok(answers)
    }

    fn look_at<C: Cluster<Transaction = T>>(&mut self, site: &Site<'_, C>, name: &[u8], stored: &[u8]) {
        let Some(record) = Record::read(stored) else {
            self.is_readable = false;
            return;
        };
        let here = record.homes().filter(|home| (home.space, home.slot) == (self.space, self.number));
        self.known.extend(here.map(|home| home.number));
        let is_late = record.expires_at_ms.is_some_and(|at_ms| at_ms.saturating_add(LATE_MS) <= site.now_ms);
        if is_late && let Some(Named::Root(_, key)) = site.names.read(name) {
            site.counts.expired.fetch_add(1, Ordering::Relaxed);
            site.due.lock().push(self.db, key.to_vec());
        }
    }

    /// Looks for homes to collect, when all roots are known.
    fn find_homes<C: Cluster<Transaction = T>>(
        &mut self,
        site: &Site<'_, C>,
        homes: &mut Homes,
    ) -> Result<(), ClusterError> {
        let stale = self.follow_marks(site, homes)?;
        self.take_dropped(site, homes)?;
        self.find_strays(site, homes)?;
        let transaction = self.transaction.take().ok_or_else(no_snapshot)?;
        site.write(transaction, stale.into_iter().map(|home| (site.names.elsewhere(home), None)).collect())
    }

    /// Follows the marks to roots elsewhere; returns those that are wrong, since the home came back.
    fn follow_marks<C: Cluster<Transaction = T>>(
        &mut self,
        site: &Site<'_, C>,
        homes: &mut Homes,
    ) -> Result<Vec<Home>, ClusterError> {
        let range = site.names.elsewhere_in(self.space, self.number, self.number + 1);
        let transaction = self.transaction.take().ok_or_else(no_snapshot)?;
        let (transaction, marked) = read_marks(site, transaction, range)?;
        self.transaction = Some(transaction);
        let mut stale = Vec::new();
        for Marked { home, is_had } in marked {
            if !self.known.insert(home.number) {
                stale.push(home);
            } else if !is_had {
                homes.add(home, false);
            }
        }
        Ok(stale)
    }

    /// Finds the marks of dropped homes.
    fn take_dropped<C: Cluster<Transaction = T>>(
        &mut self,
        site: &Site<'_, C>,
        homes: &mut Homes,
    ) -> Result<(), ClusterError> {
        let (mut from, to) = site.names.dropped_in(self.space, self.number);
        loop {
            let mut answers = self.read(site, vec![scan_names((from, to.clone()), MARKS_A_PAGE)])?;
            let marks = pairs(answers.next())?;
            for home in marks.iter().filter_map(|(name, _)| site.names.read_home(name)) {
                homes.add(home, true);
                self.known.insert(home.number);
            }
            match marks.last() {
                Some((name, _)) if marks.len() as u64 >= u64::from(MARKS_A_PAGE) => {
                    from = behind(name);
                }
                _ => return Ok(()),
            }
        }
    }

    /// Finds homes that nobody knows, in the gaps between those that are known.
    fn find_strays<C: Cluster<Transaction = T>>(
        &mut self,
        site: &Site<'_, C>,
        homes: &mut Homes,
    ) -> Result<(), ClusterError> {
        let mut gaps = self.gaps();
        while !gaps.is_empty() && !homes.is_full() {
            let some = gaps.split_off(gaps.len().saturating_sub(GAPS_A_ROUND));
            let range = |gap: &Gap| site.names.data_between((self.space, self.number), *gap);
            let asks = some.iter().map(|gap| scan_names(range(gap), 1)).collect();
            let mut answers = self.read(site, asks)?;
            for (_, to) in some {
                let found = pairs(answers.next())?;
                let Some(home) = found.first().and_then(|(name, _)| site.names.read_home(name)) else {
                    continue;
                };
                homes.add(home, false);
                site.counts.strays.fetch_add(1, Ordering::Relaxed);
                // There may be others in this gap.
                gaps.extend(home.number.checked_add(1).map(|next| (next, to)));
            }
        }
        Ok(())
    }

    /// The numbers between those of homes that are known.
    fn gaps(&self) -> Vec<Gap> {
        let (mut gaps, mut from) = (Vec::new(), Some(0));
        for number in &self.known {
            gaps.extend(from.filter(|from| from < number).map(|from| (from, Some(*number))));
            from = number.checked_add(1);
        }
        gaps.extend(from.map(|from| (from, None)));
        gaps
    }
}

/// Numbers of homes from one up to another, or to the last.
type Gap = (u64, Option<u64>);

fn no_snapshot() -> ClusterError {
    ClusterError::Conflict("the snapshot is gone".into())
}
