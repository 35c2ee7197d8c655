//! What is known while one part is looked through, and what comes out of it.

use crate::search::bits::Bits;
use crate::search::index::part::View;

use super::score::Judge;
use super::{Failure, Meter};

/// Documents of one part.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Hits {
    /// Their places in rising order.
    pub places: Vec<u32>,
    /// The score of each; empty if scores were not asked for.
    pub scores: Vec<f64>,
}

/// All documents that match a query.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matches {
    /// Those of each view.
    pub views: Vec<Hits>,
    /// How many there are.
    pub total: u64,
}

impl Matches {
    /// The documents of each view.
    pub fn places(&self, views: &[View<'_>]) -> Vec<Bits> {
        views.iter().zip(&self.views).map(|(view, hits)| Bits::of(view.part.places(), &hits.places)).collect()
    }
}

/// What is constant while one view is looked through.
pub(super) struct Run<'r> {
    pub(super) number: usize,
    pub(super) view: View<'r>,
    pub(super) judge: &'r Judge,
    pub(super) meter: &'r Meter<'r>,
    pub(super) has_scores: bool,
    pub(super) are_fields_apart: bool,
}

/// The places of a set that count.
pub(super) fn counted(run: &Run<'_>, mut bits: Bits, within: Option<&[u32]>) -> Result<Vec<u32>, Failure> {
    match within {
        Some(within) => Ok(within.iter().copied().filter(|place| bits.has(*place)).collect()),
        None => {
            bits.keep(run.view.live);
            run.meter.memory(bits.count() as usize * 4)?;
            Ok(bits.to_vec())
        }
    }
}
