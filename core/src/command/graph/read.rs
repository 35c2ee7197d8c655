//! Returns nodes, edges, neighbors, walks and paths.

use super::options::{Options, Question};
use super::{edge, is_no_graph, named, node};
use crate::command::sql::gather::{Gathered, gather};
use crate::command::sql::{placed, put, reply_with_rows};
use crate::command::{CommandError, Context, Outcome};
use crate::sql::{Parameter, SqlValue};

const NODE: &[u8] = b"SELECT id, label, properties FROM graph_node WHERE id = :id";

const EDGE: &[u8] = b"SELECT source, type, target, weight, properties FROM graph_edge \
    WHERE source = :source AND type = :type AND target = :target";

const NEIGHBORS: &[u8] = b"SELECT node, type, weight, direction FROM graph_neighbors(?, ?, ?, ?, ?) LIMIT ?";

const WALK: &[u8] = b"SELECT node, depth, cost FROM graph_walk(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) LIMIT ?";

const WALK_WITH_PATHS: &[u8] =
    b"SELECT node, depth, cost, route FROM graph_walk(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) LIMIT ?";

const PATH: &[u8] = b"SELECT node, type, cost FROM graph_path(?, ?, ?, ?, ?, ?, ?) ORDER BY step";

/// `GRAPH.GETNODE database node`
pub(super) fn get_node(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    get(ctx, args[1], NODE, &[named(":id", node(args[2]))])
}

/// `GRAPH.GETEDGE database source type target`
pub(super) fn get_edge(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    get(ctx, args[1], EDGE, &edge(args[2], args[3], args[4]))
}

/// Replies with a row as a map, or with nil.
fn get(ctx: &mut Context<'_, '_>, key: &[u8], text: &[u8], parameters: &[Parameter<'_>]) -> Outcome {
    let found = gather_of_graph(ctx, key, text, parameters, true)?;
    let Some(row) = found.rows.first() else {
        ctx.reply.null();
        return Ok(());
    };
    ctx.reply.map(row.len().min(found.names.len()));
    for (name, value) in found.names.iter().zip(row) {
        ctx.reply.bulk(name);
        put(value.value(), ctx.reply);
    }
    Ok(())
}

/// A whole result, which is empty if the database has no graph yet.
fn gather_of_graph(
    ctx: &mut Context<'_, '_>,
    key: &[u8],
    text: &[u8],
    parameters: &[Parameter<'_>],
    is_of_graph: bool,
) -> Result<Gathered, CommandError> {
    match gather(ctx, key, text, parameters) {
        Err(error) if is_of_graph && is_no_graph(&error) => Ok(Gathered::default()),
        gathered => gathered,
    }
}

/// `GRAPH.NEIGHBORS database node [option ...]`
pub(super) fn neighbors(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let options = Options::parse(Question::Neighbors, args.get(3..).unwrap_or_default())?;
    let values = [
        options.edges(),
        node(args[2]),
        options.direction(),
        options.types(),
        options.filter(),
        options.limit(),
    ];
    reply_with(ctx, args[1], NEIGHBORS, &values, &options)
}

/// `GRAPH.WALK database start [option ...]`
pub(super) fn walk(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let options = Options::parse(Question::Walk, args.get(3..).unwrap_or_default())?;
    let ([min_depth, max_depth], [uniqueness, order]) = (options.depths(), options.manner());
    let [include, prune] = options.include_and_prune();
    let values = [
        options.edges(),
        node(args[2]),
        options.direction(),
        options.types(),
        min_depth,
        max_depth,
        uniqueness,
        order,
        options.filter(),
        include,
        prune,
        options.limit(),
    ];
    let text = if options.with_paths { WALK_WITH_PATHS } else { WALK };
    reply_with(ctx, args[1], text, &values, &options)
}

fn reply_with(
    ctx: &mut Context<'_, '_>,
    key: &[u8],
    text: &[u8],
    values: &[SqlValue<'_>],
    options: &Options<'_>,
) -> Outcome {
    let parameters: Vec<Parameter<'_>> = values.iter().copied().map(placed).collect();
    reply_with_rows(ctx, key, (text, &parameters), |error| options.is_of_graph() && is_no_graph(error))
}

/// `GRAPH.PATH database source target [option ...]`: the cost, and the nodes, each with the type of the edge to it and what it has cost so
/// far.
pub(super) fn path(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let options = Options::parse(Question::Path, args.get(4..).unwrap_or_default())?;
    let values = [
        options.edges(),
        node(args[2]),
        node(args[3]),
        options.direction(),
        options.types(),
        options.filter(),
        options.cost(),
    ];
    let parameters = values.map(placed);
    let found = gather_of_graph(ctx, args[1], PATH, &parameters, options.is_of_graph())?;
    let Some(cost) = found.rows.last().and_then(|row| row.last()) else {
        ctx.reply.null();
        return Ok(());
    };
    ctx.reply.array(2);
    put(cost.value(), ctx.reply);
    ctx.reply.array(found.rows.len());
    for row in &found.rows {
        ctx.reply.array(row.len());
        row.iter().for_each(|value| put(value.value(), ctx.reply));
    }
    Ok(())
}
