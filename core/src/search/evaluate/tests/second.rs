//! A second evaluation, which looks at the strings of one document after the other.

use std::collections::BTreeSet;

use super::super::naive::{Document, Value, words_of};
use super::super::{Matcher, Options, Scorer, distance_m};
use crate::search::query::{Clause, Node, Pattern};
use crate::search::schema::{FieldId, FieldKind, Schema};
use crate::search::text::{Language, stem};
use crate::search::vector::Probe;

pub(super) const WEIGHTS: [f64; 3] = [5.0, 1.0, 1.0];

pub(super) const TEXTS: [u16; 3] = [0, 2, 6];

/// A word of a document: its field, itself, and its place among all words.
pub(super) type Token = (u16, String, u64);

pub(super) struct Second<'a> {
    schema: &'a Schema,
    pub(super) live: Vec<(&'a Document, Vec<Token>)>,
    options: &'a Options<'a>,
    vocabulary: BTreeSet<String>,
    average: f64,
}

impl<'a> Second<'a> {
    pub(super) fn new(schema: &'a Schema, live: Vec<&'a Document>, options: &'a Options<'a>) -> Second<'a> {
        let tokens = |document: &Document| {
            let (mut tokens, mut start) = (Vec::new(), 0);
            for (text_field, id) in (0..).zip(TEXTS) {
                if let Some(Value::Text(text)) = document.values.get(&id) {
                    let words = words_of(schema, text);
                    let count = words.len() as u64;
                    tokens.extend(
                        words.into_iter().map(|(word, at)| (text_field, word, start + u64::from(at))),
                    );
                    start += count;
                }
            }
            tokens
        };
        let live: Vec<_> = live.into_iter().map(|document| (document, tokens(document))).collect();
        let vocabulary =
            live.iter().flat_map(|(_, tokens)| tokens.iter().map(|token| token.1.clone())).collect();
        let words: f64 = live.iter().map(|(_, tokens)| length(tokens)).sum();
        let average = if live.is_empty() { 0.0 } else { words / live.len() as f64 };
        Second { schema, live, options, vocabulary, average }
    }

    /// The sets of words that count as one term each, with the fields where they must stand, and whether they are found by a stem.
    fn terms(&self, pattern: &Pattern) -> Vec<(BTreeSet<String>, [bool; 3], bool)> {
        let all = [true; 3];
        let one = |word: &str| BTreeSet::from([word.to_string()]);
        let Pattern::Word { text, is_verbatim } = pattern else {
            let accepted = self.vocabulary.iter().filter(|word| Matcher(pattern).accepts(word.as_bytes()));
            return accepted.map(|word| (one(word), all, false)).collect();
        };
        let word = std::str::from_utf8(text).expect("words of tests");
        let mut terms = vec![(one(word), all, false)];
        if !is_verbatim && !self.options.is_verbatim {
            let root = root_of(word);
            let stemmed =
                self.vocabulary.iter().filter(|other| root_of(other) == root && **other != root).cloned();
            let fields = [true, false, true];
            terms.push((stemmed.collect(), fields, true));
            if root != word {
                terms.push((one(&root), fields, false));
            }
            let mut others = BTreeSet::new();
            (self.options.synonyms)(word, &mut |other| {
                others.insert(other.to_string());
            });
            if !others.is_empty() {
                others.insert(word.to_string());
                terms.push((others, all, false));
            }
        }
        terms
    }

    fn formula(&self, rarity_of: Option<u64>, frequency: f64, tokens: &[Token]) -> f64 {
        let (count, k1) = (self.live.len() as f64, f64::from(1.2f32));
        match self.options.scorer {
            Scorer::Bm25Std | Scorer::Bm25StdNorm => {
                let rarity =
                    rarity_of.map_or(1.0, |df| (1.0 + (count - df as f64 + 0.5) / (df as f64 + 0.5)).ln());
                let share = if self.average > 0.0 { 0.75 * length(tokens) / self.average } else { 0.75 };
                rarity * frequency * (k1 + 1.0) / (frequency + k1 * (0.25 + share))
            }
            Scorer::TfidfDocNorm => {
                frequency * rarity_of.map_or(1.0, |df| (1.0 + (count + 1.0) / df as f64).log2().floor())
            }
            Scorer::DisMax => frequency,
            _ => 0.0,
        }
    }

    fn words(&self, pattern: &Pattern, fields: [bool; 3], tokens: &[Token]) -> Option<f64> {
        let mut sum: Option<f64> = None;
        for (words, own, is_stem) in self.terms(pattern) {
            let has = |token: &&Token| words.contains(&token.1);
            let inside = |token: &Token| fields[usize::from(token.0)] && own[usize::from(token.0)];
            if !tokens.iter().filter(has).any(inside) {
                continue;
            }
            let df = self
                .live
                .iter()
                .filter(|(_, tokens)| tokens.iter().any(|token| words.contains(&token.1)))
                .count();
            let weight = |token: &Token| {
                let weight = WEIGHTS[usize::from(token.0)];
                if is_stem && token.0 == 1 {
                    0.0
                } else if is_stem {
                    (weight * 0.2f64).floor().max(1.0)
                } else {
                    weight
                }
            };
            let frequency = tokens.iter().filter(has).map(weight).sum();
            let score = self.formula(Some(df as u64), frequency, tokens);
            sum = Some(self.join(sum.unwrap_or(0.0), score));
        }
        sum
    }

    fn join(&self, a: f64, b: f64) -> f64 {
        if self.options.scorer == Scorer::DisMax { a.max(b) } else { a + b }
    }

    /// Where the words of a node stand; None if it has none.
    fn offsets(&self, node: &Node, fields: [bool; 3], tokens: &[Token]) -> Option<BTreeSet<u64>> {
        match &node.clause {
            Clause::Word(pattern) => Some(self.word_offsets(pattern, fields, tokens)),
            Clause::Phrase(patterns) => {
                Some(patterns.iter().flat_map(|pattern| self.word_offsets(pattern, fields, tokens)).collect())
            }
            Clause::And(nodes) | Clause::Or(nodes) => {
                let all: Vec<_> =
                    nodes.iter().filter_map(|node| self.offsets(node, fields, tokens)).collect();
                (!all.is_empty()).then(|| all.into_iter().flatten().collect())
            }
            Clause::Optional(inner) => self.offsets(inner, fields, tokens),
            Clause::In(only, inner) => self.offsets(inner, restrict(fields, only), tokens),
            _ => None,
        }
    }

    fn word_offsets(&self, pattern: &Pattern, fields: [bool; 3], tokens: &[Token]) -> BTreeSet<u64> {
        let terms = self.terms(pattern);
        let is_wanted = |token: &&Token| {
            terms.iter().any(|(words, own, _)| {
                words.contains(&token.1) && own[usize::from(token.0)] && fields[usize::from(token.0)]
            })
        };
        tokens.iter().filter(is_wanted).map(|token| token.2).collect()
    }

    pub(super) fn node(
        &self,
        node: &Node,
        fields: [bool; 3],
        document: &Document,
        tokens: &[Token],
    ) -> Option<f64> {
        let plain = self.formula(None, 1.0, tokens);
        let value = |field: &FieldId| document.values.get(&field.0);
        let all = |nodes: &[Node]| {
            nodes.iter().map(|node| self.node(node, fields, document, tokens)).sum::<Option<f64>>()
        };
        let sum = match &node.clause {
            Clause::All => plain,
            Clause::Nothing => return None,
            Clause::Word(pattern) => self.words(pattern, fields, tokens)?,
            Clause::Phrase(patterns) => {
                let sum = patterns
                    .iter()
                    .map(|pattern| self.words(pattern, fields, tokens))
                    .sum::<Option<f64>>()?;
                let lists: Vec<_> =
                    patterns.iter().map(|pattern| self.word_offsets(pattern, fields, tokens)).collect();
                chain(&lists, None, 0, true, 0).then_some(sum)?
            }
            Clause::And(nodes) => {
                let sum = all(nodes)?;
                let lists: Vec<_> = nodes
                    .iter()
                    .filter_map(|node| self.offsets(node, fields, tokens))
                    .filter(|list| !list.is_empty())
                    .collect();
                let in_order = node.attributes.in_order.unwrap_or(self.options.in_order);
                let slop = node.attributes.slop.or(self.options.slop);
                if (in_order || slop.is_some()) && lists.len() > 1 {
                    let slop = slop.map_or(u64::MAX, |slop| slop as u64);
                    let fits = if in_order { chain(&lists, None, 0, true, slop) } else { span(&lists, slop) };
                    fits.then_some(sum)?
                } else {
                    sum
                }
            }
            Clause::Or(nodes) => {
                let scores: Vec<f64> =
                    nodes.iter().filter_map(|node| self.node(node, fields, document, tokens)).collect();
                if scores.is_empty() {
                    return None;
                }
                scores.into_iter().fold(0.0, |a, b| self.join(a, b))
            }
            Clause::Not(inner) => self.node(inner, fields, document, tokens).is_none().then_some(0.0)?,
            Clause::Optional(inner) => self.node(inner, fields, document, tokens).unwrap_or(0.0),
            Clause::In(only, inner) => self.node(inner, restrict(fields, only), document, tokens)?,
            Clause::Tag(field, patterns) => {
                let Some(Value::Tags(tags)) = value(field) else { return None };
                let tags: BTreeSet<String> = tags.iter().map(|tag| tag.to_lowercase()).collect();
                let count = patterns.iter().map(|pattern| {
                    let accepted = |tag: &&String| match pattern {
                        Pattern::Word { text, .. } => text.to_ascii_lowercase() == tag.as_bytes(),
                        Pattern::Prefix(text) => tag.as_bytes().starts_with(&text.to_ascii_lowercase()),
                        _ => false,
                    };
                    tags.iter().filter(accepted).count()
                });
                let count: usize = count.sum();
                let one = if self.options.scorer == Scorer::DisMax { 1 } else { count };
                (count > 0).then_some(plain * one as f64)?
            }
            Clause::Number(field, low, high) => {
                let Some(Value::Number(number)) = value(field) else { return None };
                let above = if low.is_exclusive { *number > low.value } else { *number >= low.value };
                let below = if high.is_exclusive { *number < high.value } else { *number <= high.value };
                (above && below).then_some(plain)?
            }
            Clause::Geo { field, longitude, latitude, radius_m, .. } => {
                let Some(Value::Point(a, b)) = value(field) else { return None };
                (distance_m((*longitude, *latitude), (*a, *b)) <= *radius_m).then_some(plain)?
            }
            Clause::Near { field, radius, vector, .. } => {
                let Some(Value::Vector(own)) = value(field) else { return None };
                let FieldKind::Vector(options) = &self.schema.fields[5].kind else { return None };
                (Probe::new(options, vector)?.distance(own) <= *radius).then_some(0.0)?
            }
            Clause::Missing(field) => value(field).is_none().then_some(plain)?,
        };
        Some(sum * node.attributes.weight.unwrap_or(1.0))
    }
}

