//! Operation of the server: settings, counters, durability, whole databases, and the table of commands itself.

mod config;
mod debug;
mod describe;
mod docs;
mod info;
mod keyspace;
mod latency;
mod lolwut;
mod memory;
mod module;
mod process;
mod replication;
mod slowlog;
mod sparkline;
mod statistics;

use std::borrow::Cow;

use super::Group;
pub use info::{Facts, facts};

/// The lines of a section of INFO: name and value.
pub type Lines = Vec<(Cow<'static, str>, String)>;

pub(super) const HANDLERS: Group = &[
    ("bgrewriteaof", process::bgrewriteaof),
    ("bgsave", process::bgsave),
    ("command", describe::command),
    ("config", config::config),
    ("dbsize", keyspace::dbsize),
    ("debug", debug::debug),
    ("failover", replication::failover),
    ("flushall", keyspace::flushall),
    ("flushdb", keyspace::flushdb),
    ("info", info::info),
    ("lastsave", process::lastsave),
    ("latency", latency::latency),
    ("lolwut", lolwut::lolwut),
    ("memory", memory::memory),
    ("module", module::module),
    ("replicaof", replication::replicaof),
    ("role", replication::role),
    ("save", process::save),
    ("shutdown", process::shutdown),
    ("slaveof", replication::replicaof),
    ("slowlog", slowlog::slowlog),
    ("swapdb", keyspace::swapdb),
    ("time", process::time),
    ("wait", replication::wait),
    ("waitaof", replication::waitaof),
];
