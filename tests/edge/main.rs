//! The edge worker under the real workerd and under wasmtime: the same transcripts as everywhere, sleeps between messages, and
//! kill -9.
//!
//! `make edge-test` builds what this needs: `edge-worker/dist` and the packages of npm.

mod home;
mod kill_loop;
mod transcripts;
mod wasmtime;
mod worker;
