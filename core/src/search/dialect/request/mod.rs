//! Searches: what a body or the parameters of a path ask for.
//!
//! A table says for each member its type and the code of its errors. Members that only other search engines of this dialect know (vectors,
//! federation, personalization) are refused by name when they ask for anything.

mod pages;
mod sort;
#[cfg(test)]
mod tests;
mod words;

use serde_json::{Map, Value};

pub use pages::{Page, page};
pub use sort::{Sort, SortBy};
pub use words::{Part, parts};

use super::fault::Fault;
use super::filter::Filter;
use super::settings::{BuiltIn, Rule, Settings};
use super::shape::{self, Shape};

/// One multi-search has so many searches at most: an InstantSearch page sends one for each index and each facet that is refined.
const QUERIES_MAX: usize = 128;

/// Which words of a query documents must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Strategy {
    /// All; if that gives too few documents, all but the last one, and so on.
    #[default]
    Last,
    /// All.
    All,
    /// As `Last`, but the most frequent words are left out first.
    Frequency,
}

/// An attribute of which a part is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crop {
    /// The attribute, or `*`.
    pub attribute: String,
    /// How many words stay.
    pub words: usize,
}

/// A search, checked without an index.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Search {
    /// The index, of a search in a multi-search.
    pub index_uid: Option<String>,
    /// What is searched for; None for all documents.
    pub q: Option<String>,
    /// How many hits are left out.
    pub offset: u64,
    /// How many are shown.
    pub limit: u64,
    /// The page, from 1 on.
    pub page: Option<u64>,
    /// How many hits a page has.
    pub hits_per_page: Option<u64>,
    /// The attributes that are shown; None for all.
    pub retrieved: Option<Vec<String>>,
    /// The attributes of which a part is shown.
    pub cropped: Vec<Crop>,
    /// What stands for the text that is left out.
    pub crop_marker: String,
    /// The attributes in which matches are marked.
    pub highlighted: Vec<String>,
    /// What stands before a match.
    pub pre_tag: String,
    /// What stands behind it.
    pub post_tag: String,
    /// Whether hits say where they match.
    pub shows_positions: bool,
    /// Whether hits say how well they match.
    pub shows_score: bool,
    /// Hits that match less well are left out.
    pub score_threshold: Option<f64>,
    /// The facets that are counted.
    pub facets: Vec<String>,
    /// A condition.
    pub filter: Option<Filter>,
    /// The order of hits, before or among the rules of the index.
    pub sort: Vec<Sort>,
    /// Which words must match.
    pub strategy: Strategy,
    /// The only attributes in which words are searched for.
    pub searched: Option<Vec<String>>,
    /// Of documents that are equal in this attribute, one is shown.
    pub distinct: Option<String>,
    /// The facet whose values are searched, of a facet search.
    pub facet_name: Option<String>,
    /// The beginning of these values.
    pub facet_query: Option<String>,
    /// Whether they are counted without a bound of work.
    pub is_exhaustive: bool,
}

/// A member of a search: its name, what it may be, and the code of its errors.
struct Member {
    name: &'static str,
    shape: Shape,
    code: &'static str,
}

const fn member(name: &'static str, shape: Shape, code: &'static str) -> Member {
    Member { name, shape, code }
}

/// Of members without a code nothing may be asked for.
const UNSUPPORTED: &str = "";

const MEMBERS: [Member; 34] = [
    member("q", Shape::Text, "invalid_search_q"),
    member("offset", Shape::Count, "invalid_search_offset"),
    member("limit", Shape::Count, "invalid_search_limit"),
    member("page", Shape::Count, "invalid_search_page"),
    member("hitsPerPage", Shape::Count, "invalid_search_hits_per_page"),
    member("attributesToRetrieve", Shape::Texts, "invalid_search_attributes_to_retrieve"),
    member("attributesToCrop", Shape::Texts, "invalid_search_attributes_to_crop"),
    member("cropLength", Shape::Count, "invalid_search_crop_length"),
    member("cropMarker", Shape::Text, "invalid_search_crop_marker"),
    member("attributesToHighlight", Shape::Texts, "invalid_search_attributes_to_highlight"),
    member("highlightPreTag", Shape::Text, "invalid_search_highlight_pre_tag"),
    member("highlightPostTag", Shape::Text, "invalid_search_highlight_post_tag"),
    member("showMatchesPosition", Shape::Truth, "invalid_search_show_matches_position"),
    member("showRankingScore", Shape::Truth, "invalid_search_show_ranking_score"),
    member("rankingScoreThreshold", Shape::Number, "invalid_search_ranking_score_threshold"),
    member("facets", Shape::Texts, "invalid_search_facets"),
    member("filter", Shape::Any, "invalid_search_filter"),
    member("sort", Shape::Texts, "invalid_search_sort"),
    member(
        "matchingStrategy",
        Shape::Choice(&["last", "all", "frequency"]),
        "invalid_search_matching_strategy",
    ),
    member("attributesToSearchOn", Shape::Texts, "invalid_search_attributes_to_search_on"),
    member("distinct", Shape::Text, "invalid_search_distinct"),
    member("facetName", Shape::Text, "invalid_facet_search_facet_name"),
    member("facetQuery", Shape::Text, "invalid_facet_search_facet_query"),
    member("indexUid", Shape::Text, "invalid_index_uid"),
    member("exhaustiveFacetCount", Shape::Truth, "invalid_facet_search_exhaustive_facet_count"),
    member("locales", Shape::Texts, UNSUPPORTED),
    member("showRankingScoreDetails", Shape::Truth, UNSUPPORTED),
    member("showPerformanceDetails", Shape::Truth, UNSUPPORTED),
    member("retrieveVectors", Shape::Truth, UNSUPPORTED),
    member("vector", Shape::Any, UNSUPPORTED),
    member("hybrid", Shape::Any, UNSUPPORTED),
    member("federationOptions", Shape::Any, UNSUPPORTED),
    member("personalize", Shape::Any, UNSUPPORTED),
    member("media", Shape::Any, UNSUPPORTED),
];

