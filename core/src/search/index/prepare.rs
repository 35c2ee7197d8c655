//! Everything of one document that can be computed before anything is locked.

use smallvec::SmallVec;

use crate::search::schema::{FieldId, FieldKind, Schema};
use crate::search::text::{self, Language, fold, fold_tag};
use crate::sorted;

use super::document::{FieldValue, Source};
use super::occurrences;
use super::part::{DocumentId, Position, Rank};

/// So many words of a text field of a document are indexed, those of all its texts together; what stands behind them is not found.
/// It bounds the time of one document to some tens of milliseconds, and lets the number of words fit two bytes.
pub const FIELD_WORDS_MAX: u32 = 65_535;

/// Positions between the last word of a text and the first of the next text of the same field: RediSearch's MULTI_TEXT_SLOP.
pub const TEXT_GAP: u32 = 100;

/// Units of a degree in which positions are stored: a centimetre at the equator.
const GEO_UNITS: f64 = 1e7;

/// A document, ready to be added to a delta.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub(super) id: DocumentId,
    pub(super) language: Language,
    pub(super) score: f32,
    /// How often the most frequent word stands in it, weights of fields included.
    pub(super) frequency_max: u32,
    /// All bytes of it; ranges below are within them.
    pub(super) bytes: Vec<u8>,
    pub(super) key: Piece,
    /// Distinct words in the order of their bytes.
    pub(super) words: Vec<Word>,
    /// How many words a text field has, by its place among the text fields.
    pub(super) counts: SmallVec<[(u16, u16); 8]>,
    pub(super) values: SmallVec<[(FieldId, Value); 8]>,
    pub(super) sort_texts: SmallVec<[(FieldId, Piece); 4]>,
    pub(super) fields_known: u16,
}

/// A range of a document's bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Piece {
    at: u32,
    len: u32,
}

/// A distinct word.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word {
    pub(super) text: Piece,
    pub(super) occurrences: Piece,
    pub(super) rank: Rank,
    /// Whether it stands in a field whose words are found by their stems.
    pub(super) has_stem: bool,
}

/// A value of a field; every field that the document has is there.
#[derive(Clone, Debug)]
pub(super) enum Value {
    Text,
    Numbers(SmallVec<[f64; 2]>),
    Positions(SmallVec<[(i32, i32); 2]>),
    Vector(Piece),
    /// Distinct tags as they are folded, in the order of their bytes, and as they were written.
    Tags(SmallVec<[(Piece, Piece); 2]>, bool),
}

/// One occurrence of a word, before they are sorted.
struct Token {
    /// Its first eight bytes, so that most comparisons need no more.
    head: u64,
    text: Piece,
    position: Position,
    has_stem: bool,
}

impl Prepared {
    /// The id of the document.
    pub fn id(&self) -> DocumentId {
        self.id
    }

    /// Its key.
    pub fn key(&self) -> &[u8] {
        self.piece(self.key)
    }

    /// Gives the document its id.
    pub fn set_id(&mut self, id: DocumentId) {
        self.id = id;
    }

    /// About how many bytes of memory it will take in a delta.
    pub fn memory_bytes(&self) -> usize {
        self.bytes.len() * 2 + self.words.len() * 48
    }

    pub(super) fn piece(&self, piece: Piece) -> &[u8] {
        super::bytes::piece(&self.bytes, piece.at as usize, piece.len as usize)
    }
}

/// Takes a document apart. Values that do not fit their field's kind count as absent.
pub fn prepare(schema: &Schema, source: &Source<'_>) -> Prepared {
    let mut document = Prepared {
        id: source.id,
        language: source.language.unwrap_or(schema.language),
        score: source.score,
        frequency_max: 0,
        bytes: Vec::new(),
        key: Piece::default(),
        words: Vec::new(),
        counts: SmallVec::new(),
        values: SmallVec::new(),
        sort_texts: SmallVec::new(),
        fields_known: schema.fields.len() as u16,
    };
    let mut tokens = Tokens { text: Vec::new(), tokens: Vec::new() };
    let mut values = source.values.iter().peekable();
    let mut text_field = 0;
    for (field, number) in schema.fields.iter().zip(0..) {
        let value = values.next_if(|(id, _)| id.0 == number).map(|(_, value)| value);
        if let (FieldKind::Text { has_stems, .. }, Some(FieldValue::Texts(texts))) = (&field.kind, value) {
            document.values.push((FieldId(number), Value::Text));
            if !field.is_not_indexed {
                let count = tokens.add(schema, texts, text_field, *has_stems, field.has_empty);
                document.counts.push((text_field, count as u16));
            }
        } else if let Some(value) = value
            && let Some(value) = document.value_of(&field.kind, field.has_empty, value)
        {
            document.values.push((FieldId(number), value));
        }
        text_field += u16::from(matches!(field.kind, FieldKind::Text { .. }));
    }
    let mut folded = String::new();
    for (field, text) in &source.sort_texts {
        let piece = if schema.field(*field).is_some_and(|field| field.is_unnormalized) {
            document.append(text)
        } else {
            folded.clear();
            fold(text, &mut folded);
            document.append(folded.as_bytes())
        };
        document.sort_texts.push((*field, piece));
    }
    document.key = document.append(source.key);
    let weight = |kind: &FieldKind| match kind {
        // Frequencies are whole numbers: weights count without their fractions, and at least once.
        FieldKind::Text { weight, .. } => Some((*weight as u32).max(1)),
        _ => None,
    };
    let weights: SmallVec<[u32; 8]> = schema.fields.iter().filter_map(|field| weight(&field.kind)).collect();
    document.group(tokens, &weights);
    document
}

