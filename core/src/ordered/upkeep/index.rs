//! The index of keys that expire: hints in the order of their times, so that keys go which nobody asks for.
//!
//! A hint only says where to look. It is written after the commit, in batches and by no transaction of a client, so it may be
//! missing (the walk over the store finds such keys) and it may be out of date: who follows it reads the key's root first.
//!
//! ```text
//! a hint whose time has come   -> the key is gone, or expires no more: the hint goes
//!                              -> the key expires later: the hint moves there
//!                              -> the key has expired: the executor removes it, and a later look finds it gone
//! ```

use std::sync::atomic::Ordering;

use super::super::asking::{pairs, scan, scan_names, value};
use super::super::cluster::{Ask, Cluster, ClusterError};
use super::super::databases::Databases;
use super::super::names::HINT_PARTS;
use super::super::record::Record;
use super::Timer;
use super::due::Soon;
use super::noted::Expiring;
use super::site::Site;

/// A key that expires within so long is remembered in memory: its hint would be written and removed for nothing.
const SOON_MS: u64 = 5_000;

/// So many hints are written or followed at once: few enough for a write of one phase.
const BATCH: usize = 64;

/// The index is looked at so often.
const LOOK_MS: u64 = 1_000;

/// Hints may be written so long after their time: by a process that was slow, or whose clock is behind.
const LATE_MS: u64 = 30_000;

/// Every so many looks begin at the beginning.
const LOOKS_FROM_START: u32 = 64;

/// How far this process is in the index.
#[derive(Debug, Default)]
pub(super) struct Index {
    timer: Timer,
    looks: u32,
    parts: [Part; HINT_PARTS as usize],
}

/// How far it is in one part.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    /// Where to go on.
    from_ms: u64,
    /// The first hint that was left where it is since the part was begun.
    left_ms: Option<u64>,
    /// Whether more of it is due.
    has_more: bool,
}

impl Index {
    /// Remembers the keys that expire soon, and returns the others.
    pub(super) fn keep_soon(&self, now_ms: u64, expiring: Vec<Expiring>, soon: &mut Soon) -> Vec<Expiring> {
        let (sooner, later): (Vec<Expiring>, Vec<Expiring>) =
            expiring.into_iter().partition(|expiring| expiring.at_ms <= now_ms.saturating_add(SOON_MS));
        let mut stored = later;
        for expiring in sooner {
            if soon.is_full() {
                stored.push(expiring);
            } else {
                soon.add(expiring);
            }
        }
        stored
    }

    /// Writes hints.
    pub(super) fn write<C: Cluster>(
        &self,
        site: &Site<'_, C>,
        expiring: Vec<Expiring>,
    ) -> Result<(), ClusterError> {
        let hint = |expiring: Expiring| {
            let Expiring { at_ms, space, key } = expiring;
            (site.names.hint(at_ms, space, &key), key)
        };
        let mut hints: Vec<(Vec<u8>, Vec<u8>)> = expiring.into_iter().map(hint).collect();
        // Neighbours together. Of two keys with one name the walk over the store finds the other.
        hints.sort_unstable();
        hints.dedup_by(|later, earlier| later.0 == earlier.0);
        for batch in hints.chunks(BATCH) {
            let changes = batch.iter().map(|(name, key)| (name.clone(), Some(as_value(key)))).collect();
            match site.put(changes) {
                // Somebody follows one of them already.
                Ok(()) | Err(ClusterError::Conflict(_) | ClusterError::Moved(_)) => {}
                Err(error) => return Err(error),
            }
            site.counts.hints.fetch_add(batch.len() as u64, Ordering::Relaxed);
        }
        Ok(())
    }

