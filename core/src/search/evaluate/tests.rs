//! Evaluation against a second one that looks at documents one by one, over random documents, parts and trees.

use std::cell::Cell;
use std::collections::BTreeSet;

mod second;

use fastrand::Rng;

use super::naive::{Document, Naive, Value, words_of};
use super::*;
use crate::search::bits::Bits;
use crate::search::index::part::View;
use crate::search::query::{Bound, Clause, Node, Pattern};
use crate::search::schema::{Field, FieldKind, Metric, Number, Schema, VectorOptions};
use second::{Second, TEXTS, WEIGHTS};

const WORDS: [&str; 14] = [
    "run", "running", "runs", "kings", "king", "kingly", "red", "rod", "reds", "blue", "glue", "äpfel",
    "boat", "ship",
];
const TAGS: [&str; 5] = ["Red", "green", "dark green", "x", "grey"];
fn field(name: &str, kind: FieldKind) -> Field {
    Field {
        name: name.into(),
        path: name.into(),
        kind,
        is_sortable: true,
        is_unnormalized: false,
        is_not_indexed: false,
        has_empty: false,
        has_missing: true,
    }
}

pub(crate) fn schema() -> Schema {
    let text = |weight, has_stems| FieldKind::Text { weight, has_stems, has_suffixes: false };
    let vector = VectorOptions {
        dimension: 2,
        number: Number::Float32,
        metric: Metric::L2,
        is_hnsw: false,
        attributes: Vec::new(),
    };
    Schema {
        fields: vec![
            field("title", text(WEIGHTS[0], true)),
            field("tags", FieldKind::Tag { separator: b',', is_case_sensitive: false, has_suffixes: false }),
            field("body", text(WEIGHTS[1], false)),
            field("number", FieldKind::Numeric),
            field("place", FieldKind::Geo),
            field("vector", FieldKind::Vector(vector)),
            field("more", text(WEIGHTS[2], true)),
        ],
        ..Schema::default()
    }
}

fn vector(rng: &mut Rng) -> Vec<u8> {
    [rng.u8(0..9), rng.u8(0..9)].iter().flat_map(|x| f32::from(*x).to_le_bytes()).collect()
}

fn documents(rng: &mut Rng, count: u64) -> Vec<Document> {
    let make = |id| {
        let mut document = Document { id, score: [1.0, 1.0, 0.5][rng.usize(0..3)], ..Document::default() };
        for field in TEXTS {
            if rng.u8(0..4) > 0 {
                let words: Vec<&str> =
                    (0..rng.usize(0..7)).map(|_| WORDS[rng.usize(0..WORDS.len())]).collect();
                document.values.insert(field, Value::Text(words.join(" ")));
            }
        }
        if rng.bool() {
            let tags = (0..rng.usize(1..3)).map(|_| TAGS[rng.usize(0..TAGS.len())].to_string()).collect();
            document.values.insert(1, Value::Tags(tags));
        }
        if rng.bool() {
            document.values.insert(3, Value::Number(f64::from(rng.u8(0..9))));
        }
        if rng.bool() {
            document.values.insert(4, Value::Point(f64::from(rng.u8(0..9)), f64::from(rng.u8(0..9))));
        }
        if rng.bool() {
            document.values.insert(5, Value::Vector(vector(rng)));
        }
        document
    };
    (1..=count).map(make).collect()
}

fn pattern(rng: &mut Rng) -> Pattern {
    let text: Vec<u8> = WORDS[rng.usize(0..WORDS.len())].into();
    match rng.u8(0..12) {
        0 => Pattern::Prefix(text[..2].to_vec()),
        1 => Pattern::Suffix(text[text.len() - 2..].to_vec()),
        2 => Pattern::Infix(text[1..3].to_vec()),
        3 => Pattern::Wildcard(b"?*s".to_vec()),
        4 => Pattern::Fuzzy { text, distance: rng.u8(1..4) },
        5 => Pattern::Word { text, is_verbatim: true },
        6 => Pattern::Range { from: Some(b"k".to_vec()), to: Some(text) },
        _ => Pattern::Word { text, is_verbatim: false },
    }
}

