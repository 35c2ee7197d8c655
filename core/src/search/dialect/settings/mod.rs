//! Settings of an index: what a client said of them, and what else holds.
//!
//! An index keeps this as JSON in its definition: only what a client has set is written, everything else is its default.
//!
//! ```text
//!  {"primaryKey":"id","createdAt":ms,"updatedAt":ms,"settings":{"sortableAttributes":["year"], …}}
//! ```

mod schema;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};

use super::fault::Fault;
use super::shape::{self, Shape};
pub use schema::{
    ALL_TEXTS, FACTS, GEO, attribute_of_text, is_attribute_of, number_field, seen, tag_field, text_field,
    words,
};

/// One setting.
#[derive(Debug, PartialEq)]
pub struct Setting {
    /// Its name in JSON.
    pub name: &'static str,
    /// Its name in paths.
    pub path: &'static str,
    /// The code of its errors.
    code: &'static str,
    /// What it may be.
    shape: Shape,
    /// What it is unless a client says otherwise, as JSON.
    default: &'static str,
}

const fn setting(
    name: &'static str,
    path: &'static str,
    code: &'static str,
    shape: Shape,
    default: &'static str,
) -> Setting {
    Setting { name, path, code, shape, default }
}

const DISPLAYED: &str = "displayedAttributes";
const SEARCHABLE: &str = "searchableAttributes";
const FILTERABLE: &str = "filterableAttributes";
const SORTABLE: &str = "sortableAttributes";
const RULES: &str = "rankingRules";
const STOP_WORDS: &str = "stopWords";
const SYNONYMS: &str = "synonyms";
const DISTINCT: &str = "distinctAttribute";
const TYPOS: &str = "typoTolerance";
const FACETING: &str = "faceting";
const PAGINATION: &str = "pagination";
const FACET_SEARCH: &str = "facetSearch";
const PREFIX_SEARCH: &str = "prefixSearch";

const TYPO_SHAPE: Shape = Shape::Object(&[
    ("enabled", Shape::Truth),
    ("minWordSizeForTypos", Shape::Object(&[("oneTypo", Shape::Count), ("twoTypos", Shape::Count)])),
    ("disableOnWords", Shape::Texts),
    ("disableOnAttributes", Shape::Texts),
    ("disableOnNumbers", Shape::Truth),
]);

const FACETING_SHAPE: Shape = Shape::Object(&[
    ("maxValuesPerFacet", Shape::Count),
    ("sortFacetValuesBy", Shape::ChoiceByName(&["alpha", "count"])),
]);

/// The settings. Those whose shape is one choice are known, and nothing can be made of another value here.
pub static SETTINGS: [Setting; 20] = [
    setting(
        DISPLAYED,
        "displayed-attributes",
        "invalid_settings_displayed_attributes",
        Shape::Texts,
        r#"["*"]"#,
    ),
    setting(
        SEARCHABLE,
        "searchable-attributes",
        "invalid_settings_searchable_attributes",
        Shape::Texts,
        r#"["*"]"#,
    ),
    setting(FILTERABLE, "filterable-attributes", "invalid_settings_filterable_attributes", Shape::Any, "[]"),
    setting(SORTABLE, "sortable-attributes", "invalid_settings_sortable_attributes", Shape::Texts, "[]"),
    setting(
        RULES,
        "ranking-rules",
        "invalid_settings_ranking_rules",
        Shape::Texts,
        r#"["words","typo","proximity","attribute","sort","exactness"]"#,
    ),
    setting(STOP_WORDS, "stop-words", "invalid_settings_stop_words", Shape::Texts, "[]"),
    setting(SYNONYMS, "synonyms", "invalid_settings_synonyms", Shape::TextsByName, "{}"),
    setting(DISTINCT, "distinct-attribute", "invalid_settings_distinct_attribute", Shape::Text, "null"),
    setting(
        TYPOS,
        "typo-tolerance",
        "invalid_settings_typo_tolerance",
        TYPO_SHAPE,
        r#"{"enabled":true,"minWordSizeForTypos":{"oneTypo":5,"twoTypos":9},"disableOnWords":[],"disableOnAttributes":[],"disableOnNumbers":false}"#,
    ),
    setting(
        FACETING,
        "faceting",
        "invalid_settings_faceting",
        FACETING_SHAPE,
        r#"{"maxValuesPerFacet":100,"sortFacetValuesBy":{"*":"alpha"}}"#,
    ),
    setting(
        PAGINATION,
        "pagination",
        "invalid_settings_pagination",
        Shape::Object(&[("maxTotalHits", Shape::Count)]),
        r#"{"maxTotalHits":1000}"#,
    ),
    setting(FACET_SEARCH, "facet-search", "invalid_settings_facet_search", Shape::Truth, "true"),
    setting(
        PREFIX_SEARCH,
        "prefix-search",
        "invalid_settings_prefix_search",
        Shape::Choice(&["indexingTime", "disabled"]),
        r#""indexingTime""#,
    ),
    setting(
        "proximityPrecision",
        "proximity-precision",
        "invalid_settings_proximity_precision",
        Shape::Choice(&["byWord"]),
        r#""byWord""#,
    ),
    fixed("separatorTokens", "separator-tokens", "[]"),
    fixed("nonSeparatorTokens", "non-separator-tokens", "[]"),
    fixed("dictionary", "dictionary", "[]"),
    fixed("embedders", "embedders", "{}"),
    fixed("searchCutoffMs", "search-cutoff-ms", "null"),
    fixed("localizedAttributes", "localized-attributes", "null"),
];

