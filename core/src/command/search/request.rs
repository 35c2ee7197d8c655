//! The arguments of FT.SEARCH.

use super::create::language;
use crate::command::CommandError;
use crate::command::args::{is_option, quoted};
use crate::limits::{SEARCH_RESULTS_MAX, SEARCH_SCANNED_FRAGMENTS_MAX};
use crate::resp::{parse_f64, parse_i64};
use crate::search::query::tree::GeoUnit;
use crate::search::text::Language;

type Result<T> = std::result::Result<T, CommandError>;

/// So much of a word is shown in an error.
const SHOWN: usize = 64;

/// A field to be shown, and its name in the reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Returned<'a> {
    pub path: &'a [u8],
    pub name: &'a [u8],
}

/// FILTER: a range of a numeric field.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NumberFilter<'a> {
    pub field: &'a [u8],
    /// The bounds, and whether each is exclusive.
    pub from: (f64, bool),
    pub to: (f64, bool),
}

/// GEOFILTER: a circle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct GeoFilter<'a> {
    pub field: &'a [u8],
    pub longitude: f64,
    pub latitude: f64,
    pub radius_m: f64,
}

/// SUMMARIZE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Summarize<'a> {
    /// The fields; none for all.
    pub fields: &'a [&'a [u8]],
    pub fragments: usize,
    pub words: usize,
    pub separator: &'a [u8],
}

/// HIGHLIGHT.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Highlight<'a> {
    /// The fields; none for all.
    pub fields: &'a [&'a [u8]],
    pub open: &'a [u8],
    pub close: &'a [u8],
}

/// A request to search.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Request<'a> {
    pub no_content: bool,
    pub verbatim: bool,
    pub keep_stop_words: bool,
    pub with_scores: bool,
    pub with_payloads: bool,
    pub with_sort_keys: bool,
    pub explain_score: bool,
    pub numbers: Vec<NumberFilter<'a>>,
    pub places: Vec<GeoFilter<'a>>,
    pub keys: Option<&'a [&'a [u8]]>,
    pub fields: Option<&'a [&'a [u8]]>,
    pub returned: Option<Vec<Returned<'a>>>,
    pub summarize: Option<Summarize<'a>>,
    pub highlight: Option<Highlight<'a>>,
    pub slop: Option<i64>,
    pub in_order: bool,
    pub language: Option<Language>,
    pub scorer: Option<&'a [u8]>,
    pub payload: Option<&'a [u8]>,
    /// The field, and whether the greatest come first.
    pub sort: Option<(&'a [u8], bool)>,
    pub offset: u64,
    pub count: u64,
    pub parameters: Vec<(&'a [u8], &'a [u8])>,
    pub dialect: Option<u8>,
    /// Postings that are read of a word in the order for search as one types; 0 for all.
    pub cap: Option<u64>,
    /// Milliseconds after which it ends; 0 for any number.
    pub timeout_ms: Option<u64>,
    /// The numeric field by which popular documents come first, in the order for search as one types.
    pub popularity: Option<&'a [u8]>,
    /// Answers of the same connection that nobody waits for any more are dropped.
    pub latest_only: bool,
}

impl Default for Request<'_> {
    fn default() -> Self {
        Request {
            no_content: false,
            verbatim: false,
            keep_stop_words: false,
            with_scores: false,
            with_payloads: false,
            with_sort_keys: false,
            explain_score: false,
            numbers: Vec::new(),
            places: Vec::new(),
            keys: None,
            fields: None,
            returned: None,
            summarize: None,
            highlight: None,
            slop: None,
            in_order: false,
            language: None,
            scorer: None,
            payload: None,
            sort: None,
            offset: 0,
            count: 10,
            parameters: Vec::new(),
            dialect: None,
            cap: None,
            timeout_ms: None,
            popularity: None,
            latest_only: false,
        }
    }
}

/// Whether the words behind the query of FT.SEARCH have the option LATEST. A field, a parameter or a key of that name is no option.
pub(crate) fn has_latest(words: &[&[u8]]) -> bool {
    // Most searches do not have the word at all, and need not be parsed.
    words.iter().any(|word| is_option(word, "LATEST"))
        && Request::parse(words).is_ok_and(|request| request.latest_only)
}

/// The words that are left to be read.
pub(super) struct Words<'a> {
    left: &'a [&'a [u8]],
}

