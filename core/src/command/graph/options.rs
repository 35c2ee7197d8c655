//! What follows the nodes of a question.

use crate::command::CommandError;
use crate::command::args::{integer_in, is_option};
use crate::command::sql::{text_value, value};
use crate::sql::SqlValue;

/// So many types may be named: as many as the tables take.
const TYPES_MAX: usize = 64;

const NOT_POSITIVE: CommandError = CommandError::OUT_OF_RANGE_POSITIVE;
const NUMTYPES: CommandError = CommandError::text("ERR numtypes should be between 1 and 64");
const NO_TEXT: CommandError = CommandError::text("ERR a type, a table or an expression is no text");

/// Which question it is: some options are of one only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Question {
    Neighbors,
    Walk,
    Path,
}

/// The options of a question; what is not given is NULL.
#[derive(Debug, Default)]
pub(super) struct Options<'a> {
    direction: Option<&'static str>,
    types: Option<String>,
    min_depth: Option<i64>,
    max_depth: Option<i64>,
    uniqueness: Option<&'static str>,
    order: Option<&'static str>,
    cost: Option<&'a [u8]>,
    filter: Option<&'a [u8]>,
    include: Option<&'a [u8]>,
    prune: Option<&'a [u8]>,
    edges: Option<&'a [u8]>,
    limit: Option<i64>,
    pub with_paths: bool,
}

impl<'a> Options<'a> {
    /// Reads them.
    ///
    /// # Errors
    /// An option is unknown, or not one of this question, or its value is wrong.
    pub fn parse(question: Question, mut args: &'a [&'a [u8]]) -> Result<Options<'a>, CommandError> {
        let mut options = Options::default();
        while let [name, rest @ ..] = args {
            args = options.parse_one(question, name, rest)?;
        }
        Ok(options)
    }

    /// Reads one; what follows it.
    fn parse_one(
        &mut self,
        question: Question,
        name: &[u8],
        rest: &'a [&'a [u8]],
    ) -> Result<&'a [&'a [u8]], CommandError> {
        let (is_walk, is_path) = (question == Question::Walk, question == Question::Path);
        if is_walk && is_option(name, "WITHPATHS") {
            self.with_paths = true;
            return Ok(rest);
        }
        let [argument, after @ ..] = rest else { return Err(CommandError::SYNTAX) };
        if is_option(name, "TYPES") {
            return self.parse_types(argument, after);
        }
        if is_option(name, "DIRECTION") {
            self.direction = Some(word(argument, &["out", "in", "both"])?);
        } else if is_option(name, "FILTER") {
            self.filter = Some(text(argument)?);
        } else if is_option(name, "EDGES") {
            self.edges = Some(text(argument)?);
        } else if !is_path && is_option(name, "LIMIT") {
            self.limit = Some(count(argument)?);
        } else if is_path && is_option(name, "COST") {
            self.cost = Some(text(argument)?);
        } else if is_walk && is_option(name, "MINDEPTH") {
            self.min_depth = Some(count(argument)?);
        } else if is_walk && is_option(name, "MAXDEPTH") {
            self.max_depth = Some(count(argument)?);
        } else if is_walk && is_option(name, "UNIQUE") {
            self.uniqueness = Some(word(argument, &["node", "edge", "path", "none"])?);
        } else if is_walk && is_option(name, "ORDER") {
            self.order = Some(word(argument, &["bfs", "dfs"])?);
        } else if is_walk && is_option(name, "INCLUDE") {
            self.include = Some(text(argument)?);
        } else if is_walk && is_option(name, "PRUNE") {
            self.prune = Some(text(argument)?);
        } else {
            return Err(CommandError::SYNTAX);
        }
        Ok(after)
    }

    /// Types become an array of JSON.
    fn parse_types(&mut self, number: &[u8], after: &'a [&'a [u8]]) -> Result<&'a [&'a [u8]], CommandError> {
        let number = integer_in(number, 1..=TYPES_MAX as i64, NUMTYPES)?;
        let number = usize::try_from(number).unwrap_or(TYPES_MAX);
        let (types, after) = after.split_at_checked(number).ok_or(CommandError::SYNTAX)?;
        let types: Result<Vec<&str>, _> = types.iter().map(|kind| std::str::from_utf8(kind)).collect();
        let types = types.map_err(|_| NO_TEXT)?;
        self.types = Some(serde_json::to_string(&types).map_err(|_| NO_TEXT)?);
        Ok(after)
    }

    /// Whether the edges are those of the graph's own table.
    pub fn is_of_graph(&self) -> bool {
        self.edges.is_none()
    }

    pub fn edges(&self) -> SqlValue<'_> {
        SqlValue::Text(self.edges.unwrap_or(super::EDGES))
    }

    pub fn direction(&self) -> SqlValue<'_> {
        optional(self.direction.map(str::as_bytes))
    }

    pub fn types(&self) -> SqlValue<'_> {
        optional(self.types.as_deref().map(str::as_bytes))
    }

    pub fn depths(&self) -> [SqlValue<'_>; 2] {
        [self.min_depth, self.max_depth].map(|depth| depth.map_or(SqlValue::Null, SqlValue::Integer))
    }

    pub fn manner(&self) -> [SqlValue<'_>; 2] {
        [self.uniqueness, self.order].map(|word| optional(word.map(str::as_bytes)))
    }

    pub fn filter(&self) -> SqlValue<'_> {
        optional(self.filter)
    }

    pub fn include_and_prune(&self) -> [SqlValue<'_>; 2] {
        [self.include, self.prune].map(optional)
    }

    pub fn cost(&self) -> SqlValue<'_> {
        optional(self.cost)
    }

    /// Rows at most; a negative number is no bound.
    pub fn limit(&self) -> SqlValue<'_> {
        SqlValue::Integer(self.limit.unwrap_or(-1))
    }
}

fn optional(text: Option<&[u8]>) -> SqlValue<'_> {
    text.map_or(SqlValue::Null, SqlValue::Text)
}

fn text(argument: &[u8]) -> Result<&[u8], CommandError> {
    match text_value(argument) {
        SqlValue::Text(text) => Ok(text),
        _ => Err(NO_TEXT),
    }
}

fn count(argument: &[u8]) -> Result<i64, CommandError> {
    match value(argument) {
        SqlValue::Integer(count) if count >= 0 => Ok(count),
        _ => Err(NOT_POSITIVE),
    }
}

fn word(argument: &[u8], words: &[&'static str]) -> Result<&'static str, CommandError> {
    let found = words.iter().find(|word| argument.eq_ignore_ascii_case(word.as_bytes()));
    found.copied().ok_or(CommandError::SYNTAX)
}
