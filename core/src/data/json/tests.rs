//! Documents in pieces against the same documents in one.

use super::*;
use crate::data::testing::with_txn;
use crate::engine::memory::MemoryEngine;
use crate::engine::{SubWalk, Want};
use crate::json::edit;
use crate::json::node::{InOne, Step};
use crate::json::text::parse;
use std::ops::ControlFlow;

const KEY: &[u8] = b"key";

fn packed(text: &str) -> Vec<u8> {
    parse(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}")).packed
}

fn printed(value: &[u8]) -> String {
    let mut out = Vec::new();
    format::write(&Node::new(value), Format::default(), &mut InOne, &mut out).expect("a whole value");
    String::from_utf8(out).expect("UTF-8")
}

fn stored(txn: &mut Txn<'_>) -> String {
    let text = Document::open(txn, 0, KEY).expect("a document").expect("a document").text();
    String::from_utf8(text.expect("a sound document")).expect("UTF-8")
}

fn subkeys(txn: &mut Txn<'_>) -> u64 {
    txn.sub_len(0, KEY).expect("a key")
}

/// An object or array of some depth, or a scalar; some are larger than a piece.
fn random(generator: &mut fastrand::Rng, depth: usize) -> String {
    let scalar = |generator: &mut fastrand::Rng| match generator.u8(..5) {
        0 => "null".to_owned(),
        1 => generator.i64(-500..500).to_string(),
        2 => format!("{:?}", generator.f64()),
        3 => format!("\"{}\"", "s".repeat(generator.usize(..700))),
        _ => format!("\"{}\"", generator.u32(..)),
    };
    if depth > 3 {
        return scalar(generator);
    }
    let count = generator.usize(..8);
    match generator.u8(..6) {
        0 => format!("[{}]", vec!["1.5"; generator.usize(..400)].join(",")),
        1 | 2 => {
            let parts: Vec<String> = (0..count).map(|_| random(generator, depth + 1)).collect();
            format!("[{}]", parts.join(","))
        }
        3 | 4 => {
            let parts: Vec<String> =
                (0..count).map(|at| format!("\"m{at}\":{}", random(generator, depth + 1))).collect();
            format!("{{{}}}", parts.join(","))
        }
        _ => scalar(generator),
    }
}

/// A place in a document, each step of it chosen at random.
fn somewhere(generator: &mut fastrand::Rng, model: &[u8]) -> Vec<Step> {
    let (mut node, mut place) = (Node::new(model), Vec::new());
    while generator.u8(..5) > 0 {
        let mut parts = node.parts(&mut InOne).expect("a whole value");
        if parts.is_empty() {
            break;
        }
        let (step, part) = parts.swap_remove(generator.usize(..parts.len()));
        place.push(step);
        node = part;
    }
    place
}

fn at(model: &Node, place: &[Step]) -> Node {
    let mut node = model.clone();
    for step in place {
        let parts = node.parts(&mut InOne).expect("a whole value");
        node = parts.into_iter().find(|(other, _)| other == step).expect("a part").1;
    }
    node
}

