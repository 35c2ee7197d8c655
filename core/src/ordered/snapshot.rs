//! The reads of one run of a transaction.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;
use std::sync::Arc;

use super::Ordered;
use super::blobs::{Blobs, Committed, Mode};
use super::cluster::Cluster;
use super::databases::Databases;
use super::known::Known;
use super::lanes::{KEYS_MAX, LaneKeys, Turn, lane_key};
use super::names::{Named, PIECES, Place as At, SLOTS, Space};
use super::record::{PIECE_BYTES, Record, Subkeys, Value};
use super::runs::Walker;
use crate::engine::{
    BlobStore, Db, Direction, EngineError, KeyVisitor, PATCH_BYTES, PatchSource, Patched, Place, Reader,
    Result, Root, ShortValue, Start, SubVisitor, SubWalk, Touch, Want,
};
use crate::storage::{self, Blob, BlobId};

/// So many roots are read by one step of a walk over a space, about.
const ROOTS_A_STEP: u64 = 32;

/// A walk passes the data of so many slots in one step at most.
const JUMPS_A_STEP: u32 = 16;

/// Keys are counted in so many parts at once.
const PARTS: u16 = 16;

/// So many names are read at once to count keys.
const NAMES_A_ROUND: u32 = 1024;

/// More keys than these are not counted: their number follows from how many there are in parts of the space.
const COUNTED_MAX: u64 = 16_384;

/// A run asks for the counts of so many changes with everything else that it needs. Of more the commit finds out together, in a
/// round of its own.
const CHANGES_ANNOUNCED: usize = 64;

/// So many ranks are looked for together.
const RANKS_ANNOUNCED: usize = 256;

/// Sees one root of a space, with its place and key, and says whether to go on.
type RecordVisitor<'v> = &'v mut dyn FnMut(At, &[u8], &Record) -> ControlFlow<()>;

/// A key that the transaction has looked for.
#[derive(Debug)]
pub(super) struct Seen {
    /// The name of its root in the cluster.
    pub(super) name: Vec<u8>,
    pub(super) record: Option<Record>,
}

/// The reads of one run.
pub struct OrderedSnapshot<'e, C: Cluster> {
    pub(super) engine: &'e Ordered<C>,
    /// The transaction in the cluster, if it has begun.
    pub(super) transaction: Option<C::Transaction>,
    pub(super) known: Known,
    pub(super) databases: Arc<Databases>,
    /// The keys that were looked for, in order; [`Place`] tells which.
    pub(super) seen: Vec<Seen>,
    index: HashMap<Vec<u8>, usize>,
    guesses: Guesses,
    /// The names of roots that it may need. They are wanted if something else is missing: many runs need none.
    announced: Vec<Vec<u8>>,
    /// Its turn in a lane, if it stands in one.
    turn: Option<Turn>,
    is_postponed: bool,
    intent: Intent,
    /// If it is about to write, the keys that it has declared.
    lane_keys: LaneKeys,
}

/// What its caller has said that a run will do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Intent {
    /// Nothing was said.
    #[default]
    Open,
    Writes,
    OnlyReads,
}

/// Whether a run goes on past what is not here.
#[derive(Clone, Copy, Debug, Default)]
struct Guesses {
    are_allowed: bool,
    has_any: bool,
    /// Of how many subkeys the run has said that they will come or go.
    changes: usize,
}

/// What a run leaves.
pub(super) struct Parts<T> {
    pub(super) transaction: Option<T>,
    pub(super) known: Known,
    pub(super) turn: Option<Turn>,
    pub(super) is_postponed: bool,
    pub(super) intent: Intent,
    pub(super) lane_keys: LaneKeys,
}

/// A turn that leads to nothing is given back.
impl<C: Cluster> Drop for OrderedSnapshot<'_, C> {
    fn drop(&mut self) {
        if let Some(turn) = self.turn.take() {
            self.engine.0.leave_lane(turn, std::mem::take(&mut self.known));
        }
    }
}

