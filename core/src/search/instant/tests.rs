//! Each rule by a small case, and random indexes in random parts.

use std::cell::Cell;
use std::collections::BTreeSet;

use fastrand::Rng;

use super::*;
use crate::search::evaluate::naive::{Document, Naive, Value};
use crate::search::schema::{Analyzer, Field};

fn field(name: &str, kind: FieldKind) -> Field {
    Field {
        name: name.into(),
        path: name.into(),
        kind,
        is_sortable: true,
        is_unnormalized: false,
        is_not_indexed: false,
        has_empty: false,
        has_missing: false,
    }
}

/// A name, a text, tags, a number.
fn schema() -> Schema {
    let text = || FieldKind::Text { weight: 1.0, has_stems: false, has_suffixes: false };
    let tag = FieldKind::Tag { separator: b',', is_case_sensitive: false, has_suffixes: false };
    let fields = vec![
        field("name", text()),
        field("text", text()),
        field("tags", tag),
        field("number", FieldKind::Numeric),
    ];
    Schema { fields, analyzer: Analyzer::Instant, ..Schema::default() }
}

const NUMBER: FieldId = FieldId(3);
const TAGS: FieldId = FieldId(2);

fn document(id: u64, name: &str, text: &str, tag: &str, number: f64) -> Document {
    let values = [
        (0, Value::Text(name.into())),
        (1, Value::Text(text.into())),
        (2, Value::Tags(vec![tag.into()])),
        (3, Value::Number(number)),
    ];
    Document { id, score: 1.0, values: values.into() }
}

struct Index {
    schema: Schema,
    parts: Vec<(Naive, Bits)>,
}

impl Index {
    fn new(documents: &[Document]) -> Index {
        let schema = schema();
        let part = Naive::new(&schema, documents);
        Index { schema, parts: vec![(part, Bits::all(documents.len() as u32))] }
    }

    fn of(rows: &[(&str, &str, &str, f64)]) -> Index {
        let rows = (1..).zip(rows);
        Index::new(
            &rows
                .map(|(id, (name, text, tag, number))| document(id, name, text, tag, *number))
                .collect::<Vec<_>>(),
        )
    }

    fn search(&self, words: &[&str], change: &dyn Fn(&mut Request<'_>)) -> Answer {
        let meter = Meter { work: Cell::new(0), work_max: u64::MAX, may_take: &|_| true };
        let weights = Weights::default();
        let mut request = request(words, &weights, &meter);
        change(&mut request);
        let views: Vec<View<'_>> = self.parts.iter().map(|(part, live)| View::of(part, live)).collect();
        let mut scratch = Scratch::default();
        let answer = search(&self.schema, &views, &request, &mut scratch).expect("no bounds");
        // What another query has left behind changes nothing.
        assert_eq!(search(&self.schema, &views, &request, &mut scratch).as_ref(), Ok(&answer));
        answer
    }

    fn ids(&self, words: &[&str]) -> Vec<u64> {
        self.search(words, &|_| {}).hits.iter().map(|hit| hit.id).collect()
    }
}

fn request<'q>(words: &'q [&'q str], weights: &'q Weights, meter: &'q Meter<'q>) -> Request<'q> {
    Request {
        words,
        is_open: true,
        phrases: &[],
        negated: &[],
        filter: None,
        fields: None,
        strategy: Strategy::Last,
        typos: Typos::default(),
        synonyms: &|_, _| {},
        popularity: Some(NUMBER),
        weights,
        sort: &[],
        ties: &[],
        relevance_min: None,
        distinct: None,
        facets: &[],
        facet_values_max: 10,
        ranges: &[],
        offset: 0,
        count: 10,
        postings_max: u64::MAX,
        meter,
    }
}

#[test]
fn the_last_word_is_open() {
    let index = Index::of(&[
        ("gimp", "image editor", "x", 0.0),
        ("editor", "of games", "x", 0.0),
        ("rust", "language", "x", 0.0),
    ]);
    assert_eq!(index.ids(&["g"]), [1, 2]);
    assert_eq!(index.ids(&["im", "e"]), [0; 0], "only the last word");
    assert_eq!(index.ids(&["image", "e"]), [1]);
    assert_eq!(index.ids(&[]), [1, 2, 3]);
}

