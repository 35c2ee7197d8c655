//! A text of SQL as tokens, for the few forms of AlchemyDB that SQLite does not know.

/// A piece of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// Letters, digits and `_`, none of them quoted; a number, too.
    Word(&'t [u8]),
    /// Blanks or a comment.
    Blank(&'t [u8]),
    /// Anything between quotes, the quotes included.
    Quoted(&'t [u8]),
    /// One byte of all others.
    Sign(&'t [u8]),
}

impl<'t> Token<'t> {
    /// Its bytes.
    pub fn bytes(self) -> &'t [u8] {
        match self {
            Token::Word(bytes) | Token::Blank(bytes) | Token::Quoted(bytes) | Token::Sign(bytes) => bytes,
        }
    }

    /// Whether it is this keyword, in any case.
    pub fn is(self, word: &str) -> bool {
        matches!(self, Token::Word(bytes) if bytes.eq_ignore_ascii_case(word.as_bytes()))
    }

    /// Whether it is this sign.
    pub fn is_sign(self, sign: u8) -> bool {
        matches!(self, Token::Sign([byte]) if *byte == sign)
    }
}

/// The tokens of a text, all of its bytes in order.
pub(super) struct Tokens<'t>(&'t [u8]);

impl<'t> Tokens<'t> {
    pub fn of(text: &'t [u8]) -> Tokens<'t> {
        Tokens(text)
    }
}

impl<'t> Iterator for Tokens<'t> {
    type Item = Token<'t>;

    fn next(&mut self) -> Option<Token<'t>> {
        let text = self.0;
        let first = *text.first()?;
        let rest = text.get(1..).unwrap_or_default();
        // Where the token ends.
        let while_it = |is: fn(&u8) -> bool| text.iter().position(|byte| !is(byte)).unwrap_or(text.len());
        let behind = |found: Option<usize>, more: usize| found.map_or(text.len(), |at| at + more);
        let (len, make): (usize, fn(&'t [u8]) -> Token<'t>) = match first {
            b'\'' | b'"' | b'`' => (quoted_len(text, first), Token::Quoted),
            b'[' => (behind(rest.iter().position(|byte| *byte == b']'), 2), Token::Quoted),
            b'-' if rest.starts_with(b"-") => {
                (behind(text.iter().position(|byte| *byte == b'\n'), 1), Token::Blank)
            }
            b'/' if rest.starts_with(b"*") => {
                let comment = text.get(2..).unwrap_or_default();
                (behind(comment.windows(2).position(|end| end == b"*/"), 4), Token::Blank)
            }
            byte if byte.is_ascii_whitespace() => (while_it(u8::is_ascii_whitespace), Token::Blank),
            byte if is_of_word(&byte) => (while_it(is_of_word), Token::Word),
            _ => (1, Token::Sign),
        };
        let (token, rest) = text.split_at_checked(len)?;
        self.0 = rest;
        Some(make(token))
    }
}

fn is_of_word(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii()
}

/// The length of what begins with a quote, doubled quotes inside.
fn quoted_len(text: &[u8], quote: u8) -> usize {
    let mut at = 1;
    loop {
        let rest = text.get(at..).unwrap_or_default();
        let Some(end) = rest.iter().position(|byte| *byte == quote) else { return text.len() };
        at += end + 1;
        if text.get(at) != Some(&quote) {
            return at;
        }
        at += 1;
    }
}

/// INSERT and REPLACE as SQLite has them: commas between the groups behind VALUES, and ON CONFLICT for ON DUPLICATE KEY.
pub(super) fn insert(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() + 16);
    let (mut depth, mut is_values, mut is_behind_group) = (0usize, false, false);
    let mut tokens = Tokens::of(text).peekable();
    while let Some(token) = tokens.next() {
        if token.is_sign(b'(') {
            if is_values && is_behind_group {
                out.push(b',');
            }
            depth += 1;
        }
        if !matches!(token, Token::Blank(_)) {
            is_behind_group = false;
        }
        if token.is_sign(b')') {
            depth = depth.saturating_sub(1);
            is_behind_group = depth == 0;
        }
        if depth == 0 && token.is("DUPLICATE") && out.trim_ascii_end().to_ascii_uppercase().ends_with(b"ON") {
            out.extend_from_slice(b"CONFLICT DO UPDATE SET");
            // KEY UPDATE
            for word in ["KEY", "UPDATE"] {
                while tokens.next_if(|token| matches!(token, Token::Blank(_))).is_some() {}
                let _ = tokens.next_if(|token| token.is(word));
            }
            is_values = false;
            continue;
        }
        is_values = is_values || depth == 0 && token.is("VALUES");
        out.extend_from_slice(token.bytes());
    }
    out
}

/// The parameters `$1`, `$2` … of a statement that is to be prepared as `?1`, `?2` …
pub(super) fn numbered_parameters(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut tokens = Tokens::of(text).peekable();
    while let Some(token) = tokens.next() {
        let is_number =
            |token: &Token<'_>| matches!(token, Token::Word(word) if word.iter().all(u8::is_ascii_digit));
        let is_parameter = token.is_sign(b'$') && tokens.peek().is_some_and(is_number);
        out.extend_from_slice(if is_parameter { b"?" } else { token.bytes() });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rewrite: fn(&[u8]) -> Vec<u8>, text: &str, expected: &str) {
        assert_eq!(String::from_utf8_lossy(&rewrite(text.as_bytes())), expected);
    }

    #[test]
    fn bytes_of_a_text_are_lost() {
        for text in
            ["", "'", "\"a", "[x", "--", "/*", "/* a */-- b\n'it''s' [a]`b`\"c\"é1_2 ($1)", "a'b''c'd''"]
        {
            let joined: Vec<u8> =
                Tokens::of(text.as_bytes()).flat_map(|token| token.bytes().to_vec()).collect();
            assert_eq!(String::from_utf8_lossy(&joined), text);
        }
    }

    #[test]
    fn groups_without_commas_are_a_syntax_error() {
        check(
            insert,
            "INSERT INTO t VALUES (1,'a) (b') (2, max(3, (4))) (5)",
            "INSERT INTO t VALUES (1,'a) (b') ,(2, max(3, (4))) ,(5)",
        );
        check(insert, "INSERT INTO t (a) VALUES (1), (2)", "INSERT INTO t (a) VALUES (1), (2)");
        check(insert, "INSERT INTO t(a)(b)", "INSERT INTO t(a)(b)");
        check(
            insert,
            "INSERT INTO t VALUES (1,2) ON DUPLICATE KEY UPDATE b = (b) + (1)",
            "INSERT INTO t VALUES (1,2) ON CONFLICT DO UPDATE SET b = (b) + (1)",
        );
    }

    #[test]
    fn value_goes_to_another_parameter() {
        check(numbered_parameters, "SELECT '$1', $2, $name, $1", "SELECT '$1', ?2, $name, ?1");
    }
}
