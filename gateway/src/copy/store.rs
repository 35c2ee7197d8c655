//! A store that this process opens itself: a directory, or one in a cluster.

use std::path::Path;
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

use edgecask_core::bitcask::{OnDamage, Options};
use edgecask_core::data::digest;
use edgecask_core::engine::{Admin, Db, Draft, Engine, EngineError, look_alone, write_alone};

use super::item::{self, Form, Huge, Item, PART_BYTES, Pair, Taken};
use super::side::{KeyDigest, ReadPart};
use super::{CopyError, Result};
use crate::backup::refuse_without_store;
use crate::clock::now_ms;
use crate::options::cluster::ClusterOptions;
use crate::server::open_cluster;
use crate::storage::directory;
use crate::storage::lock::DirectoryLock;
use crate::store::{self, Durable, Store};
use crate::upkeep::DATABASES;

/// One step of a walk returns about so many keys.
const KEYS_A_STEP: usize = 256;

/// Threads that talk to a cluster.
const CLUSTER_THREADS: usize = 2;

/// An open store.
pub(super) struct Opened {
    store: Store,
    databases: u32,
    /// Held as long as the store is open.
    _lock: Option<DirectoryLock>,
}

/// A request to a cluster that does not answer, or does not say what has happened, is repeated so often: to put a key once more does no harm.
const TRIES: u32 = 10;

/// How long to wait between two tries.
const RETRY_PERIOD: Duration = Duration::from_secs(1);

/// Wakes a thread that waits for a blob to take more.
struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Fails if a store in a cluster has more databases than were named.
#[cfg(feature = "tikv")]
fn refuse_databases_beyond(store: &Store, databases: u32) -> Result<()> {
    match store.cluster().map(|cluster| cluster.database_beyond(databases)).transpose()?.flatten() {
        None => Ok(()),
        Some(db) => Err(CopyError::Other(format!(
            "the store in the cluster has keys in database {db}: say with --databases how many there are, or they would be left out"
        ))),
    }
}

/// Without the feature no store is in a cluster.
#[cfg(not(feature = "tikv"))]
fn refuse_databases_beyond(_: &Store, _: u32) -> Result<()> {
    Ok(())
}

impl Opened {
    /// The store in a directory that no server uses. It is made if it is missing and to be written.
    pub(super) fn directory(path: &Path, only_reads: bool) -> Result<Opened> {
        if only_reads {
            refuse_without_store(path)?;
        } else {
            directory::make(path)?;
        }
        let lock = DirectoryLock::take(path).map_err(|error| {
            CopyError::Other(format!(
                "{error}; a store that is being served is copied by its server: redis://host:port"
            ))
        })?;
        let options = Options { databases: DATABASES, on_damage: OnDamage::Refuse, ..Options::default() };
        let store = Store::empty(DATABASES)?;
        store.set(store::load(path, &options, &Arc::default())?);
        Ok(Opened { store, databases: DATABASES, _lock: Some(lock) })
    }

    /// A store in a cluster.
    pub(super) fn cluster(cluster: &ClusterOptions, databases: u32) -> Result<Opened> {
        let (store, _) = open_cluster(cluster, databases, CLUSTER_THREADS)
            .map_err(|error| CopyError::Other(error.to_string()))?;
        refuse_databases_beyond(&store, databases)?;
        Ok(Opened { store, databases, _lock: None })
    }

    pub(super) fn databases(&self) -> Result<Vec<Db>> {
        if self.store.is_elsewhere() {
            return Ok((0..self.databases).collect());
        }
        Ok(look_alone(&self.store, (0, &[]), now_ms(), &mut |txn| {
            let mut found = Vec::new();
            for db in 0..self.databases {
                if txn.key_count(db)? > 0 {
                    found.push(db);
                }
            }
            Ok(found)
        })?)
    }

