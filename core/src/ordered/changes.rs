//! What a transaction changes, as keys of the cluster.
//!
//! The changes of an overlay are copied, since they outlive the run: what their counts need may have to be fetched first.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::blobs::Drafted;
use super::cluster::{Cluster, Write};
use super::databases::Databases;
use super::known::Known;
use super::lanes::{self, LaneKeys};
use super::names::{Home, Named, Names, PIECES, Space, slot_of};
use super::record::{PIECE_BYTES, Record, Small, Subkeys, Value};
use super::runs::{Edit, Out, Tree, Walker};
use super::snapshot::{OrderedSnapshot, Seen};
use super::upkeep::noted::Expiring;
use crate::engine::{
    CATALOG, Change, DbChange, EngineError, Kind, Overlay, Result, Root, RootChange, Source, SubChanges,
    is_definition,
};

/// The longest value of a subkey, and the longest value that one write may bring.
const VALUE_MAX_BYTES: u64 = 4 * 1024 * 1024;

/// A name in the cluster has at most so many bytes: TiKV takes 8 KiB (`storage.max-key-size`), of which it uses a ninth itself.
const NAME_MAX_BYTES: usize = 7 * 1024;

/// One write brings so many bytes at most.
const WRITE_MAX_BYTES: u64 = 64 * 1024 * 1024;

/// What a transaction changes.
#[derive(Debug)]
pub(super) struct Changes {
    keys: Vec<KeyChange>,
    /// Roots that were read and are not changed: decisions may rest on them.
    read: Vec<Vec<u8>>,
    databases: Vec<DbChange>,
    /// What the transaction takes the databases for.
    seen: Arc<Databases>,
    /// See [`super::Options::small_bytes`].
    small_bytes: usize,
    /// Nothing was read for them.
    is_blind: bool,
    now_ms: u64,
    /// Blobs that become values.
    drafts: Vec<Drafted>,
}

/// The change of one key.
#[derive(Debug)]
struct KeyChange {
    /// The name of its root.
    name: Vec<u8>,
    space: Space,
    slot: u16,
    /// What it was, if it was there and somebody has looked.
    base: Option<Record>,
    after: After,
    edits: Vec<Edit>,
    is_definition: bool,
}

/// What becomes of a root.
#[derive(Debug)]
enum After {
    /// Only its subkeys change.
    Same,
    Removed,
    Put {
        /// Its stamp is to be given.
        record: Record,
        /// A long value, still in one piece.
        long: Option<Vec<u8>>,
    },
}

/// A write, and what follows from it.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) write: Write,
    /// The databases after it, if they change.
    pub(super) databases: Option<Databases>,
    /// Whether it changes definitions, which every process keeps.
    pub(super) are_definitions: bool,
    /// Keys that expire when it has happened, as upkeep is to know.
    pub(super) expiring: Vec<Expiring>,
}

impl Changes {
    /// Those of an overlay; the blobs of these homes become values.
    ///
    /// # Errors
    /// A value is too long.
    pub(super) fn of<C: Cluster>(
        snapshot: &OrderedSnapshot<'_, C>,
        overlay: &Overlay,
        (drafts, now_ms): (Vec<Drafted>, u64),
    ) -> Result<Changes> {
        let keys = overlay.changes().map(|change| KeyChange::of(snapshot, overlay, &change));
        let keys: Vec<KeyChange> = keys.collect::<Result<_>>()?;
        let is_blind = snapshot.seen.is_empty();
        let read = if is_blind {
            Vec::new()
        } else {
            let changed: HashSet<&[u8]> = keys.iter().map(|key| key.name.as_slice()).collect();
            let names = snapshot.seen.iter().map(|seen| &seen.name);
            names.filter(|name| !changed.contains(name.as_slice())).cloned().collect()
        };
        let databases = overlay.db_changes().to_vec();
        let small_bytes = snapshot.engine.options().small_bytes;
        let seen = snapshot.databases.clone();
        Ok(Changes { keys, read, databases, seen, small_bytes, is_blind, now_ms, drafts })
    }

