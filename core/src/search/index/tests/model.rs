//! The naive model: everything is computed again from the documents.

use std::collections::{BTreeMap, BTreeSet};

use crate::search::bits::Bits;
use crate::search::index::document::{FieldValue, Source};
use crate::search::index::part::{BLOCK, Block, DocumentId, List, Part, Position, Rank, Walk};
use crate::search::index::prepare::{TEXT_GAP, fold_tag};
use crate::search::query::Bound;
use crate::search::schema::{FieldId, FieldKind, Schema};
use crate::search::text::{self, Language};

#[derive(Clone, Debug)]
pub(super) enum Values {
    Texts(Vec<Vec<u8>>),
    Tags(Vec<Vec<u8>>),
    Numbers(Vec<f64>),
    Positions(Vec<(f64, f64)>),
    Vector(Vec<u8>),
}

#[derive(Clone, Debug)]
pub(super) struct Document {
    pub(super) id: DocumentId,
    pub(super) key: Vec<u8>,
    pub(super) language: Option<Language>,
    pub(super) score: f32,
    pub(super) values: Vec<(FieldId, Values)>,
    pub(super) sort_texts: Vec<(FieldId, Vec<u8>)>,
}

impl Document {
    pub(super) fn source(&self) -> Source<'_> {
        Source {
            id: self.id,
            key: &self.key,
            language: self.language,
            score: self.score,
            values: self.values.iter().map(|(field, values)| (*field, values.value())).collect(),
            sort_texts: self.sort_texts.iter().map(|(field, text)| (*field, text.as_slice())).collect(),
        }
    }

    fn of(&self, field: FieldId) -> Option<&Values> {
        self.values.iter().find(|(other, _)| *other == field).map(|(_, values)| values)
    }
}

impl Values {
    fn value(&self) -> FieldValue<'_> {
        match self {
            Values::Texts(texts) => FieldValue::Texts(texts.iter().map(Vec::as_slice).collect()),
            Values::Tags(tags) => FieldValue::Tags(tags.iter().map(Vec::as_slice).collect()),
            Values::Numbers(numbers) => FieldValue::Numbers(numbers.clone()),
            Values::Positions(positions) => FieldValue::Positions(positions.clone()),
            Values::Vector(vector) => FieldValue::Vector(vector),
        }
    }
}

type Terms = BTreeMap<Vec<u8>, BTreeMap<u32, Vec<Position>>>;

/// The words of documents by place, and how many words their text fields have.
fn words_of(schema: &Schema, documents: &[Document]) -> (Terms, BTreeMap<(u16, u32), u32>) {
    let (mut terms, mut counts) = (Terms::new(), BTreeMap::new());
    for (document, place) in documents.iter().zip(0u32..) {
        let mut text_field = 0;
        for (field, number) in schema.fields.iter().zip(0..) {
            if !matches!(field.kind, FieldKind::Text { .. }) {
                continue;
            }
            let here = text_field;
            text_field += 1;
            let Some(Values::Texts(texts)) = document.of(FieldId(number)) else { continue };
            if field.is_not_indexed {
                continue;
            }
            let (mut base, mut count) = (0, 0);
            for text in texts {
                let mut found: Vec<(Vec<u8>, u32)> = Vec::new();
                if text.is_empty() && field.has_empty {
                    found.push((Vec::new(), 0));
                }
                text::analyze(schema.analyzer, text, &|word| schema.is_stop_word(word), &mut |token| {
                    found.push((token.text.as_bytes().to_vec(), token.position));
                });
                count += found.len() as u32;
                for (word, position) in &found {
                    let position = Position { field: here, word: base + position };
                    terms.entry(word.clone()).or_default().entry(place).or_default().push(position);
                }
                if let Some((_, last)) = found.last() {
                    base += last + 1 + TEXT_GAP;
                }
            }
            counts.insert((here, place), count);
        }
    }
    (terms, counts)
}

fn rank_of(positions: &[Position]) -> Rank {
    let first = positions[0];
    let class = match first.word {
        0..=2 => first.word as u8,
        3..=4 => 3,
        5..=8 => 4,
        9..=20 => 5,
        21..=50 => 6,
        _ => 7,
    };
    Rank((first.field.min(3) as u8) << 6 | class << 3 | positions.len().min(7) as u8)
}