impl<'e, C: Cluster> OrderedSnapshot<'e, C> {
    pub(super) fn new(
        engine: &'e Ordered<C>,
        transaction: Option<C::Transaction>,
        mut known: Known,
    ) -> OrderedSnapshot<'e, C> {
        let shown = known.shown.get_or_insert_with(|| engine.0.certainty.present());
        let databases = shown.databases.clone();
        OrderedSnapshot {
            engine,
            transaction,
            known,
            databases,
            seen: Vec::new(),
            index: HashMap::new(),
            guesses: Guesses::default(),
            announced: Vec::new(),
            turn: None,
            is_postponed: false,
            intent: Intent::default(),
            lane_keys: LaneKeys::new(),
        }
    }

    /// One that has its turn in a lane.
    pub(super) fn in_turn(engine: &'e Ordered<C>, turn: Turn, known: Known) -> OrderedSnapshot<'e, C> {
        let mut known = known;
        known.begin_turn();
        let mut snapshot = OrderedSnapshot::new(engine, None, known);
        snapshot.turn = Some(turn);
        snapshot
    }

    /// Whether its transaction has begun, so that nothing that is written from now on can be seen in it. In a lane that may be so.
    pub(super) fn has_begun(&self) -> bool {
        self.transaction.is_some() || self.turn.is_some()
    }

    /// Has what was announced fetched with what the run has missed.
    pub(super) fn want_announced(&mut self) {
        for name in std::mem::take(&mut self.announced) {
            self.known.want_get(&name);
        }
    }

    /// Ends the run.
    pub(super) fn into_parts(mut self) -> Parts<C::Transaction> {
        Parts {
            transaction: self.transaction.take(),
            known: std::mem::take(&mut self.known),
            turn: self.turn.take(),
            is_postponed: self.is_postponed,
            intent: self.intent,
            lane_keys: std::mem::take(&mut self.lane_keys),
        }
    }

    /// The record of a root; what it was when this process saw it last, if it is not here and guesses are allowed.
    fn record_of(&mut self, name: &[u8], key: &[u8]) -> Result<Option<Record>> {
        let seen_trees = self.engine.seen_trees();
        match self.known.get(name) {
            Ok(stored) => {
                let record = stored.map(|stored| Record::read(stored).ok_or_else(|| unreadable(key)));
                let record = record.transpose()?;
                seen_trees.note(name, record.as_ref());
                Ok(record)
            }
            Err(EngineError::NotHere) if self.guesses.are_allowed => {
                let guess = seen_trees.get(name).ok_or(EngineError::NotHere)?;
                self.guesses.has_any = true;
                Ok(Some(guess))
            }
            Err(error) => Err(error),
        }
    }

    /// Whether a subkey is there: not, where that is to be fetched and guesses are allowed.
    fn or_guess(&mut self, found: Result<bool>) -> Result<bool> {
        match found {
            Err(EngineError::NotHere) if self.guesses.are_allowed => {
                self.guesses.has_any = true;
                Ok(false)
            }
            found => found,
        }
    }

    pub(super) fn space(&self, db: Db) -> Result<Space> {
        self.databases.space(db, self.engine.options().databases)
    }

    /// The key of a root that was shown.
    pub(super) fn seen_at(&self, root: &Root) -> Option<&Seen> {
        usize::try_from(root.place.0).ok()?.checked_sub(1).and_then(|at| self.seen.get(at))
    }

    fn record(&self, root: &Root) -> Result<&Record> {
        let record = self.seen_at(root).and_then(|seen| seen.record.as_ref());
        record.ok_or_else(|| EngineError::Damaged("a root of nobody".into()))
    }

    /// Runs something over the subkeys of a root that are entries of their own; None if they are in its record.
    fn with_tree<R>(&mut self, root: &Root, run: impl FnOnce(Walker<'_>) -> Result<R>) -> Result<Option<R>> {
        let Subkeys::Tree(tree) = self.record(root)?.subkeys else { return Ok(None) };
        let walker = Walker { names: self.engine.names(), known: &mut self.known, tree };
        run(walker).map(Some)
    }

    /// The value of a subkey that is in the record.
    fn small_value(&self, root: &Root, subkey: &[u8]) -> Result<Option<&[u8]>> {
        let Subkeys::Small(small) = &self.record(root)?.subkeys else { return Ok(None) };
        Ok(small.iter().find(|(other, _)| *other == subkey).map(|(_, value)| value))
    }

    /// Shows roots of a space from a place on, all or none of one place, until the visitor breaks or a step is over; returns
    /// where to go on.
    fn walk_roots(&mut self, space: Space, from: At, visit: RecordVisitor<'_>) -> Result<Option<At>> {
        let names = self.engine.names();
        let end = names.space(space).1;
        let (mut place, mut jumps, mut shown) = (from, 0, 0);
        loop {
            let begin = names.roots_from(space, place);
            let (mut last, mut jump, mut is_over, mut outcome) = (None, None, false, Ok(()));
            self.known.scan((&begin, &end), Direction::Ascending, ROOTS_A_STEP + 1, &mut |name, value| {
                match names.read(name) {
                    Some(Named::Root(at, key)) => {
                        if shown >= ROOTS_A_STEP && last != Some(at) {
                            last = Some(at);
                            is_over = true;
                            return ControlFlow::Break(());
                        }
                        last = Some(at);
                        shown += 1;
                        match Record::read(value) {
                            Some(record) => is_over = visit(at, key, &record).is_break(),
                            None => outcome = Err(unreadable(key)),
                        }
                        if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                    }
                    Some(Named::Other(slot)) => {
                        jump = Some(slot);
                        ControlFlow::Break(())
                    }
                    None => ControlFlow::Continue(()),
                }
            })?;
            outcome?;
            if is_over {
                return Ok(last);
            }
            let Some(slot) = jump else { return Ok(None) };
            let Some(next) = At::next_slot(slot) else { return Ok(None) };
            jumps += 1;
            place = next;
            if jumps == JUMPS_A_STEP {
                return Ok(Some(place));
            }
        }
    }

    /// Counts the names of roots of a space: exactly up to [`COUNTED_MAX`], beyond that by how many there are in parts of it.
    fn count_names(&mut self, space: Space) -> Result<u64> {
        let mut parts: Vec<Part> = (0..PARTS).map(Part::new).collect();
        loop {
            let (mut outcome, names) = (Ok(()), self.engine.names());
            for part in parts.iter_mut().filter(|part| part.from.is_some()) {
                let Some(from) = part.from else { continue };
                let begin = names.roots_from(space, from);
                let end = part.end.map_or_else(|| names.space(space).1, |end| names.roots_from(space, end));
                match self.known.names((&begin, &end), NAMES_A_ROUND) {
                    Ok((found, has_more)) => {
                        let last = found.last().and_then(|name| names.read(name));
                        let roots =
                            found.iter().filter(|name| matches!(names.read(name), Some(Named::Root(..))));
                        part.count += roots.count() as u64;
                        part.from = match last.filter(|_| has_more) {
                            // Of the last place there may be more; they are counted with it.
                            Some(Named::Root(at, _)) => {
                                let again = found.iter().filter(|name| {
                                    matches!(names.read(name), Some(Named::Root(other, _)) if other == at)
                                });
                                let again = again.count() as u64;
                                let is_stuck = at == from;
                                part.count -= if is_stuck { 0 } else { again };
                                if is_stuck { at.next() } else { Some(at) }
                            }
                            Some(Named::Other(slot)) => At::next_slot(slot),
                            None => None,
                        };
                        part.from = part.from.filter(|from| part.end.is_none_or(|end| *from < end));
                    }
                    Err(error) => outcome = Err(error),
                }
            }
            outcome?;
            let count: u64 = parts.iter().map(|part| part.count).sum();
            if parts.iter().all(|part| part.from.is_none()) {
                return Ok(count);
            }
            if count >= COUNTED_MAX {
                return Ok(parts.iter().map(Part::estimate).sum());
            }
        }
    }
}

/// A part of a space in which names are counted.
struct Part {
    begin: At,
    /// Where to go on; None if all was counted.
    from: Option<At>,
    /// Where the next part begins.
    end: Option<At>,
    count: u64,
}

impl Part {
    fn new(number: u16) -> Part {
        let begin = At { slot: number * (SLOTS / PARTS), hash: 0 };
        let end = (number + 1 < PARTS).then(|| At { slot: (number + 1) * (SLOTS / PARTS), hash: 0 });
        Part { begin, from: Some(begin), end, count: 0 }
    }

    /// How many there are in the part, as far as what was counted tells.
    fn estimate(&self) -> u64 {
        let Some(from) = self.from else { return self.count };
        let end = self.end.map_or(u64::from(SLOTS) << 32, At::cursor);
        let (seen, all) = (from.cursor() - self.begin.cursor(), end - self.begin.cursor());
        let estimate = u128::from(self.count) * u128::from(all) / u128::from(seen.max(1));
        u64::try_from(estimate).unwrap_or(u64::MAX)
    }
}

/// The bytes of a patch.
struct Patch(Vec<u8>);

impl PatchSource for Patch {
    fn show(&self, visit: &mut dyn FnMut(&[u8])) -> storage::Result<()> {
        visit(&self.0);
        Ok(())
    }

    fn byte_count(&self) -> u64 {
        self.0.len() as u64
    }
}

fn unreadable(key: &[u8]) -> EngineError {
    EngineError::Damaged(format!("the root of \"{}\" in the cluster cannot be read", key.escape_ascii()))
}

/// A root as readers see it.
fn root_of(record: &Record, place: u64) -> Root {
    let short = match &record.value {
        Value::Here(bytes) => ShortValue::of(bytes),
        Value::Pieces(..) | Value::Blob(_) => None,
    };
    Root {
        kind: record.kind,
        encoding: record.encoding,
        expires_at_ms: record.expires_at_ms,
        value_len: record.value.byte_count(),
        blob: match record.value {
            Value::Blob(blob) => Some(blob),
            Value::Here(_) | Value::Pieces(..) => None,
        },
        short,
        access: record.access,
        place: Place(place, 0),
        collection: place,
    }
}

impl<C: Cluster> Reader for OrderedSnapshot<'_, C> {
    /// Reading writes nothing, so a use is not noted.
    fn root(&mut self, db: Db, key: &[u8], _touch: Option<Touch>) -> Result<Option<Root>> {
        let name = self.engine.names().root(self.space(db)?, key);
        let at = match self.index.get(&name) {
            Some(at) => *at,
            None => {
                let record = self.record_of(&name, key)?;
                self.seen.push(Seen { name: name.clone(), record });
                self.index.insert(name, self.seen.len() - 1);
                self.seen.len() - 1
            }
        };
        let record = self.seen.get(at).and_then(|seen| seen.record.as_ref());
        Ok(record.map(|record| root_of(record, at as u64 + 1)))
    }

    fn version(&mut self, db: Db, key: &[u8]) -> Result<u64> {
        self.root(db, key, None)?;
        let name = self.engine.names().root(self.space(db)?, key);
        let record = self.index.get(&name).and_then(|at| self.seen.get(*at)?.record.as_ref());
        Ok(record.map_or(0, |record| record.stamp))
    }

    fn blobs(&self) -> Arc<dyn BlobStore> {
        Blobs::shared(self.engine.0.clone(), Some(self.known.run().clone()))
    }

    fn open_blob(&mut self, id: BlobId) -> Result<Arc<dyn Blob>> {
        Ok(Committed::open(self.engine.0.clone(), id, self.known.run().clone()))
    }

    fn patched(
        &mut self,
        owner: (Db, &[u8]),
        root: &Root,
        base: Arc<dyn Blob>,
        (from, to): (u64, u64),
    ) -> Result<Arc<dyn Blob>> {
        let mut patches = BTreeMap::new();
        let (first, last) = (from / PATCH_BYTES, to.div_ceil(PATCH_BYTES));
        let first = first.to_be_bytes();
        let walk = SubWalk::up(Start::Subkey(&first), Want::Values);
        self.sub_scan(root, walk, &mut |number, patch| {
            // Checksums of pieces are kept behind the patches, under longer subkeys.
            match number.try_into().map(u64::from_be_bytes) {
                Ok(number) if number < last => {
                    patches.insert(number, Patch(patch.to_vec()));
                    ControlFlow::Continue(())
                }
                _ => ControlFlow::Break(()),
            }
        })?;
        Ok(if patches.is_empty() { base } else { Arc::new(Patched::new(owner, base, to, patches)) })
    }

    fn hold_for_long(&mut self) {
        self.known.run().set_mode(Mode::Long);
    }

    fn read_value(
        &mut self,
        root: &Root,
        (offset, len): (u64, u64),
        visit: &mut dyn FnMut(&[u8]),
    ) -> Result<()> {
        let outside = || EngineError::Damaged("range outside the value".into());
        let end = offset.checked_add(len).filter(|end| *end <= root.value_len).ok_or_else(outside)?;
        let home = match &self.record(root)?.value {
            Value::Here(bytes) => {
                let part = usize::try_from(offset).ok().zip(usize::try_from(end).ok());
                visit(part.and_then(|(from, to)| bytes.get(from..to)).ok_or_else(outside)?);
                return Ok(());
            }
            Value::Pieces(home, _) => *home,
            Value::Blob(_) => return Err(EngineError::Damaged("a blob is no value of a root".into())),
        };
        let piece_bytes = PIECE_BYTES as u64;
        let numbers = offset / piece_bytes..end.div_ceil(piece_bytes).max(offset / piece_bytes);
        let name = |number: u64| self.engine.names().entry(home, PIECES, &number.to_be_bytes());
        for number in numbers.clone() {
            self.known.want_get(&name(number));
        }
        let mut bytes = Vec::new();
        for number in numbers.clone() {
            let piece = self.known.get(&name(number))?;
            bytes.extend_from_slice(
                piece.ok_or_else(|| EngineError::Damaged("a piece of a value is missing".into()))?,
            );
        }
        let skipped = usize::try_from(offset - numbers.start * piece_bytes).map_err(|_| outside())?;
        let len = usize::try_from(len).map_err(|_| outside())?;
        visit(bytes.get(skipped..).and_then(|rest| rest.get(..len)).ok_or_else(outside)?);
        Ok(())
    }

    fn memory_bytes(&mut self, key: &[u8], root: &Root) -> Result<u64> {
        let record = self.record(root)?;
        let subkeys = match &record.subkeys {
            Subkeys::Small(small) => small.byte_count() as u64,
            // What is not here is not added up; an entry has about so many bytes.
            Subkeys::Tree(tree) => tree.len * 64,
        };
        Ok(key.len() as u64 + record.value.byte_count() + subkeys)
    }

    fn sub_len(&mut self, root: &Root) -> Result<u64> {
        Ok(self.record(root)?.subkeys.len())
    }

    fn sub_contains(&mut self, root: &Root, subkey: &[u8]) -> Result<bool> {
        self.sub_read(root, subkey, &mut |_| {})
    }

    fn sub_contains_to_change(&mut self, root: &Root, subkey: &[u8]) -> Result<bool> {
        self.announce_change(root, subkey);
        self.sub_contains(root, subkey)
    }

    fn sub_read(&mut self, root: &Root, subkey: &[u8], visit: &mut dyn FnMut(&[u8])) -> Result<bool> {
        let found = self.with_tree(root, |mut walker| Ok(walker.get(subkey)?.map(&mut *visit).is_some()));
        if let Some(found) = found.transpose() {
            return self.or_guess(found);
        }
        Ok(self.small_value(root, subkey)?.map(visit).is_some())
    }

    fn sub_rank(&mut self, root: &Root, subkey: &[u8]) -> Result<u64> {
        if let Some(rank) = self.with_tree(root, |mut walker| walker.rank(subkey))? {
            return Ok(rank);
        }
        let Subkeys::Small(small) = &self.record(root)?.subkeys else { return Ok(0) };
        Ok(small.iter().take_while(|(other, _)| *other < subkey).count() as u64)
    }

    fn sub_scan(&mut self, root: &Root, walk: SubWalk<'_>, visit: SubVisitor<'_>) -> Result<()> {
        if self.with_tree(root, |mut walker| walker.scan(walk, visit))?.is_some() {
            return Ok(());
        }
        let Subkeys::Small(small) = &self.record(root)?.subkeys else { return Ok(()) };
        let entries: Vec<_> = small.iter().collect();
        walk.over(&entries, visit);
        Ok(())
    }

    fn key_count(&mut self, db: Db) -> Result<u64> {
        let space = self.space(db)?;
        self.count_names(space)
    }

    /// Beyond some hundred keys it is a guess, by the first ones.
    fn expiring_count(&mut self, db: Db) -> Result<u64> {
        let space = self.space(db)?;
        let (mut place, mut seen, mut expiring) = (At { slot: 0, hash: 0 }, 0, 0);
        for _ in 0..JUMPS_A_STEP {
            let next = self.walk_roots(space, place, &mut |_, _, record| {
                seen += 1;
                expiring += u64::from(record.expires_at_ms.is_some());
                ControlFlow::Continue(())
            })?;
            let Some(next) = next else { return Ok(expiring) };
            place = next;
        }
        let count = self.count_names(space)?;
        Ok(count.saturating_mul(expiring) / u64::max(seen, 1))
    }

    fn scan_keys(&mut self, db: Db, cursor: u64, visit: KeyVisitor<'_>) -> Result<u64> {
        let space = self.space(db)?;
        // A cursor of nobody is one behind the end.
        let Some(from) = At::of_cursor(cursor) else { return Ok(0) };
        let next = self.walk_roots(space, from, &mut |_, key, record| {
            visit(key, &root_of(record, 0));
            ControlFlow::Continue(())
        })?;
        Ok(next.map_or(0, At::cursor))
    }

    fn random_key(&mut self, db: Db, random: u64, visit: KeyVisitor<'_>) -> Result<()> {
        let space = self.space(db)?;
        let drawn = At { slot: (random >> 32) as u16 % SLOTS, hash: random as u32 };
        let begin = At { slot: 0, hash: 0 };
        for mut from in [drawn, begin] {
            loop {
                let mut found = Vec::new();
                let next = self.walk_roots(space, from, &mut |_, key, record| {
                    found.push((key.to_vec(), root_of(record, 0)));
                    ControlFlow::Continue(())
                })?;
                let nth = (random >> 48).checked_rem(found.len() as u64);
                if let Some((key, root)) = nth.and_then(|nth| found.get(nth as usize)) {
                    visit(key, root);
                    return Ok(());
                }
                match next {
                    Some(next) => from = next,
                    None => break,
                }
            }
        }
        Ok(())
    }

    fn announce(&mut self, db: Db, keys: &[&[u8]]) {
        let Ok(space) = self.space(db) else { return };
        for key in keys {
            let name = self.engine.names().root(space, key);
            if self.intent == Intent::Writes && self.lane_keys.len() <= KEYS_MAX {
                self.lane_keys.push(lane_key(&name));
            }
            self.announced.push(name);
        }
    }

    fn announce_writes(&mut self) {
        self.intent = Intent::Writes;
    }

    fn announce_only_reads(&mut self) {
        self.intent = Intent::OnlyReads;
    }

    fn is_provisional(&self) -> bool {
        self.turn.is_some() && self.known.has_written()
    }

    fn postpone(&mut self) {
        self.is_postponed = true;
    }

    fn allow_guesses(&mut self, are_allowed: bool) {
        self.guesses.are_allowed = are_allowed;
    }

    fn has_guessed(&self) -> bool {
        self.guesses.has_any
    }

    fn announce_ranks(&mut self, root: &Root, ranks: &[u64]) {
        // A hint.
        let _ = self.with_tree(root, |mut walker| {
            for rank in ranks.iter().take(RANKS_ANNOUNCED) {
                let walk = SubWalk::up(Start::Rank(*rank), Want::Subkeys).expecting(1);
                let _ = walker.scan(walk, &mut |_, _| ControlFlow::Break(()));
            }
            Ok(())
        });
    }

    fn announce_change(&mut self, root: &Root, subkey: &[u8]) {
        self.guesses.changes += 1;
        if self.guesses.changes > CHANGES_ANNOUNCED {
            return;
        }
        // A hint.
        let _ = self.with_tree(root, |mut walker| {
            walker.want_runs(subkey);
            Ok(())
        });
    }

    fn announce_subs(&mut self, root: &Root, subkeys: &[&[u8]], are_to_change: bool) {
        // A hint.
        let _ = self.with_tree(root, |mut walker| {
            subkeys.iter().for_each(|subkey| walker.want(subkey));
            Ok(())
        });
        if are_to_change {
            subkeys.iter().for_each(|subkey| self.announce_change(root, subkey));
        }
    }
}
