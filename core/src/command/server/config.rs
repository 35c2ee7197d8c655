//! CONFIG: the settings, read and changed while the server runs.

use std::collections::HashSet;

use crate::acl::DEFAULT_USER;
use crate::catalog;
use crate::command::{CommandError, Context, Outcome, help, users};
use crate::glob::Glob;
use crate::server::outbox::Action;
use crate::server::{Effect, SettingError, Settings};

pub(super) fn config(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    match args[1].to_ascii_lowercase().as_slice() {
        b"get" => {
            get(ctx, &args[2..]);
            Ok(())
        }
        b"help" => help::reply_help(ctx.reply, catalog::spec(catalog::id("config"))),
        b"resetstat" => {
            ctx.outbox.push(Action::ResetStatistics);
            ctx.reply.ok();
            Ok(())
        }
        // The host's options are not ours to write.
        b"rewrite" => Err(CommandError::text("ERR The server is running without a config file")),
        b"set" => set(ctx, &args[2..]),
        _ => Err(CommandError::SYNTAX),
    }
}

/// Each setting comes once. One that was named in full bears the name it was asked by, as in Redis.
fn get(ctx: &mut Context<'_, '_>, patterns: &[&[u8]]) {
    let settings = &ctx.shared.settings;
    let mut seen: HashSet<Vec<u8>> = HashSet::new();
    let mark = ctx.reply.defer();
    for pattern in patterns {
        let found = if pattern.iter().any(|byte| matches!(byte, b'[' | b'*' | b'?')) {
            let glob = Glob::ignoring_case(pattern);
            let all = settings.all(&mut |name| glob.matches(name.as_bytes()));
            let shown = all.into_iter().map(|(name, value)| {
                let value =
                    ctx.outbox.setting(name).map(|change| settings.preview(name, change)).unwrap_or(value);
                (name.as_bytes().to_vec(), value)
            });
            shown.collect()
        } else {
            let name = std::str::from_utf8(pattern).ok().and_then(Settings::name_of);
            let value = name.and_then(|name| match ctx.outbox.setting(name) {
                Some(change) => Some(settings.preview(name, change)),
                None => settings.get(name),
            });
            value.map(|value| vec![(pattern.to_vec(), value)]).unwrap_or_default()
        };
        for (name, value) in found {
            if seen.insert(name.to_ascii_lowercase()) {
                ctx.reply.bulk(&name);
                ctx.reply.bulk(value.as_bytes());
            }
        }
    }
    ctx.reply.finish_map(mark, seen.len());
}

fn set(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    if !args.len().is_multiple_of(2) {
        return Err(CommandError::SYNTAX);
    }
    let mut texts = Vec::with_capacity(args.len());
    for argument in args {
        texts.push(std::str::from_utf8(argument).map_err(|_| {
            let shown = String::from_utf8_lossy(argument);
            CommandError::owned(format!(
                "ERR Names and values of settings must be UTF-8, and '{shown}' is not"
            ))
        })?);
    }
    let changes: Vec<(&str, &str)> = texts.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    match ctx.shared.settings.accept(&changes) {
        Ok(accepted) => {
            // A default user of the store must know of it, or it would be forgotten with the next change of that user.
            if let Some(password) = accepted.get("requirepass")
                && users::has_default(ctx.txn)?
                && let Some(mut user) = users::read(ctx.txn, &ctx.shared.settings, password, DEFAULT_USER)?
            {
                user.set_password(password.as_bytes());
                users::write(ctx.txn, &[&user], password)?;
            }
            ctx.outbox.push(Action::Settings(accepted));
            ctx.outbox.effect(Effect::SettingsChanged);
            ctx.reply.ok();
            Ok(())
        }
        Err((_, error @ SettingError::Unknown(_))) => Err(CommandError::owned(format!("ERR {error}"))),
        Err((name, error)) => Err(CommandError::owned(format!(
            "ERR CONFIG SET failed (possibly related to argument '{name}') - {error}"
        ))),
    }
}
