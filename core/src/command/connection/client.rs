//! CLIENT: what connections are called and how they behave, and the list of them.

use super::client_type::ClientType;
use super::{caching, client_admin};
use crate::catalog;
use crate::command::args::{is_option, quoted};
use crate::command::{CommandError, Context, Outcome, help};
use crate::resp::{self, Protocol};
use crate::server::hub::Mode;
use crate::server::{ClientCard, ReplyMode};

pub(super) fn client(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let word = args[1].to_ascii_lowercase();
    match word.as_slice() {
        b"caching" => caching::caching(ctx, args[2]),
        b"getname" => getname(ctx),
        b"getredir" => caching::getredir(ctx),
        b"help" => help::reply_help(ctx.reply, catalog::spec(catalog::id("client"))),
        b"id" => {
            ctx.reply.integer(i64::try_from(ctx.client.id).unwrap_or(i64::MAX));
            Ok(())
        }
        b"info" => {
            show(ctx);
            let line = line(&ctx.client.card.lock(), ctx.now_ms());
            ctx.reply.verbatim("txt", &line);
            Ok(())
        }
        b"kill" => client_admin::kill(ctx, args),
        b"list" => list(ctx, args),
        b"no-evict" => {
            let is_on = on_or_off(args[2])?;
            ctx.client.labels_mut().no_evict = is_on;
            ctx.reply.ok();
            Ok(())
        }
        b"no-touch" => {
            ctx.client.no_touch = on_or_off(args[2])?;
            ctx.reply.ok();
            Ok(())
        }
        b"pause" => client_admin::pause(ctx, args),
        b"reply" => reply(ctx, args[2]),
        b"setinfo" => setinfo(ctx, args[2], args[3]),
        b"setname" => {
            check_name(args[2])?;
            ctx.client.labels_mut().name = args[2].to_vec();
            ctx.reply.ok();
            Ok(())
        }
        b"tracking" => caching::tracking(ctx, args),
        b"trackinginfo" => caching::trackinginfo(ctx),
        b"unblock" => client_admin::unblock(ctx, args),
        b"unpause" => client_admin::unpause(ctx),
        _ => Err(CommandError::SYNTAX),
    }
}

/// Puts on the card what this connection changed since its last batch of commands.
pub(super) fn show(ctx: &mut Context<'_, '_>) {
    let protocol = if ctx.reply.protocol() == Protocol::Resp2 { 2 } else { 3 };
    ctx.client.show(protocol, ctx.txn.now_ms());
}

fn getname(ctx: &mut Context<'_, '_>) -> Outcome {
    if ctx.client.labels.name.is_empty() {
        ctx.reply.null();
    } else {
        ctx.reply.bulk(&ctx.client.labels.name);
    }
    Ok(())
}

/// Refuses a name that would break the lines of CLIENT LIST.
pub(super) fn check_name(name: &[u8]) -> Outcome {
    if is_one_word(name) {
        return Ok(());
    }
    Err(CommandError::text("ERR Client names cannot contain spaces, newlines or special characters."))
}

fn is_one_word(text: &[u8]) -> bool {
    text.iter().all(u8::is_ascii_graphic)
}

fn setinfo(ctx: &mut Context<'_, '_>, option: &[u8], value: &[u8]) -> Outcome {
    let shown = quoted(option, usize::MAX);
    let is_name = is_option(option, "LIB-NAME");
    if !is_name && !is_option(option, "LIB-VER") {
        return Err(CommandError::owned(format!("ERR Unrecognized option '{shown}'")));
    }
    if !is_one_word(value) {
        return Err(CommandError::owned(format!(
            "ERR {shown} cannot contain spaces, newlines or special characters."
        )));
    }
    let labels = ctx.client.labels_mut();
    let place = if is_name { &mut labels.library_name } else { &mut labels.library_version };
    *place = value.to_vec();
    ctx.reply.ok();
    Ok(())
}

fn on_or_off(argument: &[u8]) -> Result<bool, CommandError> {
    if is_option(argument, "ON") {
        Ok(true)
    } else if is_option(argument, "OFF") {
        Ok(false)
    } else {
        Err(CommandError::SYNTAX)
    }
}

