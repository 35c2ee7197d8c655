//! The uncommitted writes of one transaction.
//!
//! Roots live in a flat list (a transaction rarely touches more than a few keys) with their bytes in one arena, so that
//! a connection that reuses its overlay allocates nothing for GET and SET. Subkeys are in order, a key at a time
//! ([`SubChanges`]).
//!
//! Invariant: a key has at most one [`KeyState`] in each source.

use std::collections::HashMap;
use std::sync::Arc;

use super::ahead::Ahead;
use super::key_state::{DbChange, KeyState, PendingRoot, Source, Span, access_of};
use super::savepoints::journal::Journal;
use super::sub_changes::{SubBytes, SubChanges};
use super::turns::{Turn, Turns};
use super::{BlobRef, Db, Direction, Draft, Kind, Root, Touch};
use crate::memory_budget::LARGE_BYTES;
use crate::storage::{Blob, BlobId};

/// The change of a key's root by a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RootChange<'o> {
    /// It stays (only subkeys change).
    Unchanged,
    /// It becomes this.
    Put {
        /// The Redis type.
        kind: Kind,
        /// The data layer's byte.
        encoding: u8,
        /// Unix time in milliseconds.
        expires_at_ms: Option<u64>,
        /// The root's own value; of one with a blob, [`BlobRef::to_bytes`].
        value: &'o [u8],
        /// Where the value is, if it is too large for the log.
        blob: Option<BlobRef>,
    },
    /// It goes, with all its subkeys that no other change adopts.
    Removed,
}

/// The change of one key by a commit.
#[derive(Clone, Copy, Debug)]
pub struct Change<'o> {
    /// Where the key lives.
    pub source: Source,
    /// The key.
    pub key: &'o [u8],
    /// Its root before the transaction.
    pub base: Option<&'o Root>,
    /// Its root after the transaction.
    pub root: RootChange<'o>,
    /// The bits of use of a root that is put ([`Root::access`]), if they do not follow from [`Overlay::touch`].
    pub access: Option<u32>,
    /// The committed root whose subkeys this key has from now on, before `subs` is applied; None for an empty start.
    pub subkeys_of: Option<&'o Root>,
    /// Changed subkeys.
    pub subs: &'o SubChanges,
}

impl Change<'_> {
    /// The bits of use ([`Root::access`]) of the root that is put. `touch` is [`Overlay::touch`].
    pub fn access_after(&self, touch: Touch) -> u32 {
        self.access.unwrap_or_else(|| access_of(touch, self.base))
    }
}

/// The uncommitted writes of one transaction. Engines read it at commit; only [`super::Txn`] writes it.
#[derive(Default)]
pub struct Overlay {
    arena: Vec<u8>,
    pub(super) keys: Vec<KeyState>,
    index: HashMap<(Source, Vec<u8>), usize>,
    pub(super) dbs: Vec<DbChange>,
    pub(super) fresh_count: u32,
    pub(super) expired_count: u64,
    /// The number of the running command in the transaction.
    pub(super) command: u32,
    /// The place in `keys` of the key that was looked for last.
    pub(super) asked_last: usize,
    /// The first subkey of a committed collection in a direction that was not removed when it was last looked for. Those before
    /// it are removed as long as no savepoint brings them back.
    pub(super) committed_end: Option<((u64, Direction), SubBytes)>,
    /// What was read ahead for removals at an end, as long as no savepoint brings them back.
    pub(super) ahead: Option<Ahead>,
    /// Keys that appeared or expired since [`Overlay::take_turns`] was last called.
    pub(super) turns: Turns,
    /// Blobs that the transaction made; those that no committed root refers to go with the transaction.
    drafts: Vec<Arc<Draft>>,
    /// Blobs of committed roots that the transaction has written on.
    grown: Vec<(BlobId, Arc<dyn Blob>)>,
    scratch: Vec<u8>,
    touch: Option<Touch>,
    /// Undoes the changes since the first open savepoint.
    pub(super) journal: Journal,
}

impl std::fmt::Debug for Overlay {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Overlay({:?}, {:?})", self.keys, self.dbs)
    }
}

/// Up to this many keys are found by walking the list; beyond, an index is kept.
const LINEAR_KEYS_MAX: usize = 24;

/// An arena larger than this many bytes is given back when its transaction ends.
const ARENA_KEPT_BYTES: usize = 64 * 1024;

impl Overlay {
    /// An empty overlay; allocates nothing.
    pub fn new() -> Overlay {
        Overlay::default()
    }

