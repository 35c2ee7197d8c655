//! The analyzer `Instant`: words as people type them into a search box.
//!
//! A word is a run of letters, digits and signs of any script, folded as [`super::fold`] says. Everything else ends it: hyphens,
//! underscores and full stops, too. An apostrophe between letters disappears, so `don't` and `dont` are one word; after an elided
//! article or pronoun (`l'avion`, `dell'arte`) it ends the word instead.
//!
//! Where a script writes no spaces, every character makes a term with the one after it, and the last of the run makes one alone: 東京都
//! is 東京, 京都 and 都. So every character starts a term, and a query of one character finds it as a prefix. A query of more is the
//! phrase of its pairs; it leaves out the lone last character unless it is all there is.

use super::fold::{Class, class, push_folded};
use super::{Token, character_at};

/// A word is indexed and looked up by so many bytes at most, in documents and queries alike; the rest does not count. It holds 64
/// letters of English, 32 of Russian, 21 of Hindi, and a whole SHA-256 in hexadecimal digits; a typo search over terms costs by their length.
pub const WORD_MAX_BYTES: usize = 64;

/// Words before an apostrophe that stand for themselves: those that French, Catalan and Italian elide before a vowel.
const ELIDED: [&str; 19] = [
    "l", "d", "j", "c", "n", "s", "m", "t", "qu", "un", "all", "dall", "dell", "nell", "sull", "quest",
    "jusqu", "lorsqu", "puisqu",
];

/// What is analyzed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// A text that is indexed or highlighted.
    Document,
    /// What a user typed.
    Query,
}

/// Calls `each` with every word of a text.
pub fn words(text: &[u8], source: Source, each: &mut dyn FnMut(Token<'_>)) {
    let mut folded = String::new();
    let mut position = 0u32;
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        if byte.is_ascii() && !byte.is_ascii_alphanumeric() {
            at += 1;
            continue;
        }
        if let Some((end, plain)) = ascii_word(text, at) {
            let text = match plain {
                Some(plain) => plain,
                None => {
                    folded.clear();
                    let source = text.get(at..end).unwrap_or_default();
                    folded.extend(
                        source.iter().take(WORD_MAX_BYTES).map(|byte| char::from(byte.to_ascii_lowercase())),
                    );
                    &folded
                }
            };
            each(Token { text, position, start: at, end, is_pair: false, is_adjacent: false });
            position = position.saturating_add(1);
            at = end;
            continue;
        }
        folded.clear();
        let Some(character) = character_at(text, at) else { break };
        match class(character.value) {
            Class::Letter => {
                let end = word(text, at, &mut folded);
                if !folded.is_empty() {
                    each(Token {
                        text: &folded,
                        position,
                        start: at,
                        end,
                        is_pair: false,
                        is_adjacent: false,
                    });
                    position = position.saturating_add(1);
                }
                at = end;
            }
            Class::Pair => (at, position) = pairs(text, at, position, source, &mut folded, each),
            Class::Separator | Class::Mark | Class::Apostrophe => at += character.bytes,
        }
    }
}

/// The end of the source of the first `characters` characters of a token's folded text, with the marks that belong to the last of them.
/// `word` is the token's source. A character that folds to two is taken with the first of them.
pub fn end_of_prefix(word: &[u8], characters: usize) -> usize {
    if characters > WORD_MAX_BYTES {
        return word.len();
    }
    let mut folded = String::new();
    let mut count = 0;
    let mut at = 0;
    while let Some(character) = character_at(word, at) {
        if class(character.value) != Class::Apostrophe {
            push_folded(character.value, &mut folded);
        } else if count >= characters {
            break;
        }
        let count_before = count;
        count = folded.chars().count();
        // Marks, and letters that were composed with the last one, add nothing.
        if count_before >= characters && count > count_before {
            break;
        }
        at += character.bytes;
    }
    at
}

/// A word of ASCII letters and digits alone: its end, and its source if that is the term. None if anything else may belong to it.
#[inline]
fn ascii_word(text: &[u8], start: usize) -> Option<(usize, Option<&str>)> {
    let rest = text.get(start..)?;
    let mut is_plain = true;
    let mut length = 0;
    for &byte in rest {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' => {}
            b'A'..=b'Z' => is_plain = false,
            b'\'' | 0x80.. => return None,
            _ => break,
        }
        length += 1;
    }
    if length == 0 {
        return None;
    }
    let plain = if is_plain && length <= WORD_MAX_BYTES {
        std::str::from_utf8(rest.get(..length)?).ok()
    } else {
        None
    };
    Some((start + length, plain))
}

/// Folds the word that starts at `start`, and gives its end.
fn word(text: &[u8], start: usize, folded: &mut String) -> usize {
    let mut at = start;
    let mut is_full = false;
    while let Some(character) = character_at(text, at) {
        let class_here = class(character.value);
        match class_here {
            Class::Separator | Class::Pair => break,
            Class::Apostrophe => {
                let next = character_at(text, at + character.bytes);
                let joins = next.is_some_and(|next| class(next.value) == Class::Letter)
                    && !ELIDED.contains(&folded.as_str());
                if !joins {
                    break;
                }
            }
            Class::Letter | Class::Mark if !is_full => {
                let length = folded.len();
                push_folded(character.value, folded);
                if folded.len() > WORD_MAX_BYTES {
                    folded.truncate(length);
                    is_full = true;
                }
            }
            Class::Letter | Class::Mark => {}
        }
        at += character.bytes;
    }
    at
}

/// Makes the terms of a run of characters of a script without spaces; gives where the run ends, and the position after it.
fn pairs(
    text: &[u8],
    start: usize,
    mut position: u32,
    source: Source,
    folded: &mut String,
    each: &mut dyn FnMut(Token<'_>),
) -> (usize, u32) {
    let mut at = start;
    let mut count = 0u32;
    let mut last_start = start;
    let mut last_bytes = 0;
    while let Some(character) = character_at(text, at) {
        if class(character.value) != Class::Pair {
            break;
        }
        let this_start = at;
        push_folded(character.value, folded);
        at += character.bytes;
        while let Some(mark) = character_at(text, at).filter(|mark| class(mark.value) == Class::Mark) {
            push_folded(mark.value, folded);
            at += mark.bytes;
        }
        if count > 0 {
            each(Token {
                text: folded,
                position,
                start: last_start,
                end: at,
                is_pair: true,
                is_adjacent: count > 1,
            });
            position = position.saturating_add(1);
            folded.drain(..last_bytes);
        }
        last_start = this_start;
        last_bytes = folded.len();
        count = count.saturating_add(1);
    }
    if count == 1 || source == Source::Document {
        each(Token {
            text: folded,
            position,
            start: last_start,
            end: at,
            is_pair: true,
            is_adjacent: count > 1,
        });
    }
    (at, position.saturating_add(1))
}