#[test]
fn typos_come_when_little_is_found_and_leave_the_first_letter_alone() {
    let index = Index::of(&[("python", "", "x", 0.0), ("cython", "", "x", 0.0), ("elephant", "", "x", 0.0)]);
    assert_eq!(index.ids(&["pyhton"]), [1]);
    assert_eq!(index.ids(&["pyhto"]), [1], "in the beginning of a word, too");
    assert_eq!(index.ids(&["fython"]), [0; 0]);
    assert_eq!(index.ids(&["pytxhyn"]), [0; 0], "two typos need eight letters");
    assert_eq!(index.ids(&["elpehatn"]), [3]);
    assert!(index.search(&["pyhton"], &|request| request.typos.one_min = None).hits.is_empty());
}

#[test]
fn better_matches_come_first() {
    let rows = [
        ("c", "a tool", "x", 0.0),
        ("a", "c compiler", "x", 0.0),
        ("c compiler", "", "x", 0.0),
        ("b", "compiler in words of c", "x", 0.0),
    ];
    assert_eq!(Index::of(&rows).ids(&["c", "compiler"]), [3, 2, 4, 1], "one word is dropped for the last");
    let rows = [
        ("nodemon", "", "x", 0.0),
        ("node", "", "x", 0.0),
        ("nodes of trees", "", "x", 0.0),
        ("noda", "", "x", 0.0),
    ];
    assert_eq!(Index::of(&rows).ids(&["node"]), [2, 1, 3, 4], "whole, then begun, then with typos");
    let rows = [("editor one", "", "x", 1.0), ("editor two", "", "x", 4000.0)];
    assert_eq!(Index::of(&rows).ids(&["edit"]), [2, 1], "popular");
    let rows = [("editor", "", "x", 1.0), ("editor", "", "x", 1.0)];
    assert_eq!(Index::of(&rows).ids(&["edit"]), [1, 2], "ties by id");
}

#[test]
fn words_are_dropped_from_the_end_and_more_words_come_first() {
    let rows = [("red car", "", "x", 900.0), ("red", "blue boat", "x", 0.0), ("blue", "", "x", 0.0)];
    let index = Index::of(&rows);
    assert_eq!(index.ids(&["red", "boat"]), [2, 1]);
    let all = index.search(&["red", "boat"], &|request| request.strategy = Strategy::All);
    assert_eq!((all.total, all.words_used), (1, 2));
    assert_eq!(index.search(&["red", "boat"], &|_| {}).words_used, 1);
}

#[test]
fn a_match_in_which_two_words_are_one_is_lost_when_words_are_dropped() {
    let index = Index::of(&[("Braveheart", "", "x", 0.0), ("A brave woman", "", "x", 900.0)]);
    assert_eq!(index.ids(&["brave", "heart"]), [1, 2]);
    let cut = index.search(&["brave", "heart"], &|request| request.relevance_min = Some(0.9));
    assert_eq!(cut.total, 1);
}

#[test]
fn a_word_is_two_words_of_a_document() {
    let rows = [
        ("The man and a spider", "", "x", 900.0),
        ("Spider-Man", "", "x", 0.0),
        ("Spiderman", "", "x", 0.0),
        ("Iron Man", "", "x", 0.0),
    ];
    let index = Index::of(&rows);
    assert_eq!(index.ids(&["spiderman"]), [3, 2], "the word itself comes first");
    let answer = index.search(&["ironman"], &|_| {});
    assert_eq!((answer.hits[0].id, answer.total), (4, 1));
    assert!(answer.hits[0].relevance < 1.0);
    let exact = |request: &mut Request<'_>| request.typos = Typos::NONE;
    assert_eq!(index.search(&["ironman"], &exact).total, 0, "as typos it may be forbidden");
}

const RISING: SortKey = SortKey { field: NUMBER, is_number: true, is_descending: false };
const FALLING: SortKey = SortKey { is_descending: true, ..RISING };

/// The ids of a query whose ties one key breaks.
fn tied(index: &Index, words: &[&str], key: SortKey, count: usize) -> Vec<u64> {
    weighed(index, words, &Weights::default(), key, count)
}

/// The same with other weights.
fn weighed(index: &Index, words: &[&str], weights: &Weights, key: SortKey, count: usize) -> Vec<u64> {
    let meter = Meter { work: Cell::new(0), work_max: u64::MAX, may_take: &|_| true };
    let views: Vec<View<'_>> = index.parts.iter().map(|(part, live)| View::of(part, live)).collect();
    let request = Request { ties: &[key], popularity: None, count, ..request(words, weights, &meter) };
    let answer = search(&index.schema, &views, &request, &mut Scratch::default()).expect("no bounds");
    answer.hits.iter().map(|hit| hit.id).collect()
}

