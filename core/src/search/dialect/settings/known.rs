//! What settings say, read once from JSON, as requests need it.

use serde_json::{Map, Value};

use super::rules::Rule;
use super::table::{
    DISPLAYED, DISTINCT, FACET_SEARCH, FACETING, FILTERABLE, PAGINATION, PREFIX_SEARCH, RULES, SEARCHABLE,
    SETTINGS, SORTABLE, STOP_WORDS, SYNONYMS, TYPOS,
};
use super::{Settings, value_of};
use crate::search::dialect::shape;
use crate::search::text::instant as analyzer;

/// How many typos words may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Typos {
    /// Whether any.
    pub is_enabled: bool,
    /// Words of so many characters may have one.
    pub one_from: u64,
    /// Words of so many may have two.
    pub two_from: u64,
}

/// An attribute that filters and facets may name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filterable {
    /// The attribute.
    pub attribute: String,
    /// Whether its values may be searched.
    pub has_facet_search: bool,
    /// Whether a filter may ask whether it is a value.
    pub has_equality: bool,
    /// Whether a filter may ask whether it is greater or less than a number.
    pub has_comparison: bool,
}

/// The settings as values of types.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Known {
    searchable: Option<Vec<String>>,
    displayed: Option<Vec<String>>,
    filterable: Vec<Filterable>,
    sortable: Vec<String>,
    rules: Vec<Rule>,
    stop_words: Vec<String>,
    stop_runs: Vec<Vec<String>>,
    synonyms: Vec<(String, Vec<String>)>,
    distinct: Option<String>,
    typos: Typos,
    max_total_hits: u64,
    max_values_per_facet: u64,
    /// The facets, or `*`, and whether their values are sorted by how often they occur.
    facet_orders: Vec<(String, bool)>,
    has_facet_search: bool,
    has_prefixes: bool,
}

impl Known {
    /// What a client's settings say.
    pub(super) fn of(given: &Map<String, Value>) -> Known {
        let named = |name: &str| {
            let setting = SETTINGS.iter().find(|setting| setting.name == name);
            setting.map_or(Value::Null, |setting| value_of(setting, given))
        };
        let (faceting, stop_words) = (named(FACETING), shape::texts(&named(STOP_WORDS)));
        let orders = faceting.get("sortFacetValuesBy").and_then(Value::as_object).into_iter().flatten();
        Known {
            searchable: attributes(&named(SEARCHABLE)),
            displayed: attributes(&named(DISPLAYED)),
            filterable: filterable(&named(FILTERABLE)),
            sortable: attributes(&named(SORTABLE)).unwrap_or_default(),
            rules: shape::texts(&named(RULES)).iter().filter_map(|text| Rule::parse(text)).collect(),
            stop_runs: stop_words
                .iter()
                .map(|text| folded_words(text))
                .filter(|run| !run.is_empty())
                .collect(),
            stop_words,
            synonyms: synonyms(&named(SYNONYMS)),
            distinct: named(DISTINCT).as_str().map(str::to_owned),
            typos: typos(&named(TYPOS)),
            max_total_hits: named(PAGINATION).get("maxTotalHits").and_then(Value::as_u64).unwrap_or(1000),
            max_values_per_facet: faceting.get("maxValuesPerFacet").and_then(Value::as_u64).unwrap_or(100),
            facet_orders: orders.map(|(facet, order)| (facet.clone(), order == "count")).collect(),
            has_facet_search: named(FACET_SEARCH) != Value::Bool(false),
            has_prefixes: named(PREFIX_SEARCH) != "disabled",
        }
    }
}

/// The words of a text as the index folds them.
pub(super) fn folded_words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    analyzer::words(text.as_bytes(), analyzer::Source::Query, &mut |token| words.push(token.text.to_owned()));
    words
}

/// The attributes of a list, each once; None if an asterisk stands in it.
fn attributes(value: &Value) -> Option<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    for name in shape::texts(value) {
        if name == "*" {
            return None;
        }
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Some(names)
}

