//! The EdgeCask gateway: sockets, files, clocks and threads around the core.
//!
//! Modules in the order in which a process uses them: options are decided, a server starts its threads, the acceptor assigns
//! connections to workers, workers run the sessions of their connections, and the sync policy and maintenance keep the
//! store in order. A program that has a store inside starts at [`embedded`] instead, with the same parts but the sockets'. The core decides everything about commands and data; this crate only does I/O.

pub mod options;
pub mod copy;
pub mod server;
pub mod embedded;
pub mod descriptors;
pub mod signals;
pub mod acceptor;
pub mod workers;
pub mod worker;
pub mod spread;
pub mod connection;
pub mod sendfile;
pub mod long_runs;
pub mod gateway;
#[cfg(feature = "tikv")]
pub mod peers;
pub mod definitions;
pub mod housekeeping;
pub mod crons;
pub mod long_queue;
pub mod mailbox;
pub mod stop;
pub mod sync;
pub mod maintenance;
pub mod scrub;
pub mod brake;
pub mod allocator;
pub mod process_info;
pub mod interpreters;
pub mod schemas;
pub mod users_file;
pub mod web;
pub mod loader;
pub mod control;
pub mod restore;
pub mod backup;
pub mod upkeep;
pub mod store;
#[cfg(feature = "tikv")]
pub mod tikv;
pub mod storage;
pub mod clock;
pub mod coalesce;
pub mod limits;