/// Members of searches in the values of a facet alone. Those may have all others, too, of which the ones about hits say nothing: clients
/// send the search of the page along.
const FACET_MEMBERS: [&str; 3] = ["facetName", "facetQuery", "exhaustiveFacetCount"];

/// Reads the body of a search.
///
/// # Errors
/// It asks for something that there is not.
pub fn parse_search(body: &[u8]) -> Result<Search, Fault> {
    // A search without a body finds all documents.
    if body.trim_ascii().is_empty() {
        return read(&Map::new(), "");
    }
    object(&shape::parse(body)?, "").and_then(|members| read_hits(members, ""))
}

/// Reads a search whose answer is hits.
fn read_hits(members: &Map<String, Value>, path: &str) -> Result<Search, Fault> {
    if let Some(name) = members.keys().find(|name| FACET_MEMBERS.contains(&name.as_str())) {
        let names = MEMBERS.iter().map(|member| member.name).filter(|name| !FACET_MEMBERS.contains(name));
        return Err(shape::unknown_field(name, names, path, "bad_request"));
    }
    read(members, path)
}

/// Reads the body of a search in the values of a facet.
///
/// # Errors
/// It asks for something that there is not, or names no facet.
pub fn parse_facet_search(body: &[u8]) -> Result<Search, Fault> {
    let value = shape::parse(body)?;
    let search = read(object(&value, "")?, "")?;
    match search.facet_name {
        Some(_) => Ok(search),
        None => Err(Fault::new("missing_facet_search_facet_name", "Missing field `facetName`")),
    }
}

/// Reads the body of a multi-search: searches that each name their index.
///
/// # Errors
/// One of them asks for something that there is not.
pub fn parse_multi_search(body: &[u8]) -> Result<Vec<Search>, Fault> {
    let value = shape::parse(body)?;
    for (name, value) in object(&value, "")? {
        match name.as_str() {
            "queries" => {}
            "federation" if value.is_null() => {}
            "federation" => return Err(Fault::unsupported("Federated search (the member `federation`)")),
            other => {
                return Err(shape::unknown_field(
                    other,
                    ["queries", "federation"].into_iter(),
                    "",
                    "bad_request",
                ));
            }
        }
    }
    let queries = match value.get("queries") {
        Some(Value::Array(queries)) => queries,
        Some(other) => return Err(shape::wrong_type(other, "an array", ".queries", "bad_request")),
        None => return Err(Fault::new("bad_request", "Missing field `queries`")),
    };
    if queries.len() > QUERIES_MAX {
        return Err(Fault::new("bad_request", "A multi-search has 128 queries at most."));
    }
    let mut searches = Vec::with_capacity(queries.len());
    for (at, query) in queries.iter().enumerate() {
        let path = shape::element(".queries", at);
        let search = read_hits(object(query, &path)?, &path)?;
        match &search.index_uid {
            Some(uid) => super::route::check_uid(uid)?,
            None => {
                return Err(Fault::new(
                    "missing_index_uid",
                    ["Missing field `indexUid` inside `", &path, "`"].concat(),
                ));
            }
        }
        searches.push(search);
    }
    Ok(searches)
}

