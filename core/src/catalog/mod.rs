//! The catalog: **the** table of commands. One row says all there is to say of a command except how it is carried out.
//!
//! Everything else that needs to know a command reads its row: dispatch (by [`CommandId`]), the arity error, the keys
//! that a request touches, ACL categories, the replies of `COMMAND`, completion in the console and `docs/commands.md`.
//! Typed clients are generated from what a row says of its reply ([`Replies`]).
//! To add a command is to add one row in `rows/` and one function in `command/`.
//!
//! The facts in the rows are those of Redis 7.2; the sentences are our own. `laws/` compares every fact with what
//! redis-server 7.0.15 printed and lists where 7.2 differs. Flags of our own ([`Flags::INTERNAL`]), values and secrets have laws too.
//!
//! The table is a constant. This module never learns what a command does, and never changes at run time.

mod arguments;
mod bits;
mod given;
mod keys;
#[cfg(test)]
pub(crate) mod laws;
mod markdown;
mod reply;
mod row;
mod rows;
mod shape;
mod spec;
mod table;
mod words;

pub use arguments::{Argument, Kind, SyntaxError, print_syntax};
pub use keys::{Begin, Find, KeyFlags, KeyRange, KeySpec, KeyUse, Keys, KeysError, LegacyRange, Narrow};
pub use markdown::commands_page;
pub use reply::{Replies, ReplyCase, ReplyType, ReplyTypeError};
pub use spec::{Categories, CommandId, CommandSpec, Deprecated, Flags, Group};
pub use table::{COMMAND_COUNT, COUNT, all, commands, id, lookup, lookup_full, lookup_sub, spec};
pub use words::{lookup_meant, lookup_request};
