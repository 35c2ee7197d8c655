//! Settings of an index: what a client said of them, and what else holds.
//!
//! An index keeps this as JSON in its definition: only what a client has set is written, everything else is its default.
//!
//! ```text
//!  table   which settings there are: names, shapes, defaults
//!  check   what else a value must be;  rules: lists of ranking rules
//!  known   what settings say, read once as values of types
//!  schema  which fields they mean
//!
//!  {"primaryKey":"id","createdAt":ms,"updatedAt":ms,"settings":{"sortableAttributes":["year"], …}}
//! ```

mod check;
mod known;
mod rules;
mod schema;
mod table;
#[cfg(test)]
mod tests;

use serde_json::{Map, Value, json};

use super::fault::Fault;
use super::shape::{self, Shape};
use known::Known;
pub use known::{Filterable, Typos};
pub use rules::{BuiltIn, Rule};
pub use schema::{
    ALL_TEXTS, FACTS, GEO, are_same, attribute_of_text, is_attribute_of, number_field, seen, tag_field,
    text_field, words,
};
pub use table::{SETTINGS, Setting};

/// The settings of an index, its primary key, and when it was made.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The attribute that tells documents apart; unknown until documents come.
    pub primary_key: Option<String>,
    /// Unix time in milliseconds at which the index was made.
    pub created_at_ms: u64,
    /// Unix time in milliseconds of the last change of these settings.
    pub updated_at_ms: u64,
    /// What a client has set.
    given: Map<String, Value>,
    /// What that says. Invariant: made of `given` whenever that changes.
    known: Known,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings::new(None, 0)
    }
}

impl Settings {
    /// Those of a new index.
    pub fn new(primary_key: Option<String>, now_ms: u64) -> Settings {
        let given = Map::new();
        let known = Known::of(&given);
        Settings { primary_key, created_at_ms: now_ms, updated_at_ms: now_ms, given, known }
    }

    /// Reads what [`Settings::text`] wrote; None for anything else.
    pub fn parse(text: &[u8]) -> Option<Settings> {
        let mut value: Value = serde_json::from_slice(text).ok()?;
        let number = |name: &str| value.get(name).and_then(Value::as_u64);
        let (created_at_ms, updated_at_ms) = (number("createdAt")?, number("updatedAt")?);
        let primary_key = value.get("primaryKey").and_then(Value::as_str).map(str::to_owned);
        let Value::Object(given) = value.get_mut("settings")?.take() else { return None };
        let known = Known::of(&given);
        Some(Settings { primary_key, created_at_ms, updated_at_ms, given, known })
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
        value_of(setting, &self.given)
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
        let mut settings = Vec::with_capacity(members.len());
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
            settings.push(setting);
        }
        changed.known = Known::of(&changed.given);
        for setting in settings {
            check::check_whole(setting, &changed, &[".", setting.name].concat())?;
        }
        *self = changed;
        Ok(())
    }

    /// Changes one setting; null makes it its default again.
    ///
    /// # Errors
    /// It cannot be so; then nothing is changed.
    pub fn set(&mut self, setting: &'static Setting, value: &Value) -> Result<(), Fault> {
        let mut changed = self.clone();
        changed.set_at(setting, value, "")?;
        changed.known = Known::of(&changed.given);
        check::check_whole(setting, &changed, "")?;
        *self = changed;
        Ok(())
    }

    fn set_at(&mut self, setting: &'static Setting, value: &Value, path: &str) -> Result<(), Fault> {
        if value.is_null() {
            self.given.remove(setting.name);
            return Ok(());
        }
        check::check(setting, value, path)?;
        match setting.shape {
            Shape::Fixed(..) => {}
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
        self.known = Known::of(&self.given);
    }
}

/// The value of one setting, of which a client may have said something.
fn value_of(setting: &Setting, given: &Map<String, Value>) -> Value {
    let mut value = setting.default();
    if let Some(given) = given.get(setting.name) {
        overlay(&mut value, given, setting.shape);
    }
    value
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
