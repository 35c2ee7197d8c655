//! What FT.CREATE and FT.ALTER say of an index, as a definition.

use std::sync::Arc;

use crate::command::CommandError;
use crate::command::args::{is_option, quoted};
use crate::engine::{Db, Kind};
use crate::limits::{SEARCH_FIELDS_MAX, SEARCH_TEXT_FIELDS_MAX, SEARCH_VECTOR_MAX_DIMENSION};
use crate::resp::{parse_f64, parse_i64};
use crate::search::expression::Expression;
use crate::search::schema::{
    Analyzer, FIELD_MARK, Field, FieldKind, Metric, NO_SEPARATOR, Number, Schema, VectorOptions,
};
use crate::search::text::{Language, fold_part};
use crate::server::search::{Definition, Filter, Hints, Synonyms};
use crate::sorted;

type Result<T> = std::result::Result<T, CommandError>;

/// So much of a word is shown in an error.
const SHOWN: usize = 64;

/// The words that are left to be read.
struct Words<'w> {
    left: &'w [&'w [u8]],
}

impl<'w> Words<'w> {
    fn next(&mut self) -> Option<&'w [u8]> {
        let (first, rest) = self.left.split_first()?;
        self.left = rest;
        Some(first)
    }

    /// Whether the next word is this option, which is passed then.
    fn take(&mut self, option: &str) -> bool {
        let is_it = self.left.first().is_some_and(|word| is_option(word, option));
        if is_it {
            self.left = self.left.get(1..).unwrap_or_default();
        }
        is_it
    }

    /// Passes the next word if it is this one to the byte.
    fn pass(&mut self, word: &[u8]) {
        if let Some(([first], rest)) = self.left.split_at_checked(1)
            && *first == word
        {
            self.left = rest;
        }
    }

    fn value(&mut self, of: &str) -> Result<&'w [u8]> {
        self.next().ok_or_else(|| bad_arguments(of, "Expected an argument, but none provided"))
    }

    fn integer(&mut self, of: &str) -> Result<i64> {
        parse_i64(self.value(of)?)
            .ok_or_else(|| bad_arguments(of, "Could not convert argument to expected type"))
    }

    fn float(&mut self, of: &str) -> Result<f64> {
        parse_f64(self.value(of)?)
            .ok_or_else(|| bad_arguments(of, "Could not convert argument to expected type"))
    }

    fn list(&mut self, of: &str) -> Result<&'w [&'w [u8]]> {
        let count = self.integer(of)?;
        let split = usize::try_from(count).ok().and_then(|count| self.left.split_at_checked(count));
        let (list, rest) =
            split.ok_or_else(|| bad_arguments(of, "Expected an argument, but none provided"))?;
        self.left = rest;
        Ok(list)
    }
}

fn bad_arguments(of: &str, why: &str) -> CommandError {
    CommandError::owned(format!("Bad arguments for {of}: {why}"))
}

/// The definition of an index from the words behind its name. A [`FIELD_MARK`] before a field says that the words of the field before have
/// ended: a field may be called like an option.
///
/// # Errors
/// What is wrong with them.
pub(super) fn parse(name: &[u8], db: Db, words: &[&[u8]]) -> Result<Definition> {
    let mut definition = Definition {
        number: 0,
        db,
        name: name.into(),
        kind: Kind::Hash,
        prefixes: Vec::new(),
        filter: None,
        schema: Arc::default(),
        language_field: None,
        score: 1.0,
        score_field: None,
        payload_field: None,
        hints: Hints::default(),
        temporary_s: 0,
        aliases: Vec::new(),
        synonyms: Synonyms::default(),
        is_scanned: false,
        since: 0,
        settings: None,
        words: words.iter().map(|word| word.to_vec()).collect(),
    };
    let mut schema = Schema::default();
    let mut words = Words { left: words };
    let mut has_analyzer = false;
    loop {
        let Some(word) = words.next() else { return Err(CommandError::text("No schema found")) };
        if is_option(word, "SCHEMA") {
            break;
        }
        option(word, &mut words, &mut definition, &mut schema)?;
        has_analyzer |= is_option(word, "ANALYZER");
    }
    // It writes no spaces, so that its words are found by pairs of characters.
    if schema.language == Language::Chinese && !has_analyzer {
        schema.analyzer = Analyzer::Instant;
    }
    if let Some(stop_words) = &mut schema.stop_words {
        stop_words.iter_mut().for_each(|word| *word = fold_part(schema.analyzer, word.as_bytes()));
        sorted::plainly(stop_words);
        stop_words.dedup();
    }
    if definition.prefixes.is_empty() {
        definition.prefixes.push(Box::default());
    }
    if words.left.is_empty() {
        return Err(CommandError::text("Fields arguments are missing"));
    }
    while !words.left.is_empty() {
        // FT.ALTER leaves its words behind those of FT.CREATE and a mark.
        words.pass(FIELD_MARK.as_bytes());
        add_field(&mut words, &mut schema, definition.kind)?;
    }
    definition.schema = Arc::new(schema);
    Ok(definition)
}

