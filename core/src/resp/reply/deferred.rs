//! Headers that are known only once what follows them is written.
//!
//! [`Reply::defer`] leaves four bytes free (enough for `*0\r\n`) and the finished header is put there later; when the outermost deferral finishes,
//! all longer headers are put in with one pass over the bytes behind it, so nesting costs nothing extra.
//!
//! ```text
//!  written  ….... a … …  b …   c  … …        a, b, c: four-byte gaps with their headers kept aside
//!  settled  ……… *12\r\n … … *3\r\n … %100\r\n … …
//! ```

use std::mem;

use super::{HEADER_MAX_BYTES, Reply, digit};

/// Bytes left free for a deferred header; a count below ten fits and then nothing moves.
const GAP_BYTES: usize = 4;

/// A header still to be written: finish it with one of the `finish_…` methods. Dropping it without is a mistake,
/// unless [`Reply::truncate`] undid its place.
#[must_use]
#[derive(Debug)]
pub struct Deferred {
    offset: usize,
}

/// A gap in the bytes at `offset`, and its header (kind and count) once it is known.
#[derive(Debug)]
pub(super) struct Gap {
    pub(super) offset: usize,
    header: Option<(u8, u64)>,
}

impl Reply {
    /// Begins an aggregate whose number of elements is not known yet.
    pub fn defer(&mut self) -> Deferred {
        let offset = self.bytes.len();
        self.bytes.extend_from_slice(&[0; GAP_BYTES]);
        self.gaps.push(Gap { offset, header: None });
        Deferred { offset }
    }

    /// Ends a deferred array of `count` elements.
    pub fn finish_array(&mut self, mark: Deferred, count: usize) {
        self.count_aggregate(count as u64);
        self.finish(mark, b'*', count as u64);
    }

    /// Ends a deferred map of `pairs` pairs.
    pub fn finish_map(&mut self, mark: Deferred, pairs: usize) {
        self.count_aggregate(pairs as u64 * 2);
        let (kind, count) = self.map_header(pairs);
        self.finish(mark, kind, count);
    }

    /// Ends a deferred set of `count` members.
    pub fn finish_set(&mut self, mark: Deferred, count: usize) {
        self.count_aggregate(count as u64);
        self.finish(mark, self.set_kind(), count as u64);
    }

    /// Ends a deferred push of `count` elements.
    pub fn finish_push(&mut self, mark: Deferred, count: usize) {
        self.balance = self.balance.wrapping_sub(count as u64);
        self.finish(mark, self.push_kind(), count as u64);
    }

    fn finish(&mut self, mark: Deferred, kind: u8, count: u64) {
        let place = self.gaps.iter().rposition(|gap| gap.offset == mark.offset && gap.header.is_none());
        debug_assert!(place.is_some(), "a deferral finished after it was undone");
        let Some(place) = place else { return };
        if count < 10 && place > 0 && place + 1 == self.gaps.len() {
            // Fits its gap and nothing inside it waits: most inner aggregates, of which there may be very many.
            if let Some(gap) = self.bytes.get_mut(mark.offset..mark.offset + GAP_BYTES) {
                gap.copy_from_slice(&[kind, digit(count), b'\r', b'\n']);
            }
            self.gaps.pop();
            return;
        }
        if let Some(gap) = self.gaps.get_mut(place) {
            gap.header = Some((kind, count));
        }
        // The outermost deferral is the first gap and the last to finish: a stack, as replies nest.
        if place == 0 {
            debug_assert!(self.gaps.iter().all(|gap| gap.header.is_some()), "an inner deferral is open");
            self.settle();
        }
    }

    /// Puts all headers into their gaps, from the last to the first: every byte moves at most once.
    fn settle(&mut self) {
        let gaps = mem::take(&mut self.gaps);
        let growth: usize = gaps.iter().map(|gap| gap_header(gap).1 - GAP_BYTES).sum();
        for stored in &mut self.stored {
            let before = gaps.iter().take_while(|gap| gap.offset < stored.at);
            stored.at += before.map(|gap| gap_header(gap).1 - GAP_BYTES).sum::<usize>();
        }
        let mut source_end = self.bytes.len();
        let mut target_end = source_end + growth;
        self.bytes.resize(target_end, 0);
        for gap in gaps.iter().rev() {
            let (header, header_len) = gap_header(gap);
            let source = gap.offset + GAP_BYTES;
            let target = target_end - (source_end - source);
            if target != source {
                self.bytes.copy_within(source..source_end, target);
            }
            target_end = target - header_len;
            source_end = gap.offset;
            if let (Some(place), Some(header)) =
                (self.bytes.get_mut(target_end..target), header.get(..header_len))
            {
                place.copy_from_slice(header);
            }
        }
        debug_assert_eq!(source_end, target_end);
        // Keeps the allocation for the next deferral.
        self.gaps = gaps;
        self.gaps.clear();
    }
}

/// The header's bytes and how many of them count.
fn gap_header(gap: &Gap) -> ([u8; HEADER_MAX_BYTES], usize) {
    let (kind, count) = gap.header.unwrap_or((b'*', 0));
    let mut header = [0; HEADER_MAX_BYTES];
    let mut digits = itoa::Buffer::new();
    let text = [kind].into_iter().chain(digits.format(count).bytes()).chain(*b"\r\n");
    let mut len = 0;
    for (slot, byte) in header.iter_mut().zip(text) {
        *slot = byte;
        len += 1;
    }
    (header, len)
}
