//! What one connection does to others: CLIENT KILL, PAUSE, UNPAUSE, UNBLOCK, and MONITOR, which watches them.

use super::client_type::ClientType;
use crate::command::args::{is_option, quoted};
use crate::command::blocking::deadline_ms;
use crate::command::{CommandError, Context, Outcome, pending_users};
use crate::resp;
use crate::server::hub::{Pause, Unblock};
use crate::server::outbox::Action;
use crate::server::{ClientCard, Effect};

pub(super) fn monitor(ctx: &mut Context<'_, '_>, _args: &[&[u8]]) -> Outcome {
    if ctx.wait.is_none() {
        return Err(CommandError::text("ERR MONITOR isn't allowed for DENY BLOCKING client"));
    }
    ctx.client.is_monitor = true;
    ctx.outbox.push(Action::Monitor);
    ctx.reply.ok();
    Ok(())
}

/// Which connections CLIENT KILL means.
struct Filter<'a> {
    id: Option<u64>,
    kind: Option<ClientType>,
    user: Option<&'a [u8]>,
    address: Option<&'a [u8]>,
    local_address: Option<&'a [u8]>,
    skips_own: bool,
}

impl<'a> Filter<'a> {
    fn parse(ctx: &Context<'_, '_>, options: &[&'a [u8]]) -> Result<Filter<'a>, CommandError> {
        let mut filter =
            Filter { id: None, kind: None, user: None, address: None, local_address: None, skips_own: true };
        let mut rest = options;
        while let [word, after @ ..] = rest {
            let [value, after @ ..] = after else { return Err(CommandError::SYNTAX) };
            if is_option(word, "ID") {
                let id = resp::parse_i64(value).filter(|id| *id >= 1);
                let id = id.ok_or(CommandError::text("ERR client-id should be greater than 0"))?;
                filter.id = Some(id.unsigned_abs());
            } else if is_option(word, "TYPE") {
                filter.kind = Some(ClientType::parse(value)?);
            } else if is_option(word, "USER") {
                if pending_users::user(ctx, value).is_none() {
                    let shown = quoted(value, usize::MAX);
                    return Err(CommandError::owned(format!("ERR No such user '{shown}'")));
                }
                filter.user = Some(value);
            } else if is_option(word, "ADDR") {
                filter.address = Some(value);
            } else if is_option(word, "LADDR") {
                filter.local_address = Some(value);
            } else if is_option(word, "SKIPME") {
                filter.skips_own = if is_option(value, "YES") {
                    true
                } else if is_option(value, "NO") {
                    false
                } else {
                    return Err(CommandError::SYNTAX);
                };
            } else {
                return Err(CommandError::SYNTAX);
            }
            rest = after;
        }
        Ok(filter)
    }

    fn means(&self, card: &ClientCard, own: u64) -> bool {
        (card.id != own || !self.skips_own)
            && self.id.is_none_or(|id| id == card.id)
            && self.user.is_none_or(|user| user == &*card.user)
            && self.kind.is_none_or(|kind| kind == ClientType::of(card))
            && self.address.is_none_or(|address| address == card.address.as_bytes())
            && self.local_address.is_none_or(|address| address == card.local_address.as_bytes())
    }
}

pub(super) fn kill(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    // With one argument it is the older form, an address, which may be one's own and must be somebody's.
    let is_old = args.len() == 3;
    let filter = if is_old {
        let address = args.get(2).copied();
        Filter { id: None, kind: None, user: None, address, local_address: None, skips_own: false }
    } else {
        Filter::parse(ctx, args.get(2..).unwrap_or_default())?
    };
    let own = ctx.client.id;
    let (mut killed, mut others) = (0, Vec::new());
    for known in ctx.shared.clients.lock().values() {
        let card = known.card.lock();
        if !filter.means(&card, own) {
            continue;
        }
        killed += 1;
        if card.id == own {
            ctx.outbox.effect(Effect::Close);
        } else {
            others.push(card.id);
        }
    }
    if !others.is_empty() {
        ctx.outbox.push(Action::Kill(others));
    }
    match (is_old, killed) {
        (true, 0) => return Err(CommandError::text("ERR No such client")),
        (true, _) => ctx.reply.ok(),
        (false, killed) => ctx.reply.integer(killed),
    }
    Ok(())
}

pub(super) fn pause(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let only_writes = match args.get(3..).unwrap_or_default() {
        [] => false,
        [mode] if is_option(mode, "WRITE") => true,
        [mode] if is_option(mode, "ALL") => false,
        [_] => {
            return Err(CommandError::text("ERR CLIENT PAUSE mode must be WRITE or ALL"));
        }
        _ => return Err(CommandError::SYNTAX),
    };
    let until_ms = deadline_ms(ctx, args[2])?.unwrap_or(ctx.now_ms());
    ctx.outbox.push(Action::Pause(Pause { until_ms, only_writes }));
    ctx.reply.ok();
    Ok(())
}

pub(super) fn unpause(ctx: &mut Context<'_, '_>) -> Outcome {
    ctx.outbox.push(Action::Unpause);
    ctx.reply.ok();
    Ok(())
}

pub(super) fn unblock(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let how = match args.get(3..).unwrap_or_default() {
        [] => Unblock::TimedOut,
        [word] if is_option(word, "TIMEOUT") => Unblock::TimedOut,
        [word] if is_option(word, "ERROR") => Unblock::Error,
        [_] => return Err(CommandError::text("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR")),
        _ => return Err(CommandError::SYNTAX),
    };
    let id = resp::parse_i64(args[2]).ok_or(CommandError::NOT_INTEGER)?;
    let waiting = &ctx.shared.hub.waiting;
    let blocked = u64::try_from(id).ok().filter(|id| waiting.is_waiting(*id));
    if let Some(id) = blocked {
        ctx.outbox.push(Action::Unblock(id, how));
    }
    ctx.reply.integer(i64::from(blocked.is_some()));
    Ok(())
}
