//! ACL CAT, GETUSER, LIST, LOG and USERS.

use crate::acl::Selector;
use crate::catalog::{self, Categories};
use crate::command::args::quoted;
use crate::command::{CommandError, Context, Outcome, pending_users};
use crate::resp::{self, Reply};
use crate::server::outbox::Action;

/// Entries that ACL LOG shows unless it is told how many.
pub(super) const LOG_SHOWN: usize = 10;

pub(super) fn categories(ctx: &mut Context<'_, '_>) -> Outcome {
    ctx.reply.array(Categories::WORDS.len());
    for (word, _) in Categories::WORDS {
        ctx.reply.bulk(word.as_bytes());
    }
    Ok(())
}

pub(super) fn commands(ctx: &mut Context<'_, '_>, category: &[u8]) -> Outcome {
    let Some(wanted) = Categories::of_word(&category.to_ascii_lowercase()) else {
        let shown = quoted(category, usize::MAX);
        return Err(CommandError::owned(format!("ERR Unknown category '{shown}'")));
    };
    let members = || catalog::all().iter().filter(|spec| spec.categories.contains(wanted));
    ctx.reply.array(members().count());
    members().for_each(|spec| ctx.reply.bulk(spec.name.as_bytes()));
    Ok(())
}

pub(super) fn getuser(ctx: &mut Context<'_, '_>, name: &[u8]) -> Outcome {
    let Some(user) = pending_users::user(ctx, name) else {
        ctx.reply.null();
        return Ok(());
    };
    let reply = &mut *ctx.reply;
    reply.map(6);
    reply.bulk(b"flags");
    reply.set(user.flags().count());
    user.flags().for_each(|flag| reply.bulk(flag.as_bytes()));
    reply.bulk(b"passwords");
    reply.array(user.passwords().len());
    user.passwords().iter().for_each(|password| reply.bulk(password.hex().as_bytes()));
    let mut selectors = user.selectors();
    if let Some(root) = selectors.next() {
        rules(reply, root);
    }
    let others: Vec<&Selector> = selectors.collect();
    reply.bulk(b"selectors");
    reply.array(others.len());
    for selector in others {
        reply.map(3);
        rules(reply, selector);
    }
    Ok(())
}

/// The three fields that say what a selector allows.
fn rules(reply: &mut Reply, selector: &Selector) {
    reply.bulk(b"commands");
    reply.bulk(&selector.command_rules());
    reply.bulk(b"keys");
    reply.bulk(&selector.key_rules());
    reply.bulk(b"channels");
    reply.bulk(&selector.channel_rules());
}

pub(super) fn list(ctx: &mut Context<'_, '_>) -> Outcome {
    let all = pending_users::users(ctx);
    ctx.reply.array(all.len());
    for user in all {
        ctx.reply.bulk(&[b"user ", user.name(), b" ", &user.rules()].concat());
    }
    Ok(())
}

pub(super) fn users(ctx: &mut Context<'_, '_>) -> Outcome {
    let all = pending_users::users(ctx);
    ctx.reply.array(all.len());
    all.iter().for_each(|user| ctx.reply.bulk(user.name()));
    Ok(())
}

pub(super) fn log_or_reset(ctx: &mut Context<'_, '_>, word: &[u8]) -> Outcome {
    if word.eq_ignore_ascii_case(b"reset") {
        ctx.outbox.push(Action::ForgetDenials);
        ctx.reply.ok();
        return Ok(());
    }
    let count = resp::parse_i64(word).ok_or(CommandError::NOT_INTEGER)?;
    log(ctx, usize::try_from(count.max(0)).unwrap_or(usize::MAX))
}

pub(super) fn log(ctx: &mut Context<'_, '_>, most: usize) -> Outcome {
    let is_empty = ctx.outbox.has(&|action| matches!(action, Action::ForgetDenials));
    let entries = if is_empty { Vec::new() } else { ctx.shared.acl.log.latest(most) };
    let now_ms = ctx.now_ms();
    let number = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    let reply = &mut *ctx.reply;
    reply.array(entries.len());
    for entry in &entries {
        reply.map(10);
        reply.bulk(b"count");
        reply.integer(number(entry.count));
        for (name, value) in [
            (&b"reason"[..], entry.denial.reason.word().as_bytes()),
            (b"context", entry.context.word().as_bytes()),
            (b"object", &entry.denial.object),
            (b"username", &entry.denial.user),
        ] {
            reply.bulk(name);
            reply.bulk(value);
        }
        reply.bulk(b"age-seconds");
        reply.double(now_ms.saturating_sub(entry.updated_ms) as f64 / 1000.0);
        reply.bulk(b"client-info");
        reply.bulk(&entry.client);
        for (name, value) in [
            (&b"entry-id"[..], entry.id),
            (b"timestamp-created", entry.created_ms),
            (b"timestamp-last-updated", entry.updated_ms),
        ] {
            reply.bulk(name);
            reply.integer(number(value));
        }
    }
    Ok(())
}
