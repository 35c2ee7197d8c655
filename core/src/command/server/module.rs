//! MODULE: none can be loaded. Clients look for search and JSON among modules, so these are listed as such.

use crate::catalog;
use crate::command::{CommandError, Context, Outcome, help, json, search};
use crate::engine::Admin;

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

/// The modules of Redis whose commands the server has, each with its version; search where the store has indexes.
pub(super) fn present(admin: &dyn Admin) -> Vec<(&'static str, i64)> {
    let mut modules = vec![(json::MODULE_NAME, json::MODULE_VERSION)];
    if admin.partitions() > 0 {
        modules.push((search::MODULE_NAME, search::MODULE_VERSION));
    }
    modules
}

fn list(ctx: &mut Context<'_, '_>) {
    let modules = present(ctx.admin);
    let reply = &mut *ctx.reply;
    reply.array(modules.len());
    for (name, version) in modules {
        reply.map(4);
        reply.bulk(b"name");
        reply.bulk(name.as_bytes());
        reply.bulk(b"ver");
        reply.integer(version);
        reply.bulk(b"path");
        reply.bulk(b"");
        reply.bulk(b"args");
        reply.array(0);
    }
}
