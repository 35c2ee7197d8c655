//! A value of JSON as a tree in which numbers keep their digits, and the members of objects their order.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::write_member;
use crate::json::format::write_text;

/// Arrays and objects stand in each other so deep at most, as deep as serde_json reads. So what walks through a value may call itself.
const DEPTH_MAX: usize = 127;

/// A value; digits are borrowed from the text that was read, if it stays.
#[derive(Debug)]
pub enum Json<'j> {
    /// null.
    Null,
    /// true or false.
    Truth(bool),
    /// A number as it is written.
    Number(Cow<'j, str>),
    /// A string.
    Text(String),
    /// An array.
    Array(Vec<Json<'j>>),
    /// An object. Of members with one name, the last counts.
    Object(Vec<(String, Json<'j>)>),
}

impl<'j> Json<'j> {
    /// Reads a value. None if the text is none, or stands too deep in itself.
    pub fn read(text: &'j str) -> Option<Json<'j>> {
        let raw: &RawValue = serde_json::from_str(text).ok()?;
        Valid { text: raw.get(), at: 0 }.value(0)
    }

    /// The same with digits of its own.
    pub(super) fn into_owned(self) -> Json<'static> {
        match self {
            Json::Null => Json::Null,
            Json::Truth(is_true) => Json::Truth(is_true),
            Json::Number(digits) => Json::Number(Cow::Owned(digits.into_owned())),
            Json::Text(text) => Json::Text(text),
            Json::Array(items) => Json::Array(items.into_iter().map(Json::into_owned).collect()),
            Json::Object(members) => {
                Json::Object(members.into_iter().map(|(name, value)| (name, value.into_owned())).collect())
            }
        }
    }

    /// Appends it without spaces.
    pub fn write(&self, out: &mut Vec<u8>) {
        match self {
            Json::Null => out.extend_from_slice(b"null"),
            Json::Truth(true) => out.extend_from_slice(b"true"),
            Json::Truth(false) => out.extend_from_slice(b"false"),
            Json::Number(digits) => out.extend_from_slice(digits.as_bytes()),
            Json::Text(text) => write_text(text, out),
            Json::Array(items) => write_array(items, &mut |item, out| item.write(out), out),
            Json::Object(members) => write_object(members, &mut |_, value, out| value.write(out), out),
        }
    }
}

/// A text that is known to be JSON, as it is read: nothing but where parts end has to be found.
struct Valid<'j> {
    text: &'j str,
    at: usize,
}

impl<'j> Valid<'j> {
    /// The next byte that is no white space.
    fn next(&mut self) -> Option<u8> {
        loop {
            match self.text.as_bytes().get(self.at)? {
                b' ' | b'\n' | b'\r' | b'\t' => self.at += 1,
                byte => return Some(*byte),
            }
        }
    }

    /// Passes the next byte over if it is this one.
    fn takes(&mut self, byte: u8) -> bool {
        let is_there = self.next() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    fn value(&mut self, depth: usize) -> Option<Json<'j>> {
        match self.next()? {
            b'[' | b'{' if depth >= DEPTH_MAX => None,
            b'[' => {
                self.at += 1;
                let mut items = Vec::new();
                while !self.takes(b']') {
                    items.push(self.value(depth + 1)?);
                    self.takes(b',');
                }
                Some(Json::Array(items))
            }
            b'{' => {
                self.at += 1;
                let mut members = Vec::new();
                while !self.takes(b'}') {
                    self.next()?;
                    let name = self.string()?;
                    self.takes(b':');
                    members.push((name, self.value(depth + 1)?));
                    self.takes(b',');
                }
                super::keep_last(&mut members);
                Some(Json::Object(members))
            }
            b'"' => Some(Json::Text(self.string()?)),
            _ => {
                let rest = self.text.get(self.at..)?;
                let is_end = |byte: u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\n' | b'\r' | b'\t');
                let length = rest.bytes().position(is_end).unwrap_or(rest.len());
                let word = rest.get(..length)?;
                self.at += length;
                Some(match word {
                    "null" => Json::Null,
                    "true" => Json::Truth(true),
                    "false" => Json::Truth(false),
                    digits => Json::Number(Cow::Borrowed(digits)),
                })
            }
        }
    }

    /// The string that begins here. Half a surrogate pair, which JavaScript makes where it cuts a text, is U+FFFD.
    fn string(&mut self) -> Option<String> {
        let rest = self.text.get(self.at..)?;
        let mut is_escaped = false;
        let mut ends = |byte: u8| {
            let ends = byte == b'"' && !is_escaped;
            is_escaped = byte == b'\\' && !is_escaped;
            ends
        };
        let length = rest.bytes().skip(1).position(&mut ends)? + 2;
        self.at += length;
        let text = rest.get(..length)?;
        serde_json::from_str(text).ok().or_else(|| serde_json::from_str(&without_halves(text)).ok())
    }
}

/// Whether JSON has half a surrogate pair, which strict readers refuse.
pub(super) fn has_halves(json: &str) -> bool {
    let may_have = json.as_bytes().windows(3).any(|part| matches!(part, [b'\\', b'u', b'd' | b'D']));
    may_have && without_halves(json) != json
}

/// JSON with U+FFFD for each half of a surrogate pair.
fn without_halves(text: &str) -> String {
    let unit = |at: usize| {
        let escape = text.get(at..at + 6).and_then(|escape| escape.strip_prefix("\\u"));
        escape.and_then(|digits| u16::from_str_radix(digits, 16).ok())
    };
    let (mut whole, mut rest) = (String::with_capacity(text.len()), text.char_indices());
    while let Some((at, character)) = rest.next() {
        let (unit, next) = if character == '\\' { (unit(at), unit(at + 6)) } else { (None, None) };
        let length = match (unit, next) {
            (Some(0xD800..0xDC00), Some(0xDC00..0xE000)) => 12,
            (Some(0xD800..0xE000), _) => {
                whole.push('\u{FFFD}');
                rest.nth(4);
                continue;
            }
            // Two backslashes are none before what follows.
            _ if character == '\\' => 2,
            _ => character.len_utf8(),
        };
        whole.push_str(text.get(at..at + length).unwrap_or_default());
        if character == '\\' {
            rest.nth(length - 2);
        }
    }
    whole
}

/// Appends an array, each element as `write` writes it.
pub fn write_array<'j>(
    items: &[Json<'j>],
    write: &mut dyn FnMut(&Json<'j>, &mut Vec<u8>),
    out: &mut Vec<u8>,
) {
    out.push(b'[');
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write(item, out);
    }
    out.push(b']');
}

/// Appends an object, the value of each member as `write` writes it.
pub fn write_object<'j>(
    members: &[(String, Json<'j>)],
    write: &mut dyn FnMut(&str, &Json<'j>, &mut Vec<u8>),
    out: &mut Vec<u8>,
) {
    out.push(b'{');
    let mut is_first = true;
    for (name, value) in members {
        write_member(name, &mut is_first, out);
        write(name, value, out);
    }
    out.push(b'}');
}
