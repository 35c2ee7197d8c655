//! Fetching what several look-ups will read, side by side.
//!
//! In a table beyond the processor's caches a look-up waits for memory three times, each time for an address that
//! depends on what came before: the directory's cell, the bucket's tags, the entry. A processor waits for several
//! addresses at once if its instructions name them close together and nothing between them depends on what has not come
//! yet. So each step is made for all keys, and within a step all addresses are found first and read then.

use std::hint::black_box;

use smallvec::SmallVec;

use super::bucket::Bucket;
use super::{Table, tag};

/// Keys that are fetched together; a processor waits for about so many addresses at once.
const TOGETHER: usize = 16;

/// Reads where keys with these hashes are, or would be, so that it is in the processor's caches for what comes next.
pub fn prefetch(wanted: &[(&Table, u64)]) {
    for some in wanted.chunks(TOGETHER) {
        prefetch_together(some);
    }
}

fn prefetch_together(wanted: &[(&Table, u64)]) {
    let found = wanted.iter().filter_map(|(table, hash)| {
        let (directory, position) = (table.directory.as_deref()?, table.position(*hash));
        Some((directory, position, tag(*hash)))
    });
    let cells: SmallVec<[_; TOGETHER]> =
        found.clone().filter_map(|(directory, position, _)| directory.cell(position)).collect();
    black_box(cells.iter().fold(0, |read, cell| read ^ cell.touch()));
    let buckets: SmallVec<[(&Bucket, u8); TOGETHER]> =
        found.filter_map(|(directory, position, tag)| Some((directory.get(position)?, tag))).collect();
    black_box(buckets.iter().fold(0, |read, (bucket, _)| read ^ bucket.touch_tags()));
    let places: SmallVec<[(&Bucket, usize); TOGETHER]> =
        buckets.iter().map(|(bucket, tag)| (*bucket, bucket.place_of_tag(*tag))).collect();
    black_box(places.iter().fold(0, |read, (bucket, place)| read ^ bucket.touch_entry(*place)));
}