fn node(rng: &mut Rng, depth: u8) -> Node {
    let several = |rng: &mut Rng| (0..rng.usize(1..4)).map(|_| node(rng, depth - 1)).collect::<Vec<Node>>();
    let kind = if depth == 0 { rng.u8(0..9) } else { rng.u8(0..18) };
    let clause = match kind {
        0..=3 => Clause::Word(pattern(rng)),
        4 => Clause::Number(
            FieldId(3),
            Bound { value: f64::from(rng.u8(0..5)), is_exclusive: rng.bool() },
            Bound { value: f64::from(rng.u8(3..9)), is_exclusive: rng.bool() },
        ),
        5 => {
            let tag = TAGS[rng.usize(0..TAGS.len())].as_bytes();
            let patterns =
                [Pattern::Word { text: tag.to_vec(), is_verbatim: true }, Pattern::Prefix(tag[..1].to_vec())];
            Clause::Tag(FieldId(1), patterns[rng.usize(0..2)..].to_vec())
        }
        6 => Clause::Phrase((0..rng.usize(2..4)).map(|_| pattern(rng)).collect()),
        7 => match rng.u8(0..4) {
            0 => Clause::Missing(FieldId(rng.u16(0..7))),
            1 => Clause::Near {
                field: FieldId(5),
                radius: 9.0,
                vector: vector(rng),
                parameter: Vec::new(),
                options: Vec::new(),
            },
            2 => Clause::Nothing,
            _ => Clause::All,
        },
        8 => Clause::Geo {
            field: FieldId(4),
            longitude: f64::from(rng.u8(0..9)),
            latitude: f64::from(rng.u8(0..9)),
            radius_m: 300_000.0,
            unit: crate::search::query::GeoUnit::Metre,
        },
        9..=12 => Clause::And(several(rng)),
        13 | 14 => Clause::Or(several(rng)),
        15 => Clause::Not(Box::new(node(rng, depth - 1))),
        16 => Clause::Optional(Box::new(node(rng, depth - 1))),
        _ => Clause::In(
            TEXTS[..rng.usize(1..3)].iter().map(|id| FieldId(*id)).collect(),
            Box::new(node(rng, depth - 1)),
        ),
    };
    let mut node = Node::from(clause);
    if rng.u8(0..5) == 0 {
        node.attributes.weight = Some(f64::from(rng.u8(1..4)));
    }
    if matches!(node.clause, Clause::And(_)) && rng.u8(0..3) == 0 {
        node.attributes.slop = Some(rng.i64(0..4));
        node.attributes.in_order = Some(rng.bool());
    }
    node
}

/// Splits documents into parts, and says which of them are there.
pub(crate) fn split(
    schema: &Schema,
    rng: &mut Rng,
    documents: &[Document],
    dead: &BTreeSet<u64>,
) -> Vec<(Naive, Bits)> {
    let mut parts: Vec<Vec<Document>> = vec![Vec::new(); rng.usize(1..5)];
    for document in documents {
        let at = rng.usize(0..parts.len());
        parts[at].push(document.clone());
    }
    let live = |documents: &[Document]| {
        let mut live = Bits::none(documents.len() as u32);
        for (place, document) in (0..).zip(documents) {
            if !dead.contains(&document.id) {
                live.add(place);
            }
        }
        live
    };
    parts.iter().map(|documents| (Naive::new(schema, documents), live(documents))).collect()
}

fn meter() -> Meter<'static> {
    Meter { work: Cell::new(0), work_max: u64::MAX, may_take: &|_| true }
}

fn options<'o>(scorer: Scorer, synonyms: Synonyms<'o>) -> Options<'o> {
    Options {
        scorer,
        needs_scores: true,
        in_fields: None,
        in_documents: None,
        slop: None,
        in_order: false,
        are_fields_apart: false,
        is_verbatim: false,
        language: Language::English,
        synonyms,
        meter: meter(),
    }
}

fn boats(word: &str, show: &mut dyn FnMut(&str)) {
    if word == "boat" || word == "ship" {
        ["boat", "ship"].into_iter().filter(|other| *other != word).for_each(show);
    }
}