    /// Forgets everything, keeping small buffers for the next transaction.
    pub fn clear(&mut self) {
        self.arena.clear();
        self.arena.shrink_to(ARENA_KEPT_BYTES);
        self.keys.clear();
        self.keys.shrink_to(ARENA_KEPT_BYTES / size_of::<KeyState>());
        if !self.index.is_empty() {
            self.index = HashMap::new();
        }
        self.dbs.clear();
        self.fresh_count = 0;
        self.expired_count = 0;
        self.command = 0;
        self.asked_last = 0;
        self.committed_end = None;
        self.ahead = None;
        self.turns = Turns::default();
        self.drafts.clear();
        self.grown.clear();
        self.journal.clear();
    }

    /// How the commit notes the use of keys that it puts.
    pub fn touch(&self) -> Touch {
        self.touch.unwrap_or(Touch::clock(0))
    }

    pub(super) fn set_touch(&mut self, touch: Touch) {
        self.touch = Some(touch);
    }

    pub(super) fn arena_len(&self) -> usize {
        self.arena.len()
    }

    /// How many blobs were made, and how many committed ones were written on.
    pub(super) fn blobs_written(&self) -> (usize, usize) {
        (self.drafts.len(), self.grown.len())
    }

    /// Forgets blobs that were made or written on since there were so many.
    pub(super) fn forget_blobs(&mut self, drafts: usize, grown: usize) {
        self.drafts.truncate(drafts);
        self.grown.truncate(grown);
    }

    /// Takes a new blob over, which lives on if the commit refers to it.
    pub(super) fn adopt(&mut self, draft: Arc<Draft>) {
        self.drafts.push(draft);
    }

    /// Notes that a blob was written on.
    pub(super) fn note_grown(&mut self, id: BlobId, blob: Arc<dyn Blob>) {
        if self.grown.iter().all(|(grown, _)| *grown != id) {
            self.grown.push((id, blob));
        }
    }

    /// A blob that the transaction has made or written on.
    pub(super) fn written_blob(&self, id: BlobId) -> Option<&Arc<dyn Blob>> {
        let drafts = self.drafts.iter().map(|draft| (draft.id(), draft.blob()));
        let grown = self.grown.iter().map(|(id, blob)| (*id, blob));
        drafts.chain(grown).find(|(written, _)| *written == id).map(|(_, blob)| blob)
    }

    /// The blobs that the transaction has written and that a changed root refers to: what must be on the disk before
    /// the commit is.
    pub fn written_blobs(&self) -> Vec<(BlobId, Arc<dyn Blob>)> {
        if self.drafts.is_empty() && self.grown.is_empty() {
            return Vec::new();
        }
        let referred = self.changes().filter_map(|change| match change.root {
            RootChange::Put { blob: Some(blob), .. } => Some(blob.id),
            _ => None,
        });
        referred.filter_map(|id| Some((id, self.written_blob(id)?.clone()))).collect()
    }

    /// The blobs that the transaction has made and that a changed root refers to.
    pub(crate) fn kept_drafts(&self) -> Vec<Arc<Draft>> {
        let kept: Vec<BlobId> = self.written_blobs().into_iter().map(|(id, _)| id).collect();
        self.drafts.iter().filter(|draft| kept.contains(&draft.id())).cloned().collect()
    }

    /// Says that the commit has happened: the blobs it refers to stay.
    pub fn keep_blobs(&mut self) {
        self.kept_drafts().iter().for_each(|draft| draft.keep());
    }

    /// Ends the transaction: blobs that no commit refers to go, and so does what was unusually large.
    pub fn release(&mut self) {
        self.journal.clear();
        let is_large = self.arena.capacity() > ARENA_KEPT_BYTES
            || self.keys.capacity() > ARENA_KEPT_BYTES / size_of::<KeyState>()
            || self.keys.iter().any(|state| !state.subs.is_empty());
        if is_large || !self.drafts.is_empty() || !self.grown.is_empty() {
            self.clear();
        }
    }