/// A setting that is its default always: another value is refused.
const fn fixed(name: &'static str, path: &'static str, default: &'static str) -> Setting {
    setting(name, path, "feature_not_enabled", Shape::Object(&[]), default)
}

impl Setting {
    fn is_fixed(&self) -> bool {
        self.code == "feature_not_enabled"
    }

    fn default(&self) -> Value {
        serde_json::from_str(self.default).unwrap_or_default()
    }
}

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

/// A rule by which results are ranked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rule {
    /// One of Meilisearch's own, by name.
    BuiltIn(String),
    /// By the number in an attribute.
    By {
        /// The attribute.
        attribute: String,
        /// Whether larger numbers are better.
        is_descending: bool,
    },
}

const BUILT_IN: [&str; 8] =
    ["words", "typo", "proximity", "attribute", "attributeRank", "wordPosition", "sort", "exactness"];

/// The settings of an index, its primary key, and when it was made.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Settings {
    /// The attribute that tells documents apart; unknown until documents come.
    pub primary_key: Option<String>,
    /// Unix time in milliseconds at which the index was made.
    pub created_at_ms: u64,
    /// Unix time in milliseconds of the last change of these settings.
    pub updated_at_ms: u64,
    /// What a client has set.
    given: Map<String, Value>,
}

impl Settings {
    /// Those of a new index.
    pub fn new(primary_key: Option<String>, now_ms: u64) -> Settings {
        Settings { primary_key, created_at_ms: now_ms, updated_at_ms: now_ms, given: Map::new() }
    }

    /// Reads what [`Settings::text`] wrote; None for anything else.
    pub fn parse(text: &[u8]) -> Option<Settings> {
        let mut value: Value = serde_json::from_slice(text).ok()?;
        let number = |name: &str| value.get(name).and_then(Value::as_u64);
        let (created_at_ms, updated_at_ms) = (number("createdAt")?, number("updatedAt")?);
        let primary_key = value.get("primaryKey").and_then(Value::as_str).map(str::to_owned);
        let Value::Object(given) = value.get_mut("settings")?.take() else { return None };
        Some(Settings { primary_key, created_at_ms, updated_at_ms, given })
    }

    /// The settings as they are stored.
    pub fn text(&self) -> Vec<u8> {
        let text = json!({
            "primaryKey": self.primary_key,
            "createdAt": self.created_at_ms,
            "updatedAt": self.updated_at_ms,
            "settings": self.given,
        });
        text.to_string().into_bytes()
    }

    /// The value of one setting.
    pub fn get(&self, setting: &Setting) -> Value {
        let mut value = setting.default();
        if let Some(given) = self.given.get(setting.name) {
            overlay(&mut value, given, setting.shape);
        }
        value
    }

    /// All of them, as GET …/settings answers.
    pub fn all(&self) -> Value {
        Value::Object(SETTINGS.iter().map(|setting| (setting.name.to_owned(), self.get(setting))).collect())
    }

    /// Changes those that an object names; null makes one its default again.
    ///
    /// # Errors
    /// One of them cannot be so; then none is changed.
    pub fn update(&mut self, patch: &Value) -> Result<(), Fault> {
        let Value::Object(members) = patch else {
            return Err(shape::wrong_type(patch, "an object", "", "bad_request"));
        };
        let mut changed = self.clone();
        for (name, value) in members {
            let Some(setting) = SETTINGS.iter().find(|setting| setting.name == name) else {
                if matches!(name.as_str(), "foreignKeys" | "chat") && value.is_null() {
                    continue;
                }
                return Err(shape::unknown_field(
                    name,
                    SETTINGS.iter().map(|setting| setting.name),
                    "",
                    "bad_request",
                ));
            };
            changed.set_at(setting, value, &[".", name].concat())?;
        }
        *self = changed;
        Ok(())
    }

