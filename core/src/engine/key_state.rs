//! One key as a transaction has read and changed it.

use super::sub_changes::SubChanges;
use super::{BlobRef, Db, Kind, Place, Root, Touch};

/// Where the keys that a logical database shows come from, as seen from the state before the transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// The database that had this number.
    Base(Db),
    /// An empty space that the transaction made (FLUSHDB), by its number among those.
    Fresh(u32),
}

/// A logical database that shows another source after the transaction than before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DbChange {
    /// The logical database.
    pub db: Db,
    /// The source that it shows from now on.
    pub source: Source,
}

/// A run of bytes in the overlay's arena.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum PendingRoot {
    Unchanged,
    /// With a blob, the value is what the record holds of it.
    Put {
        kind: Kind,
        encoding: u8,
        expires_at_ms: Option<u64>,
        value: Span,
        blob: Option<BlobRef>,
    },
    Removed,
}

/// One key as the transaction has read and changed it.
#[derive(Debug)]
pub(super) struct KeyState {
    pub(super) source: Source,
    pub(super) key: Span,
    /// The committed root, expired or not.
    pub(super) base: Option<Root>,
    /// Whether nobody has looked for the committed root: the key was put without a look.
    pub(super) is_blind: bool,
    pub(super) root: PendingRoot,
    /// The bits of use of a root that is put, if they do not follow from its commit.
    pub(super) access: Option<u32>,
    /// The committed root whose subkeys lie under `subs`; after RENAME that of another key.
    pub(super) subkeys_of: Option<Root>,
    pub(super) subs: SubChanges,
    /// Subkeys that `subs` adds to the committed ones, less those that it removes.
    pub(super) subs_delta: i64,
    /// The last command that looked for the key, by its number in the transaction.
    pub(super) asked_by: u32,
}

impl Span {
    pub(super) fn len(self) -> u64 {
        (self.end - self.start) as u64
    }

    /// The part of the span at `offset` with `len` bytes, cut to what is there.
    pub(super) fn part(self, offset: u64, len: u64) -> Span {
        let start = self.start.saturating_add(usize::try_from(offset).unwrap_or(usize::MAX)).min(self.end);
        let end = start.saturating_add(usize::try_from(len).unwrap_or(usize::MAX)).min(self.end);
        Span { start, end }
    }
}

impl KeyState {
    /// The root that the transaction put, if it did.
    pub(super) fn pending_root(&self, touch: Touch) -> Option<Root> {
        let PendingRoot::Put { kind, encoding, expires_at_ms, value, blob } = self.root else { return None };
        let access = self.access.unwrap_or_else(|| access_of(touch, self.base.as_ref()));
        Some(Root {
            kind,
            encoding,
            expires_at_ms,
            value_len: blob.map_or(value.len(), |blob| blob.len),
            blob,
            short: None,
            access,
            place: Place::default(),
            collection: 0,
        })
    }

    pub(super) fn remove(&mut self) {
        self.root = PendingRoot::Removed;
        self.access = None;
        self.drop_subkeys();
    }

    pub(super) fn drop_subkeys(&mut self) {
        self.subkeys_of = None;
        self.subs.clear();
        self.subs_delta = 0;
    }
}

/// The bits of use of a root that a commit puts in the place of `base`.
pub(super) fn access_of(touch: Touch, base: Option<&Root>) -> u32 {
    base.map_or(touch.fresh(), |base| touch.replaced(base.access))
}
