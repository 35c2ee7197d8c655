//! Expressions of APPLY and FILTER, and of FT.CREATE's FILTER: `@price * 2 > 10 && !startswith(@name, "x")`.
//!
//! A text becomes a tree of bounded depth once; a row is evaluated without looking at names. The language, its precedence, its
//! conversions and its error texts are RediSearch's, as its documentation and recorded answers show them. Four things are taken that it
//! refuses: `@a-1` is a subtraction (there `-1` is a number, and the whole is an error), `exists` of an expression that lacks a value is
//! 0, and names of functions may be in any case. Punctuation that means nothing is an error here; there it is skipped.

#[cfg(test)]
mod tests;

mod evaluate;
mod functions;
mod geo;
mod lexer;
mod parser;
mod texts;
mod time;

use super::value::{Message, Value};
use functions::Function;

/// Deepest tree, and deepest nesting of parentheses and calls. Evaluation takes a stack frame of some hundred bytes a level, and wasm32
/// has a stack of 1 MiB; RediSearch's parser ends at 100 levels of parentheses.
const DEPTH_MAX: usize = 200;

/// Most properties, literals and operators together: an expression is a text of some lines.
const NODES_MAX: usize = 10_000;

/// The name by which the terms that a row's query matched are looked up, a list of texts. No property can have it.
pub const MATCHED_TERMS: &[u8] = b"matched_terms()";

/// A parsed expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Expression {
    root: Node,
    /// Names of properties, by the numbers that [`Node::Property`] has.
    names: Vec<Vec<u8>>,
}

/// Where an evaluation finds the values of a row: by the number of a property in [`Expression::names`]. None if the row has none.
pub type Lookup<'a> = &'a dyn Fn(usize) -> Option<&'a Value>;

#[derive(Clone, Debug, PartialEq)]
enum Node {
    Literal(Value),
    Property(usize),
    Not(Box<Node>),
    Binary(Operator, Box<Node>, Box<Node>),
    Call(Function, Vec<Node>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operator {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
}

impl Expression {
    /// Parses a text. Fails with the text for the client.
    pub fn parse(text: &[u8]) -> Result<Expression, Message> {
        parser::parse(text)
    }

    /// The properties that it names, without `@`; [`MATCHED_TERMS`] may be among them.
    pub fn names(&self) -> &[Vec<u8>] {
        &self.names
    }

    /// Its value for a row. Fails if a property has no value that decides the result, and if a value is not of the kind that an operator
    /// or a function needs.
    pub fn evaluate<'a>(&'a self, row: Lookup<'a>) -> Result<Value, Message> {
        evaluate::evaluate(self, row)
    }

    /// Whether a document matches, as the FILTER of FT.CREATE has it: where the value cannot be told, it does not.
    pub fn matches<'a>(&'a self, row: Lookup<'a>) -> bool {
        self.evaluate(row).is_ok_and(|value| value.is_true())
    }
}
