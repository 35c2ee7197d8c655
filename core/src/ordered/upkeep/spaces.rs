//! What databases that were emptied have left: a whole space each, which is destroyed at once when nobody can see it any more.
//!
//! A mark says that no database shows the space. Transactions that began before that still read it, and may take a collection along to
//! another database; they end within half of [`Pace::life_ms`](super::Pace). So the process that looks after the store waits for that long
//! after it has first seen the mark, by its own clock, and leaves out what roots elsewhere have.

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use super::super::asking::{pairs, scan_names, value};
use super::super::cluster::{Ask, Cluster, ClusterError};
use super::super::databases::Databases;
use super::super::names::{Home, SLOTS, Space};
use super::Timer;
use super::elsewhere::read_marks;
use super::site::Site;

/// So many spaces are looked at in one step.
const SPACES_A_STEP: u32 = 64;

/// The spaces that are to be destroyed.
#[derive(Debug, Default)]
pub(super) struct Spaces {
    timer: Timer,
    /// When each was first seen.
    seen: HashMap<Space, u64>,
}

impl Spaces {
    /// Destroys those whose time has come.
    pub(super) fn step<C: Cluster>(&mut self, site: &Site<'_, C>) -> Result<bool, ClusterError> {
        let life_ms = site.pace.life_ms;
        if !self.timer.is_due(site.now_ms, life_ms / 8) {
            return Ok(false);
        }
        let asks =
            vec![scan_names(site.names.dropped_spaces(), SPACES_A_STEP), Ask::Get(site.names.databases())];
        let (_, mut answers) = site.read(None, asks)?;
        let marks = pairs(answers.next())?;
        let Ok(databases) = Databases::read(value(answers.next())?.as_deref()) else { return Ok(false) };
        let dropped: Vec<Space> =
            marks.iter().filter_map(|(name, _)| site.names.read_dropped_space(name)).collect();
        self.seen.retain(|space, _| dropped.contains(space));
        for space in dropped.into_iter().filter(|space| !databases.is_shown(*space)) {
            let since_ms = *self.seen.entry(space).or_insert(site.now_ms);
            if site.now_ms.saturating_sub(since_ms) >= life_ms {
                destroy(site, space)?;
                self.seen.remove(&space);
                site.counts.spaces.fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok(false)
    }
}

/// Destroys a space but for the homes that roots elsewhere have, and takes its mark away.
fn destroy<C: Cluster>(site: &Site<'_, C>, space: Space) -> Result<(), ClusterError> {
    // Another one may have done it.
    let mark = site.names.dropped_space(space);
    let (transaction, mut answers) = site.read(None, vec![Ask::Get(mark.clone())])?;
    if value(answers.next())?.is_none() {
        return Ok(());
    }
    let (transaction, marked) = read_marks(site, transaction, site.names.elsewhere_in(space, 0, SLOTS))?;
    let (had, stale): (Vec<_>, Vec<_>) = marked.into_iter().partition(|marked| marked.is_had);
    let mut homes: Vec<Home> = had.into_iter().map(|marked| marked.home).collect();
    homes.sort_unstable();
    let (mut from, end) = site.names.space(space);
    for home in homes {
        let (begin, behind) = site.names.data(home);
        site.destroy((from, begin))?;
        from = behind;
    }
    site.destroy((from, end))?;
    let mut changes: Vec<_> =
        stale.into_iter().map(|marked| (site.names.elsewhere(marked.home), None)).collect();
    changes.push((mark, None));
    site.write(transaction, changes)
}
