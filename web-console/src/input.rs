//! Splitting an input into commands: one command, or several lines of them.

use edgecask_core::resp::split_line;

/// Splits an input into commands, and each command into words. A line end separates commands unless it is within
/// quotes; blank lines are skipped. `None` if quotes are not closed or text follows a closing quote.
pub fn split_input(input: &[u8]) -> Option<Vec<Vec<Vec<u8>>>> {
    let commands = statements(input).into_iter().map(split_line).collect::<Option<Vec<_>>>()?;
    Some(commands.into_iter().filter(|words| !words.is_empty()).collect())
}

/// The parts of an input that end with a line end outside of quotes.
pub fn statements(input: &[u8]) -> Vec<&[u8]> {
    let mut found = Vec::new();
    let mut rest = input;
    while !rest.is_empty() {
        let (statement, after) = rest.split_at(statement_length(rest));
        found.push(statement);
        rest = after.get(1..).unwrap_or_default();
    }
    found
}

/// Bytes up to the first line end outside of quotes.
fn statement_length(text: &[u8]) -> usize {
    let mut quote = None;
    let mut escaped = false;
    for (at, &byte) in text.iter().enumerate() {
        match (quote, byte) {
            _ if escaped => escaped = false,
            // Outside of quotes a backslash is a character like any other.
            (Some(_), b'\\') => escaped = true,
            (Some(open), _) if byte == open => quote = None,
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'\n') => return at,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(input: &str, expected: Option<&[&[&str]]>) {
        let texts = split_input(input.as_bytes()).map(|commands| {
            let text = |word: Vec<u8>| String::from_utf8_lossy(&word).into_owned();
            let command = |words: Vec<Vec<u8>>| words.into_iter().map(text).collect::<Vec<_>>();
            commands.into_iter().map(command).collect::<Vec<_>>()
        });
        let expected = expected.map(|commands| {
            commands.iter().map(|words| words.iter().map(|word| (*word).to_owned()).collect()).collect()
        });
        assert_eq!(texts, expected, "{input:?}");
    }

    #[test]
    fn quotes_and_escapes_as_in_redis_cli() {
        check("SET key \"a b\"", Some(&[&["SET", "key", "a b"]]));
        check(r#"SET 'it\'s' "\x41\n\"\q""#, Some(&[&["SET", "it's", "A\n\"q"]]));
        check("SET key \"\"", Some(&[&["SET", "key", ""]]));
        check("SET key \"open", None);
        check("SET key \"a\"b", None);
    }

    #[test]
    fn a_line_end_separates_commands() {
        check("PING\n\n  GET a\r\n", Some(&[&["PING"], &["GET", "a"]]));
        check("", Some(&[]));
        check("\n \n", Some(&[]));
    }

    #[test]
    fn a_line_end_in_quotes_belongs_to_the_value() {
        check("SET a \"{\n\\\"x\\\": 1\n}\"\nGET a", Some(&[&["SET", "a", "{\n\"x\": 1\n}"], &["GET", "a"]]));
        check("SET a 'x\ny'\nGET a", Some(&[&["SET", "a", "x\ny"], &["GET", "a"]]));
    }
}