#[test]
fn document_in_pieces_becomes_another_one() {
    let seed = 22;
    let mut generator = fastrand::Rng::with_seed(seed);
    for round in 0..60 {
        let engine = MemoryEngine::new(1);
        let mut model = packed(&random(&mut generator, 0));
        with_txn(&engine, |txn| Document::make(txn, 0, KEY, &model).unwrap());
        for step in 0..40 {
            let place = somewhere(&mut generator, &model);
            let target = at(&Node::new(model.as_slice()), &place);
            let value = packed(&random(&mut generator, 2));
            let other = packed(&random(&mut generator, 3));
            with_txn(&engine, |txn| {
                let mut document = Document::open(txn, 0, KEY).unwrap().unwrap();
                let count = target.count(&mut InOne).unwrap().unwrap_or(0);
                let (changed, is_done) = match (packed::shape(target.bytes()).unwrap(), generator.u8(..4)) {
                    (Shape::Object(members), 0 | 1) => {
                        let name = format!("new{step}");
                        let new = edit::with_member(members, &name, &value);
                        (new, document.add_member(&place, &name, &value).unwrap())
                    }
                    (Shape::Array(elements), 0 | 1) => {
                        let from = generator.u64(..=count);
                        let to = generator.u64(from..=count);
                        let by = [value.as_slice(), other.as_slice(), value.as_slice()];
                        let by = by.get(..generator.usize(..=3)).unwrap();
                        let new = edit::with_elements(elements, from..to, by);
                        (new, document.splice(&place, from..to, by).unwrap())
                    }
                    (Shape::Object(mut members), 2) if count > 0 => {
                        let all = members;
                        let (name, _) = members.nth(generator.usize(..count as usize)).unwrap();
                        let inner = [place.clone(), vec![Step::Name(name.into())]].concat();
                        (edit::without_member(all, name), document.remove(&inner).unwrap())
                    }
                    _ => (value.clone(), document.set(&place, &value).unwrap()),
                };
                assert!(is_done, "seed {seed}, round {round}, step {step}");
                model = edit::change(&model, &place, &mut |_| Some(changed.clone())).unwrap();
            });
            with_txn(&engine, |txn| {
                assert_eq!(stored(txn), printed(&model), "seed {seed}, round {round}, step {step}");
            });
        }
        // What is left is what the same document takes that is made anew, but for what has no need of pieces any more.
        with_txn(&engine, |txn| {
            let mut document = Document::open(txn, 0, KEY).unwrap().unwrap();
            document.set(&[], &packed("1")).unwrap();
            assert_eq!(subkeys(txn), 0, "seed {seed}, round {round}");
        });
    }
}

#[test]
fn pieces_of_what_was_removed_stay() {
    let engine = MemoryEngine::new(1);
    let long = "x".repeat(600);
    let deep = format!("[{{\"a\":[\"{long}\",{{\"b\":\"{long}\"}},\"{long}\"]}},\"{long}\"]");
    let text = format!("{{\"keep\":\"{long}\",\"go\":{deep}}}");
    with_txn(&engine, |txn| {
        Document::make(txn, 0, KEY, &packed(&format!("{{\"keep\":\"{long}\"}}"))).unwrap();
    });
    let before = with_txn(&engine, subkeys);
    for way in 0..4 {
        with_txn(&engine, |txn| {
            let mut document = Document::open(txn, 0, KEY).unwrap().unwrap();
            assert!(document.add_member(&[], "go", &packed(&deep)).unwrap());
        });
        assert_eq!(with_txn(&engine, stored), text);
        with_txn(&engine, |txn| {
            let mut document = Document::open(txn, 0, KEY).unwrap().unwrap();
            let go = [Step::Name("go".into())];
            match way {
                0 => assert!(document.remove(&go).unwrap()),
                1 => assert!(document.set(&go, &packed("1")).unwrap() && document.remove(&go).unwrap()),
                2 => assert!(document.splice(&go, 0..2, &[]).unwrap() && document.remove(&go).unwrap()),
                _ => {
                    let inner = [&go[..], &[Step::Index(0), Step::Name("a".into())]].concat();
                    assert!(document.remove(&inner).unwrap() && document.remove(&go).unwrap());
                }
            }
        });
        assert_eq!(with_txn(&engine, subkeys), before, "way {way}");
    }
}

