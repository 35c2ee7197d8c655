//! The EdgeCask gateway: sockets, files, clocks and threads around the core.
//!
//! In the order in which a process uses them: options are decided, a server starts its threads, the acceptor hands
//! connections to workers, workers drive them and the connections their sessions of the core, and the sync policy and
//! maintenance keep the store in order. The core decides everything about commands and data; this crate only touches the world.

pub mod options;
pub mod server;
pub mod signals;
pub mod acceptor;
pub mod workers;
pub mod worker;
pub mod connection;
pub mod driver;
pub mod sendfile;
pub mod gateway;
pub mod stop;
pub mod sync;
pub mod maintenance;
pub mod process_info;
pub mod web;
pub mod store;
pub mod storage;
pub mod clock;
pub mod coalesce;
pub mod limits;
