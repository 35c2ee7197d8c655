//! One hit: the document's attributes that are shown, and beside them `_formatted`, `_matchesPosition` and `_rankingScore`.

use serde_json::{Map, Value};

use super::write_number;
use crate::search::dialect::document::{Document, write_text};
use crate::search::dialect::request::{Crop, Search};
use crate::search::dialect::settings::{Settings, is_attribute_of};
use crate::search::highlight::{Analysis, Matcher, Tags, crop};
use crate::search::schema::Analyzer;

/// Arrays and objects stand in each other so deep at most to be formatted; what lies deeper is as it was.
const DEPTH_MAX: usize = 128;

/// Which words of texts match; made anew for each text, since phrases begin again there.
pub trait Matches {
    /// Calls `run` with the matcher for texts of an attribute.
    fn with_matcher(&mut self, attribute: &str, run: &mut dyn FnMut(&mut Matcher<'_>));
}

/// What a search shows of its hits.
pub struct Shown<'s> {
    search: &'s Search,
    /// The attributes of the setting; None for all.
    displayed: Option<&'s [String]>,
    /// The attributes of `_formatted`; None if nothing is formatted.
    formatted: Option<Formatted>,
}

/// Attributes that are shown as they are formatted: those that are retrieved, and those that are marked or cropped.
enum Formatted {
    All,
    Of(Vec<String>),
}

impl Formatted {
    fn of(search: &Search, displayed: Option<&[String]>) -> Option<Formatted> {
        let cropped = search.cropped.iter().map(|crop| &crop.attribute);
        let mut names: Vec<String> = search.highlighted.iter().chain(cropped).cloned().collect();
        let is_displayed = |name: &String| {
            name == "*"
                || displayed.is_none_or(|paths| {
                    paths.iter().any(|path| is_attribute_of(path, name) || is_attribute_of(name, path))
                })
        };
        if !names.iter().any(is_displayed) {
            return None;
        }
        match &search.retrieved {
            Some(retrieved) if !names.iter().any(|name| name == "*") => {
                names.extend_from_slice(retrieved);
                Some(Formatted::Of(names))
            }
            _ => Some(Formatted::All),
        }
    }

    fn paths(&self) -> Option<&[String]> {
        match self {
            Formatted::All => None,
            Formatted::Of(paths) => Some(paths),
        }
    }
}

impl<'s> Shown<'s> {
    /// What a search shows by the settings of its index.
    pub fn new(search: &'s Search, settings: &'s Settings) -> Shown<'s> {
        let displayed = settings.displayed();
        Shown { search, displayed, formatted: Formatted::of(search, displayed) }
    }
}

/// What of an attribute's value belongs to these paths. None stands for all of them.
pub fn select(name: &str, value: &str, paths: Option<&[String]>) -> Option<String> {
    let Some(paths) = paths else { return Some(value.to_owned()) };
    if paths.iter().any(|path| is_attribute_of(path, name)) {
        return Some(value.to_owned());
    }
    if !paths.iter().any(|path| is_attribute_of(name, path)) {
        return None;
    }
    let value = serde_json::from_str(value).ok()?;
    pick(value, name, paths, 0).map(|value| value.to_string())
}

fn pick(value: Value, at: &str, paths: &[String], depth: usize) -> Option<Value> {
    if depth > DEPTH_MAX || paths.iter().any(|path| is_attribute_of(path, at)) {
        return Some(value);
    }
    match value {
        Value::Object(members) => {
            let inner = |(name, value): (String, Value)| {
                let at = [at, ".", &name].concat();
                let is_on_the_way =
                    paths.iter().any(|path| is_attribute_of(path, &at) || is_attribute_of(&at, path));
                let value = if is_on_the_way { pick(value, &at, paths, depth + 1) } else { None };
                value.map(|value| (name, value))
            };
            let picked: Map<String, Value> = members.into_iter().filter_map(inner).collect();
            (!picked.is_empty()).then_some(Value::Object(picked))
        }
        Value::Array(items) => {
            let picked: Vec<Value> =
                items.into_iter().filter_map(|item| pick(item, at, paths, depth + 1)).collect();
            (!picked.is_empty()).then_some(Value::Array(picked))
        }
        _ => None,
    }
}

