//! Characters of bytes that need not be UTF-8.

/// A character and how many bytes it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Character {
    /// The character, or U+FFFD for a byte that belongs to none.
    pub value: char,
    /// Its length in the source: 1 to 4.
    pub bytes: usize,
}

/// The character that starts at byte `at`, or None at the end. A byte that starts no valid sequence is U+FFFD of one byte.
#[inline]
pub fn character_at(text: &[u8], at: usize) -> Option<Character> {
    let first = *text.get(at)?;
    if first.is_ascii() {
        return Some(Character { value: char::from(first), bytes: 1 });
    }
    let bytes = match first {
        0xC2..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF4 => 4,
        _ => 1,
    };
    let value = text
        .get(at..at + bytes)
        .and_then(|sequence| std::str::from_utf8(sequence).ok())
        .and_then(|sequence| sequence.chars().next());
    Some(match value {
        Some(value) => Character { value, bytes },
        None => Character { value: char::REPLACEMENT_CHARACTER, bytes: 1 },
    })
}
