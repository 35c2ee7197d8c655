//! MODULE: none can be loaded. Clients look for search among modules, so it is listed as one where the store has indexes.

use crate::catalog;
use crate::command::search::{MODULE_NAME, MODULE_VERSION};
use crate::command::{CommandError, Context, Outcome, help};

pub(super) fn module(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    match args[1].to_ascii_lowercase().as_slice() {
        b"help" => help::reply_help(ctx.reply, catalog::spec(catalog::id("module"))),
        b"list" => {
            list(ctx);
            Ok(())
        }
        b"unload" => Err(CommandError::text("ERR Error unloading module: no such module with that name")),
        _ => Err(CommandError::text("ERR Error loading the extension. Please check the server logs.")),
    }
}

fn list(ctx: &mut Context<'_, '_>) {
    let has_search = ctx.admin.partitions() > 0;
    let reply = &mut *ctx.reply;
    reply.array(usize::from(has_search));
    if has_search {
        reply.map(4);
        reply.bulk(b"name");
        reply.bulk(MODULE_NAME.as_bytes());
        reply.bulk(b"ver");
        reply.integer(MODULE_VERSION);
        reply.bulk(b"path");
        reply.bulk(b"");
        reply.bulk(b"args");
        reply.array(0);
    }
}
