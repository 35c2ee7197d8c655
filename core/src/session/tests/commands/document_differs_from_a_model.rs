//! JSON.* does to a document what the same does to a value of serde_json, and replies what that says.
//!
//! `EDGECASK_JSON_COMMANDS=1000000` makes so many random commands instead of some thousands.

use serde_json::{Map, Value as Json, json};

use super::Console;
use crate::engine::memory::MemoryEngine;
use crate::resp::Value;

/// One step of a path of the model.
#[derive(Clone, Debug)]
enum Segment {
    Name(String),
    Index(i64),
    All,
    Below(String),
}

/// The way to a value, as serde_json's pointers have it.
type Way = Vec<String>;

fn text_of(path: &[Segment], is_legacy: bool) -> String {
    let mut text = if is_legacy { String::new() } else { "$".to_owned() };
    for segment in path {
        match segment {
            Segment::Name(name) => text += &format!(".{name}"),
            Segment::Index(index) => text += &format!("[{index}]"),
            Segment::All => text += "[*]",
            Segment::Below(name) => text += &format!("..{name}"),
        }
    }
    if text.is_empty() { ".".to_owned() } else { text }
}

fn at<'v>(document: &'v Json, way: &[String]) -> Option<&'v Json> {
    way.iter().try_fold(document, |value, step| match value {
        Json::Array(items) => items.get(step.parse::<usize>().ok()?),
        Json::Object(members) => members.get(step),
        _ => None,
    })
}

fn at_mut<'v>(document: &'v mut Json, way: &[String]) -> Option<&'v mut Json> {
    way.iter().try_fold(document, |value, step| match value {
        Json::Array(items) => items.get_mut(step.parse::<usize>().ok()?),
        Json::Object(members) => members.get_mut(step),
        _ => None,
    })
}

fn children(value: &Json) -> Vec<String> {
    match value {
        Json::Array(items) => (0..items.len()).map(|at| at.to_string()).collect(),
        Json::Object(members) => members.keys().cloned().collect(),
        _ => Vec::new(),
    }
}

fn find(document: &Json, path: &[Segment]) -> Vec<Way> {
    let mut ways = vec![Way::new()];
    for segment in path {
        let mut next = Vec::new();
        for way in ways {
            let value = at(document, &way).expect("a way that was found");
            let with = |step: String| [way.clone(), vec![step]].concat();
            match (segment, value) {
                (Segment::Name(name), Json::Object(members)) if members.contains_key(name) => {
                    next.push(with(name.clone()));
                }
                (Segment::Index(index), Json::Array(items)) => {
                    let index = if *index < 0 { items.len() as i64 + index } else { *index };
                    if (0..items.len() as i64).contains(&index) {
                        next.push(with(index.to_string()));
                    }
                }
                (Segment::All, value) => next.extend(children(value).into_iter().map(with)),
                (Segment::Below(name), _) => {
                    let mut left = vec![way.clone()];
                    while let Some(way) = left.pop() {
                        let value = at(document, &way).expect("a part");
                        if value.get(name).is_some() {
                            next.push([way.clone(), vec![name.clone()]].concat());
                        }
                        let parts = children(value);
                        left.extend(parts.into_iter().map(|step| [way.clone(), vec![step]].concat()));
                    }
                }
                _ => {}
            }
        }
        ways = next;
    }
    ways
}

fn is_number(value: &Json) -> bool {
    value.is_number()
}

/// What one command is to reply: for each value of a path, in any order.
#[derive(Debug, PartialEq)]
enum Wanted {
    Ok,
    Null,
    Error,
    Count(i64),
    /// A text of JSON; arrays of what paths find are compared in any order.
    Text(Json),
    /// One answer a value.
    Each(Vec<String>),
}

struct Model {
    random: fastrand::Rng,
    document: Option<Json>,
}

impl Model {
    fn value(&mut self, depth: usize) -> Json {
        let count = self.random.usize(..5);
        match self.random.u8(..if depth > 2 { 6 } else { 9 }) {
            0 => Json::Null,
            1 => json!(self.random.bool()),
            2 => json!(self.random.i64(-1000..1000)),
            3 => json!(f64::from(self.random.i32(-1000..1000)) / 8.0),
            4 => json!("s".repeat(self.random.usize(..20))),
            5 if self.random.u8(..8) == 0 => json!("long ".repeat(self.random.usize(..300))),
            5 => json!(self.random.u8(..4).to_string()),
            6 | 7 => {
                let members = (0..count).map(|_| (self.name(), self.value(depth + 1)));
                Json::Object(members.collect::<Vec<_>>().into_iter().collect::<Map<_, _>>())
            }
            _ => Json::Array((0..count * 3).map(|_| self.value(depth + 1)).collect()),
        }
    }

