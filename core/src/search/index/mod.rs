//! What is indexed: a delta in memory that takes new documents, and immutable segments of flat bytes.
//!
//! [`prepare()`] computes everything of a document before anything is locked, [`Delta::add`] puts it into memory, [`freeze`] makes a segment
//! of a delta, and [`Merge`] makes one segment of several. Queries read a delta and segments alike, as a [`part::Part`].
//!
//! Nothing here knows which documents are gone: the owner notes that beside each part, as bits by place, and hands them to [`freeze`] and
//! [`Merge::new`], which leave these documents out.

mod bytes;
mod occurrences;
pub mod part;
pub mod document;
pub mod prepare;
pub mod delta;
pub mod segment;
mod write;
pub mod fuzzy;
pub mod merge;

#[cfg(test)]
mod tests;

pub use delta::{Delta, Full};
pub use fuzzy::{Fuzzy, fuzzy};
pub use merge::{Merge, freeze, plan};
pub use prepare::{Prepared, prepare};
pub use segment::{Refused, Segment};
