//! The tokens of a query.
//!
//! A token is the longest that fits. Punctuation and control characters that begin none are passed over: `office#home` is two words.

use crate::search::schema::Analyzer;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    End,
    Or,
    Open,
    Close,
    OpenBrace,
    CloseBrace,
    OpenBracket,
    CloseBracket,
    Colon,
    Semicolon,
    Minus,
    Tilde,
    Star,
    Percent,
    /// A quote without a partner; in dialect 1 each one.
    Quote,
    /// `=>`
    Arrow,
    /// `@name`
    Field,
    /// `$name`
    Parameter,
    Word,
    Number,
    /// `"…"`
    Exact,
    Prefix,
    Suffix,
    Infix,
    /// `w'…'`
    Wildcard,
}

/// A token and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub kind: Kind,
    pub at: usize,
    /// Its text without signs and quotes, escapes unresolved. Of a token without any, that of the one before: so RediSearch's errors say.
    pub text: &'a [u8],
    /// Whether the text of an affix or a wildcard is the name of a parameter.
    pub is_parameter: bool,
}

/// How a number is compared: `@n>=5`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone)]
pub(super) struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
    last: &'a [u8],
    /// Dialect 1 has neither parameters in affixes nor wildcards, and its quotes are signs around words.
    is_first_dialect: bool,
    /// Apostrophes are parts of words, and quotations are whole in dialect 1, too, since their signs mean nothing to this analyzer.
    is_instant: bool,
}

/// What a prefix or suffix may hold.
#[derive(Clone, Copy)]
struct Body<'a> {
    text: &'a [u8],
    length: usize,
    kind: Kind,
}

impl<'a> Lexer<'a> {
    pub fn new(text: &'a [u8], dialect: u8, analyzer: Analyzer) -> Lexer<'a> {
        let is_instant = analyzer == Analyzer::Instant;
        Lexer { text, at: 0, last: b"", is_first_dialect: dialect < 2, is_instant }
    }

    /// Whether the text ends with the last token.
    pub fn is_at_end(&self) -> bool {
        self.at >= self.text.len()
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or(0)
    }

    fn slice(&self, at: usize, length: usize) -> &'a [u8] {
        self.text.get(at..at.saturating_add(length)).unwrap_or(b"")
    }

    fn token(&mut self, kind: Kind, length: usize, text: &'a [u8], is_parameter: bool) -> Token<'a> {
        let at = self.at;
        self.at += length;
        self.last = text;
        Token { kind, at, text, is_parameter }
    }

    pub fn next(&mut self) -> Token<'a> {
        while self.at < self.text.len() {
            if let Some(token) = self.token_here() {
                return token;
            }
            self.at += 1;
        }
        Token { kind: Kind::End, at: self.text.len(), text: self.last, is_parameter: false }
    }