fn block() -> Block {
    Block { places: [0; BLOCK], ranks: [Rank(0); BLOCK], len: 0 }
}

fn all_postings(part: &dyn Part, list: List) -> Vec<(u32, Rank)> {
    let (mut postings, mut block, mut all) = (part.postings(list), block(), Vec::new());
    while postings.next_block(&mut block) {
        assert!(block.len > 0 && block.len <= BLOCK);
        all.extend((0..block.len).map(|at| (block.places[at], block.ranks[at])));
    }
    assert_eq!(block.len, 0);
    all
}

/// Compares all that a part says with what the documents, which are in the order of its places, say.
pub(super) fn check(part: &dyn Part, schema: &Schema, documents: &[Document], random: &mut fastrand::Rng) {
    assert_eq!(part.places(), documents.len() as u32);
    let mut ids = BTreeSet::new();
    for (document, place) in documents.iter().zip(0..) {
        assert_eq!(part.id(place), document.id);
        assert_eq!(part.find(document.id), Some(place));
        assert!(
            part.find(document.id + 1).is_none() || documents.iter().any(|other| other.id == document.id + 1)
        );
        let mut key = b"before".to_vec();
        part.key(place, &mut key);
        assert_eq!(key, [b"before", document.key.as_slice()].concat());
        assert_eq!(part.score(place).to_bits(), document.score.to_bits());
        ids.insert(document.id);
    }
    check_words(part, schema, documents, random);
    for (field, number) in schema.fields.iter().zip(0..) {
        let id = FieldId(number);
        if let FieldKind::Tag { is_case_sensitive, .. } = field.kind {
            check_tags(part, id, is_case_sensitive, field.has_empty, documents, random);
        }
        check_columns(part, id, documents, random);
    }
    let unknown = FieldId(schema.fields.len() as u16 + 3);
    assert!(!part.has(unknown, 0) && part.number(unknown, 0).is_none() && part.tag_count(unknown) == 0);
    assert!(
        part.sort_text(unknown, 0).is_none()
            && part.vector(unknown, 0).is_none()
            && part.tag(unknown, b"").is_none()
    );
}

fn check_words(part: &dyn Part, schema: &Schema, documents: &[Document], random: &mut fastrand::Rng) {
    let (terms, counts) = words_of(schema, documents);
    let mut shown = Vec::new();
    part.words(&[], &mut |word, shared, list| {
        let before: &[u8] = shown.last().map_or(&[], |(word, _): &(Vec<u8>, List)| word.as_slice());
        assert_eq!(shared, before.iter().zip(word).take_while(|(one, other)| one == other).count());
        shown.push((word.to_vec(), list));
        Walk::On
    });
    assert!(shown.iter().map(|(word, _)| word).eq(terms.keys()));
    for (word, list) in &shown {
        assert_eq!(part.word(word), Some(*list));
        let expected = &terms[word];
        assert_eq!(list.documents as usize, expected.len());
        let ranks: Vec<(u32, Rank)> =
            expected.iter().map(|(place, positions)| (*place, rank_of(positions))).collect();
        assert_eq!(all_postings(part, *list), ranks);
        check_positions(part, *list, expected, documents.len() as u32, random);
        assert!(part.word(&[word, b"\x01".as_slice()].concat()).is_none());
    }
    walk_at_random(&terms, random, &mut |from, visit| part.words(from, visit));
    for field in 0..8 {
        for place in 0..documents.len() as u32 {
            assert_eq!(part.field_words(field, place), counts.get(&(field, place)).copied().unwrap_or(0));
        }
    }
    check_stems(part, schema, documents);
}

