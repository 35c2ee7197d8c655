//! The cluster behind the engine: TiKV, as the core's [`Cluster`](edgecask_core::ordered::cluster::Cluster).
//!
//! `client` has the connection and the transactions, `gather` has transactions that only read share their rounds, `errors` says what an
//! error of the client means for a transaction, `orphans` removes locks that the client leaves, `latency` sees how long the cluster
//! takes. They know nothing of keys and commands, and try nothing again: the engine runs the transaction anew. `upkeep` is the thread
//! that keeps house.

mod client;
mod errors;
mod gather;
mod latency;
mod orphans;
pub mod upkeep;

pub use client::{Access, TikvCluster};
