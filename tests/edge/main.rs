//! The edge worker under the real workerd: the same transcripts as everywhere, sleeps between messages, and kill -9.
//!
//! `make edge-test` builds what this needs: `edge-worker/dist` and the packages of npm.

mod kill_loop;
mod transcripts;
mod worker;
