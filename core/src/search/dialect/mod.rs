//! Meilisearch's dialect of search by HTTP, as its clients speak it (`meilisearch`, `@meilisearch/instant-meilisearch`): what requests mean
//! and how answers are written. Pure: nothing here knows a key, a transaction or an index.
//!
//! - [`mod@route`]: what a method and a path ask for;
//! - [`request`]: what a search asks for;
//! - [`filter`]: conditions as trees over attributes, then as nodes of a query;
//! - [`settings`]: settings with their defaults, and the schema that they mean;
//! - [`document`]: documents as fields of hashes, and what an index makes of them;
//! - [`response`]: hits, facets and pages as JSON;
//! - [`task`]: numbers of tasks that say how they ended;
//! - [`fault`], [`shape`]: errors.
//!
//! Documents are hashes with the key `<uid>:<id>`, and the index `<uid>` covers these keys. See [`document`] for how an attribute is stored.

pub mod document;
pub mod fault;
pub mod filter;
pub mod request;
pub mod response;
pub mod route;
pub mod settings;
pub mod shape;
pub mod task;
pub mod time;