    pub(super) fn has_keys(&self) -> Result<bool> {
        for db in self.databases()? {
            let (mut cursor, mut keys) = (0, Vec::new());
            while keys.is_empty() {
                (cursor, keys) = self.scan(db, cursor)?;
                if cursor == 0 {
                    break;
                }
            }
            if !keys.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    pub(super) fn scan(&self, db: Db, cursor: u64) -> Result<(u64, Vec<Vec<u8>>)> {
        let step = || {
            look_alone(&self.store, (db, &[]), now_ms(), &mut |txn| {
                let (mut keys, mut next) = (Vec::new(), cursor);
                loop {
                    next = txn.scan_keys(db, next, &mut |key, _| keys.push(key.to_vec()))?;
                    if next == 0 || keys.len() >= KEYS_A_STEP {
                        return Ok((next, std::mem::take(&mut keys)));
                    }
                }
            })
        };
        Ok(patiently(step)?)
    }

    pub(super) fn take(&self, db: Db, keys: &[&[u8]], form: Form) -> Result<Vec<Taken>> {
        item::take(&self.store, db, keys, form)
    }

    pub(super) fn take_more(&self, db: Db, key: &[u8], after: &[u8]) -> Result<(Vec<Pair>, bool)> {
        item::take_more(&self.store, db, key, after)
    }

    pub(super) fn read(&self, db: Db, key: &[u8], offset: u64, len: u64) -> Result<Vec<u8>> {
        Ok(look_alone(&self.store, (db, &[key]), now_ms(), &mut |txn| {
            let mut bytes = Vec::new();
            txn.show_value(db, key, (offset, len), &mut |piece| {
                piece.read(&mut |shown| {
                    bytes.extend_from_slice(shown);
                    Ok(())
                })
            })?;
            Ok(bytes)
        })?)
    }

    /// All together; if one is refused, each by itself.
    pub(super) fn put(&self, db: Db, keys: &[Taken]) -> Result<Vec<(Vec<u8>, String)>> {
        let items: Vec<&Item> = keys
            .iter()
            .filter_map(|taken| match taken {
                Taken::Item(item) => Some(item),
                _ => None,
            })
            .collect();
        match self.put_items(db, &items) {
            Err(EngineError::Refused(_) | EngineError::TooLarge(_)) => {}
            outcome => return Ok(outcome.map(|()| Vec::new())?),
        }
        let mut refused = Vec::new();
        for item in items {
            match self.put_items(db, &[item]) {
                Ok(()) => {}
                Err(error @ (EngineError::Refused(_) | EngineError::TooLarge(_))) => {
                    refused.push((item.key.clone(), error.to_string()));
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(refused)
    }

    fn put_items(&self, db: Db, items: &[&Item]) -> std::result::Result<(), EngineError> {
        let keys: Vec<&[u8]> = items.iter().map(|item| item.key.as_slice()).collect();
        patiently(|| {
            write_alone(&self.store, (db, &keys), now_ms(), &mut |txn| {
                for item in items {
                    txn.put(db, &item.key, item.root, &item.value)?;
                    for (subkey, value) in &item.pairs {
                        txn.sub_put(db, &item.key, subkey, value)?;
                    }
                }
                Ok(())
            })
        })
    }

    pub(super) fn put_more(&self, db: Db, key: &[u8], pairs: &[Pair]) -> Result<()> {
        let subkeys: Vec<&[u8]> = pairs.iter().map(|(subkey, _)| subkey.as_slice()).collect();
        Ok(patiently(|| {
            write_alone(&self.store, (db, &[key]), now_ms(), &mut |txn| {
                if txn.root(db, key)?.is_none() {
                    return Ok(());
                }
                txn.announce_subs(db, key, &subkeys, true)?;
                for (subkey, value) in pairs {
                    txn.sub_put(db, key, subkey, value)?;
                }
                Ok(())
            })
        })?)
    }

    pub(super) fn put_huge(&self, db: Db, string: &Huge, read: ReadPart<'_>) -> Result<Option<String>> {
        let mut draft = self.store.draft()?;
        let mut offset = 0;
        while offset < string.len {
            let part = read(offset, PART_BYTES as u64)?;
            if part.is_empty() {
                return Ok(Some("it became shorter while it was read".into()));
            }
            offset += part.len() as u64;
            wait_for_room(&draft);
            draft.append(&part)?;
        }
        let draft = Arc::new(draft);
        let put = write_alone(&self.store, (db, &[string.key.as_slice()]), now_ms(), &mut |txn| {
            txn.put_draft(db, &string.key, string.root, draft.clone())
        });
        match put {
            Err(error @ (EngineError::Refused(_) | EngineError::TooLarge(_))) => Ok(Some(error.to_string())),
            outcome => Ok(outcome.map(|()| None)?),
        }
    }

    pub(super) fn digests(&self, db: Db, keys: &[&[u8]]) -> Result<Vec<KeyDigest>> {
        digests(&self.store, db, keys)
    }

    pub(super) fn exist(&self, db: Db, keys: &[&[u8]]) -> Result<Vec<bool>> {
        Ok(look_alone(&self.store, (db, keys), now_ms(), &mut |txn| {
            of_each(keys, |key| Ok(txn.root(db, key)?.is_some()))
        })?)
    }

    pub(super) fn sync(&self) -> Result<()> {
        if !self.store.is_elsewhere() {
            Durable::sync(&self.store)?;
        }
        Ok(())
    }

    /// With hints, so that the first start is quick.
    pub(super) fn finish(&self) -> Result<()> {
        if !self.store.is_elsewhere() {
            Admin::checkpoint(&self.store, now_ms())?;
        }
        Ok(())
    }
}

/// Runs something that may be repeated until the cluster answers.
fn patiently<T>(
    mut run: impl FnMut() -> std::result::Result<T, EngineError>,
) -> std::result::Result<T, EngineError> {
    for _ in 1..TRIES {
        match run() {
            Err(EngineError::Unavailable(_) | EngineError::Unknown(_)) => std::thread::sleep(RETRY_PERIOD),
            outcome => return outcome,
        }
    }
    run()
}

/// Keeps the thread until a blob takes more.
fn wait_for_room(draft: &Draft) {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    while !draft.takes_more(&waker) {
        std::thread::park();
    }
}

/// The fingerprints of keys in an engine.
pub(super) fn digests<E: Engine>(engine: &E, db: Db, keys: &[&[u8]]) -> Result<Vec<KeyDigest>> {
    Ok(patiently(|| {
        look_alone(engine, (db, keys), now_ms(), &mut |txn| {
            of_each(keys, |key| match digest::of_key(txn, db, key).map_err(item::engine_error) {
                Err(EngineError::Damaged(why)) => Ok(Err(why)),
                digest => Ok(Ok(digest?)),
            })
        })
    })?)
}

/// What a look finds of each key. What is missing for several of them is fetched together.
fn of_each<T>(
    keys: &[&[u8]],
    mut look: impl FnMut(&[u8]) -> std::result::Result<T, EngineError>,
) -> std::result::Result<Vec<T>, EngineError> {
    let (mut all, mut is_missing) = (Vec::new(), false);
    for key in keys {
        match look(key) {
            Err(EngineError::NotHere) => is_missing = true,
            found => all.push(found?),
        }
    }
    if is_missing { Err(EngineError::NotHere) } else { Ok(all) }
}