fn check_positions(
    part: &dyn Part,
    list: List,
    expected: &BTreeMap<u32, Vec<Position>>,
    places: u32,
    random: &mut fastrand::Rng,
) {
    let mut postings = part.postings(list);
    let mut found = vec![Position { field: 9, word: 9 }];
    let mut place = 0;
    let step = [1, 3, 50, 200][random.usize(..4)];
    while place < places {
        postings.positions(place, &mut found);
        assert_eq!(&found, expected.get(&place).unwrap_or(&Vec::new()), "place {place}");
        place += random.u32(..=step);
    }
    // After a skip the next block begins at or before the first posting that is not before the place.
    let (mut postings, mut block, mut place, mut read) = (part.postings(list), block(), 0, None);
    while place < places {
        place += random.u32(..200);
        postings.skip_to(place);
        let wanted = expected.range(place.max(read.map_or(0, |last| last + 1))..).next();
        let is_there = postings.next_block(&mut block);
        let Some((wanted, _)) = wanted else { continue };
        assert!(is_there);
        assert!(block.places[0] <= *wanted);
        read = Some(block.places[block.len - 1]);
        assert!(block.places[..block.len].iter().all(|place| expected.contains_key(place)));
    }
}

type Walker<'w> = &'w mut dyn FnMut(&[u8], &mut dyn FnMut(&[u8], usize, List) -> Walk);

/// Walks with random starts, jumps and ends show what the model shows.
fn walk_at_random<V>(terms: &BTreeMap<Vec<u8>, V>, random: &mut fastrand::Rng, walk: Walker<'_>) {
    let all: Vec<&Vec<u8>> = terms.keys().collect();
    for _ in 0..20 {
        let mut from = if all.is_empty() { b"x".to_vec() } else { all[random.usize(..all.len())].clone() };
        if random.bool() {
            from.truncate(random.usize(..=from.len()));
            from.extend([b"\0", b"m", b"\xFF"][random.usize(..3)]);
        }
        let mut at = all.partition_point(|term| **term < from);
        let mut before: &[u8] = &[];
        let mut has_ended = false;
        walk(&from, &mut |term, shared, _| {
            assert!(!has_ended);
            assert_eq!(all.get(at).map(|term| term.as_slice()), Some(term));
            assert_eq!(shared, before.iter().zip(term).take_while(|(one, other)| one == other).count());
            before = all[at];
            match random.u32(..10) {
                0 if random.bool() => {
                    has_ended = true;
                    Walk::End
                }
                1..=4 => {
                    let bytes = random.usize(..=term.len());
                    at += all[at..].partition_point(|other| other.starts_with(&before[..bytes]));
                    Walk::Past(bytes)
                }
                _ => {
                    at += 1;
                    Walk::On
                }
            }
        });
        assert!(has_ended || at == all.len());
    }
}

fn check_stems(part: &dyn Part, schema: &Schema, documents: &[Document]) {
    let mut stems: BTreeMap<(u8, Vec<u8>), BTreeSet<Vec<u8>>> = BTreeMap::new();
    let (all, _) = words_of(schema, documents);
    let with_stems = schema.fields.iter().filter(|field| matches!(field.kind, FieldKind::Text { .. }));
    let has_stems =
        with_stems.clone().any(|field| matches!(field.kind, FieldKind::Text { has_stems: true, .. }));
    for (word, places) in &all {
        for place in places.keys() {
            let language = documents[*place as usize].language.unwrap_or(schema.language);
            let mut stem = String::new();
            text::stem(language, std::str::from_utf8(word).unwrap(), &mut stem);
            if has_stems {
                stems.entry((language as u8, stem.into_bytes())).or_default().insert(word.clone());
            }
        }
    }
    for word in all.keys() {
        for language in [Language::English, Language::Chinese] {
            stems.entry((language as u8, word.clone())).or_default().insert(word.clone());
        }
    }
    for ((language, stem), words) in stems {
        let language =
            if language == Language::Chinese as u8 { Language::Chinese } else { Language::English };
        let mut found = Vec::new();
        part.words_of_stem(language, &stem, &mut |word| found.push(word.to_vec()));
        found.sort();
        assert_eq!(found, words.into_iter().collect::<Vec<_>>(), "{}", stem.escape_ascii());
    }
    part.words_of_stem(Language::English, b"nosuchstem", &mut |_| panic!("no such word"));
}

