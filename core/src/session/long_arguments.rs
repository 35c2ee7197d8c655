//! What may be long in a home where memory is little: values and messages, which are in memory once, and not names (keys, members,
//! fields, channels), which are there several times while a request runs, and in the keydir for good.

use crate::catalog::CommandSpec;
use crate::command::CommandError;

/// Refuses a request with a name of more than `name_max_bytes`.
#[cold]
pub(super) fn check(spec: &CommandSpec, args: &[&[u8]], name_max_bytes: usize) -> Result<(), CommandError> {
    // Whose keys cannot be told is refused by its handler, whatever else it has.
    let keys = spec.keys.positions(args).unwrap_or_default();
    let is_name = |at: usize| keys.contains(&at) || !spec.is_value(at);
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