#[test]
fn random_trees_match_what_a_look_at_each_document_says() {
    let schema = schema();
    for round in 0..2000u64 {
        let mut rng = Rng::with_seed(round);
        let count = rng.u64(0..40);
        let documents = documents(&mut rng, count);
        let dead: BTreeSet<u64> = (1..=count).filter(|_| rng.u8(0..4) == 0).collect();
        let parts = split(&schema, &mut rng, &documents, &dead);
        let views: Vec<View<'_>> = parts.iter().map(|(part, live)| View::of(part, live)).collect();
        let scorers = [Scorer::Bm25Std, Scorer::DisMax, Scorer::DocScore];
        let mut options = options(scorers[rng.usize(0..3)], &boats);
        options.slop = rng.bool().then(|| rng.i64(0..5));
        options.in_order = rng.u8(0..4) == 0;
        options.is_verbatim = rng.u8(0..4) == 0;
        let tree = node(&mut rng, 3);
        let live = documents.iter().filter(|document| !dead.contains(&document.id)).collect();
        let second = Second::new(&schema, live, &options);
        let wanted: Vec<(u64, f64)> = second
            .live
            .iter()
            .filter_map(|(document, tokens)| {
                let sum = second.node(&tree, [true; 3], document, tokens)?;
                let own = f64::from(document.score);
                let score = match options.scorer {
                    Scorer::DisMax => sum,
                    Scorer::DocScore => own,
                    _ => own * sum,
                };
                Some((document.id, score))
            })
            .collect();
        let matches = evaluate(&schema, &views, &tree, &options).expect("no bounds");
        let found: Vec<(u64, f64)> = in_id_order(&views, &matches, &options.meter)
            .expect("no bounds")
            .iter()
            .map(|hit| (hit.id, hit.score))
            .collect();
        let ids = |pairs: &[(u64, f64)]| pairs.iter().map(|pair| pair.0).collect::<Vec<u64>>();
        assert_eq!(ids(&found), ids(&wanted), "seed {round}: {tree:?}");
        for (found, wanted) in found.iter().zip(&wanted) {
            assert!((found.1 - wanted.1).abs() < 1e-9, "seed {round}: {found:?} {wanted:?} {tree:?}");
        }
        // One part without dead documents gives the same to the last digit.
        let rest: Vec<Document> =
            documents.iter().filter(|document| !dead.contains(&document.id)).cloned().collect();
        let whole = Naive::new(&schema, &rest);
        let all = Bits::all(rest.len() as u32);
        let views = [View::of(&whole, &all)];
        let again = evaluate(&schema, &views, &tree, &options).expect("no bounds");
        let again: Vec<(u64, f64)> = in_id_order(&views, &again, &options.meter)
            .expect("no bounds")
            .iter()
            .map(|hit| (hit.id, hit.score))
            .collect();
        assert_eq!(again, found, "seed {round}");
        // Nothing depends on whether scores are made.
        options.needs_scores = false;
        let silent = evaluate(&schema, &views, &tree, &options).expect("no bounds");
        assert_eq!(silent.total, wanted.len() as u64, "seed {round}");
    }
}

/// Two texts in one field of weight 1, and what a word of them scores.
fn score_of(scorer: Scorer, texts: [&str; 2], tree: &Node) -> f64 {
    let text = FieldKind::Text { weight: 1.0, has_stems: true, has_suffixes: false };
    let schema = Schema { fields: vec![field("text", text)], ..Schema::default() };
    let documents = [(1, texts[0]), (2, texts[1])].map(|(id, text)| Document {
        id,
        score: 1.0,
        values: [(0, Value::Text(text.into()))].into(),
    });
    let part = Naive::new(&schema, &documents);
    let live = Bits::all(2);
    let views = [View::of(&part, &live)];
    let options = options(scorer, &|_, _| {});
    let matches = evaluate(&schema, &views, tree, &options).expect("no bounds");
    top(&views, &matches, Order::Score, 0, 1, &options.meter).expect("no bounds")[0].score
}

