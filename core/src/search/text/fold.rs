//! Folding: what of a character counts in a search as one types.
//!
//! Case, accents and widths do not count, nor do the vowel signs of Hebrew and Arabic, joiners and variation selectors. Letters that
//! Unicode does not decompose become those that are typed for them (`ø` is `o`, `ß` is `ss`, Persian `ک` is `ك`). Signs that change a
//! word stay: those of Indic scripts and Thai, and the voicing of kana, which is composed with its letter, as Korean letters are with
//! their syllable. Folding a folded text changes nothing.

use super::character_at;
use super::fold_table::{MARKS, POOL, POOL_ENDS, RUNS, TARGETS};

/// What a character is to the analyzer [`super::instant`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// Ends a word.
    Separator,
    /// A letter or digit of a script with words, or a sign that counts.
    Letter,
    /// A character of a script that writes no spaces.
    Pair,
    /// Belongs to the character before it and has no place of its own.
    Mark,
    /// Joins letters or parts an elided article from its word.
    Apostrophe,
}

/// A target from here on is a number of a text in the pool, since no character has the number of a surrogate.
pub(super) const FIRST_POOLED: u16 = 0xD800;

const FULL_WIDTH: std::ops::RangeInclusive<char> = '\u{FF01}'..='\u{FF5E}';

/// How far the full-width forms are from ASCII.
const FULL_WIDTH_OFFSET: u32 = 0xFEE0;

/// Appends the folded form of a whole value: separators stay as they are, full-width ones become ASCII.
pub fn fold(text: &[u8], folded: &mut String) {
    let mut at = 0;
    while let Some(character) = character_at(text, at) {
        at += character.bytes;
        push_folded(character.value, folded);
    }
}

/// Appends a tag as fields that tell no case apart fold it: in lower case, each character for itself, so that the beginning of a tag is the
/// beginning of its folded form. Both small letters of a Greek Σ are one. Accents stay; bytes that are not UTF-8 stay.
pub fn fold_tag(tag: &[u8], into: &mut Vec<u8>) {
    if tag.is_ascii() {
        into.extend(tag.iter().map(u8::to_ascii_lowercase));
        return;
    }
    for chunk in tag.utf8_chunks() {
        for lower in chunk.valid().chars().flat_map(char::to_lowercase) {
            let lower = if lower == 'ς' { 'σ' } else { lower };
            into.extend_from_slice(lower.encode_utf8(&mut [0; 4]).as_bytes());
        }
        into.extend_from_slice(chunk.invalid());
    }
}

/// Appends the folded form of a character that follows what is in `folded`.
#[inline]
pub(super) fn push_folded(character: char, folded: &mut String) {
    if character.is_ascii() {
        folded.push(character.to_ascii_lowercase());
    } else {
        push_folded_beyond_ascii(character, folded);
    }
}

fn push_folded_beyond_ascii(character: char, folded: &mut String) {
    match character {
        // Most letters of Russian, Greek, Hebrew and Hindi, kana, Han and Korean, without a search in tables.
        'а'..='и'
        | 'к'..='я'
        | 'α'..='ρ'
        | 'σ'..='ω'
        | 'א'..='ת'
        | 'क'..='न'
        | 'ก'..='ฮ'
        | 'ぁ'..='ゖ'
        | 'ァ'..='ヺ'
        | '\u{3400}'..='\u{9FFF}'
        | '가'..='힣' => folded.push(character),
        '\u{3099}' | '\u{FF9E}' => voice(1, folded),
        '\u{309A}' | '\u{FF9F}' => voice(2, folded),
        '\u{3000}' => folded.push(' '),
        '\u{1161}'..='\u{1175}' | '\u{11A8}'..='\u{11C2}' => push_hangul(character, folded),
        _ if is_dropped(character) => {}
        _ if FULL_WIDTH.contains(&character) => {
            let ascii = char::from_u32(u32::from(character) - FULL_WIDTH_OFFSET).unwrap_or(character);
            folded.push(ascii.to_ascii_lowercase());
        }
        _ => match target(character) {
            Some(target) if target < FIRST_POOLED => folded.extend(char::from_u32(u32::from(target))),
            Some(target) => folded.push_str(pooled(target - FIRST_POOLED)),
            None => folded.extend(character.to_lowercase()),
        },
    }
}

/// What a character is.
pub(super) fn class(character: char) -> Class {
    match character {
        '0'..='9' | 'a'..='z' | 'A'..='Z' => Class::Letter,
        '\'' | '\u{2018}' | '\u{2019}' | '\u{2BB}' | '\u{2BC}' | '\u{FF07}' => Class::Apostrophe,
        '\0'..='\x7F' => Class::Separator,
        '\u{C0}'..='\u{24F}' => match character {
            '×' | '÷' => Class::Separator,
            _ => Class::Letter,
        },
        // What follows only saves searches in tables.
        'Ѐ'..='ҁ' | 'α'..='ω' | 'א'..='ת' | 'क'..='न' | '가'..='힣' => Class::Letter,
        'ก'..='ฮ' | 'ぁ'..='ゖ' | 'ァ'..='ヺ' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}' => {
            Class::Pair
        }
        '\u{3099}' | '\u{309A}' | '\u{FF9E}' | '\u{FF9F}' => Class::Mark,
        _ if is_dropped(character) => Class::Mark,
        _ if !character.is_alphanumeric() && !is_kept_mark(character) => Class::Separator,
        _ if is_pair(character) => Class::Pair,
        _ => Class::Letter,
    }
}

