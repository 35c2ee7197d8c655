//! What damage took of values that say the same thing twice, made anew from the other half.
//!
//! A salvaged store has lost records. Some types store a fact in two subkeys ([`super::zset`], [`super::stream`]), and commands rely
//! on both. [`mend`] looks at each such value once, after a salvage, and makes the half anew that is missing. It also removes keys
//! of which only the root is left: a collection without elements is no key. What has no second half stays lost.
//!
//! It goes by what is stored and not by what was found damaged, so it may run again, and does nothing to a whole store.

#[cfg(test)]
mod tests;

use super::stream::Stream;
use super::zset::SortedSet;
use super::{DataError, Result, suggestions};
use crate::engine::{CATALOG, Db, Engine, EngineError, Kind, Overlay, Scope, Txn, run_alone};

/// A key that was mended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mended {
    /// Its database.
    pub db: Db,
    /// The key.
    pub key: Vec<u8>,
    /// How many subkeys were made anew or taken away; 0 if the whole key was, because nothing but its root was left.
    pub subkeys: u64,
}

impl std::fmt::Display for Mended {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (db, key) = (self.db, self.key.escape_ascii());
        match self.subkeys {
            0 => {
                write!(out, "mended: database {db} key \"{key}\" is gone, since nothing of its value is left")
            }
            1 => {
                write!(out, "mended: database {db} key \"{key}\": one subkey was made anew from another one")
            }
            many => {
                write!(out, "mended: database {db} key \"{key}\": {many} subkeys were made anew from others")
            }
        }
    }
}

/// Mends the values of a salvaged store, each in a transaction of its own. Keys that expired stay as they are.
///
/// # Errors
/// The engine's. What was mended before stays.
pub fn mend<E: Engine>(engine: &E, databases: u32) -> std::result::Result<Vec<Mended>, EngineError> {
    let mut all = Vec::new();
    for db in used_databases(engine, databases)? {
        let mut cursor = 0;
        loop {
            let mut keys = Vec::new();
            {
                let mut snapshot = engine.begin(Scope::Everything)?;
                let mut overlay = Overlay::new();
                let mut txn = Txn::new(&mut snapshot, &mut overlay, 0);
                cursor = txn.scan_keys(db, cursor, &mut |key, root| {
                    keys.extend((root.kind != Kind::String).then(|| key.to_vec()));
                })?;
            }
            for key in keys {
                all.extend(mend_key(engine, db, &key)?.map(|subkeys| Mended { db, key, subkeys }));
            }
            if cursor == 0 {
                break;
            }
        }
    }
    Ok(all)
}

/// The databases that have keys.
fn used_databases<E: Engine>(engine: &E, databases: u32) -> std::result::Result<Vec<Db>, EngineError> {
    let mut used = Vec::new();
    let mut snapshot = engine.begin(Scope::Everything)?;
    let mut overlay = Overlay::new();
    let mut txn = Txn::new(&mut snapshot, &mut overlay, 0);
    for db in (0..databases).chain([CATALOG]) {
        if txn.key_count(db)? > 0 {
            used.push(db);
        }
    }
    Ok(used)
}

/// Mends one key; None if there was nothing to do.
fn mend_key<E: Engine>(engine: &E, db: Db, key: &[u8]) -> std::result::Result<Option<u64>, EngineError> {
    // No time is before all expiries, so that no key expires here, and the records have no time, since no client said anything.
    run_alone(engine, &[key], 0, &mut |txn| {
        txn.set_touches(false);
        mend_value(txn, db, key).map_err(|error| match error {
            DataError::Engine(error) => error,
            wrong_type => EngineError::Damaged(wrong_type.to_string()),
        })
    })
}

fn mend_value(txn: &mut Txn<'_>, db: Db, key: &[u8]) -> Result<Option<u64>> {
    let mended = match txn.kind(db, key)? {
        Some(Kind::SortedSet) => SortedSet::open(txn, db, key)?.mend(txn)?,
        Some(Kind::Stream) => match Stream::open(txn, db, key)? {
            Some(mut stream) => stream.mend(txn)?,
            None => 0,
        },
        None | Some(Kind::String) => return Ok(None),
        // A small one has no subkeys; of a large one, what is lost is an error for those who read it.
        Some(Kind::Json) => return Ok(None),
        Some(Kind::Suggestions) => suggestions::mend(txn, db, key)?,
        Some(Kind::Hash | Kind::List | Kind::Set | Kind::SqlDatabase) => 0,
    };
    if txn.sub_len(db, key)? == 0 {
        txn.remove(db, key)?;
        return Ok(Some(0));
    }
    Ok((mended > 0).then_some(mended))
}
