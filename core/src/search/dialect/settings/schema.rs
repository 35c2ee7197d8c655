//! The schema that settings mean, as words of FT.CREATE. Where a change of settings changes these words, all documents are to
//! be indexed anew.
//!
//! An attribute may hold texts, numbers, both in an array, or objects. So it has up to three fields:
//!
//! | field | kind | for |
//! | --- | --- | --- |
//! | `text_title` | TEXT | attributes that are searched, in the order of their importance |
//! | `text_*` | TEXT | with searchable attributes `*`: those that have no field of their own, since they came after the first documents; the least important |
//! | `tag_genre`, `number_year` | TAG, NUMERIC | attributes for filters, facets, sorting, the distinct attribute and custom rules |
//! | `geo` | GEO | `_geo`; `number__geo.lat` and `number__geo.lng` beside it are for boxes |
//! | `facts` | TAG | which attributes are there, null or empty: `e:genre`, `n:genre`, `z:genre` |
//!
//! The prefixes keep names apart, whatever an attribute is called. Paths are attributes, or members of objects behind a full stop.

use super::{Filterable, Rule, Settings};
use crate::limits::{SEARCH_FIELDS_MAX, SEARCH_TEXT_FIELDS_MAX};
use crate::search::schema::{FIELD_MARK, FieldKind, Schema};

/// The field of facts about attributes.
pub const FACTS: &str = "facts";

/// The field of positions.
pub const GEO: &str = "geo";

/// The attribute of positions.
const GEO_ATTRIBUTE: &str = "_geo";

/// The field of texts whose attributes have none.
pub const ALL_TEXTS: &str = "text_*";

const TEXT: &str = "text_";
const TAG: &str = "tag_";
const NUMBER: &str = "number_";

/// The name of the field with the words of an attribute.
pub fn text_field(attribute: &str) -> String {
    [TEXT, attribute].concat()
}

/// The name of the field with the values of an attribute.
pub fn tag_field(attribute: &str) -> String {
    [TAG, attribute].concat()
}

/// The name of the field with the numbers of an attribute.
pub fn number_field(attribute: &str) -> String {
    [NUMBER, attribute].concat()
}

/// The attribute whose words a field holds.
pub fn attribute_of_text(field: &[u8]) -> Option<&str> {
    std::str::from_utf8(field).ok()?.strip_prefix(TEXT)
}

/// Whether one path is another one or leads into it: `a` and `a.b`, as well as `a` and `a`.
pub fn is_attribute_of(whole: &str, part: &str) -> bool {
    part.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The attributes that have got fields of their own while all are searched, in their order.
pub fn seen(schema: &Schema) -> Vec<String> {
    let names = schema.fields.iter().filter(|field| matches!(field.kind, FieldKind::Text { .. }));
    let names = names.filter_map(|field| attribute_of_text(&field.name)).filter(|name| *name != "*");
    names.map(str::to_owned).collect()
}

/// Most attributes for filters, sorting and the like: each takes two fields, that of positions three, and texts are to have room.
pub(super) const USES_MAX: usize = (SEARCH_FIELDS_MAX - SEARCH_TEXT_FIELDS_MAX - 4) / 2;

/// How many attributes settings use outside of texts.
pub(super) fn use_count(settings: &Settings) -> usize {
    uses(settings).len()
}

/// What an attribute outside of texts is used for.
struct Use {
    attribute: String,
    is_filtered: bool,
    is_sorted: bool,
}

fn note(uses: &mut Vec<Use>, attribute: &str, is_filtered: bool) {
    let at = match uses.iter().position(|other| other.attribute == attribute) {
        Some(at) => at,
        None => {
            uses.push(Use { attribute: attribute.to_owned(), is_filtered: false, is_sorted: false });
            uses.len() - 1
        }
    };
    if let Some(found) = uses.get_mut(at) {
        found.is_filtered |= is_filtered;
        found.is_sorted |= !is_filtered;
    }
}

fn uses(settings: &Settings) -> Vec<Use> {
    let mut uses = Vec::new();
    for Filterable { attribute, .. } in settings.filterable() {
        note(&mut uses, attribute, true);
    }
    for attribute in settings.sortable().iter().map(String::as_str).chain(settings.distinct()) {
        note(&mut uses, attribute, false);
    }
    for rule in settings.rules() {
        if let Rule::By { attribute, .. } = rule {
            note(&mut uses, attribute, false);
        }
    }
    uses
}

/// Whether words mean the same schema. Those of an older version may lack marks between fields.
pub fn are_same(words: &[Vec<u8>], others: &[Vec<u8>]) -> bool {
    let is_word = |word: &&Vec<u8>| **word != FIELD_MARK.as_bytes();
    words.iter().filter(is_word).eq(others.iter().filter(is_word))
}

/// The words of FT.CREATE behind the name of the index. `seen` are the attributes of the first documents, in their order; they count
/// while all attributes are searched. Seen attributes beyond the number of fields that an index may have are found in `text_*`.
pub fn words(uid: &str, settings: &Settings, seen: &[String]) -> Vec<Vec<u8>> {
    let prefix = [uid, ":"].concat();
    let mut words: Vec<Vec<u8>> = Vec::new();
    let mut push = |more: &[&str]| words.extend(more.iter().map(|word| word.as_bytes().to_vec()));
    push(&["ON", "HASH", "PREFIX", "1", &prefix, "ANALYZER", "INSTANT", "STOPWORDS"]);
    let stop_words = settings.stop_words();
    push(&[itoa::Buffer::new().format(stop_words.len())]);
    stop_words.iter().for_each(|word| push(&[word]));
    push(&["SCHEMA", FACTS, "TAG", "CASESENSITIVE"]);
    // An attribute may be called like an option.
    let mark = FIELD_MARK;
    let mut count = 1;
    let uses = uses(settings);
    let has_positions = uses.iter().any(|other| other.attribute == GEO_ATTRIBUTE);
    for Use { attribute, is_filtered, is_sorted } in uses {
        // Settings of before there was the limit may name more.
        if count + 3 + SEARCH_TEXT_FIELDS_MAX > SEARCH_FIELDS_MAX {
            break;
        }
        if attribute == GEO_ATTRIBUTE {
            let (latitude, longitude) = (number_field("_geo.lat"), number_field("_geo.lng"));
            push(&[mark, GEO_ATTRIBUTE, "AS", GEO, "GEO"]);
            push(&[mark, "_geo.lat", "AS", &latitude, "NUMERIC", "SORTABLE"]);
            push(&[mark, "_geo.lng", "AS", &longitude, "NUMERIC", "SORTABLE"]);
            count += 3;
            continue;
        }
        for (name, kind) in [(tag_field(&attribute), "TAG"), (number_field(&attribute), "NUMERIC")] {
            // That of positions brings these numbers along.
            if has_positions && kind == "NUMERIC" && matches!(attribute.as_str(), "_geo.lat" | "_geo.lng") {
                continue;
            }
            push(&[mark, &attribute, "AS", &name, kind]);
            if is_sorted {
                push(&["SORTABLE"]);
            }
            if !is_filtered {
                push(&["NOINDEX"]);
            }
        }
        count += 2;
    }
    let searchable = settings.searchable();
    let most = SEARCH_TEXT_FIELDS_MAX - usize::from(searchable.is_none());
    for attribute in searchable.unwrap_or(seen).iter().take(most) {
        push(&[mark, attribute, "AS", &text_field(attribute), "TEXT", "NOSTEM"]);
    }
    if searchable.is_none() {
        push(&[mark, "*", "AS", ALL_TEXTS, "TEXT", "NOSTEM"]);
    }
    words
}