/// Writes a hit. `score` and `distance_m` are shown if they are there.
pub fn write_hit(
    document: &Document,
    shown: &Shown<'_>,
    matches: &mut dyn Matches,
    (score, distance_m): (Option<f64>, Option<f64>),
    out: &mut Vec<u8>,
) {
    out.push(b'{');
    let mut is_first = true;
    let mut displayed = Vec::with_capacity(document.attributes.len());
    for (name, value) in &document.attributes {
        // All of a value, the parts of an object, or nothing.
        let Some(value) = select(name, value, shown.displayed) else { continue };
        if let Some(value) = select(name, &value, shown.search.retrieved.as_deref()) {
            write_member(name, &mut is_first, out);
            out.extend_from_slice(value.as_bytes());
        }
        displayed.push((name.as_str(), value));
    }
    if let Some(formatted) = &shown.formatted {
        let mut is_empty = true;
        for (name, value) in &displayed {
            let Some(value) = select(name, value, formatted.paths()) else { continue };
            if is_empty {
                write_member("_formatted", &mut is_first, out);
                out.push(b'{');
            }
            write_member(name, &mut is_empty, out);
            write_formatted(name, &value, shown.search, matches, out);
        }
        if !is_empty {
            out.push(b'}');
        }
    }
    if shown.search.shows_positions {
        write_member("_matchesPosition", &mut is_first, out);
        write_positions(&displayed, matches, out);
    }
    if let Some(distance_m) = distance_m {
        write_member("_geoDistance", &mut is_first, out);
        write_number(distance_m.round(), out);
    }
    if let Some(score) = score {
        write_member("_rankingScore", &mut is_first, out);
        write_number(score, out);
    }
    out.push(b'}');
}

fn write_member(name: &str, is_first: &mut bool, out: &mut Vec<u8>) {
    if !std::mem::take(is_first) {
        out.push(b',');
    }
    write_text(name, out);
    out.push(b':');
}

/// What is done to the texts of an attribute.
#[derive(Clone, Copy)]
struct Format<'s> {
    tags: Option<Tags<'s>>,
    crop: Option<crop::Crop<'s>>,
}

impl<'s> Format<'s> {
    /// None for attributes that stay as they are.
    fn of(path: &str, search: &'s Search) -> Option<Format<'s>> {
        let is_about = |name: &str| name == "*" || is_attribute_of(name, path);
        let tags = search.highlighted.iter().any(|name| is_about(name));
        let tags =
            tags.then_some(Tags { open: search.pre_tag.as_bytes(), close: search.post_tag.as_bytes() });
        // An attribute's own length goes before that of all.
        let own = search.cropped.iter().find(|crop| crop.attribute != "*" && is_about(&crop.attribute));
        let found = own.or_else(|| search.cropped.iter().find(|crop| crop.attribute == "*"));
        let crop = found
            .map(|Crop { words, .. }| crop::Crop { words: *words, marker: search.crop_marker.as_bytes() });
        (tags.is_some() || crop.is_some()).then_some(Format { tags, crop })
    }
}

fn analysis() -> Analysis<'static> {
    Analysis { analyzer: Analyzer::Instant, is_stop_word: &|_| false }
}

fn write_formatted(name: &str, json: &str, search: &Search, matches: &mut dyn Matches, out: &mut Vec<u8>) {
    // Digits of a number stay as they are written.
    let is_number = json.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    if is_number {
        return match Format::of(name, search) {
            Some(format) => write_text(&formatted(name, json, format, matches), out),
            None => out.extend_from_slice(json.as_bytes()),
        };
    }
    match serde_json::from_str::<Value>(json) {
        Ok(value) => {
            let value = format_value(value, name, search, matches, 0);
            out.extend_from_slice(value.to_string().as_bytes());
        }
        Err(_) => out.extend_from_slice(json.as_bytes()),
    }
}