/// Reads a search from the parameters of a path.
///
/// # Errors
/// It asks for something that there is not.
pub fn parse_parameters(parameters: &[(String, String)]) -> Result<Search, Fault> {
    let mut members = Map::new();
    for (name, text) in parameters {
        let member = MEMBERS.iter().find(|member| member.name == name);
        let shape = member.map_or(Shape::Any, |member| member.shape);
        let wrong = |what: &str| {
            let known = member.filter(|member| member.code != UNSUPPORTED);
            let code = known.map_or("bad_request", |member| member.code);
            let text = shape::shorten(text);
            Fault::new(
                code,
                ["Invalid value in parameter `", name, "`: could not parse `", text, "` as ", what].concat(),
            )
        };
        let value = match shape {
            Shape::Count => text.parse::<u64>().map_err(|_| wrong("a positive integer"))?.into(),
            Shape::Number => text.parse::<f64>().map_err(|_| wrong("a number"))?.into(),
            Shape::Truth => text.parse::<bool>().map_err(|_| wrong("a boolean"))?.into(),
            Shape::Texts if text.is_empty() => Value::Array(Vec::new()),
            // A point to sort by has a comma of its own.
            Shape::Texts => split_list(text).into_iter().map(Value::from).collect::<Vec<_>>().into(),
            // An array of filters may be written as JSON.
            _ if name == "filter" => serde_json::from_str::<Vec<Value>>(text)
                .map_or_else(|_| Value::from(text.as_str()), Value::Array),
            _ => Value::from(text.as_str()),
        };
        members.insert(name.clone(), value);
    }
    read_hits(&members, "")
}

/// Splits at commas that stand outside of parentheses.
pub fn split_list(text: &str) -> Vec<&str> {
    let mut depth = 0_u32;
    let is_end = |character: char| {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        character == ',' && depth == 0
    };
    text.split(is_end).map(str::trim).collect()
}

fn object<'v>(value: &'v Value, path: &str) -> Result<&'v Map<String, Value>, Fault> {
    value.as_object().ok_or_else(|| shape::wrong_type(value, "an object", path, "bad_request"))
}

fn read(members: &Map<String, Value>, path: &str) -> Result<Search, Fault> {
    for (name, value) in members {
        let Some(member) = MEMBERS.iter().find(|member| member.name == name) else {
            return Err(shape::unknown_field(
                name,
                MEMBERS.iter().map(|member| member.name),
                path,
                "bad_request",
            ));
        };
        if member.code != UNSUPPORTED {
            shape::check(value, member.shape, &[path, ".", name].concat(), member.code)?;
        } else if !asks_nothing(value) {
            return Err(Fault::unsupported(&["The search parameter `", name, "`"].concat()));
        }
    }
    let given = |name: &str| members.get(name).filter(|value| !value.is_null());
    let text = |name: &str| given(name).and_then(Value::as_str).map(str::to_owned);
    let count = |name: &str| given(name).and_then(Value::as_u64);
    let texts = |name: &str| given(name).map(shape::texts);
    let truth = |name: &str| given(name) == Some(&Value::Bool(true));
    let crop_length = count("cropLength").unwrap_or(10);
    let score_threshold = given("rankingScoreThreshold").and_then(Value::as_f64);
    if score_threshold.is_some_and(|threshold| !(0.0..=1.0).contains(&threshold)) {
        return Err(Fault::new(
            "invalid_search_ranking_score_threshold",
            ["Invalid value at `", path, ".rankingScoreThreshold`: the value of `rankingScoreThreshold` is invalid, expected a float between `0.0` and `1.0`."].concat(),
        ));
    }
    Ok(Search {
        index_uid: text("indexUid"),
        q: text("q"),
        offset: count("offset").unwrap_or(0),
        limit: count("limit").unwrap_or(20),
        page: count("page"),
        hits_per_page: count("hitsPerPage"),
        retrieved: texts("attributesToRetrieve").filter(|names| !names.iter().any(|name| name == "*")),
        cropped: texts("attributesToCrop")
            .unwrap_or_default()
            .iter()
            .map(|text| crop(text, crop_length))
            .collect(),
        crop_marker: text("cropMarker").unwrap_or_else(|| "…".to_owned()),
        highlighted: texts("attributesToHighlight").unwrap_or_default(),
        pre_tag: text("highlightPreTag").unwrap_or_else(|| "<em>".to_owned()),
        post_tag: text("highlightPostTag").unwrap_or_else(|| "</em>".to_owned()),
        shows_positions: truth("showMatchesPosition"),
        shows_score: truth("showRankingScore"),
        score_threshold,
        facets: texts("facets").unwrap_or_default(),
        filter: Filter::read(given("filter").unwrap_or(&Value::Null), "invalid_search_filter")?,
        sort: sort::read(&texts("sort").unwrap_or_default(), "invalid_search_sort")?,
        strategy: match text("matchingStrategy").as_deref() {
            Some("all") => Strategy::All,
            Some("frequency") => Strategy::Frequency,
            _ => Strategy::Last,
        },
        searched: texts("attributesToSearchOn").filter(|names| !names.iter().any(|name| name == "*")),
        distinct: text("distinct"),
        facet_name: text("facetName"),
        facet_query: text("facetQuery"),
        is_exhaustive: truth("exhaustiveFacetCount"),
    })
}