fn filterable(value: &Value) -> Vec<Filterable> {
    let mut all: Vec<Filterable> = Vec::new();
    for item in value.as_array().map(Vec::as_slice).unwrap_or_default() {
        let (names, features) = match item {
            Value::String(name) => (vec![name.clone()], None),
            granular => (
                granular.get("attributePatterns").map(shape::texts).unwrap_or_default(),
                Some(granular.get("features").unwrap_or(&Value::Null)),
            ),
        };
        // An attribute without an object may be used in each way, one with an object as that says.
        let may = |pointer: &str, default: bool| {
            let given = |features: &Value| features.pointer(pointer).and_then(Value::as_bool);
            features.is_none_or(|features| given(features).unwrap_or(default))
        };
        for attribute in names {
            if all.iter().all(|other| other.attribute != attribute) {
                all.push(Filterable {
                    attribute,
                    has_facet_search: may("/facetSearch", false),
                    has_equality: may("/filter/equality", true),
                    has_comparison: may("/filter/comparison", false),
                });
            }
        }
    }
    all
}

fn synonyms(value: &Value) -> Vec<(String, Vec<String>)> {
    let one = |text: &str| folded_words(text).into_iter().next();
    let members = value.as_object().into_iter().flatten();
    let folded = members.filter_map(|(word, others)| {
        Some((one(word)?, shape::texts(others).iter().filter_map(|other| one(other)).collect()))
    });
    folded.collect()
}

fn typos(value: &Value) -> Typos {
    let size = |pointer: &str, default| value.pointer(pointer).and_then(Value::as_u64).unwrap_or(default);
    Typos {
        is_enabled: value.get("enabled") != Some(&Value::Bool(false)),
        one_from: size("/minWordSizeForTypos/oneTypo", 5),
        two_from: size("/minWordSizeForTypos/twoTypos", 9),
    }
}

impl Settings {
    /// The attributes that are searched, the most important ones first; None for all.
    pub fn searchable(&self) -> Option<&[String]> {
        self.known.searchable.as_deref()
    }

    /// The attributes that are shown; None for all.
    pub fn displayed(&self) -> Option<&[String]> {
        self.known.displayed.as_deref()
    }

    /// The attributes that filters and facets may name.
    pub fn filterable(&self) -> &[Filterable] {
        &self.known.filterable
    }

    /// The attributes by which results may be sorted.
    pub fn sortable(&self) -> &[String] {
        &self.known.sortable
    }

    /// How results are ranked.
    pub fn rules(&self) -> &[Rule] {
        &self.known.rules
    }

    /// Words that queries leave out, as they were given.
    pub fn stop_words(&self) -> &[String] {
        &self.known.stop_words
    }

    /// The same as the index folds them: some are several words to it, and are left out where all of them stand.
    pub fn stop_runs(&self) -> &[Vec<String>] {
        &self.known.stop_runs
    }

    /// What words stand for: each with those that mean the same, as the index folds them.
    pub fn synonyms(&self) -> &[(String, Vec<String>)] {
        &self.known.synonyms
    }

    /// Of documents that share a value of this attribute, one is shown.
    pub fn distinct(&self) -> Option<&str> {
        self.known.distinct.as_deref()
    }

    /// How many typos words may have.
    pub fn typos(&self) -> &Typos {
        &self.known.typos
    }

    /// So many hits of a search can be seen at most.
    pub fn max_total_hits(&self) -> u64 {
        self.known.max_total_hits
    }

    /// So many values of a facet are counted at most.
    pub fn max_values_per_facet(&self) -> u64 {
        self.known.max_values_per_facet
    }

    /// Whether the values of a facet are sorted by how often they occur, not by themselves.
    pub fn is_facet_by_count(&self, facet: &str) -> bool {
        let order = |name: &str| self.known.facet_orders.iter().find(|(other, _)| other == name);
        order(facet).or_else(|| order("*")).is_some_and(|(_, is_by_count)| *is_by_count)
    }

    /// Whether facets may be searched.
    pub fn has_facet_search(&self) -> bool {
        self.known.has_facet_search
    }

    /// Whether the last word of a query is a prefix.
    pub fn has_prefixes(&self) -> bool {
        self.known.has_prefixes
    }
}
