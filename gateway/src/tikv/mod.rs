//! The cluster behind the engine: TiKV, as the core's [`Cluster`](edgecask_core::ordered::cluster::Cluster).
//!
//! `client` has the connection and the transactions, `errors` says what an error of the client means for a transaction,
//! `orphans` removes locks that the client leaves. Nothing here knows
//! what a key or a command is, and nothing is tried again here: the engine runs the transaction anew.

mod client;
mod errors;
mod orphans;

pub use client::{Access, TikvCluster};
