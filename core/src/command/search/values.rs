//! What a document has: fields of a hash, or what paths find in a document of JSON.

use std::ops::ControlFlow;

use crate::command::CommandError;
use crate::data::DataError;
use crate::data::json::Document;
use crate::engine::{Kind, SubWalk, Txn, Want};
use crate::json::format::{Brackets, Format, write};
use crate::json::node::Node;
use crate::json::packed::Shape;
use crate::json::path::{self, Ended, tree::Query};
use crate::limits::JSON_PATH_WORK_MAX;
use crate::search::schema::FieldKind;
use crate::search::value::Value;
use crate::server::search::Definition;

type Result<T> = std::result::Result<T, CommandError>;

/// From this DIALECT on a path into JSON shows all that it finds, as an array; before, the first.
const ALL_FROM_DIALECT: u8 = 3;

/// Under this name a reply has a whole document of JSON.
const WHOLE: &[u8] = b"$";

/// The documents of an index, as a request wants to see them.
#[derive(Clone, Copy)]
pub(super) struct Documents<'d> {
    pub definition: &'d Definition,
    /// DIALECT of the request.
    pub dialect: u8,
}

impl Documents<'_> {
    /// The value at a path, as replies show it.
    ///
    /// # Errors
    /// The engine's; or the path looks at too much.
    pub fn text(self, txn: &mut Txn<'_>, key: &[u8], path: &[u8]) -> Result<Option<Vec<u8>>> {
        if self.definition.kind != Kind::Json {
            return Ok(txn.sub_value(self.definition.db, key, path)?);
        }
        let shown = self.shown(txn, key, path)?;
        Ok(shown.and_then(|shown| match shown {
            Shown::Null => None,
            Shown::Number(_, text) | Shown::Text(text) => Some(text),
        }))
    }

    /// The value of a property in a row of FT.AGGREGATE.
    ///
    /// # Errors
    /// As for [`Documents::text`].
    pub fn value(self, txn: &mut Txn<'_>, key: &[u8], name: &[u8]) -> Result<Option<Value>> {
        let field = self.definition.schema.find(name).map(|(_, field)| field);
        let path = field.map_or(name, |field| field.path.as_slice());
        if self.definition.kind != Kind::Json {
            let is_numeric = field.is_some_and(|field| field.kind == FieldKind::Numeric);
            let value = txn.sub_value(self.definition.db, key, path)?;
            return Ok(value.map(|value| Value::of_hash_field(&value, is_numeric)));
        }
        let shown = self.shown(txn, key, path)?;
        Ok(shown.map(|shown| match shown {
            Shown::Null => Value::Null,
            Shown::Number(number, _) => Value::Number(number),
            Shown::Text(text) => Value::text(&text),
        }))
    }

    /// All that a document has, in the order of replies.
    ///
    /// # Errors
    /// The engine's.
    pub fn each(self, txn: &mut Txn<'_>, key: &[u8], each: &mut dyn FnMut(&[u8], &[u8])) -> Result<()> {
        if self.definition.kind == Kind::Json {
            if let Some(text) = self.text(txn, key, WHOLE)? {
                each(WHOLE, &text);
            }
            return Ok(());
        }
        txn.sub_scan(self.definition.db, key, SubWalk::all(Want::Values), &mut |field, value| {
            each(field, value);
            ControlFlow::Continue(())
        })?;
        Ok(())
    }

    fn shown(self, txn: &mut Txn<'_>, key: &[u8], path: &[u8]) -> Result<Option<Shown>> {
        let Some(query) = query(path) else { return Ok(None) };
        let Some(mut document) = open(txn, self.definition, key)? else { return Ok(None) };
        let nodes = find(&query, &mut document)?;
        let Some(first) = nodes.first() else { return Ok(None) };
        if self.dialect < ALL_FROM_DIALECT {
            return shown(first, &mut document).map(Some);
        }
        let mut text = Vec::new();
        let mut brackets = Brackets::open(false, Format::default(), 0, &mut text);
        for node in &nodes {
            brackets.part(&mut text);
            let written = write(node, Format::default(), &mut document, &mut text);
            written.map_err(|stopped| document.stopped(stopped))?;
        }
        brackets.close(&mut text);
        Ok(Some(Shown::Text(text)))
    }
}

/// A value of JSON as results show it.
enum Shown {
    Null,
    /// A number, and its digits.
    Number(f64, Vec<u8>),
    /// A string without quotes, anything else as JSON.
    Text(Vec<u8>),
}

fn shown(node: &Node, document: &mut Document<'_, '_>) -> Result<Shown> {
    let node = node.whole(document).map_err(|stopped| document.stopped(stopped))?;
    let shape = node.shape(document).map_err(|stopped| document.stopped(stopped))?;
    let number = match shape {
        Shape::Null => return Ok(Shown::Null),
        Shape::Text(text) => return Ok(Shown::Text(text.as_bytes().to_vec())),
        Shape::Number(number) => Some(number.to_f64()),
        _ => None,
    };
    let mut text = Vec::new();
    let written = write(&node, Format::default(), document, &mut text);
    written.map_err(|stopped| document.stopped(stopped))?;
    Ok(match number {
        Some(number) => Shown::Number(number, text),
        None => Shown::Text(text),
    })
}

/// A path into JSON; None if it is none.
pub(super) fn query(path: &[u8]) -> Option<Query> {
    let text = std::str::from_utf8(path).ok()?;
    let parsed = if text.starts_with('$') { path::parse(text) } else { path::parse_legacy(text) };
    parsed.ok()
}

/// The document of JSON that a key is; None if it is none.
///
/// # Errors
/// The engine's.
pub(super) fn open<'t, 'e>(
    txn: &'t mut Txn<'e>,
    definition: &Definition,
    key: &'t [u8],
) -> Result<Option<Document<'t, 'e>>> {
    match Document::open(txn, definition.db, key) {
        Err(DataError::WrongType) => Ok(None),
        opened => Ok(opened?),
    }
}

/// What a path finds.
///
/// # Errors
/// The engine's; or the path looks at too much.
pub(super) fn find(query: &Query, document: &mut Document<'_, '_>) -> Result<Vec<Node>> {
    let top = document.top()?;
    let mut work = JSON_PATH_WORK_MAX;
    match path::find(query, &top, document, &mut work) {
        Ok(found) => Ok(found.into_iter().map(|found| found.node).collect()),
        Err(Ended::Stopped(stopped)) => Err(document.stopped(stopped).into()),
        Err(Ended::TooMuch) => Err(CommandError::text("the path looks at too many values")),
    }
}
