//! What an index is: which keys it covers, and what of them it knows.
//!
//! A schema is a value that the command layer makes of FT.CREATE's words, or of the settings of the HTTP dialect. Fields are only ever
//! added, and their numbers never change, so a segment that was written before a field came stays readable.

use super::text::Language;

/// A word before a field among the words of a stored definition: those of the field before have ended, so that a field may be called like
/// an option. A client's words have none.
pub const FIELD_MARK: &str = "\0,";

/// The separator of tags where a text is one tag.
pub const NO_SEPARATOR: u8 = 0;

/// The number of a field in its schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldId(pub u16);

/// How texts become terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Analyzer {
    /// As RediSearch does: words between separators, lower case, stems beside them.
    #[default]
    Words,
    /// For search as one types: Unicode words without accents, widths and case; pairs of characters where a language writes no spaces.
    Instant,
}

/// How the distance of two vectors is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Metric {
    /// The square of the Euclidean distance.
    L2,
    /// One less the inner product.
    InnerProduct,
    /// One less the cosine of the angle.
    Cosine,
}

/// How the numbers of a vector are written in a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// 32 bits.
    Float32,
    /// 64 bits.
    Float64,
    /// IEEE 754 half precision.
    Float16,
    /// The upper 16 bits of a 32-bit number.
    BFloat16,
    /// A signed byte.
    Int8,
    /// A byte.
    Uint8,
}

impl Number {
    /// How many bytes one takes.
    pub fn bytes(self) -> usize {
        match self {
            Number::Float32 => 4,
            Number::Float64 => 8,
            Number::Float16 | Number::BFloat16 => 2,
            Number::Int8 | Number::Uint8 => 1,
        }
    }
}

/// What is known of a vector field.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorOptions {
    /// How many numbers a vector has.
    pub dimension: u32,
    /// How they are written.
    pub number: Number,
    /// How distances are measured.
    pub metric: Metric,
    /// Whether HNSW was asked for; answers are exact all the same.
    pub is_hnsw: bool,
    /// The attributes that FT.INFO repeats, by name.
    pub attributes: Vec<(String, String)>,
}

/// What a field holds.
#[derive(Clone, Debug, PartialEq)]
pub enum FieldKind {
    /// Words.
    Text {
        /// How much a word of it counts.
        weight: f64,
        /// Whether words are found by their stems.
        has_stems: bool,
        /// Whether FT.INFO says that there is a suffix trie; suffixes are found without one, too.
        has_suffixes: bool,
    },
    /// Values that are equal or not.
    Tag {
        /// What stands between values, or [`NO_SEPARATOR`].
        separator: u8,
        /// Whether upper and lower case are two things.
        is_case_sensitive: bool,
        /// As for texts.
        has_suffixes: bool,
    },
    /// A number.
    Numeric,
    /// A longitude and a latitude in degrees.
    Geo,
    /// A vector.
    Vector(VectorOptions),
}

impl FieldKind {
    /// The name of the type in FT.CREATE and FT.INFO.
    pub fn name(&self) -> &'static str {
        match self {
            FieldKind::Text { .. } => "TEXT",
            FieldKind::Tag { .. } => "TAG",
            FieldKind::Numeric => "NUMERIC",
            FieldKind::Geo => "GEO",
            FieldKind::Vector(_) => "VECTOR",
        }
    }
}

/// One field.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// Its name in queries.
    pub name: Vec<u8>,
    /// Where its value stands in a document: the field of a hash, or a path into JSON.
    pub path: Vec<u8>,
    /// What it holds.
    pub kind: FieldKind,
    /// Whether results are sorted by it without a look at the documents.
    pub is_sortable: bool,
    /// Whether the value to sort by is as it was written (UNF).
    pub is_unnormalized: bool,
    /// Whether it cannot be searched (NOINDEX).
    pub is_not_indexed: bool,
    /// Whether empty values are found (INDEXEMPTY).
    pub has_empty: bool,
    /// Whether documents without it are found (INDEXMISSING).
    pub has_missing: bool,
}

/// The fields of an index, and how texts become terms.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Schema {
    /// The fields by number.
    pub fields: Vec<Field>,
    /// How texts become terms.
    pub analyzer: Analyzer,
    /// The language of texts, unless a document says another one.
    pub language: Language,
    /// Words that are not indexed, in lower case and sorted; None for those of the language.
    pub stop_words: Option<Vec<String>>,
}

impl Schema {
    /// The field of this name.
    pub fn find(&self, name: &[u8]) -> Option<(FieldId, &Field)> {
        let at = self.fields.iter().position(|field| field.name == name)?;
        Some((FieldId(at as u16), self.fields.get(at)?))
    }

    /// A field.
    pub fn field(&self, id: FieldId) -> Option<&Field> {
        self.fields.get(usize::from(id.0))
    }

    /// Whether a word, in lower case, is not indexed.
    pub fn is_stop_word(&self, word: &str) -> bool {
        match &self.stop_words {
            Some(words) => words.binary_search_by(|other| other.as_str().cmp(word)).is_ok(),
            None => super::text::is_default_stop_word(word),
        }
    }
}
