//! Suggestions against a plain list of them.

use std::collections::BTreeMap;

use super::*;
use crate::data::testing::with_txn;
use crate::engine::memory::MemoryEngine;

const KEY: &[u8] = b"key";

/// Suggestions with scores and payloads.
type Model = BTreeMap<Vec<u8>, (f64, Vec<u8>)>;

fn add(txn: &mut Txn<'_>, text: &str, score: f64, payload: &str) -> bool {
    let root = root(txn, 0, KEY).unwrap();
    put(txn, (0, KEY), root.as_ref(), (text.as_bytes(), score, payload.as_bytes())).unwrap()
}

fn found(txn: &mut Txn<'_>, prefix: &[u8], with_typo: bool, most: usize) -> Vec<Completion> {
    let wanted = Wanted { prefix, with_typo, most };
    complete(txn, (0, KEY), wanted, &mut |_| Ok(())).unwrap().expect("few suggestions")
}

fn all(txn: &mut Txn<'_>) -> Model {
    let mut all = Model::new();
    each(txn, 0, KEY, &mut |text, score, payload| {
        assert!(all.insert(text.to_vec(), (score, payload.to_vec())).is_none(), "{}", text.escape_ascii());
        Ok(())
    })
    .unwrap();
    all
}

/// The fewest edits, up to one, that make a beginning of `text` of `prefix`.
fn edits_of_a_beginning(text: &[u8], prefix: &[u8]) -> Option<u8> {
    let chars =
        |bytes: &[u8]| -> Vec<char> { String::from_utf8(fold(bytes).to_vec()).unwrap().chars().collect() };
    let (text, prefix) = (chars(text), chars(prefix));
    let one_edit = |start: &[char]| {
        let common = start.iter().zip(&prefix).take_while(|(left, right)| left == right).count();
        let (start, rest) = (&start[common..], &prefix[common..]);
        match start.len() as i64 - rest.len() as i64 {
            0 => start.is_empty() || start[1..] == rest[1..],
            1 => start[1..] == *rest,
            -1 => *start == rest[1..],
            _ => false,
        }
    };
    let mut starts = (0..=text.len()).map(|len| &text[..len]);
    if text.starts_with(&prefix) { Some(0) } else { starts.any(one_edit).then_some(1) }
}

/// Every suggestion that begins so, the best first.
fn expected(model: &Model, prefix: &[u8], with_typo: bool) -> Vec<Completion> {
    let folded = fold(prefix);
    let mut texts: Vec<&[u8]> = model.keys().map(Vec::as_slice).collect();
    texts.sort_by_key(|text| subkey(text));
    let mut expected = Vec::new();
    for text in texts {
        let Some(edits) = edits_of_a_beginning(text, prefix).filter(|edits| with_typo || *edits == 0) else {
            continue;
        };
        let mut score = if *text == *folded { 2_147_483_648.0 } else { model[text].0 as f32 };
        if edits == 1 {
            score = (f64::from(score) * (-2.0_f64).exp()) as f32;
        }
        let missing = chars(text).abs_diff(chars(prefix)) as f64;
        let score = (f64::from(score) / (1.0 + missing).sqrt()) as f32;
        expected.push(Completion { text: text.to_vec(), score });
    }
    expected.sort_by(|left, right| right.score.total_cmp(&left.score));
    expected
}

fn random_text(random: &mut fastrand::Rng, len: std::ops::Range<usize>) -> String {
    const CHARS: [char; 9] = ['a', 'A', 'b', 'c', 'é', 'É', 'ß', '語', '\u{1}'];
    (0..random.usize(len)).map(|_| random.choice(CHARS).expect("one of nine")).collect()
}

#[test]
fn completion_is_missed() {
    let seed = 0xac_u64;
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..12 {
        let engine = MemoryEngine::new(16);
        let mut model = Model::new();
        for _ in 0..if round % 2 == 0 { 3 } else { 1 } {
            with_txn(&engine, |txn| {
                for _ in 0..200 {
                    let (text, score) = (random_text(&mut random, 1..7), f64::from(random.u8(..)) / 2.0);
                    add(txn, &text, score, "");
                    model.insert(text.into_bytes(), (score, Vec::new()));
                }
                // Committed ones and those of the transaction together.
                for _ in 0..60 {
                    let prefix = random_text(&mut random, 0..5);
                    for with_typo in [false, true] {
                        let expected = expected(&model, prefix.as_bytes(), with_typo);
                        let found_all = found(txn, prefix.as_bytes(), with_typo, usize::MAX);
                        assert_eq!(found_all, expected, "{prefix:?} {with_typo}");
                        let few = found(txn, prefix.as_bytes(), with_typo, 5);
                        assert_eq!(few, expected[..expected.len().min(5)], "{prefix:?} {with_typo}");
                    }
                }
            });
        }
    }
}

