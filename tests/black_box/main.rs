//! Black-box evidence: everything here talks to a server that runs as a process of its own.
//!
//! Built first by `cargo build -p edgecask`; `make test` does. Run with `--test-threads=1`: several of these use all
//! processors, and their figures would mean nothing side by side.

#![allow(missing_docs)]

mod another_decision_than_redis;
mod bad_input;
mod blocked_client_waits_for_ever;
mod command_that_no_test_runs;
mod damage_lost_in_silence;
mod differential;
mod dumped_stream_differs;
mod huge_values;
mod invalid_document_is_written;
mod kill_loop;
mod reload_loses_writes;
mod slow_reader_not_cut;
mod store_of_an_older_build_does_not_open;
mod transcripts;
mod users_are_lost;
mod web_socket_depends_on_cutting;
