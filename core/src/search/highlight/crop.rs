//! Meilisearch's view of a match: the window of words around the best group of matches, with markers where text is left out.
//!
//! Of the groups that fit into the window, the one with the most different words of the query is best, then the one whose matches are
//! nearest to each other, then the one in which more of them stand in the query's order, then the first. The window grows from the
//! group in both directions alike, but prefers to stay inside a sentence. Without matches it is the beginning of the text.
//!
//! Difference to Meilisearch: a window that ends with the last word takes the rest of the text, for instance a full stop, and no marker.

use super::{Analysis, Mark, Matcher, Merger, Tagger, Tags, marks};
use crate::search::text::{analyze, character_at};

/// The best group is looked for among so many matches, the first of the text: comparing groups takes the square of their number in a
/// long window, and these take a millisecond.
const COMPARED_MATCHES_MAX: usize = 512;

/// Two matches farther apart than this are as bad as any.
const DISTANCE_MAX: u32 = 7;

/// How a field is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Format<'a> {
    /// What stands around matches, if they are marked.
    pub tags: Option<Tags<'a>>,
    /// How the text is cropped, if it is.
    pub crop: Option<Crop<'a>>,
}

/// How a text is cropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crop<'a> {
    /// How many words stay; 0 crops nothing.
    pub words: usize,
    /// What stands for the text that is left out.
    pub marker: &'a [u8],
}

/// What Meilisearch takes by default.
impl Default for Crop<'static> {
    fn default() -> Self {
        Crop { words: 10, marker: "…".as_bytes() }
    }
}

/// The text, cropped and with tags around its matches.
pub fn format(text: &[u8], analysis: Analysis<'_>, matcher: &mut Matcher<'_>, format: Format<'_>) -> Vec<u8> {
    let mut found = Vec::new();
    marks(text, analysis, matcher, &mut |mark| found.push(mark));
    let crop = format.crop.filter(|crop| crop.words > 0);
    let (start, end) = match crop {
        Some(crop) => window(text, analysis, &found, crop.words),
        None => (0, text.len()),
    };
    let marker = crop.map_or(&b""[..], |crop| crop.marker);
    let mut out = Vec::with_capacity(end.saturating_sub(start) + 2 * marker.len());
    if start > 0 {
        out.extend_from_slice(marker);
    }
    let mut tagger = Tagger { text, tags: format.tags, at: start, out };
    for (first, last) in merged(&found) {
        if last > start && first < end {
            tagger.mark(first.max(start), last.min(end));
        }
    }
    tagger.plain(end);
    if end < text.len() {
        tagger.out.extend_from_slice(marker);
    }
    tagger.out
}

/// Where the matches of a text are: the first byte and the number of bytes of each.
pub fn positions(text: &[u8], analysis: Analysis<'_>, matcher: &mut Matcher<'_>) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    marks(text, analysis, matcher, &mut |mark| found.push(mark));
    merged(&found).into_iter().map(|(start, end)| (start, end - start)).collect()
}

fn merged(found: &[Mark]) -> Vec<(usize, usize)> {
    let mut merger = Merger::default();
    let mut parts: Vec<(usize, usize)> = found.iter().filter_map(|mark| merger.push(mark)).collect();
    parts.extend(merger.finish());
    parts
}

/// The first and the last position of the best group of matches that fits into so many words.
fn best_group(found: &[Mark], words: usize) -> Option<(u32, u32)> {
    let found = found.get(..COMPARED_MATCHES_MAX).unwrap_or(found);
    let mut best: Option<([i64; 3], u32, u32)> = None;
    for (at, first) in found.iter().enumerate() {
        let rest = found.get(at..).unwrap_or_default();
        let fits = |mark: &&Mark| {
            usize::try_from(mark.position - first.position).is_ok_and(|distance| distance < words)
        };
        let group = rest.get(..rest.iter().take_while(fits).count()).unwrap_or_default();
        let Some(last) = group.last() else { continue };
        let score = score(group);
        if best.is_none_or(|(other, _, _)| score > other) {
            best = Some((score, first.position, last.position));
        }
    }
    best.map(|(_, first, last)| (first, last))
}

fn score(group: &[Mark]) -> [i64; 3] {
    let mut terms: Vec<u32> = group.iter().map(|mark| mark.term).collect();
    terms.sort_unstable();
    terms.dedup();
    let mut nearness = 0;
    let mut ordered = 0;
    for pair in group.windows(2) {
        if let [one, other] = pair {
            nearness -= i64::from((other.position - one.position).min(DISTANCE_MAX));
            ordered += i64::from(other.term > one.term);
        }
    }
    [i64::try_from(terms.len()).unwrap_or(i64::MAX), nearness, ordered]
}

/// A word near the window, and where it is.
#[derive(Clone, Copy)]
struct Word {
    start: usize,
    end: usize,
}

/// The bytes of the window.
fn window(text: &[u8], analysis: Analysis<'_>, found: &[Mark], size: usize) -> (usize, usize) {
    let group = best_group(found, size);
    let (first, last) = group.unwrap_or((0, 0));
    let reach = u32::try_from(size).unwrap_or(u32::MAX);
    // One more on either side tells whether the text goes on.
    let from = first.saturating_sub(reach.saturating_add(1));
    let to = last.saturating_add(reach.saturating_add(1));
    let mut words: Vec<Word> = Vec::new();
    analyze(analysis.analyzer, text, analysis.is_stop_word, &mut |token| {
        if (from..=to).contains(&token.position) {
            if let Some(before) = words.last_mut() {
                before.end = before.end.min(token.start);
            }
            words.push(Word { start: token.start, end: token.end });
        }
    });
    let mut left = usize::try_from(first - from).unwrap_or(0);
    let mut right = usize::try_from(last - from).unwrap_or(0).min(words.len().saturating_sub(1));
    let mut remaining = size.saturating_sub(right - left + 1);
    while remaining > 0 {
        let before = left.checked_sub(1).and_then(|at| gap(text, &words, at));
        let after = gap(text, &words, right);
        remaining -= 1;
        match (before, after) {
            (None, None) => break,
            (Some(_), None) | (Some(false), Some(true)) => left -= 1,
            (None, Some(_)) | (Some(true), Some(false)) => right += 1,
            (Some(_), Some(_)) => {
                left -= 1;
                if remaining > 0 {
                    right += 1;
                    remaining -= 1;
                }
            }
        }
    }
    let start = if from == 0 && left == 0 { 0 } else { words.get(left).map_or(0, |word| word.start) };
    let is_last = right + 1 >= words.len();
    (start, if is_last { text.len() } else { words.get(right).map_or(text.len(), |word| word.end) })
}

/// Whether a sentence ends between a word and the next one; None if there is no next one.
fn gap(text: &[u8], words: &[Word], at: usize) -> Option<bool> {
    let (one, other) = (words.get(at)?, words.get(at.checked_add(1)?)?);
    let between = text.get(one.end..other.start)?;
    let mut at = 0;
    while let Some(character) = character_at(between, at) {
        if matches!(
            character.value,
            '.' | '!' | '?' | ';' | ':' | '\n' | '…' | '。' | '！' | '？' | '；' | '：' | '।'
        ) {
            return Some(true);
        }
        at += character.bytes;
    }
    Some(false)
}
