//! What JSON a member may be, as data: requests and settings are checked by it before they are read.

use serde_json::Value;

use super::fault::Fault;

/// So much of a wrong value is shown in an error.
const SHOWN_BYTES: usize = 128;

/// What a value may be. Null is no value: its place is that of the default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// true or false.
    Truth,
    /// A whole number from 0 on.
    Count,
    /// A number.
    Number,
    /// A string.
    Text,
    /// An array of strings.
    Texts,
    /// One of these strings.
    Choice(&'static [&'static str]),
    /// An object with these members, and no others.
    Object(&'static [(&'static str, Shape)]),
    /// An object whose members are arrays of strings.
    TextsByName,
    /// An object whose members are one of these strings.
    ChoiceByName(&'static [&'static str]),
    /// What it is by default, and nothing else: its name, and that value as JSON. Meilisearch has it, this server does not.
    Fixed(&'static str, &'static str),
    /// Whatever; its reader checks it.
    Any,
}

/// Checks a value.
///
/// # Errors
/// It is not of this shape. `path` is where it stands, for the sentence.
pub fn check(value: &Value, shape: Shape, path: &str, code: &'static str) -> Result<(), Fault> {
    let wrong = |expected: &str| Err(wrong_type(value, expected, path, code));
    match (shape, value) {
        (_, Value::Null)
        | (Shape::Any, _)
        | (Shape::Truth, Value::Bool(_))
        | (Shape::Number, Value::Number(_)) => Ok(()),
        (Shape::Text, Value::String(_)) => Ok(()),
        (Shape::Fixed(name, default), _) => match serde_json::from_str::<Value>(default) {
            Ok(default) if *value == default => Ok(()),
            _ => Err(unsupported(name)),
        },
        (Shape::Count, Value::Number(number)) if number.is_u64() => Ok(()),
        (Shape::Texts, Value::Array(items)) => {
            items.iter().enumerate().try_for_each(|(at, item)| match item {
                Value::String(_) => Ok(()),
                other => Err(wrong_type(other, "a string", &element(path, at), code)),
            })
        }
        (Shape::Choice(names), Value::String(name)) => match names.contains(&name.as_str()) {
            true => Ok(()),
            false => Err(unknown_value(name, names, path, code)),
        },
        (Shape::Object(members), Value::Object(object)) => object.iter().try_for_each(|(name, value)| {
            match members.iter().find(|(member, _)| member == name) {
                Some((_, shape)) => check(value, *shape, &[path, ".", name].concat(), code),
                None => {
                    let names = members.iter().map(|(member, _)| *member);
                    Err(unknown_field(name, names, path, code))
                }
            }
        }),
        (Shape::TextsByName | Shape::ChoiceByName(_), Value::Object(object)) => {
            let inner = match shape {
                Shape::ChoiceByName(names) => Shape::Choice(names),
                _ => Shape::Texts,
            };
            object.iter().try_for_each(|(name, value)| check(value, inner, &[path, ".", name].concat(), code))
        }
        (Shape::Truth, _) => wrong("a boolean"),
        (Shape::Count, _) => wrong("a positive integer"),
        (Shape::Number, _) => wrong("a number"),
        (Shape::Text | Shape::Choice(_), _) => wrong("a string"),
        (Shape::Texts, _) => wrong("an array"),
        (Shape::Object(_) | Shape::TextsByName | Shape::ChoiceByName(_), _) => wrong("an object"),
    }
}

fn unsupported(setting: &str) -> Fault {
    Fault::unsupported(&["The setting `", setting, "`"].concat())
}

/// The path of an element of an array.
pub fn element(path: &str, at: usize) -> String {
    [path, "[", itoa::Buffer::new().format(at), "]"].concat()
}

/// A value of a wrong type.
pub fn wrong_type(value: &Value, expected: &str, path: &str, code: &'static str) -> Fault {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(number) if number.is_u64() => "a positive integer",
        Value::Number(number) if number.is_i64() => "a negative integer",
        Value::Number(_) => "a float",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    };
    let shown = shorten(&value.to_string()).to_owned();
    let place = if path.is_empty() { "." } else { path };
    Fault::new(
        code,
        [
            "Invalid value type at `",
            place,
            "`: expected ",
            expected,
            ", but found ",
            kind,
            ": `",
            &shown,
            "`",
        ]
        .concat(),
    )
}

fn unknown_value(name: &str, names: &[&str], path: &str, code: &'static str) -> Fault {
    let place = if path.is_empty() { "." } else { path };
    let names = names.join("`, `");
    Fault::new(
        code,
        ["Unknown value `", shorten(name), "` at `", place, "`: expected one of `", &names, "`"].concat(),
    )
}

/// A member that there is not.
pub fn unknown_field<'n>(
    name: &str,
    names: impl Iterator<Item = &'n str>,
    path: &str,
    code: &'static str,
) -> Fault {
    let names: Vec<&str> = names.collect();
    let names = names.join("`, `");
    let place = if path.is_empty() { "".to_owned() } else { [" inside `", path, "`"].concat() };
    Fault::new(
        code,
        ["Unknown field `", shorten(name), "`", &place, ": expected one of `", &names, "`"].concat(),
    )
}

/// The beginning of a text, for errors.
pub fn shorten(text: &str) -> &str {
    let mut end = text.len().min(SHOWN_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

/// Reads a body as JSON.
///
/// # Errors
/// It is none, or nothing.
pub fn parse(body: &[u8]) -> Result<Value, Fault> {
    if body.trim_ascii().is_empty() {
        return Err(Fault::new("missing_payload", "A json payload is missing."));
    }
    serde_json::from_slice(body).map_err(malformed)
}

/// A body that is no JSON.
pub fn malformed(error: serde_json::Error) -> Fault {
    Fault::new(
        "malformed_payload",
        ["The json payload provided is malformed. `", &error.to_string(), "`."].concat(),
    )
}

/// The strings of an array that was checked.
pub fn texts(value: &Value) -> Vec<String> {
    let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
    items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}
