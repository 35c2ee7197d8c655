//! Pieces of an expression's text.

use super::super::value::{Message, digits, message};

/// A piece.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    /// A number; a sign before it belongs to it where an operand is expected.
    Number(f64),
    /// What stands between quotes, escapes resolved.
    Text(Vec<u8>),
    /// `@name`.
    Property(Vec<u8>),
    /// The name of a function, or NULL.
    Symbol(Vec<u8>),
    /// `(`, `)`, `,` or an operator.
    Mark(&'static str),
    /// Nothing more.
    End,
}

/// Marks, longer ones before those that they begin with.
const MARKS: [&str; 17] =
    ["==", "!=", "<=", ">=", "&&", "||", "(", ")", ",", "+", "-", "*", "/", "%", "^", "<", ">"];

pub(super) struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    /// Where the last piece began.
    pub(super) start: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0, start: 0 }
    }

    fn rest(&self) -> &'a [u8] {
        self.text.get(self.at..).unwrap_or_default()
    }

    /// The error for what was read last.
    pub(super) fn syntax_error(&self) -> Message {
        let near = self.text.get(self.start..self.at).unwrap_or_default();
        let offset = digits(self.start as u64);
        message(&[b"Syntax error at offset ", &offset, b" near '", near, b"'"])
    }

    /// The next piece. `is_operand` says that an operand is expected: `+` and `-` may begin a number then.
    pub(super) fn next(&mut self, is_operand: bool) -> Result<Token, Message> {
        let blanks = self
            .rest()
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace() || byte.is_ascii_control())
            .count();
        self.at += blanks;
        self.start = self.at;
        let rest = self.rest();
        let Some(first) = rest.first() else { return Ok(Token::End) };
        if let Some((value, length)) = number(rest, is_operand) {
            self.at += length;
            return Ok(Token::Number(value));
        }
        match first {
            b'@' => {
                self.at += 1;
                let name = self.name();
                if name.is_empty() { Err(self.syntax_error()) } else { Ok(Token::Property(name)) }
            }
            b'"' | b'\'' => self.quoted(*first),
            _ if first.is_ascii_alphabetic() => {
                let length = symbol_length(rest);
                self.at += length;
                Ok(Token::Symbol(rest.get(..length).unwrap_or_default().to_vec()))
            }
            b'!' if !rest.starts_with(b"!=") => {
                self.at += 1;
                Ok(Token::Mark("!"))
            }
            _ => match MARKS.iter().find(|mark| rest.starts_with(mark.as_bytes())) {
                Some(mark) => {
                    self.at += mark.len();
                    Ok(Token::Mark(mark))
                }
                None => {
                    self.at += 1;
                    Err(self.syntax_error())
                }
            },
        }
    }

    /// The name of a property: anything but punctuation, blanks and control characters, which a backslash takes in.
    fn name(&mut self) -> Vec<u8> {
        let mut name = Vec::new();
        loop {
            match self.rest() {
                [b'\\', byte, ..] if is_escaped(*byte) => {
                    name.push(*byte);
                    self.at += 2;
                }
                [byte, ..] if *byte == b'_' || !(is_escaped(*byte) || byte.is_ascii_control()) => {
                    name.push(*byte);
                    self.at += 1;
                }
                _ => return name,
            }
        }
    }

    fn quoted(&mut self, quote: u8) -> Result<Token, Message> {
        self.at += 1;
        let mut text = Vec::new();
        loop {
            match self.rest() {
                [b'\\', byte, ..] if is_escaped(*byte) => {
                    text.push(*byte);
                    self.at += 2;
                }
                [byte, ..] if *byte == quote => {
                    self.at += 1;
                    return Ok(Token::Text(text));
                }
                [] | [b'\n', ..] => return Err(self.syntax_error()),
                [byte, ..] => {
                    text.push(*byte);
                    self.at += 1;
                }
            }
        }
    }
}

/// Whether a backslash before this byte means the byte itself.
fn is_escaped(byte: u8) -> bool {
    byte.is_ascii_punctuation() || byte.is_ascii_whitespace()
}

fn symbol_length(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count()
}

/// A number at the beginning, and its length: digits, perhaps a fraction and an exponent, or `inf`.
fn number(text: &[u8], may_have_sign: bool) -> Option<(f64, usize)> {
    let sign = usize::from(may_have_sign && matches!(text.first(), Some(b'+' | b'-')));
    let body = text.get(sign..)?;
    if body.starts_with(b"inf") && symbol_length(body) == 3 {
        let infinity = if text.first() == Some(&b'-') { f64::NEG_INFINITY } else { f64::INFINITY };
        return Some((infinity, sign + 3));
    }
    let digits = |at: usize| {
        body.get(at..).unwrap_or_default().iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let mut length = digits(0);
    if length == 0 {
        return None;
    }
    if body.get(length) == Some(&b'.') && digits(length + 1) > 0 {
        length += 1 + digits(length + 1);
    }
    if matches!(body.get(length), Some(b'e' | b'E')) {
        let exponent = length + 1 + usize::from(matches!(body.get(length + 1), Some(b'+' | b'-')));
        if digits(exponent) > 0 {
            length = exponent + digits(exponent);
        }
    }
    // What overflows is infinite, as C's strtod has it.
    let value: f64 = core::str::from_utf8(text.get(..sign + length)?).ok()?.parse().ok()?;
    Some((value, sign + length))
}
