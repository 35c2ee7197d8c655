//! Clusters: this server is not part of one, and says so in the words that clients look for.

use super::{CommandError, Context, Group, Outcome};

pub(super) const HANDLERS: Group =
    &[("asking", refuse), ("cluster", refuse), ("readonly", refuse), ("readwrite", refuse)];

fn refuse(_ctx: &mut Context<'_, '_>, _args: &[&[u8]]) -> Outcome {
    Err(CommandError::text("ERR This instance has cluster support disabled"))
}
