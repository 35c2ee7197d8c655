//! Where a term stands in a document, as bytes that the delta and segments share.
//!
//! What the rank byte ([`Rank`]) says already is not written again. Numbers are varints ([`super::bytes`]).
//!
//! ```text
//! [first field - 3]        if the rank's field is 3
//! [occurrences - 7]        if the rank's occurrences are 7
//! [first word - class' least word]   if the class holds more than one word: classes 3 to 7
//! for each further occurrence, one of
//!   [words since the one before << 1]                   in the same field
//!   [fields since the one before - 1 << 1 | 1] [word]   in a later field
//! ```

use super::bytes::{get, put};
use super::part::{Position, Rank};

/// The least first position of each class of a rank byte; the last class has no end.
const CLASSES: [u32; 8] = [0, 1, 2, 3, 5, 9, 21, 51];

/// The rank byte of occurrences in order; that of none is 0.
pub(in crate::search) fn rank_of(positions: &[Position]) -> Rank {
    let Some(first) = positions.first() else { return Rank(0) };
    let class = CLASSES.iter().rposition(|least| *least <= first.word).unwrap_or(0);
    let (field, count) = (first.field.min(3) as u8, positions.len().min(7) as u8);
    Rank(field << 6 | (class as u8) << 3 | count)
}

/// Writes the occurrences, which are in order and at least one, and returns their rank byte.
pub(super) fn encode(positions: &[Position], out: &mut Vec<u8>) -> Rank {
    let Some((first, rest)) = positions.split_first() else { return Rank(0) };
    let rank = rank_of(positions);
    let (field, class, count) = (rank.0 >> 6, usize::from(rank.0 >> 3 & 7), rank.0 & 7);
    if field == 3 {
        put(out, u32::from(first.field - 3));
    }
    if count == 7 {
        put(out, positions.len() as u32 - 7);
    }
    if class >= 3 {
        put(out, first.word - CLASSES.get(class).copied().unwrap_or(0));
    }
    let mut before = *first;
    for position in rest {
        if position.field == before.field {
            put(out, position.word.saturating_sub(before.word) << 1);
        } else {
            put(out, u32::from(position.field - before.field - 1) << 1 | 1);
            put(out, position.word);
        }
        before = *position;
    }
    rank
}

/// Moves behind the occurrences of one posting.
#[inline]
pub(super) fn skip(rank: Rank, bytes: &[u8], at: &mut usize) {
    // Of most the rank says all.
    if rank.0 & 7 != 1 || rank.0 >> 6 == 3 || rank.0 >> 3 & 7 >= 3 {
        skip_written(rank, bytes, at);
    }
}

fn skip_written(rank: Rank, bytes: &[u8], at: &mut usize) {
    if rank.0 >> 6 == 3 {
        get(bytes, at);
    }
    let mut left = u32::from(rank.0 & 7).saturating_sub(1);
    if rank.0 & 7 == 7 {
        left = left.saturating_add(get(bytes, at));
    }
    if rank.0 >> 3 & 7 >= 3 {
        get(bytes, at);
    }
    while left > 0 && *at < bytes.len() {
        left -= 1;
        if get(bytes, at) & 1 == 1 {
            get(bytes, at);
        }
    }
}

/// Reads the occurrences of one posting, and moves behind them.
pub(super) fn decode(rank: Rank, bytes: &[u8], at: &mut usize, into: &mut Vec<Position>) {
    let mut field = u32::from(rank.0 >> 6);
    if field == 3 {
        field = field.wrapping_add(get(bytes, at));
    }
    let mut left = u32::from(rank.0 & 7).saturating_sub(1);
    if rank.0 & 7 == 7 {
        left = left.saturating_add(get(bytes, at));
    }
    let class = rank.0 >> 3 & 7;
    let mut word = CLASSES.get(usize::from(class)).copied().unwrap_or(0);
    if class >= 3 {
        word = word.wrapping_add(get(bytes, at));
    }
    into.push(Position { field: field as u16, word });
    while left > 0 && *at < bytes.len() {
        left -= 1;
        let step = get(bytes, at);
        if step & 1 == 1 {
            field = field.wrapping_add((step >> 1) + 1);
            word = get(bytes, at);
        } else {
            word = word.wrapping_add(step >> 1);
        }
        into.push(Position { field: field as u16, word });
    }
}
