//! Bytes that are not what was written.

use super::{INDEX, delta_of, frozen, model::Document, random, segment_of};
use crate::search::bits::Bits;
use crate::search::index::fuzzy::{Fuzzy, fuzzy};
use crate::search::index::part::{BLOCK, Block, List, Part, Rank, Walk};
use crate::search::index::write::input::Input;
use crate::search::index::{Merge, Refused, Segment};
use crate::search::query::Bound;
use crate::search::schema::{FieldId, FieldKind, Schema};
use crate::search::text::Language;

fn small() -> (Schema, Vec<Document>) {
    let mut random = fastrand::Rng::with_seed(4);
    let mut schema = Schema::default();
    let mut kinds = vec![FieldKind::Numeric, FieldKind::Geo, FieldKind::Numeric];
    kinds.push(FieldKind::Tag { separator: b',', is_case_sensitive: false, has_suffixes: false });
    kinds.push(FieldKind::Text { weight: 1.0, has_stems: true, has_suffixes: false });
    schema.fields = kinds.into_iter().enumerate().map(|(number, kind)| random::field(kind, number)).collect();
    let documents = random::documents(&mut random, &schema, 140, true);
    (schema, documents)
}

#[test]
fn every_flipped_byte_and_every_truncation_is_refused() {
    let (schema, documents) = small();
    let bytes = segment_of(&schema, &documents[..9]).bytes().to_vec();
    assert_eq!(Segment::open(bytes.clone(), INDEX + 1).err(), Some(Refused::OtherIndex));
    for at in 0..bytes.len() {
        assert!(Segment::open(bytes[..at].to_vec(), INDEX).is_err());
        for bit in [1, 0x80] {
            let mut damaged = bytes.clone();
            damaged[at] ^= bit;
            assert!(Segment::open(damaged, INDEX).is_err(), "byte {at}");
        }
    }
    let mut longer = bytes.clone();
    longer.push(0);
    assert!(Segment::open(longer, INDEX).is_err());
    assert!(Segment::open(bytes, INDEX).is_ok());
}

fn read_postings(part: &dyn Part, list: List) {
    let mut block = Block { places: [0; BLOCK], ranks: [Rank(0); BLOCK], len: 0 };
    let mut positions = Vec::new();
    let mut postings = part.postings(list);
    let mut left = 20;
    while left > 0 && postings.next_block(&mut block) {
        left -= 1;
        postings.positions(block.places[block.len - 1], &mut positions);
    }
    let mut postings = part.postings(list);
    for place in [3, 130, 500, u32::MAX] {
        postings.skip_to(place);
        postings.next_block(&mut block);
        postings.positions(place, &mut positions);
    }
}

/// Reads everything that there is to read, within bounds.
fn read_all(part: &Segment) {
    let mut left = 2000;
    let mut lists = Vec::new();
    let mut walk = |list: List, by: usize| {
        lists.push(list);
        left -= 1;
        if left == 0 {
            Walk::End
        } else if left % by == 0 {
            Walk::Past(1)
        } else {
            Walk::On
        }
    };
    part.words(b"", &mut |_, _, list| walk(list, 10));
    part.words(b"h", &mut |_, _, list| walk(list, 1000));
    for field in (0..6).map(FieldId) {
        part.tags(field, b"", &mut |_, _, list| walk(list, 7));
        part.tag(field, b"tag 3");
        let mut bits = Bits::none(part.places().min(1000));
        for (low, high) in [(0.0, 50.0), (f64::NEG_INFINITY, f64::INFINITY)] {
            let bound = |value| Bound { value, is_exclusive: false };
            part.numbers_within(field, bound(low), bound(high), &mut bits);
        }
        for place in (0..part.places().min(200)).chain([u32::MAX]) {
            part.tags_of(field, place, &mut |tag| assert!(part.tag_name(field, tag).len() < 1 << 20));
            part.positions_of(field, place, &mut |_, _| {});
            part.more_numbers(field, place, &mut |_| {});
            let _ = (
                part.vector(field, place),
                part.sort_text(field, place),
                part.number(field, place),
                part.has(field, place),
            );
            part.field_words(field.0, place);
        }
    }
    lists.into_iter().for_each(|list| read_postings(part, list));
    part.words_of_stem(Language::English, b"run", &mut |_| {});
    part.stems(b"", &mut |_, _| true);
    for place in (0..part.places().min(200)).chain([u32::MAX]) {
        part.key(place, &mut Vec::new());
        part.find(part.id(place));
    }
    fuzzy(part, "helo", Fuzzy { max: 2, is_prefix: true, first_fixed: false }, &mut |_, _, _| {});
}

#[test]
fn reads_of_damaged_bytes_never_panic() {
    let (schema, documents) = small();
    let bytes = frozen(&delta_of(&schema, &documents), &Bits::all(140));
    let mut random = fastrand::Rng::with_seed(1);
    let mut opened = 0;
    for at in (0..bytes.len()).step_by(3).chain(bytes.len() - 400..bytes.len()) {
        let mut damaged = bytes.clone();
        damaged[at] = match at % 3 {
            0 => 0xFF,
            1 => damaged[at] ^ 1 << random.u32(..8),
            _ => random.u8(..),
        };
        if let Ok(segment) = Segment::open_unchecked(damaged, INDEX) {
            opened += 1;
            read_all(&segment);
            if at % 50 == 0 || at > bytes.len() - 400 {
                let live = Bits::all(segment.places());
                let mut merge = Merge::new(vec![(segment.into(), live)], INDEX);
                let mut steps = 0;
                while !merge.step(1 << 16) && steps < 200 {
                    steps += 1;
                }
            }
        }
    }
    assert!(opened > 1000);
    for len in (0..bytes.len()).step_by(11) {
        if let Ok(segment) = Segment::open_unchecked(bytes[..len].to_vec(), INDEX) {
            read_all(&segment);
        }
    }
}
