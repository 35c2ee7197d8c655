//! The cluster behind the engine: TiKV, as the core's [`Cluster`](edgecask_core::ordered::cluster::Cluster).
//!
//! `client` has the connection and the transactions; `shared` has transactions share their requests, writes by what `regions` has learned
//! over `pd`; `errors` says what an error of the client means for a transaction, `orphans` removes locks that the client leaves, `latency`
//! sees how long the cluster takes. They know nothing of keys and commands, and try nothing again: the engine runs the transaction anew. `upkeep` is the thread
//! that keeps house.

mod client;
mod errors;
mod latency;
mod orphans;
mod pd;
mod regions;
mod shared;
pub mod upkeep;

pub use client::{Access, TikvCluster};
