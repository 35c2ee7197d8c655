//! Search: what an index is, how texts become terms, how documents are kept and found. Pure functions over bytes and numbers.
//!
//! - [`schema`]: the fields of an index;
//! - [`text`]: analyzers, stems, stop words;
//! - [`query`]: RediSearch's query language as a tree;
//! - [`index`]: documents as deltas and segments;
//! - [`evaluate`]: which documents match a query, and how well;
//! - [`instant`]: search as one types;
//! - [`edits`], [`vector`]: distances of words and of vectors;
//! - [`value`], [`expression`], [`aggregate`]: rows and what FT.AGGREGATE makes of them;
//! - [`spelling`]: corrections of misspelt words;
//! - [`highlight`]: matches in texts, for people to see;
//! - [`dialect`]: Meilisearch's HTTP as requests, documents, settings and answers;
//! - [`bits`]: sets of documents.
//!
//! Nothing here knows a command, a reply, a key of the store or a lock: `server/search` holds indexes, and `command/search` says what they
//! cover.

pub mod aggregate;
pub mod bits;
pub mod dialect;
pub mod edits;
pub mod evaluate;
pub mod expression;
pub mod highlight;
pub mod index;
pub mod instant;
pub mod query;
pub mod schema;
pub mod spelling;
pub mod text;
pub mod value;
pub mod vector;