    fn name(&mut self) -> String {
        ["a", "b", "c", "d", "e"][self.random.usize(..5)].to_owned()
    }

    /// A path, mostly to something that is there.
    fn path(&mut self, allows_below: bool) -> Vec<Segment> {
        let mut path = Vec::new();
        let mut here = self.document.clone().unwrap_or_default();
        while self.random.u8(..4) > 0 && path.len() < 4 {
            let parts = children(&here);
            if parts.is_empty() || self.random.u8(..12) == 0 {
                path.push(match self.random.u8(..3) {
                    0 if allows_below => Segment::Below(self.name()),
                    1 => Segment::Index(self.random.i64(-3..3)),
                    _ => Segment::Name(self.name()),
                });
                break;
            }
            let step = parts[self.random.usize(..parts.len())].clone();
            here = at(&here, std::slice::from_ref(&step)).cloned().expect("a part");
            path.push(match (step.parse::<i64>(), self.random.u8(..6)) {
                (_, 0) => Segment::All,
                (Ok(index), 1) => Segment::Index(index - parts.len() as i64),
                (Ok(index), _) => Segment::Index(index),
                (Err(_), _) => Segment::Name(step),
            });
        }
        path
    }

    /// Changes each value of a path; what it says of each. None for a missing document.
    fn each(&mut self, path: &[Segment], change: &mut dyn FnMut(&mut Json) -> Option<String>) -> Wanted {
        let Some(document) = &mut self.document else { return Wanted::Error };
        let ways = find(document, path);
        Wanted::Each(
            ways.iter()
                .map(|way| {
                    let value = at_mut(document, way).expect("a way that was found");
                    change(value).unwrap_or_else(|| "null".to_owned())
                })
                .collect(),
        )
    }

    fn set(&mut self, path: &[Segment], value: &Json, condition: Option<&str>) -> Wanted {
        let Some(document) = &mut self.document else {
            return match (path.is_empty(), condition) {
                (_, Some("XX")) => Wanted::Null,
                (false, _) => Wanted::Error,
                _ => {
                    self.document = Some(value.clone());
                    Wanted::Ok
                }
            };
        };
        let ways = find(document, path);
        if !ways.is_empty() {
            if condition == Some("NX") {
                return Wanted::Null;
            }
            for way in ways {
                *at_mut(document, &way).expect("no way leads through another") = value.clone();
            }
            return Wanted::Ok;
        }
        if condition == Some("XX") {
            return Wanted::Null;
        }
        let Some((Segment::Name(name), parents)) = path.split_last() else { return Wanted::Error };
        let mut is_set = false;
        for way in find(document, parents) {
            if let Some(Json::Object(members)) = at_mut(document, &way) {
                members.insert(name.clone(), value.clone());
                is_set = true;
            }
        }
        if is_set { Wanted::Ok } else { Wanted::Null }
    }

    fn delete(&mut self, path: &[Segment]) -> Wanted {
        let Some(document) = &mut self.document else { return Wanted::Count(0) };
        let mut ways = find(document, path);
        if ways.iter().any(Vec::is_empty) {
            self.document = None;
            return Wanted::Count(1);
        }
        let key = |way: &Way| -> Vec<(usize, String)> {
            way.iter().map(|step| (step.parse().unwrap_or(0), step.clone())).collect()
        };
        ways.sort_by_key(key);
        let outer: Vec<Way> = ways
            .iter()
            .filter(|way| !ways.iter().any(|other| other.len() < way.len() && way.starts_with(other)))
            .cloned()
            .collect();
        for way in outer.iter().rev() {
            let (step, parent) = way.split_last().expect("it is not the whole document");
            match at_mut(document, parent) {
                Some(Json::Array(items)) => drop(items.remove(step.parse().expect("an index"))),
                Some(Json::Object(members)) => drop(members.remove(step)),
                _ => unreachable!("parts are in arrays and objects"),
            }
        }
        Wanted::Count(outer.len() as i64)
    }

    fn merge(&mut self, path: &[Segment], patch: &Json) -> Wanted {
        let Some(document) = &mut self.document else {
            if !path.is_empty() {
                return Wanted::Error;
            }
            let mut document = Json::Null;
            merge(&mut document, patch);
            self.document = Some(document);
            return Wanted::Ok;
        };
        let ways = find(document, path);
        if ways.is_empty() {
            let Some((Segment::Name(name), parents)) = path.split_last() else { return Wanted::Error };
            for way in find(document, parents) {
                if let Some(Json::Object(members)) = at_mut(document, &way) {
                    let mut value = Json::Null;
                    merge(&mut value, patch);
                    members.insert(name.clone(), value);
                }
            }
        }
        for way in ways {
            merge(at_mut(document, &way).expect("a way that was found"), patch);
        }
        Wanted::Ok
    }