#[test]
fn numbers_that_are_near_each_other_are_a_tie() {
    let rows = [
        ("red car", "", "x", 800.0),
        ("red car", "", "x", 700.0),
        ("red car", "", "x", 900.0),
        ("red old car", "", "x", 1000.0),
    ];
    let index = Index::of(&rows);
    assert_eq!(tied(&index, &["red"], FALLING, 10), [3, 1, 2, 4]);
    assert_eq!(tied(&index, &["red"], RISING, 10), [2, 1, 3, 4]);
    assert_eq!(tied(&index, &["red", "car"], FALLING, 10), [3, 1, 2, 4], "proximity outweighs a number");
    assert_eq!(tied(&index, &[], FALLING, 10), [4, 3, 1, 2]);
    assert_eq!(tied(&index, &[], RISING, 2), [2, 1]);
}

#[test]
fn a_title_of_one_word_is_lifted_by_a_match_elsewhere() {
    let rows = [("Hook", "steven spielberg", "x", 1.0), ("Jurassic Park", "steven spielberg", "x", 900.0)];
    let index = Index::of(&rows);
    assert_eq!(tied(&index, &["spielberg"], FALLING, 10), [1, 2], "as a guess, which may be forbidden");
    let weights = Weights { short: 0, extra: 0, ..Weights::default() };
    assert_eq!(weighed(&index, &["spielberg"], &weights, FALLING, 10), [2, 1]);
}

#[test]
fn tie_is_not_broken_among_those_that_were_not_looked_at_closely() {
    let documents: Vec<Document> =
        (1..=700).map(|id| document(id, "red", "", "x", (id * 37 % 701) as f64)).collect();
    let index = Index::new(&documents);
    let number = |id: &u64| id * 37 % 701;
    for count in [10, 200, 700] {
        let ids = tied(&index, &["red"], FALLING, count);
        let numbers: Vec<u64> = ids.iter().map(number).collect();
        assert_eq!(numbers, (1..=700).rev().take(count).collect::<Vec<u64>>(), "{count}");
    }
}

#[test]
fn rare_word_is_dropped_before_a_frequent_one() {
    let rows = [("the cat", "", "x", 0.0), ("the dog", "", "x", 0.0), ("the house", "", "x", 0.0)];
    let index = Index::of(&rows);
    assert_eq!(index.ids(&["the", "zebra"]), [1, 2, 3]);
    let of = |words: &[&str]| index.search(words, &|request| request.strategy = Strategy::Frequency);
    assert_eq!(of(&["the", "cat"]).hits.iter().map(|hit| hit.id).collect::<Vec<u64>>(), [1]);
    assert_eq!(of(&["cat", "the"]).total, 1, "the frequent one is the last");
    assert_eq!(of(&["the", "zebra"]).total, 0);
}

#[test]
fn hits_of_little_relevance_are_counted() {
    let rows = [
        ("red car", "", "x", 0.0),
        ("a very old red thing", "car", "x", 0.0),
        ("red", "", "blue", 0.0),
        ("rad car", "", "x", 0.0),
    ];
    let index = Index::of(&rows);
    let of = |least: Option<f64>| {
        index.search(&["red", "car"], &|request| {
            request.relevance_min = least;
            request.facets = &[TAGS];
            request.popularity = None;
        })
    };
    let all = of(None);
    assert_eq!(all.hits.first().map(|hit| (hit.id, hit.relevance)), Some((1, 1.0)));
    assert!(all.hits.is_sorted_by(|a, b| a.relevance >= b.relevance), "{all:?}");
    for (at, hit) in all.hits.iter().enumerate() {
        let some = of(Some(hit.relevance));
        assert_eq!((some.total, some.hits.len(), some.is_exhaustive), (at as u64 + 1, at + 1, true));
        let counted: u64 = some.facets.iter().flat_map(|facet| &facet.values).map(|(_, count)| count).sum();
        assert_eq!(counted, some.total);
    }
    assert_eq!(index.search(&[], &|request| request.relevance_min = Some(1.0)).total, 4);
}

