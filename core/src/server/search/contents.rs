//! What is in an index: a delta, deltas that wait to become segments, segments, and which of their documents live.
//!
//! A change is made under one lock, within the commit that causes it; queries hold the same lock to read, so they see one moment. What
//! takes long, freezing and merging, works on parts that do not change any more, without the lock, and then exchanges them.
//!
//! Invariant: a document lives in exactly one part, and is live there if and only if its id is in the document map of its key.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;

use crate::limits::{SEARCH_DELTA_MAX_BYTES, SEARCH_DELTA_MAX_DOCUMENTS, SEARCH_EARNED_BYTES};
use crate::search::bits::Bits;
use crate::search::index::{self, Delta, DocumentId, Part, Prepared, Segment, Totals, View};
use crate::sorted;

/// How far an index is from holding all that it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Progress {
    /// It has been opened, and of its document maps nothing has been read yet: no document may be added.
    #[default]
    Closed,
    /// So many documents of its maps are in no segment and have yet to be read again, of so many; until then it does not answer.
    Rebuilding {
        /// Documents to be read, or more.
        left: u64,
        /// Documents of all maps.
        of: u64,
    },
    /// Keys that were there before it are being looked at; it answers for those that were.
    Scanning {
        /// Keys looked at.
        done: u64,
        /// Keys of the database when that began.
        of: u64,
    },
    /// It holds everything.
    Ready,
}

/// One document that comes, goes or gets another expiry in an index.
#[derive(Debug)]
pub struct DocumentChange {
    /// The document that is no more: the older state of the key.
    pub removed: Option<DocumentId>,
    /// The document that comes.
    pub added: Option<Prepared>,
    /// The expiry that the removed document had, or the one whose expiry changes.
    pub old_expiry: Option<u64>,
    /// The expiry of the document that comes, or the new one.
    pub new_expiry: Option<u64>,
    /// The document of which only the expiry changes.
    pub kept: Option<DocumentId>,
    /// Whether the key would be a document, but has a value that cannot be indexed.
    pub has_failed: bool,
}

/// A delta that takes no more documents.
struct Sealed {
    delta: Arc<Delta>,
    live: Bits,
    totals: Totals,
}

/// A segment in memory.
struct Resident {
    segment: Arc<Segment>,
    live: Bits,
    totals: Totals,
    /// Its derived file; 0 while it has none.
    number: u64,
}

#[derive(Default)]
struct State {
    delta: Option<Delta>,
    delta_live: Bits,
    delta_totals: Totals,
    sealed: Vec<Sealed>,
    /// In the order of their first ids.
    segments: Vec<Resident>,
    /// Documents with an expiry, by the unix time in milliseconds at which they are gone.
    expiring: BTreeSet<(u64, DocumentId)>,
    /// Documents of the maps that were in no segment when it was opened, sorted, until all of them have been read again.
    missing: Vec<DocumentId>,
    /// Those of them, by their places there, that have yet to be read again.
    lacking: Bits,
    progress: Progress,
    is_retired: bool,
}

/// What is in an index.
#[derive(Default)]
pub struct Contents {
    next_id: AtomicU64,
    state: RwLock<State>,
    active_at_ms: AtomicU64,
    failures: AtomicU64,
    uses: AtomicU64,
    /// Bytes of segments that may be merged for what searches have taken longer since more than one was there.
    earned_bytes: AtomicU64,
}

impl std::fmt::Debug for Contents {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let state = self.state.read();
        write!(formatter, "Contents({} segments, {:?})", state.segments.len(), state.progress)
    }
}

/// A segment and the derived file that it came from.
pub struct Stored {
    /// The number of the file.
    pub number: u64,
    /// The segment.
    pub segment: Segment,
}

/// A delta to be frozen, as it was when this was asked for.
pub struct Freeze {
    delta: Arc<Delta>,
    live: Bits,
}

impl Freeze {
    /// The bytes of its segment.
    pub fn bytes(&self, index_number: u64) -> Vec<u8> {
        index::freeze(&self.delta, &self.live, index_number)
    }
}

/// Numbers for FT.INFO.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts {
    /// Documents that live.
    pub documents: u64,
    /// The greatest id.
    pub greatest_id: u64,
    /// Words of the text fields, those of several parts counted several times.
    pub terms: u64,
    /// Segments.
    pub segments: u64,
    /// Documents in the delta and in sealed ones.
    pub unfrozen: u64,
    /// Bytes of memory of the segments.
    pub segment_bytes: u64,
    /// Bytes of memory of deltas.
    pub delta_bytes: u64,
    /// Documents of which a field could not be indexed.
    pub failures: u64,
    /// Postings of all parts.
    pub postings: u64,
    /// Searches.
    pub uses: u64,
}

