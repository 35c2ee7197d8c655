//! A naive model of an index against the delta, segments and merges.

mod damage;
mod limits;
mod model;
mod random;

use std::sync::Arc;

use super::{Delta, Merge, Segment, freeze, prepare};
use crate::search::bits::Bits;
use crate::search::schema::Schema;
use model::{Document, check};

const INDEX: u64 = 0x0123_4567_89AB_CDEF;

fn delta_of(schema: &Schema, documents: &[Document]) -> Delta {
    let mut delta = Delta::new();
    for document in documents {
        delta.add(&prepare(schema, &document.source())).expect("room");
    }
    delta
}

fn frozen(delta: &Delta, live: &Bits) -> Vec<u8> {
    freeze(delta, live, INDEX).expect("small").bytes
}

fn segment_of(schema: &Schema, documents: &[Document]) -> Segment {
    let delta = delta_of(schema, documents);
    Segment::open(frozen(&delta, &Bits::all(documents.len() as u32)), INDEX).expect("as written")
}

fn in_order(documents: &[Document]) -> Vec<Document> {
    let mut sorted = documents.to_vec();
    sorted.sort_by_key(|document| document.id);
    sorted
}

#[test]
fn a_delta_and_its_segment_say_what_the_model_says() {
    for seed in 0..60 {
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let schema = random::schema(&mut random);
        let count = [0, 1, 5, 40, 300][random.usize(..5)];
        let documents = random::documents(&mut random, &schema, count, true);
        let delta = delta_of(&schema, &documents);
        check(&delta, &schema, &documents, &mut random);
        check(&segment_of(&schema, &documents), &schema, &in_order(&documents), &mut random);
    }
}

#[test]
fn dead_documents_are_not_in_segments() {
    for seed in 100..120 {
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let schema = random::schema(&mut random);
        let documents = random::documents(&mut random, &schema, 100, false);
        let delta = delta_of(&schema, &documents);
        let (live, rest) = random::survivors(&mut random, &documents);
        let bytes = frozen(&delta, &live);
        assert!(bytes == frozen(&delta_of(&schema, &in_order(&rest)), &Bits::all(rest.len() as u32)));
        let segment = Segment::open(bytes, INDEX).expect("as written");
        check(&segment, &schema, &in_order(&rest), &mut random);
    }
}

#[test]
fn a_merge_makes_the_bytes_that_a_rebuild_makes() {
    for seed in 200..260 {
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let schema = random::schema(&mut random);
        let count = [3, 60, 600][random.usize(..3)];
        let documents = random::documents(&mut random, &schema, count, false);
        let mut parts: Vec<Vec<Document>> = vec![Vec::new(); random.usize(1..5)];
        let is_interleaved = random.bool();
        for (number, document) in documents.iter().enumerate() {
            let part = if is_interleaved {
                random.usize(..parts.len())
            } else {
                number * parts.len() / documents.len()
            };
            parts[part].push(document.clone());
        }
        let (mut inputs, mut all) = (Vec::new(), Vec::new());
        let mut expected = Vec::new();
        for part in &parts {
            let part = in_order(part);
            let (live, rest) = random::survivors(&mut random, &part);
            inputs.push((Arc::new(segment_of(&schema, &part)), live.clone()));
            all.extend(rest);
            expected.push((part, live));
        }
        let mut merge = Merge::new(inputs, INDEX);
        let work = [1, 50, 1000, u32::MAX][random.usize(..4)];
        while !merge.step(work) {}
        let merged = merge.finish().expect("small");
        let all = in_order(&all);
        let rebuilt = frozen(&delta_of(&schema, &all), &Bits::all(all.len() as u32));
        assert!(merged.bytes == rebuilt, "{} and {} bytes", merged.bytes.len(), rebuilt.len());
        for ((part, live), places) in expected.iter().zip(&merged.places) {
            for ((document, old), new) in part.iter().zip(0..).zip(places) {
                let place = all.iter().position(|other| other.id == document.id).map(|place| place as u32);
                assert_eq!(*new, if live.has(old) { place.expect("live") } else { u32::MAX });
            }
        }
        let segment = Segment::open(merged.bytes, INDEX).expect("as written");
        check(&segment, &schema, &all, &mut random);
    }
}

/// Tags that are written in several ways and several languages are left to one of them; all else holds.
#[test]
fn a_merge_of_mixed_writings_answers_as_the_model() {
    for seed in 300..320 {
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let schema = random::schema(&mut random);
        let documents = random::documents(&mut random, &schema, 80, true);
        let (one, other) = documents.split_at(30);
        let parts = [one, other].map(in_order);
        let inputs = parts
            .iter()
            .map(|part| (Arc::new(segment_of(&schema, part)), Bits::all(part.len() as u32)))
            .collect();
        let mut merge = Merge::new(inputs, INDEX);
        while !merge.step(7) {}
        let segment = Segment::open(merge.finish().expect("small").bytes, INDEX).expect("as written");
        check(&segment, &schema, &in_order(&documents), &mut random);
    }
}
