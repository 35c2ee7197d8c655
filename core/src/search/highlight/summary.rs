//! RediSearch's HIGHLIGHT and SUMMARIZE over the text of one field.
//!
//! A summary is made of fragments. A fragment is a group of matches of which each is at most [`DISTANCE_MAX`] words after the one
//! before; it scores the weights of the different words of the query in it. The best ones are shown in the order of the text, each
//! with context and then the separator. The context on either side is half of the words that LEN leaves beside those inside the
//! fragment, counted as [`WORD_BYTES`] bytes each. It does not reach into the fragment before or after it, and a word that touches
//! its limit is left out, even the first and the last one of the text: `Henry IV` is summarized as `<b>Henry</b> ... `. Runs of spaces
//! become one space.
//!
//! All of this is RediSearch's observable behaviour, since clients' tests compare whole summaries. One difference: a match is marked
//! with the escapes inside it, where RediSearch ends the mark at the first punctuation.

use super::{Analysis, Mark, Matcher, Merger, Tagger, Tags, marks};
use crate::search::text::words::is_separator;
use crate::sorted;

/// Matches that are farther apart, in words, belong to different fragments: as RediSearch has it.
const DISTANCE_MAX: u32 = 8;

/// What RediSearch takes for the length of a word with its space.
const WORD_BYTES: u64 = 6;

/// So many different words of the query make a fragment better; more of them do not, since each is compared with all.
const TERMS_MAX: usize = 64;

/// How a field is summarized.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary<'a> {
    /// FRAGS: how many fragments at most.
    pub fragments: u64,
    /// LEN: about how many words a fragment has.
    pub words: u64,
    /// SEPARATOR: what follows each fragment.
    pub separator: &'a [u8],
}

impl Default for Summary<'static> {
    fn default() -> Self {
        Summary { fragments: 3, words: 20, separator: b"... " }
    }
}

/// HIGHLIGHT without SUMMARIZE: the whole text with tags around its matches.
pub fn highlight(text: &[u8], analysis: Analysis<'_>, matcher: &mut Matcher<'_>, tags: Tags<'_>) -> Vec<u8> {
    let mut tagger = Tagger { text, tags: Some(tags), at: 0, out: Vec::with_capacity(text.len()) };
    let mut merger = Merger::default();
    marks(text, analysis, matcher, &mut |mark| {
        if let Some((start, end)) = merger.push(&mark) {
            tagger.mark(start, end);
        }
    });
    if let Some((start, end)) = merger.finish() {
        tagger.mark(start, end);
    }
    tagger.plain(text.len());
    tagger.out
}

/// SUMMARIZE, with HIGHLIGHT if there are tags. A text without matches is cut to its beginning, or is given whole where both are asked for.
pub fn summarize(
    text: &[u8],
    analysis: Analysis<'_>,
    matcher: &mut Matcher<'_>,
    summary: Summary<'_>,
    tags: Option<Tags<'_>>,
) -> Vec<u8> {
    let mut found = Fragments::default();
    marks(text, analysis, matcher, &mut |mark| found.push(&mark));
    if found.fragments.is_empty() {
        return if tags.is_some() { text.to_vec() } else { beginning(text, summary) };
    }
    let chosen = found.best(summary.fragments);
    let mut out = Vec::new();
    for (at, fragment) in chosen.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|before| chosen.get(before)).map_or(0, |before| before.end);
        let after = chosen.get(at + 1).map_or(text.len().saturating_sub(1), |after| after.start);
        let (start, end) = context(text, fragment, summary.words, before, after);
        let mut tagger = Tagger { text, tags, at: start, out: Vec::new() };
        let mut merger = Merger::default();
        for mark in found.marks.get(fragment.first_mark..fragment.last_mark).unwrap_or_default() {
            if let Some((start, end)) = merger.push(mark) {
                tagger.mark(start, end);
            }
        }
        if let Some((start, end)) = merger.finish() {
            tagger.mark(start, end);
        }
        tagger.plain(end);
        squeeze(&tagger.out, &mut out);
        out.extend_from_slice(summary.separator);
    }
    out
}

struct Fragment {
    start: usize,
    end: usize,
    last_position: u32,
    /// Words inside that do not match.
    other_words: u64,
    score: f32,
    first_mark: usize,
    /// One past the last mark.
    last_mark: usize,
}