    /// Whether more than the changed keys follows from them: others must be told first, or blobs
    /// waited for.
    pub(super) fn concern_all(&self) -> bool {
        !self.drafts.is_empty()
            || !self.databases.is_empty()
            || self.keys.iter().any(KeyChange::is_definition)
    }

    /// Their keys, if they rest on nothing that was read.
    pub(super) fn lane_keys_if_blind(&self) -> Option<LaneKeys> {
        let may_join = self.is_blind && !self.concern_all() && self.keys.len() <= lanes::KEYS_MAX;
        may_join.then(|| self.lane_keys())
    }

    /// The keys that they change, the first ones if they are many.
    pub(super) fn lane_keys(&self) -> LaneKeys {
        self.keys.iter().take(lanes::KEYS_MAX).map(|key| lanes::lane_key(&key.name)).collect()
    }

    /// The write that makes the changes. `number` gives numbers that are used once.
    ///
    /// # Errors
    /// Something must be fetched first; or the changes cannot be made.
    pub(super) fn plan(&self, names: &Names, known: &mut Known, number: &dyn Fn() -> u64) -> Result<Planned> {
        // What runs have announced and not needed.
        known.drop_wants();
        let mut out = Out::new();
        // Homes that another root takes over.
        let taken: HashSet<Home> = self.keys.iter().flat_map(KeyChange::homes_taken).collect();
        let (mut outcome, mut expiring) = (Ok(()), Vec::new());
        for key in &self.keys {
            // What is missing for several keys is fetched together.
            match key.plan((names, known), (number, self.small_bytes), &taken, &mut out) {
                Err(EngineError::NotHere) => outcome = Err(EngineError::NotHere),
                Err(error) => return Err(error),
                Ok(at_ms) => expiring.extend(at_ms.and_then(|at_ms| key.expiring(names, at_ms, self.now_ms))),
            }
        }
        for draft in &self.drafts {
            match draft.check(names, known) {
                Err(EngineError::NotHere) => outcome = Err(EngineError::NotHere),
                other => other?,
            }
        }
        let databases = match self.databases.as_slice() {
            [] => None,
            changes => {
                let (after, dropped) = self.seen.changed(changes, number());
                let stored = known.get(&names.databases());
                match stored.and_then(Databases::read) {
                    Ok(stored) if stored != *self.seen => return Err(EngineError::OnceMore),
                    Ok(_) => {}
                    Err(error) => outcome = Err(error),
                }
                out.push((names.databases(), Some(after.to_bytes())));
                out.extend(dropped.into_iter().map(|space| (names.dropped_space(space), Some(vec![1]))));
                Some(after)
            }
        };
        let begins_until_ms = match &known.shown {
            // They were read since the run began.
            Some(shown) if shown.until_ms > 0 && shown.databases != self.seen => {
                return Err(EngineError::OnceMore);
            }
            Some(shown) if shown.until_ms > 0 => (shown.until_ms < u64::MAX).then_some(shown.until_ms),
            // In doubt.
            _ => match known.get(&names.databases()).and_then(Databases::read) {
                Ok(stored) if stored != *self.seen => return Err(EngineError::OnceMore),
                Ok(_) => None,
                Err(error) => return Err(error),
            },
        };
        outcome?;
        // A home that was made and dropped by the same transaction, or a mark for two keys: the last one counts.
        let changes: BTreeMap<Vec<u8>, Option<Vec<u8>>> = out.into_iter().collect();
        if let Some(name) = changes.keys().find(|name| name.len() > NAME_MAX_BYTES) {
            let bytes = name.len();
            return Err(EngineError::Refused(format!(
                "ERR a key, field or member is too long: with what a cluster adds it has {bytes} bytes, and at most {NAME_MAX_BYTES} are taken"
            )));
        }
        let bytes: u64 =
            changes.iter().map(|(key, value)| (key.len() + value.as_ref().map_or(0, Vec::len)) as u64).sum();
        if bytes > WRITE_MAX_BYTES {
            return Err(EngineError::Refused(format!(
                "ERR the transaction writes {bytes} bytes, and one transaction of a cluster may write {WRITE_MAX_BYTES}"
            )));
        }
        let locks = self.read.iter().filter(|name| !changes.contains_key(*name)).cloned().collect();
        let are_definitions = self.keys.iter().any(KeyChange::is_definition);
        let write = Write { changes: changes.into_iter().collect(), locks, begins_until_ms };
        Ok(Planned { write, databases, are_definitions, expiring })
    }
}

