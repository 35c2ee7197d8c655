//! Bounds, typos and plans.

use super::{
    delta_of, in_order,
    model::{Document, Values},
    random, segment_of,
};
use crate::search::index::fuzzy::{Fuzzy, fuzzy};
use crate::search::index::merge::{Size, plan};
use crate::search::index::part::{Part, Walk};
use crate::search::index::prepare::FIELD_WORDS_MAX;
use crate::search::schema::{Analyzer, FieldId, FieldKind, Schema};

fn text_schema() -> Schema {
    let kind = FieldKind::Text { weight: 1.0, has_stems: true, has_suffixes: false };
    Schema { fields: vec![random::field(kind, 0)], analyzer: Analyzer::Instant, ..Schema::default() }
}

fn document(id: u64, text: &str) -> Document {
    let values = vec![(FieldId(0), Values::Texts(vec![text.as_bytes().to_vec()]))];
    Document { id, key: Vec::new(), language: None, score: 1.0, values, sort_texts: Vec::new() }
}

#[test]
fn words_beyond_the_bound_of_a_field_are_not_indexed() {
    let text: String = (0..FIELD_WORDS_MAX + 10).map(|number| format!("w{} ", number / 2)).collect();
    let documents = [document(1, &text)];
    let segment = segment_of(&text_schema(), &documents);
    for part in [&delta_of(&text_schema(), &documents) as &dyn Part, &segment] {
        assert_eq!(part.field_words(0, 0), FIELD_WORDS_MAX);
        let last = FIELD_WORDS_MAX / 2;
        let list = part.word(format!("w{last}").as_bytes()).expect("the last word");
        let mut positions = Vec::new();
        part.postings(list).positions(0, &mut positions);
        assert_eq!(positions.len(), 1);
        assert!(part.word(format!("w{}", last + 1).as_bytes()).is_none());
    }
}

/// Optimal string alignment, over characters, the whole table.
fn distance(one: &[char], other: &[char]) -> Vec<usize> {
    let mut rows = vec![vec![0; one.len() + 1]; other.len() + 1];
    for i in 0..=other.len() {
        for j in 0..=one.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let exchanged = rows[i - 1][j - 1] + usize::from(one[j - 1] != other[i - 1]);
                exchanged.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1)
            };
            if i > 1 && j > 1 && one[j - 1] == other[i - 2] && one[j - 2] == other[i - 1] {
                rows[i][j] = rows[i][j].min(rows[i - 2][j - 2] + 1);
            }
        }
    }
    rows.iter().map(|row| row[one.len()]).collect()
}

#[test]
fn typos_are_counted_in_characters() {
    let mut random = fastrand::Rng::with_seed(9);
    let letters: Vec<char> = "abcdéü東🦀".chars().collect();
    let word = |random: &mut fastrand::Rng, most: usize| -> String {
        (0..random.usize(1..most)).map(|_| letters[random.usize(..letters.len())]).collect()
    };
    let mut schema = text_schema();
    schema.analyzer = Analyzer::Words;
    schema.stop_words = Some(Vec::new());
    let documents: Vec<Document> = (0..3000).map(|id| document(id, &word(&mut random, 8))).collect();
    let segment = segment_of(&schema, &documents);
    let delta = delta_of(&schema, &documents);
    let mut all = Vec::new();
    segment.words(b"", &mut |term, _, _| {
        all.push(String::from_utf8(term.to_vec()).expect("text"));
        Walk::On
    });
    for _ in 0..200 {
        let query = word(&mut random, 8);
        let characters: Vec<char> = query.chars().collect();
        let how = Fuzzy { max: random.u8(..4), is_prefix: random.bool(), first_fixed: random.bool() };
        let mut expected = Vec::new();
        for term in &all {
            let distances = distance(&characters, &term.chars().collect::<Vec<_>>());
            let typos = if how.is_prefix { distances.iter().min() } else { distances.last() };
            let typos = *typos.expect("a row") as u8;
            if typos <= how.max && (!how.first_fixed || term.chars().next() == query.chars().next()) {
                expected.push((term.clone(), typos));
            }
        }
        for part in [&segment as &dyn Part, &delta] {
            let mut found = Vec::new();
            fuzzy(part, &query, how, &mut |term, typos, list| {
                assert_eq!(part.word(term), Some(list));
                found.push((String::from_utf8(term.to_vec()).expect("text"), typos));
            });
            assert_eq!(found, expected, "{query} {how:?}");
        }
    }
    fuzzy(&segment, &"a".repeat(41), Fuzzy { max: 1, ..Fuzzy::default() }, &mut |_, _, _| panic!("too long"));
}

#[test]
fn merges_are_planned_by_size_classes() {
    let size = |bytes| Size { bytes, places: 100, live: 100 };
    assert_eq!(plan(&[], 1 << 30), None);
    assert_eq!(plan(&[size(1000); 5], 1 << 30), None);
    assert_eq!(plan(&[size(1000); 6], 1 << 30), Some(vec![0, 1, 2, 3, 4, 5]));
    let mixed = [1 << 24, 1000, 1000, 1000, 1 << 25, 1000, 1000, 1000].map(size);
    assert_eq!(plan(&mixed, 1 << 30), Some(vec![1, 2, 3, 5, 6, 7]));
    // A result that would be too long is made of fewer, and never of one.
    assert_eq!(plan(&[size(1 << 20); 6], 3 << 20).map(|all| all.len()), Some(3));
    assert_eq!(plan(&[size(1 << 20); 6], 1 << 20), None);
    let dying = Size { bytes: 1 << 20, places: 100, live: 69 };
    assert_eq!(plan(&[size(1 << 20), dying], 1 << 30), Some(vec![1]));
    assert_eq!(plan(&[size(1 << 20), Size { live: 70, ..dying }], 1 << 30), None);
    assert_eq!(plan(&[Size { bytes: 100, places: 0, live: 0 }], 1 << 30), None);
}

/// The merges of a growing index end, and its segments stay few.
#[test]
fn plans_keep_segments_few() {
    let mut sizes: Vec<Size> = Vec::new();
    for _ in 0..5000 {
        sizes.push(Size { bytes: 100_000, places: 1000, live: 1000 });
        while let Some(mut members) = plan(&sizes, 1 << 30) {
            assert!(members.len() > 1);
            let mut merged = Size { bytes: 0, places: 0, live: 0 };
            while let Some(member) = members.pop() {
                let size = sizes.remove(member);
                merged = Size {
                    bytes: merged.bytes + size.bytes,
                    places: merged.places + size.places,
                    live: merged.live + size.live,
                };
            }
            sizes.push(merged);
        }
        assert!(sizes.len() <= 30);
    }
}

#[test]
fn ids_are_found_in_any_order() {
    let documents: Vec<Document> = [5, 1, 1 << 40, 3, u64::MAX, 0].map(|id| document(id, "x")).to_vec();
    let delta = delta_of(&text_schema(), &documents);
    let segment = segment_of(&text_schema(), &documents);
    for (document, place) in in_order(&documents).iter().zip(0..) {
        assert_eq!(segment.find(document.id), Some(place));
        assert_eq!(delta.find(document.id).map(|place| delta.id(place)), Some(document.id));
    }
    assert!(segment.find(2).is_none() && delta.find(2).is_none());
}
