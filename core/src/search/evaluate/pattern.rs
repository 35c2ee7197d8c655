//! Which words a pattern stands for.

use std::borrow::Cow;

use crate::search::edits::{Edits, Rules};
use crate::search::index::part::{List, TermVisitor, Walk};
use crate::search::query::Pattern;

/// A pattern, ready to be compared with words.
#[derive(Clone, Copy, Debug)]
pub struct Matcher<'q>(pub &'q Pattern);

impl<'q> Matcher<'q> {
    /// Whether the pattern stands for a word.
    pub fn accepts(self, word: &[u8]) -> bool {
        match self.0 {
            Pattern::Word { text, .. } => word == text.as_slice(),
            Pattern::Prefix(text) => word.starts_with(text),
            Pattern::Suffix(text) => word.ends_with(text),
            Pattern::Infix(text) => contains(word, text),
            Pattern::Wildcard(pattern) => is_like(pattern, word),
            Pattern::Fuzzy { text, distance } => {
                word == text.as_slice()
                    || std::str::from_utf8(text).is_ok_and(|text| {
                        let mut edits = Edits::default();
                        edits.start(text, rules(*distance));
                        edits.next(word, 0).0.is_some()
                    })
            }
            Pattern::Range { from, to } => {
                from.as_ref().is_none_or(|from| word >= from.as_slice())
                    && to.as_ref().is_none_or(|to| word <= to.as_slice())
            }
        }
    }

    /// Walks through sorted terms, and shows those that the pattern stands for. `walk` is how the terms are walked from one on; `seen`
    /// counts all terms that were shown, and ends the walk if it returns false.
    pub fn expand(
        self,
        walk: &dyn Fn(&[u8], TermVisitor<'_>),
        seen: &mut dyn FnMut() -> bool,
        found: &mut dyn FnMut(&[u8], List),
    ) {
        if let Pattern::Fuzzy { text, distance } = self.0
            && let Ok(word) = std::str::from_utf8(text)
            && word.chars().count() <= crate::search::edits::CHARACTERS_MAX
        {
            let mut edits = Edits::default();
            edits.start(word, rules(*distance));
            walk(b"", &mut |term, shared, list| {
                if !seen() {
                    return Walk::End;
                }
                let (distance, walk) = edits.next(term, shared);
                if distance.is_some() {
                    found(term, list);
                }
                walk
            });
            return;
        }
        let head = self.head();
        walk(&head, &mut |term, _, list| {
            if !seen() || self.is_behind(&head, term) {
                return Walk::End;
            }
            if self.accepts(term) {
                found(term, list);
            }
            Walk::On
        });
    }

    /// With what all words begin that the pattern stands for, or the least of them.
    fn head(self) -> Cow<'q, [u8]> {
        match self.0 {
            Pattern::Word { text, .. } | Pattern::Fuzzy { text, .. } | Pattern::Prefix(text) => {
                Cow::Borrowed(text)
            }
            Pattern::Suffix(_) | Pattern::Infix(_) => Cow::Borrowed(b""),
            Pattern::Wildcard(pattern) => {
                let end = pattern
                    .iter()
                    .position(|byte| matches!(byte, b'*' | b'?' | b'\\'))
                    .unwrap_or(pattern.len());
                Cow::Borrowed(pattern.get(..end).unwrap_or_default())
            }
            Pattern::Range { from, .. } => Cow::Borrowed(from.as_deref().unwrap_or_default()),
        }
    }

    /// Whether no word from this one on can match.
    fn is_behind(self, head: &[u8], word: &[u8]) -> bool {
        match self.0 {
            Pattern::Range { to, .. } => to.as_ref().is_some_and(|to| word > to.as_slice()),
            Pattern::Word { .. } => word != head,
            _ => !word.starts_with(head),
        }
    }
}

fn rules(distance: u8) -> Rules {
    Rules { distance_max: distance, is_prefix: false, has_swaps: false }
}

fn contains(word: &[u8], part: &[u8]) -> bool {
    part.is_empty() || word.windows(part.len()).any(|window| window == part)
}

/// `?` is a character, `*` any number of them, `\` takes the meaning from the character behind it. Takes time linear in the product of both
/// lengths at most.
fn is_like(pattern: &[u8], word: &[u8]) -> bool {
    let (mut at, mut here) = (0, 0);
    // Where the last star was, and what of the word it has taken.
    let mut star: Option<(usize, usize)> = None;
    loop {
        let wanted = pattern.get(at).copied();
        let byte = word.get(here).copied();
        let step = match (wanted, byte) {
            (None, None) => return true,
            (Some(b'*'), _) => {
                star = Some((at + 1, here));
                at += 1;
                continue;
            }
            (Some(b'?'), Some(_)) => Some((1, character_len(word, here))),
            (Some(b'\\'), Some(byte)) if pattern.get(at + 1).is_some() => {
                (pattern.get(at + 1) == Some(&byte)).then_some((2, 1))
            }
            (Some(wanted), Some(byte)) => (wanted == byte).then_some((1, 1)),
            (_, None) | (None, Some(_)) => None,
        };
        match (step, star) {
            (Some((pattern_len, word_len)), _) => {
                at += pattern_len;
                here += word_len;
            }
            (None, Some((behind, taken))) if taken < word.len() => {
                let taken = taken + character_len(word, taken);
                star = Some((behind, taken));
                at = behind;
                here = taken;
            }
            (None, _) => return false,
        }
    }
}

/// How many bytes the character has that begins at an offset.
fn character_len(word: &[u8], at: usize) -> usize {
    let rest = word.get(at + 1..).unwrap_or_default();
    1 + rest.iter().take_while(|byte| **byte & 0xC0 == 0x80).count().min(3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards() {
        let like = |pattern: &str, word: &str| is_like(pattern.as_bytes(), word.as_bytes());
        assert!(like("w*d", "world") && like("w*d", "wd") && !like("w*d", "words"));
        assert!(like("?ä?", "äää") && !like("?ä?", "ää"));
        assert!(like("*or*d*", "world") && like("*", "") && !like("?", ""));
        assert!(like("a\\*b", "a*b") && !like("a\\*b", "axb"));
        assert!(like("*ab", "aaab") && !like("*abc", "aaab"));
    }

    #[test]
    fn ranges_hold_their_ends() {
        let range = Pattern::Range { from: Some(b"b".to_vec()), to: Some(b"d".to_vec()) };
        let accepted: Vec<bool> =
            ["a", "b", "c", "d", "da"].map(|word| Matcher(&range).accepts(word.as_bytes())).into();
        assert_eq!(accepted, [false, true, true, true, false]);
    }
}
