//! The text of a statement that reads edges.

use std::ffi::CString;

use super::values::Affinity;
use super::{Result, Unable, expression};
use crate::graph_ffi::{Handle, Query};

/// What is wanted of the edges.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted {
    /// The table or view.
    pub edges: Vec<u8>,
    /// One type, or several as an array of JSON.
    pub types: Option<Vec<u8>>,
    /// Expressions over the columns of an edge: whether it is followed, whether the node behind it is shown, and whether the walk ends
    /// there.
    pub filter: Option<Vec<u8>>,
    pub include: Option<Vec<u8>>,
    pub prune: Option<Vec<u8>>,
    pub cost: Option<Vec<u8>>,
}

/// Which edges a statement reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Those that begin at the node `?1`.
    Out,
    /// Those that end at it.
    In,
    All,
}

/// How types are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Choice {
    All,
    /// The statement does so, by `?2`.
    One,
    /// The reader of the edges compares them.
    Several,
}

/// The columns of a statement that reads edges: the node at the other end (or both ends), and what follows.
pub(super) const NODE: i32 = 0;
pub(super) const TYPE: i32 = 1;
pub(super) const COST: i32 = 2;
pub(super) const IS_SHOWN: i32 = 3;
pub(super) const IS_END: i32 = 4;
/// In [`Form::All`] the other end is there instead.
pub(super) const SOURCE: i32 = 5;

/// A statement that is prepared, with what was known when it was.
pub(super) struct Plan {
    pub query: Query,
    /// What the column makes of the values that it is compared with.
    pub affinity: Affinity,
    /// How often SQLite has prepared the statement anew because the schema changed: then the columns may be others, too.
    pub times_prepared: i32,
}

/// What a statement is found by among those that are kept.
pub(super) fn key(wanted: &Wanted, form: Form, choice: Choice) -> Vec<u8> {
    let parts = [&wanted.filter, &wanted.include, &wanted.prune, &wanted.cost];
    let mut key = vec![form as u8, choice as u8];
    key.extend_from_slice(&wanted.edges);
    for part in parts {
        // Neither a name nor an expression has a byte of zero.
        key.push(0);
        match part {
            Some(part) => key.extend_from_slice(part),
            None => key.push(0),
        }
    }
    key
}

/// Prepares the statement.
///
/// # Errors
/// There is no such table, it lacks a column, or an expression is none.
pub(super) fn prepare(handle: Handle<'_>, wanted: &Wanted, form: Form, choice: Choice) -> Result<Plan> {
    let columns = Columns::of(handle, wanted)?;
    if choice != Choice::All && !columns.has_type {
        return Err(columns.missing("type"));
    }
    for shown in [&wanted.include, &wanted.prune, &wanted.cost].into_iter().flatten() {
        refuse_aggregate(handle, &wanted.edges, shown)?;
    }
    let text = text(wanted, form, choice, &columns)?;
    let query = Query::prepare(handle, &text)?;
    if !query.is_read_only() {
        return Err(Unable::text("an expression of the graph is no expression"));
    }
    let affinity = if form == Form::In { columns.target } else { columns.source };
    Ok(Plan { times_prepared: query.times_prepared(), query, affinity })
}

/// An aggregate among the columns would make one row of all edges of a node; in a WHERE SQLite refuses it.
fn refuse_aggregate(handle: Handle<'_>, edges: &[u8], expression: &[u8]) -> Result<()> {
    let expression = bracketed("an expression", expression)?;
    let text = [b"SELECT 1 FROM ".as_slice(), &identifier(edges), b" WHERE ", &expression].concat();
    let text = CString::new(text).map_err(|_| Unable::text("an expression has a byte of zero"))?;
    Query::prepare(handle, &text).map(drop)
}

fn text(wanted: &Wanted, form: Form, choice: Choice, columns: &Columns<'_>) -> Result<CString> {
    let mut text = Vec::with_capacity(128 + wanted.edges.len());
    let mut add = |part: &[u8]| text.extend_from_slice(part);
    add(match form {
        Form::Out | Form::All => b"SELECT target, ",
        Form::In => b"SELECT source, ",
    });
    add(if columns.has_type { b"type, " } else { b"NULL, " });
    match &wanted.cost {
        Some(cost) => add(&bracketed("the cost", cost)?),
        None if columns.has_weight => add(b"weight"),
        None => add(b"NULL"),
    }
    for (what, part) in [("the argument include", &wanted.include), ("the argument prune", &wanted.prune)] {
        add(b", ");
        match part {
            Some(part) => add(&bracketed(what, part)?),
            None => add(b"NULL"),
        }
    }
    if form == Form::All {
        add(b", source");
    }
    add(b" FROM ");
    add(&identifier(&wanted.edges));
    add(match form {
        Form::Out => b" WHERE source = ?1",
        Form::In => b" WHERE target = ?1",
        Form::All => b" WHERE 1",
    });
    if choice == Choice::One {
        add(b" AND type = ?2");
    }
    if let Some(filter) = &wanted.filter {
        add(b" AND ");
        add(&bracketed("the filter", filter)?);
    }
    CString::new(text).map_err(|_| Unable::text("a name or an expression has a byte of zero"))
}

fn bracketed(what: &str, text: &[u8]) -> Result<Vec<u8>> {
    match expression::fault(text) {
        None => Ok([b"(", text, b")"].concat()),
        Some(fault) => Err(Unable::text(format!("{what} {fault}"))),
    }
}

/// A name as SQL has it.
fn identifier(name: &[u8]) -> Vec<u8> {
    let mut out = vec![b'"'];
    for byte in name {
        if *byte == b'"' {
            out.push(b'"');
        }
        out.push(*byte);
    }
    out.push(b'"');
    out
}

/// Which columns a table of edges has.
struct Columns<'a> {
    table: &'a [u8],
    has_type: bool,
    has_weight: bool,
    source: Affinity,
    target: Affinity,
}

impl Columns<'_> {
    fn of<'a>(handle: Handle<'_>, wanted: &'a Wanted) -> Result<Columns<'a>> {
        let text = [b"SELECT * FROM ".as_slice(), &identifier(&wanted.edges)].concat();
        let text = CString::new(text).map_err(|_| Unable::text("the name of a table has a byte of zero"))?;
        let query = Query::prepare(handle, &text)?;
        let find = |name: &str| {
            (0..query.column_count())
                .find(|column| query.column_name(*column).eq_ignore_ascii_case(name.as_bytes()))
        };
        let mut columns = Columns {
            table: &wanted.edges,
            has_type: find("type").is_some(),
            has_weight: find("weight").is_some(),
            source: Affinity::None,
            target: Affinity::None,
        };
        let source = find("source").ok_or_else(|| columns.missing("source"))?;
        let target = find("target").ok_or_else(|| columns.missing("target"))?;
        columns.source = Affinity::of(query.column_type_name(source));
        columns.target = Affinity::of(query.column_type_name(target));
        Ok(columns)
    }

    fn missing(&self, column: &str) -> Unable {
        let table = String::from_utf8_lossy(self.table);
        Unable::text(format!("the table of edges {table} has no column {column}"))
    }
}
