//! Makes segments: one of a delta, or one of several, and says which to merge.

use std::sync::Arc;

use crate::search::bits::Bits;

use super::delta::Delta;
use super::segment::Segment;
use super::write::Building;
use super::write::input::Input;

/// What a merge has made.
#[derive(Debug)]
pub struct Merged {
    /// The bytes of the segment.
    pub bytes: Vec<u8>,
    /// By input and place there: the place in the segment, or [`u32::MAX`] if the document was not live. What died while the merge ran is
    /// found with it.
    pub places: Vec<Vec<u32>>,
}

/// Makes a segment of the live documents of a delta. None if it would be longer than a segment can be.
pub fn freeze(delta: &Delta, live: &Bits, index_number: u64) -> Option<Merged> {
    let inputs: [&dyn Input; 1] = [delta];
    let mut building = Building::new(&inputs, &[live], index_number);
    while !building.step(&inputs, u32::MAX) {}
    building.finish().map(|(bytes, places)| Merged { bytes, places })
}

/// Makes one segment of several, step by step.
pub struct Merge {
    inputs: Vec<Arc<Segment>>,
    building: Building,
}

impl Merge {
    /// Starts a merge of the live documents of some segments. Documents that die from now on are in the result, too.
    pub fn new(inputs: Vec<(Arc<Segment>, Bits)>, index_number: u64) -> Merge {
        let (inputs, live): (Vec<Arc<Segment>>, Vec<Bits>) = inputs.into_iter().unzip();
        let building = Building::new(&views(&inputs), &live.iter().collect::<Vec<_>>(), index_number);
        Merge { inputs, building }
    }

    /// Goes on by about `work` postings, or at least by one column of all documents; true if the segment is complete.
    pub fn step(&mut self, work: u32) -> bool {
        self.building.step(&views(&self.inputs), work)
    }

    /// By input and place: the place in the result, as in [`Merged::places`].
    pub fn places(&self) -> &[Vec<u32>] {
        self.building.map()
    }

    /// What has been made. None if it is not complete, or would be longer than a segment can be.
    pub fn finish(self) -> Option<Merged> {
        self.building.finish().map(|(bytes, places)| Merged { bytes, places })
    }
}

fn views(inputs: &[Arc<Segment>]) -> Vec<&dyn Input> {
    inputs.iter().map(|input| input.as_ref() as &dyn Input).collect()
}

/// What a plan needs to know of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Its bytes.
    pub bytes: usize,
    /// Its places.
    pub places: u32,
    /// Those whose documents are live.
    pub live: u32,
}

impl Size {
    /// About how many bytes its live documents take.
    fn live_bytes(&self) -> usize {
        (self.bytes as u64 * u64::from(self.live) / u64::from(self.places.max(1))) as usize
    }

    fn is_mostly_alive(&self) -> bool {
        u64::from(self.places - self.live.min(self.places)) * 100 <= u64::from(self.places) * DEAD_MAX_PERCENT
    }

    /// The class of its size: each is `FAN` times as large as the one before.
    fn class(&self) -> u32 {
        (self.live_bytes() / CLASS_FIRST_BYTES + 1).ilog(FAN)
    }
}

/// So many segments of a class are merged to one of the next. Every document is written again once a class then, and a query reads at
/// most five segments a class.
const FAN: usize = 6;

/// Segments below this are one class.
const CLASS_FIRST_BYTES: usize = 128 * 1024;

/// A segment with more dead documents than this is written again, alone if need be.
const DEAD_MAX_PERCENT: u64 = 30;

/// Which segments to merge now, by their places in `sizes`; None if none. The result has about `max_bytes` at most.
pub fn plan(sizes: &[Size], max_bytes: usize) -> Option<Vec<usize>> {
    if let Some(dying) = sizes.iter().position(|size| !size.is_mostly_alive()) {
        return Some(vec![dying]);
    }
    let classes = sizes.iter().map(Size::class).max()?;
    for class in 0..=classes {
        let mut members: Vec<usize> = Vec::new();
        let mut bytes = 0usize;
        let of_class = sizes.iter().zip(0u64..).filter(|(size, _)| size.class() == class);
        let mut of_class: Vec<u64> =
            of_class.map(|(size, at)| (size.live_bytes() as u64) << 32 | at).collect();
        of_class.sort_unstable();
        let is_crowded = of_class.len() >= FAN;
        for entry in of_class {
            bytes = bytes.saturating_add((entry >> 32) as usize);
            if bytes > max_bytes {
                break;
            }
            members.push((entry & u64::from(u32::MAX)) as usize);
        }
        // Two are enough where the greatest size stops larger groups; one alone would be copied for nothing.
        if is_crowded && members.len() > 1 {
            members.sort_unstable();
            return Some(members);
        }
    }
    None
}
