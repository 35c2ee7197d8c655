//! The indexes of a server: which there are, and what is in them.
//!
//! ```text
//!  Indexes  -- the set, replaced as a whole, with prefixes of keys that concern it
//!    Index     definition and the names of its document maps
//!      Contents   delta, segments, which documents live
//!  IndexWork  what one transaction changes of them, until its commit
//! ```
//!
//! The truth about an index is in the store: its definition and its document maps (`command/search`). What is here is made of them, of the
//! documents, and of segments, which are checked before they count. Nothing here knows a command or reads a key.

mod contents;
mod cursors;
mod definition;
mod settings;
mod work;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use parking_lot::{Mutex, RwLock};

pub use contents::{Contents, DocumentChange, Facts, Freeze, Progress, Stored};
pub use cursors::{CursorRow, Cursors, SearchCursor};
pub use definition::{Definition, Filter, Hints, Synonyms};
pub use settings::{SEARCH_SETTINGS, SearchSetting, SearchSettings};
pub use work::IndexWork;

use super::hub::Interest;
use super::prefixes::Prefixes;
use crate::engine::Db;
use crate::limits::SEARCH_SEGMENT_MAX_BYTES;
use crate::sorted;

/// An index.
#[derive(Debug)]
pub struct Index {
    /// What it is.
    pub definition: Definition,
    /// What is in it.
    pub contents: Arc<Contents>,
    /// The keys of its document maps in the catalog, by the part of the engine in which they and their documents lie.
    pub maps: Arc<[Vec<u8>]>,
}

impl Index {
    /// Whether it may cover a key.
    pub fn covers(&self, db: Db, key: &[u8]) -> bool {
        self.definition.db == db && self.definition.has_prefix_of(key)
    }

    /// When it goes if nobody uses it until then, in milliseconds of Unix time; None if it is not TEMPORARY.
    pub fn idle_at_ms(&self) -> Option<u64> {
        let seconds = self.definition.temporary_s;
        (seconds > 0).then(|| self.contents.active_at_ms().saturating_add(seconds.saturating_mul(1000)))
    }

    /// Whether a walk over the keys for one of them is a walk for the other: the same contents of the same keys, read by the same fields.
    pub fn is_walked_as(&self, other: &Index) -> bool {
        Arc::ptr_eq(&self.contents, &other.contents)
            && self.definition.db == other.definition.db
            && self.definition.since == other.definition.since
            && !self.has_other_fields_than(other)
    }

    fn has_other_fields_than(&self, other: &Index) -> bool {
        !Arc::ptr_eq(&self.definition.schema, &other.definition.schema)
    }

    /// The same index with another definition.
    pub fn with(&self, definition: Definition) -> Index {
        Index { definition, contents: self.contents.clone(), maps: self.maps.clone() }
    }
}

/// A change of the set of indexes.
#[derive(Clone, Debug)]
pub enum Change {
    /// This one comes, or takes the place of the one with its name.
    Set(Arc<Index>),
    /// This one goes.
    Drop(Db, Box<[u8]>),
}

/// The name of an index, in its database.
type Name = (Db, Box<[u8]>);

/// All indexes at one moment.
#[derive(Clone, Debug, Default)]
pub struct IndexSet {
    by_name: BTreeMap<Name, Arc<Index>>,
    aliases: BTreeMap<Name, Box<[u8]>>,
    prefixes: Prefixes,
}

impl IndexSet {
    /// The index of a database with this name.
    pub fn named(&self, db: Db, name: &[u8]) -> Option<&Arc<Index>> {
        self.by_name.get(&(db, name.into()))
    }

    /// The index with this name or alias.
    pub fn find(&self, db: Db, name: &[u8]) -> Option<&Arc<Index>> {
        self.named(db, name).or_else(|| self.named(db, self.aliases.get(&(db, name.into()))?))
    }

    /// The index with this alias.
    pub fn aliased(&self, db: Db, alias: &[u8]) -> Option<&Arc<Index>> {
        self.named(db, self.aliases.get(&(db, alias.into()))?)
    }

    /// All indexes, by database and name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Index>> {
        self.by_name.values()
    }

    /// Those that may cover a key.
    pub fn covering(&self, db: Db, key: &[u8]) -> impl Iterator<Item = &Arc<Index>> {
        self.by_name.values().filter(move |index| index.covers(db, key))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.by_name.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_name.is_empty()
    }

    /// Whether a key, of whatever database, has a prefix of one of them.
    #[inline]
    pub fn concerns(&self, key: &[u8]) -> bool {
        self.prefixes.has_one_of(key)
    }

    /// Makes changes.
    pub fn apply(&mut self, changes: &[Change]) {
        for change in changes {
            match change {
                Change::Set(index) => {
                    let definition = &index.definition;
                    self.by_name.insert((definition.db, definition.name.clone()), index.clone());
                }
                Change::Drop(db, name) => drop(self.by_name.remove(&(*db, name.clone()))),
            }
        }
        let definitions = || self.by_name.values().map(|index| &index.definition);
        self.prefixes = Prefixes::of(
            definitions().flat_map(|definition| definition.prefixes.iter().map(|prefix| &**prefix)),
        );
        self.aliases = sorted::map(definitions().flat_map(|definition| {
            let name = definition.name.clone();
            definition.aliases.iter().map(move |alias| ((definition.db, alias.clone()), name.clone()))
        }));
    }
}

