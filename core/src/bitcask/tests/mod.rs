//! Tests of the store: the engine laws, recovery, merge, and what survives which failure.

mod acknowledged_write_lost;
mod harness;
mod planted_bug_unnoticed;
mod reopen_forgets;
