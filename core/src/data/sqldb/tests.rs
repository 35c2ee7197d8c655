use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::data::testing::with_txn;
use crate::engine::memory::MemoryEngine;

const KEY: &[u8] = b"shop";

fn database(txn: &mut Txn<'_>) -> Database<'static> {
    open(txn, 0, KEY).unwrap().unwrap_or_else(|| new(0, KEY, PAGE_BYTES))
}

fn page(txn: &mut Txn<'_>, number: u32) -> Vec<u8> {
    let mut bytes = vec![0; PAGE_BYTES];
    assert!(database(txn).read(txn, number, 0, &mut bytes).unwrap());
    bytes
}

fn patch_len(txn: &mut Txn<'_>, number: u32) -> Option<usize> {
    txn.sub_value(0, KEY, PageKey::patch(number).bytes()).unwrap().map(|patch| patch.len())
}

/// A step of a test: bytes that become another value, in a page.
#[derive(Clone, Debug)]
struct Scribble(u32, Vec<(usize, u8)>);

fn scribbles() -> impl Strategy<Value = Vec<Scribble>> {
    let few = prop::collection::vec((0..PAGE_BYTES, any::<u8>()), 0..40);
    let many = prop::collection::vec((0..PAGE_BYTES, any::<u8>()), 200..800);
    let scribble =
        (0u32..4, prop_oneof![4 => few, 1 => many]).prop_map(|(page, bytes)| Scribble(page, bytes));
    prop::collection::vec(scribble, 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn page_is_read_as_it_was_written(steps in scribbles(), offset in 0..PAGE_BYTES, len in 0..PAGE_BYTES) {
        let engine = MemoryEngine::new(16);
        let mut expected: BTreeMap<u32, Vec<u8>> = BTreeMap::new();
        for Scribble(number, bytes) in steps {
            let page_now = expected.entry(number).or_insert_with(|| vec![7; PAGE_BYTES]);
            for (at, byte) in bytes {
                page_now[at] = byte;
            }
            with_txn(&engine, |txn| database(txn).write(txn, number, page_now).unwrap());
            with_txn(&engine, |txn| {
                for (number, bytes) in &expected {
                    assert_eq!(page(txn, *number), *bytes);
                    let mut part = vec![0; len.min(PAGE_BYTES - offset)];
                    assert!(database(txn).read(txn, *number, offset, &mut part).unwrap());
                    assert_eq!(part, bytes[offset..offset + part.len()]);
                    assert!(patch_len(txn, *number).is_none_or(|len| len <= PATCH_MAX_BYTES));
                }
                let count = expected.keys().last().map_or(0, |last| last + 1);
                assert_eq!(database(txn).page_count(txn).unwrap(), count);
            });
        }
    }
}

#[test]
fn small_change_writes_the_whole_page() {
    let engine = MemoryEngine::new(16);
    let mut bytes = vec![0; PAGE_BYTES];
    with_txn(&engine, |txn| database(txn).write(txn, 3, &bytes).unwrap());
    bytes[100] = 1;
    bytes[105] = 2;
    bytes[900] = 3;
    with_txn(&engine, |txn| {
        database(txn).write(txn, 3, &bytes).unwrap();
        // Two runs: six bytes and one.
        assert_eq!(patch_len(txn, 3), Some(2 * RUN_HEADER_BYTES + 7));
        assert_eq!(page(txn, 3), bytes);
    });
    bytes[..600].fill(9);
    with_txn(&engine, |txn| {
        database(txn).write(txn, 3, &bytes).unwrap();
        assert_eq!(patch_len(txn, 3), None, "too much for a patch");
        assert_eq!(page(txn, 3), bytes);
    });
    bytes[2000] = 4;
    with_txn(&engine, |txn| database(txn).write(txn, 3, &bytes).unwrap());
    bytes[2000] = 0;
    with_txn(&engine, |txn| {
        database(txn).write(txn, 3, &bytes).unwrap();
        assert_eq!(patch_len(txn, 3), None, "the page is again as it is stored");
        assert_eq!(page(txn, 3), bytes);
    });
}

#[test]
fn pages_that_were_cut_off_come_back() {
    let engine = MemoryEngine::new(16);
    let pages = REMOVED_AT_ONCE as u32 + 10;
    with_txn(&engine, |txn| {
        let mut database = database(txn);
        for number in (0..pages).filter(|number| *number != 5) {
            database.write(txn, number, &[1; PAGE_BYTES]).unwrap();
        }
    });
    with_txn(&engine, |txn| {
        let mut database = database(txn);
        database.write(txn, 4, &[[2; 10].as_slice(), &[1; PAGE_BYTES - 10]].concat()).unwrap();
        database.truncate(txn, 3).unwrap();
        assert_eq!(database.page_count(txn).unwrap(), 3);
        assert!(!database.read(txn, 4, 0, &mut [0; 16]).unwrap());
        database.write(txn, 4, &[1; PAGE_BYTES]).unwrap();
        assert_eq!(page(txn, 4), vec![1; PAGE_BYTES]);
        let mut seen = Vec::new();
        let mut note = |page: u32, _: &[u8]| {
            seen.push(page);
            Ok(())
        };
        database.pages(txn, &mut note).unwrap();
        assert_eq!(seen, [0, 1, 2, 4]);
    });
}

#[test]
fn key_of_another_type_is_taken_for_a_database() {
    let engine = MemoryEngine::new(16);
    with_txn(&engine, |txn| {
        assert!(open(txn, 0, KEY).unwrap().is_none());
        txn.put(0, KEY, NewRoot::of(Kind::Hash), &[]).unwrap();
        assert_eq!(open(txn, 0, KEY).unwrap_err(), DataError::WrongType);
        for value in [&[][..], &[VERSION], &[VERSION + 1, 11], &[VERSION, 30], &[VERSION, 11, 0]] {
            txn.put(0, KEY, NewRoot::of(Kind::SqlDatabase), value).unwrap();
            assert!(
                matches!(open(txn, 0, KEY), Err(DataError::Engine(EngineError::Damaged(_)))),
                "{value:?}"
            );
        }
    });
}

#[test]
fn damaged_patch_panics() {
    let mut page = [0; 64];
    for (patch, is_sound) in [
        (&[][..], true),
        (&[60, 0, 4, 0, 1, 2, 3, 4], true),
        (&[60, 0, 40, 0, 1, 2, 3, 4], false),
        (&[1, 0, 1], false),
        (&[255, 255, 1, 0, 9], true),
    ] {
        assert_eq!(apply(patch, 0, &mut page).is_some(), is_sound, "{patch:?}");
    }
    assert_eq!(page[60..], [1, 2, 3, 4]);
}
