//! The reply of `… HELP`: the subcommands of a container, straight from the catalog.

use super::Outcome;
use crate::catalog::CommandSpec;
use crate::resp::Reply;

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
