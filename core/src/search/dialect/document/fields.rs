//! What an index makes of a document: for each field of its schema the texts, tags, numbers or positions at its path.
//!
//! A path is an attribute, or leads into objects: `cast.name`. Arrays on the way give all their elements. Everything is lenient: what
//! does not fit a field is left out of it, and nothing keeps a document out of its index.

use std::borrow::Cow;

use super::stored::value_of;
use super::value::Json;
use crate::number::format_f64;
use crate::search::dialect::settings::{ALL_TEXTS, FACTS, attribute_of_text, is_attribute_of};
use crate::search::index::FieldValue;
use crate::search::schema::{FieldId, FieldKind, Schema};
use crate::search::text::fold;
use crate::sorted;

/// The fields of a hash, read as attributes.
pub struct Fields<'f> {
    roots: Vec<Root<'f>>,
}

struct Root<'f> {
    name: Cow<'f, str>,
    value: Json<'f>,
}

/// Something at a path.
enum Leaf<'l> {
    Text(&'l str),
    /// A number with its digits.
    Number(f64, &'l str),
    Truth(bool),
    Null,
    /// An array or an object; whether it has nothing in it.
    Container(bool),
}

impl<'f> Fields<'f> {
    /// Reads the fields of a hash.
    pub fn new(fields: impl Iterator<Item = (&'f [u8], &'f [u8])>) -> Fields<'f> {
        let roots = fields
            .map(|(name, stored)| Root { name: String::from_utf8_lossy(name), value: value_of(stored) });
        Fields { roots: roots.collect() }
    }

    /// Shows what stands at a path. With `is_deep`, the insides of objects there, too. The flag is whether it is an element of an array.
    fn visit(&self, path: &str, is_deep: bool, each: &mut dyn FnMut(Leaf<'_>, bool)) {
        for root in &self.roots {
            if root.name == path || (is_deep && is_attribute_of(path, &root.name)) {
                show(&root.value, (is_deep, false), each);
            } else if let Some(rest) = path.strip_prefix(&*root.name).and_then(|rest| rest.strip_prefix('.'))
            {
                descend(&root.value, rest, (is_deep, false), each);
            }
        }
    }
}

/// Shows what stands at a path inside a value. `how` is whether the insides of objects there are shown, and whether it is an element.
fn descend(value: &Json<'_>, path: &str, how: (bool, bool), each: &mut dyn FnMut(Leaf<'_>, bool)) {
    let (is_deep, _) = how;
    match value {
        Json::Array(items) => items.iter().for_each(|item| descend(item, path, (is_deep, true), each)),
        Json::Object(members) => {
            for (name, value) in members {
                if name == path || (is_deep && is_attribute_of(path, name)) {
                    show(value, how, each);
                } else if let Some(rest) =
                    path.strip_prefix(name.as_str()).and_then(|rest| rest.strip_prefix('.'))
                {
                    descend(value, rest, how, each);
                }
            }
        }
        _ => {}
    }
}

fn show(value: &Json<'_>, how: (bool, bool), each: &mut dyn FnMut(Leaf<'_>, bool)) {
    let (is_deep, is_element) = how;
    match value {
        Json::Null => each(Leaf::Null, is_element),
        Json::Truth(is_true) => each(Leaf::Truth(*is_true), is_element),
        Json::Number(digits) => each(Leaf::Number(digits.parse().unwrap_or(f64::NAN), digits), is_element),
        Json::Text(text) => each(Leaf::Text(text), is_element),
        Json::Array(items) => {
            each(Leaf::Container(items.is_empty()), is_element);
            items.iter().for_each(|item| show(item, (is_deep, true), each));
        }
        Json::Object(members) => {
            each(Leaf::Container(members.is_empty()), is_element);
            if is_deep {
                members.iter().for_each(|(_, value)| show(value, how, each));
            }
        }
    }
}

