//! Schemas and documents at random.

use super::model::{Document, Values};
use crate::search::bits::Bits;
use crate::search::schema::{Analyzer, Field, FieldId, FieldKind, Metric, Number, Schema, VectorOptions};
use crate::search::text::Language;

const WORDS: [&str; 40] = [
    "a",
    "run",
    "running",
    "runs",
    "runner",
    "connect",
    "connected",
    "connection",
    "connections",
    "universe",
    "universal",
    "univers",
    "zürich",
    "ZÜRICH",
    "straße",
    "東京都",
    "кошка",
    "кошки",
    "naïve",
    "e\u{301}t\u{e9}",
    "x1",
    "x2",
    "abcdefgh",
    "abcdefghi",
    "abcdefghij",
    "abcdefg",
    "hello",
    "help",
    "helper",
    "hell",
    "held",
    "holt",
    "the",
    "of",
    "ﬁne",
    "🦀",
    "fine",
    "finer",
    "finest",
    "İstanbul",
];

fn text(random: &mut fastrand::Rng) -> String {
    let count = match random.u32(..20) {
        0 => 0,
        1 => 200,
        _ => random.usize(1..12),
    };
    let mut text = String::new();
    let same = random.usize(..WORDS.len());
    for _ in 0..count {
        let word = if count == 200 && random.u32(..3) > 0 { same } else { random.usize(..WORDS.len()) };
        text.push_str(WORDS[word]);
        if random.u32(..8) == 0 {
            text.push_str(&random.u32(..500).to_string());
        }
        text.push(' ');
    }
    text
}

pub(super) fn field(kind: FieldKind, number: usize) -> Field {
    let name = format!("f{number}").into_bytes();
    Field {
        path: name.clone(),
        name,
        kind,
        is_sortable: true,
        is_unnormalized: false,
        is_not_indexed: false,
        has_empty: false,
        has_missing: true,
    }
}

pub(super) fn schema(random: &mut fastrand::Rng) -> Schema {
    let mut schema = Schema {
        analyzer: if random.u32(..4) == 0 { Analyzer::Instant } else { Analyzer::Words },
        ..Schema::default()
    };
    let count = random.usize(1..14);
    // Stems belong to a word, not to a field, so fields with and without them are not mixed here.
    let has_stems = random.u32(..4) > 0;
    for number in 0..count {
        let kind = match random.u32(..12) {
            0..=4 => FieldKind::Text { weight: 1.0, has_stems, has_suffixes: false },
            5 | 6 => {
                FieldKind::Tag { separator: b',', is_case_sensitive: random.bool(), has_suffixes: false }
            }
            7 | 8 => FieldKind::Numeric,
            9 => FieldKind::Geo,
            _ => FieldKind::Vector(VectorOptions {
                dimension: 2,
                number: Number::Float32,
                metric: Metric::L2,
                is_hnsw: false,
                attributes: Vec::new(),
            }),
        };
        let mut field = field(kind, number);
        field.has_empty = random.bool();
        field.is_not_indexed = random.u32(..10) == 0;
        schema.fields.push(field);
    }
    schema
}

/// How the numbers of a field look.
fn number(random: &mut fastrand::Rng, field: usize) -> f64 {
    match field % 7 {
        0 => f64::from(random.u32(..200)),
        1 => f64::from(random.u32(..100_000)) / 100.0,
        2 => random.f64() * 1e6,
        3 => f64::from(random.i32(..)),
        4 => [0.1, -0.0, f64::INFINITY, 1e300, 5e-324][random.usize(..5)],
        5 => 42.0,
        _ => random.u64(..1 << 60) as f64,
    }
}

fn values(random: &mut fastrand::Rng, kind: &FieldKind, number_of_field: usize, is_mixed: bool) -> Values {
    let count = if random.u32(..4) == 0 { random.usize(..5) } else { 1 };
    match kind {
        FieldKind::Text { .. } => Values::Texts((0..count).map(|_| text(random).into_bytes()).collect()),
        FieldKind::Tag { .. } => {
            let mut tag = || {
                let number = random.u32(..30);
                match random.u32(..3) {
                    0 if is_mixed => format!("Tag {number}").into_bytes(),
                    0 if number == 7 => Vec::new(),
                    0 if number == 8 => vec![0xFF, b'x'],
                    1 => format!("ÄÖ{number}").into_bytes(),
                    _ => format!("tag {number}").into_bytes(),
                }
            };
            Values::Tags((0..count).map(|_| tag()).collect())
        }
        FieldKind::Numeric => Values::Numbers((0..count).map(|_| number(random, number_of_field)).collect()),
        FieldKind::Geo => Values::Positions(
            (0..count).map(|_| (random.f64() * 360.0 - 180.0, random.f64() * 180.0 - 90.0)).collect(),
        ),
        FieldKind::Vector(_) => Values::Vector((0..8).map(|_| random.u8(..)).collect()),
    }
}

/// Documents in any order of ids. Mixed ones have several languages, and tags that are written in several ways.
pub(super) fn documents(
    random: &mut fastrand::Rng,
    schema: &Schema,
    count: usize,
    is_mixed: bool,
) -> Vec<Document> {
    let step = [1, 3, 1000, 1 << 40][random.usize(..4)];
    let presence = random.u32(1..11);
    let mut id = random.u64(..1000);
    let mut documents: Vec<Document> = (0..count)
        .map(|_| {
            id += random.u64(1..=step);
            let mut document = Document {
                id,
                key: format!("doc:{}{}", id, if random.bool() { "é" } else { "" }).into_bytes(),
                language: (is_mixed && random.u32(..3) == 0).then_some(Language::Chinese),
                score: if presence > 5 || random.u32(..5) > 0 { 1.0 } else { random.f32() },
                values: Vec::new(),
                sort_texts: Vec::new(),
            };
            for (number, field) in schema.fields.iter().enumerate() {
                if random.u32(..10) < presence {
                    document
                        .values
                        .push((FieldId(number as u16), values(random, &field.kind, number, is_mixed)));
                }
                if !matches!(field.kind, FieldKind::Numeric) && random.bool() {
                    document
                        .sort_texts
                        .push((FieldId(number as u16), format!("{}", random.u32(..300)).into_bytes()));
                }
            }
            document
        })
        .collect();
    if random.bool() {
        random.shuffle(&mut documents);
    }
    documents
}

/// Some of the documents, and the bits of their places.
pub(super) fn survivors(random: &mut fastrand::Rng, documents: &[Document]) -> (Bits, Vec<Document>) {
    let mut live = Bits::none(documents.len() as u32);
    let percent = [0, 50, 95, 100][random.usize(..4)];
    let mut rest = Vec::new();
    for (document, place) in documents.iter().zip(0..) {
        if random.u32(..100) < percent {
            live.add(place);
            rest.push(document.clone());
        }
    }
    (live, rest)
}