impl State {
    fn memory_bytes(&self) -> i64 {
        let deltas = self.delta.iter().chain(self.sealed.iter().map(|sealed| &*sealed.delta));
        let bytes = deltas.map(Delta::memory_bytes).sum::<usize>()
            + self.sealed.iter().map(|sealed| sealed.live.memory_bytes()).sum::<usize>()
            + self.segments.iter().map(Resident::memory_bytes).sum::<usize>()
            + self.delta_live.memory_bytes()
            + self.expiring.len() * EXPIRING_BYTES;
        i64::try_from(bytes).unwrap_or(i64::MAX)
    }

    /// A document is no more; false if it is in no part.
    fn kill(&mut self, id: DocumentId) -> bool {
        let find = |part: &dyn Part, live: &mut Bits, totals: &mut Totals| {
            let place = part.find(id).filter(|place| live.remove(*place));
            place.inspect(|place| totals.remove(part, *place)).is_some()
        };
        if let Some(delta) = &self.delta
            && find(delta, &mut self.delta_live, &mut self.delta_totals)
        {
            return true;
        }
        let mut sealed = self.sealed.iter_mut();
        sealed.any(|sealed| find(&*sealed.delta, &mut sealed.live, &mut sealed.totals))
            || self
                .segments
                .iter_mut()
                .any(|Resident { segment, live, totals, .. }| find(&**segment, live, totals))
    }

    /// The place of a document among those that are missing, if it has yet to be read again.
    fn lacking(&self, id: DocumentId) -> Option<u32> {
        let place = self.missing.binary_search(&id).ok()? as u32;
        self.lacking.has(place).then_some(place)
    }

    /// Adds a document; returns how many bytes more the deltas take.
    fn grow(&mut self, prepared: &Prepared) -> i64 {
        let before = self.delta.as_ref().map_or(0, Delta::memory_bytes);
        let mut added = self.delta.get_or_insert_with(Delta::new).add(prepared);
        let mut sealed_bytes = 0;
        if added.is_err() {
            sealed_bytes = self.delta.as_ref().map_or(0, Delta::memory_bytes);
            self.seal();
            added = self.delta.get_or_insert_with(Delta::new).add(prepared);
        }
        let Some(delta) = &self.delta else { return 0 };
        let bytes = delta.memory_bytes();
        if let Ok(place) = added {
            self.delta_live.grow(place + 1);
            self.delta_live.add(place);
            self.delta_totals.add(delta, place);
        }
        if delta.places() >= SEARCH_DELTA_MAX_DOCUMENTS || bytes >= SEARCH_DELTA_MAX_BYTES {
            self.seal();
        }
        (sealed_bytes + bytes) as i64 - before as i64
    }

    fn seal(&mut self) {
        if let Some(delta) = self.delta.take() {
            let (live, totals) =
                (std::mem::take(&mut self.delta_live), std::mem::take(&mut self.delta_totals));
            self.sealed.push(Sealed { delta: Arc::new(delta), live, totals });
        }
    }
}

/// About what an entry of the set of expiring documents takes.
const EXPIRING_BYTES: usize = 32;

impl Resident {
    fn memory_bytes(&self) -> usize {
        self.segment.memory_bytes() + self.live.memory_bytes()
    }
}

impl Contents {
    /// Nothing yet; complete once the keys that are there were looked at.
    pub fn new(progress: Progress) -> Contents {
        let contents = Contents::default();
        contents.state.write().progress = progress;
        contents.next_id.store(1, Ordering::Relaxed);
        contents
    }

    /// What segments say, of which nothing counts until the document maps have been read.
    pub fn opened(stored: Vec<Stored>) -> Contents {
        let contents = Contents::default();
        let mut segments: Vec<Resident> = stored
            .into_iter()
            .map(|Stored { number, segment }| {
                let live = Bits::none(segment.places());
                Resident { segment: Arc::new(segment), live, totals: Totals::default(), number }
            })
            .collect();
        sorted::all(&mut segments, |one, other| one.segment.first_id().cmp(&other.segment.first_id()));
        let greatest = segments.iter().map(|resident| resident.segment.last_id()).max().unwrap_or(0);
        contents.next_id.store(greatest + 1, Ordering::Relaxed);
        contents.state.write().segments = segments;
        contents
    }