fn formatted(path: &str, text: &str, format: Format<'_>, matches: &mut dyn Matches) -> String {
    let mut found = Vec::new();
    matches.with_matcher(path, &mut |matcher| {
        let format = crop::Format { tags: format.tags, crop: format.crop };
        found = crop::format(text.as_bytes(), analysis(), matcher, format);
    });
    String::from_utf8(found).unwrap_or_else(|_| text.to_owned())
}

fn format_value(value: Value, path: &str, search: &Search, matches: &mut dyn Matches, depth: usize) -> Value {
    if depth > DEPTH_MAX {
        return value;
    }
    match value {
        Value::Array(items) => {
            items.into_iter().map(|item| format_value(item, path, search, matches, depth + 1)).collect()
        }
        Value::Object(members) => {
            let inner = |(name, value): (String, Value)| {
                let value = format_value(value, &[path, ".", &name].concat(), search, matches, depth + 1);
                (name, value)
            };
            Value::Object(members.into_iter().map(inner).collect())
        }
        Value::String(text) => match Format::of(path, search) {
            Some(format) => formatted(path, &text, format, matches).into(),
            None => Value::String(text),
        },
        Value::Number(number) => match Format::of(path, search) {
            Some(format) => formatted(path, &number.to_string(), format, matches).into(),
            None => Value::Number(number),
        },
        other => other,
    }
}

/// Where the texts of displayed attributes match, retrieved or not: bytes, as Meilisearch counts them.
fn write_positions(displayed: &[(&str, String)], matches: &mut dyn Matches, out: &mut Vec<u8>) {
    out.push(b'{');
    let mut is_first = true;
    for (name, json) in displayed {
        let Ok(value) = serde_json::from_str::<Value>(json) else { continue };
        let digits = if value.is_number() { Some(json.as_str()) } else { None };
        position_value(&value, (name, digits, None, 0), matches, &mut |path, found| {
            write_member(path, &mut is_first, out);
            out.push(b'[');
            for (at, (start, length, index)) in found.iter().enumerate() {
                out.extend_from_slice(if at > 0 { b",{\"start\":" } else { b"{\"start\":" });
                out.extend_from_slice(itoa::Buffer::new().format(*start).as_bytes());
                super::write_count("length", *length as u64, out);
                if let Some(index) = index {
                    out.extend_from_slice(b",\"indices\":[");
                    out.extend_from_slice(itoa::Buffer::new().format(*index).as_bytes());
                    out.push(b']');
                }
                out.push(b'}');
            }
            out.push(b']');
        });
    }
    out.push(b'}');
}

/// Start, length and, in an array, the place of the element.
type Found = (usize, usize, Option<usize>);

fn position_value(
    value: &Value,
    (path, digits, index, depth): (&str, Option<&str>, Option<usize>, usize),
    matches: &mut dyn Matches,
    each: &mut dyn FnMut(&str, &[Found]),
) {
    let mut found = Vec::new();
    match value {
        _ if depth > DEPTH_MAX => return,
        Value::Object(members) => {
            for (name, value) in members {
                position_value(value, (&[path, ".", name].concat(), None, index, depth + 1), matches, each);
            }
            return;
        }
        // Elements of an array are told together.
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                match item {
                    Value::String(text) => positions(path, text, Some(at), matches, &mut found),
                    Value::Number(number) => {
                        positions(path, &number.to_string(), Some(at), matches, &mut found)
                    }
                    other => position_value(other, (path, None, Some(at), depth + 1), matches, each),
                }
            }
        }
        Value::String(text) => positions(path, text, index, matches, &mut found),
        Value::Number(number) => {
            let text = digits.map_or_else(|| number.to_string(), str::to_owned);
            positions(path, &text, index, matches, &mut found);
        }
        _ => return,
    }
    if !found.is_empty() {
        each(path, &found);
    }
}

fn positions(
    path: &str,
    text: &str,
    index: Option<usize>,
    matches: &mut dyn Matches,
    found: &mut Vec<Found>,
) {
    matches.with_matcher(path, &mut |matcher| {
        let places = crop::positions(text.as_bytes(), analysis(), matcher);
        found.extend(places.into_iter().map(|(start, length)| (start, length, index)));
    });
}
