//! Inline requests: one line of words, as a person types them into telnet.
//!
//! The quoting is that of Redis: words are separated by white space; inside `"…"` the escapes
//! `\xHH \n \r \t \b \a` work and any other escaped character stands for itself; inside `'…'` only `\'` does. A quote
//! may open in the middle of a word, its closing ends the word, and then white space or the end of the line must
//! follow. One deviation: a zero byte is an ordinary byte here, where Redis' C strings end (and leave the connection
//! hanging).

/// A quote was not closed, or text followed a closing quote.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct UnbalancedQuotes;

/// Splits a line that a person typed into its words, unescaped: the line of an inline request, or of a command line as
/// redis-cli has it. `None` if a quote was not closed or text followed a closing quote.
pub fn split_line(line: &[u8]) -> Option<Vec<Vec<u8>>> {
    let (mut scratch, mut spans) = (Vec::new(), Vec::new());
    split_words(line, &mut scratch, &mut spans).ok()?;
    let word = |(start, end)| scratch.get(start..end).map(<[u8]>::to_vec);
    spans.into_iter().map(word).collect()
}

/// Splits `line` (without its line end) into words. The unescaped words are appended to `scratch`, each word's start
/// and end in it to `spans`.
pub(super) fn split_words(
    line: &[u8],
    scratch: &mut Vec<u8>,
    spans: &mut Vec<(usize, usize)>,
) -> Result<(), UnbalancedQuotes> {
    let mut rest = skip_space(line);
    while !rest.is_empty() {
        let start = scratch.len();
        let used = take_word(rest, scratch)?;
        spans.push((start, scratch.len()));
        rest = skip_space(rest.get(used..).unwrap_or_default());
    }
    Ok(())
}

/// White space as C's `isspace` has it: unlike `u8::is_ascii_whitespace` it includes the vertical tab.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

fn skip_space(line: &[u8]) -> &[u8] {
    let blanks = line.iter().take_while(|byte| is_space(**byte)).count();
    line.get(blanks..).unwrap_or_default()
}

/// Appends the word at the start of `line` to `scratch` and returns how many bytes of `line` it took.
fn take_word(line: &[u8], scratch: &mut Vec<u8>) -> Result<usize, UnbalancedQuotes> {
    for (at, &byte) in line.iter().enumerate() {
        match byte {
            // Vertical tab and form feed separate words but do not end one: Redis' own asymmetry.
            b' ' | b'\n' | b'\r' | b'\t' => return Ok(at),
            b'"' | b'\'' => {
                let quoted = line.get(at + 1..).unwrap_or_default();
                let used = if byte == b'"' {
                    take_double_quoted(quoted, scratch)
                } else {
                    take_single_quoted(quoted, scratch)
                };
                return used.map(|used| at + 1 + used);
            }
            _ => scratch.push(byte),
        }
    }
    Ok(line.len())
}

/// `text` begins after the opening quote; returns the bytes taken, closing quote included.
fn take_double_quoted(text: &[u8], scratch: &mut Vec<u8>) -> Result<usize, UnbalancedQuotes> {
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match (byte, text.get(at + 1)) {
            (b'\\', Some(&escaped)) => {
                let digits = (text.get(at + 2).and_then(hex_digit), text.get(at + 3).and_then(hex_digit));
                if let (b'x', (Some(high), Some(low))) = (escaped, digits) {
                    scratch.push(high << 4 | low);
                    at += 4;
                } else {
                    scratch.push(unescape(escaped));
                    at += 2;
                }
            }
            (b'"', next) => return closing_quote(at, next),
            _ => {
                scratch.push(byte);
                at += 1;
            }
        }
    }
    Err(UnbalancedQuotes)
}

/// As [`take_double_quoted`], for `'`.
fn take_single_quoted(text: &[u8], scratch: &mut Vec<u8>) -> Result<usize, UnbalancedQuotes> {
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        match (byte, text.get(at + 1)) {
            (b'\\', Some(b'\'')) => {
                scratch.push(b'\'');
                at += 2;
            }
            (b'\'', next) => return closing_quote(at, next),
            _ => {
                scratch.push(byte);
                at += 1;
            }
        }
    }
    Err(UnbalancedQuotes)
}

fn closing_quote(at: usize, next: Option<&u8>) -> Result<usize, UnbalancedQuotes> {
    if next.is_none_or(|byte| is_space(*byte)) { Ok(at + 1) } else { Err(UnbalancedQuotes) }
}

fn hex_digit(byte: &u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

fn unescape(byte: u8) -> u8 {
    match byte {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 0x08,
        b'a' => 0x07,
        other => other,
    }
}