#[test]
fn relevance_rises_behind_what_was_looked_at_closely() {
    let index =
        Index::new(&(1..=300).map(|id| document(id, "red and not a car", "", "x", 0.0)).collect::<Vec<_>>());
    let of = |offset, count| {
        let answer =
            index.search(&["red", "car"], &|request| (request.offset, request.count) = (offset, count));
        answer.hits.iter().map(|hit| hit.relevance).collect::<Vec<f64>>()
    };
    let all = of(0, 300);
    assert!(all.is_sorted_by(|a, b| a >= b), "{all:?}");
    assert_eq!(of(200, 50), all[200..250]);
}

#[test]
fn neighbours_may_be_one_word() {
    let index = Index::of(&[("rustc", "a compiler", "x", 0.0), ("rust", "some c code", "x", 0.0)]);
    assert_eq!(index.ids(&["rust", "c"]), [1, 2]);
}

#[test]
fn phrases_negations_fields_and_synonyms() {
    let rows = [
        ("new york", "", "x", 0.0),
        ("york", "a new town", "x", 0.0),
        ("york new", "jersey", "x", 0.0),
        ("big apple", "", "x", 0.0),
    ];
    let index = Index::of(&rows);
    let ids = |words: &[&str], change: &dyn Fn(&mut Request<'_>)| {
        index.search(words, change).hits.iter().map(|hit| hit.id).collect::<BTreeSet<u64>>()
    };
    let phrase = [vec!["new", "york"]];
    let meter = |_: &mut Request<'_>| {};
    assert_eq!(ids(&["york"], &meter), [1, 2, 3].into());
    let weights = Weights::default();
    let count = Meter { work: Cell::new(0), work_max: u64::MAX, may_take: &|_| true };
    let views: Vec<View<'_>> = index.parts.iter().map(|(part, live)| View::of(part, live)).collect();
    let run = |request: &Request<'_>| {
        let answer = search(&index.schema, &views, request, &mut Scratch::default()).expect("no bounds");
        answer.hits.iter().map(|hit| hit.id).collect::<BTreeSet<u64>>()
    };
    let new = || request(&[], &weights, &count);
    assert_eq!(run(&Request { phrases: &phrase, ..new() }), [1].into());
    assert_eq!(run(&Request { words: &["york"], negated: &[vec!["jersey"]], ..new() }), [1, 2].into());
    assert_eq!(run(&Request { words: &["new"], fields: Some(&[FieldId(1)]), ..new() }), [2].into());
    let synonyms = |word: &str, show: &mut dyn FnMut(&str)| {
        if word == "york" {
            show("apple");
        }
    };
    assert_eq!(run(&Request { words: &["york"], synonyms: &synonyms, ..new() }), [1, 2, 3, 4].into());
}

#[test]
fn facets_ranges_sort_and_distinct() {
    let rows = [
        ("a one", "", "Red", 5.0),
        ("a two", "", "blue", 1.0),
        ("a three", "", "red", 3.0),
        ("b", "", "red", 9.0),
    ];
    let index = Index::of(&rows);
    let answer = index.search(&["a"], &|request| {
        request.facets = &[TAGS];
        request.ranges = &[NUMBER];
    });
    assert_eq!(answer.ranges, [Some(Range { least: 1.0, greatest: 5.0 })]);
    let names: Vec<(String, u64)> = answer.facets[0]
        .values
        .iter()
        .map(|(name, count)| (String::from_utf8_lossy(name).to_lowercase(), *count))
        .collect();
    assert_eq!(names, [("red".to_string(), 2), ("blue".to_string(), 1)]);
    let key = [SortKey { field: NUMBER, is_number: true, is_descending: true }];
    let meter = Meter { work: Cell::new(0), work_max: u64::MAX, may_take: &|_| true };
    let weights = Weights::default();
    let views: Vec<View<'_>> = index.parts.iter().map(|(part, live)| View::of(part, live)).collect();
    let mut sorted = Request { sort: &key, ..request(&["a"], &weights, &meter) };
    let ids = |request: &Request<'_>| {
        let answer = search(&index.schema, &views, request, &mut Scratch::default()).expect("no bounds");
        (answer.hits.iter().map(|hit| hit.id).collect::<Vec<u64>>(), answer.total)
    };
    assert_eq!(ids(&sorted), (vec![1, 3, 2], 3));
    sorted.offset = 1;
    sorted.count = 1;
    assert_eq!(ids(&sorted), (vec![3], 3));
    let distinct = Request { sort: &key, distinct: Some(TAGS), ..request(&["a"], &weights, &meter) };
    assert_eq!(ids(&distinct).1, ids(&distinct).0.len() as u64);
}

