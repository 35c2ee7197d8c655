//! What a search means for an index: words, filter, fields, and how matches are ranked.

use std::sync::Arc;

use super::Result;
use crate::command::Context;
use crate::command::search::instant::all_words;
use crate::search::bits::Bits;
use crate::search::dialect::fault::Fault;
use crate::search::dialect::request::{Part, Search, Sort, SortBy, Strategy as Wanted, known, parts};
use crate::search::dialect::settings::{
    BuiltIn, Rule, Settings, attribute_of_text, is_attribute_of, number_field, seen, tag_field,
};
use crate::search::evaluate::Meter;
use crate::search::instant::{self, SortKey, Strategy, Typos, Weights};
use crate::search::query::Node;
use crate::search::schema::{Analyzer, FieldId, Schema};
use crate::search::text::groups_of_word;
use crate::server::search::Index;

/// The words of what a user typed, and everything else that a search means for an index.
#[derive(Default)]
pub(super) struct Meant {
    pub(super) words: Vec<String>,
    pub(super) phrases: Vec<Vec<String>>,
    negated: Vec<Vec<String>>,
    is_open: bool,
    /// The filter.
    pub(super) filter: Option<Node>,
    fields: Option<Vec<FieldId>>,
    sort: Vec<SortKey>,
    ties: Vec<SortKey>,
    weights: Weights,
    relevance_min: Option<f64>,
    distinct: Option<FieldId>,
    /// The facets that are counted, by name.
    pub(super) facets: Vec<(String, FieldId)>,
    pub(super) ranges: Vec<(String, FieldId)>,
    settings: Arc<Settings>,
    typos: Typos,
    strategy: Strategy,
    postings_max: u64,
}

fn field(schema: &Schema, name: &str) -> Option<FieldId> {
    schema.find(name.as_bytes()).map(|(id, _)| id)
}

impl Meant {
    /// What a search means.
    ///
    /// # Errors
    /// It does not fit the settings.
    pub(super) fn of(
        ctx: &Context<'_, '_>,
        search: &Search,
        (uid, index): (&str, &Index),
        settings: &Arc<Settings>,
    ) -> Result<Meant> {
        search.check(uid, settings)?;
        let schema = &index.definition.schema;
        let strategy = strategy(search.strategy);
        let mut meant = Meant { strategy, settings: settings.clone(), ..Meant::default() };
        meant.read_words(search.q.as_deref().unwrap_or_default(), settings);
        if let Some(filter) = &search.filter {
            meant.filter = Some(filter.node(schema, settings.filterable(), "invalid_search_filter")?);
        }
        if let Some(names) = &search.searched {
            meant.fields = Some(searched(schema, names, uid)?);
        }
        let mut sort = Vec::new();
        for Sort { by, is_descending } in &search.sort {
            let SortBy::Attribute(attribute) = by else {
                return Err(Fault::unsupported("Sorting by distance (`_geoPoint`)").into());
            };
            sort.extend(sort_keys(schema, attribute, *is_descending));
        }
        meant.rank(schema, settings.rules(), sort);
        let distinct = search.distinct.as_deref().or(settings.distinct());
        meant.distinct = distinct.and_then(|attribute| field(schema, &tag_field(attribute)));
        for name in search.counted_facets(settings) {
            meant.facets.extend(field(schema, &tag_field(&name)).map(|id| (name.clone(), id)));
            meant.ranges.extend(field(schema, &number_field(&name)).map(|id| (name, id)));
        }
        meant.relevance_min = search.score_threshold;
        let typos = settings.typos();
        let size = |size: u64| usize::try_from(size).unwrap_or(usize::MAX);
        meant.typos =
            Typos { one_min: typos.is_enabled.then(|| size(typos.one_from)), two_min: size(typos.two_from) };
        let cap = ctx.shared.search.settings.instant_cap();
        meant.postings_max = if cap == 0 || search.is_exhaustive { u64::MAX } else { cap };
        Ok(meant)
    }

    /// How matches are ranked. What a search sorts by comes before all that the score says; rules of the index's own come before it, or
    /// break its ties.
    fn rank(&mut self, schema: &Schema, rules: &[Rule], mut sort: Vec<SortKey>) {
        let mut is_before = true;
        for rule in rules {
            is_before &= !rule.is_of_score();
            match rule {
                Rule::By { attribute, is_descending } => {
                    let keys = if is_before { &mut self.sort } else { &mut self.ties };
                    keys.extend(sort_keys(schema, attribute, *is_descending));
                }
                Rule::BuiltIn(BuiltIn::Sort) => self.sort.append(&mut sort),
                Rule::BuiltIn(_) => {}
            }
        }
        self.weights = weights(rules, !self.ties.is_empty());
    }

    fn read_words(&mut self, query: &str, settings: &Settings) {
        for part in parts(query) {
            self.read_part(&part);
        }
        self.is_open &= parts(query).last().is_some_and(|last| last.is_last)
            && settings.has_prefixes()
            && !query.ends_with(char::is_whitespace);
        // A last word that is being typed may become another one.
        let open = if self.is_open { self.words.pop() } else { None };
        let rest = without_runs(&self.words, settings.stop_runs());
        if open.is_some() || !rest.is_empty() || !self.phrases.is_empty() {
            self.words = rest;
        }
        self.words.extend(open);
    }

