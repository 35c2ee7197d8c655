//! Bytes written as text with redis-cli's escapes, without the quotes around them.
//!
//! The core decides what an escape means: a text becomes the inside of a double-quoted word, and the core splits that
//! line. This module only names the mistakes that redis-cli would take literally: in an editor they are typing errors.

use std::fmt;

use edgecask_core::resp::split_line;

/// Why a text with escapes stands for no bytes.
#[derive(Debug, PartialEq, Eq)]
pub enum EscapeError {
    /// The text ends with a backslash.
    BackslashAtEnd,
    /// `\x` without two hexadecimal digits behind it. Characters are counted from 1.
    DigitsMissing { character: usize },
    /// The core took the word apart; [`quote`] prevents that.
    NotOneWord,
}

impl fmt::Display for EscapeError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BackslashAtEnd => {
                out.write_str(r"A backslash at the end: write \\ for the character itself.")
            }
            Self::DigitsMissing { character } => {
                write!(out, r"\x at character {character} needs two hexadecimal digits.")
            }
            Self::NotOneWord => out.write_str("These escapes cannot be read."),
        }
    }
}

impl std::error::Error for EscapeError {}

/// The bytes that `text` stands for. A quote needs no backslash in it.
///
/// # Errors
///
/// The text ends within an escape, or `\x` has fewer than two digits.
pub fn unescape(text: &str) -> Result<Vec<u8>, EscapeError> {
    let words = split_line(quote(text)?.as_bytes()).ok_or(EscapeError::NotOneWord)?;
    let [word] = <[_; 1]>::try_from(words).map_err(|_| EscapeError::NotOneWord)?;
    Ok(word)
}

/// The text between double quotes, its own quotes escaped, so that it is one word of a line.
fn quote(text: &str) -> Result<String, EscapeError> {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    let mut characters = text.chars().zip(1..);
    while let Some((character, number)) = characters.next() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => {
                let (escaped, _) = characters.next().ok_or(EscapeError::BackslashAtEnd)?;
                let digits = characters.clone().take(2).filter(|(digit, _)| digit.is_ascii_hexdigit());
                if escaped == 'x' && digits.count() < 2 {
                    return Err(EscapeError::DigitsMissing { character: number });
                }
                quoted.extend(['\\', escaped]);
            }
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    Ok(quoted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[u8]) {
        assert_eq!(unescape(text).as_deref(), Ok(expected), "{text:?}");
    }

    #[test]
    fn escapes_mean_the_same_as_in_a_quoted_word() {
        check(r"a\x00\xFF\n\r\t\b\a\\\q", b"a\x00\xff\n\r\t\x08\x07\\q");
        check(r"\\x41", br"\x41");
        check("", b"");
        check("\\é\\🐎", "é🐎".as_bytes());
    }

    #[test]
    fn quotes_spaces_and_line_ends_stay_in_the_value() {
        check("say \"hi\" and 'no'\nnext", b"say \"hi\" and 'no'\nnext");
        check(r#"\"a\" "b""#, br#""a" "b""#);
    }

    #[test]
    fn typing_errors_are_named_with_their_place() {
        assert_eq!(unescape("a\\"), Err(EscapeError::BackslashAtEnd));
        assert_eq!(unescape(r"\\\"), Err(EscapeError::BackslashAtEnd));
        for text in [r"é\xg1", r"é\x4", r"é\x", r"é\x\41"] {
            assert_eq!(unescape(text), Err(EscapeError::DigitsMissing { character: 2 }), "{text}");
        }
    }
}
