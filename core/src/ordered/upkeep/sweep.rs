//! A slow walk over the whole store, for what nobody has noted.
//!
//! Hints and notes are lost when a process ends, and a SET that looks at nothing leaves the collection that it replaces without a
//! mark. So one process walks from slot to slot, a little at a time, and finds in one snapshot of each: keys that expired a while
//! ago; marks of dropped homes; and homes that no root has, neither one of the slot nor one elsewhere. After all slots it looks for
//! data in spaces that no database shows. How far it is stands in the cluster, so another process goes on from there.

use std::sync::atomic::Ordering;

use super::super::asking::{pairs, scan_names, value};
use super::super::cluster::{Ask, Cluster, ClusterError};
use super::super::databases::Databases;
use super::super::names::{Named, RESERVED, SLOTS, Space};
use super::homes::Homes;
use super::site::Site;
use super::slot::Slot;
use super::{REST_MS, Timer};

/// The walk takes a step so often.
const STEP_MS: u64 = 20;

/// A walk begins so many lives after the one before.
const LIVES_A_WALK: u64 = 5;

/// So many slots are passed at once where there is nothing.
const WINDOW: u16 = 64;

/// So many windows are passed in one step.
const WINDOWS_A_STEP: u32 = 16;

/// So often, in slots, it is written how far the walk is.
const SLOTS_A_NOTE: u32 = 128;

/// So many spaces are looked for at the end of a walk at most.
const SPACES_A_WALK: u32 = 256;

/// A walk over the store.
pub(super) struct Sweep<T> {
    timer: Timer,
    walks: Timer,
    /// Where it is: at a slot of a space. None between two walks.
    at: Option<(Space, u16)>,
    /// Whether it is known how far others were.
    is_known: bool,
    window: u16,
    slot: Option<Slot<T>>,
    unwritten: u32,
}

impl<T> Default for Sweep<T> {
    fn default() -> Sweep<T> {
        Sweep {
            timer: Timer::default(),
            walks: Timer::default(),
            at: None,
            is_known: false,
            window: WINDOW,
            slot: None,
            unwritten: 0,
        }
    }
}

impl<T> Sweep<T> {
    /// When the walk goes on.
    pub(super) fn rest_ms(&self, now_ms: u64) -> u64 {
        if self.at.is_none() { REST_MS } else { self.timer.rest_ms(now_ms) }
    }

    /// Goes a step further.
    pub(super) fn step<C: Cluster<Transaction = T>>(
        &mut self,
        site: &Site<'_, C>,
        homes: &mut Homes,
    ) -> Result<bool, ClusterError> {
        if homes.is_full() || !self.timer.is_due(site.now_ms, STEP_MS) {
            return Ok(false);
        }
        self.begin(site)?;
        let mut slot = self.slot.take();
        for _ in 0..WINDOWS_A_STEP {
            let Some(at) = self.at.filter(|_| slot.is_none()) else { break };
            slot = self.find(site, at)?;
        }
        let Some(slot) = slot else { return Ok(false) };
        let next = (slot.space, slot.number + 1);
        match slot.step(site, homes) {
            Ok(Some(slot)) => self.slot = Some(slot),
            // It has more roots than one transaction can see.
            Ok(None) | Err(ClusterError::Refused(_)) => self.pass(site, next)?,
            Err(error) => return Err(error),
        }
        Ok(false)
    }

    /// Begins a new walk when it is time.
    fn begin<C: Cluster<Transaction = T>>(&mut self, site: &Site<'_, C>) -> Result<(), ClusterError> {
        if self.at.is_none() && self.walks.is_due(site.now_ms, site.pace.life_ms * LIVES_A_WALK) {
            self.at = Some((0, 0));
            if !self.is_known {
                let (_, mut answers) = site.read(None, vec![Ask::Get(site.names.swept())])?;
                self.at = value(answers.next())?.as_deref().and_then(read_place).or(self.at);
                self.is_known = true;
            }
        }
        Ok(())
    }

