//! In-memory containers that keep many small byte strings in few allocations.
//!
//! They stand at the bottom of the crate and know nothing of records or commands: the keydir and the overlays of
//! transactions are built from them. They promise little memory per entry and no pause that grows with the whole
//! container. They must never interpret the bytes they hold.

pub mod table;