#[test]
fn leaf_writes_the_whole_document() {
    let engine = MemoryEngine::new(1);
    let items: Vec<String> = (0..1000)
        .map(|at| format!("{{\"id\":{at},\"name\":\"item {at}\",\"tags\":[\"a\",\"b\"],\"price\":1.5}}"))
        .collect();
    with_txn(&engine, |txn| {
        Document::make(txn, 0, KEY, &packed(&format!("{{\"items\":[{}]}}", items.join(",")))).unwrap();
    });
    let all = |txn: &mut Txn<'_>| {
        let mut all: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
        txn.sub_scan(0, KEY, SubWalk::all(Want::Values), &mut |subkey, value| {
            all.push((subkey.to_vec(), value.to_vec()));
            ControlFlow::Continue(())
        })
        .unwrap();
        all
    };
    let before = with_txn(&engine, all);
    with_txn(&engine, |txn| {
        let mut document = Document::open(txn, 0, KEY).unwrap().unwrap();
        let place = [Step::Name("items".into()), Step::Index(500), Step::Name("price".into())];
        assert!(document.set(&place, &packed("2.5")).unwrap());
    });
    let after = with_txn(&engine, all);
    let written: Vec<usize> = before
        .iter()
        .zip(&after)
        .filter(|(before, after)| before != after)
        .map(|(_, (_, value))| value.len())
        .collect();
    assert!(matches!(written.as_slice(), [bytes] if *bytes < 100), "{written:?}");
}

#[test]
fn insertions_at_one_place_use_up_all_positions() {
    let engine = MemoryEngine::new(1);
    let long = "x".repeat(300);
    with_txn(&engine, |txn| {
        Document::make(txn, 0, KEY, &packed(&format!("[\"{long}\",\"{long}\"]"))).unwrap();
        let mut document = Document::open(txn, 0, KEY).unwrap().unwrap();
        for number in 0..600 {
            assert!(document.splice(&[], 1..1, &[&packed(&number.to_string())]).unwrap());
        }
        let text = String::from_utf8(document.text().unwrap()).unwrap();
        let numbers: Vec<String> = (0..600).rev().map(|number| number.to_string()).collect();
        assert_eq!(text, format!("[\"{long}\",{},\"{long}\"]", numbers.join(",")));
    });
}

#[test]
fn lost_piece_is_no_error() {
    let long = "x".repeat(600);
    for (subkey, is_error) in
        [(HEAD.to_vec(), true), (header_of(2).to_vec(), true), (part_of(1, b"a"), false)]
    {
        let engine = MemoryEngine::new(1);
        with_txn(&engine, |txn| {
            Document::make(txn, 0, KEY, &packed(&format!("{{\"a\":\"{long}\",\"b\":1}}"))).unwrap();
            assert!(txn.sub_remove(0, KEY, &subkey).unwrap(), "{subkey:?}");
        });
        with_txn(&engine, |txn| {
            let read = Document::open(txn, 0, KEY).unwrap().unwrap().text();
            assert_eq!(read.is_err(), is_error, "{subkey:?}");
        });
    }
}

#[test]
fn appended_number_rewrites_all_numbers_before_it() {
    let engine = MemoryEngine::new(1);
    let number = packed("123456789");
    for (document, place) in [("[]", vec![]), (r#"{"log":[],"x":1}"#, vec![Step::Name("log".into())])] {
        with_txn(&engine, |txn| Document::make(txn, 0, KEY, &packed(document)).unwrap());
        for at in 0..2000 {
            with_txn(&engine, |txn| {
                let mut document = Document::open(txn, 0, KEY).unwrap().unwrap();
                assert!(document.splice(&place, at..at, &[number.as_slice()]).unwrap());
            });
        }
        with_txn(&engine, |txn| {
            assert!(subkeys(txn) > 1900, "{document}: the numbers stand in one piece");
            let mut largest = 0;
            txn.sub_scan(0, KEY, SubWalk::all(Want::Values), &mut |_, value| {
                largest = largest.max(value.len());
                ControlFlow::Continue(())
            })
            .unwrap();
            assert!(largest <= PIECE_BYTES, "{document}: a piece has {largest} bytes");
            assert!(stored(txn).contains(&["123456789"; 2000].join(",")), "{document}");
        });
    }
    // A vector that is set as a whole is one piece.
    let vector = packed(&format!("[{}]", vec!["0.25"; 384].join(",")));
    with_txn(&engine, |txn| {
        Document::make(txn, 0, KEY, &vector).unwrap();
        assert_eq!(subkeys(txn), 0);
    });
}
