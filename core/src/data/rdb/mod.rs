//! Values as Redis writes them: the payloads of DUMP and RESTORE, which are those of its RDB files.
//!
//! ```text
//! type      1 byte        what follows, and in which encoding: see [`load`]
//! value     …             counts and strings: see [`reader`]
//! version   2 bytes       of the format, little-endian
//! checksum  8 bytes       CRC-64 (Jones) of everything before it, little-endian
//! ```
//!
//! - [`save`] writes the plain encoding of every type, which all Redis since 4.0 read; the version says 10 (Redis 7.0),
//!   since newer ones add nothing that is written here.
//! - [`load`] reads every encoding of every type up to version 11 (Redis 7.2), with [`packed`], [`listpack`] and [`lzf`] for
//!   what Redis packs and compresses.
//! - [`stream`] has both for streams, whose form is one of its own, [`sqldb`] for SQL databases, which Redis does not have,
//!   [`suggestions`] for those of RediSearch and [`json`] for documents, both a [`module`].
//! - [`store`] makes a key of what was read.
//!
//! A payload is the client's: nothing in it is believed before it was counted. Memory grows with the bytes that are
//! there and with what compressed ones become, which [`RESTORE_UNPACKED_MAX_BYTES`] bounds and for which there must be room.
//!
//! [`RESTORE_UNPACKED_MAX_BYTES`]: crate::limits::RESTORE_UNPACKED_MAX_BYTES

mod json;
mod listpack;
mod load;
mod lzf;
mod module;
mod packed;
mod reader;
mod save;
mod sqldb;
mod store;
mod stream;
mod suggestions;
#[cfg(test)]
mod tests;
mod writer;

use crate::memory_budget::BudgetExceeded;
use crc::{CRC_64_REDIS, Crc, Table};

pub use load::{Value, load};
pub use save::{Frame, dump, frame_of_blob};
pub use store::{Limits, store};
pub use stream::StreamValue;

/// The version that is written.
const VERSION_WRITTEN: u16 = 10;

/// The newest version that is read.
const VERSION_MAX: u16 = 11;

/// Version and checksum.
const FOOT_BYTES: usize = 2 + 8;

static CHECKSUM: Crc<u64, Table<16>> = Crc::<u64, Table<16>>::new(&CRC_64_REDIS);

/// Why a payload is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// It is no value, whatever else it is.
    #[error("Bad data format")]
    BadFormat,
    /// There is no memory for what it is.
    #[error("no memory")]
    BudgetExceeded,
}

use Unreadable::BadFormat;

impl From<BudgetExceeded> for Unreadable {
    fn from(_: BudgetExceeded) -> Unreadable {
        Unreadable::BudgetExceeded
    }
}

type Result<T> = std::result::Result<T, Unreadable>;

/// The type and the value of a payload, if its version is known and its checksum right.
pub fn open(payload: &[u8]) -> Option<&[u8]> {
    let (summed, checksum) = payload.split_last_chunk::<8>()?;
    let (body, version) = summed.split_last_chunk::<2>()?;
    let is_sound = u16::from_le_bytes(*version) <= VERSION_MAX
        && u64::from_le_bytes(*checksum) == CHECKSUM.checksum(summed);
    is_sound.then_some(body)
}

/// The mark of a library of functions in the format.
const FUNCTION: u8 = 0xF5;

/// The payload of FUNCTION DUMP: the sources of all libraries.
pub fn dump_functions(sources: &[&[u8]]) -> Vec<u8> {
    let mut out = Vec::new();
    for source in sources {
        out.push(FUNCTION);
        writer::put_string(&mut out, source);
    }
    let mut checksum = CHECKSUM.digest();
    checksum.update(&out);
    out.extend(save::foot(checksum));
    out
}

/// The sources of libraries in the body of such a payload ([`open`]).
///
/// # Errors
/// It holds something else.
pub fn load_functions(body: &[u8]) -> Result<Vec<Vec<u8>>> {
    let mut reader = reader::Reader::new(body);
    let mut sources = Vec::new();
    while reader.left() > 0 {
        if reader.byte()? != FUNCTION {
            return Err(BadFormat);
        }
        sources.push(reader.string()?.into_owned());
    }
    Ok(sources)
}

/// The types of a value and their encodings, by their numbers in the format.
mod types {
    pub const STRING: u8 = 0;
    pub const LIST: u8 = 1;
    pub const SET: u8 = 2;
    pub const SORTED_SET_TEXT: u8 = 3;
    pub const HASH: u8 = 4;
    pub const SORTED_SET: u8 = 5;
    pub const MODULE: u8 = 7;
    pub const HASH_ZIPMAP: u8 = 9;
    pub const LIST_ZIPLIST: u8 = 10;
    pub const SET_INTSET: u8 = 11;
    pub const SORTED_SET_ZIPLIST: u8 = 12;
    pub const HASH_ZIPLIST: u8 = 13;
    pub const LIST_ZIPLISTS: u8 = 14;
    pub const STREAM: u8 = 15;
    pub const HASH_LISTPACK: u8 = 16;
    pub const SORTED_SET_LISTPACK: u8 = 17;
    pub const LIST_LISTPACKS: u8 = 18;
    pub const STREAM_OF_7_0: u8 = 19;
    pub const SET_LISTPACK: u8 = 20;
    pub const STREAM_OF_7_2: u8 = 21;
}

/// How a length begins: two bits say how it goes on.
mod lengths {
    pub const KIND_MASK: u8 = 0xC0;
    pub const SIX_BITS: u8 = 0x00;
    pub const FOURTEEN_BITS: u8 = 0x40;
    pub const BYTES_4: u8 = 0x80;
    pub const BYTES_8: u8 = 0x81;
    /// No length: a string in a form of its own.
    pub const SPECIAL: u8 = 0xC0;
}

/// Forms of strings.
mod forms {
    pub const INTEGER_8: u8 = 0;
    pub const INTEGER_16: u8 = 1;
    pub const INTEGER_32: u8 = 2;
    pub const COMPRESSED: u8 = 3;
}
