//! JSON documents: a small one is the value of its root, a larger one is cut into pieces, each a subkey.
//!
//! ```text
//! whole    root: encoding 0   value: 01, packed value
//! cut      root: encoding 1   value: 01
//! head     subkey: 00000000                 value: number of the next piece (varint), packed value
//! string   subkey: number, 00               value: packed value
//! array    subkey: number, 01, position     value: packed element
//! object   subkey: number, 00               value: order of the next member (varint)
//!          subkey: number, 01, name         value: order (varint), packed value
//! ```
//!
//! Numbers have 4 bytes, big-endian; packed values are those of [`crate::json::packed`], positions those of lists. A value of up to
//! [`PIECE_BYTES`] stands in the piece of what it is a part of. A larger array or object gets a number, and each of its parts a subkey; so
//! what changes a leaf writes the piece that it stands in, whatever the document's size. An array of numbers is cut
//! only beyond [`NUMBERS_BYTES`]: a vector is mostly read and written as one.
//!
//! The engine counts subkeys, so the length of an array and its element with some index cost O(log n). A document stays cut until it is
//! replaced as a whole.

mod change;
mod read;
#[cfg(test)]
mod tests;

use super::{DataError, Result, root_of_kind};
use crate::engine::{Db, EngineError, Kind, NewRoot, Txn};
use crate::json::format::{self, Format};
use crate::json::node::{Node, Stopped};
use crate::json::packed::{self, Shape};
use crate::packed::varint::read_varint;

/// A value of up to so many bytes stands in one piece with what it is a part of.
const PIECE_BYTES: usize = 512;

/// An array of numbers of up to so many bytes does.
const NUMBERS_BYTES: usize = 32 * 1024;

/// The format version that is written.
const VERSION: u8 = 1;

/// The root's encoding of a document that stands in its root.
const WHOLE: u8 = 0;

/// The root's encoding of one that is cut.
const CUT: u8 = 1;

/// The subkey of the head.
const HEAD: [u8; 4] = [0; 4];

/// The first number of a piece.
const FIRST: u64 = 1;

/// A document inside a transaction.
pub struct Document<'t, 'e> {
    txn: &'t mut Txn<'e>,
    db: Db,
    key: &'t [u8],
    is_cut: bool,
    expires_at_ms: Option<u64>,
    /// The number of the next piece, once it was asked for.
    next: Option<u64>,
    /// Why reading has stopped.
    failed: Option<DataError>,
}

impl<'t, 'e> Document<'t, 'e> {
    /// The document under a key, if the key is there.
    ///
    /// # Errors
    /// The key has another type; or its format is not known.
    pub fn open(txn: &'t mut Txn<'e>, db: Db, key: &'t [u8]) -> Result<Option<Document<'t, 'e>>> {
        let Some(root) = root_of_kind(txn, db, key, Kind::Json)? else { return Ok(None) };
        let document = Document {
            txn,
            db,
            key,
            is_cut: root.encoding == CUT,
            expires_at_ms: root.expires_at_ms,
            next: None,
            failed: None,
        };
        if root.encoding > CUT {
            return Err(document.damage());
        }
        Ok(Some(document))
    }

    /// Makes the key this document, whatever it was before; if that was a document, it keeps its expiry.
    ///
    /// # Errors
    /// The engine's.
    pub fn make(txn: &mut Txn<'_>, db: Db, key: &[u8], value: &[u8]) -> Result<()> {
        let root = txn.root(db, key)?.filter(|root| root.kind == Kind::Json);
        let expires_at_ms = root.and_then(|root| root.expires_at_ms);
        let mut document = Document { txn, db, key, is_cut: false, expires_at_ms, next: None, failed: None };
        document.replace(value)
    }

    /// The whole document.
    ///
    /// # Errors
    /// The engine's; or it is damaged.
    pub fn top(&mut self) -> Result<Node> {
        if self.is_cut {
            let (_, packed) = self.head()?;
            return Ok(Node::new(packed));
        }
        let value = self.txn.value(self.db, self.key)?.unwrap_or_default();
        match value.split_first() {
            Some((&VERSION, packed)) => Ok(Node::new(packed)),
            _ => Err(self.damage()),
        }
    }

    /// The whole document as text without spaces.
    ///
    /// # Errors
    /// The engine's; or it is damaged.
    pub fn text(&mut self) -> Result<Vec<u8>> {
        let (top, mut text) = (self.top()?, Vec::new());
        let written = format::write(&top, Format::default(), self, &mut text);
        written.map_err(|stopped| self.stopped(stopped))?;
        Ok(text)
    }

    /// What has stopped a walk through the document.
    pub fn stopped(&mut self, _: Stopped) -> DataError {
        let failed = self.failed.take();
        failed.unwrap_or_else(|| self.damage())
    }

    /// The number of the next piece, and the packed value of the head.
    fn head(&mut self) -> Result<(u64, Vec<u8>)> {
        let Some(head) = self.txn.sub_value(self.db, self.key, &HEAD)? else { return Err(self.damage()) };
        let mut packed = head.as_slice();
        match read_varint(&mut packed) {
            Some(next) => Ok((next, packed.to_vec())),
            None => Err(self.damage()),
        }
    }

    fn damage(&self) -> DataError {
        let text = "a JSON document whose pieces are not what they should be";
        DataError::Engine(EngineError::Damaged(text.into()).of_key(self.db, self.key))
    }

    fn new_root(&self, encoding: u8) -> NewRoot {
        NewRoot { kind: Kind::Json, encoding, expires_at_ms: self.expires_at_ms }
    }
}

/// Whether a value stands in one piece with what it is a part of.
fn fits(value: &[u8]) -> bool {
    if value.len() <= PIECE_BYTES {
        return true;
    }
    let is_number = |element: &[u8]| matches!(packed::shape(element), Some(Shape::Number(_)));
    match packed::shape(value) {
        Some(Shape::Array(mut elements)) => value.len() <= NUMBERS_BYTES && elements.all(is_number),
        _ => false,
    }
}

/// A subkey of a value with a number: what it is for is its last byte.
fn subkey_of(number: u64, what: u8) -> [u8; 5] {
    let [a, b, c, d] = (number as u32).to_be_bytes();
    [a, b, c, d, what]
}

/// The subkey of a string, or what stands before the parts of an object.
fn header_of(number: u64) -> [u8; 5] {
    subkey_of(number, 0)
}

/// What the subkeys of an array's or object's parts begin with.
fn parts_of(number: u64) -> [u8; 5] {
    subkey_of(number, 1)
}

/// What stands behind the subkeys of its parts.
fn end_of(number: u64) -> [u8; 5] {
    subkey_of(number, 2)
}

/// The subkey of a part.
fn part_of(number: u64, part: &[u8]) -> Vec<u8> {
    [&parts_of(number), part].concat()
}