fn edits(subs: &SubChanges) -> Result<Vec<Edit>> {
    let mut edits = Vec::with_capacity(subs.len());
    for (subkey, change) in subs {
        let value = change.value.as_ref().map(|value| value.to_vec());
        let bytes = subkey.len() as u64 + value.as_ref().map_or(0, |value| value.len() as u64);
        if bytes > VALUE_MAX_BYTES {
            return Err(EngineError::Refused(format!(
                "ERR an element of {bytes} bytes is too long: the entries of a cluster have {VALUE_MAX_BYTES} bytes at most"
            )));
        }
        edits.push(Edit { subkey: subkey.to_vec(), value, in_base: change.in_base });
    }
    Ok(edits)
}

impl KeyChange {
    fn of<C: Cluster>(
        snapshot: &OrderedSnapshot<'_, C>,
        overlay: &Overlay,
        change: &Change<'_>,
    ) -> Result<KeyChange> {
        let engine = snapshot.engine;
        let space = snapshot.databases.space_of(change.source, engine.options().databases)?;
        let name = engine.names().root(space, change.key);
        let record = |root: &Root| snapshot.seen_at(root).and_then(|seen: &Seen| seen.record.clone());
        let base = change.base.and_then(record);
        let after = match change.root {
            RootChange::Unchanged => After::Same,
            RootChange::Removed => After::Removed,
            RootChange::Put { kind, encoding, expires_at_ms, value, blob } => {
                let subkeys =
                    change.subkeys_of.and_then(record).map_or_else(Subkeys::default, |from| from.subkeys);
                let is_long = blob.is_none() && value.len() > PIECE_BYTES;
                if is_long && kind != Kind::String && value.len() as u64 > VALUE_MAX_BYTES {
                    return Err(EngineError::TooLarge(value.len() as u64));
                }
                let long = is_long.then(|| value.to_vec());
                let value = match blob {
                    Some(blob) => Value::Blob(blob),
                    None => Value::Here(if is_long { Vec::new() } else { value.to_vec() }),
                };
                let access = change.access_after(overlay.touch());
                let record = Record { stamp: 0, kind, encoding, access, expires_at_ms, value, subkeys };
                After::Put { record, long }
            }
        };
        let slot = slot_of(change.key);
        let is_definition = change.source == Source::Base(CATALOG) && is_definition(change.key);
        Ok(KeyChange { name, space, slot, base, after, edits: edits(change.subs)?, is_definition })
    }

    /// Whether it is about definitions of the catalog.
    fn is_definition(&self) -> bool {
        self.is_definition
    }

    /// The homes that the key has from now on and that may have been somebody's before.
    fn homes_taken(&self) -> impl Iterator<Item = Home> {
        let record = match &self.after {
            After::Put { record, .. } => Some(record),
            After::Same => self.base.as_ref(),
            After::Removed => None,
        };
        record.into_iter().flat_map(Record::homes)
    }

    /// What upkeep is to know of a key that expires at this time. If it would have expired earlier before, a hint tells of that
    /// time, and who follows it learns the later one.
    fn expiring(&self, names: &Names, at_ms: u64, now_ms: u64) -> Option<Expiring> {
        let before = self.base.as_ref().and_then(|base| base.expires_at_ms);
        if before.is_some_and(|before| before <= at_ms && before > now_ms) {
            return None;
        }
        let Some(Named::Root(_, key)) = names.read(&self.name) else { return None };
        Some(Expiring { at_ms, space: self.space, key: key.to_vec() })
    }

