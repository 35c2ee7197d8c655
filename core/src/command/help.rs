//! The reply of `… HELP`: the subcommands of a container, straight from the catalog.

use super::args::quoted;
use super::{CommandError, Outcome};
use crate::catalog::CommandSpec;
use crate::resp::Reply;

/// Error texts show so many bytes of a word, as in Redis.
const QUOTED_WORD_BYTES: usize = 128;

/// Lists a container's subcommands as statuses, two lines each, HELP itself last; the shape is Redis'.
pub fn reply_help(reply: &mut Reply, container: &CommandSpec) -> Outcome {
    let subcommands = container.subcommands();
    let name = container.name.to_ascii_uppercase();
    reply.array(1 + 2 * subcommands.len());
    reply.simple(&format!("{name} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"));
    let (help, others): (Vec<&CommandSpec>, Vec<&CommandSpec>) =
        subcommands.iter().partition(|spec| spec.word() == "help");
    for spec in others.into_iter().chain(help) {
        let line = format!("{} {}", spec.word().to_ascii_uppercase(), spec.syntax);
        reply.simple(line.trim_end());
        reply.simple(&format!("    {}.", spec.summary));
    }
    Ok(())
}

/// The error of a subcommand that takes other arguments than it got, where arity does not tell.
pub fn unknown_subcommand(container: &str, word: &[u8]) -> CommandError {
    let shown = quoted(word, QUOTED_WORD_BYTES);
    CommandError::owned(format!(
        "ERR unknown subcommand or wrong number of arguments for '{shown}'. Try {container} HELP."
    ))
}
