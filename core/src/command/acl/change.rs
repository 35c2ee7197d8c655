//! ACL SETUSER, DELUSER, LOAD and SAVE.

use std::sync::Arc;

use crate::acl::{Change, DEFAULT_USER, User, is_name, merge_selectors, parse_users_file, print_users_file};
use crate::command::args::quoted;
use crate::command::{CommandError, Context, Outcome, pending_users, users};
use crate::server::Effect;
use crate::server::outbox::Action;

/// Redis' words where ACL SAVE and ACL LOAD have no file.
const NO_FILE: &str = "ERR This Redis instance is not configured to use an ACL file. You may want to specify users via \
                       the ACL SETUSER command and then issue a CONFIG REWRITE (assuming you have a Redis configuration \
                       file set) in order to store users in the Redis configuration.";

pub(super) fn setuser(ctx: &mut Context<'_, '_>, name: &[u8], rules: &[&[u8]]) -> Outcome {
    if !is_name(name) {
        return Err(CommandError::text("ERR Usernames can't contain spaces or null characters"));
    }
    let all_channels = all_channels_by_default(ctx);
    let requirepass = requirepass(ctx);
    let known = users::read(ctx.txn, &ctx.shared.settings, &requirepass, name)?;
    let mut user = known.unwrap_or_else(|| User::new(name, all_channels));
    let rules = merge_selectors(rules).map_err(|first| {
        let shown = quoted(&first, usize::MAX);
        CommandError::owned(format!("ERR Unmatched parenthesis in acl selector starting at '{shown}'."))
    })?;
    for rule in &rules {
        user.apply(rule, all_channels).map_err(|error| {
            let shown = quoted(rule, usize::MAX);
            CommandError::owned(format!("ERR Error in ACL SETUSER modifier '{shown}': {error}"))
        })?;
    }
    users::write(ctx.txn, &[&user], &requirepass)?;
    ctx.outbox.push(Action::Users(Change::Set(Arc::new(user))));
    ctx.reply.ok();
    Ok(())
}

/// `acl-pubsub-default`, as the transaction has set it.
fn all_channels_by_default(ctx: &Context<'_, '_>) -> bool {
    match ctx.outbox.setting("acl-pubsub-default") {
        Some(word) => word == "allchannels",
        None => ctx.shared.settings.all_channels_by_default(),
    }
}

/// `requirepass`, as the transaction has set it.
fn requirepass(ctx: &Context<'_, '_>) -> String {
    let own = ctx.outbox.setting("requirepass").map(str::to_owned);
    own.or_else(|| ctx.shared.settings.get("requirepass")).unwrap_or_default()
}

pub(super) fn deluser(ctx: &mut Context<'_, '_>, names: &[&[u8]]) -> Outcome {
    if names.contains(&DEFAULT_USER) {
        return Err(CommandError::text("ERR The 'default' user cannot be removed"));
    }
    let deleted = users::delete(ctx.txn, names)?;
    if deleted > 0 {
        ctx.outbox.push(Action::Users(Change::Delete(names.iter().map(|name| name.to_vec()).collect())));
        close_connections(ctx, |user| names.contains(&user));
    }
    ctx.reply.integer(i64::try_from(deleted).unwrap_or(i64::MAX));
    Ok(())
}

/// Closes the connections of some users, its own behind the reply.
fn close_connections(ctx: &mut Context<'_, '_>, is_meant: impl Fn(&[u8]) -> bool) {
    let own = ctx.client.id;
    let mut others = Vec::new();
    for (id, known) in ctx.shared.clients.lock().iter() {
        if *id != own && is_meant(&known.card.lock().user) {
            others.push(*id);
        }
    }
    if !others.is_empty() {
        ctx.outbox.push(Action::Kill(others));
    }
    if is_meant(ctx.client.access.user().name()) {
        ctx.outbox.effect(Effect::Close);
    }
}

pub(super) fn load(ctx: &mut Context<'_, '_>) -> Outcome {
    let text = ctx.shared.host.read_users().ok_or(CommandError::text(NO_FILE))?;
    let path = ctx.shared.settings.get("aclfile").unwrap_or_default();
    let text = text.map_err(|error| {
        CommandError::owned(format!("ERR Error loading ACLs, opening file '{path}': {error}"))
    })?;
    let all_channels = all_channels_by_default(ctx);
    let mut all = parse_users_file(&text, &path, all_channels)
        .map_err(|errors| CommandError::owned(format!("ERR {errors}")))?;
    let requirepass = requirepass(ctx);
    if !all.iter().any(|user| user.name() == DEFAULT_USER) {
        // Redis would make one without a password, whatever `requirepass` says.
        all.push(Arc::new(users::standard_user(&ctx.shared.settings, &requirepass)));
    }
    users::replace(ctx.txn, &all, &requirepass)?;
    ctx.outbox.push(Action::Users(Change::Replace(all)));
    // As in Redis all but the default user's, whether their users have changed or not.
    close_connections(ctx, |user| user != DEFAULT_USER);
    ctx.reply.ok();
    Ok(())
}

pub(super) fn save(ctx: &mut Context<'_, '_>) -> Outcome {
    let text = print_users_file(&pending_users::users(ctx));
    match ctx.shared.host.write_users(&text) {
        None => Err(CommandError::text(NO_FILE)),
        Some(Ok(())) => {
            ctx.reply.ok();
            Ok(())
        }
        Some(Err(error)) => Err(CommandError::owned(format!(
            "ERR There was an error trying to save the ACLs. Please check the server logs for more information: {error}"
        ))),
    }
}
