//! Tables over keys: `redis_hash(key)` and its like, which are read by commands of the same transaction.
//!
//! - `json` makes rows of documents.
//! - `plan` chooses what of a WHERE and an ORDER BY the commands do.
//! - `scan` reads the rows, some at a time.
//!
//! SQLite checks every condition once more, but that on the key: what a plan reads may be more rows than are wanted, never fewer.

mod json;
pub(crate) mod plan;
pub(crate) mod scan;

use std::ffi::CStr;

/// Which of them a table is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Hash,
    List,
    Set,
    SortedSet,
    Stream,
    Keys,
    /// A document of JSON as one row.
    Json,
    /// What a path finds in a document.
    JsonEach,
}

/// What a column is to a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    /// A row is found by it.
    Lookup,
    /// The rows are ordered by it, and a range of them can be read.
    Order,
    /// The same by another number than the first.
    OtherOrder,
    /// The text of an ordered identifier, which is looked up as well.
    Identifier,
    /// Orders the rows that are equal in [`Column::Order`].
    ThenOrder,
    /// Rows are left out by it.
    Filter,
    /// It is only shown.
    Shown,
    /// The argument of the table.
    Argument,
    /// Another one, which may be left out.
    SecondArgument,
}

/// A kind of table.
pub(crate) struct Table {
    pub kind: Kind,
    pub name: &'static CStr,
    /// Its columns, as SQLite wants them.
    pub declaration: &'static CStr,
    pub columns: &'static [Column],
    /// Whether it has no rows to speak of without its argument.
    pub needs_argument: bool,
}

/// All of them. Texts have the affinity TEXT, so that a field is found by a number, too, but nothing becomes one.
pub(crate) const TABLES: &[Table] = &[
    Table {
        kind: Kind::Hash,
        name: c"redis_hash",
        declaration: c"CREATE TABLE x(field TEXT, value TEXT, key HIDDEN)",
        columns: &[Column::Lookup, Column::Shown, Column::Argument],
        needs_argument: true,
    },
    Table {
        kind: Kind::List,
        name: c"redis_list",
        declaration: c"CREATE TABLE x(position INTEGER, value TEXT, key HIDDEN)",
        columns: &[Column::Order, Column::Shown, Column::Argument],
        needs_argument: true,
    },
    Table {
        kind: Kind::Set,
        name: c"redis_set",
        declaration: c"CREATE TABLE x(member TEXT, key HIDDEN)",
        columns: &[Column::Lookup, Column::Argument],
        needs_argument: true,
    },
    Table {
        kind: Kind::SortedSet,
        name: c"redis_zset",
        declaration: c"CREATE TABLE x(member TEXT, score REAL, rank INTEGER, key HIDDEN)",
        columns: &[Column::Lookup, Column::Order, Column::OtherOrder, Column::Argument],
        needs_argument: true,
    },
    Table {
        kind: Kind::Stream,
        name: c"redis_stream",
        declaration: c"CREATE TABLE x(id TEXT, ms INTEGER, seq INTEGER, fields TEXT, key HIDDEN)",
        columns: &[Column::Identifier, Column::Order, Column::ThenOrder, Column::Shown, Column::Argument],
        needs_argument: true,
    },
    Table {
        kind: Kind::Keys,
        name: c"redis_keys",
        declaration: c"CREATE TABLE x(key TEXT, type TEXT, pattern HIDDEN)",
        columns: &[Column::Lookup, Column::Filter, Column::Argument],
        needs_argument: false,
    },
    Table {
        kind: Kind::Json,
        name: c"json_key",
        declaration: c"CREATE TABLE x(value TEXT, key HIDDEN)",
        columns: &[Column::Shown, Column::Argument],
        needs_argument: true,
    },
    Table {
        kind: Kind::JsonEach,
        name: c"json_each_key",
        declaration:
            c"CREATE TABLE x(position INTEGER, value, type TEXT, json TEXT, key HIDDEN, path HIDDEN)",
        columns: &[
            Column::Shown,
            Column::Shown,
            Column::Shown,
            Column::Shown,
            Column::Argument,
            Column::SecondArgument,
        ],
        needs_argument: true,
    },
];
