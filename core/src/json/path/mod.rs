//! Paths: which parts of a document are meant.
//!
//! ```text
//!  parser     texts into trees: RFC 9535, and RedisJSON's older form
//!  tree       a path as it was parsed
//!  evaluate   which parts of a document a path finds, in the order of the RFC
//!  pattern    regular expressions of filters (RFC 9485)
//! ```

mod evaluate;
mod parser;
mod pattern;
#[cfg(test)]
mod tests;
pub mod tree;

pub use evaluate::{Ended, Found, Place, find};
pub use parser::{Fault, parse, parse_legacy};
