//! Strings: bytes kept in the root itself or, where they are many, in its blob; and numbers written in them.
//!
//! The root's encoding byte only remembers how the bytes came about, which is all that OBJECT ENCODING needs beyond
//! the bytes themselves; no command behaves differently because of it.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use super::{Result, root_of_kind};
use crate::engine::{Db, Draft, Kind, NewRoot, Piece, Root, Txn, blob_error};
use crate::limits::VALUE_PIECE_BYTES;
use crate::memory_budget::LARGE_BYTES;
use crate::number::parse_i64;
use crate::storage::Blob;

/// Written whole: `int`, `embstr` or `raw`, as the bytes say.
pub const WHOLE: u8 = 0;
/// Grown or changed in place (APPEND, SETRANGE, SETBIT): `raw`, whatever the bytes say.
pub const GROWN: u8 = 1;
/// The result of a sum of floating-point numbers: `embstr` or `raw`, never `int`.
pub const FLOAT: u8 = 2;

/// Longest string that Redis keeps beside its header (`OBJ_ENCODING_EMBSTR_SIZE_LIMIT`), in bytes.
const EMBEDDED_MAX_BYTES: u64 = 44;

/// Longest decimal form of a 64-bit integer, in bytes.
const INTEGER_MAX_BYTES: u64 = 20;

/// What a key is to hold.
#[derive(Debug)]
pub enum NewValue<'v> {
    /// These bytes.
    Bytes(&'v [u8]),
    /// What was written already.
    Draft(Arc<Draft>),
}

impl NewValue<'_> {
    /// Length in bytes.
    pub fn byte_count(&self) -> u64 {
        match self {
            NewValue::Bytes(bytes) => bytes.len() as u64,
            NewValue::Draft(draft) => draft.byte_count(),
        }
    }
}

impl<'v> From<&'v [u8]> for NewValue<'v> {
    fn from(bytes: &'v [u8]) -> NewValue<'v> {
        NewValue::Bytes(bytes)
    }
}

/// The root of a string, if the key is there.
pub fn root(txn: &mut Txn<'_>, db: Db, key: &[u8]) -> Result<Option<Root>> {
    root_of_kind(txn, db, key, Kind::String)
}

/// Makes the key this string, whatever it was before. A time to live that is over already removes it instead.
pub fn set<'v>(
    txn: &mut Txn<'_>,
    db: Db,
    key: &[u8],
    value: impl Into<NewValue<'v>>,
    expires_at_ms: Option<u64>,
) -> Result<()> {
    put(txn, db, key, value, WHOLE, expires_at_ms)
}

/// As [`set`], and notes how the bytes came about.
pub fn put<'v>(
    txn: &mut Txn<'_>,
    db: Db,
    key: &[u8],
    value: impl Into<NewValue<'v>>,
    encoding: u8,
    expires_at_ms: Option<u64>,
) -> Result<()> {
    if expires_at_ms.is_some_and(|at| at <= txn.now_ms()) {
        txn.remove(db, key)?;
        return Ok(());
    }
    let root = NewRoot { kind: Kind::String, encoding, expires_at_ms };
    match value.into() {
        NewValue::Bytes(bytes) => txn.put(db, key, root, bytes)?,
        NewValue::Draft(draft) => txn.put_draft(db, key, root, draft)?,
    }
    Ok(())
}

/// Adds a value to the end of a string that is there; returns its new length.
pub fn append(txn: &mut Txn<'_>, db: Db, key: &[u8], root: &Root, more: &NewValue<'_>) -> Result<u64> {
    let len = root.value_len + more.byte_count();
    if root.blob.is_none() && len < txn.blob_min() {
        // As it was, as it will be, and among what the transaction changes.
        txn.budget().ask(2, len)?;
        let mut value = txn.value(db, key)?.unwrap_or_default();
        if let NewValue::Bytes(bytes) = more {
            if len >= LARGE_BYTES {
                value.reserve_exact(bytes.len());
            }
            value.extend_from_slice(bytes);
        }
        put(txn, db, key, value.as_slice(), GROWN, root.expires_at_ms)?;
        return Ok(len);
    }
    become_blob(txn, db, key, root)?;
    match more {
        NewValue::Bytes(bytes) => txn.write_to_blob(db, key, GROWN, root.value_len, bytes)?,
        NewValue::Draft(draft) => txn.append_draft(db, key, GROWN, draft)?,
    };
    Ok(len)
}

