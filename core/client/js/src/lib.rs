//! The client for JavaScript. The functions here are called by the TypeScript beside it (`core/client/js/package`), which gives
//! users their methods and types; what a request is, how it travels and what its reply becomes is decided here and in
//! `edgecask-client`.
//!
//! | file | what |
//! | --- | --- |
//! | `client` | a client, its requests, batches and caches |
//! | `connection` | a connection for its owner alone |
//! | `flow` | subscriptions and MONITOR: what comes by itself |
//! | `settings` | options of a client from an object |
//! | `words` | arguments from values |
//! | `reply` | values from replies |
//! | `work` | promises |
//! | `failure` | errors of JavaScript from the client's |

// Nothing of it is for native machines, where the workspace has it, too.
#![cfg(target_family = "wasm")]

mod client;
mod connection;
mod failure;
mod flow;
mod reply;
mod settings;
mod words;
mod work;
