//! MODULE: there are none, and none can be loaded.

use crate::catalog;
use crate::command::{CommandError, Context, Outcome, help};

pub(super) fn module(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    match args[1].to_ascii_lowercase().as_slice() {
        b"help" => help::reply_help(ctx.reply, catalog::spec(catalog::id("module"))),
        b"list" => {
            ctx.reply.array(0);
            Ok(())
        }
        b"unload" => Err(CommandError::text("ERR Error unloading module: no such module with that name")),
        _ => Err(CommandError::text("ERR Error loading the extension. Please check the server logs.")),
    }
}
