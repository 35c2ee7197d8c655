//! RediSearch's query language: from the text of FT.SEARCH to a tree, and from a tree to FT.EXPLAIN's text.
//!
//! Dialects 2 to 4 share a grammar; dialect 1 has one of its own. Where precedence looks odd, it is RediSearch's: its parsers are made by
//! a generator from tables of precedence, and applications depend on what came out. The parser never panics, and its work and memory are
//! bounded by the text, [`DEPTH_MAX`] and [`NODES_MAX`].

pub mod tree;

mod lexer;

mod parser;

mod word;

mod field;

mod vector;

mod attributes;

pub mod explain;

#[cfg(test)]
mod tests;

pub use tree::{Attributes, Bound, Clause, GeoUnit, Nearest, Node, Pattern, Query};

use crate::search::schema::Schema;

/// Deepest nesting of parentheses and signs. The parser, the evaluation and the tree's destructor recurse so deep, on a stack of 1 MiB in
/// wasm; people write fewer than ten, and programs that nest more can nest to the left. RediSearch's parser ends at about 250.
pub const DEPTH_MAX: usize = 100;

/// Most parts of a query, values of tags included: a list of thirty thousand keys fits, and its tree takes some MiB.
pub const NODES_MAX: usize = 32 * 1024;

/// Most bytes of parameters' values that a query takes, each as often as it names it: twenty vectors of the largest dimension. Without this
/// bound a short text that names a long value often would fill the memory.
pub const PARAMETERS_MAX_BYTES: usize = 4 * 1024 * 1024;

/// FT.EXPLAIN ends after so many bytes: fields are repeated in each line, so a short query may have a long explanation.
pub const EXPLAIN_MAX_BYTES: usize = 4 * 1024 * 1024;

/// What the meaning of a text depends on.
pub struct Context<'a> {
    /// The fields.
    pub schema: &'a Schema,
    /// DIALECT, 1 to 4.
    pub dialect: u8,
    /// PARAMS, names and values. Names occur once.
    pub parameters: &'a [(&'a [u8], &'a [u8])],
    /// VERBATIM: no stems.
    pub is_verbatim: bool,
    /// NOSTOPWORDS: stop words are words.
    pub keeps_stop_words: bool,
    /// SCORER INSTANT: a word at the very end is still being typed, so it is no stop word yet.
    pub is_typed: bool,
}

/// Why a text is no query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The error reply without its prefix, in RediSearch's words.
    pub text: String,
}

impl ParseError {
    /// An error reply is a line, whatever bytes of the query it repeats.
    fn new(parts: &[&[u8]]) -> ParseError {
        let text = parts.concat();
        ParseError { text: String::from_utf8_lossy(&text).replace(['\r', '\n'], " ") }
    }
}

/// Reads a query.
///
/// # Errors
/// A text outside of the grammar; unknown fields and parameters; clauses that do not fit the type of their field; bounds of this module.
pub fn parse(text: &[u8], context: &Context<'_>) -> Result<Query, ParseError> {
    parser::Parser::new(text, context).query()
}
