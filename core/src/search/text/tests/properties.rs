//! Laws that hold for any bytes.

use super::super::instant::{self, Source};
use super::super::{Language, Token, fold, stem, words};

/// A small generator (xorshift): the core's tests need no better randomness, and the seed is printed with a failure.
pub(crate) struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }

    /// Bytes that are likely to meet: pieces of scripts, separators, escapes, broken sequences.
    pub fn text(&mut self) -> Vec<u8> {
        const PIECES: [&str; 30] = [
            "a", "Z", " ", "'", "\\", "-", "é", "e\u{301}", "ß", "İ", "Σ", "東", "京", "ｶ", "ﾞ", "か",
            "\u{3099}", "ไ", "ท", "한", "\u{1112}", "\u{1161}", "\u{11AB}", "न", "\u{94D}", "\u{200D}", "ﷺ",
            "𝓯", "\0", "’",
        ];
        let mut text = Vec::new();
        for _ in 0..self.below(24) {
            match self.below(8) {
                0 => text.push(self.below(256) as u8),
                1 => text
                    .extend(char::from_u32(self.below(0x11_0000) as u32).unwrap_or(' ').to_string().bytes()),
                2 => text.extend(std::iter::repeat_n(b'x', self.below(200))),
                _ => text.extend(PIECES.get(self.below(PIECES.len())).copied().unwrap_or_default().bytes()),
            }
        }
        text
    }
}

const ROUNDS: u64 = 20_000;

/// Looks at a token beside the one before it, of which nothing but its place is looked at.
fn check(seed: u64, text: &[u8], bound: usize, last: &mut Option<Token<'static>>, token: Token<'_>) {
    assert!(token.start < token.end && token.end <= text.len(), "seed {seed}: {token:?} in {text:?}");
    assert!(!token.text.is_empty() && token.text.len() <= bound, "seed {seed}: {token:?}");
    if let Some(last) = last {
        assert!(
            token.start > last.start && token.end >= last.end && token.position > last.position,
            "seed {seed}: {token:?}"
        );
        assert!(token.is_pair || token.start >= last.end, "seed {seed}: {token:?}");
    }
    let source = &text[token.start..token.end];
    for characters in 0..4 {
        assert!(instant::end_of_prefix(source, characters) <= source.len(), "seed {seed}: {token:?}");
        assert!(words::end_of_prefix(source, characters) <= source.len(), "seed {seed}: {token:?}");
    }
    *last = Some(Token { text: "", ..token });
}

#[test]
fn tokens_lie_in_the_text_in_order() {
    for seed in 1..=ROUNDS {
        let text = Random(seed).text();
        let mut last = None;
        words::words(&text, &|word| word == "a", &mut |token| {
            check(seed, &text, words::WORD_MAX_BYTES, &mut last, token)
        });
        for source in [Source::Document, Source::Query] {
            let mut last = None;
            instant::words(&text, source, &mut |token| {
                check(seed, &text, instant::WORD_MAX_BYTES, &mut last, token);
                let whole = instant::end_of_prefix(&text[token.start..token.end], token.text.chars().count());
                let is_cut = token.text.len() + 36 > instant::WORD_MAX_BYTES;
                assert!(is_cut || token.start + whole == token.end, "seed {seed}: {token:?} in {text:?}");
            });
        }
    }
}

#[test]
fn folding_a_folded_text_changes_nothing() {
    for seed in 1..=ROUNDS {
        let text = Random(seed).text();
        let (mut once, mut twice) = (String::new(), String::new());
        fold(&text, &mut once);
        fold(once.as_bytes(), &mut twice);
        assert_eq!(once, twice, "seed {seed}: {text:?}");
        instant::words(&text, Source::Document, &mut |token| {
            let mut again = Vec::new();
            instant::words(token.text.as_bytes(), Source::Query, &mut |token| {
                again.push(token.text.to_string())
            });
            // What is already a term is found as it is.
            assert_eq!(again.concat(), token.text, "seed {seed}: {text:?}");
        });
        words::words(&text, &|_| false, &mut |token| {
            let mut again = String::new();
            words::fold_word(token.text.as_bytes(), &mut again);
            assert_eq!(again, token.text, "seed {seed}: {text:?}");
        });
    }
}

#[test]
fn stemmers_take_any_word() {
    for seed in 1..=ROUNDS / 10 {
        let text = Random(seed).text();
        words::words(&text, &|_| false, &mut |token| {
            for language in Language::ALL {
                let mut out = String::new();
                stem(language, token.text, &mut out);
                assert!(out.len() <= 2 * token.text.len() + 8, "seed {seed}: {language:?} {:?}", token.text);
            }
        });
    }
}
