//! The transaction that a command works in: atomic, over (database, key, subkey), which reads its own writes.
//!
//! Writes go to an [`Overlay`] and nowhere else; the caller commits it through the engine or drops it. Keys whose time
//! has come are missing for every method and are removed by the same commit.

use super::key_state::{PendingRoot, Source};
use super::overlay::Overlay;
use super::turns::Turn;
use super::{CATALOG, Db, EngineError, Kind, Reader, Result, Root, ShortValue, Touch};
use crate::memory_budget::{MemoryBudget, Share};

/// A root to be put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewRoot {
    /// The Redis type.
    pub kind: Kind,
    /// The data layer's byte.
    pub encoding: u8,
    /// Unix time in milliseconds.
    pub expires_at_ms: Option<u64>,
}

impl NewRoot {
    /// A root of this kind with encoding 0 and no expiry.
    pub fn of(kind: Kind) -> NewRoot {
        NewRoot { kind, encoding: 0, expires_at_ms: None }
    }
}

/// So many changes are made between two looks at the memory budget.
const CHANGES_BETWEEN: u64 = 256;

/// One transaction: reads of the committed state under uncommitted writes.
pub struct Txn<'e> {
    pub(super) reader: &'e mut dyn Reader,
    pub(super) overlay: &'e mut Overlay,
    now_ms: u64,
    touches: bool,
    puts_blindly: bool,
    pub(super) blob_min: u64,
    pub(super) changes: u64,
    changes_max: u64,
    pub(super) budget: MemoryBudget,
    share: Share,
}

