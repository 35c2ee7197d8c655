//! FT.AGGREGATE: from the words behind the query to rows.
//!
//! [`parse`] reads the words into a [`Request`], which knows nothing of an index. A [`Plan`] gives every property a column, for one
//! schema, and says which properties the caller has to load ([`Plan::inputs`]). A [`Pipeline`] takes rows one at a time and gives rows
//! back; only GROUPBY and SORTBY hold any. Nothing here reads documents, evaluates queries, or knows a time or a random number: a seed
//! comes from the caller.

#[cfg(test)]
mod tests;

mod distinct;
mod group;
mod parse;
mod pipeline;
mod plan;
mod reducer;
mod row;
mod sort;
mod words;

pub use parse::parse;
pub use pipeline::Pipeline;
pub use plan::{Facts, FieldFacts, Input, InputKind, Plan};
pub use row::{Ask, Row};

use super::expression::Expression;

/// How many rows SORTBY keeps where neither MAX nor LIMIT says it.
const SORTED_DEFAULT: u64 = 10;

/// Most steps, parameters, and reducers and properties of a step: more than anyone writes, and each costs a row some time.
const PARTS_MAX: usize = 1024;

/// Most properties to sort by, as in RediSearch.
const SORT_KEYS_MAX: usize = 64;

/// Most rows that LIMIT may ask for, as RediSearch has it by default (MAXAGGREGATERESULTS is higher only by configuration).
const LIMIT_MAX: u64 = 1 << 31;

/// Most samples of RANDOM_SAMPLE, and the greatest resolution of QUANTILE, as in RediSearch.
const SAMPLES_MAX: u64 = 1000;

/// The words behind the query.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Request {
    /// What is done, in order.
    pub steps: Vec<Step>,
    /// VERBATIM: words are not stemmed.
    pub is_verbatim: bool,
    /// INORDER.
    pub is_in_order: bool,
    /// NOSTOPWORDS.
    pub keeps_stop_words: bool,
    /// SLOP.
    pub slop: Option<i64>,
    /// LANGUAGE.
    pub language: Option<Vec<u8>>,
    /// SCORER.
    pub scorer: Option<Vec<u8>>,
    /// INKEYS.
    pub keys: Option<Vec<Vec<u8>>>,
    /// INFIELDS.
    pub fields: Option<Vec<Vec<u8>>>,
    /// ADDSCORES: rows have `__score`.
    pub adds_scores: bool,
    /// WITHCOUNT or WITHOUTCOUNT, if one is given.
    pub has_count: Option<bool>,
    /// DIALECT, 1 to 4.
    pub dialect: Option<u8>,
    /// TIMEOUT in milliseconds; 0 for none.
    pub timeout_ms: Option<u64>,
    /// FORMAT EXPAND or STRING, if one is given: whether it is EXPAND.
    pub is_expanded: Option<bool>,
    /// PARAMS, by name.
    pub parameters: Vec<(Vec<u8>, Vec<u8>)>,
    /// WITHCURSOR.
    pub cursor: Option<Cursor>,
}

/// WITHCURSOR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Cursor {
    /// COUNT: rows of a reply, at least 1.
    pub count: Option<u64>,
    /// MAXIDLE in milliseconds, at least 1.
    pub max_idle_ms: Option<u64>,
}

/// A step.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// LOAD of properties: path and name.
    Load(Vec<(Vec<u8>, Vec<u8>)>),
    /// `LOAD *`.
    LoadAll,
    /// GROUPBY.
    Group {
        /// Properties, without `@`.
        properties: Vec<Vec<u8>>,
        /// What is reduced.
        reducers: Vec<ReducerCall>,
    },
    /// SORTBY and LIMIT, which are one step if they stand side by side.
    Arrange(Arrangement),
    /// APPLY, and the name.
    Apply(Expression, Vec<u8>),
    /// FILTER.
    Filter(Expression),
}

/// REDUCE.
#[derive(Clone, Debug, PartialEq)]
pub struct ReducerCall {
    /// The name as it was written.
    pub function: Vec<u8>,
    /// The words that it was given.
    pub arguments: Vec<Vec<u8>>,
    /// The name of the result: as given, or made of the words.
    pub name: Vec<u8>,
}

/// SORTBY and LIMIT.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Arrangement {
    /// Properties without `@`, and whether each descends; None without SORTBY.
    pub keys: Option<Vec<(Vec<u8>, bool)>>,
    /// Rows that are left out.
    pub offset: u64,
    /// Rows at most, of LIMIT or MAX; 0 if neither says it.
    pub count: u64,
    /// LIMIT 0 0: rows are counted only.
    pub is_count_only: bool,
}
