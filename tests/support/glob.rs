//! Globs over text for the allow-list: only `*`, which is any text. Kept apart from the core's globs, which are under
//! test here.

/// Whether all of `text` fits `pattern`.
pub fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut parts = parts.peekable();
    if parts.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn stars_stand_for_any_text() {
        assert!(fits("abc", "abc") && fits("*", "") && fits("a*c", "abbc") && fits("a*b*c", "axbxbyc"));
        assert!(!fits("abc", "abcd") && !fits("a*c", "abd") && !fits("a*b*c", "acb") && !fits("", "a"));
    }
}
