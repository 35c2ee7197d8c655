//! What shapes cannot say of the values of settings.

use serde_json::Value;

use super::known::folded_words;
use super::rules;
use super::table::{FILTERABLE, FILTERABLE_SHAPE, RULES, SYNONYMS, Setting, TYPOS};
use crate::search::dialect::fault::Fault;
use crate::search::dialect::shape;

/// Checks the value of a setting, which stands at `path` of a request.
///
/// # Errors
/// It cannot be so.
pub(super) fn check(setting: &Setting, value: &Value, path: &str) -> Result<(), Fault> {
    shape::check(value, setting.shape, path, setting.code)?;
    match setting.name {
        RULES => rules::check(&shape::texts(value), path, setting.code),
        FILTERABLE => filterable(value, path, setting.code),
        SYNONYMS => synonyms(value),
        TYPOS => typos(value, path, setting.code),
        _ => Ok(()),
    }
}

fn filterable(value: &Value, path: &str, code: &'static str) -> Result<(), Fault> {
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
    }
    Ok(())
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

fn typos(value: &Value, path: &str, code: &'static str) -> Result<(), Fault> {
    let sizes = value.get("minWordSizeForTypos");
    let size = |name: &str| sizes.and_then(|sizes| sizes.get(name)).and_then(Value::as_u64);
    let (one, two) = (size("oneTypo").unwrap_or(0), size("twoTypos").unwrap_or(255));
    if one <= two && two <= 255 {
        return Ok(());
    }
    let message = [
        "`",
        path,
        ".minWordSizeForTypos` setting is invalid. `oneTypo` and `twoTypos` fields should be between `0` and `255`, and `twoTypos` should be greater or equals to `oneTypo`.",
    ];
    Err(Fault::new(code, message.concat()))
}
