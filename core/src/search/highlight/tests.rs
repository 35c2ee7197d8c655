//! Marked texts, summaries and windows.

use super::crop::{Crop, Format, format, positions};
use super::summary::{Summary, highlight, summarize};
use super::{Analysis, Hit, Tags};
use crate::search::schema::Analyzer;
use crate::search::text::{Token, is_default_stop_word};

const WORDS: Analysis<'static> = Analysis { analyzer: Analyzer::Words, is_stop_word: &is_default_stop_word };
const INSTANT: Analysis<'static> = Analysis { analyzer: Analyzer::Instant, is_stop_word: &|_| false };

/// Whole words of the query, or beginnings of words if they end with a star.
fn matcher(query: &'static str) -> impl FnMut(&Token<'_>) -> Option<Hit> {
    move |token| {
        query.split(' ').enumerate().find_map(|(at, word)| {
            let hit = Hit::of(at as u32);
            match word.strip_suffix('*') {
                Some(prefix) if token.text.starts_with(prefix) => {
                    Some(Hit { characters: Some(prefix.chars().count()), ..hit })
                }
                _ => (token.text == word).then_some(hit),
            }
        })
    }
}

fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("whole characters")
}

fn marked(text: &str, query: &'static str) -> String {
    text_of(highlight(text.as_bytes(), WORDS, &mut matcher(query), Tags::default()))
}

fn summed(text: &str, query: &'static str, summary: Summary<'_>, tags: Option<Tags<'_>>) -> String {
    text_of(summarize(text.as_bytes(), WORDS, &mut matcher(query), summary, tags))
}

fn cropped(text: &str, query: &'static str, words: usize, tags: Option<Tags<'_>>) -> String {
    let crop = Some(Crop { words, ..Crop::default() });
    text_of(format(text.as_bytes(), INSTANT, &mut matcher(query), Format { tags, crop }))
}

#[test]
fn matches_are_marked() {
    for (text, query, expected) in [
        ("", "x", ""),
        ("Nothing here.", "x", "Nothing here."),
        ("foo Foo, (FOO)", "foo", "<b>foo</b> <b>Foo</b>, (<b>FOO</b>)"),
        ("The Vampire Diaries", "vampire", "The <b>Vampire</b> Diaries"),
        (r"a hello\-world!", "hello-world", r"a <b>hello\-world</b>!"),
        ("ÄRGER", "ärger", "<b>ÄRGER</b>"),
        ("\n two\n  spaces ", "two spaces", "\n <b>two</b>\n  <b>spaces</b> "),
    ] {
        assert_eq!(marked(text, query), expected);
    }
    let tags = Tags { open: b"", close: b"|" };
    assert_eq!(highlight(b"a \xFFx b x", WORDS, &mut matcher("x"), tags), b"a \xFFx b x|");
}

#[test]
fn summaries_are_those_of_redisearch() {
    let play = " ACT I SCENE I. London. The palace. Enter KING HENRY, LORD JOHN OF LANCASTER, the EARL of WESTMORELAND, SIR WALTER BLUNT, \
                and others So shaken as we are, so wan with care, Find we a time for frighted peace to pant,";
    let expected = "ACT I SCENE I. London. The palace. Enter <b>KING</b> <b>HENRY</b>, LORD JOHN OF LANCASTER, the EARL of WESTMORELAND, SIR... ";
    assert_eq!(summed(play, "king henry", Summary::default(), Some(Tags::default())), expected);
    for (text, query, expected) in [
        ("Henry IV", "henry", "Henry ... "),
        ("pillow", "pillow", "pillow... "),
        ("one  two\n\nthree four", "two three", "two three ... "),
    ] {
        assert_eq!(summed(text, query, Summary::default(), None), expected, "{text:?}");
    }
}

#[test]
fn best_fragments_come_in_the_order_of_the_text() {
    let filler = "w1 w2 w3 w4 w5 w6 w7 w8 w9 w10 w11 w12";
    let text =
        format!("zero {filler} cat {filler} cat dog end {filler} dog {filler} cat, cat {filler} dog. x");
    let short = |fragments, words| Summary { fragments, words, separator: b" | " };
    assert_eq!(summed(&text, "cat dog", short(1, 2), None), "w12 cat dog end | ");
    assert_eq!(summed(&text, "cat dog", short(2, 2), None), "w12 cat w1 w2 | w12 cat dog end | ");
    assert_eq!(summed(&text, "cat dog", short(5, 0), None), "cat | cat dog | dog | cat, cat | dog | ");
    assert_eq!(summed(&text, "cat dog", short(1, 5), None), "w11 w12 cat dog end w1 w2 | ");
    assert_eq!(summed(&text, "cat dog", short(0, 5), None), "");
    // Huge numbers overflow nothing, and the contexts of neighbours do not overlap.
    let all = summed(&text, "cat dog", short(u64::MAX, u64::MAX), None);
    assert_eq!(all.matches("cat").count(), 4, "{all}");
    let mut rare = |token: &Token<'_>| {
        (token.text == "cat" || token.text == "end").then(|| Hit { weight: 0.1, ..Hit::of(7) })
    };
    let tags = Some(Tags { open: b"[", close: b"]" });
    assert_eq!(text_of(summarize(text.as_bytes(), WORDS, &mut rare, short(1, 0), tags)), "[cat] | ");
}

