//! Streams in payloads.
//!
//! ```text
//! nodes     count, and for each: 16 bytes as a string (an id, both numbers big-endian), a string ([`node`])
//! entries   count of those that are there
//! ids       of the last entry ever, of the first one * and of the largest deleted one *: two counts each
//! added     count of entries ever added *
//! groups    count, and for each:
//!             name (a string), id up to which it was delivered (two counts), entries read * (a count; -1: unknown)
//!             count of what is pending, and for each: id (16 bytes), time (8 bytes), deliveries (a count)
//!             count of consumers, and for each:
//!               name (a string), time last seen (8 bytes), time last active ** (8 bytes; -1: never)
//!               count of what it has pending, and for each: id (16 bytes)
//!
//! *  not in type 15   ** only in type 21
//! ```
//!
//! A time is unix time in milliseconds, little-endian. Type 19 is written, which Redis 7.0 and all later ones read.
//!
//! What is read has entries whose ids grow, none beyond the last id, as many as are told; groups and consumers with names
//! of their own; and everything that is pending belongs to one consumer.

mod load;
mod node;
mod save;
mod store;
#[cfg(test)]
pub(super) mod tests;

use super::{BadFormat, Result, types};

pub use load::StreamValue;
pub(super) use load::load;
pub(super) use save::dump;
pub(super) use store::store;