    fn token_here(&mut self) -> Option<Token<'a>> {
        let sign = match self.byte(self.at) {
            b'|' => Kind::Or,
            b'(' => Kind::Open,
            b')' => Kind::Close,
            b'{' => Kind::OpenBrace,
            b'}' => Kind::CloseBrace,
            b'[' => Kind::OpenBracket,
            b']' => Kind::CloseBracket,
            b':' => Kind::Colon,
            b';' => Kind::Semicolon,
            b'~' => Kind::Tilde,
            b'%' => Kind::Percent,
            b'@' => {
                let name = self.slice(self.at + 1, self.word(self.at + 1));
                return (!name.is_empty()).then(|| self.token(Kind::Field, name.len() + 1, name, false));
            }
            b'*' => return Some(self.star()),
            b'=' if self.byte(self.at + 1) == b'>' => {
                return Some(self.token(Kind::Arrow, 2, self.slice(self.at + 1, 1), false));
            }
            _ => match (self.body(self.at), self.byte(self.at)) {
                (Some(body), _)
                    if self.byte(self.at + body.length) == b'*' && body.kind != Kind::Wildcard =>
                {
                    let is_parameter = body.kind == Kind::Parameter;
                    return Some(self.token(Kind::Prefix, body.length + 1, body.text, is_parameter));
                }
                (Some(body), _) => {
                    let is_parameter = body.kind == Kind::Wildcard && body.text.first() == Some(&b'$');
                    let text = if is_parameter { body.text.get(1..).unwrap_or(b"") } else { body.text };
                    return Some(self.token(body.kind, body.length, text, is_parameter));
                }
                (None, b'-') => Kind::Minus,
                (None, b'"') => Kind::Quote,
                // As in `great'wall great'wall`.
                (None, b'\'') if self.quoted(self.at) > 2 => Kind::Quote,
                _ => return None,
            },
        };
        self.at += 1;
        Some(Token { kind: sign, at: self.at - 1, text: self.last, is_parameter: false })
    }

    /// `*`, `*suffix`, `*infix*`.
    fn star(&mut self) -> Token<'a> {
        match self.body(self.at + 1) {
            Some(body) if body.kind != Kind::Wildcard => {
                let is_infix = self.byte(self.at + 1 + body.length) == b'*';
                let (kind, signs) = if is_infix { (Kind::Infix, 2) } else { (Kind::Suffix, 1) };
                self.token(kind, body.length + signs, body.text, body.kind == Kind::Parameter)
            }
            _ => {
                self.at += 1;
                Token { kind: Kind::Star, at: self.at - 1, text: self.last, is_parameter: false }
            }
        }
    }

    /// The longest word, number, parameter, quotation or wildcard here.
    fn body(&self, at: usize) -> Option<Body<'a>> {
        match self.byte(at) {
            b'$' => {
                let text = self.slice(at + 1, self.word(at + 1));
                return (!text.is_empty()).then_some(Body {
                    text,
                    length: text.len() + 1,
                    kind: Kind::Parameter,
                });
            }
            quote @ (b'"' | b'\'') => {
                // An apostrophe inside a word does not open a quotation.
                let is_inside =
                    quote == b'\'' && at.checked_sub(1).is_some_and(|before| self.word(before) > 0);
                let length = self.quoted(at);
                return (length > 0 && !is_inside).then(|| {
                    let text = self.slice(at + 1, length - 2);
                    Body { text, length, kind: Kind::Exact }
                });
            }
            b'w' if self.byte(at + 1) == b'\'' && !self.is_first_dialect => {
                let length = self.quoted(at + 1);
                if length > 2 {
                    let text = self.slice(at + 2, length - 2);
                    return Some(Body { text, length: length + 1, kind: Kind::Wildcard });
                }
            }
            _ => {}
        }
        let (word, number) = (self.word(at), self.number(at));
        let (length, kind) = if number >= word { (number, Kind::Number) } else { (word, Kind::Word) };
        (length > 0).then(|| Body { text: self.slice(at, length), length, kind })
    }

    /// Length of the word here: letters, digits, `_`, characters outside of ASCII, and signs and spaces behind a backslash.
    fn word(&self, at: usize) -> usize {
        let mut end = at;
        while let Some(&byte) = self.text.get(end) {
            if byte == b'\\' && self.text.get(end + 1).is_some_and(|&next| is_escapable(next)) {
                end += 2;
            } else if is_of_word(byte) || (byte == b'\'' && self.joins(at, end)) {
                end += 1;
            } else {
                break;
            }
        }
        end - at
    }

    /// Whether the apostrophe at `end` stands inside the word that begins at `at`.
    fn joins(&self, at: usize, end: usize) -> bool {
        self.is_instant && end > at && is_of_word(self.byte(end + 1))
    }

    /// Length of the number here: `-1.5e-3`, `inf`, `+inf`, `-inf`.
    fn number(&self, at: usize) -> usize {
        let digits = |from: usize| {
            let rest = self.text.get(from..).unwrap_or(b"");
            rest.iter().take_while(|byte| byte.is_ascii_digit()).count()
        };
        // `-information` and `-2nd` are negations.
        let is_whole = |length: usize| self.byte(at) != b'-' || self.word(at + length) == 0;
        let sign = usize::from(matches!(self.byte(at), b'-' | b'+'));
        if self.slice(at + sign, 3) == b"inf" && is_whole(sign + 3) {
            return sign + 3;
        }
        let mut end = at + usize::from(self.byte(at) == b'-');
        let whole = digits(end);
        if whole == 0 {
            return 0;
        }
        end += whole;
        if self.byte(end) == b'.' && digits(end + 1) > 0 {
            end += 1 + digits(end + 1);
        }
        if matches!(self.byte(end), b'e' | b'E') {
            let sign = usize::from(matches!(self.byte(end + 1), b'-' | b'+'));
            let exponent = digits(end + 1 + sign);
            if exponent > 0 {
                end += 1 + sign + exponent;
            }
        }
        if is_whole(end - at) { end - at } else { 0 }
    }

    /// Length of the quotation here, quotes included; 0 if there is none or it has no end.
    fn quoted(&self, at: usize) -> usize {
        let quote = self.byte(at);
        let is_quote = if self.is_first_dialect {
            quote == b'"' && self.is_instant
        } else {
            matches!(quote, b'"' | b'\'')
        };
        if !is_quote {
            return 0;
        }
        let mut end = at + 1;
        while let Some(&byte) = self.text.get(end) {
            match byte {
                b'\\' => end += 2,
                _ if byte == quote && !(byte == b'\'' && self.joins(at + 1, end)) => return end + 1 - at,
                _ => end += 1,
            }
        }
        0
    }

    /// The sign of comparison that stands here, which is passed over. Elsewhere such signs are punctuation.
    pub fn comparison(&mut self) -> Option<Comparison> {
        let rest = self.text.get(self.at..).unwrap_or(b"");
        let spaces = rest.iter().take_while(|&&byte| is_space(byte)).count();
        let (comparison, length) = match rest.get(spaces..).unwrap_or(b"") {
            [b'=', b'=', ..] => (Comparison::Equal, 2),
            [b'!', b'=', ..] => (Comparison::NotEqual, 2),
            [b'<', b'=', ..] => (Comparison::LessOrEqual, 2),
            [b'>', b'=', ..] => (Comparison::GreaterOrEqual, 2),
            [b'<', ..] => (Comparison::Less, 1),
            [b'>', ..] => (Comparison::Greater, 1),
            _ => return None,
        };
        self.at += spaces + length;
        Some(comparison)
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | 9..=13)
}

