//! Deltas and segments say of documents what the documents say; where they lie makes no difference.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use super::*;
use crate::search::bits::Bits;
use crate::search::query::Bound;
use crate::search::schema::{Analyzer, Field, FieldId, FieldKind, Metric, Number, Schema, VectorOptions};
use crate::search::text::{self, Language};

/// A document of the tests.
#[derive(Clone, Debug, Default)]
struct Document {
    id: DocumentId,
    key: Vec<u8>,
    texts: Vec<Option<String>>,
    tags: Vec<String>,
    numbers: Vec<f64>,
    position: Option<(f64, f64)>,
    vector: Option<[f32; 3]>,
    score: f32,
}

fn field(name: &str, kind: FieldKind, is_sortable: bool) -> Field {
    Field {
        name: name.into(),
        path: name.into(),
        kind,
        is_sortable,
        is_unnormalized: false,
        is_not_indexed: false,
        has_empty: false,
        has_missing: false,
    }
}

const TEXTS: usize = 5;

fn schema() -> Schema {
    let text = || FieldKind::Text { weight: 1.0, has_stems: true, has_suffixes: false };
    let tag = FieldKind::Tag { separator: b',', is_case_sensitive: false, has_suffixes: false };
    let vector = VectorOptions {
        dimension: 3,
        number: Number::Float32,
        metric: Metric::L2,
        is_hnsw: false,
        attributes: Vec::new(),
    };
    let mut fields: Vec<Field> =
        (0..TEXTS).map(|number| field(&format!("t{number}"), text(), number == 0)).collect();
    fields.push(field("tag", tag, true));
    fields.push(field("number", FieldKind::Numeric, true));
    fields.push(field("place", FieldKind::Geo, false));
    fields.push(field("vector", FieldKind::Vector(vector), false));
    Schema { fields, analyzer: Analyzer::Words, ..Schema::default() }
}

const TAG: FieldId = FieldId(TEXTS as u16);
const NUMBER: FieldId = FieldId(TEXTS as u16 + 1);
const PLACE: FieldId = FieldId(TEXTS as u16 + 2);
const VECTOR: FieldId = FieldId(TEXTS as u16 + 3);

fn prepared(schema: &Schema, document: &Document) -> Prepared {
    let mut values = Vec::new();
    for (text, number) in document.texts.iter().zip(0..) {
        values.extend(text.as_ref().map(|text| (FieldId(number), FieldValue::Texts(vec![text.as_bytes()]))));
    }
    if !document.tags.is_empty() {
        values.push((TAG, FieldValue::Tags(document.tags.iter().map(String::as_bytes).collect())));
    }
    if !document.numbers.is_empty() {
        values.push((NUMBER, FieldValue::Numbers(document.numbers.clone())));
    }
    values.extend(document.position.map(|position| (PLACE, FieldValue::Positions(vec![position]))));
    let vector: Option<Vec<u8>> =
        document.vector.map(|vector| vector.iter().flat_map(|number| number.to_le_bytes()).collect());
    values.extend(vector.as_ref().map(|vector| (VECTOR, FieldValue::Vector(vector))));
    let sort_texts = document.texts[0].iter().map(|text| (FieldId(0), text.as_bytes())).collect();
    let source = Source {
        id: document.id,
        key: &document.key,
        language: None,
        score: document.score,
        values,
        sort_texts,
    };
    prepare(schema, &source)
}

fn documents(random: &mut fastrand::Rng, count: usize) -> Vec<Document> {
    const WORDS: [&str; 16] = [
        "run", "running", "runs", "house", "houses", "Ärger", "你好", "a", "the", "x1", "prefix", "prefixes",
        "zzz", "don't", "city", "cities",
    ];
    let mut id = random.u64(1..1000);
    let mut all = Vec::new();
    for number in 0..count {
        id += if random.u8(..4) == 0 { random.u64(1..100_000) } else { 1 };
        let mut text = |most: usize| {
            let words: Vec<String> = (0..random.usize(..=most))
                .map(|_| match random.u8(..5) {
                    0 => format!("w{}", random.u16(..400)),
                    _ => WORDS[random.usize(..WORDS.len())].to_owned(),
                })
                .collect();
            words.join(" ")
        };
        let texts =
            (0..TEXTS).map(|field| (field == 0 || field == 4 || number % 3 == 0).then(|| text(12))).collect();
        all.push(Document {
            id,
            key: format!("doc:{}:{number}", random.u8(..3)).into_bytes(),
            texts,
            tags: (0..random.usize(..4)).map(|_| format!("Tag {}", random.u8(..9))).collect(),
            numbers: (0..random.usize(..3)).map(|_| f64::from(random.i16(-500..500)) / 100.0).collect(),
            position: random.bool().then(|| (random.f64() * 300.0 - 150.0, random.f64() * 160.0 - 80.0)),
            vector: random.bool().then(|| [random.f32(), random.f32(), random.f32()]),
            score: if random.u8(..5) == 0 { 0.5 } else { 1.0 },
        });
    }
    all
}