/// Whether a value says the same as none.
fn asks_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// An attribute to crop, with a length of its own behind a colon: `plot:20`.
fn crop(text: &str, length: u64) -> Crop {
    let own = text.rsplit_once(':').and_then(|(name, words)| Some((name, words.parse::<u64>().ok()?)));
    let (attribute, words) = own.unwrap_or((text, length));
    Crop { attribute: attribute.to_owned(), words: usize::try_from(words).unwrap_or(usize::MAX) }
}

impl Search {
    /// Checks what is asked for against the settings of the index. A filter is checked when it becomes a node.
    ///
    /// # Errors
    /// An attribute may not be used so.
    pub fn check(&self, uid: &str, settings: &Settings) -> Result<(), Fault> {
        let has_sort = settings.rules().contains(&Rule::BuiltIn(BuiltIn::Sort));
        if !self.sort.is_empty() && !has_sort {
            return Err(Fault::new(
                "invalid_search_sort",
                "You must specify where `sort` is listed in the rankingRules setting to use the sort parameter at search time.",
            ));
        }
        let sortable = settings.sortable();
        for Sort { by, .. } in &self.sort {
            let attribute = match by {
                SortBy::Attribute(attribute) => attribute.as_str(),
                SortBy::Distance { .. } => "_geo",
            };
            if !sortable.iter().any(|other| other == attribute) {
                let known = known("sortable attributes", sortable);
                let message = ["Index `", uid, "`: Attribute `", attribute, "` is not sortable. ", &known];
                return Err(Fault::new("invalid_search_sort", message.concat()));
            }
        }
        let names: Vec<String> = settings.filterable().iter().map(|known| known.attribute.clone()).collect();
        let is_filterable =
            |name: &String| settings.filterable().iter().any(|known| known.attribute == *name);
        // A search in a facet counts that facet, too, and its error is its own.
        let is_searched = |name: &str| {
            settings.filterable().iter().any(|known| known.attribute == name && known.has_facet_search)
        };
        if let Some(facet) = self.facet_name.as_ref().filter(|facet| !is_searched(facet)) {
            let known = known("filterable attributes patterns", &names);
            let message = ["Attribute `", facet, "` is not facet-searchable. ", &known];
            return Err(Fault::new("invalid_facet_search_facet_name", message.concat()));
        }
        let facets = self.facets.iter().filter(|facet| *facet != "*");
        for facet in facets {
            if !is_filterable(facet) {
                let known = known("filterable attributes patterns", &names);
                let message =
                    ["Invalid facet distribution: Attribute `", facet, "` is not filterable. ", &known];
                return Err(Fault::new("invalid_search_facets", message.concat()));
            }
        }
        if let Some(distinct) = &self.distinct
            && !is_filterable(distinct)
            && settings.distinct() != Some(distinct)
        {
            let known = known("filterable attributes patterns", &names);
            let message = [
                "Index `",
                uid,
                "`: Attribute `",
                distinct,
                "` is not filterable and thus, cannot be used as distinct attribute. ",
                &known,
            ];
            return Err(Fault::new("invalid_search_distinct", message.concat()));
        }
        if let (Some(searched), Some(searchable)) = (&self.searched, settings.searchable()) {
            let is_known = |name: &&String| {
                searchable.iter().any(|other| {
                    super::settings::is_attribute_of(name, other)
                        || super::settings::is_attribute_of(other, name)
                })
            };
            if let Some(name) = searched.iter().find(|name| !is_known(name)) {
                let known = known("searchable attributes", searchable);
                let message = ["Index `", uid, "`: Attribute `", name, "` is not searchable. ", &known];
                return Err(Fault::new("invalid_search_attributes_to_search_on", message.concat()));
            }
        }
        Ok(())
    }

    /// The facets that are counted, without the asterisk that stands for all.
    pub fn counted_facets(&self, settings: &Settings) -> Vec<String> {
        match self.facets.iter().any(|facet| facet == "*") {
            true => settings.filterable().iter().map(|known| known.attribute.clone()).collect(),
            false => self.facets.clone(),
        }
    }
}

/// The sentence of an error that says which attributes there are.
pub fn known(what: &str, names: &[String]) -> String {
    if names.is_empty() {
        return ["This index does not have configured ", what, "."].concat();
    }
    ["Available ", what, " are: `", &names.join(", "), "`."].concat()
}
