//! Makes a segment of parts, in steps that can be paced.
//!
//! Only what [`input::Input`] says of live documents goes in, in the order of their ids and of terms, so the same documents make the same
//! bytes, whether they come from a delta or from segments. Two things alone tell: a tag that is written in several ways stands as the first
//! live document's part had it, and a word is found by its stem in each language in which any document of its part had it.

mod building;
mod columns;
pub(super) mod input;
mod lists;
mod terms;

pub(super) use building::Building;
