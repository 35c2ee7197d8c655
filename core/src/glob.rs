//! Glob patterns as KEYS, SCAN MATCH and CONFIG GET take them, with the meaning Redis gives them.
//!
//! `*` any bytes, `?` any byte, `[abc]`, `[a-z]`, `[^…]` sets of bytes, `\` takes the next byte as it is. Everything
//! works on bytes. Redis' corner cases are kept: a set without its end reaches to the end of the pattern, `]` may end a
//! range, and an empty text matches the empty pattern only (KEYS and SCAN know the pattern `*` apart).
//!
//! The matcher goes back to the last `*` only: if the rest of the pattern fits nowhere behind it, no earlier `*` helps,
//! since what stands before the last one has already matched as early as it can. That bounds the work by the product
//! of both lengths; a budget of steps (see [`crate::limits`]) bounds it further, so no pattern can burn the CPU. A text
//! that exhausts it does not match, as with Redis' own limit for patterns of too many stars.
//!
//! A pattern is held against many texts, so a long one is prepared: stars in a row become one, which means the same, and texts
//! with fewer bytes than the pattern has elements are passed over without a look.

use std::borrow::Cow;

use crate::limits::{GLOB_STEPS_BASE, GLOB_STEPS_PER_BYTE};

/// Patterns of more bytes are prepared for many texts.
const LONG_BYTES: usize = 64;

/// One pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glob<'p> {
    pattern: Cow<'p, [u8]>,
    ignores_case: bool,
    /// Whether this is the pattern `*`.
    is_star: bool,
    /// Shorter texts do not match.
    least_bytes: usize,
}

impl<'p> Glob<'p> {
    /// A pattern that tells cases apart. Every string of bytes is a pattern.
    pub fn new(pattern: &'p [u8]) -> Glob<'p> {
        let (shown, least_bytes) = match pattern.len() {
            0..=LONG_BYTES => (Cow::Borrowed(pattern), 0),
            _ => prepared(pattern),
        };
        Glob { pattern: shown, ignores_case: false, is_star: pattern == b"*", least_bytes }
    }

    /// A pattern that takes ASCII letters of both cases for the same.
    pub fn ignoring_case(pattern: &'p [u8]) -> Glob<'p> {
        Glob { ignores_case: true, ..Glob::new(pattern) }
    }

    /// Whether this is the pattern `*`, which callers take as "no filter" (it would not match an empty text).
    pub fn is_star(&self) -> bool {
        self.is_star
    }

    /// Whether the whole text matches.
    pub fn matches(&self, text: &[u8]) -> bool {
        if text.is_empty() {
            return self.pattern.is_empty();
        }
        if text.len() < self.least_bytes {
            return false;
        }
        let bytes = (self.pattern.len() as u64).saturating_add(text.len() as u64);
        let mut steps = GLOB_STEPS_BASE.saturating_add(bytes.saturating_mul(GLOB_STEPS_PER_BYTE));
        let (mut pattern, mut rest) = (&*self.pattern, text);
        // Behind the last star met: the pattern, and the text from where it was tried last.
        let mut retry: Option<(&[u8], &[u8])> = None;
        loop {
            let Some((byte, after)) = rest.split_first() else {
                // A shorter text cannot help: everything but a star takes exactly one byte.
                return skip_stars(pattern).is_empty();
            };
            if pattern.first() == Some(&b'*') {
                pattern = skip_stars(pattern);
                if pattern.is_empty() {
                    return true;
                }
                retry = Some((pattern, rest));
            }
            let (next, cost) = match self.element(pattern, *byte) {
                Some((next, cost)) => (next, cost),
                None => (None, 1),
            };
            let Some(left) = steps.checked_sub(cost) else { return false };
            steps = left;
            if let Some(next) = next {
                (pattern, rest) = (next, after);
                continue;
            }
            let Some((behind_star, [_, shorter @ ..])) = retry else { return false };
            if shorter.is_empty() {
                return false;
            }
            retry = Some((behind_star, shorter));
            (pattern, rest) = (behind_star, shorter);
        }
    }

    /// Holds the first element of a pattern (no star) against a byte: the pattern behind it if it fits, and what the
    /// look cost. None if there is no element left.
    #[inline]
    fn element<'a>(&self, pattern: &'a [u8], byte: u8) -> Option<(Option<&'a [u8]>, u64)> {
        let (first, after) = pattern.split_first()?;
        let (fits, after) = match (first, after) {
            (b'?', _) => (true, after),
            (b'[', _) => {
                let (fits, after) = self.set(after, byte);
                let cost = (pattern.len() - after.len()) as u64;
                return Some((fits.then_some(after), cost));
            }
            (b'\\', [escaped, after @ ..]) => (self.same(*escaped, byte), after),
            _ => (self.same(*first, byte), after),
        };
        Some((fits.then_some(after), 1))
    }

    /// Whether a byte is in the set whose inside begins here, and the pattern behind the set.
    fn set<'a>(&self, inside: &'a [u8], byte: u8) -> (bool, &'a [u8]) {
        let (is_inverted, mut inside) = match inside {
            [b'^', inside @ ..] => (true, inside),
            _ => (false, inside),
        };
        let mut found = false;
        let after = loop {
            inside = match inside {
                [] => break inside,
                [b'\\', escaped, after @ ..] => {
                    found |= *escaped == byte;
                    after
                }
                [b']', after @ ..] => break after,
                [first, b'-', last, after @ ..] => {
                    found |= self.in_range(*first, *last, byte);
                    after
                }
                [single, after @ ..] => {
                    found |= self.same(*single, byte);
                    after
                }
            };
        };
        (found != is_inverted, after)
    }

