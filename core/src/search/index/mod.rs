//! What is indexed: a delta in memory that takes new documents, and immutable segments of flat bytes.
//!
//! [`prepare()`] computes everything of a document before anything is locked, [`Delta::add`] puts it into memory, [`freeze`] makes a segment
//! of a delta, and [`Merge`] makes one segment of several. Queries read a delta and segments alike, as a [`Part`].
//!
//! Nothing here knows which documents are gone: the owner notes that beside each part, as bits by place, and hands them to [`freeze`] and
//! [`Merge::new`], which leave these documents out.

mod bytes;
mod delta;
mod document;
mod heads;
mod merge;
mod occurrences;
pub mod part;
mod prepare;
mod segment;
mod write;

pub use delta::{Delta, Full};
pub use document::{FieldValue, Source};
pub use merge::{Merge, Size, freeze, plan};
pub(in crate::search) use occurrences::rank_of;
pub use part::{
    BLOCK, Block, DocumentId, Head, List, Part, Position, Postings, Rank, TermVisitor, Totals, View, Walk,
};
pub use prepare::{Prepared, prepare};
pub use segment::{Refused, Segment, index_number};

#[cfg(test)]
mod tests;
