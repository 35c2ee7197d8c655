//! The short ways: one string read, or written, under the lock of its shard and without an overlay.
//!
//! They do what a transaction over the same key would do, in the same order: the record goes to the log before the
//! keydir says where it is.

use super::Bitcask;
use super::blobs::BlobChanges;
use super::frame::{BORROWED_VALUE_BYTES, VALUE_MAX_BYTES};
use super::keydir::{Name, RootEntry, Shard, shard_of};
use super::log::too_large;
use super::record::{Header, RecordType};
use crate::engine::{
    Db, EngineError, Kind, Ordered, Piece, Receipt, Result, ShortValue, Sought, Stored, Touch,
};
use crate::limits::STORED_REPLY_MIN_BYTES;
use crate::storage::Room;

/// A change that makes one key a string.
pub(super) struct StringPut<'o> {
    pub(super) db: Db,
    pub(super) key: &'o [u8],
    pub(super) encoding: u8,
    pub(super) expires_at_ms: Option<u64>,
    pub(super) value: &'o [u8],
    /// The bits of use of the key.
    pub(super) access: u32,
}

impl Bitcask {
    /// The body of [`Engine::get_string`](crate::engine::Engine::get_string).
    pub(super) fn read_string(
        &self,
        (db, key): (Db, &[u8]),
        now_ms: u64,
        touch: Option<Touch>,
        show: &mut dyn FnMut(Piece<'_>),
    ) -> Result<Sought> {
        let name = Name::of(self.seed, key);
        let hash = name.hash(self.seed);
        // Only a transaction can wait for a lock that is held for long.
        let Some(mut shard) = self.lock_soon(shard_of(hash)) else { return Ok(Sought::Unclear) };
        let found = shard.look_up(self, db, key, &name, hash, touch)?;
        let Some((entry, prefix_len)) = found else { return Ok(Sought::Missing) };
        if entry.kind != Kind::String || entry.is_expired(now_ms) || entry.blob.is_some() {
            return Ok(Sought::Unclear);
        }
        if let Some(short) = &entry.short {
            show(Piece::Bytes(short.as_bytes()));
            return Ok(Sought::Found);
        }
        let lens = (prefix_len, u64::from(entry.value_len));
        if u64::from(entry.value_len) < STORED_REPLY_MIN_BYTES {
            let read = shard.read_record(self, entry.location, lens, &mut |value| show(Piece::Bytes(value)));
            read.map_err(|error| error.of_key(db, key))?;
            return Ok(Sought::Found);
        }
        // The record is checked here, and its value shown where it is: a copy costs more than the check.
        let read = shard.read_record(self, entry.location, lens, &mut |_| {});
        read.map_err(|error| error.of_key(db, key))?;
        let source = shard.file(self, entry.location.file)?;
        let offset = u64::from(entry.location.offset) + prefix_len;
        show(Piece::Stored { source, offset, len: u64::from(entry.value_len) });
        Ok(Sought::Found)
    }

    /// The body of [`Engine::set_string`](crate::engine::Engine::set_string).
    pub(super) fn write_string(
        &self,
        put: &StringPut<'_>,
        (touch, now_ms): (Touch, u64),
        scratch: &mut Vec<u8>,
    ) -> Result<Option<Stored>> {
        let name = Name::of(self.seed, put.key);
        let hash = name.hash(self.seed);
        let Some(mut shard) = self.lock_soon(shard_of(hash)) else { return Ok(None) };
        let before = touch.depends_on_the_past().then(|| shard.root(shard.space_of(put.db)?, &name, hash));
        let access = before.flatten().map_or(touch.fresh(), |before| touch.used(before.access));
        let put = &StringPut { access, ..*put };
        let (receipt, before) = shard.put_string(self, put, &name, hash, (scratch, now_ms, &mut |_| {}))?;
        Ok(Some(Stored { receipt, has_expired: before.is_some_and(|before| before.is_expired(now_ms)) }))
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
        (scratch, now_ms, ordered): (&mut Vec<u8>, u64, Ordered<'_>),
    ) -> Result<(Receipt, Option<RootEntry>)> {
        let &StringPut { db, key, encoding, expires_at_ms, value, access } = put;
        let Some(space) = self.space_of(db) else { return Err(EngineError::NoSuchDatabase(db)) };
        if value.len() as u64 > VALUE_MAX_BYTES {
            return Err(too_large());
        }
        let mut header = Header::new(RecordType::Root, store.log.next_sequence(), now_ms, space);
        header.kind = Kind::String as u8;
        header.encoding = encoding;
        header.expires_at_ms = expires_at_ms;
        header.write(key, value, store.log.salt, scratch);
        let (location, receipt) = if value.len() < BORROWED_VALUE_BYTES {
            scratch.extend_from_slice(value);
            store.log.append(&[scratch], &[], (now_ms, Room::Ordinary), ordered)?
        } else {
            store.log.append(&[scratch, value], &[], (now_ms, Room::Ordinary), ordered)?
        };
        // So that the counters of a datafile begun by this very record are found.
        self.notice(store, location.file);
        store.watches.trip(shard_of(hash), db, key);
        let entry = RootEntry {
            kind: Kind::String,
            encoding,
            access,
            location,
            value_len: value.len() as u32,
            expires_at_ms,
            collection: None,
            blob: None,
            short: ShortValue::of(value),
        };
        let before = self.put_root(space, name, hash, entry);
        if let Some(before) = &before {
            self.bury_root(space, key.len() as u64, before);
            if let Some(blob) = before.blob {
                let mut blobs = BlobChanges::default();
                blobs.release(blob.id);
                store.blobs.apply(&blobs, receipt.position());
            }
            if let Some(dropped) = before.collection {
                store.owners.lock().remove(&dropped);
                self.discard(dropped);
            }
        }
        store.held.count(self);
        Ok((receipt, before))
    }
}
