//! What may be long in a home where memory is little: values and messages, which are in memory once, and not names (keys, members,
//! fields, channels), which are there several times while a request runs, and in the keydir for good.

use crate::catalog::{self, CommandSpec};
use crate::command::CommandError;

/// Refuses a request with a name of more than `name_max_bytes`.
#[cold]
pub(super) fn check(spec: &CommandSpec, args: &[&[u8]], name_max_bytes: usize) -> Result<(), CommandError> {
    // Whose keys cannot be told is refused by its handler, whatever else it has.
    let keys = catalog::keys(spec, args).unwrap_or_default();
    let is_name = |at: usize| keys.contains(&at) || !may_be_long(spec.name, at);
    let too_long = |(at, argument): &(usize, &&[u8])| argument.len() > name_max_bytes && is_name(*at);
    match args.iter().enumerate().find(too_long) {
        None => Ok(()),
        Some((at, argument)) => Err(CommandError::owned(format!(
            "ERR argument {at} of '{}' has {} bytes; only values may have more than {name_max_bytes} here",
            spec.name,
            argument.len()
        ))),
    }
}

/// Whether the argument at this place, which is no key, is a value.
fn may_be_long(name: &str, at: usize) -> bool {
    match name {
        "append" | "echo" | "getset" | "linsert" | "lpos" | "lpush" | "lpushx" | "lrem" | "lset" | "mset"
        | "msetnx" | "pfadd" | "ping" | "psetex" | "restore" | "rpush" | "rpushx" | "set" | "setex"
        | "setnx" | "setrange" | "xadd" => true,
        "hset" | "hmset" | "hsetnx" => at >= 3 && !at.is_multiple_of(2),
        "publish" | "spublish" => at == 2,
        _ => false,
    }
}