#[test]
fn a_bound_of_postings_is_told() {
    let documents: Vec<Document> =
        (1..=60).map(|id| document(id, &format!("w{} word", id % 20), "", "x", 0.0)).collect();
    let index = Index::new(&documents);
    let whole = index.search(&["w"], &|_| {});
    assert_eq!((whole.total, whole.is_exhaustive), (60, true));
    let cut = index.search(&["w1"], &|request| request.postings_max = 5);
    assert!(!cut.is_exhaustive && cut.total < 33 && cut.total >= 3, "{}", cut.total);
}

#[test]
fn heads_change_what_a_beginning_stands_for() {
    let (mut told, mut cut) = (0, 0);
    for round in 0..400u64 {
        let mut rng = Rng::with_seed(round);
        // Few words are frequent.
        let word = |rng: &mut Rng| format!("w{}", rng.usize(0..60) * rng.usize(0..60) / rng.usize(1..60));
        let documents: Vec<Document> = (1..=rng.u64(1..120))
            .map(|id| {
                let words: Vec<String> = (0..rng.usize(0..20)).map(|_| word(&mut rng)).collect();
                document(id, &words.join(" "), "", "x", 0.0)
            })
            .collect();
        let schema = schema();
        let mut parts =
            crate::search::evaluate::tests::split(&schema, &mut rng, &documents, &BTreeSet::new());
        let weights = Weights::default();
        let meter = Meter { work: Cell::new(0), work_max: u64::MAX, may_take: &|_| true };
        let words = [["w", "w1", "w2"][rng.usize(0..3)]];
        let mut request = request(&words, &weights, &meter);
        request.postings_max = rng.u64(0..600);
        let answer = |parts: &[(Naive, Bits)]| {
            let views: Vec<View<'_>> = parts.iter().map(|(part, live)| View::of(part, live)).collect();
            let kept = heads::kept(&views, &request, words[0].as_bytes()).expect("no bounds");
            (search(&schema, &views, &request, &mut Scratch::default()).expect("no bounds"), kept.is_some())
        };
        let (walked, is_told) = answer(&parts);
        assert!(!is_told);
        parts.iter_mut().for_each(|(part, _)| part.head_words = rng.usize(0..40));
        let (headed, is_told) = answer(&parts);
        assert_eq!(headed, walked, "seed {round}");
        told += usize::from(is_told);
        cut += usize::from(!walked.is_exhaustive);
    }
    assert!(told > 50 && cut > told, "{told} of {cut} by heads");
}

#[test]
fn words_of_texts_are_marked() {
    let weights = Weights::default();
    let meter = Meter { work: Cell::new(0), work_max: u64::MAX, may_take: &|_| true };
    let words = ["python", "djan"];
    let asked = request(&words, &weights, &meter);
    let mut answer = Answer { words_used: 2, ..Answer::default() };
    let mut marker = Marker::new(&asked, &answer);
    assert_eq!(marker.find("django"), Some(Mark { word: 1, characters: 4 }));
    assert_eq!(marker.find("python"), Some(Mark { word: 0, characters: 6 }));
    assert_eq!(marker.find("pythons"), None, "not the last word");
    assert_eq!(marker.find("pyhton"), None);
    answer.has_typos = true;
    let mut marker = Marker::new(&asked, &answer);
    assert_eq!(marker.find("pyhton"), Some(Mark { word: 0, characters: 6 }));
    assert_eq!(marker.find("dajngo"), Some(Mark { word: 1, characters: 4 }));
    assert_eq!(marker.find("jango"), None);
    let words = ["matrxi"];
    let asked = request(&words, &weights, &meter);
    let answer = Answer { words_used: 1, has_typos: true, ..Answer::default() };
    assert_eq!(Marker::new(&asked, &answer).find("matrix"), Some(Mark { word: 0, characters: 6 }));
}