/// Whether a byte ends a word of a quotation. `$` does not, other than in documents: RediSearch keeps it, so that it finds nothing.
fn is_separator(byte: u8) -> bool {
    byte.is_ascii_control() || (byte.is_ascii_punctuation() && !matches!(byte, b'_' | b'$' | b'\\'))
}

fn is_escapable(byte: u8) -> bool {
    byte.is_ascii_punctuation() || is_space(byte)
}

/// A text without the backslashes before signs and spaces; others stay.
pub(super) fn unescape(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match bytes.peek() {
            Some(&next) if byte == b'\\' && is_escapable(next) => {
                out.push(next);
                bytes.next();
            }
            _ => out.push(byte),
        }
    }
    out
}

/// A pattern of `w'…'` without its backslashes: they only say that the quote or backslash behind them is one.
pub(super) fn unescape_wildcard(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.iter().copied();
    while let Some(byte) = bytes.next() {
        out.push(if byte == b'\\' { bytes.next().unwrap_or(byte) } else { byte });
    }
    out
}

/// The words between the separators of a quotation, escapes resolved.
pub(super) fn words(text: &[u8]) -> Vec<Vec<u8>> {
    let mut words = Vec::new();
    let mut word = Vec::new();
    let mut bytes = text.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match bytes.peek() {
            Some(&next) if byte == b'\\' && is_escapable(next) => {
                word.push(next);
                bytes.next();
            }
            _ if is_space(byte) || is_separator(byte) => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            _ => word.push(byte),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}
