//! What black-box tests and benchmarks share: servers as processes, a small client, text globs.
//!
//! Everything here sees a server only from outside: its sockets, its process, its directory, its log. It must never
//! link the gateway.

pub mod client;
pub mod glob;
pub mod ports;
pub mod process;
pub mod retry;
pub mod web_socket;