fn word(text: &str) -> Node {
    Clause::Word(Pattern::Word { text: text.into(), is_verbatim: false }).into()
}

#[test]
fn scores_are_those_that_clients_expect() {
    let texts = [
        "The quick brown fox jumps over the lazy dog",
        "Quick alice was beginning to get very tired of sitting by her quick sister on the bank, and of having nothing to do.",
    ];
    let score = |scorer| score_of(scorer, texts, &word("quick"));
    assert_eq!(score(Scorer::Tfidf), 1.0);
    assert_eq!(score(Scorer::TfidfDocNorm), 0.14285714285714285);
    assert_eq!(score(Scorer::Bm25), 0.22471909420069797);
    assert_eq!(score(Scorer::DisMax), 2.0);
    assert_eq!(score(Scorer::DocScore), 1.0);
    assert_eq!(score(Scorer::Hamming), 0.0);
    assert!((score(Scorer::Bm25Std) - 0.2292).abs() < 0.0001);
    assert_eq!(score(Scorer::Bm25StdNorm), 1.0);
    assert_eq!(score(Scorer::Bm25StdTanh(4.0)), (score(Scorer::Bm25Std) / 4.0).tanh());
    let optional = Clause::Optional(Box::new(word("bar"))).into();
    let both: Node = Clause::And(vec![word("foo"), optional]).into();
    let bm25std = score_of(Scorer::Bm25Std, ["foo baz", "foo bar"], &both);
    assert!((bm25std - 0.8755).abs() < 0.0001);
}

#[test]
fn distances_divide_scores() {
    let both: Node = Clause::And(vec![word("hello"), word("world")]).into();
    let score = |text| {
        score_of(Scorer::TfidfDocNorm, [text, "other"], &both) * words_of(&schema(), text).len() as f64
    };
    assert_eq!(score("hello world"), 4.0);
    assert_eq!(score("hello brave world"), 1.0);
}

#[test]
fn the_first_come_in_order_and_ties_by_id() {
    let schema = schema();
    let mut rng = Rng::with_seed(5);
    let documents = documents(&mut rng, 300);
    let parts = split(&schema, &mut rng, &documents, &BTreeSet::from([7, 8]));
    let views: Vec<View<'_>> = parts.iter().map(|(part, live)| View::of(part, live)).collect();
    let options = options(Scorer::Bm25Std, &|_, _| {});
    let matches = evaluate(&schema, &views, &word("king"), &options).expect("no bounds");
    let orders = [
        Order::Score,
        Order::Number { field: FieldId(3), is_descending: false },
        Order::Number { field: FieldId(3), is_descending: true },
        Order::Text { field: FieldId(1), is_descending: true },
    ];
    for by in orders {
        let all = top(&views, &matches, by, 0, u64::MAX, &options.meter).expect("no bounds");
        assert_eq!(all.len() as u64, matches.total);
        for (offset, count) in [(0, 3), (5, 50), (2, 0), (1000, 10), (u64::MAX, u64::MAX)] {
            let some = top(&views, &matches, by, offset, count, &options.meter).expect("no bounds");
            let wanted: Vec<Hit> = all.iter().copied().skip(offset as usize).take(count as usize).collect();
            assert_eq!(some, wanted);
        }
        let has = |hit: &Hit| match by {
            Order::Number { field, .. } => views[hit.view].part.number(field, hit.place).is_some(),
            Order::Text { field, .. } => views[hit.view].part.sort_text(field, hit.place).is_some(),
            Order::Score => true,
        };
        assert!(all.is_sorted_by_key(|hit| !has(hit)), "what has no value comes last");
    }
}