/// Writes bytes, of which there is one at least, at an offset of a string, zeros filling what lies behind its end; a
/// missing key counts as empty. Returns the new length. Costs what is written once the string has a blob.
pub fn overwrite(
    txn: &mut Txn<'_>,
    db: Db,
    key: &[u8],
    root: Option<&Root>,
    offset: u64,
    bytes: &[u8],
) -> Result<u64> {
    let (before, expires_at_ms) = root.map_or((0, None), |root| (root.value_len, root.expires_at_ms));
    let len = before.max(offset + bytes.len() as u64);
    if root.is_some_and(|root| root.blob.is_some()) || len >= txn.blob_min() {
        match root {
            Some(root) => become_blob(txn, db, key, root)?,
            None => {
                let draft = txn.draft()?;
                put(txn, db, key, NewValue::Draft(draft.into()), GROWN, None)?;
            }
        }
        return Ok(txn.write_to_blob(db, key, GROWN, offset, bytes)?);
    }
    // Both fit into memory: the length is below that of a blob.
    let (start, end) = (offset as usize, offset as usize + bytes.len());
    let mut value = txn.value(db, key)?.unwrap_or_default();
    if value.len() < end {
        txn.budget().ask(2, len)?;
        if len >= LARGE_BYTES {
            value.reserve_exact(end - value.len());
        }
        value.resize(end, 0);
    }
    if let Some(place) = value.get_mut(start..end) {
        place.copy_from_slice(bytes);
    }
    put(txn, db, key, value.as_slice(), GROWN, expires_at_ms)?;
    Ok(len)
}

/// Whether Redis keeps the string in a form that it gives up when a bit is written, even one that was so before.
pub fn is_compact(root: &Root) -> bool {
    root.encoding != GROWN && root.value_len <= EMBEDDED_MAX_BYTES
}

/// Moves a string that is about to become too long for the log to a blob.
fn become_blob(txn: &mut Txn<'_>, db: Db, key: &[u8], root: &Root) -> Result<()> {
    if root.blob.is_some() {
        return Ok(());
    }
    let draft = txn.draft_of(db, key)?;
    put(txn, db, key, NewValue::Draft(draft.into()), GROWN, root.expires_at_ms)
}

/// Shows a part of a string, wherever its bytes are, in pieces as they come.
pub fn read(
    txn: &mut Txn<'_>,
    db: Db,
    key: &[u8],
    range: Range<u64>,
    visit: &mut dyn FnMut(&[u8]),
) -> Result<()> {
    let part = (range.start, range.end.saturating_sub(range.start));
    txn.show_value(db, key, part, &mut |piece| {
        piece.read(&mut |bytes| {
            visit(bytes);
            Ok(())
        })
    })?;
    Ok(())
}

/// Puts a part of a string into a buffer, which is emptied first; fewer bytes than asked for where the string ends.
pub fn read_into(
    txn: &mut Txn<'_>,
    db: Db,
    key: &[u8],
    range: Range<u64>,
    buffer: &mut Vec<u8>,
) -> Result<()> {
    buffer.clear();
    // As it is read, and as it is given.
    txn.budget().ask(2, range.end.saturating_sub(range.start))?;
    read(txn, db, key, range, &mut |bytes| buffer.extend_from_slice(bytes))
}