    /// Ends may come in any order. Redis compares C's `char`, which is signed where Redis mostly runs.
    fn in_range(&self, first: u8, last: u8, byte: u8) -> bool {
        let (first, last) = (first.cast_signed(), last.cast_signed());
        let (low, high) = (first.min(last), first.max(last));
        let byte = byte.cast_signed();
        if self.ignores_case {
            let lower = |byte: i8| byte.cast_unsigned().to_ascii_lowercase().cast_signed();
            return (lower(low)..=lower(high)).contains(&lower(byte));
        }
        (low..=high).contains(&byte)
    }

    fn same(&self, left: u8, right: u8) -> bool {
        left == right || (self.ignores_case && left.eq_ignore_ascii_case(&right))
    }
}

/// A pattern with one star for each run of them, and how many elements that take a byte it has.
fn prepared(pattern: &[u8]) -> (Cow<'_, [u8]>, usize) {
    let (mut short, mut elements) = (Vec::new(), 0);
    let mut rest = pattern;
    while let [first, after @ ..] = rest {
        let element = match (first, after) {
            (b'*', _) => {
                short.push(b'*');
                rest = skip_stars(rest);
                continue;
            }
            (b'[', _) => rest.len() - behind_set(after).len(),
            (b'\\', [_, ..]) => 2,
            _ => 1,
        };
        let (element, after) = rest.split_at(element);
        short.extend_from_slice(element);
        elements += 1;
        rest = after;
    }
    match short.len() == pattern.len() {
        true => (Cow::Borrowed(pattern), elements),
        false => (Cow::Owned(short), elements),
    }
}

/// The pattern behind a set whose inside begins here.
fn behind_set(inside: &[u8]) -> &[u8] {
    let mut inside = inside.strip_prefix(b"^").unwrap_or(inside);
    loop {
        inside = match inside {
            [] => return inside,
            [b'\\', _, after @ ..] => after,
            [b']', after @ ..] => return after,
            [_, b'-', _, after @ ..] => after,
            [_, after @ ..] => after,
        };
    }
}