/// The indexes of a server.
#[derive(Debug, Default)]
pub struct Indexes {
    present: RwLock<Arc<IndexSet>>,
    generation: AtomicU64,
    memory_bytes: AtomicI64,
    /// The greatest number that an index or a derived file has had.
    last_number: AtomicU64,
    /// Derived files that no index has any more.
    litter: Mutex<Vec<u64>>,
    /// Results that are being read.
    pub cursors: Cursors,
    /// How searches behave unless a request says it.
    pub settings: SearchSettings,
}

impl Indexes {
    /// All indexes as they are now.
    pub fn present(&self) -> Arc<IndexSet> {
        self.present.read().clone()
    }

    /// Makes changes. [`Interest::INDEXES`] says afterwards whether there are any.
    pub fn apply(&self, interest: &Interest, changes: &[Change]) {
        let mut present = self.present.write();
        let before = present.clone();
        for change in changes {
            if let Change::Set(index) = change
                && before.iter().any(|old| {
                    Arc::ptr_eq(&old.contents, &index.contents) && old.has_other_fields_than(index)
                })
            {
                // A delta knows the fields that there were when it began.
                index.contents.seal();
            }
        }
        Arc::make_mut(&mut present).apply(changes);
        self.generation.fetch_add(1, Ordering::Release);
        interest.set(Interest::INDEXES, !present.is_empty());
        for gone in before.iter() {
            let stays = present.iter().any(|index| Arc::ptr_eq(&index.contents, &gone.contents));
            if !stays {
                self.litter.lock().extend(gone.contents.retire());
                self.note_memory(-gone.contents.memory_bytes());
            }
        }
    }

    /// Forgets all indexes, to be opened again.
    pub fn forget_all(&self, interest: &Interest) {
        let mut present = self.present.write();
        *present = Arc::default();
        self.generation.fetch_add(1, Ordering::Release);
        self.memory_bytes.store(0, Ordering::Relaxed);
        interest.set(Interest::INDEXES, false);
    }

    /// Adds to the memory that all indexes take.
    pub fn note_memory(&self, grown_bytes: i64) {
        self.memory_bytes.fetch_add(grown_bytes, Ordering::Relaxed);
    }

    /// Bytes of memory that all indexes take.
    #[inline]
    pub fn memory_bytes(&self) -> u64 {
        u64::try_from(self.memory_bytes.load(Ordering::Relaxed)).unwrap_or(0)
    }

    /// A number for an index or a derived file that none has had.
    pub fn next_number(&self) -> u64 {
        self.last_number.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Says that a number has been in use.
    pub fn note_number(&self, number: u64) {
        self.last_number.fetch_max(number, Ordering::Relaxed);
    }

    /// Has deltas with at least so many documents become segments, because a start would have to read them again.
    pub fn seal_deltas(&self, documents_min: u32) {
        self.present().iter().for_each(|index| index.contents.seal_from(documents_min));
    }

    /// Whether searches have earned a merge of segments that upkeep has not begun.
    pub fn has_earned_merge(&self) -> bool {
        self.present().iter().any(|index| index.contents.has_earned_merge(SEARCH_SEGMENT_MAX_BYTES))
    }

    /// When the first TEMPORARY index goes if nobody uses it until then, in milliseconds of Unix time.
    pub fn idle_at_ms(&self) -> Option<u64> {
        self.present().iter().filter_map(|index| index.idle_at_ms()).min()
    }

    /// Says that a derived file belongs to no index any more.
    pub fn add_litter(&self, numbers: impl IntoIterator<Item = u64>) {
        self.litter.lock().extend(numbers);
    }

    /// Takes the derived files that no index has any more.
    pub fn take_litter(&self) -> Vec<u64> {
        std::mem::take(&mut *self.litter.lock())
    }
}

/// The indexes as one thread has seen them last, so that most keys are known to concern none without a lock.
#[derive(Debug, Default)]
pub struct SeenIndexes {
    generation: u64,
    set: Arc<IndexSet>,
}

impl SeenIndexes {
    /// Whether the key has the prefix of an index.
    #[inline]
    pub fn concern(&mut self, indexes: &Indexes, key: &[u8]) -> bool {
        self.present(indexes).concerns(key)
    }

    /// The indexes.
    #[inline]
    pub fn present(&mut self, indexes: &Indexes) -> &Arc<IndexSet> {
        let generation = indexes.generation.load(Ordering::Acquire);
        if generation != self.generation {
            self.look(indexes, generation);
        }
        &self.set
    }

    /// A change may come meanwhile, which the next look finds by its generation.
    #[cold]
    fn look(&mut self, indexes: &Indexes, generation: u64) {
        *self = SeenIndexes { generation, set: indexes.present() };
    }
}
