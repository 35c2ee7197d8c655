//! The short ways: one string read, or written, under the lock of its shard and without an overlay.
//!
//! They do what a transaction over the same key would do, in the same order: the record goes to the log before the
//! keydir says where it is.

use std::sync::atomic::Ordering;

use super::Bitcask;
use super::commit::{BORROWED_VALUE_BYTES, VALUE_MAX_BYTES};
use super::keydir::{LONG_KEY_BYTES, Name, RootEntry, Shard, shard_of, touch};
use super::record::{Header, RecordType};
use crate::engine::{ACCESS_CLOCK_MASK, Db, EngineError, Kind, Receipt, Result, Sought, Stored};

/// A change that makes one key a string.
pub(super) struct StringPut<'o> {
    pub(super) db: Db,
    pub(super) key: &'o [u8],
    pub(super) encoding: u8,
    pub(super) expires_at_ms: Option<u64>,
    pub(super) value: &'o [u8],
}

impl Bitcask {
    pub(super) fn get_string_directly(
        &self,
        db: Db,
        key: &[u8],
        now_ms: u64,
        accessed_s: Option<u32>,
        show: &mut dyn FnMut(&[u8]),
    ) -> Result<Sought> {
        if key.len() > LONG_KEY_BYTES {
            return Ok(Sought::Unclear);
        }
        let hash = Name::Short(key).hash(self.seed);
        let mut shard = self.shards[shard_of(hash)].lock();
        let Some(&number) = shard.databases.get(db as usize) else { return Ok(Sought::Unclear) };
        let Some(space) = shard.space_mut(number) else { return Ok(Sought::Missing) };
        let Some(bytes) = space.short.get_mut(hash, key) else { return Ok(Sought::Missing) };
        let is_plain = |entry: &RootEntry| {
            entry.kind == Kind::String && entry.expires_at_ms.is_none_or(|at| at > now_ms)
        };
        let Some(entry) = RootEntry::read(bytes).filter(is_plain) else { return Ok(Sought::Unclear) };
        if let Some(accessed_s) = accessed_s {
            touch(bytes, accessed_s);
        }
        let len = entry.prefix_len(number, key.len() as u64) + u64::from(entry.value_len);
        shard.read_record(self, entry.location, len, &mut |record| show(record.value))?;
        Ok(Sought::Found)
    }

    pub(super) fn set_string_directly(
        &self,
        db: Db,
        key: &[u8],
        value: &[u8],
        now_ms: u64,
        scratch: &mut Vec<u8>,
    ) -> Result<Option<Stored>> {
        if key.len() > LONG_KEY_BYTES {
            return Ok(None);
        }
        self.access_clock.store((now_ms / 1000) as u32 & ACCESS_CLOCK_MASK, Ordering::Relaxed);
        let put = StringPut { db, key, encoding: 0, expires_at_ms: None, value };
        let name = Name::Short(key);
        let hash = name.hash(self.seed);
        let mut shard = self.shards[shard_of(hash)].lock();
        let (receipt, before) = shard.put_string(self, &put, &name, hash, scratch, now_ms)?;
        let has_expired = before.and_then(|before| before.expires_at_ms).is_some_and(|at| at <= now_ms);
        Ok(Some(Stored { receipt, has_expired }))
    }
}

impl Shard {
    /// Appends the record of a string and puts it into the keydir; returns what it replaced as well. What the key had
    /// before, subkeys included, is dropped.
    pub(super) fn put_string(
        &mut self,
        store: &Bitcask,
        put: &StringPut<'_>,
        name: &Name<'_>,
        hash: u64,
        scratch: &mut Vec<u8>,
        now_ms: u64,
    ) -> Result<(Receipt, Option<RootEntry>)> {
        let &StringPut { db, key, encoding, expires_at_ms, value } = put;
        let space = *self.databases.get(db as usize).ok_or(EngineError::OutOfScope)?;
        if value.len() as u64 > VALUE_MAX_BYTES {
            return Err(EngineError::Full("a transaction larger than a datafile".into()));
        }
        let mut header = Header::new(RecordType::Root, store.log.next_sequence(), now_ms, space);
        header.kind = Kind::String as u8;
        header.encoding = encoding;
        header.expires_at_ms = expires_at_ms;
        header.write(key, value, scratch);
        let (location, receipt) = if value.len() < BORROWED_VALUE_BYTES {
            scratch.extend_from_slice(value);
            store.log.append(&[scratch], now_ms)?
        } else {
            store.log.append(&[scratch, value], now_ms)?
        };
        if !self.files.contains_key(&location.file) {
            // So that the counters of a datafile begun by this very record are found.
            self.files = store.log.files();
        }
        self.trip(db, key);
        let entry = RootEntry {
            kind: Kind::String,
            encoding,
            accessed_s: store.access_clock.load(Ordering::Relaxed),
            location,
            value_len: value.len() as u32,
            expires_at_ms,
            collection: None,
        };
        let before = self.put_root(space, name, hash, entry);
        if let Some(before) = &before {
            self.bury_root(space, key.len() as u64, before);
            if let Some(dropped) = before.collection {
                store.owners.lock().remove(&dropped);
                self.discard(dropped);
            }
        }
        Ok((receipt, before))
    }
}
