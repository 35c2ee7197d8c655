//! Tests of the store: the engine laws, recovery, merge, and what survives which failure.

mod reopen_forgets;