impl<'e> Txn<'e> {
    /// A transaction at `now_ms` (unix time) that writes to `overlay`, which the caller has cleared.
    pub fn new(reader: &'e mut dyn Reader, overlay: &'e mut Overlay, now_ms: u64) -> Txn<'e> {
        overlay.set_touch(Touch::clock(now_ms));
        Txn {
            reader,
            overlay,
            now_ms,
            touches: true,
            puts_blindly: false,
            blob_min: u64::MAX,
            changes: 0,
            changes_max: u64::MAX,
            budget: MemoryBudget::UNBOUNDED,
            share: MemoryBudget::UNBOUNDED.share(),
        }
    }

    /// Unix time in milliseconds, the same for the whole transaction.
    pub fn now_ms(&self) -> u64 {
        self.now_ms
    }

    /// Whether reads from here on count as accesses (OBJECT IDLETIME); true at the start.
    pub fn set_touches(&mut self, touches: bool) {
        self.touches = touches;
    }

    /// Whether strings may be put without a look at what was there, where to look takes a round trip; false at the start. Who
    /// wants to know the old roots must not allow it.
    pub fn set_puts_blindly(&mut self, puts_blindly: bool) {
        self.puts_blindly = puts_blindly;
    }

    /// Says whether reads may be guessed; see [`Reader::allow_guesses`].
    pub fn allow_guesses(&mut self, are_allowed: bool) {
        self.reader.allow_guesses(are_allowed);
    }

    /// Whether a read was guessed, so that the run is to be thrown away.
    pub fn has_guessed(&self) -> bool {
        self.reader.has_guessed()
    }

    /// How the use of keys is noted; by the clock of the transaction at the start.
    pub fn set_touch(&mut self, touch: Touch) {
        self.overlay.set_touch(touch);
    }

    /// Bounds how many changes of subkeys the transaction may hold; no bound at the start.
    pub fn set_changes_max(&mut self, changes_max: u64) {
        self.changes_max = changes_max;
    }

    /// Where to ask for memory; at the start there is no end of it.
    pub fn set_budget(&mut self, budget: MemoryBudget) {
        self.budget = budget;
        self.share = budget.share();
    }

    /// Where to ask for memory before much is taken.
    pub fn budget(&self) -> MemoryBudget {
        self.budget
    }

    /// The share of memory that the transaction may fill.
    pub fn share(&self) -> Share {
        self.share
    }

    /// To be called before so many changes of subkeys are added.
    #[inline]
    pub(super) fn count_changes(&mut self, count: u64) -> Result<()> {
        if self.changes / CHANGES_BETWEEN != (self.changes + count) / CHANGES_BETWEEN {
            self.share.look()?;
        }
        self.changes += count;
        if self.changes > self.changes_max {
            Err(EngineError::TooManyChanges(self.changes_max))
        } else {
            Ok(())
        }
    }

    /// How many changes of subkeys it may still hold.
    pub(super) fn changes_left(&self) -> u64 {
        self.changes_max.saturating_sub(self.changes)
    }

    /// How many keys the transaction remembers, for [`Txn::forget_reads`].
    pub fn keys_seen(&self) -> usize {
        self.overlay.keys.len()
    }

    /// Forgets keys that were only read since it remembered `seen` of them, so that a request which reads very many does
    /// not hold them all.
    pub fn forget_reads(&mut self, seen: usize) {
        self.overlay.forget_unchanged(seen);
    }

    /// Whether it has the locks of all keys, so that nothing changes beside it.
    pub fn holds_everything(&self) -> bool {
        self.reader.holds_everything()
    }

    /// Whether others wait for what the transaction has locked, and it may [let them pass](Txn::let_pass).
    pub fn is_waited_for(&self) -> bool {
        self.reader.is_waited_for() && self.overlay.is_empty()
    }

    /// Lets others pass that wait for its locks: what it reads from now on may be newer than what it has read. For one
    /// that has changed nothing.
    pub fn let_pass(&mut self) {
        self.overlay.forget_unchanged(0);
        self.reader.let_pass();
    }

    /// Says that another command begins.
    pub fn next_command(&mut self) {
        self.overlay.command = self.overlay.command.wrapping_add(1);
    }

    /// The number of the running command in the transaction.
    pub fn command(&self) -> u32 {
        self.overlay.command
    }

    /// Whether the running command looked for a key that is not there.
    pub fn is_missing(&self, db: Db, key: &[u8]) -> bool {
        self.overlay.is_missing(db, key)
    }

    /// Whether no other key was looked for since this one.
    pub fn was_asked_last(&self, db: Db, key: &[u8]) -> bool {
        self.overlay.was_asked_last(db, key)
    }

    /// Shows what became of keys since it was last asked, the oldest first; with a key, only what comes first and is
    /// about it. Nothing unless [`Overlay::keep_turns`] was called.
    pub fn take_turns(&mut self, key: Option<&[u8]>, visit: &mut dyn FnMut(Turn, Db, &[u8])) {
        self.overlay.take_turns(key, visit);
    }

    /// The root of a key, if the key is there.
    pub fn root(&mut self, db: Db, key: &[u8]) -> Result<Option<Root>> {
        let at = self.state(db, key)?;
        Ok(self.root_at(at))
    }

    /// The version of a key before the transaction; see [`Reader::version`].
    ///
    /// # Errors
    /// Those of looking for it.
    pub fn version(&mut self, db: Db, key: &[u8]) -> Result<u64> {
        match self.overlay.source(db) {
            Source::Base(base) => self.reader.version(base, key),
            Source::Fresh(_) => Ok(0),
        }
    }

    /// The type of a key, if the key is there.
    pub fn kind(&mut self, db: Db, key: &[u8]) -> Result<Option<Kind>> {
        Ok(self.root(db, key)?.map(|root| root.kind))
    }

    /// Shows `len` bytes at `offset` of a root's value, cut to what is there; returns false if there is no key.
    pub fn read_value(
        &mut self,
        db: Db,
        key: &[u8],
        range: (u64, u64),
        visit: &mut dyn FnMut(&[u8]),
    ) -> Result<bool> {
        self.read_value_into(db, key, range, 1, visit)
    }

    /// The same for a caller that makes this many buffers of that length, the one that is shown included.
    fn read_value_into(
        &mut self,
        db: Db,
        key: &[u8],
        (offset, len): (u64, u64),
        buffers: usize,
        visit: &mut dyn FnMut(&[u8]),
    ) -> Result<bool> {
        let at = self.state(db, key)?;
        let Some(root) = self.root_at(at) else { return Ok(false) };
        if root.blob.is_some() {
            let offset = offset.min(root.value_len);
            self.read_blob((db, key), (offset, len.min(root.value_len - offset)), visit)?;
            return Ok(true);
        }
        self.read_root((db, key), (at, &root), (offset, len), buffers, visit)?;
        Ok(true)
    }

    /// The same for the root that a key has, of which its state is known, if its value is no blob.
    pub(super) fn read_root(
        &mut self,
        (db, key): (Db, &[u8]),
        (at, root): (usize, &Root),
        (offset, len): (u64, u64),
        buffers: usize,
        visit: &mut dyn FnMut(&[u8]),
    ) -> Result<()> {
        if let PendingRoot::Put { value, .. } = self.overlay.keys[at].root {
            visit(self.overlay.bytes(value.part(offset, len)));
            return Ok(());
        }
        let offset = offset.min(root.value_len);
        let len = len.min(root.value_len - offset);
        if let Some(short) = &root.short {
            // The range lies within a value of a few bytes.
            let (start, end) = (offset as usize, (offset + len) as usize);
            visit(short.as_bytes().get(start..end).unwrap_or_default());
            return Ok(());
        }
        self.budget.ask(buffers, len)?;
        self.reader.read_value(root, (offset, len), visit).map_err(|error| error.of_key(db, key))
    }

    /// About how many bytes of memory a key takes, if it is there.
    pub fn memory_bytes(&mut self, db: Db, key: &[u8]) -> Result<Option<u64>> {
        let at = self.state(db, key)?;
        let Some(root) = self.root_at(at) else { return Ok(None) };
        match self.overlay.keys[at].root {
            PendingRoot::Unchanged => self.reader.memory_bytes(key, &root).map(Some),
            // What this transaction has put is not where it will be yet.
            _ => Ok(Some(key.len() as u64 + root.value_len)),
        }
    }

    /// A copy of a root's value, if the key is there.
    pub fn value(&mut self, db: Db, key: &[u8]) -> Result<Option<Vec<u8>>> {
        let mut copy = Vec::new();
        let mut push = |bytes: &[u8]| copy.extend_from_slice(bytes);
        // As it is read, and as it is given.
        let found = self.read_value_into(db, key, (0, u64::MAX), 2, &mut push)?;
        Ok(found.then_some(copy))
    }

    /// Makes the key a new one with this root and value; whatever it was before, subkeys included, is gone.
    pub fn put(&mut self, db: Db, key: &[u8], root: NewRoot, value: &[u8]) -> Result<()> {
        if value.len() as u64 >= self.blob_min && root.kind == Kind::String {
            let mut draft = self.draft()?;
            draft.append(value)?;
            return self.put_draft(db, key, root, draft);
        }
        let at = match self.blind_state(db, key, root.kind) {
            Some(at) => at,
            None => self.state(db, key)?,
        };
        self.note_appearance(db, at);
        self.budget.ask(1, self.overlay.arena_growth(value.len()))?;
        let value = self.overlay.store(value);
        let NewRoot { kind, encoding, expires_at_ms } = root;
        self.overlay.note_key(at);
        let state = &mut self.overlay.keys[at];
        state.root = PendingRoot::Put { kind, encoding, expires_at_ms, value, blob: None };
        state.drop_subkeys();
        Ok(())
    }

    /// Changes expiry and encoding of a key that is there and keeps its type, value and subkeys; false if there is
    /// none. The root's value is written again, so this costs its length.
    pub fn update(&mut self, db: Db, key: &[u8], encoding: u8, expires_at_ms: Option<u64>) -> Result<bool> {
        let at = self.state(db, key)?;
        let Some(root) = self.root_at(at) else { return Ok(false) };
        let value = match (self.overlay.keys[at].root, root.blob) {
            (PendingRoot::Put { value, .. }, _) => value,
            (_, Some(blob)) => self.overlay.store(&blob.to_bytes()),
            _ if root.short.is_some() => {
                let short = root.short;
                self.overlay.store(short.as_ref().map_or(&[], ShortValue::as_bytes))
            }
            _ if root.value_len == 0 => self.overlay.store(&[]),
            _ => {
                self.budget.ask(1, root.value_len)?;
                self.budget.ask(
                    1,
                    self.overlay.arena_growth(usize::try_from(root.value_len).unwrap_or(usize::MAX)),
                )?;
                let overlay = &mut *self.overlay;
                let mut span = None;
                let read = self.reader.read_value(&root, (0, root.value_len), &mut |bytes| {
                    span = Some(overlay.store(bytes));
                });
                read.map_err(|error| error.of_key(db, key))?;
                span.unwrap_or_default()
            }
        };
        let blob = root.blob;
        self.overlay.note_root(at);
        self.overlay.keys[at].root =
            PendingRoot::Put { kind: root.kind, encoding, expires_at_ms, value, blob };
        Ok(true)
    }

    /// Changes only the expiry of a key that is there; false if there is none.
    pub fn set_expiry(&mut self, db: Db, key: &[u8], expires_at_ms: Option<u64>) -> Result<bool> {
        let Some(root) = self.root(db, key)? else { return Ok(false) };
        self.update(db, key, root.encoding, expires_at_ms)
    }

    /// Gives a key that was put these bits of use ([`Root::access`]).
    pub fn set_access(&mut self, db: Db, key: &[u8], access: u32) -> Result<()> {
        let at = self.state(db, key)?;
        self.overlay.note_root(at);
        self.overlay.keys[at].access = Some(access);
        Ok(())
    }

    /// Removes a key with all its subkeys in O(1); false if there was none.
    pub fn remove(&mut self, db: Db, key: &[u8]) -> Result<bool> {
        let at = self.state(db, key)?;
        let was_there = self.root_at(at).is_some();
        if was_there {
            self.overlay.note_key(at);
            self.overlay.keys[at].remove();
        }
        Ok(was_there)
    }

    /// Moves a key, replacing what the target was, in O(length of the root's value) whatever the number of subkeys;
    /// false if there is no such key. Moving a key onto itself changes nothing.
    pub fn rename(&mut self, (from_db, from): (Db, &[u8]), (to_db, to): (Db, &[u8])) -> Result<bool> {
        let Some(root) = self.root(from_db, from)? else { return Ok(false) };
        let source = self.state(from_db, from)?;
        let target = self.state(to_db, to)?;
        if source == target {
            return Ok(true);
        }
        self.update(from_db, from, root.encoding, root.expires_at_ms)?;
        self.overlay.move_key(source, target);
        self.set_access(to_db, to, root.access)?;
        self.overlay.note_turn(Turn::Appeared, to_db, target);
        Ok(true)
    }

    /// Empties a database in O(1). Fails for the catalog, which is never emptied as a whole.
    pub fn flush(&mut self, db: Db) -> Result<()> {
        refuse_catalog(db)?;
        let fresh = Source::Fresh(self.overlay.fresh_count);
        self.overlay.fresh_count += 1;
        self.overlay.set_source(db, fresh);
        Ok(())
    }

    /// Makes two databases show each other's keys, in O(1). Fails for the catalog, which stays where it is.
    pub fn swap(&mut self, left: Db, right: Db) -> Result<()> {
        refuse_catalog(left)?;
        refuse_catalog(right)?;
        let (for_left, for_right) = (self.overlay.source(right), self.overlay.source(left));
        self.overlay.set_source(left, for_left);
        self.overlay.set_source(right, for_right);
        Ok(())
    }

    /// Makes sure that the transaction was opened for [`Scope::Everything`](super::Scope::Everything), as what is about to happen
    /// to whole databases needs it.
    pub fn require_everything(&mut self) -> Result<()> {
        self.reader.require_everything()
    }

    /// Number of keys in a database; like Redis it counts keys that expired and were not collected yet.
    pub fn key_count(&mut self, db: Db) -> Result<u64> {
        let source = self.overlay.source(db);
        let mut count = match source {
            Source::Base(base) => self.reader.key_count(base)?,
            Source::Fresh(_) => 0,
        };
        for state in self.overlay.keys.iter().filter(|state| state.source == source) {
            let was_there = match source {
                Source::Base(base) if state.is_blind => {
                    self.reader.root(base, self.overlay.bytes(state.key), None)?.is_some()
                }
                _ => state.base.is_some(),
            };
            match (was_there, state.root) {
                (true, PendingRoot::Removed) => count = count.saturating_sub(1),
                (false, PendingRoot::Put { .. }) => count += 1,
                _ => {}
            }
        }
        Ok(count)
    }

    /// Number of committed keys in a database that have an expiry.
    pub fn expiring_count(&mut self, db: Db) -> Result<u64> {
        match self.overlay.source(db) {
            Source::Base(base) => self.reader.expiring_count(base),
            Source::Fresh(_) => Ok(0),
        }
    }

    /// One step of a walk over a database; see [`Reader::scan_keys`]. Expired keys are left out.
    pub fn scan_keys(&mut self, db: Db, cursor: u64, visit: &mut dyn FnMut(&[u8], &Root)) -> Result<u64> {
        let (now_ms, overlay) = (self.now_ms, &*self.overlay);
        let touch = overlay.touch();
        let source = overlay.source(db);
        let next = match source {
            Source::Fresh(_) => 0,
            Source::Base(base) => self.reader.scan_keys(base, cursor, &mut |key, root| {
                let pending = overlay.find(source, key).map(|at| overlay.keys[at].root);
                if matches!(pending, None | Some(PendingRoot::Unchanged)) && !root.is_expired(now_ms) {
                    visit(key, root);
                }
            })?,
        };
        if next == 0 {
            for state in overlay.keys.iter().filter(|state| state.source == source) {
                if let Some(root) = state.pending_root(touch) {
                    visit(overlay.bytes(state.key), &root);
                }
            }
        }
        Ok(next)
    }

    /// A key picked with the help of `random`, if there is one; like Redis it gives up on a database that holds little
    /// but expired keys.
    pub fn random_key(&mut self, db: Db, random: u64) -> Result<Option<Vec<u8>>> {
        const TRIES: u64 = 100;
        if let Source::Base(base) = self.overlay.source(db) {
            for attempt in 0..TRIES {
                let draw = random.wrapping_add(attempt.wrapping_mul(0x9E37_79B9_7F4A_7C15));
                let mut picked = None;
                self.reader.random_key(base, draw, &mut |key, _| picked = Some(key.to_vec()))?;
                let Some(key) = picked else { break };
                if self.root(db, &key)?.is_some() {
                    return Ok(Some(key));
                }
            }
        }
        let mut found = None;
        let mut cursor = 0;
        loop {
            cursor = self.scan_keys(db, cursor, &mut |key, _| found = Some(key.to_vec()))?;
            if cursor == 0 || found.is_some() {
                return Ok(found);
            }
        }
    }

    /// The state of a key that is about to be put and that nobody has looked for, if it may be put so.
    fn blind_state(&mut self, db: Db, key: &[u8], kind: Kind) -> Option<usize> {
        let source = self.overlay.source(db);
        let may_be =
            self.puts_blindly && kind == Kind::String && db != CATALOG && self.overlay.turns.list.is_none();
        if !may_be || self.overlay.find(source, key).is_some() {
            return None;
        }
        let at = self.overlay.insert(source, key, None);
        self.overlay.keys[at].is_blind = true;
        self.overlay.asked_last = at;
        Some(at)
    }

    /// The state of a key, read from the engine the first time.
    pub(super) fn state(&mut self, db: Db, key: &[u8]) -> Result<usize> {
        let source = self.overlay.source(db);
        if let Some(at) = self.overlay.find(source, key) {
            self.overlay.keys[at].asked_by = self.overlay.command;
            self.overlay.asked_last = at;
            return Ok(at);
        }
        if self.keys_seen().is_multiple_of(CHANGES_BETWEEN as usize) {
            self.share.look()?;
        }
        self.budget.ask(1, self.overlay.keys_growth())?;
        let base = match source {
            Source::Base(base) => {
                let touch = self.touches.then(|| self.overlay.touch().of_another(self.keys_seen()));
                self.reader.root(base, key, touch)?
            }
            Source::Fresh(_) => None,
        };
        let at = self.overlay.insert(source, key, base);
        self.overlay.asked_last = at;
        if base.is_some_and(|root| root.is_expired(self.now_ms)) {
            self.overlay.keys[at].remove();
            self.overlay.expired_count += 1;
            self.overlay.note_turn(Turn::Expired, db, at);
        }
        Ok(at)
    }

    /// Notes that a key is about to be put, if it is not there.
    pub(super) fn note_appearance(&mut self, db: Db, at: usize) {
        if self.root_at(at).is_none() {
            self.overlay.note_turn(Turn::Appeared, db, at);
        }
    }

    pub(super) fn root_at(&self, at: usize) -> Option<Root> {
        let state = &self.overlay.keys[at];
        match state.root {
            PendingRoot::Unchanged => state.base,
            _ => state.pending_root(self.overlay.touch()),
        }
    }
}

/// The catalog is no database that a client can name.
fn refuse_catalog(db: Db) -> Result<()> {
    if db == CATALOG { Err(EngineError::NoSuchDatabase(db)) } else { Ok(()) }
}