fn root_of(word: &str) -> String {
    let mut root = String::new();
    stem(Language::English, word, &mut root);
    root
}

fn length(tokens: &[Token]) -> f64 {
    tokens.iter().map(|token| WEIGHTS[usize::from(token.0)]).sum()
}

fn restrict(fields: [bool; 3], only: &[FieldId]) -> [bool; 3] {
    [0, 1, 2].map(|at: usize| fields[at] && only.contains(&FieldId(TEXTS[at])))
}

/// Tries all choices of one offset of each list.
fn chain(lists: &[BTreeSet<u64>], last: Option<u64>, between: u64, is_first: bool, slop: u64) -> bool {
    let Some((list, rest)) = lists.split_first() else { return between <= slop };
    list.iter().any(|offset| match last {
        Some(last) if !is_first => {
            *offset > last && chain(rest, Some(*offset), between + offset - last - 1, false, slop)
        }
        _ => chain(rest, Some(*offset), between, false, slop),
    })
}

fn span(lists: &[BTreeSet<u64>], slop: u64) -> bool {
    fn try_all(lists: &[BTreeSet<u64>], least: u64, most: u64, words: u64, slop: u64) -> bool {
        let Some((list, rest)) = lists.split_first() else {
            return (most - least).saturating_sub(words - 1) <= slop;
        };
        list.iter().any(|offset| try_all(rest, least.min(*offset), most.max(*offset), words, slop))
    }
    try_all(lists, u64::MAX, 0, lists.len() as u64, slop)
}
