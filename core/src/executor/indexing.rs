//! What indexes need beside the commits that change them: keys that were there before an index are looked at, documents that are in no
//! segment are read again, deltas become segments, segments are stored and merged.
//!
//! A home steps it where it does its other upkeep. Each step is short, and nothing of it changes an answer.

use std::sync::Arc;

use super::Stop;
use super::upkeep::Upkeep;
use crate::command::search::{Rebuild, drop_index, end_scan, index_key};
use crate::engine::{Db, Engine, EngineError, look_alone};
use crate::limits::{SEARCH_MERGED_IN_A_STEP, SEARCH_SCANNED_IN_A_STEP, SEARCH_SEGMENT_MAX_BYTES};
use crate::search::bits::Bits;
use crate::search::index::{Merge, Segment};
use crate::server::search::{Index, IndexSet, Progress};
use crate::server::{Server, Shared};

/// The upkeep of all indexes of a server.
pub struct Indexing {
    upkeep: Upkeep,
    rebuild: Option<Rebuild>,
    scan: Option<Scan>,
    merge: Option<Merging>,
}

/// A merge on its way.
struct Merging {
    index: Arc<Index>,
    /// The segments, with what lived of them when it began.
    inputs: Vec<(Arc<Segment>, Bits)>,
    merge: Merge,
}

/// A walk over the keys that were there before an index.
struct Scan {
    index: Arc<Index>,
    cursor: u64,
    done: u64,
    of: u64,
    /// Keys that were found and not looked at yet.
    keys: Vec<Vec<u8>>,
    is_over: bool,
}

impl Indexing {
    /// For a server's maintenance.
    pub fn new(shared: &Shared) -> Indexing {
        Indexing { upkeep: Upkeep::new(shared), rebuild: None, scan: None, merge: None }
    }

    /// Says that it has a thread for itself, on which triggers may take their time.
    pub fn set_has_thread(&mut self) {
        self.upkeep.set_has_thread();
    }

    /// Does one piece of work; whether there may be more to do at once.
    ///
    /// # Errors
    /// The engine's; what was to be done is tried again later.
    pub fn step<E: Engine>(&mut self, server: &Server<E>, now_ms: u64) -> Result<bool, EngineError> {
        for number in server.shared.search.take_litter() {
            server.engine.remove_derived(number);
        }
        let present = server.shared.search.present();
        if present.is_empty() {
            (self.rebuild, self.scan, self.merge) = (None, None, None);
            return Ok(false);
        }
        let of =
            |wanted: fn(Progress) -> bool| present.iter().find(|index| wanted(index.contents.progress()));
        if let Some(index) = of(|progress| matches!(progress, Progress::Rebuilding { .. })) {
            // Otherwise all documents would be in deltas before the first of them is stored. On a full disk the index is in memory.
            return match Indexing::store_step(server) {
                Ok(true) => Ok(true),
                Ok(false) | Err(_) => self.rebuild(server, index, now_ms),
            };
        }
        self.rebuild = None;
        if self.keep_segments(server)? {
            return Ok(true);
        }
        if let Some(index) = of(|progress| matches!(progress, Progress::Scanning { .. })) {
            return self.scan(server, index, now_ms);
        }
        self.scan = None;
        self.drop_idle(server, &present, now_ms)
    }