fn skip_stars(pattern: &[u8]) -> &[u8] {
    let stars = pattern.iter().take_while(|byte| **byte == b'*').count();
    pattern.get(stars..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// (pattern, text, whether redis-server says they match)
    const CASES: &[(&[u8], &[u8], bool)] = &[
        (b"", b"", true),
        (b"", b"a", false),
        (b"*", b"a", true),
        (b"*", b"", false),
        (b"**", b"", false),
        (b"a*", b"a", true),
        (b"a***", b"a", true),
        (b"*a", b"ba", true),
        (b"*a", b"ab", false),
        (b"*a*b*c", b"xxaxbxbxc", true),
        (b"*ab*abc", b"ababab", false),
        (b"*ab?", b"abab", false),
        (b"*ab?", b"ababab1", true),
        (b"h?llo", b"hello", true),
        (b"h?llo", b"hllo", false),
        (b"h[ae]llo", b"hallo", true),
        (b"h[ae]llo", b"hillo", false),
        (b"h[^e]llo", b"hello", false),
        (b"h[^e]llo", b"hallo", true),
        (b"h[a-c]llo", b"hbllo", true),
        (b"h[c-a]llo", b"hbllo", true),
        (b"h[a-c]llo", b"hdllo", false),
        (b"[a-]", b"b", false),
        (b"[a-]", b"_", true),
        (b"[ab", b"b", true),
        (b"[", b"[", false),
        (b"[^", b"x", true),
        (b"[]", b"]", false),
        (b"[\\]]", b"]", true),
        (b"[\\", b"\\", true),
        (b"[\\a-c]", b"b", false),
        (b"\\*", b"*", true),
        (b"\\*", b"a", false),
        (b"\\", b"\\", true),
        (b"a\\", b"a\\", true),
        (b"\\\\*", b"\\x", true),
        (b"a?c", b"a\0c", true),
        (b"[\x80-\xff]", b"\x90", true),
        (b"[a-\xff]", b"z", false),
        (b"[a-\xff]", b"B", true),
        (b"A", b"a", false),
    ];

    #[test]
    fn glob_differs_from_redis() {
        for (pattern, text, expected) in CASES {
            let matched = Glob::new(pattern).matches(text);
            assert_eq!(matched, *expected, "{} on {}", pattern.escape_ascii(), text.escape_ascii());
        }
    }

    /// A long pattern is prepared; it must match what it matched before.
    #[test]
    fn prepared_pattern_matches_other_texts() {
        for (pattern, text, expected) in CASES {
            let (short, least) = prepared(pattern);
            let glob = Glob { pattern: short, ignores_case: false, is_star: false, least_bytes: least };
            assert_eq!(
                glob.matches(text),
                *expected,
                "{} on {}",
                pattern.escape_ascii(),
                text.escape_ascii()
            );
        }
        assert_eq!(prepared(b"a**[**]\\***b[x").0.as_ref(), b"a*[**]\\**b[x");
        assert_eq!(prepared(b"a**[**]\\***b[x").1, 5);
        let mut random = fastrand::Rng::with_seed(15);
        for _ in 0..20_000 {
            let word = |random: &mut fastrand::Rng, letters: &[u8], most: usize| -> Vec<u8> {
                (0..random.usize(..most)).map(|_| letters[random.usize(..letters.len())]).collect()
            };
            let (pattern, text) = (word(&mut random, b"***ab?[]^-\\", 12), word(&mut random, b"ab]-", 8));
            let plain = Glob::new(&pattern);
            let (short, least_bytes) = prepared(&pattern);
            let glob = Glob { pattern: short, least_bytes, ..plain.clone() };
            assert_eq!(glob.matches(&text), plain.matches(&text), "{}", pattern.escape_ascii());
        }
    }

    #[test]
    fn stars_are_skipped_for_each_text() {
        let pattern = [b"*".repeat(500_000).as_slice(), b"nosuch"].concat();
        let glob = Glob::new(&pattern);
        assert_eq!(glob.pattern.as_ref(), b"*nosuch");
        // As many texts as a database has keys; without preparation 50 billion steps.
        assert!((0..100_000).all(|number: u32| !glob.matches(format!("key:{number}").as_bytes())));
        assert!(glob.matches(b"is nosuch") && !Glob::new(&b"*".repeat(100)).matches(b""));
        assert!(Glob::new(&b"*".repeat(100)).matches(b"x") && !Glob::new(&b"*".repeat(100)).is_star());
    }

    #[test]
    fn case_matters_where_it_should_not() {
        for (pattern, text) in [("MAX*", "maxmemory"), ("[A-C]x", "bX"), ("m[AX]", "Ma"), ("\\A", "a")] {
            let glob = Glob::ignoring_case(pattern.as_bytes());
            assert!(glob.matches(text.as_bytes()), "{pattern} on {text}");
        }
        assert!(!Glob::ignoring_case(b"[^a]").matches(b"A"));
    }

    #[test]
    fn hostile_pattern_burns_the_cpu() {
        let text = vec![b'a'; 1 << 16];
        let mut pattern = b"*".to_vec();
        pattern.extend_from_slice(&text[..1 << 15]);
        pattern.push(b'b');
        // Exhausts the budget; without one this would be 2^30 comparisons.
        assert!(!Glob::new(&pattern).matches(&text));
        let long_set = [b"*[".as_slice(), &vec![b'b'; 1 << 15], b"]c"].concat();
        assert!(!Glob::new(&long_set).matches(&text));
        let many_stars = [b"*a".repeat(1 << 15), b"b".to_vec()].concat();
        assert!(!Glob::new(&many_stars).matches(&text));
    }

    #[test]
    fn long_plain_text_does_not_match_itself() {
        let text = vec![b'a'; 1 << 20];
        assert!(Glob::new(&text).matches(&text));
        let ends = [b"*".as_slice(), &[b'b'; 8]].concat();
        let long = [text.as_slice(), &[b'b'; 8]].concat();
        assert!(Glob::new(&ends).matches(&long));
    }
}
