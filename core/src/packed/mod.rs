//! In-memory containers that keep many small byte strings in few allocations.
//!
//! They stand at the bottom of the crate and know bytes only, nothing of Redis, records or files: the keydir and the
//! overlays of transactions are built from them. They promise little memory for each entry, memory that follows the
//! contents down again, and no operation that takes long only because the container is large.

pub mod table;
pub mod tree;
pub mod varint;
