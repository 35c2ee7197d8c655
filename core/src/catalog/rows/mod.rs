//! The rows, one file for each group, in alphabetic order.
//!
//! To add a command, write its row here; its function in `command/` finds the row by its name.

mod bitmap;
mod cluster;
mod connection;
mod generic;
mod geo;
mod graph;
mod hash;
mod hyperloglog;
mod json;
mod list;
mod pubsub;
mod scripting;
mod search;
mod server;
mod set;
mod sorted_set;
mod sql;
mod stream;
mod string;
mod transactions;

use super::row::Row;
use super::spec::Group;

/// Every group with its rows, in the order of the table and of `docs/commands.md`.
pub(super) const GROUPS: [(Group, &[Row]); 20] = [
    (Group::Connection, connection::ROWS),
    (Group::Server, server::ROWS),
    (Group::Cluster, cluster::ROWS),
    (Group::Transactions, transactions::ROWS),
    (Group::Generic, generic::ROWS),
    (Group::String, string::ROWS),
    (Group::Bitmap, bitmap::ROWS),
    (Group::Hash, hash::ROWS),
    (Group::List, list::ROWS),
    (Group::Set, set::ROWS),
    (Group::SortedSet, sorted_set::ROWS),
    (Group::Hyperloglog, hyperloglog::ROWS),
    (Group::PubSub, pubsub::ROWS),
    (Group::Stream, stream::ROWS),
    (Group::Geo, geo::ROWS),
    (Group::Scripting, scripting::ROWS),
    (Group::Sql, sql::ROWS),
    (Group::Search, search::ROWS),
    (Group::Json, json::ROWS),
    (Group::Graph, graph::ROWS),
];
