//! Opens the indexes of a store that was just opened: definitions, segments, and what the document maps say of them.
//!
//! ```text
//!  definitions  ->  Index                     a number that no definition has: its derived files and maps are litter
//!  derived files  ->  segments, checked       nothing of them counts yet
//!  document maps  ->  ids that live           in a segment: live there; in none: the document is to be read again
//! ```
//!
//! So a segment may be lost, damaged or too new for its log without a wrong answer; it only saves work.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use super::document;
use super::indexes::{INDEXES, forget_scans, index_of, read};
use super::maps::{Entry, MAP_PREFIX};
use crate::command::CommandError;
use crate::command::definitions::Unreadable;
use crate::engine::{CATALOG, Engine, EngineError, Start, SubWalk, Txn, Want, look_alone, run_alone};
use crate::limits::{SEARCH_REBUILT_AT_ONCE, SEARCH_REBUILT_IN_A_STEP};
use crate::search::index::{Segment, index_number};
use crate::server::Server;
use crate::server::search::{Change, Contents, Index, Progress, Stored};
use crate::sorted;

type Result<T> = std::result::Result<T, EngineError>;

/// Entries of a map that are read under its lock at a time.
const ENTRIES_AT_A_TIME: usize = 4096;

/// Opens all indexes. Those that this version cannot read are returned; they stay in the store and do nothing.
///
/// # Errors
/// The engine's.
pub fn open<E: Engine>(server: &Server<E>, now_ms: u64) -> Result<Vec<Unreadable>> {
    let (engine, shared) = (&server.engine, &server.shared);
    if engine.partitions() == 0 {
        return Ok(Vec::new());
    }
    let (mut unreadable, mut definitions) = (Vec::new(), Vec::new());
    for (field, text) in INDEXES.read(engine, now_ms)? {
        match read(&field, &text, engine.partition_seed()) {
            Ok(definition) => definitions.push(definition),
            Err(_) => unreadable.push(Unreadable { kind: "index", name: field }),
        }
    }
    for definition in &definitions {
        shared.search.note_number(definition.number);
    }
    let mut stored =
        read_segments(server, &|number| definitions.iter().any(|definition| definition.number == number));
    let mut indexes = Vec::new();
    for definition in definitions {
        let contents = Contents::opened(stored.remove(&definition.number).unwrap_or_default());
        contents.note_active(now_ms);
        indexes.push(index_of(engine, definition, Arc::new(contents)));
    }
    if unreadable.is_empty() {
        match remove_strange_maps(engine, &indexes, now_ms) {
            // A store that is only read keeps them.
            Err(EngineError::OpenedToRead) => {}
            removed => removed?,
        }
    }
    for index in &indexes {
        claim(server, index, now_ms)?;
        shared.search.note_memory(index.contents.memory_bytes());
    }
    let changes: Vec<Change> = indexes.into_iter().map(Change::Set).collect();
    shared.search.apply(&shared.hub.interest, &changes);
    Ok(unreadable)
}

/// Removes all document maps, and has their indexes look at all keys at the next [`open`]. A salvaged store has lost records, and no map
/// says which of its entries are missing or old.
///
/// # Errors
/// The engine's. Then it has to be done again, before the indexes are opened or later.
pub fn forget_maps<E: Engine>(engine: &E, now_ms: u64) -> Result<()> {
    forget_scans(engine, now_ms)?;
    remove_strange_maps(engine, &[], now_ms)
}

/// Reads the derived files: valid segments by the number of their index. The others are litter.
fn read_segments<E: Engine>(
    server: &Server<E>,
    is_known: &dyn Fn(u64) -> bool,
) -> BTreeMap<u64, Vec<Stored>> {
    let search = &server.shared.search;
    let mut segments: BTreeMap<u64, Vec<Stored>> = BTreeMap::new();
    for number in server.engine.list_derived() {
        search.note_number(number);
        let bytes = server.engine.derived(number);
        let of = bytes.as_deref().and_then(index_number).filter(|number| is_known(*number));
        let segment = bytes.zip(of).and_then(|(bytes, of)| Some((of, Segment::open(bytes, of).ok()?)));
        match segment {
            Some((of, segment)) => segments.entry(of).or_default().push(Stored { number, segment }),
            None => search.add_litter([number]),
        }
    }
    segments
}

/// Removes document maps that belong to no index: a store that was copied has those of its origin.
fn remove_strange_maps<E: Engine>(engine: &E, indexes: &[Arc<Index>], now_ms: u64) -> Result<()> {
    let mut strange: Vec<Vec<u8>> = Vec::new();
    let mut cursor = 0;
    loop {
        cursor = look_alone(engine, (CATALOG, &[]), now_ms, &mut |txn| {
            txn.scan_keys(CATALOG, cursor, &mut |key, _| {
                let is_map = key.starts_with(MAP_PREFIX);
                if is_map && !indexes.iter().any(|index| index.maps.iter().any(|map| map == key)) {
                    strange.push(key.to_vec());
                }
            })
        })?;
        if cursor == 0 {
            break;
        }
    }
    sorted::plainly(&mut strange);
    strange.dedup();
    for map in strange {
        run_alone(engine, &[&map], now_ms, &mut |txn| txn.remove(CATALOG, &map).map(drop))?;
    }
    Ok(())
}

