//! Segments of deltas and of segments.

use std::sync::Arc;

use super::delta::Delta;
use super::segment::Segment;
use super::write::{Whole, Writer};
use crate::search::bits::Bits;
use crate::sorted;

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

/// Which segments to merge next, by their numbers in the order that was given, and how many bytes of merging that searches have earned it
/// takes: neighbours of about a size, or one of which much is dead, or the smallest as far as searches have earned it. The result has at
/// most about `max_bytes`.
///
/// Fewer segments take less of a search, but to merge them takes work as well. So it is done once searches took about as much longer as
/// it takes: at worst twice of what the best would take that is known afterwards only.
pub fn plan(sizes: &[Size], max_bytes: usize, earned_bytes: u64) -> Option<(Vec<usize>, u64)> {
    let class = |size: &Size| size.live_bytes().max(CLASS_LEAST_BYTES);
    let mut by_size: Vec<usize> = (0..sizes.len()).collect();
    sorted::by_key(&mut by_size, |at| sizes.get(*at).map_or(0, class) as u64);
    let of = |at: &usize| sizes.get(*at).map_or(0, class);
    let in_order = |chosen: &[usize]| {
        let mut chosen = chosen.to_vec();
        sorted::by_key(&mut chosen, |at| *at as u64);
        chosen
    };
    for window in by_size.windows(FAN) {
        let (least, greatest) = (window.first().map_or(0, of), window.last().map_or(0, of));
        if greatest < least.saturating_mul(CLASS_FACTOR) && window.iter().map(of).sum::<usize>() <= max_bytes
        {
            return Some((in_order(window), 0));
        }
    }
    let is_dead = |size: &Size| size.is_mostly_dead() && size.live_bytes() <= max_bytes;
    if let Some(at) = sizes.iter().position(is_dead) {
        return Some((vec![at], 0));
    }
    let (mut count, mut cost) = (0, 0u64);
    for at in &by_size {
        let next = cost + of(at) as u64;
        if next > max_bytes as u64 || next > earned_bytes {
            break;
        }
        (count, cost) = (count + 1, next);
    }
    (count > 1).then(|| (in_order(by_size.get(..count).unwrap_or_default()), cost))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1024 * 1024;

    fn sizes(mib: &[usize]) -> Vec<Size> {
        mib.iter().map(|mib| Size { bytes: mib * MIB, places: 100, live: 100 }).collect()
    }

    #[test]
    fn searches_pay_for_merges_beyond_those_of_writes() {
        let all = sizes(&[20, 1, 3, 1]);
        assert_eq!(plan(&all, 512 * MIB, 0), None);
        assert_eq!(plan(&all, 512 * MIB, 2 * MIB as u64), Some((vec![1, 3], 2 * MIB as u64)));
        assert_eq!(plan(&all, 512 * MIB, 25 * MIB as u64), Some((vec![0, 1, 2, 3], 25 * MIB as u64)));
        // No larger one than may be.
        assert_eq!(plan(&all, 10 * MIB, u64::MAX), Some((vec![1, 2, 3], 5 * MIB as u64)));
        assert_eq!(plan(&sizes(&[5]), 10 * MIB, u64::MAX), None);
        // Six of a size are free.
        assert_eq!(plan(&sizes(&[1, 30, 1, 1, 1, 1, 1]), 512 * MIB, 0), Some((vec![0, 2, 3, 4, 5, 6], 0)));
        assert_eq!(plan(&[Size { bytes: MIB, places: 100, live: 60 }], 512 * MIB, 0), Some((vec![0], 0)));
    }
}
