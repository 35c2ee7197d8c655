//! A path as it was parsed.

use std::rc::Rc;

use crate::json::node::Node;

/// A path: from where it begins, segment by segment.
#[derive(Clone, Debug)]
pub struct Query {
    /// Whether it begins at the value that a filter looks at (`@`), and not at the whole document (`$`).
    pub is_relative: bool,
    /// The segments.
    pub segments: Vec<Segment>,
}

/// One segment: what is selected of each value that the segments before it have found.
#[derive(Clone, Debug)]
pub struct Segment {
    /// Whether it selects of all values below, too (`..`).
    pub is_descendant: bool,
    /// What is selected, each behind the one before it.
    pub selectors: Vec<Selector>,
}

/// What is selected of a value.
#[derive(Clone, Debug)]
pub enum Selector {
    /// The member with this name.
    Name(Rc<str>),
    /// All parts (`*`).
    Wildcard,
    /// The element with this index, from the end if it is negative.
    Index(i64),
    /// Elements from one on up to another one (`1:5:2`).
    Slice(Slice),
    /// The parts for which a condition holds (`?@.price < 10`).
    Filter(Condition),
}

/// Elements from `start` up to `end`, every one that is `step` further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The first one; the end that the walk begins at, if it is not said.
    pub start: Option<i64>,
    /// Where to stop, itself left out; the other end, if it is not said.
    pub end: Option<i64>,
    /// How far from one to the next; nothing is selected if it is 0.
    pub step: i64,
}

/// What holds for a value or not.
#[derive(Clone, Debug)]
pub enum Condition {
    /// One of them holds.
    Any(Vec<Condition>),
    /// All of them hold.
    All(Vec<Condition>),
    /// It does not hold.
    Not(Box<Condition>),
    /// The path finds something.
    Exists(Query),
    /// Both sides compare so.
    Compare(Comparison, Box<(Operand, Operand)>),
    /// A text is matched by a regular expression, as a whole (`match`) or in a part (`search`, `=~`).
    Matches {
        /// The text.
        text: Box<Operand>,
        /// The regular expression.
        pattern: Box<Operand>,
        /// Whether it must match the text as a whole.
        is_whole: bool,
    },
}

/// How two sides compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// What can be compared.
#[derive(Clone, Debug)]
pub enum Operand {
    /// A value that stands in the path.
    Literal(Node),
    /// The value that a path finds, which can be one at most.
    Query(Query),
    /// `length`: of a string its characters, of arrays and objects their parts.
    Length(Box<Operand>),
    /// `count`: how many values a path finds.
    Count(Query),
    /// `value`: the value that a path finds, if it finds just one.
    Value(Query),
}

impl Query {
    /// Whether it finds one value at most, whatever the document is.
    pub fn is_singular(&self) -> bool {
        self.segments.iter().all(|segment| {
            !segment.is_descendant
                && matches!(segment.selectors.as_slice(), [Selector::Name(_) | Selector::Index(_)])
        })
    }
}