#[test]
fn the_nearest_are_those_of_a_full_sort() {
    let schema = schema();
    let mut rng = Rng::with_seed(6);
    let documents = documents(&mut rng, 400);
    let parts = split(&schema, &mut rng, &documents, &BTreeSet::from([7, 8]));
    let views: Vec<View<'_>> = parts.iter().map(|(part, live)| View::of(part, live)).collect();
    let wanted = vector(&mut rng);
    let options = options(Scorer::Bm25Std, &|_, _| {});
    let matches = evaluate(&schema, &views, &word("king"), &options).expect("no bounds");
    for matches in [None, Some(&matches)] {
        let all =
            nearest(&schema, &views, matches, FieldId(5), &wanted, u64::MAX, &options.meter).expect("fits");
        assert!(all.is_sorted_by(|a, b| (a.distance, a.id) < (b.distance, b.id)));
        for count in [0, 1, 10, 70] {
            let some =
                nearest(&schema, &views, matches, FieldId(5), &wanted, count, &options.meter).expect("fits");
            assert_eq!(some, all[..all.len().min(count as usize)]);
        }
    }
    let short = nearest(&schema, &views, None, FieldId(5), b"x", 3, &options.meter);
    assert_eq!(short, Err(Failure::Vector));
}

#[test]
fn only_some_documents_and_fields() {
    let schema = schema();
    let mut rng = Rng::with_seed(9);
    let documents = documents(&mut rng, 100);
    let parts = split(&schema, &mut rng, &documents, &BTreeSet::from([7, 8]));
    let views: Vec<View<'_>> = parts.iter().map(|(part, live)| View::of(part, live)).collect();
    let mut options = options(Scorer::Bm25Std, &|_, _| {});
    options.in_documents = Some(&[3, 9, 7, 3, 1000]);
    let matches = evaluate(&schema, &views, &Clause::All.into(), &options).expect("no bounds");
    let ids = in_id_order(&views, &matches, &options.meter).expect("no bounds");
    assert_eq!(ids.iter().map(|hit| hit.id).collect::<Vec<u64>>(), [3, 9]);
    options.in_documents = None;
    options.in_fields = Some(&[FieldId(2)]);
    let inside = evaluate(&schema, &views, &word("king"), &options).expect("no bounds");
    options.in_fields = None;
    let restricted = Clause::In(vec![FieldId(2)], Box::new(word("king"))).into();
    assert_eq!(Ok(inside), evaluate(&schema, &views, &restricted, &options));
}

#[test]
fn too_much_work_memory_and_depth_end_with_an_error() {
    let schema = schema();
    let mut rng = Rng::with_seed(1);
    let parts = split(&schema, &mut rng.clone(), &documents(&mut rng, 50), &BTreeSet::new());
    let views: Vec<View<'_>> = parts.iter().map(|(part, live)| View::of(part, live)).collect();
    let mut options = options(Scorer::DisMax, &|_, _| {});
    let prefix: Node = Clause::Word(Pattern::Prefix(b"r".to_vec())).into();
    options.meter.work_max = 10;
    assert_eq!(evaluate(&schema, &views, &prefix, &options), Err(Failure::Work));
    options.meter = Meter { work: Cell::new(0), work_max: u64::MAX, may_take: &|_| false };
    assert_eq!(evaluate(&schema, &views, &prefix, &options), Err(Failure::Memory));
    options.meter = meter();
    let deep = (0..200).fold(prefix, |node, _| Clause::Not(Box::new(node)).into());
    assert_eq!(evaluate(&schema, &views, &deep, &options), Err(Failure::Depth));
}

#[test]
fn marked_words_are_those_that_match() {
    let schema = schema();
    let options = options(Scorer::Bm25Std, &boats);
    let not = Clause::Not(Box::new(word("red"))).into();
    let only =
        Clause::In(vec![FieldId(2)], Box::new(Clause::Word(Pattern::Prefix(b"gl".to_vec())).into())).into();
    let tree: Node = Clause::And(vec![word("kings"), not, only, word("boat")]).into();
    let wanted = Wanted::new(&schema, &tree, &options);
    assert_eq!(wanted.count(), 3);
    let title = Some((FieldId(0), true));
    assert_eq!(wanted.find("king", title), Some(0));
    assert_eq!(wanted.find("king", Some((FieldId(2), false))), None);
    assert_eq!(wanted.find("glue", title), None);
    assert_eq!(wanted.find("glue", Some((FieldId(2), false))), Some(1));
    assert_eq!(wanted.find("ship", title), Some(2));
    assert_eq!(wanted.find("red", title), None);
}
