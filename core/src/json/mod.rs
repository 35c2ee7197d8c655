//! JSON as pure functions: texts, values in a packed form, numbers that keep their digits.
//!
//! ```text
//!  path      which parts of a document are meant: JSONPath
//!  schema    what a host's validator of JSON Schema does
//!  text      texts into packed values
//!  format    values as texts
//!  edit      packed values with one part changed
//!  node      a value that may stand in several pieces, and the walk from it to its parts
//!  packed    values as bytes in which parts can be found without reading the rest
//!  number    numbers
//! ```
//!
//! Nothing here knows a key or a store. A value that is too large for one piece is cut into several by `data/json`; here its parts are
//! numbers that stand for pieces ([`packed::Shape::Elsewhere`]).

pub mod edit;
pub mod format;
pub mod node;
pub mod number;
pub mod packed;
pub mod path;
pub mod schema;
pub mod text;

#[cfg(test)]
mod tests;

/// Arrays and objects stand in each other so deep at most, as in RedisJSON: so what walks through a value may call itself.
pub const DEPTH_MAX: usize = 127;