    /// An empty buffer for an engine's use during commit, kept from transaction to transaction.
    pub fn take_scratch(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.scratch)
    }

    /// Gives the buffer back.
    pub fn put_scratch(&mut self, mut scratch: Vec<u8>) {
        scratch.clear();
        scratch.shrink_to(ARENA_KEPT_BYTES);
        self.scratch = scratch;
    }

    /// Whether no other key was looked for since this one.
    pub(super) fn was_asked_last(&self, db: Db, key: &[u8]) -> bool {
        self.find(self.source(db), key) == Some(self.asked_last)
    }

    /// Whether the running command looked for a key that is not there.
    pub(super) fn is_missing(&self, db: Db, key: &[u8]) -> bool {
        let found = self.find(self.source(db), key).and_then(|at| self.keys.get(at));
        found.filter(|state| state.asked_by == self.command).is_some_and(|state| match state.root {
            PendingRoot::Unchanged => state.base.is_none(),
            PendingRoot::Removed => true,
            PendingRoot::Put { .. } => false,
        })
    }

    /// Whether a commit would change nothing.
    pub fn is_empty(&self) -> bool {
        self.dbs.is_empty() && !self.keys.iter().any(|state| self.is_changed(state))
    }

    /// The databases that show another source from now on.
    pub fn db_changes(&self) -> &[DbChange] {
        &self.dbs
    }

    /// How many keys the transaction removed because their time had come.
    pub fn expired_count(&self) -> u64 {
        self.expired_count
    }

    /// The changed keys, each once. Keys of a source that no database shows any more are left out.
    pub fn changes(&self) -> impl Iterator<Item = Change<'_>> {
        self.keys.iter().filter(|state| self.is_changed(state)).map(|state| Change {
            source: state.source,
            key: self.bytes(state.key),
            base: state.base.as_ref(),
            root: match state.root {
                PendingRoot::Unchanged => RootChange::Unchanged,
                PendingRoot::Removed => RootChange::Removed,
                PendingRoot::Put { kind, encoding, expires_at_ms, value, blob } => {
                    RootChange::Put { kind, encoding, expires_at_ms, value: self.bytes(value), blob }
                }
            },
            access: state.access,
            subkeys_of: state.subkeys_of.as_ref(),
            subs: &state.subs,
        })
    }

    #[inline]
    pub(super) fn is_changed(&self, state: &KeyState) -> bool {
        let touched = match state.root {
            PendingRoot::Unchanged => !state.subs.is_empty(),
            PendingRoot::Removed => state.base.is_some() || state.is_blind,
            PendingRoot::Put { .. } => true,
        };
        touched && self.is_shown(state.source)
    }

    fn is_shown(&self, source: Source) -> bool {
        if self.dbs.is_empty() || self.dbs.iter().any(|change| change.source == source) {
            return true;
        }
        match source {
            Source::Base(db) => self.dbs.iter().all(|change| change.db != db),
            Source::Fresh(_) => false,
        }
    }

    /// The source that a logical database shows inside the transaction.
    pub(super) fn source(&self, db: Db) -> Source {
        self.dbs.iter().find(|change| change.db == db).map_or(Source::Base(db), |change| change.source)
    }

    pub(super) fn set_source(&mut self, db: Db, source: Source) {
        self.note_shown(db);
        self.dbs.retain(|change| change.db != db);
        if source != Source::Base(db) {
            self.dbs.push(DbChange { db, source });
        }
    }

    pub(super) fn bytes(&self, span: Span) -> &[u8] {
        &self.arena[span.start..span.end]
    }

    /// How many bytes the arena must find in one piece to store so many more: where it is large it grows by a quarter.
    pub(super) fn arena_growth(&self, more: usize) -> u64 {
        let (len, capacity) = (self.arena.len().saturating_add(more), self.arena.capacity());
        if len <= capacity { 0 } else { len.max(capacity + capacity / 4) as u64 }
    }

    /// How many bytes the list of keys must find in one piece to hold one more; the index beside it has about a third of that.
    pub(super) fn keys_growth(&self) -> u64 {
        let count = self.keys.len();
        if count < self.keys.capacity() { 0 } else { (size_of::<KeyState>() * (count + count / 4)) as u64 }
    }

    pub(super) fn store(&mut self, bytes: &[u8]) -> Span {
        if bytes.is_empty() {
            // Not at the end, which moves back when keys are forgotten.
            return Span::default();
        }
        let start = self.arena.len();
        let growth = self.arena_growth(bytes.len());
        if growth >= LARGE_BYTES {
            self.arena.reserve_exact(growth as usize - start);
        }
        self.arena.extend_from_slice(bytes);
        Span { start, end: self.arena.len() }
    }

    pub(super) fn find(&self, source: Source, key: &[u8]) -> Option<usize> {
        if self.index.is_empty() {
            return self.keys.iter().position(|state| state.source == source && self.bytes(state.key) == key);
        }
        // The index owns its keys, so a look-up needs an owned one; transactions this large are rare.
        self.index.get(&(source, key.to_vec())).copied()
    }

    /// Forgets the keys behind the first `kept`, from the last one on up to one that was changed.
    pub(super) fn forget_unchanged(&mut self, kept: usize) {
        // What a savepoint may restore stays.
        let kept = kept.max(self.journal.keys_needed());
        while self.keys.len() > kept {
            let is_read = |state: &&KeyState| {
                matches!(state.root, PendingRoot::Unchanged) && state.subs.is_empty() && state.subs_delta == 0
            };
            let Some(state) = self.keys.last().filter(is_read) else { break };
            let key = state.key;
            self.forget_last();
            if key.end == self.arena.len() {
                self.arena.truncate(key.start);
            }
        }
        self.forget_index();
    }

    /// Forgets the keys behind the first `kept`, and the bytes behind the first `arena`.
    pub(super) fn forget_since(&mut self, kept: usize, arena: usize) {
        while self.keys.len() > kept {
            self.forget_last();
        }
        self.forget_index();
        self.arena.truncate(arena);
    }

    /// Forgets the key that was looked for last.
    fn forget_last(&mut self) {
        let Some(state) = self.keys.pop() else { return };
        if !self.index.is_empty() {
            let key = self.bytes(state.key).to_vec();
            self.index.remove(&(state.source, key));
        }
    }

    fn forget_index(&mut self) {
        // As few keys as these are found without an index, and added without one.
        if self.keys.len() <= LINEAR_KEYS_MAX {
            self.index.clear();
        }
    }

    pub(super) fn insert(&mut self, source: Source, key: &[u8], base: Option<Root>) -> usize {
        let span = self.store(key);
        if self.keys.capacity() == 0 {
            // Memory for one and not for four: every connection keeps it.
            self.keys.reserve_exact(1);
        }
        if self.keys_growth() >= LARGE_BYTES {
            self.keys.reserve_exact(self.keys.len() / 4);
        }
        self.keys.push(KeyState {
            source,
            key: span,
            base,
            is_blind: false,
            root: PendingRoot::Unchanged,
            access: None,
            subkeys_of: base,
            subs: SubChanges::default(),
            subs_delta: 0,
            asked_by: self.command,
        });
        let at = self.keys.len() - 1;
        if self.keys.len() > LINEAR_KEYS_MAX {
            let from = if self.index.is_empty() { 0 } else { at };
            for place in from..self.keys.len() {
                let state = &self.keys[place];
                self.index.insert((state.source, self.bytes(state.key).to_vec()), place);
            }
        }
        at
    }
}