#[test]
fn words_that_were_found_for_one_word_are_not_marked() {
    let index = Index::of(&[("the iron man", "", "x", 0.0), ("a man", "", "x", 0.0)]);
    let weights = Weights::default();
    let meter = Meter { work: Cell::new(0), work_max: u64::MAX, may_take: &|_| true };
    let words = ["best", "ironman"];
    let answer = index.search(&words, &|_| {});
    assert_eq!(answer.parts, [(1, "iron".to_string()), (1, "man".to_string())]);
    let asked = request(&words, &weights, &meter);
    let mut marker = Marker::new(&asked, &answer);
    assert_eq!(marker.find("iron"), Some(Mark { word: 1, characters: 4 }));
    assert_eq!(marker.find("man"), Some(Mark { word: 1, characters: 3 }));
    assert_eq!(marker.find("the"), None);
}

#[test]
fn an_answer_that_ignored_words_is_called_exhaustive() {
    let index = Index::of(&[("one two three", "", "x", 0.0)]);
    let words = ["one", "two", "three", "one", "two", "three", "one", "two"];
    assert!(index.search(&words, &|_| {}).is_exhaustive);
    assert!(!index.search(&[&words[..], &["three"]].concat(), &|_| {}).is_exhaustive);
}

#[test]
fn answers_do_not_depend_on_parts_and_dead_documents() {
    let syllables = ["ka", "ko", "li", "lo", "ma", "mi", "no", "ra"];
    for round in 0..300u64 {
        let mut rng = Rng::with_seed(round);
        let word =
            |rng: &mut Rng| -> String { (0..rng.usize(1..5)).map(|_| syllables[rng.usize(0..8)]).collect() };
        let text = |rng: &mut Rng| (0..rng.usize(0..6)).map(|_| word(rng)).collect::<Vec<String>>().join(" ");
        let count = rng.u64(1..250);
        let documents: Vec<Document> = (1..=count)
            .map(|id| {
                let (name, body) = (text(&mut rng), text(&mut rng));
                document(id, &name, &body, syllables[rng.usize(0..8)], f64::from(rng.u8(0..50)))
            })
            .collect();
        let dead: BTreeSet<u64> = (1..=count).filter(|_| rng.u8(0..4) == 0).collect();
        let live: Vec<Document> =
            documents.iter().filter(|document| !dead.contains(&document.id)).cloned().collect();
        let whole = Index::new(&live);
        let schema = schema();
        let parts = crate::search::evaluate::tests::split(&schema, &mut rng, &documents, &dead);
        let split = Index { schema, parts };
        let typed: Vec<String> = (0..rng.usize(0..5)).map(|_| word(&mut rng)).collect();
        let words: Vec<&str> = typed.iter().map(String::as_str).collect();
        let key = [SortKey { field: NUMBER, is_number: true, is_descending: rng.bool() }];
        let (is_sorted, is_distinct, is_open, offset) =
            (rng.u8(0..4) == 0, rng.u8(0..4) == 0, rng.bool(), rng.usize(0..5));
        let fields = [FieldId(1)];
        let is_restricted = rng.u8(0..4) == 0;
        let has_ties = rng.bool();
        let relevance_min = rng.bool().then(|| rng.f64());
        let strategy = [Strategy::Last, Strategy::All, Strategy::Frequency][rng.usize(0..3)];
        let answer = |index: &Index| {
            let weights = Weights::default();
            let meter = Meter { work: Cell::new(0), work_max: u64::MAX, may_take: &|_| true };
            let mut request = request(&words, &weights, &meter);
            request.is_open = is_open;
            request.offset = offset;
            request.count = 300;
            request.facets = &[TAGS];
            request.ranges = &[NUMBER];
            request.sort = if is_sorted { &key } else { &[] };
            request.ties = if has_ties { &key } else { &[] };
            request.relevance_min = relevance_min;
            request.strategy = strategy;
            request.distinct = is_distinct.then_some(TAGS);
            request.fields = is_restricted.then_some(&fields);
            let views: Vec<View<'_>> = index.parts.iter().map(|(part, live)| View::of(part, live)).collect();
            let answer = search(&index.schema, &views, &request, &mut Scratch::default()).expect("no bounds");
            let hits: Vec<(u64, i32)> = answer.hits.iter().map(|hit| (hit.id, hit.score)).collect();
            (hits, Answer { hits: Vec::new(), ..answer })
        };
        let (a, b) = (answer(&whole), answer(&split));
        assert_eq!(a, b, "seed {round} {words:?}");
    }
}
