//! What shapes cannot say of the values of settings.

use serde_json::Value;

use super::known::folded_words;
use super::table::{
    DISTINCT, FILTERABLE, FILTERABLE_SHAPE, RULES, SEARCHABLE, SORTABLE, SYNONYMS, Setting, TYPOS,
};
use super::{Settings, Typos, rules, schema};
use crate::limits::SEARCH_TEXT_FIELDS_MAX;
use crate::search::dialect::fault::Fault;
use crate::search::dialect::shape;
use crate::sorted;

/// Checks the value of a setting, which stands at `path` of a request.
///
/// # Errors
/// It cannot be so.
pub(super) fn check(setting: &Setting, value: &Value, path: &str) -> Result<(), Fault> {
    shape::check(value, setting.shape, path, setting.code)?;
    match setting.name {
        RULES => {
            let rules = shape::texts(value);
            room(setting, &rules, schema::USES_MAX)?;
            rules::check(&rules, path, setting.code)
        }
        FILTERABLE => {
            let names = filterable(value, path, setting.code)?;
            room(setting, &names, schema::USES_MAX)
        }
        SORTABLE => room(setting, &shape::texts(value), schema::USES_MAX),
        SEARCHABLE => room(setting, &shape::texts(value), SEARCH_TEXT_FIELDS_MAX),
        SYNONYMS => synonyms(value),
        _ => Ok(()),
    }
}

/// The attributes that are named.
fn filterable(value: &Value, path: &str, code: &'static str) -> Result<Vec<String>, Fault> {
    let mut all = Vec::new();
    let Value::Array(items) = value else { return Err(shape::wrong_type(value, "an array", path, code)) };
    for (at, item) in items.iter().enumerate() {
        let place = shape::element(path, at);
        let names = match item {
            Value::String(name) => vec![name.clone()],
            Value::Object(members) => {
                shape::check(item, FILTERABLE_SHAPE, &place, code)?;
                let patterns = members.get("attributePatterns").unwrap_or(&Value::Null);
                if patterns.is_null() {
                    let place = [&place, ".attributePatterns"].concat();
                    return Err(shape::wrong_type(patterns, "an array", &place, code));
                }
                shape::texts(patterns)
            }
            other => return Err(shape::wrong_type(other, "a string or an object", &place, code)),
        };
        if let Some(pattern) = names.iter().find(|name| name.contains('*')) {
            return Err(Fault::unsupported(
                &["The pattern `", shape::shorten(pattern), "` for attributes"].concat(),
            ));
        }
        all.extend(names);
    }
    Ok(all)
}

/// A word has synonyms that are words: the search puts each in the place of the other.
fn synonyms(value: &Value) -> Result<(), Fault> {
    for (word, others) in value.as_object().into_iter().flatten() {
        let others = shape::texts(others);
        let mut all = std::iter::once(word).chain(&others);
        if let Some(text) = all.find(|text| folded_words(text).len() != 1) {
            let what = ["The synonym `", shape::shorten(text), "`, which is not one word,"];
            return Err(Fault::unsupported(&what.concat()));
        }
    }
    Ok(())
}

/// Checks what a setting says together with what the others say.
///
/// # Errors
/// It cannot be so.
pub(super) fn check_whole(setting: &Setting, settings: &Settings, path: &str) -> Result<(), Fault> {
    match setting.name {
        FILTERABLE | SORTABLE | RULES | DISTINCT if schema::use_count(settings) > schema::USES_MAX => {
            let most = itoa::Buffer::new().format(schema::USES_MAX).to_owned();
            let message = [
                "The attributes for filters, sorting, custom ranking rules and distinct are too many with `",
                setting.name,
                "`; an index has ",
                &most,
                " of them at most.",
            ];
            Err(Fault::new(setting.code, message.concat()))
        }
        TYPOS => typos(settings.typos(), path, setting.code),
        _ => Ok(()),
    }
}

/// Whether a list names no more attributes than an index has fields for.
fn room(setting: &Setting, names: &[String], most: usize) -> Result<(), Fault> {
    let count = sorted::set(names.iter()).len();
    if count <= most {
        return Ok(());
    }
    let (mut counted, mut limit) = (itoa::Buffer::new(), itoa::Buffer::new());
    let message = [
        "`",
        setting.name,
        "` names ",
        counted.format(count),
        " attributes; an index has ",
        limit.format(most),
        " of them at most.",
    ];
    Err(Fault::new(setting.code, message.concat()))
}

fn typos(typos: &Typos, path: &str, code: &'static str) -> Result<(), Fault> {
    if typos.one_from <= typos.two_from && typos.two_from <= 255 {
        return Ok(());
    }
    let message = [
        "`",
        path,
        ".minWordSizeForTypos` setting is invalid. `oneTypo` and `twoTypos` fields should be between `0` and `255`, and `twoTypos` should be greater or equals to `oneTypo`.",
    ];
    Err(Fault::new(code, message.concat()))
}
