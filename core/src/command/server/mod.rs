//! Operation of the server: settings, counters, durability, whole databases, and the table of commands itself.

mod config;
mod describe;
mod docs;
mod info;
mod keyspace;
mod process;
#[cfg(test)]
mod tests;

use super::Group;

pub(super) const HANDLERS: Group = &[
    ("bgrewriteaof", process::bgrewriteaof),
    ("bgsave", process::bgsave),
    ("command", describe::command),
    ("config", config::config),
    ("dbsize", keyspace::dbsize),
    ("flushall", keyspace::flushall),
    ("flushdb", keyspace::flushdb),
    ("info", info::info),
    ("lastsave", process::lastsave),
    ("role", process::role),
    ("save", process::save),
    ("shutdown", process::shutdown),
    ("swapdb", keyspace::swapdb),
    ("time", process::time),
];