fn delta_of(schema: &Schema, documents: &[&Document]) -> Delta {
    let mut delta = Delta::new();
    for (document, place) in documents.iter().zip(0..) {
        assert_eq!(delta.add(&prepared(schema, document)), Ok(place));
    }
    delta
}

/// Everything that a part says of its live documents, by their ids.
fn told(part: &dyn Part, live: &Bits) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for place in live.iter() {
        let (id, mut key) = (part.id(place), Vec::new());
        assert_eq!(part.find(id), Some(place), "id {id}");
        part.key(place, &mut key);
        let mut facts = vec![
            String::from_utf8_lossy(&key).into_owned(),
            format!("{}", part.score(place)),
            format!("most {}", part.frequency_max(place)),
        ];
        facts.extend((0..TEXTS as u16).map(|field| format!("words {}", part.field_words(field, place))));
        facts.extend((0..VECTOR.0 + 1).map(|field| format!("has {}", part.has(FieldId(field), place))));
        facts.push(format!("number {:?}", part.number(NUMBER, place)));
        facts.push(format!("extremes {:?}", part.extremes(NUMBER, place)));
        part.positions_of(PLACE, place, &mut |longitude, latitude| {
            facts.push(format!("{longitude} {latitude}"))
        });
        facts.push(format!("vector {:?}", part.vector(VECTOR, place)));
        let mut tags = Vec::new();
        part.tags_of(TAG, place, &mut |tag| {
            tags.push(String::from_utf8_lossy(part.tag_name(TAG, tag)).into_owned())
        });
        tags.sort_unstable();
        facts.push(format!("tags {tags:?}"));
        facts.push(format!("sort {:?}", part.sort_text(FieldId(0), place)));
        all.insert(format!("id {id:12}"), facts);
    }
    let mut lists = |kind: &str, term: &[u8], list: List| {
        let (mut block, mut found) = (Block::default(), Vec::new());
        let (mut postings, mut looks) = (part.postings(list), part.postings(list));
        let mut positions = Vec::new();
        while postings.next_block(&mut block) {
            for (place, rank) in block.places.iter().zip(&block.ranks).take(block.len) {
                if live.has(*place) {
                    looks.positions(*place, &mut positions);
                    found.push(format!("{:12} {:?} {positions:?}", part.id(*place), rank));
                }
            }
        }
        found.sort_unstable();
        if !found.is_empty() {
            all.insert(format!("{kind} {}", String::from_utf8_lossy(term)), found);
        }
    };
    let mut before: Vec<u8> = Vec::new();
    part.words(b"", &mut |term, shared, list| {
        assert!(before.as_slice() < term || before.is_empty(), "{before:?} {term:?}");
        assert_eq!(shared, bytes::shared(&before, term));
        before = term.to_vec();
        assert_eq!(part.word(term), Some(list));
        lists("word", term, list);
        Walk::On
    });
    part.tags(TAG, b"", &mut |term, _, list| {
        assert_eq!(part.tag(TAG, term).map(|list| list.documents), Some(list.documents));
        lists("tag", term, list);
        Walk::On
    });
    for (low, high) in [(-1.0, 1.0), (0.0, 0.0), (f64::NEG_INFINITY, f64::INFINITY)] {
        let bound = |value: f64| Bound { value, is_exclusive: false };
        let mut found = Bits::none(part.places());
        part.numbers_within(NUMBER, bound(low), bound(high), &mut found);
        found.keep(live);
        let mut ids: Vec<String> = found.iter().map(|place| format!("{:12}", part.id(place))).collect();
        ids.sort_unstable();
        all.insert(format!("within {low} {high}"), ids);
    }
    all
}

fn all_live(places: u32, random: &mut fastrand::Rng, dead_percent: u8) -> Bits {
    let mut live = Bits::all(places);
    (0..places).filter(|_| random.u8(..100) < dead_percent).for_each(|place| {
        live.remove(place);
    });
    live
}