#[test]
fn suggestion_is_lost_or_comes_twice() {
    let seed = 0x5a9_u64;
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let (engine, mut model) = (MemoryEngine::new(16), Model::new());
    for _ in 0..30 {
        with_txn(&engine, |txn| {
            for _ in 0..100 {
                let text = random_text(&mut random, 1..4);
                if random.u8(..3) == 0 {
                    let was_there = model.remove(text.as_bytes()).is_some();
                    assert_eq!(remove(txn, 0, KEY, text.as_bytes()).unwrap(), was_there);
                    continue;
                }
                let (score, payload) = (random.f64(), random_text(&mut random, 0..3));
                assert_eq!(add(txn, &text, score, &payload), !model.contains_key(text.as_bytes()));
                let known = model.entry(text.into_bytes()).or_default();
                known.0 = score;
                if !payload.is_empty() {
                    known.1 = payload.into_bytes();
                }
            }
        });
        with_txn(&engine, |txn| {
            assert_eq!(all(txn), model);
            assert_eq!(len(txn, 0, KEY).unwrap(), model.len() as u64);
            assert_eq!(mend(txn, 0, KEY).unwrap(), 0);
        });
    }
    with_txn(&engine, |txn| {
        for text in model.keys() {
            assert!(remove(txn, 0, KEY, text).unwrap());
        }
        assert_eq!(txn.root(0, KEY).unwrap(), None);
    });
}

#[test]
fn suggestions_are_more_than_are_held_at_once() {
    let engine = MemoryEngine::new(16);
    let count = 2 * AT_ONCE + 1;
    with_txn(&engine, |txn| {
        for number in 0..count {
            add(txn, &format!("Text {number}"), number as f64, "payload");
        }
        let all = all(txn);
        assert_eq!(all.len(), count);
        assert_eq!(all[&b"Text 2048"[..]], (2048.0, b"payload".to_vec()));
    });
}

#[test]
fn payload_outlives_its_suggestion() {
    let engine = MemoryEngine::new(16);
    with_txn(&engine, |txn| {
        add(txn, "one", 1.0, "1");
        add(txn, "Two", 2.0, "2");
        // As damage does.
        txn.sub_remove(0, KEY, &subkey(b"Two")).unwrap();
        assert_eq!(mend(txn, 0, KEY).unwrap(), 1);
        assert_eq!(all(txn).len(), 1);
        add(txn, "Two", 2.0, "");
        assert_eq!(payload(txn, 0, KEY, b"Two").unwrap(), None);
    });
}

#[test]
fn prefix_finds_what_begins_otherwise() {
    let engine = MemoryEngine::new(16);
    with_txn(&engine, |txn| {
        add(txn, "ab", 1.0, "");
        add(txn, "AB", 2.0, "");
        add(txn, "aB", 3.0, "");
        let texts = |found: Vec<Completion>| found.into_iter().map(|one| one.text).collect::<Vec<_>>();
        assert_eq!(texts(found(txn, b"A", false, 5)), [b"aB", b"AB", b"ab"]);
        // What was typed comes first, whatever its score is.
        assert_eq!(texts(found(txn, b"ab", false, 5)), [b"ab", b"aB", b"AB"]);
        for prefix in [&b"ab\0"[..], b"ab\0A", b"ab\xFF", b"\xFF", b"abc"] {
            assert!(found(txn, prefix, false, 5).is_empty(), "{}", prefix.escape_ascii());
        }
        assert_eq!(found(txn, b"xab", true, 5).len(), 3);
        assert_eq!(found(txn, b"xa\0", true, 5).len(), 0);
    });
    for (text, is_one) in [
        (&b""[..], false),
        (b"a", true),
        (b"a\0", false),
        (b"\xFF\xFE", true),
        (&[b'a'; 254], true),
        (&[b'a'; 255], false),
    ] {
        assert_eq!(is_text(text), is_one, "{}", text.escape_ascii());
    }
}

#[test]
fn long_work_is_not_announced() {
    let engine = MemoryEngine::new(16);
    with_txn(&engine, |txn| {
        for number in 0..20_000 {
            add(txn, &format!("{number:05}"), f64::from(number), "");
        }
        let mut announced = Vec::new();
        let wanted = Wanted { prefix: b"1", with_typo: false, most: 1 };
        complete(txn, (0, KEY), wanted, &mut |count| {
            announced.push(count);
            Ok(())
        })
        .unwrap();
        assert_eq!(announced, [10_000]);
        announced.clear();
        let wanted = Wanted { with_typo: true, ..wanted };
        complete(txn, (0, KEY), wanted, &mut |count| {
            announced.push(count);
            Ok(())
        })
        .unwrap();
        assert_eq!(announced, [8192, 16_384]);
        let refused =
            complete(txn, (0, KEY), wanted, &mut |_| Err(DataError::Engine(EngineError::TakesLong)));
        assert_eq!(refused, Err(DataError::Engine(EngineError::TakesLong)));
    });
}
