//! Adds and removes nodes, edges and properties.

use super::{edge, is_no_graph, named, node};
use crate::command::args::{float, is_option};
use crate::command::atomic::atomically;
use crate::command::sql::gather::{Held, change, gather};
use crate::command::sql::{placed, text_value};
use crate::command::{CommandError, Context, Outcome};
use crate::sql::{Parameter, SqlValue};

/// Makes the tables if they are not there, and goes before what needs them.
macro_rules! with_tables {
    ($text:literal) => {
        concat!(
            "CREATE TABLE IF NOT EXISTS graph_node(id PRIMARY KEY NOT NULL, label TEXT, properties TEXT NOT NULL DEFAULT '{}' \
                CONSTRAINT properties_are_an_object CHECK (json_type(properties) = 'object')) WITHOUT ROWID; \
            CREATE TABLE IF NOT EXISTS graph_edge(source NOT NULL, type TEXT NOT NULL, target NOT NULL, \
                weight REAL NOT NULL DEFAULT 1, properties TEXT NOT NULL DEFAULT '{}' \
                CONSTRAINT properties_are_an_object CHECK (json_type(properties) = 'object'), \
                PRIMARY KEY(source, type, target)) WITHOUT ROWID; \
            CREATE INDEX IF NOT EXISTS graph_edge_target ON graph_edge(target, type, source); ",
            $text
        )
        .as_bytes()
    };
}

/// Two rows change if the node is new, else one.
const ADD_NODE: &[u8] = with_tables!(
    "INSERT INTO graph_node(id) VALUES (:id) ON CONFLICT DO NOTHING; \
    UPDATE graph_node SET label = coalesce(:label, label), properties = coalesce(json(:properties), properties) WHERE id = :id"
);

const ADD_ENDS: &[u8] =
    with_tables!("INSERT INTO graph_node(id) VALUES (:source), (:target) ON CONFLICT DO NOTHING");

/// Two rows change if the edge is new, else one.
const ADD_EDGE: &[u8] = b"INSERT INTO graph_edge(source, type, target) VALUES (:source, :type, :target) ON CONFLICT DO NOTHING; \
    UPDATE graph_edge SET weight = coalesce(:weight, weight), properties = coalesce(json(:properties), properties) \
    WHERE source = :source AND type = :type AND target = :target";

const DELETE_NODE: &[u8] =
    b"DELETE FROM graph_edge WHERE source = :id; DELETE FROM graph_edge WHERE target = :id; \
    DELETE FROM graph_node WHERE id = :id";

const DELETE_EDGE: &[u8] =
    b"DELETE FROM graph_edge WHERE source = :source AND type = :type AND target = :target";

const SET_OF_NODE: &[u8] =
    b"UPDATE graph_node SET properties = json_set(properties, :path, json(:value)) WHERE id = :id";

const SET_OF_EDGE: &[u8] = b"UPDATE graph_edge SET properties = json_set(properties, :path, json(:value)) \
    WHERE source = :source AND type = :type AND target = :target";

const REMOVE_OF_NODE: &[u8] = b"UPDATE graph_node SET properties = json_remove(properties, :path) \
    WHERE id = :id AND json_type(properties, :path) IS NOT NULL";

const REMOVE_OF_EDGE: &[u8] = b"UPDATE graph_edge SET properties = json_remove(properties, :path) \
    WHERE source = :source AND type = :type AND target = :target AND json_type(properties, :path) IS NOT NULL";

/// `GRAPH.ADDNODE database node [LABEL label] [PROPERTIES json]`
pub(super) fn add_node(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (mut label, mut properties) = (SqlValue::Null, SqlValue::Null);
    for (name, value) in pairs(args.get(3..).unwrap_or_default())? {
        match name {
            name if is_option(name, "LABEL") => label = text_value(value),
            name if is_option(name, "PROPERTIES") => properties = json(value)?,
            _ => return Err(CommandError::SYNTAX),
        }
    }
    check_properties(ctx, args[1], properties)?;
    let parameters = [named(":id", node(args[2])), named(":label", label), named(":properties", properties)];
    let changed = change(ctx, args[1], ADD_NODE, &parameters)?;
    ctx.reply.integer(i64::from(changed > 1));
    Ok(())
}

/// `GRAPH.ADDEDGE database source type target [WEIGHT weight] [PROPERTIES json]`
pub(super) fn add_edge(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (mut weight, mut properties) = (SqlValue::Null, SqlValue::Null);
    for (name, value) in pairs(args.get(5..).unwrap_or_default())? {
        match name {
            name if is_option(name, "WEIGHT") => weight = SqlValue::Real(float(value)?),
            name if is_option(name, "PROPERTIES") => properties = json(value)?,
            _ => return Err(CommandError::SYNTAX),
        }
    }
    check_properties(ctx, args[1], properties)?;
    let [source, kind, target] = edge(args[2], args[3], args[4]);
    let all = [source, kind, target, named(":weight", weight), named(":properties", properties)];
    let changed = atomically(ctx, |ctx| {
        change(ctx, args[1], ADD_ENDS, &[source, target])?;
        change(ctx, args[1], ADD_EDGE, &all)
    })?;
    ctx.reply.integer(i64::from(changed > 1));
    Ok(())
}