#[test]
fn segment_says_something_else_than_its_documents() {
    for seed in 0..40 {
        let mut random = fastrand::Rng::with_seed(seed);
        let schema = schema();
        let count = if seed % 8 == 0 { 700 } else { random.usize(1..120) };
        let all = documents(&mut random, count);
        let mut shuffled: Vec<&Document> = all.iter().collect();
        if seed % 2 == 0 {
            random.shuffle(&mut shuffled);
        }
        let delta = Arc::new(delta_of(&schema, &shuffled));
        let live = all_live(delta.places(), &mut random, if seed % 3 == 0 { 0 } else { 30 });
        let expected = told(&*delta, &live);
        let bytes = freeze(&delta, &live, 7);
        let segment = Segment::open(bytes, 7).expect("a segment");
        assert_eq!(segment.places(), live.count());
        assert_eq!(told(&segment, &Bits::all(segment.places())), expected, "seed {seed}");
        // However the documents lie in parts, what is merged has the same bytes.
        let kept: Vec<&Document> = all
            .iter()
            .filter(|document| delta.find(document.id).is_some_and(|place| live.has(place)))
            .collect();
        if kept.is_empty() {
            continue;
        }
        let rebuilt = Arc::new(delta_of(&schema, &kept));
        let whole = freeze(&rebuilt, &Bits::all(rebuilt.places()), 7);
        let parts = random.usize(1..5);
        let mut inputs = Vec::new();
        for part in 0..parts {
            let of: Vec<&Document> = all
                .iter()
                .enumerate()
                .filter(|(at, _)| at % parts == part)
                .map(|(_, document)| document)
                .collect();
            let delta = Arc::new(delta_of(&schema, &of));
            let bytes = freeze(&delta, &Bits::all(delta.places()), 7);
            let segment = Arc::new(Segment::open(bytes, 7).expect("a segment"));
            let mut lives = Bits::none(segment.places());
            kept.iter().filter_map(|document| segment.find(document.id)).for_each(|place| {
                lives.add(place);
            });
            inputs.push((segment, lives));
        }
        let mut merge = Merge::new(inputs, 7);
        while !merge.step(50) {}
        let merged = merge.finish();
        let told_of = |bytes: &[u8]| {
            let segment = Segment::open(bytes.to_vec(), 7).expect("a segment");
            told(&segment, &Bits::all(segment.places()))
        };
        assert_eq!(told_of(&merged), told_of(&whole), "seed {seed}");
        assert!(merged == whole, "seed {seed}: the bytes differ");
    }
}

#[test]
fn words_of_a_stem_are_missed() {
    let mut random = fastrand::Rng::with_seed(1);
    let schema = schema();
    let all = documents(&mut random, 200);
    let delta = Arc::new(delta_of(&schema, &all.iter().collect::<Vec<_>>()));
    let segment = Segment::open(freeze(&delta, &Bits::all(200), 1), 1).expect("a segment");
    for part in [&*delta as &dyn Part, &segment] {
        let mut stem = String::new();
        text::stem(Language::English, "running", &mut stem);
        let mut words = Vec::new();
        part.words_of_stem(Language::English, stem.as_bytes(), &mut |word| {
            words.push(String::from_utf8_lossy(word).into_owned());
        });
        words.sort_unstable();
        assert_eq!(words, ["run", "running", "runs"]);
        let mut none = 0;
        part.words_of_stem(Language::German, b"run", &mut |word| none += usize::from(word != b"run"));
        assert_eq!(none, 0);
    }
}

#[test]
fn walk_skips_too_much() {
    let mut random = fastrand::Rng::with_seed(3);
    let schema = schema();
    let all = documents(&mut random, 500);
    let delta = Arc::new(delta_of(&schema, &all.iter().collect::<Vec<_>>()));
    let segment = Segment::open(freeze(&delta, &Bits::all(500), 1), 1).expect("a segment");
    let mut every: Vec<Vec<u8>> = Vec::new();
    delta.words(b"", &mut |word, _, _| {
        every.push(word.to_vec());
        Walk::On
    });
    for part in [&*delta as &dyn Part, &segment] {
        for from in [&b""[..], b"r", b"w1", b"w2999", b"zzzz"] {
            for past in 1..4 {
                let mut found = Vec::new();
                part.words(from, &mut |word, _, _| {
                    found.push(word.to_vec());
                    Walk::Past(past.min(word.len()))
                });
                let mut expected: Vec<Vec<u8>> = Vec::new();
                for word in every.iter().filter(|word| word.as_slice() >= from) {
                    let last = expected.last();
                    if last.is_none_or(|last: &Vec<u8>| !word.starts_with(&last[..past.min(last.len())])) {
                        expected.push(word.clone());
                    }
                }
                assert_eq!(found, expected, "from {from:?} past {past}");
            }
        }
    }
}

