//! From the position of an entry to its bucket: an extendible directory of segments, each an extendible directory of
//! buckets.
//!
//! Two levels, because a single directory of a giant table would stall the operation that makes it double: no operation here
//! moves more than one segment's cells or the segments' own. A position is a hash without the bits that the table
//! skips, aligned to the top.

use super::bucket::Bucket;
use super::extendible::{Cell, Extendible};

/// A segment doubles up to this depth and then splits in two: 4096 cells, which are 64 KiB at most.
const SEGMENT_DEPTH_MAX: u32 = 12;
/// Buddy segments merge if neither is deeper than this; well below the depth at which they split again.
const SEGMENT_MERGE_DEPTH_MAX: u32 = 8;
/// How many bits of a position may tell buckets apart. 2^26 buckets hold some two thousand million entries; beyond,
/// buckets grow. It also bounds the directory that hashes made to collide can force.
pub(super) const DEPTH_MAX: u32 = 26;

/// A bucket holds at most this many entries unless its depth is at the maximum. Measured: fewer cost memory for
/// cells and slack, more cost time to shift the bytes of a bucket.
pub(super) const BUCKET_ENTRIES_MAX: usize = 48;
/// A bucket with more bytes than this splits as well, unless it has few entries.
pub(super) const BUCKET_BYTES_MAX: usize = 4096;
/// So few entries that splitting them does not pay, however large they are.
pub(super) const BUCKET_ENTRIES_FEW: usize = 8;
/// Buddies that together hold no more than half of what makes a bucket split become one.
pub(super) const MERGED_ENTRIES_MAX: usize = BUCKET_ENTRIES_MAX / 2;
pub(super) const MERGED_BYTES_MAX: usize = BUCKET_BYTES_MAX / 2;

type Segment = Extendible<Bucket>;

/// The buckets of a table by position.
pub(super) struct Directory {
    root: Extendible<Segment>,
    heap_bytes: usize,
}

impl Directory {
    pub(super) fn new() -> Self {
        let mut directory = Self { root: Extendible::new(Segment::new(Bucket::default())), heap_bytes: 0 };
        directory.heap_bytes = directory.root.cells_bytes() + directory.segment_bytes(0);
        directory
    }

    /// Memory of cells and buckets in bytes.
    pub(super) fn heap_bytes(&self) -> usize {
        self.heap_bytes
    }

    pub(super) fn get(&self, position: u64) -> Option<&Bucket> {
        self.root.get(position)?.get(position << self.root.local_depth(position))
    }

    /// The cell that leads to the bucket at `position`, which is not looked into.
    pub(super) fn cell(&self, position: u64) -> Option<&Cell<Bucket>> {
        let root = self.root.local_depth(position);
        self.root.get(position)?.cell(position << root)
    }

    /// How many leading bits the positions of the bucket at `position` share.
    pub(super) fn depth(&self, position: u64) -> u32 {
        let root = self.root.local_depth(position);
        root + self.root.get(position).map_or(0, |segment| segment.local_depth(position << root))
    }

    pub(super) fn get_mut(&mut self, position: u64) -> Option<&mut Bucket> {
        let root = self.root.local_depth(position);
        self.root.get_mut(position)?.get_mut(position << root)
    }

    /// Lets `change` work on the bucket at `position`, to see its memory before and after.
    pub(super) fn change<R>(&mut self, position: u64, change: impl FnOnce(&mut Bucket) -> R) -> Option<R> {
        let root = self.root.local_depth(position);
        let bucket = self.root.get_mut(position)?.get_mut(position << root)?;
        let before = bucket.heap_bytes();
        let result = change(bucket);
        let after = bucket.heap_bytes();
        self.heap_bytes = self.heap_bytes - before + after;
        Some(result)
    }