/// Whether a client's words have no [`FIELD_MARK`].
///
/// # Errors
/// They have one.
pub(super) fn check_unmarked(words: &[&[u8]]) -> Result<()> {
    match words.contains(&FIELD_MARK.as_bytes()) {
        true => Err(CommandError::text("Invalid field name: it stands between fields in the store")),
        false => Ok(()),
    }
}

/// Reads one option of FT.CREATE before SCHEMA.
fn option(
    word: &[u8],
    words: &mut Words<'_>,
    definition: &mut Definition,
    schema: &mut Schema,
) -> Result<()> {
    match word.to_ascii_uppercase().as_slice() {
        b"ON" => match words.value("ON")? {
            kind if is_option(kind, "HASH") => definition.kind = Kind::Hash,
            kind if is_option(kind, "JSON") => definition.kind = Kind::Json,
            kind => {
                let kind = quoted(kind, SHOWN);
                return Err(CommandError::owned(format!("Invalid rule type: {kind}")));
            }
        },
        b"PREFIX" => {
            definition.prefixes = words.list("PREFIX")?.iter().map(|prefix| (*prefix).into()).collect();
            if definition.prefixes.iter().any(|prefix| prefix.is_empty() || **prefix == *b"*") {
                // Others begin with it as well.
                definition.prefixes = vec![Box::default()];
            }
        }
        b"FILTER" => {
            let text = words.value("FILTER")?;
            let expression =
                Expression::parse(text).map_err(|error| CommandError::owned(format!("{error}")))?;
            let fields = expression.names().to_vec();
            definition.filter = Some(Filter { text: text.to_vec(), expression, fields });
        }
        b"LANGUAGE" => schema.language = language(words.value("LANGUAGE")?)?,
        b"LANGUAGE_FIELD" => definition.language_field = Some(words.value("LANGUAGE_FIELD")?.into()),
        b"SCORE" => {
            definition.score = words.float("SCORE")?;
            if !(0.0..=1.0).contains(&definition.score) {
                return Err(CommandError::text("Invalid score: must be between 0 and 1"));
            }
        }
        b"SCORE_FIELD" => definition.score_field = Some(words.value("SCORE_FIELD")?.into()),
        b"PAYLOAD_FIELD" => definition.payload_field = Some(words.value("PAYLOAD_FIELD")?.into()),
        b"MAXTEXTFIELDS" => definition.hints.max_text_fields = true,
        b"TEMPORARY" => {
            let seconds = words.integer("TEMPORARY")?;
            definition.temporary_s = u64::try_from(seconds)
                .ok()
                .filter(|seconds| *seconds > 0)
                .ok_or_else(|| bad_arguments("TEMPORARY", "Value is outside acceptable bounds"))?;
        }
        b"NOOFFSETS" => definition.hints.no_offsets = true,
        b"NOHL" => definition.hints.no_highlight = true,
        b"NOFIELDS" => definition.hints.no_fields = true,
        b"NOFREQS" => definition.hints.no_frequencies = true,
        b"STOPWORDS" => {
            let list = words.list("STOPWORDS")?;
            schema.stop_words =
                Some(list.iter().map(|word| String::from_utf8_lossy(word).into_owned()).collect());
        }
        b"SKIPINITIALSCAN" => definition.is_scanned = true,
        b"ASYNC" => {}
        b"ANALYZER" => {
            schema.analyzer = match words.value("ANALYZER")? {
                word if is_option(word, "WORDS") => Analyzer::Words,
                word if is_option(word, "INSTANT") => Analyzer::Instant,
                _ => return Err(CommandError::text("ANALYZER is WORDS or INSTANT")),
            }
        }
        _ => {
            let word = quoted(word, SHOWN);
            return Err(CommandError::owned(format!("Unknown argument `{word}`")));
        }
    }
    Ok(())
}

