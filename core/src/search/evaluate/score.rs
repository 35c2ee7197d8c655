//! RediSearch's scorers. The formulas were checked against numbers that its clients' tests and its own publish.

use crate::search::index::part::{Part, View};
use crate::search::schema::{FieldKind, Schema};

/// Text fields whose words can be told apart. RediSearch allows as many.
pub(super) const TEXT_FIELDS_MAX: usize = 128;

/// k1 of both BM25, a 32-bit number there.
const K1: f64 = 1.2f32 as f64;

/// What a stem adds to a document's frequency, beside the word itself.
const STEM_FACTOR: f64 = 0.2;

/// How matches are scored.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum Scorer {
    /// Okapi BM25 by length of documents: the default since RediSearch 2.10.
    #[default]
    Bm25Std,
    /// [`Scorer::Bm25Std`] divided by the best score of all matches.
    Bm25StdNorm,
    /// The hyperbolic tangent of [`Scorer::Bm25Std`] divided by a factor, 4 unless configured.
    Bm25StdTanh(f64),
    /// The older BM25, which knows the mean length only.
    Bm25,
    /// Frequency times rarity, divided by the frequency of the document's most frequent word.
    Tfidf,
    /// Frequency times rarity, divided by the length of the document.
    TfidfDocNorm,
    /// The frequency of the best word.
    DisMax,
    /// The document's own score.
    DocScore,
    /// How many bits of the document's payload are those of the query's.
    Hamming,
}

impl Scorer {
    /// The scorer of this name, in capital letters, as SCORER takes it.
    pub fn named(name: &[u8]) -> Option<Scorer> {
        Some(match name {
            b"BM25STD" => Scorer::Bm25Std,
            b"BM25STD.NORM" => Scorer::Bm25StdNorm,
            b"BM25STD.TANH" => Scorer::Bm25StdTanh(4.0),
            b"BM25" => Scorer::Bm25,
            b"TFIDF" => Scorer::Tfidf,
            b"TFIDF.DOCNORM" => Scorer::TfidfDocNorm,
            b"DISMAX" => Scorer::DisMax,
            b"DOCSCORE" => Scorer::DocScore,
            b"HAMMING" => Scorer::Hamming,
            _ => return None,
        })
    }

    /// Whether it looks at words at all.
    pub(super) fn needs_words(self) -> bool {
        !matches!(self, Scorer::DocScore | Scorer::Hamming)
    }

    /// Whether it divides by the distance of words.
    pub(super) fn needs_distance(self) -> bool {
        matches!(self, Scorer::Bm25 | Scorer::Tfidf | Scorer::TfidfDocNorm)
    }
}

/// What is known of all live documents together.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(super) struct Statistics {
    /// How many there are.
    pub(super) documents: u64,
    /// How many words they have, weights of fields included.
    pub(super) words: f64,
}

