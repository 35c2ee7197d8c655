//! What an interpreter of scripts must be able to do, and what it may ask of the server; nothing here runs a script.
//!
//! - [`Runtime`] is an interpreter: it compiles, runs and forgets scripts and functions of libraries. The crate
//!   `edgecask-lua` implements it for Lua.
//! - [`Host`] is what a running script reaches of the server: commands, the log, the clock, and a tick by which the server
//!   can stop it.
//! - [`Value`], [`Reader`] and [`Writer`] are the flat bytes in which values cross between the two.
//! - [`write_reply`] and [`read_reply`] turn such values into replies and replies into such values, as Redis does.
//!
//! Promises: nothing here recurses on what a script made, allocates by a count that it announced, or knows a command. A
//! script that was killed or abandoned leaves its runtime fit for the next one.

mod flags;
#[cfg(test)]
pub(crate) mod lines;
pub mod pieces;
mod reply;
mod runtime;
mod value;

#[cfg(test)]
mod tests;

pub use flags::ScriptFlags;
pub use reply::{ReplyError, ReturnedError, read_reply, returned_error, write_reply};
pub use runtime::{
    Answer, CompileError, Ended, Failure, FunctionId, Host, Level, LoadError, NO_MEMORY, NewFunction, Run,
    RunLimits, Runtime, ScriptId, Tick,
};
pub use value::{Kind, Mark, Reader, TABLE_HEADER_BYTES, Table, Tag, Value, Writer};