    /// A random command, and what it is to reply.
    fn command(&mut self) -> (Vec<String>, Wanted) {
        let kind = self.random.u8(..20);
        // What changes arrays or replaces values is not to lead into what it has changed.
        let path = self.path(matches!(kind, 4..=9));
        let (name, rest, wanted) = match kind {
            0..=3 => {
                let value = self.value(0);
                let condition = [None, None, None, Some("NX"), Some("XX")][self.random.usize(..5)];
                let wanted = self.set(&path, &value, condition);
                let rest = std::iter::once(value.to_string()).chain(condition.map(str::to_owned)).collect();
                ("JSON.SET", rest, wanted)
            }
            4 => ("JSON.DEL", vec![], self.delete(&path)),
            5 => {
                let wanted = match &self.document {
                    None => Wanted::Null,
                    Some(document) => {
                        let ways = find(document, &path);
                        Wanted::Text(ways.iter().map(|way| at(document, way).cloned()).collect())
                    }
                };
                ("JSON.GET", vec![], wanted)
            }
            6 => {
                let by = self.random.i64(-100..100);
                let wanted = self.each(&path, &mut |value| {
                    let number = is_number(value).then(|| value.clone())?;
                    *value = match number.as_i64() {
                        Some(number) => json!(number + by),
                        None => json!(number.as_f64()? + by as f64),
                    };
                    Some(value.to_string())
                });
                let wanted = match wanted {
                    Wanted::Each(each) => {
                        Wanted::Text(each.iter().map(|one| serde_json::from_str::<Json>(one).ok()).collect())
                    }
                    other => other,
                };
                ("JSON.NUMINCRBY", vec![by.to_string()], wanted)
            }
            7 => {
                let wanted = self.each(&path, &mut |value| {
                    let Json::String(text) = value else { return None };
                    text.push_str("\u{e9}x");
                    Some(text.len().to_string())
                });
                ("JSON.STRAPPEND", vec!["\"\\u00e9x\"".to_owned()], wanted)
            }
            8 => {
                let wanted = self.each(&path, &mut |value| {
                    let Json::Bool(is_true) = value else { return None };
                    *is_true = !*is_true;
                    Some(u8::from(*is_true).to_string())
                });
                ("JSON.TOGGLE", vec![], wanted)
            }
            9 => {
                let wanted = self.each(&path, &mut |value| match value {
                    Json::Object(members) => Some(members.len().to_string()),
                    _ => None,
                });
                ("JSON.OBJLEN", vec![], wanted)
            }
            10 | 11 => {
                let added: Vec<Json> = (0..self.random.usize(1..4)).map(|_| self.value(1)).collect();
                let wanted = self.each(&path, &mut |value| {
                    let items = value.as_array_mut()?;
                    items.extend(added.iter().cloned());
                    Some(items.len().to_string())
                });
                ("JSON.ARRAPPEND", added.iter().map(Json::to_string).collect(), wanted)
            }
            12 | 13 => {
                let index = self.random.i64(-4..6);
                let wanted = self.each(&path, &mut |value| {
                    let items = value.as_array_mut()?;
                    let last = items.len().checked_sub(1)?;
                    let at = if index < 0 {
                        items.len().saturating_add_signed(index as isize)
                    } else {
                        index as usize
                    };
                    Some(items.remove(at.min(last)).to_string())
                });
                ("JSON.ARRPOP", vec![index.to_string()], wanted)
            }
            14 => {
                let (start, stop) = (self.random.i64(-8..8), self.random.i64(-8..20));
                let wanted = self.each(&path, &mut |value| {
                    let items = value.as_array_mut()?;
                    let count = items.len() as i64;
                    let from = if start < 0 { (count + start).max(0) } else { start };
                    let to = if stop < 0 { count + stop } else { stop.min(count - 1) };
                    if from > to {
                        items.clear();
                    } else {
                        items.truncate(to as usize + 1);
                        items.drain(..from as usize);
                    }
                    Some(items.len().to_string())
                });
                ("JSON.ARRTRIM", vec![start.to_string(), stop.to_string()], wanted)
            }
            15 => {
                // Into the first place, which every array has.
                let added = self.value(1);
                let wanted = self.each(&path, &mut |value| {
                    let items = value.as_array_mut()?;
                    items.insert(0, added.clone());
                    Some(items.len().to_string())
                });
                ("JSON.ARRINSERT", vec!["0".to_owned(), added.to_string()], wanted)
            }
            16 => {
                let mut cleared = 0;
                let wanted = self.each(&path, &mut |value| {
                    let zero = match value {
                        Json::Array(_) => json!([]),
                        Json::Object(_) => json!({}),
                        Json::Number(_) => json!(0),
                        _ => return None,
                    };
                    cleared += i64::from(*value != zero);
                    *value = zero;
                    None
                });
                let wanted = if matches!(wanted, Wanted::Error) { wanted } else { Wanted::Count(cleared) };
                ("JSON.CLEAR", vec![], wanted)
            }
            17 => {
                let wanted = match self.each(&path, &mut |value| Some(type_of(value).to_owned())) {
                    Wanted::Error => Wanted::Null,
                    wanted => wanted,
                };
                ("JSON.TYPE", vec![], wanted)
            }
            18 => {
                let patch = self.value(0);
                let wanted = self.merge(&path, &patch);
                ("JSON.MERGE", vec![patch.to_string()], wanted)
            }
            _ => {
                let sought = self.value(2);
                let wanted = self.each(&path, &mut |value| {
                    let items = value.as_array()?;
                    let found = items.iter().position(|item| *item == sought);
                    Some(found.map_or("-1".to_owned(), |at| at.to_string()))
                });
                ("JSON.ARRINDEX", vec![sought.to_string()], wanted)
            }
        };
        let mut words = vec![name.to_owned(), "d".to_owned(), text_of(&path, false)];
        words.extend(rest);
        (words, wanted)
    }
}

