//! From a key to the payload of DUMP: the plain encodings, and those of [`stream`]s.

use std::ops::ControlFlow;

use super::writer::{check_size, put_count, put_element, put_string};
use super::{CHECKSUM, FOOT_BYTES, VERSION_WRITTEN, json, sqldb, stream, suggestions, types};
use crate::data::list::List;
use crate::data::set::Set;
use crate::data::zset::SortedSet;
use crate::data::{DataError, Result};
use crate::engine::{Db, Direction, EngineError, Kind, Root, SubWalk, Txn, Want};
use crate::limits::VALUE_IN_MEMORY_MAX_BYTES;

/// What stands around the bytes of a string that is too large to be copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Before them.
    pub head: Vec<u8>,
    /// Behind them.
    pub foot: [u8; FOOT_BYTES],
}

/// The payload of a key with this root, which may have so many bytes.
pub fn dump(txn: &mut Txn<'_>, db: Db, key: &[u8], root: &Root, max: u64) -> Result<Vec<u8>> {
    let max = max.min(VALUE_IN_MEMORY_MAX_BYTES);
    let mut out = Vec::new();
    match root.kind {
        Kind::String => {
            if root.value_len > max {
                return Err(DataError::Engine(EngineError::TooLarge(root.value_len)));
            }
            out.push(types::STRING);
            txn.read_value(db, key, (0, u64::MAX), &mut |bytes| put_string(&mut out, bytes))?;
        }
        Kind::List => dump_list(txn, db, key, &mut out, max)?,
        Kind::Set => dump_set(txn, db, key, &mut out, max)?,
        Kind::SortedSet => dump_sorted_set(txn, db, key, &mut out, max)?,
        Kind::Hash => dump_hash(txn, db, key, &mut out, max)?,
        Kind::Stream => stream::dump(txn, db, key, &mut out, max)?,
        Kind::SqlDatabase => sqldb::dump(txn, db, key, &mut out, max)?,
        Kind::Suggestions => suggestions::dump(txn, db, key, &mut out, max)?,
        Kind::Json => json::dump(txn, db, key, &mut out, max)?,
    }
    let mut checksum = CHECKSUM.digest();
    checksum.update(&out);
    out.extend(foot(checksum));
    Ok(out)
}

/// What stands around the bytes of a string that has a blob.
pub fn frame_of_blob(txn: &mut Txn<'_>, db: Db, key: &[u8], root: &Root) -> Result<Frame> {
    let mut head = vec![types::STRING];
    put_count(&mut head, root.value_len);
    let mut checksum = CHECKSUM.digest();
    checksum.update(&head);
    txn.show_value(db, key, (0, root.value_len), &mut |piece| {
        piece.read(&mut |bytes| {
            checksum.update(bytes);
            Ok(())
        })
    })?;
    Ok(Frame { head, foot: foot(checksum) })
}

/// Version and checksum behind what the checksum has seen.
pub(super) fn foot(mut checksum: crc::Digest<'_, u64, crc::Table<16>>) -> [u8; FOOT_BYTES] {
    let mut foot = [0; FOOT_BYTES];
    let (version, sum) = foot.split_at_mut(2);
    version.copy_from_slice(&VERSION_WRITTEN.to_le_bytes());
    checksum.update(version);
    sum.copy_from_slice(&checksum.finalize().to_le_bytes());
    foot
}

fn dump_list(txn: &mut Txn<'_>, db: Db, key: &[u8], out: &mut Vec<u8>, max: u64) -> Result<()> {
    let Some(mut list) = List::open(txn, db, key)? else { return Ok(()) };
    let len = list.len()?;
    out.push(types::LIST);
    put_count(out, len);
    list.range(0, len, &mut |element| put_element((out, max), element))?;
    check_size(out, max)
}

fn dump_set(txn: &mut Txn<'_>, db: Db, key: &[u8], out: &mut Vec<u8>, max: u64) -> Result<()> {
    let Some(mut set) = Set::open(txn, db, key)? else { return Ok(()) };
    out.push(types::SET);
    put_count(out, set.len()?);
    set.members(&mut |member| put_element((out, max), member))?;
    check_size(out, max)
}

fn dump_sorted_set(txn: &mut Txn<'_>, db: Db, key: &[u8], out: &mut Vec<u8>, max: u64) -> Result<()> {
    let set = SortedSet::open(txn, db, key)?;
    let len = set.len(txn)?;
    out.push(types::SORTED_SET);
    put_count(out, len);
    set.scan(txn, 0..len, Direction::Ascending, &mut |member, score| {
        put_element((out, max), member);
        out.extend(score.to_le_bytes());
    })?;
    check_size(out, max)
}

fn dump_hash(txn: &mut Txn<'_>, db: Db, key: &[u8], out: &mut Vec<u8>, max: u64) -> Result<()> {
    out.push(types::HASH);
    put_count(out, txn.sub_len(db, key)?);
    txn.sub_scan(db, key, SubWalk::all(Want::Values), &mut |field, value| {
        put_element((out, max), field);
        put_element((out, max), value);
        ControlFlow::Continue(())
    })?;
    check_size(out, max)
}