/// Counts live documents and their words: a step for each document and text field of a view that does not know them.
pub(super) fn statistics(schema: &Schema, views: &[View<'_>]) -> Statistics {
    let weights = Weights::new(schema);
    let mut statistics = Statistics::default();
    for view in views {
        statistics.documents += u64::from(view.live.count());
        let words = view.words(weights.text_fields());
        // Weights and counts are whole numbers, so the order of the sum makes no difference.
        statistics.words +=
            weights.words.iter().zip(words.iter()).map(|(weight, words)| weight * *words as f64).sum::<f64>();
    }
    statistics
}

/// Weights of the text fields, by their order among the text fields.
#[derive(Debug)]
pub(super) struct Weights {
    words: Vec<f64>,
    stems: Vec<f64>,
    /// The weights of all fields if they are equal.
    uniform: Option<(f64, f64)>,
}

impl Weights {
    pub(super) fn new(schema: &Schema) -> Weights {
        // Frequencies are whole numbers: weights count without their fractions, and at least once. Words of fields without stems count
        // as words only.
        let (mut words, mut stems) = (Vec::new(), Vec::new());
        for field in &schema.fields {
            if let FieldKind::Text { weight, has_stems, .. } = field.kind {
                words.push(weight.floor().max(1.0));
                stems.push(if has_stems { (weight * STEM_FACTOR).floor().max(1.0) } else { 0.0 });
            }
        }
        let first = (words.first().copied().unwrap_or(1.0), stems.first().copied().unwrap_or(1.0));
        let is_uniform =
            words.iter().all(|weight| *weight == first.0) && stems.iter().all(|weight| *weight == first.1);
        Weights { words, stems, uniform: is_uniform.then_some(first) }
    }

    pub(super) fn text_fields(&self) -> u16 {
        self.words.len() as u16
    }

    /// What an occurrence in any field counts, if it is the same in all fields.
    pub(super) fn uniform(&self, is_stem: bool) -> Option<f64> {
        self.uniform.map(|(word, stem)| if is_stem { stem } else { word })
    }

    /// What an occurrence in a field counts.
    pub(super) fn of(&self, text_field: u16, is_stem: bool) -> f64 {
        let weights = if is_stem { &self.stems } else { &self.words };
        weights.get(usize::from(text_field)).copied().unwrap_or(1.0)
    }

    /// How many words a document has.
    pub(super) fn length(&self, part: &dyn Part, place: u32) -> f64 {
        self.words
            .iter()
            .zip(0..)
            .map(|(weight, field)| weight * f64::from(part.field_words(field, place)))
            .sum()
    }
}

/// The scorer with what it knows of the index.
#[derive(Debug)]
pub(super) struct Judge {
    pub(super) scorer: Scorer,
    pub(super) weights: Weights,
    documents: f64,
    average: f64,
}

impl Judge {
    pub(super) fn new(scorer: Scorer, weights: Weights, statistics: Statistics) -> Judge {
        let documents = statistics.documents as f64;
        let average = if documents > 0.0 { statistics.words / documents } else { 0.0 };
        Judge { scorer, weights, documents, average }
    }

    /// How rare a term is.
    pub(super) fn rarity(&self, documents: u64) -> f64 {
        let having = documents as f64;
        match self.scorer {
            Scorer::Bm25Std | Scorer::Bm25StdNorm | Scorer::Bm25StdTanh(_) => {
                (1.0 + (self.documents - having + 0.5) / (having + 0.5)).ln()
            }
            // C's logb: the exponent, a whole number.
            _ => f64::from((1.0 + (self.documents + 1.0) / having.max(1.0)).log2().floor() as i32),
        }
    }

    /// What a term adds to the score of a document.
    pub(super) fn term(&self, rarity: f64, frequency: f64, part: &dyn Part, place: u32) -> f64 {
        match self.scorer {
            Scorer::Bm25Std | Scorer::Bm25StdNorm | Scorer::Bm25StdTanh(_) => {
                let length = self.weights.length(part, place);
                let share = if self.average > 0.0 { 0.75 * length / self.average } else { 0.75 };
                rarity * (frequency * (K1 + 1.0)) / (frequency + K1 * (1.0 - 0.75 + share))
            }
            Scorer::Bm25 => rarity * frequency / (frequency + K1 * (1.0 - 0.5 + 0.5 * self.average)),
            Scorer::Tfidf | Scorer::TfidfDocNorm => frequency * rarity,
            Scorer::DisMax => frequency,
            Scorer::DocScore | Scorer::Hamming => 0.0,
        }
    }

    /// What a match without words adds: a number, a tag, `*`.
    pub(super) fn plain(&self, part: &dyn Part, place: u32) -> f64 {
        self.term(1.0, 1.0, part, place)
    }

    /// The score of a document, from what its matches added up to. `frequency_max` is the frequency of its most frequent word.
    pub(super) fn score(
        &self,
        sum: f64,
        part: &dyn Part,
        place: u32,
        distance: f64,
        frequency_max: f64,
    ) -> f64 {
        let own = f64::from(part.score(place));
        let score = match self.scorer {
            Scorer::Bm25Std | Scorer::Bm25StdNorm => own * sum,
            Scorer::Bm25StdTanh(factor) => (own * sum / factor).tanh(),
            Scorer::Bm25 => own * sum / distance,
            Scorer::Tfidf => own * sum / frequency_max / distance,
            Scorer::TfidfDocNorm => own * sum / self.weights.length(part, place) / distance,
            Scorer::DisMax => sum,
            Scorer::DocScore => own,
            Scorer::Hamming => 0.0,
        };
        // A document without words has neither a length nor a most frequent word.
        if score.is_finite() { score } else { 0.0 }
    }
}

/// The score of two payloads: one divided by one more than the number of bits that differ; 0 if they have different lengths.
pub fn hamming(left: &[u8], right: &[u8]) -> f64 {
    if left.len() != right.len() || left.is_empty() {
        return 0.0;
    }
    let bits: u64 = left.iter().zip(right).map(|(a, b)| u64::from((a ^ b).count_ones())).sum();
    1.0 / (bits as f64 + 1.0)
}