    /// Changes one setting; null makes it its default again.
    ///
    /// # Errors
    /// It cannot be so.
    pub fn set(&mut self, setting: &'static Setting, value: &Value) -> Result<(), Fault> {
        self.set_at(setting, value, "")
    }

    fn set_at(&mut self, setting: &'static Setting, value: &Value, path: &str) -> Result<(), Fault> {
        if value.is_null() {
            self.given.remove(setting.name);
            return Ok(());
        }
        if setting.is_fixed() {
            let is_default = *value == setting.default();
            return if is_default {
                Ok(())
            } else {
                Err(Fault::unsupported(&["The setting `", setting.name, "`"].concat()))
            };
        }
        shape::check(value, setting.shape, path, setting.code)?;
        match setting.name {
            RULES => check_rules(value, path, setting.code)?,
            FILTERABLE => check_filterable(value, path, setting.code)?,
            TYPOS => check_typos(setting, value, path)?,
            _ => {}
        }
        match setting.shape {
            Shape::Object(_) => {
                let given = self.given.entry(setting.name).or_insert_with(|| json!({}));
                overlay(given, value, setting.shape);
            }
            _ => drop(self.given.insert(setting.name.to_owned(), value.clone())),
        }
        Ok(())
    }

    /// Makes all of them their defaults again.
    pub fn reset_all(&mut self) {
        self.given.clear();
    }

    fn named(&self, name: &str) -> Value {
        SETTINGS.iter().find(|setting| setting.name == name).map_or(Value::Null, |setting| self.get(setting))
    }

    /// The attributes of a list, without an asterisk; None if one stands in it.
    fn attributes(&self, name: &str) -> Option<Vec<String>> {
        let mut names = shape::texts(&self.named(name));
        let has_all = names.iter().any(|name| name == "*");
        let mut at = 0;
        while at < names.len() {
            let (before, rest) = names.split_at(at);
            match rest.first().is_some_and(|name| before.contains(name)) {
                true => drop(names.remove(at)),
                false => at += 1,
            }
        }
        (!has_all).then_some(names)
    }

    /// The attributes that are searched, the most important ones first; None for all.
    pub fn searchable(&self) -> Option<Vec<String>> {
        self.attributes(SEARCHABLE)
    }

    /// The attributes that are shown; None for all.
    pub fn displayed(&self) -> Option<Vec<String>> {
        self.attributes(DISPLAYED)
    }