impl<'a> Words<'a> {
    pub fn new(words: &'a [&'a [u8]]) -> Words<'a> {
        Words { left: words }
    }

    pub fn next(&mut self) -> Option<&'a [u8]> {
        let (first, rest) = self.left.split_first()?;
        self.left = rest;
        Some(first)
    }

    pub fn take(&mut self, option: &str) -> bool {
        let is_it = self.left.first().is_some_and(|word| is_option(word, option));
        if is_it {
            self.left = self.left.get(1..).unwrap_or_default();
        }
        is_it
    }

    pub fn value(&mut self, of: &str) -> Result<&'a [u8]> {
        self.next().ok_or_else(|| bad_arguments(of, "Expected an argument, but none provided"))
    }

    pub fn integer(&mut self, of: &str) -> Result<i64> {
        parse_i64(self.value(of)?)
            .ok_or_else(|| bad_arguments(of, "Could not convert argument to expected type"))
    }

    pub fn count(&mut self, of: &str) -> Result<u64> {
        u64::try_from(self.integer(of)?).map_err(|_| bad_arguments(of, "Value is outside acceptable bounds"))
    }

    pub fn float(&mut self, of: &str) -> Result<f64> {
        parse_f64(self.value(of)?)
            .ok_or_else(|| bad_arguments(of, "Could not convert argument to expected type"))
    }

    pub fn list(&mut self, of: &str) -> Result<&'a [&'a [u8]]> {
        let count = self.count(of)?;
        let split = usize::try_from(count).ok().and_then(|count| self.left.split_at_checked(count));
        let (list, rest) =
            split.ok_or_else(|| bad_arguments(of, "Expected an argument, but none provided"))?;
        self.left = rest;
        Ok(list)
    }
}

pub(super) fn bad_arguments(of: &str, why: &str) -> CommandError {
    CommandError::owned(format!("Bad arguments for {of}: {why}"))
}

/// Whether this is the scorer that ranks as one types.
pub(super) fn is_instant(scorer: &[u8]) -> bool {
    scorer.eq_ignore_ascii_case(b"INSTANT")
}

impl<'a> Request<'a> {
    /// Whether its documents are ranked as one types.
    pub fn is_instant(&self) -> bool {
        self.scorer.is_some_and(is_instant)
    }

    /// Reads the words behind the query.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn parse(words: &'a [&'a [u8]]) -> Result<Request<'a>> {
        let mut request = Request::default();
        let mut words = Words::new(words);
        while let Some(word) = words.next() {
            request.option(word, &mut words)?;
        }
        if request.offset.saturating_add(request.count) > SEARCH_RESULTS_MAX && request.count > 0 {
            request.count = request.count.min(SEARCH_RESULTS_MAX);
            if request.offset > SEARCH_RESULTS_MAX {
                return Err(CommandError::owned(format!("OFFSET exceeds maximum of {SEARCH_RESULTS_MAX}")));
            }
        }
        Ok(request)
    }

    fn option(&mut self, word: &[u8], words: &mut Words<'a>) -> Result<()> {
        match word.to_ascii_uppercase().as_slice() {
            b"NOCONTENT" => self.no_content = true,
            b"VERBATIM" => self.verbatim = true,
            b"NOSTOPWORDS" => self.keep_stop_words = true,
            b"WITHSCORES" => self.with_scores = true,
            b"WITHPAYLOADS" => self.with_payloads = true,
            b"WITHSORTKEYS" => self.with_sort_keys = true,
            b"EXPLAINSCORE" => self.explain_score = true,
            b"WITHCOUNT" | b"WITHOUTCOUNT" => {}
            b"FILTER" => self.numbers.push(NumberFilter {
                field: words.value("FILTER")?,
                from: bound(words.value("FILTER")?)?,
                to: bound(words.value("FILTER")?)?,
            }),
            b"GEOFILTER" => self.places.push(geo_filter(words)?),
            b"INKEYS" => self.keys = Some(words.list("INKEYS")?),
            b"INFIELDS" => self.fields = Some(words.list("INFIELDS")?),
            b"RETURN" => {
                let returned = returned(words)?;
                // As in RediSearch, no fields are no content.
                self.no_content |= returned.is_empty();
                self.returned = Some(returned);
            }
            b"SUMMARIZE" => self.summarize = Some(summarize(words)?),
            b"HIGHLIGHT" => self.highlight = Some(highlight(words)?),
            b"SLOP" => self.slop = Some(words.integer("SLOP")?),
            b"INORDER" => self.in_order = true,
            b"TIMEOUT" => self.timeout_ms = Some(words.count("TIMEOUT")?),
            b"POPULARITY" => self.popularity = Some(words.value("POPULARITY")?),
            b"LANGUAGE" => self.language = Some(language(words.value("LANGUAGE")?)?),
            b"EXPANDER" => drop(words.value("EXPANDER")?),
            b"SCORER" => self.scorer = Some(words.value("SCORER")?),
            b"PAYLOAD" => self.payload = Some(words.value("PAYLOAD")?),
            b"SORTBY" => {
                let field = words.value("SORTBY")?;
                let descending = if words.take("ASC") { false } else { words.take("DESC") };
                self.sort = Some((field.strip_prefix(b"@").unwrap_or(field), descending));
            }
            b"LIMIT" => (self.offset, self.count) = (words.count("LIMIT")?, words.count("LIMIT")?),
            b"PARAMS" => self.parameters = parameters(words)?,
            b"DIALECT" => self.dialect = Some(dialect(words)?),
            b"FORMAT" => match words.value("FORMAT")? {
                format if is_option(format, "STRING") || is_option(format, "EXPAND") => {}
                _ => return Err(CommandError::text("FORMAT is STRING or EXPAND")),
            },
            b"CAP" => self.cap = Some(words.count("CAP")?),
            b"LATEST" => self.latest_only = true,
            _ => {
                let word = quoted(word, SHOWN);
                return Err(CommandError::owned(format!("Unknown argument `{word}`")));
            }
        }
        Ok(())
    }
}