    fn read_part(&mut self, part: &Part<'_>) {
        let mut groups = groups_of_word(Analyzer::Instant, part.text.as_bytes());
        if part.is_phrase && !groups.is_empty() {
            groups = vec![groups.concat()];
        }
        for mut group in groups {
            let is_word = group.len() == 1 && !part.is_phrase && !part.is_negative;
            self.is_open = is_word;
            match (part.is_negative, group.len()) {
                (true, _) => self.negated.push(group),
                (false, _) if is_word => self.words.append(&mut group),
                (false, _) => self.phrases.push(group),
            }
        }
    }

    /// Runs `body` with the request of the pure search.
    pub(super) fn with_request<R>(
        &self,
        (offset, count): (usize, usize),
        (filter, meter): (Option<&[Bits]>, &Meter<'_>),
        body: impl FnOnce(&instant::Request<'_>) -> R,
    ) -> R {
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        let (negated, phrases) = (all_words(&self.negated), all_words(&self.phrases));
        let facets: Vec<FieldId> = self.facets.iter().map(|(_, field)| *field).collect();
        let ranges: Vec<FieldId> = self.ranges.iter().map(|(_, field)| *field).collect();
        let synonyms = |word: &str, visit: &mut dyn FnMut(&str)| {
            let known = self.settings.synonyms().iter().filter(|(other, _)| other == word);
            known.flat_map(|(_, others)| others).for_each(|other| visit(other));
        };
        body(&instant::Request {
            words: &words,
            is_open: self.is_open,
            phrases: &phrases,
            negated: &negated,
            filter,
            fields: self.fields.as_deref(),
            strategy: self.strategy,
            typos: self.typos,
            synonyms: &synonyms,
            popularity: None,
            weights: &self.weights,
            sort: &self.sort,
            ties: &self.ties,
            relevance_min: self.relevance_min,
            distinct: self.distinct,
            facets: &facets,
            // All, since they may be sorted by name before some are left out.
            facet_values_max: usize::MAX,
            ranges: &ranges,
            offset,
            count,
            postings_max: self.postings_max,
            meter,
        })
    }
}

/// The orders by an attribute: numbers first, then texts.
fn sort_keys(schema: &Schema, attribute: &str, is_descending: bool) -> impl Iterator<Item = SortKey> {
    let fields = [(number_field(attribute), true), (tag_field(attribute), false)];
    let keys = fields.map(|(name, is_number)| {
        field(schema, &name).map(|field| SortKey { field, is_number, is_descending })
    });
    keys.into_iter().flatten()
}

fn strategy(wanted: Wanted) -> Strategy {
    match wanted {
        Wanted::All => Strategy::All,
        Wanted::Last => Strategy::Last,
        Wanted::Frequency => Strategy::Frequency,
    }
}

/// The weights of the score: a rule that is not in the list counts for nothing. Where a rule breaks ties, neither does what no rule is about, or
/// there would hardly be ties.
fn weights(rules: &[Rule], has_ties: bool) -> Weights {
    let has = |names: &[BuiltIn]| {
        rules.iter().any(|rule| matches!(rule, Rule::BuiltIn(other) if names.contains(other)))
    };
    let mut weights = Weights::default();
    if !has(&[BuiltIn::Typo]) {
        weights.typo = 0;
    }
    if !has(&[BuiltIn::Proximity]) {
        weights.proximity = 0;
    }
    if !has(&[BuiltIn::Attribute, BuiltIn::AttributeRank]) {
        weights.field = [weights.field[0]; 4];
    }
    if !has(&[BuiltIn::Attribute, BuiltIn::WordPosition]) {
        weights.position = 0;
    }
    let has_exactness = has(&[BuiltIn::Exactness]);
    if !has_exactness {
        (weights.exact, weights.whole) = ([0; 4], 0);
    }
    if !has_exactness || has_ties {
        (weights.short, weights.extra, weights.occurrence) = (0, 0, 0);
    }
    weights
}

/// Words without runs of words that are left out.
fn without_runs(words: &[String], runs: &[Vec<String>]) -> Vec<String> {
    let mut kept = Vec::with_capacity(words.len());
    let mut rest = words;
    while let Some((word, behind)) = rest.split_first() {
        let run = runs.iter().filter(|run| rest.starts_with(run)).map(Vec::len).max();
        match run.and_then(|length| rest.get(length..)) {
            Some(behind) => rest = behind,
            None => {
                kept.push(word.clone());
                rest = behind;
            }
        }
    }
    kept
}

/// The text fields of attributes.
///
/// # Errors
/// One has none: documents had it after the index got its first ones, or never. The field of all such attributes would find words of others.
fn searched(schema: &Schema, names: &[String], uid: &str) -> Result<Vec<FieldId>> {
    let mut fields = Vec::new();
    for name in names {
        let count = fields.len();
        for (field, number) in schema.fields.iter().zip(0..) {
            let attribute = attribute_of_text(&field.name).filter(|attribute| *attribute != "*");
            if attribute
                .is_some_and(|attribute| is_attribute_of(name, attribute) || is_attribute_of(attribute, name))
            {
                fields.push(FieldId(number));
            }
        }
        if fields.len() == count {
            let known = known("searchable attributes", &seen(schema));
            let message = [
                "Index `",
                uid,
                "`: Attribute `",
                name,
                "` is not searchable by itself. ",
                &known,
                " Name others in the setting `searchableAttributes`.",
            ];
            return Err(Fault::new("invalid_search_attributes_to_search_on", message.concat()).into());
        }
    }
    Ok(fields)
}