/// `GRAPH.DELNODE database node`
pub(super) fn delete_node(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    reply_changed(ctx, args[1], DELETE_NODE, &[named(":id", node(args[2]))])
}

/// `GRAPH.DELEDGE database source type target`
pub(super) fn delete_edge(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    reply_changed(ctx, args[1], DELETE_EDGE, &edge(args[2], args[3], args[4]))
}

/// `GRAPH.SETPROPERTY database <NODE node | EDGE source type target> path json`: 0 if there is no such node or edge.
pub(super) fn set_property(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let [before @ .., value] = args else { return Err(CommandError::SYNTAX) };
    let (is_node, path, mut parameters) = property(before)?;
    parameters.push(named(":path", SqlValue::Text(&path)));
    parameters.push(named(":value", json(value)?));
    reply_changed(ctx, args[1], if is_node { SET_OF_NODE } else { SET_OF_EDGE }, &parameters)
}

/// `GRAPH.DELPROPERTY database <NODE node | EDGE source type target> path`
pub(super) fn delete_property(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (is_node, path, mut parameters) = property(args)?;
    parameters.push(named(":path", SqlValue::Text(&path)));
    reply_changed(ctx, args[1], if is_node { REMOVE_OF_NODE } else { REMOVE_OF_EDGE }, &parameters)
}

/// Whose property it is: whether a node's, the path to it, and what the node or the edge is found by.
fn property<'a>(args: &'a [&'a [u8]]) -> Result<(bool, Vec<u8>, Vec<Parameter<'a>>), CommandError> {
    match args {
        [_, _, word, id, path] if is_option(word, "NODE") => {
            Ok((true, path_of(path)?, vec![named(":id", node(id))]))
        }
        [_, _, word, source, kind, target, path] if is_option(word, "EDGE") => {
            Ok((false, path_of(path)?, edge(source, kind, target).to_vec()))
        }
        _ => Err(CommandError::SYNTAX),
    }
}

/// A path of SQLite's JSON; what does not begin with a dollar is the name of a member.
fn path_of(path: &[u8]) -> Result<Vec<u8>, CommandError> {
    if std::str::from_utf8(path).is_err() || path.contains(&b'"') && !path.starts_with(b"$") {
        return Err(CommandError::text("ERR the name of a property is a text without quotes"));
    }
    Ok(if path.starts_with(b"$") { path.to_vec() } else { [b"$.\"", path, b"\""].concat() })
}

/// Refuses properties that are no object before anything is changed: in a transaction of SQL.BEGIN each statement is kept for itself.
fn check_properties(ctx: &mut Context<'_, '_>, key: &[u8], properties: SqlValue<'_>) -> Outcome {
    if properties == SqlValue::Null {
        return Ok(());
    }
    let kind = gather(ctx, key, b"SELECT json_type(?)", &[placed(properties)])?;
    match kind.first().map(Held::value) {
        Some(SqlValue::Text(b"object")) => Ok(()),
        _ => Err(CommandError::text("ERR properties are no object of JSON")),
    }
}

/// JSON is looked at by SQLite, for which a blob would be its own form of it.
fn json(argument: &[u8]) -> Result<SqlValue<'_>, CommandError> {
    match text_value(argument) {
        SqlValue::Text(text) => Ok(SqlValue::Text(text)),
        _ => Err(CommandError::text("ERR malformed JSON")),
    }
}

fn pairs<'a>(args: &[&'a [u8]]) -> Result<impl Iterator<Item = (&'a [u8], &'a [u8])>, CommandError> {
    let (pairs, rest) = args.as_chunks::<2>();
    if rest.is_empty() {
        Ok(pairs.iter().map(|[name, value]| (*name, *value)))
    } else {
        Err(CommandError::SYNTAX)
    }
}

/// Runs a text and replies with how many rows it has changed: none if the database has no graph yet.
fn reply_changed(
    ctx: &mut Context<'_, '_>,
    key: &[u8],
    text: &[u8],
    parameters: &[Parameter<'_>],
) -> Outcome {
    let changed = match change(ctx, key, text, parameters) {
        Err(error) if is_no_graph(&error) => 0,
        changed => changed?,
    };
    ctx.reply.integer(i64::try_from(changed).unwrap_or(i64::MAX));
    Ok(())
}
