//! Where the next statement of a text begins.

/// Steps over white space, comments and semicolons, as SQLite's tokenizer knows them.
pub(crate) fn skip_blank(text: &[u8], mut at: usize) -> usize {
    loop {
        let rest = text.get(at..).unwrap_or_default();
        match rest {
            [b' ' | b'\t' | b'\n' | b'\r' | 0x0c | b';', ..] => at += 1,
            [b'-', b'-', ..] => {
                at += rest.iter().position(|byte| *byte == b'\n').map_or(rest.len(), |end| end + 1);
            }
            [b'/', b'*', inner @ ..] => {
                at += inner.windows(2).position(|pair| pair == b"*/").map_or(rest.len(), |end| end + 4);
            }
            _ => return at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::skip_blank;

    #[test]
    fn a_comment_is_taken_for_a_statement() {
        for (text, at) in [
            ("", 0),
            (" ;\n\t; ", 6),
            ("-- a", 4),
            ("-- a\nSELECT", 5),
            ("/* ; */ /**/x", 12),
            ("/* never ended", 14),
            ("- 1", 0),
            ("/ 2", 0),
            ("/*/ x", 5),
        ] {
            assert_eq!(skip_blank(text.as_bytes(), 0), at, "{text:?}");
        }
    }
}
