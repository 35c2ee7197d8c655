//! The subkey half of a transaction: the committed subkeys of a key merged with the ones the transaction changed.
//!
//! Both sides are ordered by bytes. Ranks count the merged order, so a rank of the committed side is corrected by what
//! the overlay adds and removes before it.

use std::iter::{Peekable, Rev};
use std::ops::{Bound, ControlFlow, Range};

use super::ahead::Ahead;
use super::sub_changes::{Iter, SubBytes, SubChange, SubChanges};
use super::sub_walk::{Start, SubWalk};
use super::{Db, Direction, Result, Root, SubVisitor, Txn, Want};

impl Txn<'_> {
    /// Number of subkeys of a key; 0 if there is no key.
    pub fn sub_len(&mut self, db: Db, key: &[u8]) -> Result<u64> {
        let at = self.state(db, key)?;
        let state = &self.overlay.keys[at];
        let base = match &state.subkeys_of {
            Some(root) => self.reader.sub_len(root)?,
            None => 0,
        };
        Ok(base.saturating_add_signed(state.subs_delta))
    }

    /// Says which subkeys of a key are about to be read, or put or removed. A hint: it changes nothing, and what is never read does
    /// no harm.
    ///
    /// # Errors
    /// The key's root cannot be read.
    pub fn announce_subs(
        &mut self,
        db: Db,
        key: &[u8],
        subkeys: &[&[u8]],
        are_to_change: bool,
    ) -> Result<()> {
        let at = self.state(db, key)?;
        if let Some(root) = &self.overlay.keys[at].subkeys_of {
            self.reader.announce_subs(root, subkeys, are_to_change);
        }
        Ok(())
    }

    /// The same for subkeys by their ranks.
    ///
    /// # Errors
    /// The key's root cannot be read.
    pub fn announce_ranks(&mut self, db: Db, key: &[u8], ranks: &[u64]) -> Result<()> {
        let at = self.state(db, key)?;
        let state = &self.overlay.keys[at];
        // What the transaction has changed moves ranks.
        if let Some(root) = state.subkeys_of.as_ref().filter(|_| state.subs.is_empty()) {
            self.reader.announce_ranks(root, ranks);
        }
        Ok(())
    }

    /// Whether a subkey is there.
    pub fn sub_contains(&mut self, db: Db, key: &[u8], subkey: &[u8]) -> Result<bool> {
        let at = self.state(db, key)?;
        let state = &self.overlay.keys[at];
        if let Some(change) = state.subs.get(subkey) {
            return Ok(change.value.is_some());
        }
        match &state.subkeys_of {
            Some(root) => self.reader.sub_contains(root, subkey),
            None => Ok(false),
        }
    }

    /// Shows the value of a subkey; false if there is none.
    pub fn sub_read(
        &mut self,
        db: Db,
        key: &[u8],
        subkey: &[u8],
        visit: &mut dyn FnMut(&[u8]),
    ) -> Result<bool> {
        let at = self.state(db, key)?;
        let state = &self.overlay.keys[at];
        if let Some(change) = state.subs.get(subkey) {
            if let Some(value) = &change.value {
                visit(value);
            }
            return Ok(change.value.is_some());
        }
        match &state.subkeys_of {
            Some(root) => self.reader.sub_read(root, subkey, visit).map_err(|error| error.of_key(db, key)),
            None => Ok(false),
        }
    }

    /// A copy of the value of a subkey, if it is there.
    pub fn sub_value(&mut self, db: Db, key: &[u8], subkey: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut copy = Vec::new();
        let found = self.sub_read(db, key, subkey, &mut |bytes| copy.extend_from_slice(bytes))?;
        Ok(found.then_some(copy))
    }

    /// Puts a subkey under a key whose root the caller has put before; true if the subkey was there.
    pub fn sub_put(&mut self, db: Db, key: &[u8], subkey: &[u8], value: &[u8]) -> Result<bool> {
        let at = self.state(db, key)?;
        debug_assert!(self.root_at(at).is_some(), "a subkey needs a root");
        let state = &mut self.overlay.keys[at];
        if let Some(change) = state.subs.get_mut(subkey) {
            self.budget.ask(1, value.len() as u64)?;
            self.overlay.ahead = None;
            let (in_base, subs_delta) = (change.in_base, state.subs_delta);
            let before = change.value.replace(SubBytes::from_slice(value));
            let was_there = before.is_some();
            state.subs_delta += i64::from(!was_there);
            self.overlay.note_sub(at, subkey, subs_delta, || Some(SubChange { value: before, in_base }));
            return Ok(was_there);
        }
        let state = &self.overlay.keys[at];
        let in_base = match &state.subkeys_of {
            Some(root) => self.reader.sub_contains_to_change(root, subkey)?,
            None => false,
        };
        self.sub_change(at, subkey, value, in_base)?;
        Ok(in_base)
    }

    /// Notes a value for a subkey that has no change yet.
    fn sub_change(&mut self, at: usize, subkey: &[u8], value: &[u8], in_base: bool) -> Result<()> {
        self.budget.ask(1, (subkey.len() + value.len()) as u64)?;
        self.count_changes(1)?;
        self.overlay.ahead = None;
        self.overlay.note_sub(at, subkey, self.overlay.keys[at].subs_delta, || None);
        let state = &mut self.overlay.keys[at];
        state.subs.add(subkey, SubChange { value: Some(SubBytes::from_slice(value)), in_base });
        state.subs_delta += i64::from(!in_base);
        Ok(())
    }

    /// Puts a subkey that the caller knows is not there, which saves looking for it. If damage made the caller wrong, the subkey
    /// is replaced, and lengths and ranks count it twice until the transaction ends.
    pub fn sub_add(&mut self, db: Db, key: &[u8], subkey: &[u8], value: &[u8]) -> Result<()> {
        let at = self.state(db, key)?;
        let state = &mut self.overlay.keys[at];
        if state.subs.get(subkey).is_some() {
            // The transaction removed it before.
            return self.sub_put(db, key, subkey, value).map(|_| ());
        }
        if let Some(root) = &state.subkeys_of {
            self.reader.announce_change(root, subkey);
        }
        self.sub_change(at, subkey, value, false)
    }

    /// Puts a subkey that the caller knows is there, which saves looking for it. If damage made the caller wrong, the subkey
    /// is added, and lengths and ranks leave it out until the transaction ends.
    pub fn sub_replace(&mut self, db: Db, key: &[u8], subkey: &[u8], value: &[u8]) -> Result<()> {
        let at = self.state(db, key)?;
        let state = &mut self.overlay.keys[at];
        if state.subkeys_of.is_none() || state.subs.get(subkey).is_some() {
            // The transaction put it, or all that is there.
            return self.sub_put(db, key, subkey, value).map(|_| ());
        }
        self.sub_change(at, subkey, value, true)
    }

    /// Removes a subkey; true if it was there. A key whose last subkey goes must be removed by the caller.
    pub fn sub_remove(&mut self, db: Db, key: &[u8], subkey: &[u8]) -> Result<bool> {
        let at = self.state(db, key)?;
        let state = &mut self.overlay.keys[at];
        if let Some(change) = state.subs.get_mut(subkey) {
            let (in_base, subs_delta) = (change.in_base, state.subs_delta);
            let before = change.value.take();
            let was_there = before.is_some();
            if !in_base {
                state.subs.remove(subkey);
            }
            state.subs_delta -= i64::from(was_there);
            self.overlay.note_sub(at, subkey, subs_delta, || Some(SubChange { value: before, in_base }));
            return Ok(was_there);
        }
        let state = &self.overlay.keys[at];
        let in_base = match &state.subkeys_of {
            Some(root) => self.reader.sub_contains_to_change(root, subkey)?,
            None => false,
        };
        if in_base {
            self.sub_removal(at, subkey)?;
        }
        Ok(in_base)
    }

    /// Notes the removal of a committed subkey that has no change yet.
    fn sub_removal(&mut self, at: usize, subkey: &[u8]) -> Result<()> {
        self.count_changes(1)?;
        self.overlay.note_sub(at, subkey, self.overlay.keys[at].subs_delta, || None);
        let state = &mut self.overlay.keys[at];
        state.subs.add(subkey, SubChange { value: None, in_base: true });
        state.subs_delta -= 1;
        Ok(())
    }

    /// Removes a subkey that a walk of this transaction has just shown, which saves looking for it.
    pub fn sub_remove_seen(&mut self, db: Db, key: &[u8], subkey: &[u8]) -> Result<()> {
        let at = self.state(db, key)?;
        let state = &self.overlay.keys[at];
        if state.subkeys_of.is_none() || state.subs.get(subkey).is_some() {
            return self.sub_remove(db, key, subkey).map(drop);
        }
        if let Some(root) = &state.subkeys_of {
            self.reader.announce_change(root, subkey);
        }
        self.sub_removal(at, subkey)
    }

    /// Removes the subkeys with these ranks, which costs less than to remove one after another, and returns how many there
    /// were. A key whose last subkey goes must be removed by the caller.
    pub fn sub_remove_run(&mut self, db: Db, key: &[u8], ranks: Range<u64>) -> Result<u64> {
        let (mut run, mut left) = (Vec::new(), ranks.end.saturating_sub(ranks.start));
        // One more than may be, so that too many are noticed before all of them are held.
        let most = self.changes_left().saturating_add(1);
        if left > 0 {
            let walk = SubWalk::up(Start::Rank(ranks.start), Want::Subkeys).expecting(left.min(most));
            self.sub_scan(db, key, walk, &mut |subkey, _| {
                run.push(SubBytes::from_slice(subkey));
                left -= 1;
                let is_over = left == 0 || run.len() as u64 == most;
                if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })?;
        }
        self.count_changes(run.len() as u64)?;
        let (Some(first), Some(last)) = (run.first(), run.last()) else { return Ok(0) };
        let at = self.state(db, key)?;
        let bounds = (Bound::Included(first.as_slice()), Bound::Included(last.as_slice()));
        let changed = self.overlay.keys[at].subs.range(bounds);
        let put: Vec<SubBytes> = changed
            .filter(|(_, change)| change.value.is_some())
            .map(|(subkey, _)| SubBytes::from_slice(subkey))
            .collect();
        for subkey in &put {
            self.sub_remove(db, key, subkey)?;
        }
        let count = run.len() as u64;
        // Both are in order; what the transaction did not put is committed.
        let mut put = put.into_iter().peekable();
        run.retain(|subkey| put.next_if_eq(subkey).is_none());
        let subs_delta = self.overlay.keys[at].subs_delta;
        for subkey in &run {
            self.overlay.note_sub(at, subkey, subs_delta, || None);
        }
        let state = &mut self.overlay.keys[at];
        state.subs_delta = state.subs_delta.saturating_sub_unsigned(run.len() as u64);
        let removed = |subkey| (subkey, SubChange { value: None, in_base: true });
        state.subs.add_all(run.into_iter().map(removed).collect());
        Ok(count)
    }

    /// Number of subkeys smaller than `subkey`, which need not be there.
    pub fn sub_rank(&mut self, db: Db, key: &[u8], subkey: &[u8]) -> Result<u64> {
        let at = self.state(db, key)?;
        let state = &self.overlay.keys[at];
        let base = match &state.subkeys_of {
            Some(root) => self.reader.sub_rank(root, subkey)?,
            None => 0,
        };
        let before = state.subs.range((Bound::Unbounded, Bound::Excluded(subkey)));
        Ok(base.saturating_add_signed(before.map(|(_, change)| delta(change)).sum()))
    }

    /// The subkey with this rank, if there are so many.
    pub fn sub_select(&mut self, db: Db, key: &[u8], rank: u64) -> Result<Option<Vec<u8>>> {
        let at = self.state(db, key)?;
        let state = &self.overlay.keys[at];
        let Some(root) = &state.subkeys_of else {
            let at = usize::try_from(rank).unwrap_or(usize::MAX);
            return Ok(state.subs.iter().nth(at).map(|(subkey, _)| subkey.to_vec()));
        };
        let mut shift = 0;
        for (subkey, change) in &state.subs {
            let place = self.reader.sub_rank(root, subkey)?.saturating_add_signed(shift);
            if place > rank {
                break;
            }
            if place == rank && change.value.is_some() {
                return Ok(Some(subkey.to_vec()));
            }
            shift += delta(change);
        }
        let mut found = None;
        let base_rank = rank.saturating_add_signed(-shift);
        let walk = SubWalk::up(Start::Rank(base_rank), Want::Subkeys).expecting(1);
        self.reader.sub_scan(root, walk, &mut |subkey, _| {
            found = Some(subkey.to_vec());
            ControlFlow::Break(())
        })?;
        Ok(found)
    }

    /// The first subkey of a key in a direction, if it has any.
    pub fn sub_end(&mut self, db: Db, key: &[u8], direction: Direction) -> Result<Option<SubBytes>> {
        let at = self.state(db, key)?;
        let committed = match self.overlay.keys[at].subkeys_of {
            Some(root) => self.committed_end(at, &root, direction)?,
            None => None,
        };
        let state = &self.overlay.keys[at];
        let put = |(subkey, change): (&[u8], &SubChange)| {
            change.value.is_some().then(|| SubBytes::from_slice(subkey))
        };
        let own = match direction {
            Direction::Ascending => state.subs.iter().find_map(put),
            Direction::Descending => state.subs.iter().rev().find_map(put),
        };
        Ok(match (committed, own, direction) {
            (Some(committed), Some(own), Direction::Ascending) => Some(committed.min(own)),
            (Some(committed), Some(own), Direction::Descending) => Some(committed.max(own)),
            (committed, own, _) => committed.or(own),
        })
    }

    /// Shows the first subkey of a key in a direction with its value; false if it has none. For what removes it then: after a
    /// removal there are likely to be more, so some are read ahead.
    pub fn sub_first(
        &mut self,
        db: Db,
        key: &[u8],
        direction: Direction,
        visit: &mut dyn FnMut(&[u8], &[u8]),
    ) -> Result<bool> {
        let at = self.state(db, key)?;
        let mut is_shown = false;
        let Some(mut ahead) = self.take_ahead(at, direction) else {
            let walk = SubWalk::new(Start::End, direction, Want::Values).expecting(1).to_change();
            self.sub_scan(db, key, walk, &mut |subkey, value| {
                visit(subkey, value);
                is_shown = true;
                ControlFlow::Break(())
            })?;
            return Ok(is_shown);
        };
        let first = ahead.first(&mut *self.reader, &self.overlay.keys[at].subs);
        if let Some((subkey, value)) = first.map_err(|error| error.of_key(db, key))? {
            visit(subkey, value);
            is_shown = true;
        }
        self.overlay.ahead = Some(ahead);
        Ok(is_shown)
    }

    /// What was read ahead at an end of a collection of which the transaction has done nothing but remove from that end.
    fn take_ahead(&mut self, at: usize, direction: Direction) -> Option<Ahead> {
        let root = self.overlay.keys[at].subkeys_of?;
        match self.overlay.ahead.take() {
            Some(ahead) if ahead.is_of(&root, direction) => Some(ahead),
            _ => {
                let subs = &self.overlay.keys[at].subs;
                let only_removals = !subs.is_empty() && subs.iter().all(|(_, change)| change.value.is_none());
                // Without a number a collection could not be told from another.
                (only_removals && root.collection != 0).then(|| Ahead::new(root, direction))
            }
        }
    }

    /// The first committed subkey in a direction that the transaction has not removed. What it found is remembered, since a
    /// group of pushes asks again and again.
    fn committed_end(&mut self, at: usize, root: &Root, direction: Direction) -> Result<Option<SubBytes>> {
        let state = &self.overlay.keys[at];
        let is_removed = |subkey: &[u8]| state.subs.get(subkey).is_some_and(|change| change.value.is_none());
        let of = (root.collection, direction);
        let known = self.overlay.committed_end.take().filter(|(known, _)| *known == of);
        let (start, expect) = match &known {
            Some((_, subkey)) if !is_removed(subkey) => {
                let subkey = subkey.clone();
                self.overlay.committed_end = known;
                return Ok(Some(subkey));
            }
            // Those before it are removed as well.
            Some((_, subkey)) => (Start::Subkey(subkey), 2),
            None => (Start::End, 1 + state.subs.len() as u64),
        };
        let mut found = None;
        let walk = SubWalk::new(start, direction, Want::Subkeys).expecting(expect).to_change();
        self.reader.sub_scan(root, walk, &mut |subkey, _| {
            if is_removed(subkey) {
                return ControlFlow::Continue(());
            }
            found = Some(SubBytes::from_slice(subkey));
            ControlFlow::Break(())
        })?;
        let is_known = root.collection != 0;
        self.overlay.committed_end = found.clone().filter(|_| is_known).map(|subkey| (of, subkey));
        Ok(found)
    }

    /// Whether the first change in a direction takes a subkey away.
    fn begins_with_removal(&self, at: usize, direction: Direction) -> bool {
        let mut changes = self.overlay.keys[at].subs.iter();
        let first = match direction {
            Direction::Ascending => changes.next(),
            Direction::Descending => changes.next_back(),
        };
        first.is_some_and(|(_, change)| change.value.is_none())
    }

    /// Walks the subkeys of a key until the visitor breaks or none is left.
    pub fn sub_scan(&mut self, db: Db, key: &[u8], walk: SubWalk<'_>, visit: SubVisitor<'_>) -> Result<()> {
        let at = self.state(db, key)?;
        let state = &self.overlay.keys[at];
        if state.subs.is_empty() {
            return match &state.subkeys_of {
                Some(root) => self.reader.sub_scan(root, walk, visit).map_err(|error| error.of_key(db, key)),
                None => Ok(()),
            };
        }
        // The committed side counts its own ranks, so a rank of the merged order becomes a subkey.
        let picked;
        let start = match (walk.start, walk.direction) {
            (Start::Rank(0), Direction::Ascending) => Start::End,
            (Start::Rank(rank), _) => {
                picked = self.sub_select(db, key, rank)?;
                let Some(subkey) = &picked else { return Ok(()) };
                Start::Subkey(subkey)
            }
            (start, _) => start,
        };
        let kept;
        let mut start = start;
        if start == Start::End && walk.want == Want::Values && self.begins_with_removal(at, walk.direction) {
            // Values of subkeys that are removed need not be read.
            kept = self.sub_end(db, key, walk.direction)?;
            let Some(subkey) = &kept else { return Ok(()) };
            start = Start::Subkey(subkey);
        }
        let state = &self.overlay.keys[at];
        let mut changes = Changes::from(&state.subs, start, walk.direction);
        if let Some(root) = &state.subkeys_of {
            // Some of the committed subkeys may turn out to be removed.
            let expect = walk.expect.saturating_add(state.subs.len() as u64);
            let mut flow = ControlFlow::Continue(());
            // The subkeys say where the changed ones belong.
            let want = if walk.want == Want::ValuesAlone { Want::Values } else { walk.want };
            let walk = SubWalk { start, expect, want, ..walk };
            let walked = self.reader.sub_scan(root, walk, &mut |subkey, value| {
                flow = changes.merge(subkey, value, visit);
                flow
            });
            walked.map_err(|error| error.of_key(db, key))?;
            if flow.is_break() {
                return Ok(());
            }
        }
        changes.rest(visit);
        Ok(())
    }
}