/// Reads `PARAMS`' words behind the word.
pub(super) fn parameters<'a>(words: &mut Words<'a>) -> Result<Vec<(&'a [u8], &'a [u8])>> {
    let list = words.list("PARAMS")?;
    let (pairs, rest) = list.as_chunks::<2>();
    if !rest.is_empty() || pairs.is_empty() {
        return Err(CommandError::text("Parameters must be specified in PARAM VALUE pairs"));
    }
    for (at, [name, _]) in pairs.iter().enumerate() {
        if pairs.iter().take(at).any(|[other, _]| other == name) {
            let name = quoted(name, SHOWN);
            return Err(CommandError::owned(format!("Duplicate parameter `{name}`")));
        }
    }
    Ok(pairs.iter().map(|[name, value]| (*name, *value)).collect())
}

/// Reads `DIALECT`'s number.
pub(super) fn dialect(words: &mut Words<'_>) -> Result<u8> {
    let number = words.integer("DIALECT")?;
    u8::try_from(number)
        .ok()
        .filter(|number| (1..=4).contains(number))
        .ok_or(CommandError::text("DIALECT requires a non negative integer >=1 and <= 4"))
}

fn bound(word: &[u8]) -> Result<(f64, bool)> {
    let (word, is_exclusive) = match word.strip_prefix(b"(") {
        Some(rest) => (rest, true),
        None => (word, false),
    };
    let value = parse_f64(word).ok_or(CommandError::text("Bad lower range: not a number"))?;
    Ok((value, is_exclusive))
}

fn geo_filter<'a>(words: &mut Words<'a>) -> Result<GeoFilter<'a>> {
    const OF: &str = "GEOFILTER";
    let field = words.value(OF)?;
    let (longitude, latitude, radius) = (words.float(OF)?, words.float(OF)?, words.float(OF)?);
    let unit = GeoUnit::find(words.value(OF)?).ok_or_else(|| bad_arguments(OF, "Unknown distance unit"))?;
    Ok(GeoFilter { field, longitude, latitude, radius_m: radius * unit.metres() })
}

fn returned<'a>(words: &mut Words<'a>) -> Result<Vec<Returned<'a>>> {
    let mut list = Words::new(words.list("RETURN")?);
    let mut returned = Vec::new();
    while let Some(path) = list.next() {
        let name = if list.take("AS") {
            list.value("RETURN path AS name - must be accompanied with NAME")?
        } else {
            path
        };
        returned.push(Returned { path, name });
    }
    Ok(returned)
}

fn summarize<'a>(words: &mut Words<'a>) -> Result<Summarize<'a>> {
    let mut summarize = Summarize { fields: &[], fragments: 3, words: 20, separator: b"... " };
    loop {
        if words.take("FIELDS") {
            summarize.fields = words.list("FIELDS")?;
        } else if words.take("FRAGS") {
            summarize.fragments = count_of("FRAGS", words)?;
        } else if words.take("LEN") {
            summarize.words = count_of("LEN", words)?;
        } else if words.take("SEPARATOR") {
            summarize.separator = words.value("SEPARATOR")?;
        } else {
            return Ok(summarize);
        }
    }
}

fn count_of(of: &str, words: &mut Words<'_>) -> Result<usize> {
    let count = words.count(of)?;
    let most = SEARCH_SCANNED_FRAGMENTS_MAX;
    usize::try_from(count)
        .ok()
        .filter(|count| (1..=most).contains(count))
        .ok_or_else(|| bad_arguments(of, "Value is outside acceptable bounds"))
}

fn highlight<'a>(words: &mut Words<'a>) -> Result<Highlight<'a>> {
    let mut highlight = Highlight { fields: &[], open: b"<b>", close: b"</b>" };
    loop {
        if words.take("FIELDS") {
            highlight.fields = words.list("FIELDS")?;
        } else if words.take("TAGS") {
            (highlight.open, highlight.close) = (words.value("TAGS")?, words.value("TAGS")?);
        } else {
            return Ok(highlight);
        }
    }
}