    /// Follows some hints whose time has come; true if there are more.
    pub(super) fn follow<C: Cluster>(
        &mut self,
        site: &Site<'_, C>,
        databases: &mut Databases,
    ) -> Result<bool, ClusterError> {
        if site.due.lock().is_full() {
            return Ok(false);
        }
        if self.timer.is_due(site.now_ms, LOOK_MS) {
            self.look(site, databases)?;
        }
        // Not all processes at the same time in the same part.
        let parts = u32::from(HINT_PARTS);
        for number in (0..parts).map(|number| (number + site.options.process) % parts) {
            if let Some(part) = self.parts.get_mut(number as usize).filter(|part| part.has_more) {
                match part.follow(site, number as u8, databases) {
                    // Another process follows the same hints.
                    Ok(()) | Err(ClusterError::Conflict(_) | ClusterError::Moved(_)) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(self.parts.iter().any(|part| part.has_more))
    }

    /// Looks in which parts something is due, all of them in one round.
    fn look<C: Cluster>(
        &mut self,
        site: &Site<'_, C>,
        databases: &mut Databases,
    ) -> Result<(), ClusterError> {
        if self.looks.is_multiple_of(LOOKS_FROM_START) {
            self.parts.iter_mut().for_each(|part| part.from_ms = 0);
        }
        self.looks = self.looks.wrapping_add(1);
        let due = (0_u8..)
            .zip(&self.parts)
            .map(|(number, part)| scan_names(site.names.hints(number, part.from_ms, site.now_ms), 1));
        let asks = due.chain([Ask::Get(site.names.databases())]).collect();
        let (_, mut answers) = site.read(None, asks)?;
        for part in &mut self.parts {
            part.has_more = !pairs(answers.next())?.is_empty();
            if !part.has_more {
                part.from_ms = site.now_ms.saturating_sub(LATE_MS);
            }
        }
        if let Ok(stored) = Databases::read(value(answers.next())?.as_deref()) {
            *databases = stored;
        }
        Ok(())
    }
}

impl Part {
    fn follow<C: Cluster>(
        &mut self,
        site: &Site<'_, C>,
        number: u8,
        databases: &mut Databases,
    ) -> Result<(), ClusterError> {
        let range = site.names.hints(number, self.from_ms, site.now_ms);
        let asks = vec![scan(range, BATCH as u32), Ask::Get(site.names.databases())];
        let (transaction, mut answers) = site.read(None, asks)?;
        let hints = pairs(answers.next())?;
        if let Ok(stored) = Databases::read(value(answers.next())?.as_deref()) {
            *databases = stored;
        }
        self.has_more = hints.len() >= BATCH;
        let last_ms = hints.last().and_then(|(name, _)| site.names.read_hint(name)).map(|(at_ms, _)| at_ms);
        if !hints.is_empty() {
            self.look_at(site, transaction, hints, databases)?;
        }
        match last_ms {
            // Those of one moment may be more than a batch, and be left where they are.
            Some(last_ms) if self.has_more => self.from_ms = last_ms + u64::from(last_ms == self.from_ms),
            _ => {
                let late = site.now_ms.saturating_sub(LATE_MS);
                self.from_ms = self.left_ms.take().map_or(late, |left_ms| left_ms.min(late));
            }
        }
        Ok(())
    }

    /// Looks at the keys of some hints.
    fn look_at<C: Cluster>(
        &mut self,
        site: &Site<'_, C>,
        transaction: C::Transaction,
        hints: Vec<(Vec<u8>, Vec<u8>)>,
        databases: &Databases,
    ) -> Result<(), ClusterError> {
        let known: Vec<_> = hints
            .into_iter()
            .filter_map(|(name, stored)| {
                let (at_ms, space) = site.names.read_hint(&name)?;
                let key = of_value(&stored)?.to_vec();
                Some((name, Expiring { at_ms, space, key }))
            })
            .collect();
        let roots = known.iter().map(|(_, hint)| Ask::Get(site.names.root(hint.space, &hint.key))).collect();
        let (transaction, mut answers) = site.read(Some(transaction), roots)?;
        let mut changes = Vec::new();
        for (name, hint) in known {
            let record = value(answers.next())?.as_deref().and_then(Record::read);
            let Expiring { at_ms, space, key } = hint;
            match record.and_then(|record| record.expires_at_ms) {
                Some(expires_at_ms) if expires_at_ms <= site.now_ms => {
                    let Some(db) = databases.database_of(space, site.options.databases) else {
                        changes.push((name, None));
                        continue;
                    };
                    self.left_ms = Some(self.left_ms.map_or(at_ms, |left_ms| left_ms.min(at_ms)));
                    site.counts.expired.fetch_add(1, Ordering::Relaxed);
                    site.due.lock().push(db, key);
                }
                Some(later_ms) => {
                    let moved = site.names.hint(later_ms, space, &key);
                    changes.push((moved, Some(as_value(&key))));
                    changes.push((name, None));
                }
                None => changes.push((name, None)),
            }
        }
        changes.sort_unstable();
        changes.dedup_by(|later, earlier| later.0 == earlier.0);
        site.write(transaction, changes)
    }
}

/// A key as a value, which is never empty.
fn as_value(key: &[u8]) -> Vec<u8> {
    [&[1], key].concat()
}

fn of_value(stored: &[u8]) -> Option<&[u8]> {
    stored.split_first().map(|(_, key)| key)
}