    /// Freezes or stores one part; whether there was one. A home that is about to end calls it until there is none.
    ///
    /// # Errors
    /// The engine's.
    pub fn store_step<E: Engine>(server: &Server<E>) -> Result<bool, EngineError> {
        for index in server.shared.search.present().iter() {
            if store_next(server, index)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn rebuild<E: Engine>(
        &mut self,
        server: &Server<E>,
        index: &Arc<Index>,
        now_ms: u64,
    ) -> Result<bool, EngineError> {
        // What is missing is read once there is memory again; until then the index does not answer.
        if !server.shared.has_memory_to_index() {
            return Ok(false);
        }
        let is_its = |rebuild: &Rebuild| rebuild.index().is_walked_as(index);
        let rebuild = match self.rebuild.take().filter(is_its) {
            Some(rebuild) => self.rebuild.insert(rebuild),
            None => self.rebuild.insert(Rebuild::new(index.clone())),
        };
        if !rebuild.step(server, now_ms)? {
            self.rebuild = None;
        }
        Ok(true)
    }

    /// Looks at some keys that were there before an index.
    fn scan<E: Engine>(
        &mut self,
        server: &Server<E>,
        index: &Arc<Index>,
        now_ms: u64,
    ) -> Result<bool, EngineError> {
        let db = index.definition.db;
        let mut scan = match self.scan.take() {
            // One of before the fields or the database changed has looked at keys in vain.
            Some(scan) if scan.index.is_walked_as(index) => scan,
            _ => Scan::begin(server, index, now_ms)?,
        };
        if scan.keys.is_empty() && !scan.is_over {
            scan.find(server, db, now_ms)?;
        }
        let before = scan.done;
        // A key that cannot be indexed at the moment, since the store is full or a trigger refuses it, is tried again.
        while let Some(key) = scan.keys.last() {
            // Searches say that documents are missing; the walk goes on once there is memory again. What was looked at may become a
            // segment, which is smaller.
            if !server.shared.has_memory_to_index() {
                let has_moved = scan.done > before;
                self.scan = Some(scan);
                return Ok(has_moved);
            }
            self.upkeep.client.db = db;
            match self.upkeep.change(server, key, now_ms, |ctx| index_key(ctx, index, key)) {
                Ok(_) => {}
                Err(Stop::Suspended) => {
                    self.upkeep.executor.forget_suspended(server);
                    self.scan = Some(scan);
                    return Ok(false);
                }
                Err(Stop::Error(error)) => {
                    self.scan = Some(scan);
                    return Err(error.into_engine_error());
                }
            }
            scan.keys.pop();
            scan.done += 1;
        }
        index.contents.set_progress(Progress::Scanning { done: scan.done, of: scan.of.max(scan.done) });
        if !scan.is_over {
            self.scan = Some(scan);
            return Ok(true);
        }
        match self.upkeep.change_all(server, &[], now_ms, |ctx| end_scan(ctx, index)) {
            Ok(_) => Ok(true),
            Err(Stop::Suspended) => {
                self.upkeep.executor.forget_suspended(server);
                self.scan = Some(scan);
                Ok(false)
            }
            Err(Stop::Error(error)) => {
                self.scan = Some(scan);
                Err(error.into_engine_error())
            }
        }
    }

    /// Freezes, stores or merges; whether there was something to do.
    fn keep_segments<E: Engine>(&mut self, server: &Server<E>) -> Result<bool, EngineError> {
        if self.merge.is_some() {
            return self.merge_on(server);
        }
        let search = &server.shared.search;
        for index in search.present().iter() {
            let (contents, definition) = (&index.contents, &index.definition);
            if store_next(server, index)? {
                return Ok(true);
            }
            search.add_litter(contents.drop_dead());
            if let Some(inputs) = contents.to_merge(SEARCH_SEGMENT_MAX_BYTES) {
                let merge = Merge::new(inputs.clone(), definition.number);
                self.merge = Some(Merging { index: index.clone(), inputs, merge });
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn merge_on<E: Engine>(&mut self, server: &Server<E>) -> Result<bool, EngineError> {
        let Some(mut merging) = self.merge.take() else { return Ok(false) };
        if !merging.merge.step(SEARCH_MERGED_IN_A_STEP) {
            self.merge = Some(merging);
            return Ok(true);
        }
        let Merging { index, inputs, merge } = merging;
        let search = &server.shared.search;
        let Ok(segment) = Segment::open(merge.finish(), index.definition.number) else { return Ok(true) };
        // Stored before the old ones go, so that a crash between finds either. On a full disk the old ones make room for later.
        let number = search.next_number();
        let is_stored = server.engine.put_derived(number, segment.bytes()).is_ok();
        match index.contents.merged(&inputs, segment, if is_stored { number } else { 0 }) {
            Some((grown, litter)) => {
                search.note_memory(grown);
                search.add_litter(litter);
            }
            None => search.add_litter([number]),
        }
        Ok(true)
    }

    /// Drops indexes that were to go after some time without use.
    fn drop_idle<E: Engine>(
        &mut self,
        server: &Server<E>,
        present: &IndexSet,
        now_ms: u64,
    ) -> Result<bool, EngineError> {
        let is_idle = |index: &&Arc<Index>| index.idle_at_ms().is_some_and(|idle_ms| idle_ms <= now_ms);
        let Some(index) = present.iter().find(is_idle) else { return Ok(false) };
        match self.upkeep.change_everything(server, now_ms, |ctx| drop_index(ctx, index, true)) {
            Ok(_) => Ok(true),
            Err(Stop::Suspended) => {
                self.upkeep.executor.forget_suspended(server);
                Ok(false)
            }
            Err(Stop::Error(error)) => Err(error.into_engine_error()),
        }
    }
}

/// Freezes or stores one part of an index; whether there was one.
fn store_next<E: Engine>(server: &Server<E>, index: &Index) -> Result<bool, EngineError> {
    let (search, contents, of) = (&server.shared.search, &index.contents, index.definition.number);
    if let Some(freeze) = contents.to_freeze()
        && let Ok(segment) = Segment::open(freeze.bytes(of), of)
        && let Some(grown) = contents.frozen(&freeze, segment)
    {
        search.note_memory(grown);
        return Ok(true);
    }
    let Some(segment) = contents.unstored().pop() else { return Ok(false) };
    let number = search.next_number();
    server.engine.put_derived(number, segment.bytes())?;
    if !contents.note_stored(&segment, number) {
        search.add_litter([number]);
    }
    Ok(true)
}

impl Scan {
    fn begin<E: Engine>(server: &Server<E>, index: &Arc<Index>, now_ms: u64) -> Result<Scan, EngineError> {
        let db = index.definition.db;
        let of = look_alone(&server.engine, (db, &[]), now_ms, &mut |txn| txn.key_count(db))?;
        Ok(Scan { index: index.clone(), cursor: 0, done: 0, of, keys: Vec::new(), is_over: false })
    }

    /// Finds the next keys.
    fn find<E: Engine>(&mut self, server: &Server<E>, db: Db, now_ms: u64) -> Result<(), EngineError> {
        let index = self.index.clone();
        while self.keys.len() < SEARCH_SCANNED_IN_A_STEP && !self.is_over {
            let (cursor, mut found, mut others) = (self.cursor, Vec::new(), 0);
            self.cursor = look_alone(&server.engine, (db, &[]), now_ms, &mut |txn| {
                (found, others) = (Vec::new(), 0);
                txn.scan_keys(db, cursor, &mut |key, root| match root.kind == index.definition.kind
                    && index.definition.has_prefix_of(key)
                {
                    true => found.push(key.to_vec()),
                    false => others += 1,
                })
            })?;
            self.done += others;
            self.keys.append(&mut found);
            self.is_over = self.cursor == 0;
        }
        Ok(())
    }
}
