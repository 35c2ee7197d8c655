//! The arguments of a table over a graph.

use edgecask_core::sql::SqlValue;

use super::plan::Wanted;
use super::{Argument, Result, Table, Unable};
use crate::table::scan::Kept;

/// Which edges are followed, seen from a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Direction {
    /// Those that begin at it.
    #[default]
    Out,
    /// Those that end at it.
    In,
    Both,
}

/// What a walk does not do twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Uniqueness {
    /// It reaches no node twice.
    #[default]
    Node,
    /// It reaches no node twice on one path.
    Path,
    /// It follows no edge twice.
    Edge,
    None,
}

/// The order of a walk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Traversal {
    #[default]
    BreadthFirst,
    DepthFirst,
}

/// What the arguments say.
#[derive(Debug, Default)]
pub(super) struct Options {
    pub wanted: Wanted,
    pub start: Kept,
    pub target: Kept,
    pub direction: Direction,
    pub uniqueness: Uniqueness,
    pub traversal: Traversal,
    pub min_depth: u32,
    pub max_depth: u32,
}

impl Options {
    /// Reads the arguments of a table. One that is NULL is as if it was not there.
    ///
    /// # Errors
    /// One that is needed is missing, or one is not what it may be.
    pub fn read(table: &Table, given: &[Kept]) -> Result<Options> {
        let mut options = Options { max_depth: u32::MAX, ..Options::default() };
        let mut has_max_depth = false;
        for (at, argument) in table.arguments.iter().enumerate() {
            let value = given.get(at).unwrap_or(&Kept::Null);
            if *value == Kept::Null {
                if at < table.needed {
                    return Err(Unable::text(format!("{} is missing or NULL", name_of(*argument))));
                }
                continue;
            }
            let wanted = &mut options.wanted;
            match argument {
                Argument::Edges => wanted.edges = text(*argument, value)?,
                Argument::Start => options.start = value.clone(),
                Argument::Target => options.target = value.clone(),
                Argument::Direction => options.direction = direction(value)?,
                Argument::Types => wanted.types = Some(text(*argument, value)?),
                Argument::MinDepth => options.min_depth = depth(*argument, value)?,
                Argument::MaxDepth => {
                    options.max_depth = depth(*argument, value)?;
                    has_max_depth = true;
                }
                Argument::Uniqueness => options.uniqueness = uniqueness(value)?,
                Argument::Traversal => options.traversal = traversal(value)?,
                Argument::Filter => wanted.filter = Some(text(*argument, value)?),
                Argument::Include => wanted.include = Some(text(*argument, value)?),
                Argument::Prune => wanted.prune = Some(text(*argument, value)?),
                Argument::CostBy => wanted.cost = Some(text(*argument, value)?),
            }
        }
        if options.uniqueness == Uniqueness::None && !has_max_depth {
            return Err(Unable::text("a walk with the uniqueness 'none' needs a max_depth"));
        }
        Ok(options)
    }
}

fn name_of(argument: Argument) -> &'static str {
    match argument {
        Argument::Edges => "the table of edges",
        Argument::Start => "the node to begin at",
        Argument::Target => "the node to end at",
        Argument::Direction => "the direction",
        Argument::Types => "the argument types",
        Argument::MinDepth => "min_depth",
        Argument::MaxDepth => "max_depth",
        Argument::Uniqueness => "the uniqueness",
        Argument::Traversal => "the traversal",
        Argument::Filter => "the filter",
        Argument::Include => "the argument include",
        Argument::Prune => "the argument prune",
        Argument::CostBy => "the cost",
    }
}

/// Numbers are expressions, too: `cost_by = 1`.
fn text(argument: Argument, value: &Kept) -> Result<Vec<u8>> {
    let text = match value {
        Kept::Text(text) => text.clone(),
        Kept::Integer(number) if argument != Argument::Edges => number.to_string().into_bytes(),
        _ => return Err(Unable::text(format!("{} is no text", name_of(argument)))),
    };
    match std::str::from_utf8(&text).is_ok() && !text.contains(&0) {
        true => Ok(text),
        false => Err(Unable::text(format!("{} is no text", name_of(argument)))),
    }
}

fn depth(argument: Argument, value: &Kept) -> Result<u32> {
    match value {
        // Deeper than that no walk comes.
        Kept::Integer(number) if *number >= 0 => Ok(u32::try_from(*number).unwrap_or(u32::MAX)),
        _ => Err(Unable::text(format!("{} is an integer of at least 0", name_of(argument)))),
    }
}

/// What a word means, in any case.
fn word<T: Copy>(value: &Kept, words: &[(&str, T)], error: &str) -> Result<T> {
    let SqlValue::Text(text) = value.value() else { return Err(Unable::text(error)) };
    let found = words.iter().find(|(word, _)| text.eq_ignore_ascii_case(word.as_bytes()));
    found.map(|(_, meaning)| *meaning).ok_or_else(|| Unable::text(error))
}

fn direction(value: &Kept) -> Result<Direction> {
    let words = [("out", Direction::Out), ("in", Direction::In), ("both", Direction::Both)];
    word(value, &words, "the direction is 'out', 'in' or 'both'")
}

fn uniqueness(value: &Kept) -> Result<Uniqueness> {
    let words = [
        ("node", Uniqueness::Node),
        ("path", Uniqueness::Path),
        ("edge", Uniqueness::Edge),
        ("none", Uniqueness::None),
        ("NODE_GLOBAL", Uniqueness::Node),
        ("NODE_PATH", Uniqueness::Path),
        ("PATH_GLOBAL", Uniqueness::Path),
    ];
    word(value, &words, "the uniqueness is 'node', 'path', 'edge' or 'none'")
}

fn traversal(value: &Kept) -> Result<Traversal> {
    let words = [("bfs", Traversal::BreadthFirst), ("dfs", Traversal::DepthFirst)];
    word(value, &words, "the traversal is 'bfs' or 'dfs'")
}
