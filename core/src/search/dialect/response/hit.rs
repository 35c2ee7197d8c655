//! One hit: the document's attributes that are shown, and beside them `_formatted`, `_matchesPosition` and `_rankingScore`.

use std::collections::BTreeMap;

use super::write_number;
use crate::json::format::write_text;
use crate::limits::REST_REPLY_MAX_BYTES;
use crate::search::dialect::document::{Document, Json, write_array, write_member, write_object};
use crate::search::dialect::request::{Crop, Search};
use crate::search::dialect::settings::{Settings, is_attribute_of};
use crate::search::highlight::{Analysis, Matcher, Tags, crop};
use crate::search::schema::Analyzer;

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
    let picked = pick(Json::read(value)?, name, paths)?;
    let mut json = Vec::new();
    picked.write(&mut json);
    String::from_utf8(json).ok()
}

fn pick<'j>(value: Json<'j>, at: &str, paths: &[String]) -> Option<Json<'j>> {
    if paths.iter().any(|path| is_attribute_of(path, at)) {
        return Some(value);
    }
    match value {
        Json::Object(members) => {
            let inner = |(name, value): (String, Json<'j>)| {
                let at = [at, ".", &name].concat();
                let is_on_the_way =
                    paths.iter().any(|path| is_attribute_of(path, &at) || is_attribute_of(&at, path));
                let value = if is_on_the_way { pick(value, &at, paths) } else { None };
                value.map(|value| (name, value))
            };
            let picked: Vec<_> = members.into_iter().filter_map(inner).collect();
            (!picked.is_empty()).then_some(Json::Object(picked))
        }
        Json::Array(items) => {
            let picked: Vec<_> = items.into_iter().filter_map(|item| pick(item, at, paths)).collect();
            (!picked.is_empty()).then_some(Json::Array(picked))
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
    match Json::read(json) {
        Some(value) => format_value(&value, name, search, matches, out),
        None => out.extend_from_slice(json.as_bytes()),
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

fn format_value(value: &Json<'_>, path: &str, search: &Search, matches: &mut dyn Matches, out: &mut Vec<u8>) {
    let text = match value {
        Json::Array(items) => {
            let mut item =
                |item: &Json<'_>, out: &mut Vec<u8>| format_value(item, path, search, matches, out);
            return write_array(items, &mut item, out);
        }
        Json::Object(members) => {
            let mut member = |name: &str, value: &Json<'_>, out: &mut Vec<u8>| {
                format_value(value, &[path, ".", name].concat(), search, matches, out);
            };
            return write_object(members, &mut member, out);
        }
        Json::Text(text) => Some(text.as_str()),
        Json::Number(digits) => Some(digits.as_ref()),
        Json::Null | Json::Truth(_) => None,
    };
    match text.zip(Format::of(path, search)) {
        // An answer that large is refused.
        Some((text, format)) if out.len() as u64 <= REST_REPLY_MAX_BYTES => {
            write_text(&formatted(path, text, format, matches), out)
        }
        _ => value.write(out),
    }
}

/// Where texts match: bytes, as Meilisearch counts them.
#[derive(Default)]
struct Places {
    /// The matches at each path as JSON, with commas in between.
    all: Vec<(String, Vec<u8>)>,
    /// Where a path is: objects in an array lead to one path again and again.
    numbers: BTreeMap<String, usize>,
    bytes: usize,
}

impl Places {
    /// Adds the matches of one text: start, length, and the places of the elements of arrays that lead there.
    fn add(&mut self, path: &str, found: &[(usize, usize)], indices: &[usize]) {
        // An answer that large is refused.
        if found.is_empty() || self.bytes as u64 > REST_REPLY_MAX_BYTES {
            return;
        }
        let number = *self.numbers.entry(path.to_owned()).or_insert(self.all.len());
        if number == self.all.len() {
            self.all.push((path.to_owned(), Vec::new()));
        }
        let Some((_, out)) = self.all.get_mut(number) else { return };
        let before = out.len();
        for (start, length) in found {
            out.extend_from_slice(if out.is_empty() { b"{\"start\":" } else { b",{\"start\":" });
            out.extend_from_slice(itoa::Buffer::new().format(*start).as_bytes());
            super::write_count("length", *length as u64, out);
            for (at, index) in indices.iter().enumerate() {
                out.extend_from_slice(if at > 0 { b"," } else { b",\"indices\":[" });
                out.extend_from_slice(itoa::Buffer::new().format(*index).as_bytes());
            }
            out.extend_from_slice(if indices.is_empty() { b"}" } else { b"]}" });
        }
        self.bytes += out.len() - before;
    }
}

/// Where the texts of displayed attributes match, retrieved or not.
fn write_positions(displayed: &[(&str, String)], matches: &mut dyn Matches, out: &mut Vec<u8>) {
    let mut places = Places::default();
    for (name, json) in displayed {
        if let Some(value) = Json::read(json) {
            position_value(&value, name, &mut Vec::new(), matches, &mut places);
        }
    }
    out.push(b'{');
    let mut is_first = true;
    for (path, found) in &places.all {
        write_member(path, &mut is_first, out);
        out.push(b'[');
        out.extend_from_slice(found);
        out.push(b']');
    }
    out.push(b'}');
}

fn position_value(
    value: &Json<'_>,
    path: &str,
    indices: &mut Vec<usize>,
    matches: &mut dyn Matches,
    places: &mut Places,
) {
    let text = match value {
        Json::Object(members) => {
            for (name, value) in members {
                position_value(value, &[path, ".", name].concat(), indices, matches, places);
            }
            return;
        }
        Json::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                indices.push(at);
                position_value(item, path, indices, matches, places);
                indices.pop();
            }
            return;
        }
        Json::Text(text) => text.as_str(),
        Json::Number(digits) => digits.as_ref(),
        Json::Null | Json::Truth(_) => return,
    };
    matches.with_matcher(path, &mut |matcher| {
        places.add(path, &crop::positions(text.as_bytes(), analysis(), matcher), indices);
    });
}