/// The language of this name.
///
/// # Errors
/// There is none.
pub(super) fn language(name: &[u8]) -> Result<Language> {
    Language::named(name).ok_or_else(|| {
        let name = quoted(name, SHOWN);
        CommandError::owned(format!("Invalid language: {name}"))
    })
}

/// Adds the field that the next words are about.
fn add_field(words: &mut Words<'_>, schema: &mut Schema, of: Kind) -> Result<()> {
    let path = words.value("SCHEMA")?;
    let name = if words.take("AS") { words.value("AS")? } else { path };
    if of == Kind::Json && super::values::query(path).is_none() {
        let (path, name) = (quoted(path, SHOWN), quoted(name, SHOWN));
        return Err(CommandError::owned(format!("Invalid JSONPath '{path}' in attribute '{name}'")));
    }
    if schema.find(name).is_some() {
        let name = quoted(name, SHOWN);
        return Err(CommandError::owned(format!("Duplicate field in schema - {name}")));
    }
    let kind = words.next().ok_or_else(|| {
        let name = quoted(name, SHOWN);
        CommandError::owned(format!("Field `{name}` does not have a type"))
    })?;
    let mut field = Field {
        name: name.to_vec(),
        path: path.to_vec(),
        kind: FieldKind::Numeric,
        is_sortable: false,
        is_unnormalized: false,
        is_not_indexed: false,
        has_empty: false,
        has_missing: false,
    };
    field.kind = match kind.to_ascii_uppercase().as_slice() {
        b"TEXT" => text(words, &mut field)?,
        b"TAG" => tag(words, &mut field, of)?,
        b"NUMERIC" => FieldKind::Numeric,
        b"GEO" => FieldKind::Geo,
        b"VECTOR" => FieldKind::Vector(vector(words)?),
        b"GEOSHAPE" => {
            return Err(CommandError::text("GEOSHAPE fields are not supported; use GEO for points"));
        }
        _ => {
            let name = quoted(name, SHOWN);
            return Err(CommandError::owned(format!("Invalid field type for field `{name}`")));
        }
    };
    while common(words, &mut field) {}
    check_room(schema, &field)?;
    schema.fields.push(field);
    Ok(())
}

/// Reads an option that all kinds of fields have.
fn common(words: &mut Words<'_>, field: &mut Field) -> bool {
    if words.take("SORTABLE") {
        field.is_sortable = true;
        field.is_unnormalized |= words.take("UNF");
    } else if words.take("NOINDEX") {
        field.is_not_indexed = true;
    } else if words.take("INDEXMISSING") {
        field.has_missing = true;
    } else if words.take("INDEXEMPTY") {
        field.has_empty = true;
    } else {
        return false;
    }
    true
}

fn text(words: &mut Words<'_>, field: &mut Field) -> Result<FieldKind> {
    let (mut weight, mut has_stems, mut has_suffixes) = (1.0, true, false);
    loop {
        if words.take("WEIGHT") {
            weight = words.float("WEIGHT")?;
        } else if words.take("NOSTEM") {
            has_stems = false;
        } else if words.take("WITHSUFFIXTRIE") {
            has_suffixes = true;
        } else if words.take("PHONETIC") {
            return Err(CommandError::text(
                "PHONETIC fields are not supported; fuzzy words (%word%) find what is spelt otherwise",
            ));
        } else if !common(words, field) {
            return Ok(FieldKind::Text { weight, has_stems, has_suffixes });
        }
    }
}

fn tag(words: &mut Words<'_>, field: &mut Field, of: Kind) -> Result<FieldKind> {
    // JSON has arrays, so its strings are split only if that is wanted.
    let mut separator = if of == Kind::Json { NO_SEPARATOR } else { b',' };
    let (mut is_case_sensitive, mut has_suffixes) = (false, false);
    loop {
        if words.take("SEPARATOR") {
            let [only] = words.value("SEPARATOR")? else {
                return Err(CommandError::text(
                    "Tag separator must be a single character. Got `multiple characters`",
                ));
            };
            separator = *only;
        } else if words.take("CASESENSITIVE") {
            is_case_sensitive = true;
        } else if words.take("WITHSUFFIXTRIE") {
            has_suffixes = true;
        } else if !common(words, field) {
            return Ok(FieldKind::Tag { separator, is_case_sensitive, has_suffixes });
        }
    }
}