/// What a field holds of a document.
#[derive(Clone, Debug, PartialEq)]
pub enum Held {
    /// Texts of a text field.
    Texts(Vec<Vec<u8>>),
    /// Values of a tag field, sorted and each once, and the one by which documents are sorted: the least of them as it is folded.
    Tags(Vec<Vec<u8>>, Option<Vec<u8>>),
    /// Numbers.
    Numbers(Vec<f64>),
    /// Longitudes and latitudes.
    Positions(Vec<(f64, f64)>),
}

impl Held {
    /// The same as an index takes it.
    pub fn value(&self) -> FieldValue<'_> {
        match self {
            Held::Texts(texts) => FieldValue::Texts(texts.iter().map(Vec::as_slice).collect()),
            Held::Tags(tags, _) => FieldValue::Tags(tags.iter().map(Vec::as_slice).collect()),
            Held::Numbers(numbers) => FieldValue::Numbers(numbers.clone()),
            Held::Positions(positions) => FieldValue::Positions(positions.clone()),
        }
    }

    /// By what a sortable field other than a numeric one is sorted.
    pub fn sort_text(&self) -> Option<&[u8]> {
        match self {
            Held::Tags(_, first) => first.as_deref(),
            _ => None,
        }
    }
}

/// What each field of a schema holds of a document, without those that hold nothing, in the order of their numbers.
pub fn held(schema: &Schema, fields: &Fields<'_>) -> Vec<(FieldId, Held)> {
    let mut found = Vec::new();
    for (field, number) in schema.fields.iter().zip(0..) {
        let path = std::str::from_utf8(&field.path).unwrap_or_default();
        let held = match &field.kind {
            FieldKind::Text { .. } if field.name == ALL_TEXTS.as_bytes() => {
                Held::Texts(other_texts(schema, fields))
            }
            FieldKind::Text { .. } => Held::Texts(texts(fields, path)),
            FieldKind::Tag { .. } if field.name == FACTS.as_bytes() => {
                Held::Tags(facts(schema, fields), None)
            }
            FieldKind::Tag { .. } => tags(fields, path),
            FieldKind::Numeric => Held::Numbers(numbers(fields, path)),
            FieldKind::Geo => Held::Positions(positions(fields, path)),
            FieldKind::Vector(_) => continue,
        };
        let is_empty = match &held {
            Held::Texts(texts) => texts.is_empty(),
            Held::Tags(tags, _) => tags.is_empty(),
            Held::Numbers(numbers) => numbers.is_empty(),
            Held::Positions(positions) => positions.is_empty(),
        };
        if !is_empty {
            found.push((FieldId(number), held));
        }
    }
    found
}

fn texts(fields: &Fields<'_>, path: &str) -> Vec<Vec<u8>> {
    let mut texts = Vec::new();
    fields.visit(path, true, &mut |leaf, _| add_text(leaf, &mut texts));
    texts
}

fn add_text(leaf: Leaf<'_>, texts: &mut Vec<Vec<u8>>) {
    match leaf {
        Leaf::Text(text) if !text.is_empty() => texts.push(text.as_bytes().to_vec()),
        Leaf::Number(_, digits) => texts.push(digits.as_bytes().to_vec()),
        _ => {}
    }
}

/// Texts of attributes that have no field of their own.
fn other_texts(schema: &Schema, fields: &Fields<'_>) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for root in &fields.roots {
        let has_field = schema.fields.iter().any(|field| {
            matches!(field.kind, FieldKind::Text { .. })
                && attribute_of_text(&field.name) == Some(&*root.name)
        });
        if !has_field {
            show(&root.value, (true, false), &mut |leaf, _| add_text(leaf, &mut found));
        }
    }
    found
}

