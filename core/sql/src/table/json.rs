//! Rows of `json_key` and `json_each_key`: a document of JSON, and what a path finds in it.

use edgecask_core::json::format::{Format, write};
use edgecask_core::json::node::{InOne, Node};
use edgecask_core::json::number::Number;
use edgecask_core::json::packed::Shape;
use edgecask_core::json::text::parse;

use super::scan::Kept;

/// The path of `json_each_key` without one: the members or elements of the document.
pub(super) const EACH: &[u8] = b"$.*";

/// A value that a path has found.
pub(super) struct FoundValue {
    /// As SQL has it: strings without quotes, arrays and objects as JSON.
    pub value: Kept,
    /// Its type, by the names of SQLite's `json_type`.
    pub kind: &'static str,
    /// As JSON.
    pub text: Vec<u8>,
}

/// The path as one whose reply is an array: an older one of RedisJSON's gets a `$`.
pub(super) fn path_of(path: &[u8]) -> Vec<u8> {
    match path.first() {
        Some(b'$') => path.to_vec(),
        Some(b'[') => [b"$", path].concat(),
        Some(b'.') if path.len() > 1 => [b"$", path].concat(),
        Some(b'.') | None => b"$".to_vec(),
        Some(_) => [b"$.", path].concat(),
    }
}

/// The elements of an array as JSON.GET replies it; None if the text is none.
pub(super) fn values(reply: &[u8]) -> Option<Vec<FoundValue>> {
    let whole = Node::new(parse(reply).ok()?.packed);
    let elements = whole.parts(&mut InOne).ok()?;
    elements.iter().map(|(_, element)| found(element)).collect()
}

fn found(node: &Node) -> Option<FoundValue> {
    let mut text = Vec::new();
    write(node, Format::default(), &mut InOne, &mut text).ok()?;
    let (value, kind) = match node.shape(&mut InOne).ok()? {
        Shape::Null => (Kept::Null, "null"),
        Shape::Truth(true) => (Kept::Integer(1), "true"),
        Shape::Truth(false) => (Kept::Integer(0), "false"),
        Shape::Number(Number::Int(number)) => (Kept::Integer(number), "integer"),
        Shape::Number(number) if number.is_integer() => (Kept::Real(number.to_f64()), "integer"),
        Shape::Number(number) => (Kept::Real(number.to_f64()), "real"),
        Shape::Text(text) => (Kept::Text(text.as_bytes().to_vec()), "text"),
        Shape::Array(_) => (Kept::Text(text.clone()), "array"),
        Shape::Object(_) => (Kept::Text(text.clone()), "object"),
        Shape::Elsewhere(..) => return None,
    };
    Some(FoundValue { value, kind, text })
}