    /// The attributes that filters and facets may name.
    pub fn filterable(&self) -> Vec<String> {
        let value = self.named(FILTERABLE);
        let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
        let mut names: Vec<String> = Vec::new();
        for item in items {
            let found = match item {
                Value::String(name) => vec![name.clone()],
                granular => granular.get("attributePatterns").map(shape::texts).unwrap_or_default(),
            };
            for name in found {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }

    /// The attributes by which results may be sorted.
    pub fn sortable(&self) -> Vec<String> {
        self.attributes(SORTABLE).unwrap_or_default()
    }

    /// How results are ranked.
    pub fn rules(&self) -> Vec<Rule> {
        shape::texts(&self.named(RULES)).iter().filter_map(|text| rule(text)).collect()
    }

    /// Words that queries leave out.
    pub fn stop_words(&self) -> Vec<String> {
        shape::texts(&self.named(STOP_WORDS))
    }

    /// What words stand for: each with the texts that mean the same.
    pub fn synonyms(&self) -> Vec<(String, Vec<String>)> {
        let value = self.named(SYNONYMS);
        let members = value.as_object().into_iter().flatten();
        members.map(|(word, others)| (word.clone(), shape::texts(others))).collect()
    }

    /// Of documents that are equal in this attribute, one is shown.
    pub fn distinct(&self) -> Option<String> {
        self.named(DISTINCT).as_str().map(str::to_owned)
    }

    /// How many typos words may have.
    pub fn typos(&self) -> Typos {
        let value = self.named(TYPOS);
        let member = |name: &str| value.get(name).cloned().unwrap_or_default();
        let sizes = member("minWordSizeForTypos");
        let size = |name: &str, default| sizes.get(name).and_then(Value::as_u64).unwrap_or(default);
        Typos {
            is_enabled: member("enabled") != Value::Bool(false),
            one_from: size("oneTypo", 5),
            two_from: size("twoTypos", 9),
        }
    }

    /// So many hits of a search can be seen at most.
    pub fn max_total_hits(&self) -> u64 {
        self.named(PAGINATION).get("maxTotalHits").and_then(Value::as_u64).unwrap_or(1000)
    }

    /// So many values of a facet are counted at most.
    pub fn max_values_per_facet(&self) -> u64 {
        self.named(FACETING).get("maxValuesPerFacet").and_then(Value::as_u64).unwrap_or(100)
    }

    /// Whether the values of a facet are sorted by how often they occur, not by themselves.
    pub fn is_facet_by_count(&self, facet: &str) -> bool {
        let value = self.named(FACETING);
        let orders = value.get("sortFacetValuesBy");
        let order = |name: &str| orders.and_then(|orders| orders.get(name)).and_then(Value::as_str);
        order(facet).or_else(|| order("*")) == Some("count")
    }

    /// Whether facets may be searched.
    pub fn has_facet_search(&self) -> bool {
        self.named(FACET_SEARCH) != Value::Bool(false)
    }

    /// Whether the last word of a query is a prefix.
    pub fn has_prefixes(&self) -> bool {
        self.named(PREFIX_SEARCH) != "disabled"
    }
}

/// Puts what is given over a value: of objects with a shape, member by member, where null takes one away.
fn overlay(value: &mut Value, given: &Value, shape: Shape) {
    let members: &[(&str, Shape)] = match shape {
        Shape::Object(members) => members,
        Shape::ChoiceByName(_) => &[],
        _ => {
            *value = given.clone();
            return;
        }
    };
    let (Value::Object(into), Value::Object(from)) = (value, given) else { return };
    for (name, given) in from {
        if given.is_null() {
            into.remove(name);
            continue;
        }
        let inner = members.iter().find(|(member, _)| member == name).map_or(Shape::Any, |(_, shape)| *shape);
        overlay(into.entry(name.as_str()).or_insert_with(|| json!({})), given, inner);
    }
}

fn rule(text: &str) -> Option<Rule> {
    if BUILT_IN.contains(&text) {
        return Some(Rule::BuiltIn(text.to_owned()));
    }
    let (attribute, order) = text.rsplit_once(':')?;
    let is_descending = match order {
        "asc" => false,
        "desc" => true,
        _ => return None,
    };
    let is_attribute = !attribute.is_empty() && !attribute.starts_with("_geo");
    is_attribute.then(|| Rule::By { attribute: attribute.to_owned(), is_descending })
}

fn check_rules(value: &Value, path: &str, code: &'static str) -> Result<(), Fault> {
    for (at, text) in shape::texts(value).iter().enumerate() {
        if rule(text).is_none() {
            let place = shape::element(path, at);
            return Err(Fault::new(
                code,
                [
                    "Invalid value at `",
                    &place,
                    "`: `",
                    shape::shorten(text),
                    "` ranking rule is invalid. Valid ranking rules are words, typo, sort, proximity, attribute, exactness and custom ranking rules.",
                ]
                .concat(),
            ));
        }
    }
    Ok(())
}

fn check_filterable(value: &Value, path: &str, code: &'static str) -> Result<(), Fault> {
    let Value::Array(items) = value else { return Err(shape::wrong_type(value, "an array", path, code)) };
    for (at, item) in items.iter().enumerate() {
        let place = shape::element(path, at);
        let names = match item {
            Value::String(name) => vec![name.clone()],
            Value::Object(members) => {
                let patterns = members.get("attributePatterns").unwrap_or(&Value::Null);
                shape::check(patterns, Shape::Texts, &[&place, ".attributePatterns"].concat(), code)?;
                shape::texts(patterns)
            }
            other => return Err(shape::wrong_type(other, "a string or an object", &place, code)),
        };
        if let Some(pattern) = names.iter().find(|name| name.contains('*')) {
            return Err(Fault::unsupported(
                &["The pattern `", shape::shorten(pattern), "` for attributes"].concat(),
            ));
        }
    }
    Ok(())
}

fn check_typos(setting: &Setting, value: &Value, path: &str) -> Result<(), Fault> {
    // Members that stay as they are.
    let default = setting.default();
    for name in ["disableOnWords", "disableOnAttributes", "disableOnNumbers"] {
        let given = value.get(name).filter(|given| !given.is_null());
        if given.is_some_and(|given| Some(given) != default.get(name)) {
            return Err(Fault::unsupported(&["The setting `", name, "`"].concat()));
        }
    }
    let sizes = value.get("minWordSizeForTypos");
    let size = |name: &str| sizes.and_then(|sizes| sizes.get(name)).and_then(Value::as_u64);
    let (one, two) = (size("oneTypo").unwrap_or(0), size("twoTypos").unwrap_or(255));
    if one <= two && two <= 255 {
        return Ok(());
    }
    Err(Fault::new(
        setting.code,
        [
            "`",
            path,
            ".minWordSizeForTypos` setting is invalid. `oneTypo` and `twoTypos` fields should be between `0` and `255`, and `twoTypos` should be greater or equals to `oneTypo`.",
        ]
        .concat(),
    ))
}