/// The session acts on the mode; only ON has a reply of its own.
fn reply(ctx: &mut Context<'_, '_>, mode: &[u8]) -> Outcome {
    if is_option(mode, "ON") {
        ctx.client.reply_mode = ReplyMode::On;
        ctx.reply.ok();
    } else if is_option(mode, "OFF") {
        ctx.client.reply_mode = ReplyMode::Off;
    } else if !is_option(mode, "SKIP") {
        return Err(CommandError::SYNTAX);
    } else if ctx.client.reply_mode != ReplyMode::Off {
        ctx.client.reply_mode = ReplyMode::SkipNext;
    }
    Ok(())
}

fn list(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let mut ids = None;
    let mut wanted = None;
    match &args[2..] {
        [] => {}
        [option, kind] if is_option(option, "TYPE") => wanted = Some(ClientType::parse(kind)?),
        [option, numbers @ ..] if is_option(option, "ID") && !numbers.is_empty() => {
            let parsed = numbers
                .iter()
                .map(|number| resp::parse_i64(number).ok_or(CommandError::text("ERR Invalid client ID")));
            ids = Some(parsed.collect::<Result<Vec<i64>, CommandError>>()?);
        }
        _ => return Err(CommandError::SYNTAX),
    }
    show(ctx);
    let now_ms = ctx.now_ms();
    let clients = ctx.shared.clients.lock();
    let mut lines = Vec::new();
    match ids {
        Some(ids) => {
            let known = ids.iter().filter_map(|id| clients.get(&u64::try_from(*id).ok()?));
            known.for_each(|known| lines.extend(line(&known.card.lock(), now_ms)));
        }
        None => {
            for known in clients.values() {
                let card = known.card.lock();
                if wanted.is_none_or(|wanted| wanted == ClientType::of(&card)) {
                    lines.extend(line(&card, now_ms));
                }
            }
        }
    }
    drop(clients);
    ctx.reply.verbatim("txt", &lines);
    Ok(())
}

/// A connection as CLIENT INFO shows it, without the line end: for ACL LOG.
pub(crate) fn client_info(card: &ClientCard, now_ms: u64) -> Vec<u8> {
    let mut line = line(card, now_ms);
    line.pop();
    line
}

/// A connection as CLIENT LIST shows it: Redis 7.2's fields in its order, the buffers it has and we have not as 0.
fn line(card: &ClientCard, now_ms: u64) -> Vec<u8> {
    let seconds_since = |then_ms: u64| now_ms.saturating_sub(then_ms) / 1000;
    let tracking = card.tracking.as_ref();
    let is_broadcast = tracking.is_some_and(|tracking| tracking.mode == Mode::Broadcast);
    let (channels, patterns, shards) = card.subscribed;
    let flags: String = [
        (card.is_monitor, 'O'),
        (card.subscribed != (0, 0, 0), 'P'),
        (card.queued.is_some(), 'x'),
        (card.is_blocked, 'b'),
        (tracking.is_some(), 't'),
        (is_broadcast, 'B'),
        (card.labels.no_evict, 'e'),
        (card.no_touch, 'T'),
    ]
    .into_iter()
    .filter_map(|(is_set, letter)| is_set.then_some(letter))
    .collect();
    let queued = card.queued.map_or(-1, |count| i64::try_from(count).unwrap_or(i64::MAX));
    let mut line =
        format!("id={} addr={} laddr={} fd=-1 name=", card.id, card.address, card.local_address).into_bytes();
    line.extend_from_slice(&card.labels.name);
    line.extend_from_slice(
        format!(
            " age={} idle={} flags={} db={} sub={channels} psub={patterns} ssub={shards} multi={queued} qbuf=0 qbuf-free=0 argv-mem=0 \
             multi-mem=0 rbs=0 rbp=0 obl=0 oll=0 omem=0 tot-mem=0 events=r cmd={} user=",
            seconds_since(card.connected_at_ms),
            seconds_since(card.active_at_ms),
            if flags.is_empty() { "N" } else { &flags },
            card.db,
            if card.last_command.is_empty() { "NULL" } else { card.last_command },
        )
        .as_bytes(),
    );
    line.extend_from_slice(&card.user);
    let redirect = caching::redirect_of(tracking);
    line.extend_from_slice(format!(" redir={redirect} resp={} lib-name=", card.protocol).as_bytes());
    line.extend_from_slice(&card.labels.library_name);
    line.extend_from_slice(b" lib-ver=");
    line.extend_from_slice(&card.labels.library_version);
    line.push(b'\n');
    line
}