    /// Plans the change; returns when the key expires afterwards.
    fn plan(
        &self,
        (names, known): (&Names, &mut Known),
        (number, small_bytes): (&dyn Fn() -> u64, usize),
        taken: &HashSet<Home>,
        out: &mut Out,
    ) -> Result<Option<u64>> {
        let record = match &self.after {
            After::Removed => None,
            After::Same => self.base.clone(),
            After::Put { record, long } => {
                let mut record = record.clone();
                if let Some(long) = long {
                    let home = Home { space: self.space, slot: self.slot, number: number() };
                    for (piece, bytes) in (0_u64..).zip(long.chunks(PIECE_BYTES)) {
                        out.push((names.entry(home, PIECES, &piece.to_be_bytes()), Some(bytes.to_vec())));
                    }
                    record.value = Value::Pieces(home, long.len() as u64);
                }
                Some(record)
            }
        };
        let record = match record {
            None => None,
            Some(mut record) => {
                let home = || Home { space: self.space, slot: self.slot, number: number() };
                // A long value leaves them half of the room.
                let room = small_bytes as u64 - record.value.byte_count().min(small_bytes as u64 / 2);
                record.subkeys =
                    change_subkeys(record.subkeys, &self.edits, (room, &home), (names, known), out)?;
                record.stamp = number();
                Some(record)
            }
        };
        let kept: Vec<Home> = record.iter().flat_map(Record::homes).collect();
        let dropped = self.base.iter().flat_map(Record::homes);
        for home in dropped.filter(|home| !kept.contains(home) && !taken.contains(home)) {
            out.push((names.dropped(home), Some(vec![1])));
        }
        // Collecting what belongs to no root here must not take what a root elsewhere needs.
        let is_new = |home: &&Home| !self.base.iter().flat_map(Record::homes).any(|old| old == **home);
        let is_elsewhere = |home: &&Home| (home.space, home.slot) != (self.space, self.slot);
        for home in kept.iter().filter(is_elsewhere).filter(is_new) {
            out.push((names.elsewhere(*home), Some(self.name.clone())));
        }
        let expires_at_ms = record.as_ref().and_then(|record| record.expires_at_ms);
        out.push((self.name.clone(), record.map(|record| record.to_bytes())));
        Ok(expires_at_ms)
    }
}

/// The subkeys of a key after these edits.
fn change_subkeys(
    subkeys: Subkeys,
    edits: &[Edit],
    (room, home): (u64, &dyn Fn() -> Home),
    (names, known): (&Names, &mut Known),
    out: &mut Out,
) -> Result<Subkeys> {
    if edits.is_empty() {
        return Ok(subkeys);
    }
    let small = match subkeys {
        Subkeys::Tree(tree) => return Walker { names, known, tree }.apply(edits, out).map(Subkeys::Tree),
        Subkeys::Small(small) => small,
    };
    let mut entries: BTreeMap<&[u8], &[u8]> = small.iter().collect();
    for edit in edits {
        match &edit.value {
            Some(value) => entries.insert(&edit.subkey, value),
            None => entries.remove(edit.subkey.as_slice()),
        };
    }
    let bytes: usize = entries.iter().map(|(subkey, value)| subkey.len() + value.len() + 2).sum();
    if bytes as u64 <= room {
        let mut small = Small::default();
        entries.into_iter().for_each(|(subkey, value)| small.push(subkey, value));
        return Ok(Subkeys::Small(small));
    }
    let all: Vec<Edit> = entries
        .into_iter()
        .map(|(subkey, value)| Edit { subkey: subkey.to_vec(), value: Some(value.to_vec()), in_base: false })
        .collect();
    Walker { names, known, tree: Tree::new(home()) }.apply(&all, out).map(Subkeys::Tree)
}
