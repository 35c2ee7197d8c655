//! Collecting the data of homes that belong to no root any more: by pieces, in small transactions, the mark last.
//!
//! A home that no root has in one snapshot will never have one: its number is used once, a transaction that gives it to another root
//! changes the root that had it, and nobody has it. So what was found once needs no second look, and data goes by ordinary
//! transactions while older ones still read its versions.

use std::collections::{HashSet, VecDeque};
use std::sync::atomic::Ordering;

use super::super::asking::{pairs, scan_names, value};
use super::super::cluster::{Ask, Cluster, ClusterError};
use super::super::names::Home;
use super::site::Site;

/// So many homes wait at most; the walk over the store finds others again.
const WAITING_MAX: usize = 64 * 1024;

/// So many homes are collected at once.
const HOMES_AT_ONCE: usize = 16;

/// So many entries are removed by one transaction.
const ENTRIES_AT_ONCE: u32 = 512;

/// A home to collect.
#[derive(Clone, Copy, Debug)]
struct Found {
    home: Home,
    /// Whether a mark says that it is to be collected: without the mark somebody has done it.
    is_marked: bool,
}

/// The homes that wait to be collected.
#[derive(Debug, Default)]
pub(super) struct Homes {
    queue: VecDeque<Found>,
    waiting: HashSet<Home>,
}

impl Homes {
    /// Adds those that commits have dropped.
    pub(super) fn add_dropped(&mut self, homes: VecDeque<Home>) {
        homes.into_iter().for_each(|home| self.add(home, true));
    }

    /// Adds one, with a mark or found to be of no root without one.
    pub(super) fn add(&mut self, home: Home, is_marked: bool) {
        if !self.is_full() && self.waiting.insert(home) {
            self.queue.push_back(Found { home, is_marked });
        }
    }

    /// Whether no more fit.
    pub(super) fn is_full(&self) -> bool {
        self.queue.len() >= WAITING_MAX
    }

    /// How many wait.
    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    /// Removes some entries; true if there is more to do.
    pub(super) fn step<C: Cluster>(&mut self, site: &Site<'_, C>) -> Result<bool, ClusterError> {
        let some: Vec<Found> = self.queue.iter().take(HOMES_AT_ONCE).copied().collect();
        if some.is_empty() {
            return Ok(false);
        }
        let limit = ENTRIES_AT_ONCE / some.len() as u32;
        let asks = some.iter().flat_map(|found| {
            let home = found.home;
            [
                scan_names(site.names.data(home), limit),
                Ask::Get(site.names.dropped(home)),
                Ask::Get(site.names.elsewhere(home)),
            ]
        });
        let (transaction, mut answers) = site.read(None, asks.collect())?;
        let (mut changes, mut left, mut ended, mut entries) = (Vec::new(), Vec::new(), 0, 0);
        for found in &some {
            let names = pairs(answers.next())?;
            let [mark, elsewhere] = [value(answers.next())?, value(answers.next())?];
            if found.is_marked && mark.is_none() {
                continue;
            }
            let is_over = names.len() < limit as usize;
            entries += names.len() as u64;
            changes.extend(names.into_iter().map(|(name, _)| (name, None)));
            if is_over {
                ended += 1;
                changes.extend(mark.map(|_| (site.names.dropped(found.home), None)));
                changes.extend(elsewhere.map(|_| (site.names.elsewhere(found.home), None)));
            } else {
                left.push(*found);
            }
        }
        site.write(transaction, changes)?;
        site.counts.entries.fetch_add(entries, Ordering::Relaxed);
        site.counts.homes.fetch_add(ended, Ordering::Relaxed);
        self.queue.drain(..some.len());
        for found in &some {
            self.waiting.remove(&found.home);
        }
        // Behind the others, so that a large one keeps none of them waiting.
        for Found { home, is_marked } in left {
            self.add(home, is_marked);
        }
        Ok(!self.queue.is_empty())
    }
}