    /// Brings the bucket at `position` closer to being split, or splits it, by one more bit of its keys' positions;
    /// false if its depth is at `depth_max` already.
    pub(super) fn split(
        &mut self,
        position: u64,
        depth_max: u32,
        position_of: impl Fn(&[u8]) -> u64,
    ) -> bool {
        let root = self.root.local_depth(position);
        let depth = self.depth(position);
        if depth >= depth_max {
            return false;
        }
        if depth - root == SEGMENT_DEPTH_MAX {
            let before = self.root.cells_bytes() + self.segment_bytes(position);
            self.root.split_with(position, Segment::into_halves);
            let buddy = position ^ (1 << (u64::BITS - 1 - root));
            let after = self.root.cells_bytes() + self.segment_bytes(position) + self.segment_bytes(buddy);
            self.heap_bytes = self.heap_bytes - before + after;
            return true;
        }
        let Some(segment) = self.root.get_mut(position) else { return false };
        let mut before = segment.cells_bytes();
        let mut after = 0;
        segment.split_with(position << root, |bucket| {
            before += bucket.heap_bytes();
            let (low, high) = bucket.split(|key| position_of(key) << depth >> (u64::BITS - 1) == 1);
            after += low.heap_bytes() + high.heap_bytes();
            (low, high)
        });
        after += segment.cells_bytes();
        self.heap_bytes = self.heap_bytes - before + after;
        true
    }

    /// Merges the bucket at `position` with its buddy, and what that makes with its buddy, for as long as they are
    /// small.
    ///
    /// Invariant: after any change that this followed, no two buddies are small enough to merge. So the other half
    /// of an empty bucket's range is never empty.
    pub(super) fn merge(&mut self, position: u64) {
        while self.merge_buckets(position) || self.merge_segments(position) {}
    }

    fn merge_buckets(&mut self, position: u64) -> bool {
        let root = self.root.local_depth(position);
        let Some(segment) = self.root.get_mut(position) else { return false };
        let mut before = segment.cells_bytes();
        let mut after = 0;
        let merged = segment.merge_with(
            position << root,
            |low, high| {
                low.len() + high.len() <= MERGED_ENTRIES_MAX
                    && low.used_bytes() + high.used_bytes() <= MERGED_BYTES_MAX
            },
            |low, high| {
                before += low.heap_bytes() + high.heap_bytes();
                let bucket = low.join(high);
                after += bucket.heap_bytes();
                bucket
            },
        );
        after += segment.cells_bytes();
        if merged {
            self.heap_bytes = self.heap_bytes - before + after;
        }
        merged
    }

    fn merge_segments(&mut self, position: u64) -> bool {
        let mut before = self.root.cells_bytes();
        let small = |segment: &Segment| segment.depth() <= SEGMENT_MERGE_DEPTH_MAX;
        let merged = self.root.merge_with(
            position,
            |low, high| small(low) && small(high),
            |low, high| {
                before += low.cells_bytes() + high.cells_bytes();
                low.join(high)
            },
        );
        if merged {
            let after = self.root.cells_bytes() + self.segment_bytes(position);
            self.heap_bytes = self.heap_bytes - before + after;
        }
        merged
    }

    /// Hands buckets to `take`, the last first, until it returns false; afterwards only more of this works. Returns
    /// whether anything is left.
    pub(super) fn take_from_end(&mut self, mut take: impl FnMut(Bucket) -> bool) -> bool {
        let mut freed = 0;
        let before = self.root.cells_bytes();
        let left = self.root.take_from_end(|mut segment| {
            let cells_before = segment.cells_bytes();
            let mut more = true;
            let left = segment.take_from_end(|bucket| {
                freed += bucket.heap_bytes();
                more = take(bucket);
                (None, more)
            });
            freed += cells_before - segment.cells_bytes();
            (left.then_some(segment), more)
        });
        self.heap_bytes = self.heap_bytes - freed - (before - self.root.cells_bytes());
        left
    }

    /// Memory of the cells of the segment at `position`.
    fn segment_bytes(&self, position: u64) -> usize {
        self.root.get(position).map_or(0, Extendible::cells_bytes)
    }

    /// Panics unless the structure holds and the memory is counted right.
    #[cfg(test)]
    pub(super) fn check(&self) {
        self.root.check();
        let mut bytes = self.root.cells_bytes();
        for segment in self.root.items() {
            segment.check();
            assert!(segment.depth() <= SEGMENT_DEPTH_MAX);
            bytes += segment.cells_bytes() + segment.items().map(Bucket::heap_bytes).sum::<usize>();
        }
        assert_eq!(bytes, self.heap_bytes);
    }
}
