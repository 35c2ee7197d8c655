//! Containers in memory that keep many small byte strings in few allocations.
//!
//! They stand at the bottom of the crate: they know bytes and nothing of Redis, records or files. The keydir and the
//! overlays of transactions are built from them, so what they promise is little memory for each entry, memory that
//! follows the contents down again, and no operation that takes long only because the container is large.

pub mod tree;
