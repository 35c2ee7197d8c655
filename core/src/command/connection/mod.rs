//! The connection itself: who is speaking, in which protocol, to which database.

mod caching;
mod client;
mod client_admin;
mod client_type;

use super::args::{is_option, quoted};
use super::pubsub::ping_while_listening;
use super::{CommandError, Context, Group, Outcome, pending_users};
use crate::acl::{self, DEFAULT_USER, Denial, Reason};
use crate::resp::{self, Protocol};
use crate::server::REDIS_VERSION;
use crate::server::outbox::Action;

pub(crate) use client::client_info;

pub(super) const HANDLERS: Group = &[
    ("auth", auth),
    ("client", client::client),
    ("echo", echo),
    ("hello", hello),
    ("monitor", client_admin::monitor),
    ("ping", ping),
    ("select", select),
];

fn ping(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    match args {
        [_] if ping_while_listening(ctx, b"") => {}
        [_, message] if ping_while_listening(ctx, message) => {}
        [_] => ctx.reply.simple("PONG"),
        [_, message] => ctx.reply.bulk(message),
        _ => return Err(CommandError::text("ERR wrong number of arguments for 'ping' command")),
    }
    Ok(())
}

fn echo(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    ctx.reply.bulk(args[1]);
    Ok(())
}

fn select(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let number = resp::parse_i64(args[1]).ok_or(CommandError::NOT_INTEGER)?;
    let number = i32::try_from(number).map_err(|_| {
        CommandError::text("ERR value is out of range, value must between -2147483648 and 2147483647")
    })?;
    ctx.client.db = u32::try_from(number)
        .ok()
        .filter(|db| *db < ctx.shared.settings.databases())
        .ok_or(CommandError::text("ERR DB index is out of range"))?;
    ctx.reply.ok();
    Ok(())
}

fn auth(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    match args {
        [_, _] if needs_no_password(ctx) => {
            return Err(CommandError::text(
                "ERR AUTH <password> called without any password configured for the default user. \
                 Are you sure your configuration is correct?",
            ));
        }
        [word, password] => authenticate(ctx, word, DEFAULT_USER, password)?,
        [word, user, password] => authenticate(ctx, word, user, password)?,
        _ => return Err(CommandError::SYNTAX),
    }
    ctx.reply.ok();
    Ok(())
}

fn needs_no_password(ctx: &Context<'_, '_>) -> bool {
    pending_users::user(ctx, DEFAULT_USER).is_some_and(|user| user.needs_no_password())
}

/// Lets the connection in, or says why not; a connection that was in stays in. `word` is the command.
fn authenticate(ctx: &mut Context<'_, '_>, word: &[u8], name: &[u8], password: &[u8]) -> Outcome {
    if !ctx.shared.acl.is_complete() && name != DEFAULT_USER {
        return Err(CommandError::text("LOADING Redis is loading the dataset in memory"));
    }
    match pending_users::user(ctx, name).filter(|user| user.accepts(password)) {
        Some(user) => {
            ctx.client.log_in(user, &ctx.shared.acl);
            Ok(())
        }
        None => {
            let denial = Box::new(Denial::new(name, Reason::Login, word));
            let is_queued = ctx.client.queued.is_some();
            let context = if is_queued { acl::Context::Multi } else { acl::Context::TopLevel };
            client::show(ctx);
            ctx.note_denial(denial.clone(), context);
            Err(CommandError::Denied(denial))
        }
    }
}

fn hello(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let protocol = match args.get(1) {
        None => None,
        Some(version) => Some(protocol(version)?),
    };
    let mut login = None;
    let mut name = None;
    let mut rest = args.get(2..).unwrap_or_default();
    while let Some(option) = rest.first() {
        rest = match rest {
            [_, user, password, rest @ ..] if is_option(option, "AUTH") => {
                login = Some((*user, *password));
                rest
            }
            [_, wanted, rest @ ..] if is_option(option, "SETNAME") => {
                client::check_name(wanted)?;
                name = Some(*wanted);
                rest
            }
            _ => {
                let shown = quoted(option, usize::MAX);
                return Err(CommandError::owned(format!("ERR Syntax error in HELLO option '{shown}'")));
            }
        };
    }
    if let Some((user, password)) = login {
        authenticate(ctx, args[0], user, password)?;
    }
    if ctx.client.must_authenticate(ctx.shared) {
        return Err(CommandError::text(
            "NOAUTH HELLO must be called with the client already authenticated, otherwise the \
             HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and select the \
             RESP protocol version at the same time",
        ));
    }
    if let Some(name) = name {
        ctx.client.labels_mut().name = name.to_vec();
    }
    if let Some(protocol) = protocol {
        ctx.reply.set_protocol(protocol);
        ctx.outbox.push(Action::Protocol(protocol));
    }
    describe_server(ctx);
    Ok(())
}

fn protocol(version: &[u8]) -> Result<Protocol, CommandError> {
    match resp::parse_i64(version) {
        Some(2) => Ok(Protocol::Resp2),
        Some(3) => Ok(Protocol::Resp3),
        Some(_) => Err(CommandError::text("NOPROTO unsupported protocol version")),
        None => Err(CommandError::text("ERR Protocol version is not an integer or out of range")),
    }
}

fn describe_server(ctx: &mut Context<'_, '_>) {
    let version = if ctx.reply.protocol() == Protocol::Resp2 { 2 } else { 3 };
    let id = i64::try_from(ctx.client.id).unwrap_or(i64::MAX);
    let reply = &mut *ctx.reply;
    reply.map(7);
    reply.bulk(b"server");
    reply.bulk(b"redis");
    reply.bulk(b"version");
    reply.bulk(REDIS_VERSION.as_bytes());
    reply.bulk(b"proto");
    reply.integer(version);
    reply.bulk(b"id");
    reply.integer(id);
    reply.bulk(b"mode");
    reply.bulk(b"standalone");
    reply.bulk(b"role");
    reply.bulk(b"master");
    reply.bulk(b"modules");
    reply.array(0);
}