/// Whether the script writes no spaces between words: Thai, Lao, Myanmar, Khmer, kana, Bopomofo, Han. Korean does write spaces, and
/// what follows a noun there is found by the noun as a prefix. Digits of these scripts make numbers.
fn is_pair(character: char) -> bool {
    matches!(u32::from(character),
        0xE01..=0xE4F | 0xE80..=0xECF | 0xEDC..=0xEDF | 0x1000..=0x103F | 0x104C..=0x108F | 0x1780..=0x17DD
        | 0x3005..=0x3007 | 0x303B..=0x312F | 0x31A0..=0x31FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF
        | 0xF900..=0xFAFF | 0xFF66..=0xFF9D | 0x1B000..=0x1B16F | 0x20000..=0x3FFFD)
}

/// Whether a character never counts: accents, signs of Cyrillic, Hebrew and Arabic, joiners, hyphens that only allow a line break,
/// variation selectors.
pub(super) fn is_dropped(character: char) -> bool {
    matches!(u32::from(character),
        0xAD | 0x300..=0x36F | 0x483..=0x489 | 0x591..=0x5BD | 0x5BF | 0x5C1..=0x5C2 | 0x5C4..=0x5C5 | 0x5C7
        | 0x610..=0x61A | 0x640 | 0x64B..=0x65F | 0x670 | 0x6D6..=0x6DC | 0x6DF..=0x6E4 | 0x6E7..=0x6E8 | 0x6EA..=0x6ED
        | 0x8CA..=0x8E1 | 0x8E3..=0x8FF | 0x1AB0..=0x1AFF | 0x1DC0..=0x1DFF | 0x200B..=0x200F | 0x2060 | 0x20D0..=0x20FF
        | 0xFB1E | 0xFE00..=0xFE0F | 0xFE20..=0xFE2F | 0xFEFF | 0xE0100..=0xE01EF)
}

/// Whether a combining mark counts although it is no letter: viramas and tones, for instance.
fn is_kept_mark(character: char) -> bool {
    let code = u32::from(character);
    let after = MARKS.partition_point(|&(first, _)| first <= code);
    after
        .checked_sub(1)
        .and_then(|at| MARKS.get(at))
        .is_some_and(|&(first, length)| code - first < u32::from(length))
}

fn target(character: char) -> Option<u16> {
    let code = u32::from(character);
    let after = RUNS.partition_point(|&(first, _, _)| first <= code);
    let &(first, length, index) = RUNS.get(after.checked_sub(1)?)?;
    let within = code - first;
    if within >= u32::from(length) {
        return None;
    }
    TARGETS.get(usize::from(index) + within as usize).copied()
}

fn pooled(number: u16) -> &'static str {
    let number = usize::from(number);
    let start = number.checked_sub(1).and_then(|before| POOL_ENDS.get(before)).copied().unwrap_or(0);
    let end = POOL_ENDS.get(number).copied().unwrap_or(start);
    POOL.get(usize::from(start)..usize::from(end)).unwrap_or_default()
}

/// Gives the last letter a kana voicing mark: 1 for か to が, 2 for は to ぱ. In Unicode's order the voiced letter follows its letter.
fn voice(offset: u32, folded: &mut String) {
    let Some(last) = folded.chars().next_back() else { return };
    // Katakana repeats hiragana 0x60 later.
    let (letter, shift) = match u32::from(last) {
        code @ 0x30A1..=0x30FA => (code - 0x60, 0x60),
        code => (code, 0),
    };
    let voiced = match (letter, offset) {
        (0x3046, 1) => 0x3094,
        (0x304B..=0x3061, 1) if letter % 2 == 1 => letter + 1,
        (0x3064..=0x3068, 1) if letter % 2 == 0 => letter + 1,
        (0x306F..=0x307D, _) if letter % 3 == 0 => letter + offset,
        _ => return,
    };
    replace_last(last, voiced + shift, folded);
}

/// Composes a vowel or a final consonant with what it follows, by the arithmetic of the Unicode Standard, chapter 3.12.
fn push_hangul(character: char, folded: &mut String) {
    let code = u32::from(character);
    let last = folded.chars().next_back();
    let before = last.map_or(0, u32::from);
    let composed = match (before, code) {
        (0x1100..=0x1112, 0x1161..=0x1175) => Some(0xAC00 + ((before - 0x1100) * 21 + (code - 0x1161)) * 28),
        (0xAC00..=0xD7A3, 0x11A8..=0x11C2) if (before - 0xAC00).is_multiple_of(28) => {
            Some(before + code - 0x11A7)
        }
        _ => None,
    };
    match (last, composed) {
        (Some(last), Some(composed)) => replace_last(last, composed, folded),
        _ => folded.push(character),
    }
}

fn replace_last(last: char, code: u32, folded: &mut String) {
    folded.truncate(folded.len() - last.len_utf8());
    folded.push(char::from_u32(code).unwrap_or(last));
}
