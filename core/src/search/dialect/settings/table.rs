//! Which settings there are, as data.

use serde_json::Value;

use crate::search::dialect::shape::Shape;

/// One setting.
#[derive(Debug, PartialEq)]
pub struct Setting {
    /// Its name in JSON.
    pub name: &'static str,
    /// Its name in paths.
    pub path: &'static str,
    /// The code of its errors.
    pub(super) code: &'static str,
    /// What it may be.
    pub(super) shape: Shape,
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

pub(super) const DISPLAYED: &str = "displayedAttributes";
pub(super) const SEARCHABLE: &str = "searchableAttributes";
pub(super) const FILTERABLE: &str = "filterableAttributes";
pub(super) const SORTABLE: &str = "sortableAttributes";
pub(super) const RULES: &str = "rankingRules";
pub(super) const STOP_WORDS: &str = "stopWords";
pub(super) const SYNONYMS: &str = "synonyms";
pub(super) const DISTINCT: &str = "distinctAttribute";
pub(super) const TYPOS: &str = "typoTolerance";
pub(super) const FACETING: &str = "faceting";
pub(super) const PAGINATION: &str = "pagination";
pub(super) const FACET_SEARCH: &str = "facetSearch";
pub(super) const PREFIX_SEARCH: &str = "prefixSearch";

const TYPO_SHAPE: Shape = Shape::Object(&[
    ("enabled", Shape::Truth),
    ("minWordSizeForTypos", Shape::Object(&[("oneTypo", Shape::Count), ("twoTypos", Shape::Count)])),
    fixed_member("disableOnWords", "[]"),
    fixed_member("disableOnAttributes", "[]"),
    fixed_member("disableOnNumbers", "false"),
]);

const FACETING_SHAPE: Shape = Shape::Object(&[
    ("maxValuesPerFacet", Shape::Count),
    ("sortFacetValuesBy", Shape::ChoiceByName(&["alpha", "count"])),
]);

/// An object in the list of filterable attributes.
pub(super) const FILTERABLE_SHAPE: Shape = Shape::Object(&[
    ("attributePatterns", Shape::Texts),
    (
        "features",
        Shape::Object(&[
            ("facetSearch", Shape::Truth),
            ("filter", Shape::Object(&[("equality", Shape::Truth), ("comparison", Shape::Truth)])),
        ]),
    ),
]);

/// A member that is its default always.
const fn fixed_member(name: &'static str, default: &'static str) -> (&'static str, Shape) {
    (name, Shape::Fixed(name, default))
}

/// The settings.
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
    fixed("proximityPrecision", "proximity-precision", r#""byWord""#),
    fixed("separatorTokens", "separator-tokens", "[]"),
    fixed("nonSeparatorTokens", "non-separator-tokens", "[]"),
    fixed("dictionary", "dictionary", "[]"),
    fixed("embedders", "embedders", "{}"),
    fixed("searchCutoffMs", "search-cutoff-ms", "null"),
    fixed("localizedAttributes", "localized-attributes", "null"),
];

/// A setting that is its default always: another value is refused.
const fn fixed(name: &'static str, path: &'static str, default: &'static str) -> Setting {
    setting(name, path, "feature_not_enabled", Shape::Fixed(name, default), default)
}

impl Setting {
    /// What it is unless a client says otherwise.
    pub(super) fn default(&self) -> Value {
        serde_json::from_str(self.default).unwrap_or_default()
    }
}
