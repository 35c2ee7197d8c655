//! Tables over graphs: `graph_walk(edges, start)` and its like, which read the edges out of any table or view.
//!
//! ```text
//!  cursor      the rows of one of the tables
//!    |
//!  walk, path, whole   the algorithms: over some nodes, between two, over all
//!    |
//!  edges       the edges of a node, by a statement on the same connection; plan makes its text, expression checks what users put in it
//!    |
//!  values      nodes and types as small numbers; memory counts what all of them take
//! ```
//!
//! - `options` reads the arguments of a table.
//! - `cache` keeps the statements prepared.
//!
//! Promises: the statements only read, are one statement each, and pass the authorizer like the statement around them. Memory is bounded
//! ([`GRAPH_BYTES_MAX`](crate::limits::GRAPH_BYTES_MAX)), and whatever grows with the graph asks the host whether it may go on. Nothing here
//! calls itself: paths are chains of indexes.

pub(crate) mod cache;
pub(crate) mod cursor;
pub(crate) mod edges;
mod expression;
mod memory;
mod options;
mod path;
mod plan;
mod values;
mod walk;
mod whole;

use std::ffi::CStr;

/// Which of them a table is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Neighbors,
    Walk,
    Path,
    Components,
    Pagerank,
}

/// An argument of a table, which is a hidden column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Argument {
    Edges,
    Start,
    Target,
    Direction,
    Types,
    MinDepth,
    MaxDepth,
    Uniqueness,
    Traversal,
    Filter,
    Include,
    Prune,
    CostBy,
}

/// A kind of table.
pub(crate) struct Table {
    pub kind: Kind,
    pub name: &'static CStr,
    /// Its columns, as SQLite wants them: those that are shown, then the arguments.
    pub declaration: &'static CStr,
    /// How many columns are shown.
    pub shown: usize,
    pub arguments: &'static [Argument],
    /// How many of the arguments must be there: the first ones.
    pub needed: usize,
    /// Rows to expect of it.
    pub rows: i64,
}

impl Table {
    /// The argument that a condition on this column gives. `direction` is shown by one table, and there is its argument, too.
    pub fn argument(&self, column: usize) -> Option<usize> {
        if let Some(at) = column.checked_sub(self.shown) {
            return (at < self.arguments.len()).then_some(at);
        }
        let is_direction = self.kind == Kind::Neighbors && column == NEIGHBOR_DIRECTION;
        is_direction.then(|| self.arguments.iter().position(|one| *one == Argument::Direction)).flatten()
    }
}

/// The column of `graph_neighbors` with the direction.
const NEIGHBOR_DIRECTION: usize = 3;

use Argument::{
    CostBy, Direction, Edges, Filter, Include, MaxDepth, MinDepth, Prune, Start, Target, Traversal, Types,
    Uniqueness,
};

/// All of them.
pub(crate) const TABLES: &[Table] = &[
    Table {
        kind: Kind::Neighbors,
        name: c"graph_neighbors",
        declaration: c"CREATE TABLE x(node, type, weight, direction TEXT, edges HIDDEN, start HIDDEN, \
            directions HIDDEN, types HIDDEN, filter HIDDEN)",
        shown: 4,
        arguments: &[Edges, Start, Direction, Types, Filter],
        needed: 2,
        rows: 10,
    },
    Table {
        kind: Kind::Walk,
        name: c"graph_walk",
        declaration:
            c"CREATE TABLE x(node, depth INTEGER, cost REAL, type, previous, path TEXT, route TEXT, \
            edges HIDDEN, start HIDDEN, direction HIDDEN, types HIDDEN, min_depth HIDDEN, max_depth HIDDEN, \
            uniqueness HIDDEN, traversal HIDDEN, filter HIDDEN, include HIDDEN, prune HIDDEN, cost_by HIDDEN)",
        shown: 7,
        arguments: &[
            Edges, Start, Direction, Types, MinDepth, MaxDepth, Uniqueness, Traversal, Filter, Include,
            Prune, CostBy,
        ],
        needed: 2,
        rows: 1000,
    },
    Table {
        kind: Kind::Path,
        name: c"graph_path",
        declaration: c"CREATE TABLE x(step INTEGER, node, type, cost REAL, edges HIDDEN, start HIDDEN, \
            target HIDDEN, direction HIDDEN, types HIDDEN, filter HIDDEN, cost_by HIDDEN)",
        shown: 4,
        arguments: &[Edges, Start, Target, Direction, Types, Filter, CostBy],
        needed: 3,
        rows: 10,
    },
    Table {
        kind: Kind::Components,
        name: c"graph_components",
        declaration: c"CREATE TABLE x(node, component, edges HIDDEN, types HIDDEN, filter HIDDEN)",
        shown: 2,
        arguments: &[Edges, Types, Filter],
        needed: 1,
        rows: 10_000,
    },
    Table {
        kind: Kind::Pagerank,
        name: c"graph_pagerank",
        declaration: c"CREATE TABLE x(node, rank REAL, edges HIDDEN, types HIDDEN, filter HIDDEN)",
        shown: 2,
        arguments: &[Edges, Types, Filter],
        needed: 1,
        rows: 10_000,
    },
];

/// Why a table cannot be read on.
#[derive(Debug)]
pub(crate) enum Unable {
    /// What is wrong with the arguments or the edges.
    Error(Vec<u8>),
    /// SQLite's code of an error that says enough by itself.
    Code(std::ffi::c_int),
    TooLarge,
    NoMemory,
    /// The statement was stopped.
    Stopped,
}

impl Unable {
    fn text(text: impl Into<String>) -> Unable {
        Unable::Error(text.into().into_bytes())
    }
}

pub(crate) type Result<T> = std::result::Result<T, Unable>;