impl Overlay {
    /// Keeps a list of keys that appear or expire, for [`Txn::take_turns`](super::Txn::take_turns); to be called before the
    /// transaction begins.
    pub fn keep_turns(&mut self) {
        self.turns.list = Some(Vec::new());
    }

    pub(super) fn note_turn(&mut self, turn: Turn, db: Db, at: usize) {
        if let Some(list) = &mut self.turns.list {
            list.push((turn, db, at));
            self.turns.noted += 1;
        }
    }

    /// How many turns were noted so far, those included that were shown.
    pub(super) fn turns_noted(&self) -> u64 {
        self.turns.noted
    }

    /// Forgets the turns that were noted since there were so many, those excepted that were shown.
    pub(super) fn forget_turns(&mut self, noted: u64) {
        let since = self.turns.noted.saturating_sub(noted);
        self.turns.noted = self.turns.noted.min(noted);
        if let Some(list) = &mut self.turns.list {
            list.truncate(list.len().saturating_sub(usize::try_from(since).unwrap_or(usize::MAX)));
        }
    }

    /// Shows the list, the oldest entry first, and empties it; with a key, only the entries at the front that are about it.
    pub(super) fn take_turns(&mut self, key: Option<&[u8]>, visit: &mut dyn FnMut(Turn, Db, &[u8])) {
        let Some(mut turns) = self.turns.list.take() else { return };
        let name = |at: usize| self.keys.get(at).map_or(&[][..], |state| self.bytes(state.key));
        let count = turns.iter().take_while(|(_, _, at)| key.is_none_or(|key| name(*at) == key)).count();
        for (turn, db, at) in turns.drain(..count) {
            visit(turn, db, name(at));
        }
        self.turns.list = Some(turns);
    }
}
