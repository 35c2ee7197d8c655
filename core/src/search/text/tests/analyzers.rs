//! What the analyzers make of texts, case by case.

use super::super::instant::{self, Source};
use super::super::{Token, fold, is_default_stop_word, words};

fn by_words(text: &str) -> String {
    let mut found = Vec::new();
    words::words(text.as_bytes(), &is_default_stop_word, &mut |token| found.push(show(&token)));
    found.join(" ")
}

fn by_instant(text: &str, source: Source) -> String {
    let mut found = Vec::new();
    instant::words(text.as_bytes(), source, &mut |token| found.push(show(&token)));
    found.join(" ")
}

fn show(token: &Token<'_>) -> String {
    let adjacent = if token.is_adjacent { "+" } else { "" };
    format!("{adjacent}{}@{}:{}-{}", token.text, token.position, token.start, token.end)
}

#[test]
fn words_are_those_of_redisearch() {
    for (text, expected) in [
        ("", ""),
        (" \t\r\n", ""),
        ("Hello, World!", "hello@0:0-5 world@1:7-12"),
        ("foo-bar.baz...bag", "foo@0:0-3 bar@1:4-7 baz@2:8-11 bag@3:14-17"),
        (r"hello\-world hello-world", "hello-world@0:0-12 hello@1:13-18 world@2:19-24"),
        ("hello_world", "hello_world@0:0-11"),
        (r"a1\b2", "a1b2@0:0-5"),
        (r"login\\,today", r"login\@0:0-7 today@1:8-13"),
        (r"new\ york x", "new york@0:0-9 x@1:10-11"),
        ("end\\", "end@0:0-4"),
        ("\\", ""),
        ("line\\\nbreak", "line@0:0-5 break@1:6-11"),
        ("line\nbreak\0zero\x7Fdel", "line@0:0-4 break@1:5-10 zero@2:11-15 del@3:16-19"),
        ("to be alive is the thing", "alive@0:6-11 thing@1:19-24"),
        ("The THE a1", "a1@0:8-10"),
        ("ÄRGER Straße İ", "ärger@0:0-6 straße@1:7-14 i\u{307}@2:15-17"),
        ("ПРИВЕТ мир", "привет@0:0-12 мир@1:13-19"),
        ("東京 都", "東京@0:0-6 都@1:7-10"),
        (
            "a,b.c<d>e{f}g[h]i\"j'k:l;m!n@o#p$q%r^s&t*u(v)w-x+y=z~1/2`3?4|5",
            &("bcdefghijklmnopqrstuvwxyz12345"
                .char_indices()
                .map(|(at, word)| format!("{word}@{at}:{}-{}", 2 * at + 2, 2 * at + 3))
                .collect::<Vec<_>>()
                .join(" ")),
        ),
    ] {
        assert_eq!(by_words(text), expected, "{text:?}");
    }
    let long = "Ä".repeat(100);
    assert_eq!(by_words(&long), format!("{}@0:0-200", "ä".repeat(64)));
    let long = "x".repeat(300);
    assert_eq!(by_words(&format!("{long} y")), format!("{}@0:0-300 y@1:301-302", "x".repeat(128)));
    let mut folded = String::new();
    words::fold_word("Ä".repeat(100).as_bytes(), &mut folded);
    assert_eq!(folded, "ä".repeat(64));
}

#[test]
fn bytes_that_are_not_utf8_are_replaced() {
    let mut found = Vec::new();
    words::words(b"caf\xE9 \xFF\xFE ok", &|_| false, &mut |token| found.push(token.text.to_string()));
    assert_eq!(found, ["caf\u{FFFD}", "\u{FFFD}\u{FFFD}", "ok"]);
    found.clear();
    instant::words(b"caf\xE9 \xFF\xFE o\xC3k", Source::Document, &mut |token| {
        found.push(token.text.to_string())
    });
    assert_eq!(found, ["caf", "o", "k"]);
}

#[test]
fn stop_words_are_english_words_in_lower_case() {
    for word in ["a", "and", "into", "their", "these", "with"] {
        assert!(is_default_stop_word(word), "{word}");
    }
    for word in ["The", "", "alive", "has", "he"] {
        assert!(!is_default_stop_word(word), "{word}");
    }
}