/// The number of subkeys that a change adds; negative for a removal.
fn delta(change: &SubChange) -> i64 {
    i64::from(change.value.is_some()) - i64::from(change.in_base)
}

/// The changed subkeys of one key in the order of a walk.
enum Changes<'c> {
    Ascending(Peekable<Iter<'c>>),
    Descending(Peekable<Rev<Iter<'c>>>),
}

impl<'c> Changes<'c> {
    fn from(subs: &'c SubChanges, start: Start<'_>, direction: Direction) -> Changes<'c> {
        let bound = match start {
            Start::Subkey(subkey) => Bound::Included(subkey),
            // A rank has become a subkey before.
            Start::End | Start::Rank(_) => Bound::Unbounded,
        };
        match direction {
            Direction::Ascending => Changes::Ascending(subs.range((bound, Bound::Unbounded)).peekable()),
            Direction::Descending => {
                Changes::Descending(subs.range((Bound::Unbounded, bound)).rev().peekable())
            }
        }
    }

    /// Takes the next change if it comes before `subkey` in the walk, or is it.
    fn next_until(&mut self, subkey: Option<&[u8]>) -> Option<(&'c [u8], &'c SubChange)> {
        match self {
            Changes::Ascending(changes) => {
                changes.next_if(|(next, _)| subkey.is_none_or(|limit| *next <= limit))
            }
            Changes::Descending(changes) => {
                changes.next_if(|(next, _)| subkey.is_none_or(|limit| *next >= limit))
            }
        }
    }

    fn merge(&mut self, subkey: &[u8], value: &[u8], visit: SubVisitor<'_>) -> ControlFlow<()> {
        while let Some((changed, change)) = self.next_until(Some(subkey)) {
            if let Some(new) = &change.value {
                visit(changed, new)?;
            }
            if changed == subkey {
                return ControlFlow::Continue(());
            }
        }
        visit(subkey, value)
    }

    fn rest(&mut self, visit: SubVisitor<'_>) {
        while let Some((changed, change)) = self.next_until(None) {
            if let Some(new) = &change.value
                && visit(changed, new).is_break()
            {
                return;
            }
        }
    }
}