impl Prepared {
    fn append(&mut self, bytes: &[u8]) -> Piece {
        let at = self.bytes.len() as u32;
        self.bytes.extend_from_slice(bytes);
        Piece { at, len: bytes.len() as u32 }
    }

    fn value_of(&mut self, kind: &FieldKind, has_empty: bool, value: &FieldValue<'_>) -> Option<Value> {
        Some(match (kind, value) {
            (FieldKind::Numeric, FieldValue::Numbers(numbers)) => {
                Value::Numbers(numbers.iter().copied().filter(|number| !number.is_nan()).collect())
            }
            (FieldKind::Geo, FieldValue::Positions(positions)) => {
                let fits =
                    |(longitude, latitude): &&(f64, f64)| longitude.abs() <= 180.0 && latitude.abs() <= 90.0;
                let units = |degrees: f64| (degrees * GEO_UNITS).round() as i32;
                Value::Positions(positions.iter().filter(fits).map(|at| (units(at.0), units(at.1))).collect())
            }
            (FieldKind::Vector(options), FieldValue::Vector(vector)) => {
                let len = (options.dimension as usize).checked_mul(options.number.bytes())?;
                if vector.len() != len || len == 0 {
                    return None;
                }
                Value::Vector(self.append(vector))
            }
            (FieldKind::Tag { is_case_sensitive, .. }, FieldValue::Tags(tags)) => {
                let mut pieces: SmallVec<[(Piece, Piece); 2]> = SmallVec::new();
                let mut folded = Vec::new();
                for tag in tags.iter().filter(|tag| has_empty || !tag.is_empty()) {
                    let written = self.append(tag);
                    let piece = if *is_case_sensitive {
                        written
                    } else {
                        folded.clear();
                        fold_tag(tag, &mut folded);
                        if folded == *tag { written } else { self.append(&folded) }
                    };
                    pieces.push((piece, written));
                }
                sorted::all(&mut pieces, |one: &(Piece, Piece), other| {
                    self.piece(one.0).cmp(self.piece(other.0))
                });
                pieces.dedup_by(|one, other| self.piece(one.0) == self.piece(other.0));
                Value::Tags(pieces, *is_case_sensitive)
            }
            _ => return None,
        })
    }

    /// Sorts the occurrences, and makes of each word one piece of text and one of positions.
    fn group(&mut self, tokens: Tokens, weights: &[u32]) {
        let Tokens { text, mut tokens } = tokens;
        let of = |piece: Piece| super::bytes::piece(&text, piece.at as usize, piece.len as usize);
        tokens.sort_unstable_by(|one, other| {
            let order = one.head.cmp(&other.head);
            let is_short = one.text.len <= 8 && other.text.len <= 8;
            let order = order.then_with(|| {
                if is_short { one.text.len.cmp(&other.text.len) } else { of(one.text).cmp(of(other.text)) }
            });
            order.then_with(|| one.position.cmp(&other.position))
        });
        self.bytes.reserve(text.len() + 2 * tokens.len());
        self.words.reserve(tokens.len());
        let mut positions: SmallVec<[Position; 16]> = SmallVec::new();
        let same = |one: &Token, other: &Token| {
            one.head == other.head
                && one.text.len == other.text.len
                && (one.text.len <= 8 || of(one.text) == of(other.text))
        };
        for group in tokens.chunk_by(same) {
            let Some(first) = group.first() else { continue };
            positions.clear();
            positions.extend(group.iter().map(|token| token.position));
            let weight_of =
                |position: &Position| weights.get(usize::from(position.field)).copied().unwrap_or(1);
            let frequency = positions.iter().map(weight_of).fold(0, u32::saturating_add);
            self.frequency_max = self.frequency_max.max(frequency);
            let text = self.append(of(first.text));
            let at = self.bytes.len() as u32;
            let rank = occurrences::encode(&positions, &mut self.bytes);
            let occurrences = Piece { at, len: self.bytes.len() as u32 - at };
            self.words.push(Word {
                text,
                occurrences,
                rank,
                has_stem: group.iter().any(|token| token.has_stem),
            });
        }
    }
}

struct Tokens {
    text: Vec<u8>,
    tokens: Vec<Token>,
}

impl Tokens {
    /// Adds the words of a field, and returns how many.
    fn add(&mut self, schema: &Schema, texts: &[&[u8]], field: u16, has_stem: bool, has_empty: bool) -> u32 {
        let mut count = 0;
        let mut base = 0u32;
        for text in texts {
            if text.is_empty() && has_empty && count < FIELD_WORDS_MAX {
                self.push("", Position { field, word: base }, has_stem);
                count += 1;
                base = base.saturating_add(1 + TEXT_GAP);
                continue;
            }
            let mut next = base;
            text::analyze(schema.analyzer, text, &|word| schema.is_stop_word(word), &mut |token| {
                if count < FIELD_WORDS_MAX {
                    count += 1;
                    let word = base.saturating_add(token.position);
                    next = word.saturating_add(1);
                    self.push(token.text, Position { field, word }, has_stem);
                }
            });
            if next > base {
                base = next.saturating_add(TEXT_GAP);
            }
        }
        count
    }

    fn push(&mut self, word: &str, position: Position, has_stem: bool) {
        let text = Piece { at: self.text.len() as u32, len: word.len() as u32 };
        let mut head = [0; 8];
        head.iter_mut().zip(word.as_bytes()).for_each(|(to, from)| *to = *from);
        self.text.extend_from_slice(word.as_bytes());
        self.tokens.push(Token { head: u64::from_be_bytes(head), text, position, has_stem });
    }
}

/// Degrees of a stored coordinate.
pub(super) fn degrees(units: i32) -> f64 {
    f64::from(units) / GEO_UNITS
}
