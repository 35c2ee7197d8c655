//! Whether two places hold the same.

use std::collections::HashSet;

use edgecask_core::data::digest::KeysDigest;
use edgecask_core::engine::{CATALOG, Db};

use super::side::Side;
use super::{KEYS_AT_ONCE, Result, SHOWN_MAX};

/// Bytes of a name that are shown.
const NAME_SHOWN_BYTES: usize = 80;

/// What a comparison has found.
#[derive(Default)]
pub(super) struct Verified {
    pub(super) source_keys: u64,
    pub(super) target_keys: u64,
    pub(super) source: KeysDigest,
    pub(super) target: KeysDigest,
    pub(super) different_count: u64,
    pub(super) different: Vec<String>,
    pub(super) extra_count: u64,
    pub(super) extra: Vec<String>,
}

impl Verified {
    /// Whether both hold the same, or the target more if it may.
    pub(super) fn is_equal(&self, may_have_more: bool) -> bool {
        self.different_count == 0 && (may_have_more || self.extra_count == 0)
    }

    fn note_different(&mut self, what: String) {
        self.different_count += 1;
        if self.different.len() < SHOWN_MAX {
            self.different.push(what);
        }
    }
}

/// A key as a person reads it.
pub(super) fn shown(db: Db, key: &[u8]) -> String {
    let name = key.get(..NAME_SHOWN_BYTES).unwrap_or(key).escape_ascii();
    let more = if key.len() > NAME_SHOWN_BYTES { "..." } else { "" };
    match db {
        CATALOG => format!("definition \"{name}{more}\""),
        db => format!("\"{name}{more}\" of database {db}"),
    }
}

/// Does something with the next keys of a side.
type Batch<'r> = &'r mut dyn FnMut(&mut Side, &[&[u8]]) -> Result<()>;

/// Runs something over all keys of a database, some at a time.
fn walk(side: &mut Side, db: Db, run: Batch<'_>) -> Result<()> {
    let mut cursor = 0;
    loop {
        let (next, keys) = side.scan(db, cursor)?;
        for keys in keys.chunks(KEYS_AT_ONCE) {
            let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
            run(side, &keys)?;
        }
        cursor = next;
        if cursor == 0 {
            return Ok(());
        }
    }
}

/// Compares every key of the source with the target's, and looks for keys that only the target has. `map` is the target's number of a
/// database of the source.
pub(super) fn verify(
    (source, target): (&mut Side, &mut Side),
    (databases, map): (&[Db], &dyn Fn(Db) -> Db),
) -> Result<Verified> {
    let mut verified = Verified::default();
    for db in databases {
        walk(source, *db, &mut |source, keys| {
            let (ours, theirs) = (source.digests(*db, keys)?, target.digests(map(*db), keys)?);
            for (key, (our, their)) in keys.iter().zip(ours.into_iter().zip(theirs)) {
                match (our, their) {
                    (Err(why), _) => verified.note_different(format!("{}: {why} (source)", shown(*db, key))),
                    (_, Err(why)) => verified.note_different(format!("{}: {why} (target)", shown(*db, key))),
                    // It has expired since the walk has seen it, or was deleted.
                    (Ok(None), Ok(_)) => {}
                    (Ok(Some(our)), Ok(their)) => {
                        verified.source_keys += 1;
                        verified.source.add(*db, &our);
                        match their {
                            None => verified.note_different(format!("{} is missing", shown(*db, key))),
                            Some(their) => {
                                verified.target.add(*db, &their);
                                if our != their {
                                    verified.note_different(shown(*db, key));
                                }
                            }
                        }
                    }
                }
            }
            Ok(())
        })?;
    }
    find_extra((source, target), (databases, map), &mut verified)?;
    Ok(verified)
}

/// Looks for keys that the source has not.
fn find_extra(
    (source, target): (&mut Side, &mut Side),
    (databases, map): (&[Db], &dyn Fn(Db) -> Db),
    verified: &mut Verified,
) -> Result<()> {
    let mapped: HashSet<Db> = databases.iter().map(|db| map(*db)).collect();
    let moves = databases.iter().any(|db| map(*db) != *db);
    let mut pairs: Vec<(Option<Db>, Db)> = databases.iter().map(|db| (Some(*db), map(*db))).collect();
    if !moves && databases.len() != 1 {
        pairs.extend(target.databases()?.into_iter().filter(|db| !mapped.contains(db)).map(|db| (None, db)));
    }
    for (of_source, of_target) in pairs {
        walk(target, of_target, &mut |target, keys| {
            let there = target.exist(of_target, keys)?;
            let known = match of_source {
                Some(db) => source.exist(db, keys)?,
                None => vec![false; keys.len()],
            };
            for (key, (is_there, is_known)) in keys.iter().zip(there.into_iter().zip(known)) {
                verified.target_keys += u64::from(is_there);
                if is_there && !is_known {
                    verified.extra_count += 1;
                    if verified.extra.len() < SHOWN_MAX {
                        verified.extra.push(shown(of_target, key));
                    }
                }
            }
            Ok(())
        })?;
    }
    Ok(())
}
