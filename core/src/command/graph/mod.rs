//! Graphs: nodes and edges in tables of an SQL database, and questions to them.
//!
//! ```text
//!  change   adds and removes nodes, edges and properties
//!  read     returns them; neighbors, walks and paths by the tables graph_neighbors, graph_walk and graph_path
//!    |
//!  options  what follows the nodes of a question
//! ```
//!
//! A command makes a text of SQL and runs it like SQL.EXEC or SQL.QUERY, so it has no state and no format of its own: whatever SQL does to
//! the tables, these commands see.

mod change;
mod options;
mod read;

use super::sql;
use super::{CommandError, Group};
use crate::sql::{Parameter, SqlValue};

pub(super) const HANDLERS: Group = &[
    ("graph.addedge", change::add_edge),
    ("graph.addnode", change::add_node),
    ("graph.deledge", change::delete_edge),
    ("graph.delnode", change::delete_node),
    ("graph.delproperty", change::delete_property),
    ("graph.getedge", read::get_edge),
    ("graph.getnode", read::get_node),
    ("graph.neighbors", read::neighbors),
    ("graph.path", read::path),
    ("graph.setproperty", change::set_property),
    ("graph.walk", read::walk),
];

/// The table of edges that the commands make.
const EDGES: &[u8] = b"graph_edge";

/// Whether an error says that the database has no graph yet.
fn is_no_graph(error: &CommandError) -> bool {
    let text = error.reply_text();
    ["no such table: graph_edge", "no such table: graph_node"].iter().any(|end| text.ends_with(end))
}

/// A node as SQL has it: what Redis calls an integer is one.
fn node(argument: &[u8]) -> SqlValue<'_> {
    sql::value(argument)
}

fn named<'a>(name: &'static str, value: SqlValue<'a>) -> Parameter<'a> {
    Parameter { name: Some(name.as_bytes()), value }
}

/// An edge by its three parts.
fn edge<'a>(source: &'a [u8], kind: &'a [u8], target: &'a [u8]) -> [Parameter<'a>; 3] {
    [named(":source", node(source)), named(":type", sql::text_value(kind)), named(":target", node(target))]
}
