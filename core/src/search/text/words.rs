//! The analyzer `Words`: what RediSearch's own tokenizer does with a TEXT field.
//!
//! A word ends at a space, a control character or an ASCII punctuation mark other than `_` and `\`. A backslash takes the character
//! after it into the word and disappears, whatever that character is: `hello\-world` is the word `hello-world`, `a\b` is `ab`, and two
//! backslashes are one. A control character always ends the word. Punctuation and spaces beyond ASCII are parts of words. Letters get
//! their lower case by Unicode, and nothing else is folded.
//!
//! Two differences to RediSearch, both reported there as bugs: line breaks end words (its issue 2757), and a separator after an
//! escaped backslash does, too (its issue 4732).

use super::{Token, character_at};

/// A word is indexed and looked up by so many bytes at most; the rest of a longer one does not count. No word of a language is so long,
/// and what is (base64, addresses) is found by its beginning, in documents and queries alike. It bounds a term in memory and in segments.
pub const WORD_MAX_BYTES: usize = 128;

/// For each byte whether it ends a word.
const SEPARATORS: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 0x80 {
        let value = byte as u8;
        table[byte] = value <= b' '
            || value == 0x7F
            || (value.is_ascii_punctuation() && value != b'_' && value != b'\\');
        byte += 1;
    }
    table
};

/// Whether a byte ends a word. Bytes beyond ASCII do not.
#[inline]
pub fn is_separator(byte: u8) -> bool {
    SEPARATORS[usize::from(byte)]
}

/// Calls `each` with every word of a text that is no stop word. Stop words have no position: `to be alive` has `alive` at position 0.
/// `is_stop_word` gets words in lower case. An empty text has no words, also where empty values are indexed.
pub fn words(text: &[u8], is_stop_word: &dyn Fn(&str) -> bool, each: &mut dyn FnMut(Token<'_>)) {
    let mut folded = String::new();
    let mut position = 0u32;
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        if is_separator(byte) {
            at += 1;
            continue;
        }
        let start = at;
        let (end, is_plain) = end_of_word(text, start);
        at = end;
        let source = text.get(start..end).unwrap_or_default();
        let plain = if is_plain { std::str::from_utf8(source).ok() } else { None };
        let word = match plain {
            Some(plain) => cut(plain),
            None => {
                folded.clear();
                unescape(source, &mut folded);
                &folded
            }
        };
        if word.is_empty() || is_stop_word(word) {
            continue;
        }
        each(Token { text: word, position, start, end, is_pair: false, is_adjacent: false });
        position = position.saturating_add(1);
    }
}

/// Appends the term of a word of a query whose escapes are gone already: in lower case, cut at [`WORD_MAX_BYTES`].
pub fn fold_word(word: &[u8], folded: &mut String) {
    let limit = folded.len() + WORD_MAX_BYTES;
    let mut at = 0;
    while let Some(character) = character_at(word, at) {
        at += character.bytes;
        if !push_lower(character.value, limit, folded) {
            break;
        }
    }
}

/// The end of the word that starts at `start`, and whether its bytes are the term as they stand.
#[inline]
fn end_of_word(text: &[u8], start: usize) -> (usize, bool) {
    let mut at = start;
    let mut is_plain = true;
    while let Some(&byte) = text.get(at) {
        if is_separator(byte) {
            break;
        }
        at += 1;
        if byte == b'\\' {
            is_plain = false;
            // An escaped separator is a part of the word, a control character is not.
            at += usize::from(text.get(at).is_some_and(|&next| next >= b' ' && next != 0x7F));
        } else if byte.is_ascii_uppercase() || !byte.is_ascii() {
            is_plain = false;
        }
    }
    (at, is_plain)
}

fn unescape(source: &[u8], folded: &mut String) {
    let mut at = 0;
    let mut is_escaped = false;
    while let Some(character) = character_at(source, at) {
        at += character.bytes;
        if character.value == '\\' && !is_escaped {
            is_escaped = true;
            continue;
        }
        is_escaped = false;
        if !push_lower(character.value, WORD_MAX_BYTES, folded) {
            break;
        }
    }
}

/// Appends the lower case of a character if the whole of it fits.
#[inline]
fn push_lower(character: char, limit: usize, folded: &mut String) -> bool {
    if character.is_ascii() {
        let fits = folded.len() < limit;
        if fits {
            folded.push(character.to_ascii_lowercase());
        }
        return fits;
    }
    let lower = character.to_lowercase();
    let fits = folded.len() + lower.clone().map(char::len_utf8).sum::<usize>() <= limit;
    if fits {
        folded.extend(lower);
    }
    fits
}

fn cut(word: &str) -> &str {
    // Plain words are ASCII, so every byte is a boundary.
    word.get(..WORD_MAX_BYTES).unwrap_or(word)
}

/// The end of the source of the first `characters` characters of a token's text. `word` is the token's source.
pub fn end_of_prefix(word: &[u8], characters: usize) -> usize {
    let mut at = 0;
    let mut count = 0;
    let mut is_escaped = false;
    while let Some(character) = character_at(word, at).filter(|_| count < characters) {
        at += character.bytes;
        is_escaped = character.value == '\\' && !is_escaped;
        if !is_escaped {
            count += character.value.to_lowercase().count();
        }
    }
    at
}
