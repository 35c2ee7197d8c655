//! Distances against the plain definition, and the order of corrections.

use super::*;

/// The whole table.
fn plain_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut row: Vec<usize> = (0..=a.len()).collect();
    for (read, char) in b.iter().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], read + 1);
        for at in 1..=a.len() {
            let replaced = diagonal + usize::from(a[at - 1] != *char);
            diagonal = row[at];
            row[at] = replaced.min(row[at - 1] + 1).min(diagonal + 1);
        }
    }
    row[a.len()]
}

#[test]
fn edits_are_counted_otherwise() {
    for (a, b, max, expected) in [
        ("", "", 0, Some(0)),
        ("", "ab", 2, Some(2)),
        ("", "ab", 1, None),
        ("redis", "redis", 0, Some(0)),
        ("reids", "redis", 1, None),
        ("reids", "redis", 2, Some(2)),
        ("kitten", "sitting", 3, Some(3)),
        ("müller", "muller", 1, Some(1)),
        ("日本", "日本語", 1, Some(1)),
        ("a", "abcdef", 4, None),
        ("abcdef", "a", 5, Some(5)),
    ] {
        assert_eq!(distance(a, b, max), expected, "{a} {b} {max}");
        assert_eq!(distance(b, a, max), expected, "{b} {a} {max}");
    }
    let (longest, longer) = ("x".repeat(WORD_MAX_CHARS), "x".repeat(WORD_MAX_CHARS + 1));
    assert_eq!(distance(&longest, &longest, 1), Some(0));
    assert_eq!((distance(&longest, &longer, 1), distance(&longer, &longest, 1)), (None, None));
    assert_eq!(distance("", &longest, u8::MAX), Some(99));
}

#[test]
fn distance_differs_from_the_definition() {
    let seed = 0x5be1_u64;
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for _ in 0..20_000 {
        let word = |random: &mut fastrand::Rng| -> String {
            (0..random.usize(0..9))
                .map(|_| random.choice(['a', 'b', 'é', '語']).expect("one of four"))
                .collect()
        };
        let (a, b, max) = (word(&mut random), word(&mut random), random.u8(0..6));
        let plain = plain_distance(&a, &b);
        let expected = u8::try_from(plain).ok().filter(|edits| *edits <= max);
        assert_eq!(distance(&a, &b, max), expected, "{a} {b} {max}");
    }
}

fn corrections(word: &str, edits: u8, documents: u64, terms: &[(&str, u64)]) -> Vec<(String, f64)> {
    let mut corrections = Corrections::of(word, edits);
    terms.iter().for_each(|(term, documents)| corrections.offer(term, *documents));
    corrections.best(documents).into_iter().map(|one| (one.term, one.score)).collect()
}

#[test]
fn corrections_come_in_another_order() {
    let terms = [("lorem", 1), ("ipsum", 2), ("lorm", 0), ("lorem", 0), ("lore", 0)];
    let expected =
        [("lorem", 0.5), ("lore", 0.0), ("lorm", 0.0)].map(|(term, score)| (term.to_owned(), score));
    assert_eq!(corrections("lorm", 1, 2, &terms), expected);
    assert_eq!(corrections("lorm", 1, 0, &[("lore", 0)]), [("lore".to_owned(), 0.0)]);
    assert_eq!(corrections("held", 2, 3, &[("help", 1), ("hello", 2)])[0], ("hello".to_owned(), 2.0 / 3.0));
    // Two parts of an index.
    let parts = [("hello", 1), ("help", 2), ("hello", 3)];
    assert_eq!(corrections("held", 2, 8, &parts)[0], ("hello".to_owned(), 0.5));
    assert!(corrections("vlis", 1, 3, &[("valid", 1)]).is_empty());
    assert_eq!(corrections("a", 200, 1, &[("abcde", 1), ("abcdef", 1)]).len(), 1);
}

#[test]
fn corrections_fill_the_memory() {
    let mut corrections = Corrections::of("aaa", 4);
    for number in 0..10_000_u64 {
        corrections.offer(&format!("{number:04}"), number);
        assert!(corrections.found.len() < 2 * CORRECTIONS_MAX);
    }
    let best = corrections.best(10_000);
    assert_eq!(best.len(), CORRECTIONS_MAX);
    assert_eq!((best[0].term.as_str(), best[999].term.as_str()), ("9999", "9000"));
}
