//! The running server: saving, stopping, its clock.
//!
//! The log is durable by its sync policy at any time; SAVE and its like only write what speeds up the next start.
//! BGREWRITEAOF asks the engine besides to merge all that holds something dead.

use std::sync::atomic::Ordering;

use crate::command::args::is_option;
use crate::command::{CommandError, Context, Outcome};
use crate::server::Effect;
use crate::server::outbox::Action;

pub(super) fn save(ctx: &mut Context<'_, '_>, _args: &[&[u8]]) -> Outcome {
    check_writable(ctx)?;
    let changes = ctx.shared.counters.changes.load(Ordering::Relaxed);
    let failed = |_: &_| ctx.shared.save_failed.store(true, Ordering::Relaxed);
    ctx.admin.checkpoint(ctx.now_ms()).inspect_err(failed)?;
    ctx.outbox.push(Action::Saved { changes, now_ms: ctx.now_ms() });
    ctx.reply.ok();
    Ok(())
}

pub(super) fn bgsave(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    check_writable(ctx)?;
    match &args[1..] {
        [] => {}
        [option] if is_option(option, "SCHEDULE") => {}
        _ => return Err(CommandError::SYNTAX),
    }
    ctx.outbox.effect(Effect::Checkpoint);
    ctx.reply.simple("Background saving started");
    Ok(())
}

pub(super) fn bgrewriteaof(ctx: &mut Context<'_, '_>, _args: &[&[u8]]) -> Outcome {
    check_writable(ctx)?;
    if !ctx.admin.begin_rewrite() {
        let text = "ERR Background append only file rewriting already in progress";
        return Err(CommandError::text(text));
    }
    ctx.outbox.effect(Effect::Checkpoint);
    ctx.reply.simple("Background append only file rewriting started");
    Ok(())
}

/// Refuses what writes beside the data where the store is only read. These commands have no flag that says so.
fn check_writable(ctx: &Context<'_, '_>) -> Outcome {
    match ctx.shared.settings.bounds().is_read_only {
        true => Err(CommandError::READ_ONLY),
        false => Ok(()),
    }
}

pub(super) fn lastsave(ctx: &mut Context<'_, '_>, _args: &[&[u8]]) -> Outcome {
    let saved_at_s = ctx.shared.saved_at_s.load(Ordering::Relaxed);
    ctx.reply.integer(i64::try_from(saved_at_s).unwrap_or(i64::MAX));
    Ok(())
}

/// No reply on success: the connection closes with the process. NOW and FORCE are accepted; there are no replicas to
/// wait for, and errors do not stop the shutdown.
pub(super) fn shutdown(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let (mut save, mut no_save, mut others, mut abort) = (false, false, false, false);
    for option in &args[1..] {
        match option.to_ascii_uppercase().as_slice() {
            b"SAVE" => save = true,
            b"NOSAVE" => no_save = true,
            b"NOW" | b"FORCE" => others = true,
            b"ABORT" => abort = true,
            _ => return Err(CommandError::SYNTAX),
        }
    }
    if (abort && (save || no_save || others)) || (save && no_save) {
        return Err(CommandError::SYNTAX);
    }
    if !ctx.shared.settings.bounds().has_shutdown {
        let text = "ERR this store is part of a program, which closes it; SHUTDOWN ends only servers";
        return Err(CommandError::text(text));
    }
    if abort {
        return Err(CommandError::text("ERR No shutdown in progress."));
    }
    if let Some(text) = ctx.shared.loading.busy_text().filter(|_| !no_save) {
        return Err(CommandError::text(text));
    }
    ctx.outbox.effect(Effect::Shutdown { save: !no_save });
    ctx.outbox.effect(Effect::Close);
    Ok(())
}

pub(super) fn time(ctx: &mut Context<'_, '_>, _args: &[&[u8]]) -> Outcome {
    let now_ms = ctx.now_ms();
    let mut digits = itoa::Buffer::new();
    ctx.reply.array(2);
    ctx.reply.bulk(digits.format(now_ms / 1000).as_bytes());
    ctx.reply.bulk(digits.format(now_ms % 1000 * 1000).as_bytes());
    Ok(())
}