#[test]
fn instant_words_are_folded() {
    for (text, expected) in [
        ("", ""),
        ("Hello, World!", "hello@0:0-5 world@1:7-12"),
        ("don't DON’T dont", "dont@0:0-5 dont@1:6-13 dont@2:14-18"),
        ("'quoted' rock'n'roll boys'", "quoted@0:1-7 rocknroll@1:9-20 boys@2:21-25"),
        ("l'avion L’État dell'arte", "l@0:0-1 avion@1:2-7 l@2:8-9 etat@3:12-17 dell@4:18-22 arte@5:23-27"),
        ("e-mail snake_case 3.5", "e@0:0-1 mail@1:2-6 snake@2:7-12 case@3:13-17 3@4:18-19 5@5:20-21"),
        ("Crème BRÛLÉE", "creme@0:0-6 brulee@1:7-15"),
        ("e\u{301}te\u{301}", "ete@0:0-7"),
        ("Straße STRASSE ẞ", "strasse@0:0-7 strasse@1:8-15 ss@2:16-19"),
        (
            "Łódź Ørsted Ægir œuvre Đặng Þór",
            "lodz@0:0-7 orsted@1:8-15 aegir@2:16-21 oeuvre@3:22-28 dang@4:29-36 thor@5:37-42",
        ),
        ("İstanbul ısı DIŞ", "istanbul@0:0-9 isi@1:10-15 dis@2:16-20"),
        ("ΟΔΥΣΣΕΎΣ Οδυσσεύς", "οδυσσευσ@0:0-16 οδυσσευσ@1:17-33"),
        ("Ёлка йод", "елка@0:0-8 иод@1:9-15"),
        ("ＦＵＬＬ　ｗｉｄｔｈ１２ ﬁne ①", "full@0:0-12 width12@1:15-36 fine@2:37-42 1@3:43-46"),
        ("שָׁלוֹם עוֹלָם", "שלום@0:0-14 עולם@1:15-27"),
        ("مُحَمَّد کتاب كتاب ۱۲", "محمد@0:0-16 كتاب@1:17-25 كتاب@2:26-34 12@3:35-39"),
        ("می\u{200C}خواهم", "ميخواهم@0:0-17"),
        ("हिन्दी में", "हिन्दी@0:0-18 में@1:19-28"),
        ("tiếng Việt", "tieng@0:0-7 viet@1:8-14"),
        ("한국어 \u{1112}\u{1161}\u{11AB}", "한국어@0:0-9 한@1:10-19"),
        ("𝓯𝓪𝓷𝓬𝔂 Ⅳ m²", "fancy@0:0-20 iv@1:21-24 m2@2:25-28"),
        ("c++ #tag @me", "c@0:0-1 tag@1:5-8 me@2:10-12"),
        ("soft\u{AD}hyphen", "softhyphen@0:0-12"),
    ] {
        assert_eq!(by_instant(text, Source::Document), expected, "{text:?}");
    }
    let long = "ab".repeat(100);
    assert_eq!(by_instant(&long, Source::Document), format!("{}@0:0-200", "ab".repeat(32)));
    let long = "É".repeat(100);
    assert_eq!(by_instant(&long, Source::Document), format!("{}@0:0-200", "e".repeat(64)));
    let long = "Ж".repeat(100);
    assert_eq!(by_instant(&long, Source::Document), format!("{}@0:0-200", "ж".repeat(32)));
}

#[test]
fn scripts_without_spaces_become_pairs() {
    for (text, document, query) in [
        ("東", "東@0:0-3", "東@0:0-3"),
        ("東京", "東京@0:0-6 +京@1:3-6", "東京@0:0-6"),
        ("東京都", "東京@0:0-6 +京都@1:3-9 +都@2:6-9", "東京@0:0-6 +京都@1:3-9"),
        (
            "iPhone手機 3",
            "iphone@0:0-6 手機@1:6-12 +機@2:9-12 3@3:13-14",
            "iphone@0:0-6 手機@1:6-12 3@3:13-14",
        ),
        ("東京。大阪", "東京@0:0-6 +京@1:3-6 大阪@2:9-15 +阪@3:12-15", "東京@0:0-6 大阪@2:9-15"),
        (
            "ｶﾞｽ ガス カ\u{3099}ス",
            "ガス@0:0-9 +ス@1:6-9 ガス@2:10-16 +ス@3:13-16 ガス@4:17-26 +ス@5:23-26",
            "ガス@0:0-9 ガス@2:10-16 ガス@4:17-26",
        ),
        ("ไทย", "ไท@0:0-6 +ทย@1:3-9 +ย@2:6-9", "ไท@0:0-6 +ทย@1:3-9"),
        ("2024年", "2024@0:0-4 年@1:4-7", "2024@0:0-4 年@1:4-7"),
    ] {
        assert_eq!(by_instant(text, Source::Document), document, "{text:?}");
        assert_eq!(by_instant(text, Source::Query), query, "{text:?}");
    }
}

#[test]
fn values_are_folded_with_their_separators() {
    for (text, expected) in [
        ("Crème Brûlée, 3 €", "creme brulee, 3 €"),
        ("ＡＢＣ！　ｘ", "abc! x"),
        ("ﾊﾟﾋﾟﾌﾟ ｳﾞ は\u{309A}", "パピプ ヴ ぱ"),
        ("Ǆ ĳ ﷲ", "dz ij الله"),
    ] {
        let mut folded = String::new();
        fold(text.as_bytes(), &mut folded);
        assert_eq!(folded, expected);
    }
}

#[test]
fn prefixes_end_after_their_marks() {
    for (word, characters, end) in [
        ("Westfália", 8, 9),
        ("e\u{301}te\u{301}", 1, 3),
        ("e\u{301}te\u{301}", 3, 7),
        ("don't", 4, 5),
        ("don't", 3, 3),
        ("Straße", 5, 6),
        ("Straße", 4, 4),
        ("ｶﾞｽ", 1, 6),
        ("abc", 9, 3),
    ] {
        assert_eq!(instant::end_of_prefix(word.as_bytes(), characters), end, "{word:?} {characters}");
    }
    assert_eq!(words::end_of_prefix(r"Hello\-World".as_bytes(), 6), 7);
    assert_eq!(words::end_of_prefix(r"Hello\-World".as_bytes(), 5), 5);
}
