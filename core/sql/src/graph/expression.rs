//! Checks that a text of a user is one expression and nothing else, before it is put between parentheses in a statement.
//!
//! Such a text cannot close the parentheses around it, end the statement, or leave a quote or a comment open. What is then between them
//! is an expression of SQLite's grammar, or the statement is refused by SQLite: a subquery reads, and nothing that writes is an expression.

/// Why a text is no expression.
pub(super) fn fault(text: &[u8]) -> Option<&'static str> {
    let mut rest = text;
    let mut depth = 0usize;
    let mut is_blank = true;
    while let Some((first, after)) = rest.split_first() {
        rest = match (first, after) {
            (b'\'' | b'"' | b'`', _) => match behind_quote(after, *first) {
                Some(after) => after,
                None => return Some("has a quote that does not end"),
            },
            (b'[', _) => match behind(after, b"]") {
                Some(after) => after,
                None => return Some("has a quote that does not end"),
            },
            (b'-', [b'-', ..]) | (b'/', [b'*', ..]) => return Some("has a comment"),
            (b';', _) => return Some("has more than one statement"),
            (b'?' | b':' | b'@' | b'$' | b'#', _) => return Some("has a parameter"),
            (0, _) => return Some("has a byte of zero"),
            (b'(', _) => {
                depth += 1;
                after
            }
            (b')', _) => match depth.checked_sub(1) {
                Some(less) => {
                    depth = less;
                    after
                }
                None => return Some("has a parenthesis too many"),
            },
            // A name may have any of the signs behind its first one.
            (b'a'..=b'z' | b'A'..=b'Z' | b'_' | 0x80.., _) => behind_name(after),
            _ => after,
        };
        is_blank &= first.is_ascii_whitespace();
    }
    match (depth, is_blank) {
        (_, true) => Some("is empty"),
        (0, _) => None,
        _ => Some("has a parenthesis that is not closed"),
    }
}

/// What follows a quote that has begun. A quote that is doubled is part of it.
fn behind_quote(text: &[u8], quote: u8) -> Option<&[u8]> {
    let mut rest = text;
    loop {
        rest = behind(rest, &[quote])?;
        match rest.split_first() {
            Some((next, after)) if *next == quote => rest = after,
            _ => return Some(rest),
        }
    }
}

/// What follows the first of these bytes.
fn behind<'a>(text: &'a [u8], end: &[u8; 1]) -> Option<&'a [u8]> {
    let at = text.iter().position(|byte| *byte == end[0])?;
    text.get(at + 1..)
}

fn behind_name(text: &[u8]) -> &[u8] {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..);
    let len = text.iter().position(|byte| !is_part(byte)).unwrap_or(text.len());
    text.get(len..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::fault;

    #[test]
    fn an_expression_is_refused() {
        for text in [
            "weight > 1",
            "type = 'a;b)' AND (weight + 1) * 2 > 3",
            "type IN ('it''s', \"x\"\"y\", `z`, [w])",
            "properties ->> '$.a' = '?'",
            "a$b = 1",
            "EXISTS (SELECT 1 FROM t WHERE t.id = target)",
        ] {
            assert_eq!(fault(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_text_that_is_more_than_an_expression_is_let_through() {
        for text in [
            "",
            " \n",
            "1; DELETE FROM t",
            "1) OR (1",
            "(1",
            "1)",
            "'open",
            "'open''",
            "\"open",
            "[open",
            "1 -- the rest",
            "1 /* the rest",
            "1 /* a */",
            "?1",
            ":name",
            "@name",
            "$name",
            "1\0",
        ] {
            assert!(fault(text.as_bytes()).is_some(), "{text}");
        }
    }
}