/// Shows a part of a string, which must be there, in pieces that fit into memory, each with its offset, until told to
/// stop. A visitor may change the bytes it is shown; the string stays what it is.
pub fn walk(
    txn: &mut Txn<'_>,
    db: Db,
    key: &[u8],
    range: Range<u64>,
    visit: &mut dyn FnMut(u64, &mut [u8]) -> ControlFlow<()>,
) -> Result<()> {
    let (mut at, mut piece) = (range.start, Vec::new());
    while at < range.end {
        read_into(txn, db, key, at..range.end.min(at + VALUE_PIECE_BYTES), &mut piece)?;
        if piece.is_empty() || visit(at, &mut piece).is_break() {
            break;
        }
        at += piece.len() as u64;
    }
    Ok(())
}

/// A part of a string as a transaction saw it, to be read when the transaction has ended: what is stored stays what it is for
/// as long as it is held.
pub struct Held {
    /// Each with its offset in the string.
    pieces: Vec<(u64, HeldPiece)>,
}

enum HeldPiece {
    Bytes(Vec<u8>),
    Stored { source: Arc<dyn Blob>, len: u64 },
}

/// Holds a part of a string, which must be there and have a blob: then this costs next to nothing.
pub fn hold(txn: &mut Txn<'_>, db: Db, key: &[u8], range: Range<u64>) -> Result<Held> {
    let (mut pieces, mut at) = (Vec::new(), range.start);
    let part = (range.start, range.end.saturating_sub(range.start));
    txn.show_value(db, key, part, &mut |piece| {
        let (len, piece) = match piece {
            Piece::Bytes(bytes) => (bytes.len() as u64, HeldPiece::Bytes(bytes.to_vec())),
            // A value and its blob begin at the same byte.
            Piece::Stored { source, len, .. } => (len, HeldPiece::Stored { source, len }),
        };
        pieces.push((at, piece));
        at += len;
        Ok(())
    })?;
    Ok(Held { pieces })
}

impl Held {
    /// Shows the bytes in order, each piece with its offset in the string, until told to stop.
    pub fn walk(&self, visit: &mut dyn FnMut(u64, &[u8]) -> ControlFlow<()>) -> Result<()> {
        for (start, piece) in &self.pieces {
            let (source, len) = match piece {
                HeldPiece::Bytes(bytes) if visit(*start, bytes).is_break() => return Ok(()),
                HeldPiece::Bytes(_) => continue,
                HeldPiece::Stored { source, len } => (source, *len),
            };
            let (mut at, mut flow) = (*start, ControlFlow::Continue(()));
            while at < start + len && flow.is_continue() {
                let count = VALUE_PIECE_BYTES.min(start + len - at);
                let mut shown = at;
                let read = source.read(at, count, &mut |bytes| {
                    if flow.is_continue() {
                        flow = visit(shown, bytes);
                        shown += bytes.len() as u64;
                    }
                });
                read.map_err(blob_error)?;
                at += count;
            }
            if flow.is_break() {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// The integer that a string holds; None if it is none. A missing key counts as 0.
pub fn integer(txn: &mut Txn<'_>, db: Db, key: &[u8], root: Option<&Root>) -> Result<Option<i64>> {
    let Some(root) = root else { return Ok(Some(0)) };
    if root.value_len > INTEGER_MAX_BYTES {
        return Ok(None);
    }
    let mut number = None;
    txn.read_value(db, key, (0, INTEGER_MAX_BYTES), &mut |bytes| number = parse_i64(bytes))?;
    Ok(number)
}

/// The name OBJECT ENCODING gives to a string with this root. Reads the bytes only where they are few.
pub fn encoding_name(txn: &mut Txn<'_>, db: Db, key: &[u8], root: &Root) -> Result<&'static str> {
    if root.encoding == GROWN || root.value_len > EMBEDDED_MAX_BYTES {
        return Ok("raw");
    }
    if root.encoding == WHOLE && integer(txn, db, key, Some(root))?.is_some() {
        return Ok("int");
    }
    Ok("embstr")
}
