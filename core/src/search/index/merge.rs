//! Segments of deltas and of segments.

use std::sync::Arc;

use super::delta::Delta;
use super::segment::Segment;
use super::write::{Whole, Writer};
use crate::search::bits::Bits;
use crate::search::sorted;

/// So many segments of about a size become one.
const FAN: usize = 6;

/// Segments are of about a size if none has so many times the bytes of another.
const CLASS_FACTOR: usize = 6;

/// A smaller segment counts as one of so many bytes, since it costs a search as much.
const CLASS_LEAST_BYTES: usize = 64 * 1024;

/// The segment of the live documents of a delta.
pub fn freeze(delta: &Arc<Delta>, live: &Bits, index_number: u64) -> Vec<u8> {
    let part: Arc<dyn Whole + Send + Sync> = delta.clone();
    let mut writer = Writer::new(vec![(part, live.clone())], index_number);
    while !writer.step(u32::MAX) {}
    writer.finish()
}

/// One segment of several, in steps.
pub struct Merge {
    writer: Writer,
}

impl Merge {
    /// Begins to merge the live documents of segments.
    pub fn new(inputs: Vec<(Arc<Segment>, Bits)>, index_number: u64) -> Merge {
        let of = |(segment, live): (Arc<Segment>, Bits)| -> (Arc<dyn Whole + Send + Sync>, Bits) {
            (segment, live)
        };
        Merge { writer: Writer::new(inputs.into_iter().map(of).collect(), index_number) }
    }

    /// Writes about so many postings; true once only [`Merge::finish`] is left.
    pub fn step(&mut self, work: u32) -> bool {
        self.writer.step(work)
    }

    /// The bytes of the merged segment.
    pub fn finish(self) -> Vec<u8> {
        self.writer.finish()
    }
}

/// What is known of a segment, to choose what to merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Bytes of it.
    pub bytes: usize,
    /// Documents, those that are gone included.
    pub places: u32,
    /// Documents that live.
    pub live: u32,
}

impl Size {
    /// About how many bytes its live documents take.
    fn live_bytes(self) -> usize {
        (self.bytes as u64 * u64::from(self.live)).checked_div(u64::from(self.places)).unwrap_or(0) as usize
    }

    fn is_mostly_dead(self) -> bool {
        u64::from(self.live) * 10 < u64::from(self.places) * 7
    }
}

/// Which segments to merge next, by their numbers in the order that was given: neighbours of about a size, or one of which much is
/// dead. The result has at most about `max_bytes`.
pub fn plan(sizes: &[Size], max_bytes: usize) -> Option<Vec<usize>> {
    let class = |size: &Size| size.live_bytes().max(CLASS_LEAST_BYTES);
    let mut by_size: Vec<usize> = (0..sizes.len()).collect();
    sorted::by_key(&mut by_size, |at| sizes.get(*at).map_or(0, class) as u64);
    for window in by_size.windows(FAN) {
        let of = |at: &usize| sizes.get(*at).map_or(0, class);
        let (least, greatest) = (window.first().map_or(0, of), window.last().map_or(0, of));
        if greatest < least.saturating_mul(CLASS_FACTOR) && window.iter().map(of).sum::<usize>() <= max_bytes
        {
            let mut chosen = window.to_vec();
            sorted::by_key(&mut chosen, |at| *at as u64);
            return Some(chosen);
        }
    }
    sizes.iter().position(|size| size.is_mostly_dead() && size.live_bytes() <= max_bytes).map(|at| vec![at])
}