    /// An id that no document has had.
    pub fn next_id(&self) -> DocumentId {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// The id that the next document gets.
    pub fn peek_id(&self) -> DocumentId {
        self.next_id.load(Ordering::Relaxed)
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        self.state.read().progress
    }

    /// Says how far it is.
    pub fn set_progress(&self, progress: Progress) {
        let mut state = self.state.write();
        state.progress = progress;
        if !matches!(progress, Progress::Rebuilding { .. }) {
            (state.missing, state.lacking) = Default::default();
        }
    }

    /// Notes a use, as FT.INFO counts them.
    pub fn note_use(&self, now_ms: u64) {
        self.note_active(now_ms);
        self.uses.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes what keeps an idle index from going without being a use: a document has come, a start.
    pub fn note_active(&self, now_ms: u64) {
        self.active_at_ms.fetch_max(now_ms, Ordering::Relaxed);
    }

    /// Unix time in milliseconds when it was last used, got a document or was opened.
    pub fn active_at_ms(&self) -> u64 {
        self.active_at_ms.load(Ordering::Relaxed)
    }

    /// Reads entries of a document map when the index is opened: a document in a segment lives there from then on, others are missing.
    pub fn claim(&self, entries: &mut dyn Iterator<Item = (DocumentId, Option<u64>)>) {
        let mut greatest = 0;
        let mut state = self.state.write();
        for (id, expiry) in entries {
            greatest = greatest.max(id);
            state.expiring.extend(expiry.map(|at_ms| (at_ms, id)));
            let mut is_found = false;
            for resident in &mut state.segments {
                if (resident.segment.first_id()..=resident.segment.last_id()).contains(&id)
                    && let Some(place) = resident.segment.find(id)
                {
                    if resident.live.add(place) {
                        resident.totals.add(&*resident.segment, place);
                    }
                    is_found = true;
                    break;
                }
            }
            if !is_found {
                state.missing.push(id);
            }
        }
        drop(state);
        self.next_id.fetch_max(greatest + 1, Ordering::Relaxed);
    }

    /// All entries were read: how many documents are missing.
    pub fn claimed(&self) -> u64 {
        let mut state = self.state.write();
        sorted::by_key(&mut state.missing, |id| *id);
        state.lacking = Bits::all(state.missing.len() as u32);
        state.missing.len() as u64
    }

    /// Whether a document of a map, which lives, has yet to be read again.
    pub fn lacks(&self, id: DocumentId) -> bool {
        self.state.read().lacking(id).is_some()
    }

    /// Adds a document that is missing, under the lock of its key; returns how many bytes more it takes.
    pub fn restore(&self, prepared: &Prepared) -> i64 {
        let mut state = self.state.write();
        let Some(place) = state.lacking(prepared.id()) else { return 0 };
        state.lacking.remove(place);
        state.grow(prepared)
    }

    /// Counts a document with a value that cannot be indexed.
    pub fn note_failure(&self) {
        self.failures.fetch_add(1, Ordering::Relaxed);
    }

    /// Makes a change that is committed; returns how many bytes more the index takes.
    pub fn apply(&self, change: DocumentChange) -> i64 {
        if change.has_failed {
            self.note_failure();
        }
        let mut state = self.state.write();
        let id = change.added.as_ref().map(Prepared::id);
        if let Some(removed) = change.removed {
            state.kill(removed);
        }
        if let Some(old) = change.old_expiry
            && let Some(of) = change.removed.or(change.kept)
        {
            state.expiring.remove(&(old, of));
        }
        if let Some(new) = change.new_expiry
            && let Some(of) = id.or(change.kept)
        {
            state.expiring.insert((new, of));
        }
        change.added.map_or(0, |prepared| state.grow(&prepared))
    }

    /// Shows all parts at one moment: those of the index without some documents and without what is expired, and one more.
    pub fn read<R>(
        &self,
        now_ms: u64,
        without: &[DocumentId],
        more: Option<&Delta>,
        body: impl FnOnce(&[View<'_>]) -> R,
    ) -> R {
        let state = self.state.read();
        let more_segments = state.segments.len().saturating_sub(1) as u64;
        self.earned_bytes.fetch_add(more_segments * SEARCH_EARNED_BYTES, Ordering::Relaxed);
        let expired = state.expiring.range(..=(now_ms, DocumentId::MAX)).map(|(_, id)| *id);
        let hidden: Vec<DocumentId> = expired.chain(without.iter().copied()).collect();
        let mut parts: Vec<(&dyn Part, Cow<'_, Bits>, Cow<'_, Totals>)> = Vec::new();
        for Resident { segment, live, totals, .. } in &state.segments {
            parts.push((&**segment, Cow::Borrowed(live), Cow::Borrowed(totals)));
        }
        for Sealed { delta, live, totals } in &state.sealed {
            parts.push((&**delta, Cow::Borrowed(live), Cow::Borrowed(totals)));
        }
        if let Some(delta) = &state.delta {
            parts.push((delta, Cow::Borrowed(&state.delta_live), Cow::Borrowed(&state.delta_totals)));
        }
        for id in hidden {
            for (part, live, totals) in &mut parts {
                if let Some(place) = part.find(id)
                    && live.has(place)
                {
                    live.to_mut().remove(place);
                    totals.to_mut().remove(*part, place);
                    break;
                }
            }
        }
        if let Some(more) = more {
            parts.push((more, Cow::Owned(Bits::all(more.places())), Cow::Owned(Totals::default())));
        }
        let views: Vec<View<'_>> = parts
            .iter()
            .map(|(part, live, totals)| View { part: *part, live, totals: Some(totals) })
            .collect();
        body(&views)
    }

    /// Numbers for FT.INFO.
    pub fn facts(&self) -> Facts {
        let state = self.state.read();
        let deltas = || state.delta.iter().chain(state.sealed.iter().map(|sealed| &*sealed.delta));
        let live = state.segments.iter().map(|resident| &resident.live);
        let live = live.chain(state.sealed.iter().map(|sealed| &sealed.live)).chain([&state.delta_live]);
        Facts {
            documents: live.map(|live| u64::from(live.count())).sum(),
            greatest_id: self.next_id.load(Ordering::Relaxed).saturating_sub(1),
            terms: deltas().map(|delta| u64::from(delta.word_count())).sum::<u64>()
                + state.segments.iter().map(|resident| u64::from(resident.segment.word_count())).sum::<u64>(),
            segments: state.segments.len() as u64,
            unfrozen: deltas().map(|delta| u64::from(delta.places())).sum(),
            segment_bytes: state.segments.iter().map(|resident| resident.memory_bytes() as u64).sum(),
            delta_bytes: deltas().map(|delta| delta.memory_bytes() as u64).sum(),
            failures: self.failures.load(Ordering::Relaxed),
            postings: deltas().map(Delta::posting_count).sum::<u64>()
                + state.segments.iter().map(|resident| resident.segment.posting_count()).sum::<u64>(),
            uses: self.uses.load(Ordering::Relaxed),
        }
    }

    /// Bytes of memory that it takes.
    pub fn memory_bytes(&self) -> i64 {
        self.state.read().memory_bytes()
    }

    /// Has the delta become a segment though it is small: the home is about to rest, or a test wants it.
    pub fn seal(&self) {
        self.state.write().seal();
    }

    /// The same if it has so many documents.
    pub fn seal_from(&self, documents_min: u32) {
        let mut state = self.state.write();
        if state.delta.as_ref().is_some_and(|delta| delta.places() >= documents_min) {
            state.seal();
        }
    }

    /// A sealed delta, to be frozen.
    pub fn to_freeze(&self) -> Option<Freeze> {
        let state = self.state.read();
        let sealed = state.sealed.first().filter(|_| !state.is_retired)?;
        Some(Freeze { delta: sealed.delta.clone(), live: sealed.live.clone() })
    }

    /// Exchanges a sealed delta and its segment, which has no derived file yet; returns how many bytes more the index takes, or None if
    /// the index is no more.
    pub fn frozen(&self, freeze: &Freeze, segment: Segment) -> Option<i64> {
        let mut state = self.state.write();
        let before = state.memory_bytes();
        let at = state.sealed.iter().position(|sealed| Arc::ptr_eq(&sealed.delta, &freeze.delta))?;
        if state.is_retired {
            return None;
        }
        let sealed = state.sealed.remove(at);
        // What has gone meanwhile is gone there, too.
        let mut live = Bits::none(segment.places());
        for place in 0..segment.places() {
            if sealed.delta.find(segment.id(place)).is_some_and(|place| sealed.live.has(place)) {
                live.add(place);
            }
        }
        state.insert(Resident { segment: Arc::new(segment), live, totals: Totals::default(), number: 0 });
        Some(state.memory_bytes() - before)
    }

    /// Whether searches have earned a merge ([`Contents::to_merge`]). Takes next to nothing where there was no search.
    pub fn has_earned_merge(&self, max_bytes: usize) -> bool {
        let earned_bytes = self.earned_bytes.load(Ordering::Relaxed);
        earned_bytes > 0 && self.state.read().plan(max_bytes, earned_bytes).is_some()
    }

    /// Segments that are worth being merged into one of at most so many bytes, with what lives of them.
    pub fn to_merge(&self, max_bytes: usize) -> Option<Vec<(Arc<Segment>, Bits)>> {
        let state = self.state.read();
        let (chosen, cost) = state.plan(max_bytes, self.earned_bytes.load(Ordering::Relaxed))?;
        self.earned_bytes.fetch_sub(cost, Ordering::Relaxed);
        let chosen = chosen.into_iter().filter_map(|at| state.segments.get(at));
        Some(chosen.map(|resident| (resident.segment.clone(), resident.live.clone())).collect())
    }
}

impl State {
    /// Which segments to merge next ([`index::plan`]).
    fn plan(&self, max_bytes: usize, earned_bytes: u64) -> Option<(Vec<usize>, u64)> {
        let size = |resident: &Resident| index::Size {
            bytes: resident.segment.len_bytes(),
            places: resident.segment.places(),
            live: resident.live.count(),
        };
        let sizes: Vec<index::Size> = self.segments.iter().map(size).collect();
        index::plan(&sizes, max_bytes, earned_bytes).filter(|_| !self.is_retired)
    }

    fn insert(&mut self, resident: Resident) {
        let first = resident.segment.first_id();
        let at = self.segments.partition_point(|other| other.segment.first_id() <= first);
        self.segments.insert(at, resident);
    }
}

impl Contents {
    /// Exchanges segments and what they were merged into, which has this derived file, or none (0): how many bytes more the index takes,
    /// and the files of the old ones. None if one of the inputs is not there any more, so that nothing has changed.
    ///
    /// `inputs` have what lived when the merge began, all of which is in the new segment. The lock is held for what has gone since alone.
    pub fn merged(
        &self,
        inputs: &[(Arc<Segment>, Bits)],
        segment: Segment,
        number: u64,
    ) -> Option<(i64, Vec<u64>)> {
        let mut state = self.state.write();
        let before = state.memory_bytes();
        let position = |state: &State, input: &Arc<Segment>| {
            state.segments.iter().position(|resident| Arc::ptr_eq(&resident.segment, input))
        };
        if state.is_retired || !inputs.iter().all(|(input, _)| position(&state, input).is_some()) {
            return None;
        }
        let mut live = Bits::all(segment.places());
        let mut litter = Vec::new();
        for (input, before) in inputs {
            let at = position(&state, input)?;
            let old = state.segments.remove(at);
            let (mut gone, mut dead) = (before.clone(), old.live);
            dead.invert();
            gone.keep(&dead);
            let gone = gone.iter().filter_map(|place| segment.find(input.id(place)));
            gone.for_each(|place| {
                live.remove(place);
            });
            litter.extend((old.number > 0).then_some(old.number));
        }
        state.insert(Resident { segment: Arc::new(segment), live, totals: Totals::default(), number });
        Some((state.memory_bytes() - before, litter))
    }

    /// The segments that have no derived file yet.
    pub fn unstored(&self) -> Vec<Arc<Segment>> {
        let state = self.state.read();
        let unstored = state.segments.iter().filter(|resident| resident.number == 0);
        unstored.map(|resident| resident.segment.clone()).collect()
    }

    /// Says in which derived file a segment is; false if the segment is not there any more.
    pub fn note_stored(&self, segment: &Arc<Segment>, number: u64) -> bool {
        let mut state = self.state.write();
        let is_retired = state.is_retired;
        match state.segments.iter_mut().find(|resident| Arc::ptr_eq(&resident.segment, segment)) {
            Some(resident) if !is_retired => {
                resident.number = number;
                true
            }
            _ => false,
        }
    }

    /// Drops segments of which nothing lives; the numbers of their files.
    pub fn drop_dead(&self) -> Vec<u64> {
        let mut state = self.state.write();
        let (live, dead): (Vec<Resident>, Vec<Resident>) =
            std::mem::take(&mut state.segments).into_iter().partition(|resident| resident.live.count() > 0);
        state.segments = live;
        dead.into_iter().map(|resident| resident.number).filter(|number| *number > 0).collect()
    }

    /// The index is no more; the numbers of its derived files.
    pub fn retire(&self) -> Vec<u64> {
        let mut state = self.state.write();
        state.is_retired = true;
        state.segments.iter().map(|resident| resident.number).filter(|number| *number > 0).collect()
    }
}
