//! FT.CONFIG.

use crate::command::args::quoted;
use crate::command::{CommandError, Context, Outcome};
use crate::number::parse_u64;
use crate::server::search::{SEARCH_SETTINGS, SearchSetting};

/// The settings that a name stands for, with their numbers; `*` stands for all.
fn named(name: &[u8]) -> Vec<(usize, &'static SearchSetting)> {
    let is_meant =
        |setting: &SearchSetting| name == b"*" || name.eq_ignore_ascii_case(setting.name.as_bytes());
    SEARCH_SETTINGS.iter().enumerate().filter(|(_, setting)| is_meant(setting)).collect()
}

pub(super) fn config(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let name = args.get(2).copied().unwrap_or(b"*");
    match args[1].to_ascii_lowercase().as_slice() {
        b"get" => get(ctx, name),
        b"help" => help(ctx, name),
        _ => set(ctx, name, args.get(3).copied().unwrap_or_default()),
    }
}

fn get(ctx: &mut Context<'_, '_>, name: &[u8]) -> Outcome {
    let settings = named(name);
    let (reply, search) = (&mut *ctx.reply, &ctx.shared.search);
    // Pairs in RESP2 are arrays of two.
    let is_map = reply.protocol() == crate::resp::Protocol::Resp3;
    if is_map {
        reply.map(settings.len())
    } else {
        reply.array(settings.len())
    }
    for (number, setting) in settings {
        if !is_map {
            reply.array(2);
        }
        reply.bulk(setting.name.as_bytes());
        reply.bulk(search.settings.value(number).to_string().as_bytes());
    }
    Ok(())
}

fn help(ctx: &mut Context<'_, '_>, name: &[u8]) -> Outcome {
    let settings = named(name);
    let (reply, search) = (&mut *ctx.reply, &ctx.shared.search);
    reply.array(settings.len());
    for (number, setting) in settings {
        reply.array(5);
        reply.bulk(setting.name.as_bytes());
        reply.bulk(b"Description");
        reply.bulk(setting.summary.as_bytes());
        reply.bulk(b"Value");
        reply.bulk(search.settings.value(number).to_string().as_bytes());
    }
    Ok(())
}

fn set(ctx: &mut Context<'_, '_>, name: &[u8], value: &[u8]) -> Outcome {
    let found = named(name);
    let [(number, setting)] = found.as_slice() else {
        return Err(CommandError::text("No such option"));
    };
    if setting.bounds.1 == 0 {
        return Err(CommandError::text("Not modifiable at runtime"));
    }
    let value = parse_u64(value).filter(|value| ctx.shared.search.settings.set(*number, *value));
    if value.is_none() {
        let (least, most) = setting.bounds;
        let name = quoted(name, 64);
        return Err(CommandError::owned(format!("{name} requires an integer from {least} to {most}")));
    }
    ctx.reply.ok();
    Ok(())
}
