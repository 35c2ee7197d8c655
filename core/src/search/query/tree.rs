//! A query as a tree: what the parser makes, the evaluation walks, and FT.EXPLAIN shows.
//!
//! Words stand here in lower case as they were written. Stems, synonyms and the terms that a pattern stands for are looked up when the
//! query is evaluated. Fields are numbers of the schema.

use crate::search::schema::FieldId;

/// A query.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// Which documents match.
    pub root: Node,
    /// The nearest of these, if it asks for them: `root=>[KNN …]`.
    pub nearest: Option<Nearest>,
}

/// The clause `[KNN k @field $vector …]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Nearest {
    /// How many.
    pub count: u64,
    /// The vector field.
    pub field: FieldId,
    /// The vector, as bytes of the field's numbers.
    pub vector: Vec<u8>,
    /// The parameter that held it, for FT.EXPLAIN.
    pub parameter: Vec<u8>,
    /// `EF_RUNTIME 10` and the like, checked and without effect, since answers are exact; for FT.EXPLAIN.
    pub options: Vec<(Vec<u8>, Vec<u8>)>,
    /// The name of the distance in results: `__field_score` unless the query says another.
    pub distance_name: Vec<u8>,
}

/// A part of a query.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What it is.
    pub clause: Clause,
    /// What stands behind it: `=> { $weight: 2; … }`.
    pub attributes: Attributes,
}

/// Attributes of a part.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Attributes {
    /// `$weight`; 1 if None.
    pub weight: Option<f64>,
    /// `$slop`.
    pub slop: Option<i64>,
    /// `$inorder`.
    pub in_order: Option<bool>,
    /// `$phonetic`, which changes nothing, since no field is phonetic.
    pub phonetic: Option<bool>,
    /// `$yield_distance_as`, of vector clauses.
    pub distance_name: Option<Vec<u8>>,
}

/// A bound of a range of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bound {
    /// The number, which may be infinite.
    pub value: f64,
    /// Whether the number itself is outside (`(5`).
    pub is_exclusive: bool,
}

impl Bound {
    /// Whether a number lies above it, or on it.
    pub fn is_below(self, number: f64) -> bool {
        if self.is_exclusive { self.value < number } else { self.value <= number }
    }

    /// Whether a number lies below it, or on it.
    pub fn is_above(self, number: f64) -> bool {
        if self.is_exclusive { self.value > number } else { self.value >= number }
    }
}

/// A unit of length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GeoUnit {
    /// `m`
    Metre,
    /// `km`
    Kilometre,
    /// `mi`
    Mile,
    /// `ft`
    Foot,
}

impl GeoUnit {
    const ALL: [GeoUnit; 4] = [GeoUnit::Metre, GeoUnit::Kilometre, GeoUnit::Mile, GeoUnit::Foot];

    /// The unit of this name, in any case.
    pub fn find(name: &[u8]) -> Option<GeoUnit> {
        Self::ALL.into_iter().find(|unit| unit.name().as_bytes().eq_ignore_ascii_case(name))
    }

    /// Its name in queries.
    pub fn name(self) -> &'static str {
        match self {
            GeoUnit::Metre => "m",
            GeoUnit::Kilometre => "km",
            GeoUnit::Mile => "mi",
            GeoUnit::Foot => "ft",
        }
    }

    /// How many metres one is: Redis' figures.
    pub fn metres(self) -> f64 {
        match self {
            GeoUnit::Metre => 1.0,
            GeoUnit::Kilometre => 1000.0,
            GeoUnit::Mile => 1609.34,
            GeoUnit::Foot => 0.3048,
        }
    }
}

/// How a word is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// This word; stems and synonyms of it, too, unless it is verbatim.
    Word {
        /// The word.
        text: Vec<u8>,
        /// Whether only it is meant: VERBATIM, a word in quotes.
        is_verbatim: bool,
    },
    /// Words that begin so: `wor*`.
    Prefix(Vec<u8>),
    /// Words that end so: `*ord`.
    Suffix(Vec<u8>),
    /// Words in which it stands: `*or*`.
    Infix(Vec<u8>),
    /// `w'wo*d'`: `?` is any character, `*` any number of them.
    Wildcard(Vec<u8>),
    /// Words at most so many edits away, 1 to 3: `%word%`.
    Fuzzy {
        /// The word.
        text: Vec<u8>,
        /// How many.
        distance: u8,
    },
    /// Words between two words in the order of their bytes: never made by the parser of FT.SEARCH.
    Range {
        /// The least, if there is one.
        from: Option<Vec<u8>>,
        /// The greatest, if there is one.
        to: Option<Vec<u8>>,
    },
}

/// What a part of a query is.
#[derive(Clone, Debug, PartialEq)]
pub enum Clause {
    /// All documents: `*`.
    All,
    /// No document: a query of stop words alone.
    Nothing,
    /// A word of any field, or of the fields that a part around it names.
    Word(Pattern),
    /// Words next to each other: `"hello world"`.
    Phrase(Vec<Pattern>),
    /// All of them; with slop and order if attributes say so.
    And(Vec<Node>),
    /// At least one of them: `a | b`.
    Or(Vec<Node>),
    /// Documents that do not match: `-a`.
    Not(Box<Node>),
    /// Documents that match rank higher: `~a`.
    Optional(Box<Node>),
    /// Words of these text fields only: `@title|body:(…)`. Without any field nothing matches (dialect 1, unknown fields).
    In(Vec<FieldId>, Box<Node>),
    /// Values of a tag field, at least one of them: `@tags:{a | b*}`. Words are as written, escapes resolved.
    Tag(FieldId, Vec<Pattern>),
    /// Numbers of a field: `@price:[10 (20]`.
    Number(FieldId, Bound, Bound),
    /// Positions near a point: `@place:[lon lat radius unit]`.
    Geo {
        /// The field.
        field: FieldId,
        /// Longitude in degrees.
        longitude: f64,
        /// Latitude in degrees.
        latitude: f64,
        /// Radius in metres.
        radius_m: f64,
        /// The unit in which the query gave it, for FT.EXPLAIN.
        unit: GeoUnit,
    },
    /// Vectors near one: `@v:[VECTOR_RANGE radius $vector]`.
    Near {
        /// The vector field.
        field: FieldId,
        /// The greatest distance.
        radius: f64,
        /// The vector, as bytes of the field's numbers.
        vector: Vec<u8>,
        /// The parameter that held it, for FT.EXPLAIN.
        parameter: Vec<u8>,
        /// `$epsilon`, checked and without effect; for FT.EXPLAIN.
        options: Vec<(Vec<u8>, Vec<u8>)>,
    },
    /// Documents without a field: `ismissing(@field)`.
    Missing(FieldId),
}

impl From<Clause> for Node {
    fn from(clause: Clause) -> Node {
        Node { clause, attributes: Attributes::default() }
    }
}