fn check_tags(
    part: &dyn Part,
    field: FieldId,
    is_case_sensitive: bool,
    has_empty: bool,
    documents: &[Document],
    random: &mut fastrand::Rng,
) {
    let fold = |tag: &[u8]| {
        let mut folded = Vec::new();
        if is_case_sensitive {
            folded.extend_from_slice(tag)
        } else {
            fold_tag(tag, &mut folded)
        }
        folded
    };
    let mut expected: BTreeMap<Vec<u8>, BTreeSet<u32>> = BTreeMap::new();
    let mut written: BTreeSet<Vec<u8>> = BTreeSet::new();
    for (document, place) in documents.iter().zip(0..) {
        let mut of_document = BTreeSet::new();
        if let Some(Values::Tags(tags)) = document.of(field) {
            for tag in tags.iter().filter(|tag| has_empty || !tag.is_empty()) {
                expected.entry(fold(tag)).or_default().insert(place);
                written.insert(tag.clone());
                of_document.insert(fold(tag));
            }
        }
        let (mut found, mut last) = (BTreeSet::new(), None);
        part.tags_of(field, place, &mut |tag| {
            assert!(last.is_none_or(|last| last < tag) && tag < part.tag_count(field));
            last = Some(tag);
            found.insert(fold(part.tag_name(field, tag)));
        });
        assert_eq!(found, of_document);
    }
    assert_eq!(part.tag_count(field) as usize, expected.len());
    for tag in 0..part.tag_count(field) {
        assert!(written.contains(part.tag_name(field, tag)));
    }
    for (tag, places) in &expected {
        let list = part.tag(field, tag).expect("the tag");
        assert_eq!(list.documents as usize, places.len());
        let found = all_postings(part, list);
        assert!(found.iter().map(|(place, _)| place).eq(places.iter()));
        assert!(found.iter().all(|(_, rank)| *rank == Rank(0)));
    }
    assert!(part.tag(field, b"no such tag").is_none());
    walk_at_random(&expected, random, &mut |from, visit| part.tags(field, from, visit));
}

fn check_columns(part: &dyn Part, field: FieldId, documents: &[Document], random: &mut fastrand::Rng) {
    for (document, place) in documents.iter().zip(0..) {
        let values = document.of(field);
        assert_eq!(part.has(field, place), values.is_some());
        let number = match values {
            Some(Values::Numbers(numbers)) => numbers.first().map(|number| number.to_bits()),
            _ => None,
        };
        assert_eq!(part.number(field, place).map(f64::to_bits), number);
        let vector = match values {
            Some(Values::Vector(vector)) => Some(vector.as_slice()),
            _ => None,
        };
        assert_eq!(part.vector(field, place), vector);
        let mut positions = Vec::new();
        part.positions_of(field, place, &mut |longitude, latitude| positions.push((longitude, latitude)));
        let expected: &[(f64, f64)] = match values {
            Some(Values::Positions(positions)) => positions,
            _ => &[],
        };
        assert_eq!(positions.len(), expected.len());
        for (one, other) in positions.iter().zip(expected) {
            assert!((one.0 - other.0).abs() < 1e-7 && (one.1 - other.1).abs() < 1e-7);
        }
        let sort =
            document.sort_texts.iter().find(|(other, _)| *other == field).map(|(_, text)| text.as_slice());
        assert_eq!(part.sort_text(field, place), sort);
    }
    let mut bounds = vec![f64::NEG_INFINITY, f64::INFINITY, 0.0];
    for document in documents {
        if let Some(Values::Numbers(numbers)) = document.of(field) {
            bounds.extend(numbers);
            bounds.extend(numbers.iter().map(|number| number + 0.5));
        }
    }
    for _ in 0..20 {
        let mut bound = || Bound { value: bounds[random.usize(..bounds.len())], is_exclusive: random.bool() };
        let (low, high) = (bound(), bound());
        let mut found = Bits::none(documents.len() as u32);
        part.numbers_within(field, low, high, &mut found);
        for (document, place) in documents.iter().zip(0..) {
            let is_within = |number: &f64| {
                (*number > low.value || (*number == low.value && !low.is_exclusive))
                    && (*number < high.value || (*number == high.value && !high.is_exclusive))
            };
            let expected =
                matches!(document.of(field), Some(Values::Numbers(numbers)) if numbers.iter().any(is_within));
            assert_eq!(found.has(place), expected, "{low:?} {high:?} {:?}", document.of(field));
        }
    }
}