fn tags(fields: &Fields<'_>, path: &str) -> Held {
    let mut tags: Vec<Vec<u8>> = Vec::new();
    fields.visit(path, false, &mut |leaf, _| match leaf {
        Leaf::Text(text) if !text.trim().is_empty() => tags.push(text.trim().as_bytes().to_vec()),
        Leaf::Truth(is_true) => tags.push(is_true.to_string().into_bytes()),
        Leaf::Number(number, digits) => tags.push(number_tag(number, digits)),
        _ => {}
    });
    sorted::plainly(&mut tags);
    tags.dedup();
    let least = least_folded(&tags);
    Held::Tags(tags, least)
}

/// A number as a tag, in one way however it is written: as numbers are printed. Digits that a double does not hold stay.
fn number_tag(number: f64, digits: &str) -> Vec<u8> {
    // Adding zero makes one of both zeros.
    let printed = format_f64(number + 0.0);
    let is_same =
        number.is_finite() && (printed.as_str() == digits || decimal(printed.as_str()) == decimal(digits));
    if is_same { printed.as_bytes().to_vec() } else { digits.as_bytes().to_vec() }
}

/// The digits of a number without zeros around them, and where its point is, counted from the first of them. Signs do not count.
fn decimal(text: &str) -> Option<(Vec<u8>, i64)> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let whole = whole.trim_start_matches('-');
    let digits = [whole, fraction].concat();
    let significant = digits.trim_start_matches('0');
    if significant.is_empty() {
        return Some((Vec::new(), 0));
    }
    let zeros = digits.len() - significant.len();
    let point = i64::try_from(whole.len()).ok()? - i64::try_from(zeros).ok()?;
    let point = point.checked_add(exponent.parse().ok()?)?;
    Some((significant.trim_end_matches('0').as_bytes().to_vec(), point))
}

/// The text that is the least once it is folded, as texts are sorted.
fn least_folded(texts: &[Vec<u8>]) -> Option<Vec<u8>> {
    let [_, _, ..] = texts else { return texts.first().cloned() };
    let folded = |text: &&Vec<u8>| {
        let mut folded = String::new();
        fold(text, &mut folded);
        folded
    };
    texts.iter().min_by_key(folded).cloned()
}

fn numbers(fields: &Fields<'_>, path: &str) -> Vec<f64> {
    // Positions may be written as strings.
    let reads_texts = is_attribute_of("_geo", path);
    let mut numbers = Vec::new();
    fields.visit(path, false, &mut |leaf, _| match leaf {
        Leaf::Number(number, _) => numbers.push(number),
        Leaf::Text(text) if reads_texts => numbers.extend(text.trim().parse::<f64>().ok()),
        _ => {}
    });
    numbers.retain(|number| number.is_finite());
    numbers
}

fn positions(fields: &Fields<'_>, path: &str) -> Vec<(f64, f64)> {
    let one = |name: &str| numbers(fields, &[path, name].concat());
    let pairs = one(".lng").into_iter().zip(one(".lat"));
    pairs.filter(|(longitude, latitude)| longitude.abs() <= 180.0 && latitude.abs() <= 90.0).collect()
}

/// Which filterable attributes are there (`e:`), null (`n:`) and empty (`z:`).
fn facts(schema: &Schema, fields: &Fields<'_>) -> Vec<Vec<u8>> {
    let mut facts = Vec::new();
    for field in &schema.fields {
        let is_filtered =
            matches!(field.kind, FieldKind::Tag { .. }) && !field.is_not_indexed && !field.path.is_empty();
        if !is_filtered || field.name == FACTS.as_bytes() {
            continue;
        }
        let path = std::str::from_utf8(&field.path).unwrap_or_default();
        let mut note = |kind: &[u8]| facts.push([kind, &field.path].concat());
        let mut exists = false;
        fields.visit(path, false, &mut |leaf, is_element| {
            exists = true;
            match leaf {
                _ if is_element => {}
                Leaf::Null => note(b"n:"),
                Leaf::Text("") | Leaf::Container(true) => note(b"z:"),
                _ => {}
            }
        });
        if exists {
            note(b"e:");
        }
    }
    sorted::plainly(&mut facts);
    facts.dedup();
    facts
}