#[test]
fn head_of_a_segment_lacks_a_frequent_word() {
    let mut random = fastrand::Rng::with_seed(5);
    let schema = schema();
    let all: Vec<Document> = (1..3000)
        .map(|id| {
            let word = |random: &mut fastrand::Rng| {
                format!("{}{}", ["w", "é"][random.usize(..2)], random.u32(1..3000) / random.u32(1..6))
            };
            let text = (0..8).map(|_| word(&mut random)).collect::<Vec<String>>().join(" ");
            Document {
                id,
                key: id.to_string().into_bytes(),
                texts: vec![Some(text); TEXTS],
                ..documents(&mut random, 1).remove(0)
            }
        })
        .collect();
    let delta = Arc::new(delta_of(&schema, &all.iter().collect::<Vec<_>>()));
    let segment = Segment::open(freeze(&delta, &Bits::all(2999), 1), 1).expect("a segment");
    for prefix in ["w", "w1", "w12", "w123", "e", "x", ""] {
        let mut words: Vec<(Vec<u8>, List)> = Vec::new();
        segment.words(prefix.as_bytes(), &mut |word, _, list| {
            if !word.starts_with(prefix.as_bytes()) {
                return Walk::End;
            }
            words.push((word.to_vec(), list));
            Walk::On
        });
        words.sort_by_key(|(_, list)| std::cmp::Reverse(list.documents));
        for _ in 0..2 {
            let Some(head) = segment.head(prefix.as_bytes()) else {
                assert!(words.len() <= 512 || !(1..=3).contains(&prefix.len()), "{prefix}: {}", words.len());
                continue;
            };
            let told: Vec<(Vec<u8>, List)> = head.words().map(|(word, list)| (word.to_vec(), list)).collect();
            assert!(words.len() > 512 && !told.is_empty(), "{prefix}");
            assert_eq!(told, words[..told.len()], "{prefix}");
            assert_eq!(head.others_max(), u64::from(words[told.len() - 1].1.documents));
        }
    }
    assert!(segment.head(b"w").is_some());
    assert!(segment.memory_bytes() > segment.len_bytes());
}

#[test]
fn damaged_segment_is_read() {
    let mut random = fastrand::Rng::with_seed(2);
    let schema = schema();
    let all = documents(&mut random, 12);
    let delta = Arc::new(delta_of(&schema, &all.iter().collect::<Vec<_>>()));
    let bytes = freeze(&delta, &Bits::all(12), 1);
    assert!(Segment::open(bytes.clone(), 1).is_ok());
    assert_eq!(Segment::open(bytes.clone(), 2).err(), Some(Refused::Other));
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << random.u8(..8);
        assert!(Segment::open(damaged.clone(), 1).is_err(), "byte {at}");
        // With a checksum that lies no read panics.
        let end = damaged.len() - 4;
        let sum = crc32c::crc32c(&damaged[..end]);
        damaged[end..].copy_from_slice(&sum.to_le_bytes());
        if let Ok(segment) = Segment::open(damaged, 1)
            && segment.places() < 1000
        {
            std::panic::catch_unwind(AssertUnwindSafe(|| read_all(&segment))).expect("no panic");
        }
        assert!(Segment::open(bytes[..at].to_vec(), 1).is_err(), "cut at {at}");
    }
}

/// Reads what there is, whatever it says.
fn read_all(segment: &Segment) {
    let mut key = Vec::new();
    for place in 0..segment.places() {
        segment.find(segment.id(place));
        key.clear();
        segment.key(place, &mut key);
        (0..12).for_each(|field| {
            let field_id = FieldId(field);
            segment.field_words(field, place);
            segment.has(field_id, place);
            segment.number(field_id, place);
            segment.positions_of(field_id, place, &mut |_, _| {});
            segment.vector(field_id, place);
            segment.tags_of(field_id, place, &mut |tag| {
                let _ = segment.tag_name(field_id, tag);
            });
            segment.sort_text(field_id, place);
        });
    }
    let mut left = 10_000;
    let mut each = |list: List| {
        let (mut block, mut positions) = (Block::default(), Vec::new());
        let mut postings = segment.postings(list);
        let mut blocks = 0;
        while postings.next_block(&mut block) && blocks < 100 {
            blocks += 1;
            postings.positions(block.places[0], &mut positions);
            postings.skip_to(block.places[0].wrapping_add(3));
        }
        left -= 1;
        if left > 0 { Walk::On } else { Walk::End }
    };
    segment.words(b"", &mut |_, _, list| each(list));
    segment.tags(TAG, b"", &mut |_, _, list| each(list));
    segment.words_of_stem(Language::English, b"run", &mut |_| {});
}
