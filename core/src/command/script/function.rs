//! FUNCTION: libraries of functions.

use std::sync::Arc;

use super::callers;
use super::dump;
use super::libraries::{self, taken};
use super::script_admin::kill;
use super::shebang::{ENGINE, line_of_library};
use crate::catalog;
use crate::command::args::{is_option, quoted};
use crate::command::{CommandError, Context, Outcome, help};
use crate::glob::Glob;
use crate::server::scripts::{Change, Library, LibrarySet, ScriptEngine, ScriptKind};

pub(super) fn function(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let rest = args.get(2..).unwrap_or_default();
    match (args[1].to_ascii_lowercase().as_slice(), rest) {
        (b"delete", [name]) => delete(ctx, name),
        (b"dump", []) => dump::dump(ctx),
        (b"flush", []) => flush(ctx),
        (b"flush", [mode]) if is_option(mode, "SYNC") || is_option(mode, "ASYNC") => flush(ctx),
        (b"flush", _) => Err(CommandError::text("ERR FUNCTION FLUSH only supports SYNC|ASYNC option")),
        (b"help", []) => help::reply_help(ctx.reply, catalog::spec(catalog::id("function"))),
        (b"kill", []) => kill(ctx, ScriptKind::Function),
        (b"list", options) => list(ctx, options),
        (b"load", [options @ .., source]) => {
            match options.iter().find(|option| !is_option(option, "REPLACE")) {
                None => load(ctx, source, !options.is_empty()),
                Some(other) => {
                    Err(CommandError::owned(format!("ERR Unknown option given: {}", quoted(other, 128))))
                }
            }
        }
        (b"restore", [payload]) => dump::restore(ctx, payload, b"APPEND"),
        (b"restore", [payload, policy]) => dump::restore(ctx, payload, policy),
        (b"stats", []) => stats(ctx),
        _ => Err(help::unknown_subcommand("FUNCTION", args[1])),
    }
}

fn load(ctx: &mut Context<'_, '_>, source: &[u8], replaces: bool) -> Outcome {
    let line = line_of_library(source)?;
    let set = libraries::present(ctx);
    // Before the work of building it.
    if let Some(name) = &line.name
        && !replaces
        && set.library(name).is_some()
    {
        return Err(libraries::exists(name));
    }
    let library = libraries::build(ctx.shared, source)?;
    if let Some(function) = taken(&set, &library) {
        return Err(libraries::function_exists(&function.name));
    }
    let name = library.name.clone();
    let library = Arc::new(library);
    callers::check_change(ctx, &set, &Change::Set(library.clone()))?;
    libraries::add(ctx, library)?;
    ctx.reply.bulk(&name);
    Ok(())
}

fn delete(ctx: &mut Context<'_, '_>, name: &[u8]) -> Outcome {
    let set = libraries::present(ctx);
    if set.library(name).is_none() {
        return Err(CommandError::text("ERR Library not found"));
    }
    let change = Change::Delete(name.into());
    callers::check_change(ctx, &set, &change)?;
    libraries::remove(ctx, name, change)?;
    ctx.reply.ok();
    Ok(())
}

fn flush(ctx: &mut Context<'_, '_>) -> Outcome {
    callers::check_functions(ctx, &LibrarySet::default())?;
    libraries::clear(ctx)?;
    ctx.reply.ok();
    Ok(())
}

fn list(ctx: &mut Context<'_, '_>, options: &[&[u8]]) -> Outcome {
    let (mut pattern, mut with_code) = (None, false);
    let mut rest = options;
    while let [option, others @ ..] = rest {
        rest = others;
        if !with_code && is_option(option, "WITHCODE") {
            with_code = true;
        } else if pattern.is_none() && is_option(option, "LIBRARYNAME") {
            let [given, others @ ..] = rest else {
                return Err(CommandError::text("ERR library name argument was not given"));
            };
            pattern = Some(*given);
            rest = others;
        } else {
            return Err(CommandError::owned(format!("ERR Unknown argument {}", quoted(option, 128))));
        }
    }
    let set = libraries::present(ctx);
    let fits = |library: &&Arc<Library>| {
        pattern.is_none_or(|pattern| Glob::ignoring_case(pattern).matches(&library.name))
    };
    let shown: Vec<&Arc<Library>> = set.libraries().filter(fits).collect();
    ctx.reply.array(shown.len());
    for library in shown {
        show(ctx, library, with_code);
    }
    Ok(())
}

fn show(ctx: &mut Context<'_, '_>, library: &Library, with_code: bool) {
    let reply = &mut *ctx.reply;
    reply.map(3 + usize::from(with_code));
    reply.bulk(b"library_name");
    reply.bulk(&library.name);
    reply.bulk(b"engine");
    reply.bulk(library.engine.name().to_ascii_uppercase().as_bytes());
    reply.bulk(b"functions");
    reply.array(library.functions.len());
    for function in &library.functions {
        reply.map(3);
        reply.bulk(b"name");
        reply.bulk(&function.name);
        reply.bulk(b"description");
        match &function.description {
            Some(description) => reply.bulk(description),
            None => reply.null(),
        }
        reply.bulk(b"flags");
        reply.set(function.flags.names().count());
        function.flags.names().for_each(|name| reply.simple(name));
    }
    if with_code {
        reply.bulk(b"library_code");
        reply.bulk(&library.source);
    }
}

fn stats(ctx: &mut Context<'_, '_>) -> Outcome {
    let set = libraries::present(ctx);
    let engines = ctx.shared.scripts.engines();
    let running = ctx.shared.scripts.long.oldest();
    let now_ns = ctx.shared.host.monotonic_ns();
    let reply = &mut *ctx.reply;
    reply.map(2);
    reply.bulk(b"running_script");
    match running {
        None => reply.null(),
        Some(run) => {
            reply.map(3);
            reply.bulk(b"name");
            reply.bulk(run.name.as_bytes());
            reply.bulk(b"command");
            reply.array(run.request.len());
            run.request.iter().for_each(|argument| reply.bulk(argument));
            reply.bulk(b"duration_ms");
            let took_ms = now_ns.saturating_sub(run.began_ns) / 1_000_000;
            reply.integer(i64::try_from(took_ms).unwrap_or(i64::MAX));
        }
    }
    reply.bulk(b"engines");
    let counts = |engine: &Arc<ScriptEngine>| {
        let own = || set.libraries().filter(|library| library.engine.name() == engine.name());
        (own().count(), own().map(|library| library.functions.len()).sum::<usize>())
    };
    // Clients of Redis know one engine: others are shown once there is something to show.
    let shown: Vec<_> = engines
        .iter()
        .map(|engine| (engine.name(), counts(engine)))
        .filter(|(name, (libraries, _))| name.as_bytes() == ENGINE || *libraries > 0)
        .collect();
    reply.map(shown.len());
    for (name, (libraries, functions)) in shown {
        reply.bulk(name.to_ascii_uppercase().as_bytes());
        reply.map(2);
        reply.bulk(b"libraries_count");
        reply.integer(libraries as i64);
        reply.bulk(b"functions_count");
        reply.integer(functions as i64);
    }
    Ok(())
}
