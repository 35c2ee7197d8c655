//! Which arguments of a request are channels.

use crate::catalog::{self, CommandId, CommandSpec};

const PSUBSCRIBE: CommandId = catalog::id("psubscribe");
const PUBLISH: CommandId = catalog::id("publish");
const SPUBLISH: CommandId = catalog::id("spublish");
const SSUBSCRIBE: CommandId = catalog::id("ssubscribe");
const SUBSCRIBE: CommandId = catalog::id("subscribe");

/// The channels of a request: so many arguments behind its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChannelUse {
    /// How many.
    pub count: usize,
    /// Whether they are patterns.
    pub are_patterns: bool,
}

impl ChannelUse {
    /// Those of a request; None if it has none. To stop listening needs no permission, so the commands for that have none.
    pub fn of(spec: &CommandSpec, args: &[&[u8]]) -> Option<ChannelUse> {
        let behind = args.len().saturating_sub(1);
        match spec.id {
            PUBLISH | SPUBLISH => Some(ChannelUse { count: behind.min(1), are_patterns: false }),
            SUBSCRIBE | SSUBSCRIBE => Some(ChannelUse { count: behind, are_patterns: false }),
            PSUBSCRIBE => Some(ChannelUse { count: behind, are_patterns: true }),
            _ => None,
        }
    }
}