    /// Finds the next slot that has anything in it, from a place on; None if it is not found in this step.
    fn find<C: Cluster<Transaction = T>>(
        &mut self,
        site: &Site<'_, C>,
        (space, from): (Space, u16),
    ) -> Result<Option<Slot<T>>, ClusterError> {
        let to = from.saturating_add(self.window).min(SLOTS);
        let asks = vec![scan_names(site.names.slots(space, from, to), 1), Ask::Get(site.names.databases())];
        let (transaction, mut answers) = site.read(None, asks)?;
        let found = pairs(answers.next())?;
        let Ok(databases) = Databases::read(value(answers.next())?.as_deref()) else { return Ok(None) };
        let count = site.options.databases;
        let number = found.first().and_then(|(name, _)| match site.names.read(name)? {
            Named::Root(place, _) => Some(place.slot),
            Named::Other(slot) => Some(slot),
        });
        if let Some(number) = number
            && let Some(db) = databases.database_of(space, count)
        {
            self.window = WINDOW;
            return Ok(Some(Slot::new(site.names, (space, number), db, transaction)));
        }
        if to < SLOTS {
            self.at = Some((space, to));
            // Where there is little it is done soon.
            self.window = self.window.saturating_mul(4).min(SLOTS);
            return Ok(None);
        }
        self.window = WINDOW;
        match databases.spaces(count).into_iter().find(|other| *other > space) {
            Some(next) => self.at = Some((next, 0)),
            None => self.end(site)?,
        }
        Ok(None)
    }

    /// A slot is done.
    fn pass<C: Cluster<Transaction = T>>(
        &mut self,
        site: &Site<'_, C>,
        next: (Space, u16),
    ) -> Result<(), ClusterError> {
        self.at = Some(next);
        self.unwritten += 1;
        if self.unwritten >= SLOTS_A_NOTE {
            self.unwritten = 0;
            site.put(vec![(site.names.swept(), Some(place_bytes(next)))])?;
        }
        Ok(())
    }

    /// The walk has come to its end.
    fn end<C: Cluster<Transaction = T>>(&mut self, site: &Site<'_, C>) -> Result<(), ClusterError> {
        mark_spaces(site)?;
        site.put(vec![(site.names.swept(), None)])?;
        self.at = None;
        site.counts.sweeps.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

/// Marks spaces that have data, though no database shows them and no mark says so.
fn mark_spaces<C: Cluster>(site: &Site<'_, C>) -> Result<(), ClusterError> {
    let names = site.names;
    let (mut transaction, mut answers) = site.read(None, vec![Ask::Get(names.databases())])?;
    let Ok(databases) = Databases::read(value(answers.next())?.as_deref()) else { return Ok(()) };
    let (mut from, mut marks) = (0, Vec::new());
    for _ in 0..SPACES_A_WALK {
        // Between two that are shown there is mostly nothing, and nothing is to be read of these.
        let shown = databases.spaces(site.options.databases);
        while shown.contains(&from) {
            from += 1;
        }
        let to = shown.into_iter().find(|shown| *shown > from).unwrap_or(RESERVED);
        let range = (names.space(from).0, names.space(to).0);
        let (read, mut answers) = site.read(Some(transaction), vec![scan_names(range, 1)])?;
        transaction = read;
        let found = pairs(answers.next())?.first().and_then(|(name, _)| names.read_space(name));
        if let Some(space) = found
            && !databases.is_shown(space)
        {
            marks.push((names.dropped_space(space), Some(vec![1])));
        }
        from = found.map_or(to, |space| space + 1);
        if from >= RESERVED {
            break;
        }
    }
    site.write(transaction, marks)
}

fn place_bytes((space, slot): (Space, u16)) -> Vec<u8> {
    [&space.to_le_bytes()[..], &slot.to_le_bytes()].concat()
}

fn read_place(bytes: &[u8]) -> Option<(Space, u16)> {
    let (space, slot) = bytes.split_first_chunk()?;
    Some((Space::from_le_bytes(*space), u16::from_le_bytes(slot.try_into().ok()?)))
}
