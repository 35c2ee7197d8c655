//! Which documents match a query, and how well: exact, whatever the parts of the index are.
//!
//! A query is evaluated in three steps. [`plan`] looks up what its words stand for in all parts, and how many live documents have each.
//! [`matches`](mod@matches) then evaluates the plan part by part, a set of places at a time: an intersection begins with its smallest
//! member and shows the others only what is left. [`top`] and [`nearest`] choose among the matches.
//!
//! Documents that are gone count nowhere, neither as matches nor in statistics, so answers and scores are those of an index that is built
//! anew, to the last digit. Work and memory are counted in a [`Meter`], and a query that needs more than it may have ends with a
//! [`Failure`]; nothing is left out of an answer silently.

mod matches;
mod nearest;
mod pattern;
mod places;
mod plan;
mod proximity;
mod run;
mod score;
mod terms;
mod top;
mod wanted;

#[cfg(test)]
pub(crate) mod naive;
#[cfg(test)]
pub(crate) mod tests;

pub use matches::evaluate;
pub use nearest::{Neighbour, distance_of, nearest};
pub use pattern::Matcher;
pub use places::distance_m;
pub use run::{Hits, Matches};
pub use score::{Scorer, hamming};
pub use top::{Hit, Order, in_id_order, top};
pub use wanted::Wanted;

use std::cell::Cell;

use crate::search::index::part::DocumentId;
use crate::search::schema::FieldId;
use crate::search::text::Language;

/// Deepest nesting of a tree: what the parser lets through, and two levels more for what is put around it.
const DEPTH_MAX: usize = crate::search::query::DEPTH_MAX + 2;

/// Why a query has no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It needs more memory than it may have.
    Memory,
    /// It needs more work than it may do.
    Work,
    /// It is nested too deeply.
    Depth,
    /// A vector has another length than its field's.
    Vector,
}

/// Counts what a query takes.
pub struct Meter<'o> {
    /// Postings, terms and places that were looked at.
    pub work: Cell<u64>,
    /// The most of them.
    pub work_max: u64,
    /// Whether the query may take so many more bytes. They are returned when it ends.
    pub may_take: &'o dyn Fn(usize) -> bool,
}

impl Meter<'_> {
    pub(crate) fn work(&self, steps: u64) -> Result<(), Failure> {
        let work = self.work.get().saturating_add(steps);
        self.work.set(work);
        if work > self.work_max { Err(Failure::Work) } else { Ok(()) }
    }

    pub(crate) fn memory(&self, bytes: usize) -> Result<(), Failure> {
        if (self.may_take)(bytes) { Ok(()) } else { Err(Failure::Memory) }
    }
}

/// Shows the words that mean the same as a word; the word itself may be among them.
pub type Synonyms<'o> = &'o dyn Fn(&str, &mut dyn FnMut(&str));

/// How a query is meant.
pub struct Options<'o> {
    /// How matches are scored.
    pub scorer: Scorer,
    /// Whether scores are needed at all. Without them all scores are 0.
    pub needs_scores: bool,
    /// The text fields in which words are looked for (INFIELDS); all if None.
    pub in_fields: Option<&'o [FieldId]>,
    /// The only documents that count (INKEYS); all if None.
    pub in_documents: Option<&'o [DocumentId]>,
    /// SLOP.
    pub slop: Option<i64>,
    /// INORDER.
    pub in_order: bool,
    /// Whether no phrase reaches from one text field into the next. RediSearch counts words through all of them.
    pub are_fields_apart: bool,
    /// VERBATIM: no stems and synonyms.
    pub is_verbatim: bool,
    /// The language of the query's words.
    pub language: Language,
    /// Shows the words that mean the same as a word.
    pub synonyms: Synonyms<'o>,
    /// Counts work and memory.
    pub meter: Meter<'o>,
}