/// Reads the maps of an index and says how far it is.
fn claim<E: Engine>(server: &Server<E>, index: &Arc<Index>, now_ms: u64) -> Result<()> {
    let mut all = 0;
    for map in index.maps.iter() {
        let mut after: Option<Vec<u8>> = None;
        loop {
            let mut entries = Vec::new();
            look_alone(&server.engine, (CATALOG, &[map]), now_ms, &mut |txn| {
                entries.clear();
                walk(txn, map, after.as_deref(), ENTRIES_AT_A_TIME, &mut |key, entry| {
                    entries.push((key.to_vec(), entry))
                })
            })?;
            all += entries.len() as u64;
            let ids = &mut entries.iter().map(|(_, entry)| (entry.id, entry.expires_at_ms));
            index.contents.claim(ids);
            let is_last = entries.len() < ENTRIES_AT_A_TIME;
            after = entries.pop().map(|(key, _)| key);
            if is_last {
                break;
            }
        }
    }
    let missing = index.contents.claimed();
    server.shared.search.add_litter(index.contents.drop_dead());
    let next =
        if index.definition.is_scanned { Progress::Ready } else { Progress::Scanning { done: 0, of: 0 } };
    if missing == 0 {
        index.contents.set_progress(next);
        return Ok(());
    }
    index.contents.set_progress(Progress::Rebuilding { left: missing, of: all });
    if missing <= SEARCH_REBUILT_AT_ONCE {
        let mut rebuild = Rebuild::new(index.clone());
        while server.shared.has_memory_to_index() && rebuild.step(server, now_ms)? {}
    }
    Ok(())
}

/// Shows entries of a map behind a key, up to so many.
fn walk(
    txn: &mut Txn<'_>,
    map: &[u8],
    after: Option<&[u8]>,
    most: usize,
    visit: &mut dyn FnMut(&[u8], Entry),
) -> Result<()> {
    if txn.root(CATALOG, map)?.is_none() {
        return Ok(());
    }
    // Nothing lies between a key and the same with a zero behind it.
    let from = after.map(|key| [key, &[0]].concat());
    let start = from.as_deref().map_or(Start::End, Start::Subkey);
    let mut left = most;
    txn.sub_scan(CATALOG, map, SubWalk::up(start, Want::Values).expecting(most as u64), &mut |key, value| {
        if let Some(entry) = Entry::read(value) {
            visit(key, entry);
        }
        left -= 1;
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
}

/// Reads documents again that are in no segment.
pub(crate) struct Rebuild {
    index: Arc<Index>,
    map: usize,
    after: Option<Vec<u8>>,
    done: u64,
}

impl Rebuild {
    pub fn new(index: Arc<Index>) -> Rebuild {
        Rebuild { index, map: 0, after: None, done: 0 }
    }

    /// The index that it is about.
    pub fn index(&self) -> &Arc<Index> {
        &self.index
    }

    /// Reads some documents; false once there are no more, and then the index answers again.
    ///
    /// # Errors
    /// The engine's.
    pub fn step<E: Engine>(&mut self, server: &Server<E>, now_ms: u64) -> Result<bool> {
        let index = self.index.clone();
        let Some(map) = index.maps.get(self.map) else {
            let next = if index.definition.is_scanned {
                Progress::Ready
            } else {
                Progress::Scanning { done: 0, of: 0 }
            };
            index.contents.set_progress(next);
            return Ok(false);
        };
        let (after, mut last, mut count, mut grown, mut done) = (self.after.clone(), None, 0, 0, 0);
        let (db, mut is_old) = (index.definition.db, false);
        look_alone(&server.engine, (CATALOG, &[map]), now_ms, &mut |txn| {
            (last, count, grown, done) = (None, 0, 0, 0);
            // At a start it is not among those that are present yet, and nothing changes it.
            let present = server.shared.search.present();
            is_old = present
                .iter()
                .any(|other| Arc::ptr_eq(&other.contents, &index.contents) && !other.is_walked_as(&index));
            if is_old {
                return Ok(());
            }
            let mut lacking = Vec::new();
            walk(txn, map, after.as_deref(), SEARCH_REBUILT_IN_A_STEP, &mut |key, entry| {
                count += 1;
                last = Some(key.to_vec());
                if index.contents.lacks(entry.id) {
                    lacking.push((key.to_vec(), entry));
                }
            })?;
            for (key, entry) in lacking {
                done += 1;
                // A document that is not what its entry says is missing, as it would be if its key had gone.
                if let Some(prepared) = document::read(txn, &index, (db, &key), entry.id)
                    .map_err(CommandError::into_engine_error)?
                {
                    grown += index.contents.restore(&prepared);
                }
            }
            Ok(())
        })?;
        if is_old {
            return Ok(true);
        }
        server.shared.search.note_memory(grown);
        self.done += done;
        if let Progress::Rebuilding { left, of } = index.contents.progress() {
            index.contents.set_progress(Progress::Rebuilding { left: left.saturating_sub(done), of });
        }
        (self.after, self.map) =
            if count < SEARCH_REBUILT_IN_A_STEP { (None, self.map + 1) } else { (last, self.map) };
        Ok(true)
    }
}