fn vector(words: &mut Words<'_>) -> Result<VectorOptions> {
    let algorithm = words.value("vector similarity algorithm")?;
    let is_hnsw = is_option(algorithm, "HNSW");
    if !is_hnsw && !is_option(algorithm, "FLAT") {
        return Err(CommandError::text(
            "Bad arguments for vector similarity algorithm: FLAT and HNSW are supported",
        ));
    }
    let attributes = words.list("vector similarity number of parameters")?;
    let (mut dimension, mut number, mut metric) = (None, None, None);
    let mut known = Vec::new();
    for pair in attributes.chunks(2) {
        let [name, value] = pair else {
            return Err(CommandError::text(
                "Bad number of arguments for vector similarity index: got an odd number of parameters",
            ));
        };
        let name = String::from_utf8_lossy(name).to_ascii_uppercase();
        let bad = |what: &str| CommandError::owned(format!("Bad arguments for vector similarity {what}"));
        match name.as_str() {
            "DIM" => {
                let found = parse_i64(value).and_then(|value| u32::try_from(value).ok());
                dimension = Some(
                    found
                        .filter(|found| (1..=SEARCH_VECTOR_MAX_DIMENSION).contains(found))
                        .ok_or_else(|| bad("HNSW index DIM"))?,
                );
            }
            "TYPE" => number = Some(number_named(value).ok_or_else(|| bad("index type"))?),
            "DISTANCE_METRIC" => metric = Some(metric_named(value).ok_or_else(|| bad("index metric"))?),
            "M" | "EF_CONSTRUCTION" | "EF_RUNTIME" | "EPSILON" if is_hnsw => {
                parse_f64(value).filter(|value| *value > 0.0).ok_or_else(|| bad(&name))?;
            }
            "INITIAL_CAP" | "BLOCK_SIZE" => {
                parse_i64(value).filter(|value| *value >= 0).ok_or_else(|| bad(&name))?;
            }
            _ => return Err(bad(&format!("index: unknown parameter {name}"))),
        }
        known.push((name, String::from_utf8_lossy(value).into_owned()));
    }
    let missing = |what: &str| {
        CommandError::owned(format!(
            "Missing mandatory parameter: cannot create vector index without specifying {what} argument"
        ))
    };
    Ok(VectorOptions {
        dimension: dimension.ok_or_else(|| missing("DIM"))?,
        number: number.ok_or_else(|| missing("TYPE"))?,
        metric: metric.ok_or_else(|| missing("DISTANCE_METRIC"))?,
        is_hnsw,
        attributes: known,
    })
}

fn number_named(name: &[u8]) -> Option<Number> {
    Some(match name.to_ascii_uppercase().as_slice() {
        b"FLOAT32" => Number::Float32,
        b"FLOAT64" => Number::Float64,
        b"FLOAT16" => Number::Float16,
        b"BFLOAT16" => Number::BFloat16,
        b"INT8" => Number::Int8,
        b"UINT8" => Number::Uint8,
        _ => return None,
    })
}

fn metric_named(name: &[u8]) -> Option<Metric> {
    Some(match name.to_ascii_uppercase().as_slice() {
        b"L2" => Metric::L2,
        b"IP" => Metric::InnerProduct,
        b"COSINE" => Metric::Cosine,
        _ => return None,
    })
}

fn check_room(schema: &Schema, field: &Field) -> Result<()> {
    let is_text = |field: &Field| matches!(field.kind, FieldKind::Text { .. });
    let texts = schema.fields.iter().filter(|field| is_text(field)).count();
    if schema.fields.len() >= SEARCH_FIELDS_MAX {
        return Err(CommandError::owned(format!("Schema is limited to {SEARCH_FIELDS_MAX} fields")));
    }
    if is_text(field) && texts >= SEARCH_TEXT_FIELDS_MAX {
        return Err(CommandError::owned(format!(
            "Schema is limited to {SEARCH_TEXT_FIELDS_MAX} TEXT fields"
        )));
    }
    Ok(())
}
