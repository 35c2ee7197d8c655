//! Scripts and functions: EVAL and its like, SCRIPT, FUNCTION, FCALL, TRIGGER, CRON.
//!
//! ```text
//!  EVAL, EVALSHA         FCALL             SCRIPT LOAD, FUNCTION LOAD
//!     |  eval              |  fcall           |  the source is compiled before it is kept
//!     +------ run ---------+
//!             |  an interpreter is borrowed (server/scripts), the run gets its keys and arguments
//!           host   what the run reaches: commands of the same transaction, the log, ticks
//! ```
//!
//! A script is one command of the transaction that it runs in: its commands read and write through the same [`Txn`](crate::engine::Txn),
//! and all of it is one frame. What it does not declare as a key is found out when it is touched; the executor then runs it
//! again from its start, and nothing of the first run stays.

mod callers;
pub mod crons;
mod definer;
mod dump;
mod eval;
mod fcall;
mod function;
mod host;
mod job;
pub mod libraries;
mod run;
mod script_admin;
mod shebang;
pub mod triggers;

use super::Group;

pub(super) const HANDLERS: Group = &[
    ("cron", crons::cron),
    ("eval", eval::eval),
    ("eval_ro", eval::eval_ro),
    ("evalsha", eval::evalsha),
    ("evalsha_ro", eval::evalsha_ro),
    ("fcall", fcall::fcall),
    ("fcall_ro", fcall::fcall_ro),
    ("function", function::function),
    ("script", script_admin::script),
    ("trigger", triggers::trigger),
];