#[test]
fn texts_without_matches_are_cut() {
    let text = "To change the use from a Restaurant to a Personal Service Shop (Great Clips)";
    assert_eq!(summed(text, "retail", Summary::default(), None), text);
    let longer = format!("{text} at the end");
    assert_eq!(summed(&longer, "retail", Summary::default(), None), format!("{text} at the"));
    assert_eq!(summed(&longer, "retail", Summary::default(), Some(Tags::default())), longer);
    assert_eq!(summed("Henry", "retail", Summary::default(), None), "Henry");
    assert_eq!(summed("", "retail", Summary::default(), None), "");
    let summary = Summary { fragments: 1, words: 3, ..Summary::default() };
    assert_eq!(summed("one  two three four five six seven", "x", summary, None), "one two three four");
}

#[test]
fn windows_are_those_of_meilisearch() {
    let novel = "Natalie risk her future to build a world with the boy she loves. Emily Henry: The Love That Split The World.";
    for (text, expected) in [
        ("", ""),
        (":-)", ":-)"),
        (
            "A quick brown fox can not jump 32 feet, right? Brr, it is cold!",
            "A quick brown fox can not jump 32 feet, right…",
        ),
        (
            "(A quick brown fox can not jump 32 feet, right? Brr, it is cold!)",
            "(A quick brown fox can not jump 32 feet, right…",
        ),
        (
            "Natalie risk her future. Split The World is a book written by Emily Henry. I never read it.",
            "…<em>Split</em> <em>The</em> <em>World</em> is a book written by Emily Henry…",
        ),
        (
            novel,
            "…she loves. Emily Henry: <em>The</em> Love That <em>Split</em> <em>The</em> <em>World</em>.",
        ),
        (
            "The world split void void void void void void void void void split the world void void",
            "…void void void void void <em>split</em> <em>the</em> <em>world</em> void void",
        ),
        (
            "split void the void void world void void void void void void void void void void split the world void void",
            "…void void void void void <em>split</em> <em>the</em> <em>world</em> void void",
        ),
        (
            "split split split split split split void void void void void void void void void void split the world void void",
            "…void void void void void <em>split</em> <em>the</em> <em>world</em> void void",
        ),
        // The text that is left out is a full stop, so it stays.
        (
            "Natalie risk her future to build a world with the boy she loves.",
            "…future to build a <em>world</em> with <em>the</em> boy she loves.",
        ),
    ] {
        assert_eq!(
            cropped(text, "split the world", 10, Some(Tags { open: b"<em>", close: b"</em>" })),
            expected,
            "{text:?}"
        );
    }
    let text = "void void split the world void void.";
    assert_eq!(cropped(text, "split the world", 2, None), "…split the…");
    assert_eq!(cropped(text, "split the world", 1, None), "…split…");
    assert_eq!(cropped(text, "split the world", 0, None), text);
    assert_eq!(cropped(text, "split the world", usize::MAX, None), text);
    assert_eq!(cropped("東京都は日本の首都です", "日本", 4, Some(Tags::default())), "…都は<b>日本</b>…");
}

#[test]
fn only_the_typed_part_is_marked() {
    let tags = Some(Tags { open: b"<em>", close: b"</em>" });
    for (text, query, expected, places) in [
        ("Ŵôřlḑôle", "world*", "<em>Ŵôřlḑ</em>ôle", vec![(0, 10)]),
        ("Westfália", "westfali*", "<em>Westfáli</em>a", vec![(0, 9)]),
        (
            "Cafe\u{301}s cafe\u{301}",
            "cafe*",
            "<em>Cafe\u{301}</em>s <em>cafe\u{301}</em>",
            vec![(0, 6), (8, 6)],
        ),
        ("don't", "dont*", "<em>don't</em>", vec![(0, 5)]),
        ("大阪府大阪市", "大阪 阪市", "<em>大阪</em>府<em>大阪市</em>", vec![(0, 6), (9, 9)]),
        ("大阪", "阪*", "大<em>阪</em>", vec![(3, 3)]),
        ("a-b", "a b", "<em>a</em>-<em>b</em>", vec![(0, 1), (2, 1)]),
    ] {
        let format =
            super::crop::format(text.as_bytes(), INSTANT, &mut matcher(query), Format { tags, crop: None });
        assert_eq!(text_of(format), expected);
        assert_eq!(positions(text.as_bytes(), INSTANT, &mut matcher(query)), places, "{text:?}");
    }
}

#[test]
fn tags_and_markers_are_all_that_is_added() {
    use crate::search::text::tests::Random;
    for seed in 1..=10_000 {
        let mut random = Random(seed);
        let text = random.text();
        let threshold = 1 + random.below(4);
        for analysis in [WORDS, INSTANT] {
            let mut matcher = |token: &Token<'_>| {
                let hit = Hit {
                    characters: token.start.is_multiple_of(2).then_some(token.end % 5),
                    ..Hit::of(token.position % 3)
                };
                token.position.is_multiple_of(threshold as u32).then_some(hit)
            };
            let tags = Some(Tags { open: b"", close: b"" });
            let plain = highlight(&text, analysis, &mut matcher, Tags { open: b"", close: b"" });
            assert_eq!(plain, text, "seed {seed}");
            let whole = format(&text, analysis, &mut matcher, Format { tags, crop: None });
            assert_eq!(whole, text, "seed {seed}");
            let crop = Some(Crop { words: threshold, marker: b"" });
            let part = format(&text, analysis, &mut matcher, Format { tags, crop });
            assert!(
                part.is_empty() || text.windows(part.len()).any(|window| window == part),
                "seed {seed}: {part:?} of {text:?}"
            );
            summarize(
                &text,
                analysis,
                &mut matcher,
                Summary { fragments: 2, words: threshold as u64 * 3, separator: b"." },
                None,
            );
        }
    }
}
