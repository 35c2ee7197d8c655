//! The parts of what a user typed: words, phrases in quotes, and either behind a hyphen to leave documents out.

/// A part of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part<'q> {
    /// Its text, without quotes and hyphen. The analyzer makes words of it.
    pub text: &'q str,
    /// Whether its words stand next to each other, without typos.
    pub is_phrase: bool,
    /// Whether documents with it are left out.
    pub is_negative: bool,
    /// Whether it ends the query, so that its last word may be unfinished.
    pub is_last: bool,
}

/// The parts of a query in their order. Words without quotes and hyphens between them are one part. A quote without an end reaches to the end of the query; a
/// hyphen counts before a word only.
pub fn parts(query: &str) -> Vec<Part<'_>> {
    let mut parts: Vec<Part<'_>> = Vec::new();
    let mut rest = query;
    let mut is_start = true;
    let mut plain = "";
    loop {
        let bare = rest
            .strip_prefix('-')
            .filter(|bare| is_start && bare.starts_with(|next: char| next == '"' || next.is_alphanumeric()));
        let is_negative = bare.is_some();
        let from = bare.unwrap_or(rest);
        let taken = match from.strip_prefix('"') {
            Some(inside) => Some((inside.split_once('"').unwrap_or((inside, "")), true)),
            None if is_negative => {
                let end = from.find(|next: char| next.is_whitespace() || next == '"').unwrap_or(from.len());
                from.split_at_checked(end).map(|pair| (pair, false))
            }
            None => None,
        };
        if let Some(((text, behind), is_phrase)) = taken {
            push(
                &mut parts,
                Part { text: start_of(plain, rest), is_phrase: false, is_negative: false, is_last: false },
            );
            push(&mut parts, Part { text, is_phrase, is_negative, is_last: false });
            (rest, plain, is_start) = (behind, behind, true);
            continue;
        }
        if plain.is_empty() {
            plain = rest;
        }
        let Some(next) = rest.chars().next() else { break };
        is_start = next.is_whitespace();
        rest = rest.get(next.len_utf8()..).unwrap_or_default();
    }
    push(
        &mut parts,
        Part { text: plain, is_phrase: false, is_negative: false, is_last: !plain.trim().is_empty() },
    );
    parts
}

/// What of a text stands before its own end.
fn start_of<'q>(text: &'q str, end: &str) -> &'q str {
    text.get(..text.len().saturating_sub(end.len())).unwrap_or_default()
}

fn push<'q>(parts: &mut Vec<Part<'q>>, part: Part<'q>) {
    let text = part.text.trim();
    if !text.is_empty() {
        parts.push(Part { text, ..part });
    }
}
