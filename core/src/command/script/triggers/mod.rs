//! Triggers: definitions, and the stage before a commit in which they run.
//!
//! ```text
//!  a transaction has changed keys
//!     |  stage   round by round: which triggers concern the changed keys, and with which event
//!     |  call    the function runs with its definer's rights; the keys that it changes are the next round's
//!     |  an error of a function refuses the transaction, unless its key went because its time had come
//! ```
//!
//! A trigger runs once for each key of the transaction and sees the state at that time, as the triggers of rows do in SQL. What it
//! changes of its own key is seen by the triggers behind it in the order of names and causes no further run; what it changes of
//! other keys may cause triggers again, [`TRIGGER_DEPTH_MAX`](crate::limits::TRIGGER_DEPTH_MAX) deep.

mod admin;
mod call;
mod definitions;
mod old;
mod stage;

pub(super) use admin::trigger;
pub(super) use definitions::present;
pub use definitions::restore;
pub(in crate::command) use definitions::{TRIGGERS, take_over};
pub(crate) use stage::run;