#[derive(Default)]
struct Fragments {
    fragments: Vec<Fragment>,
    marks: Vec<Mark>,
    /// The query's words in the last fragment.
    terms: Vec<u32>,
}

impl Fragments {
    fn push(&mut self, mark: &Mark) {
        let last = self
            .fragments
            .last_mut()
            .filter(|last| mark.position.saturating_sub(last.last_position) <= DISTANCE_MAX);
        match last {
            Some(last) => {
                last.other_words +=
                    u64::from(mark.position.saturating_sub(last.last_position).saturating_sub(1));
                last.end = mark.end.max(last.end);
                last.last_position = mark.position;
                last.last_mark += 1;
                if self.terms.len() < TERMS_MAX && !self.terms.contains(&mark.term) {
                    last.score += mark.weight;
                    self.terms.push(mark.term);
                }
            }
            None => {
                let first_mark = self.marks.len();
                let Mark { start, end, position, weight, .. } = *mark;
                let (other_words, last_mark) = (0, first_mark + 1);
                self.fragments.push(Fragment {
                    start,
                    end,
                    last_position: position,
                    other_words,
                    score: weight,
                    first_mark,
                    last_mark,
                });
                self.terms.clear();
                self.terms.push(mark.term);
            }
        }
        self.marks.push(*mark);
    }

    /// The best ones in the order of the text; of equal ones, the first.
    fn best(&self, count: u64) -> Vec<&Fragment> {
        let score = |at: u32| self.fragments.get(at as usize).map_or(0.0, |fragment| fragment.score);
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        let mut order = sorted::first(self.fragments.len() as u32, count, &|one, other| {
            score(other).total_cmp(&score(one))
        });
        order.sort_unstable();
        order.into_iter().filter_map(|at| self.fragments.get(at as usize)).collect()
    }
}

/// Where a fragment with its context starts and ends. The context may use the bytes from `first` on, and up to `last` inclusive.
fn context(text: &[u8], fragment: &Fragment, words: u64, first: usize, last: usize) -> (usize, usize) {
    if words <= fragment.other_words {
        return (fragment.start, fragment.end);
    }
    let half = ((words - fragment.other_words) / 2).saturating_mul(WORD_BYTES);
    let half = usize::try_from(half).unwrap_or(usize::MAX);
    let is_separator_at = |at: usize| text.get(at).is_some_and(|&byte| is_separator(byte));

    let mut start = fragment.start.saturating_sub(half).max(first);
    while start < fragment.start && !is_separator_at(start) {
        start += 1;
    }
    while start < fragment.start && is_separator_at(start) {
        start += 1;
    }
    let mut end = fragment.end.saturating_add(half).min(last);
    while end > fragment.end && !is_separator_at(end) {
        end -= 1;
    }
    while end > fragment.end && is_separator_at(end) {
        end -= 1;
    }
    // `end` is the last byte of the context now. Only an ASCII character may be alone in it.
    let is_empty = end < fragment.end || (end == fragment.end && !is_separator_at(end));
    (start.min(fragment.start), if is_empty { fragment.end } else { end + 1 })
}

/// The beginning of a text without matches, as long as the longest summary, without the word that touches the end.
fn beginning(text: &[u8], summary: Summary<'_>) -> Vec<u8> {
    let bytes = summary.words.saturating_mul(summary.fragments).saturating_add(1).saturating_mul(WORD_BYTES);
    let bytes = usize::try_from(bytes).unwrap_or(usize::MAX).min(text.len());
    let mut out = Vec::new();
    squeeze(text.get(..bytes).unwrap_or_default(), &mut out);
    // Without any separator, RediSearch leaves one byte; the whole says more.
    if let Some(last) = out.iter().rposition(|&byte| is_separator(byte)) {
        out.truncate(last + 1);
    }
    while out.last().is_some_and(u8::is_ascii_whitespace) {
        out.pop();
    }
    out
}

/// Appends bytes with one space for each run of white space.
fn squeeze(part: &[u8], out: &mut Vec<u8>) {
    let mut is_after_space = false;
    for &byte in part {
        let is_space = byte.is_ascii_whitespace() || byte == b'\x0B';
        if !is_space {
            out.push(byte);
        } else if !is_after_space {
            out.push(b' ');
        }
        is_after_space = is_space;
    }
}
