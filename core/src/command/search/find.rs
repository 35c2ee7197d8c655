//! What FT.SEARCH and FT.AGGREGATE share: the query is parsed, and the parts of the index are asked at one moment.

use std::sync::Arc;

use super::document;
use super::maps;
use super::request::{GeoFilter, NumberFilter, Request};
use super::stage::present;
use crate::command::{CommandError, Context, Outcome};
use crate::engine::{CATALOG, EngineError};
use crate::resp::parse_f64;
use crate::search::aggregate;
use crate::search::index::{Delta, DocumentId};
use crate::search::query::tree::GeoUnit;
use crate::search::query::{self, Bound, Clause, Node, Query};
use crate::search::schema::{FieldId, FieldKind, Schema};
use crate::search::text::Language;
use crate::search::value::Value;
use crate::server::search::{Index, SearchSettings};

type Result<T> = std::result::Result<T, CommandError>;

/// A parsed query with what a request says about it.
pub(super) struct Asked<'a> {
    pub query: Query,
    pub scorer: Scorer,
    pub language: Option<Language>,
    pub is_verbatim: bool,
    pub slop: Option<i64>,
    pub in_order: bool,
    /// INFIELDS, as numbers of fields.
    pub fields: Option<Vec<FieldId>>,
    /// INKEYS.
    pub keys: Option<Vec<&'a [u8]>>,
    /// PAYLOAD, for HAMMING.
    pub payload: Option<&'a [u8]>,
    pub needs_scores: bool,
    pub timeout_ms: u64,
}