/// RFC 7396. Calls itself as deep as the values of these tests are.
fn merge(target: &mut Json, patch: &Json) {
    let Json::Object(members) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = json!({});
    }
    let Json::Object(into) = target else { unreachable!("it is one now") };
    for (name, value) in members {
        match value {
            Json::Null => drop(into.remove(name)),
            value => merge(into.entry(name.clone()).or_insert(Json::Null), value),
        }
    }
}

fn type_of(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Number(number) if number.is_f64() => "number",
        Json::Number(_) => "integer",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Bulk(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::Integer(number) => number.to_string(),
        Value::Null => "null".to_owned(),
        other => format!("{other:?}"),
    }
}

/// Texts of JSON in one form; what is none stays.
fn plain(text: &str) -> String {
    serde_json::from_str::<Json>(text).map_or_else(|_| text.to_owned(), |value| value.to_string())
}

fn sorted<T: Ord>(mut values: Vec<T>) -> Vec<T> {
    values.sort_unstable();
    values
}

fn elements(value: &Json) -> Vec<String> {
    sorted(value.as_array().into_iter().flatten().map(Json::to_string).collect())
}

fn agrees(wanted: &Wanted, reply: &Value) -> bool {
    match (wanted, reply) {
        (Wanted::Ok, reply) => *reply == Value::Simple("OK".into()),
        (Wanted::Null, reply) => *reply == Value::Null,
        (Wanted::Error, reply) => matches!(reply, Value::Error(_)),
        (Wanted::Count(count), reply) => *reply == Value::Integer(*count),
        (Wanted::Text(wanted), Value::Bulk(found)) => {
            serde_json::from_slice(found).is_ok_and(|found: Json| elements(wanted) == elements(&found))
        }
        (Wanted::Each(wanted), Value::Array(found)) => {
            let found = sorted(found.iter().map(|one| plain(&text(one))).collect());
            sorted(wanted.iter().map(|one| plain(one)).collect()) == found
        }
        _ => false,
    }
}

fn compare(seed: u64, commands: usize) {
    let mut console = Console::new(MemoryEngine::new(1));
    let mut model = Model { random: fastrand::Rng::with_seed(seed), document: None };
    for at in 0..commands {
        let before = model.document.clone();
        let (words, wanted) = model.command();
        let args: Vec<Vec<u8>> = words.iter().map(|word| word.clone().into_bytes()).collect();
        let reply = console.call(1, &args);
        assert!(
            agrees(&wanted, &reply),
            "seed {seed}, command {at}: {words:?} of {before:?}\nwanted {wanted:?}\nreplied {reply:?}"
        );
        let whole = console.call(1, &[b"JSON.GET".to_vec(), b"d".to_vec()]);
        let stored = match &whole {
            Value::Bulk(bytes) => Some(serde_json::from_slice::<Json>(bytes).expect("JSON")),
            _ => None,
        };
        assert_eq!(model.document, stored, "seed {seed}, command {at}: {words:?} of {before:?}");
        // Not for ever the same one, and none that grows without end.
        let is_large = model.document.as_ref().is_some_and(|document| document.to_string().len() > 30_000);
        if is_large || model.random.u8(..100) == 0 {
            model.document = None;
            console.call(1, &[b"DEL".to_vec(), b"d".to_vec()]);
        }
    }
}

#[test]
fn document_differs_from_a_model() {
    let asked = std::env::var("EDGECASK_JSON_COMMANDS").ok().and_then(|count| count.parse::<usize>().ok());
    let (rounds, commands) = (20, asked.unwrap_or(8000) / 20);
    for seed in 0..rounds {
        compare(seed, commands);
    }
}
