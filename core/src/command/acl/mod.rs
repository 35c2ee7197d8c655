//! ACL: users and what they may do, what was denied, and the file of users.

mod change;
mod show;

use super::args::quoted;
use super::{CommandError, Context, Group, Outcome, help, pending_users};
use crate::catalog;
use crate::resp;

pub(super) const HANDLERS: Group = &[("acl", acl)];

/// The longest password of ACL GENPASS in bits, and the usual one.
const PASSWORD_MAX_BITS: i64 = 4096;
const PASSWORD_BITS: usize = 256;

const HEX_DIGIT_BITS: usize = 4;

fn acl(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let rest = args.get(2..).unwrap_or_default();
    match (args[1].to_ascii_lowercase().as_slice(), rest) {
        (b"cat", []) => show::categories(ctx),
        (b"cat", [category]) => show::commands(ctx, category),
        (b"deluser", names) => change::deluser(ctx, names),
        (b"dryrun", [user, request @ ..]) => dryrun(ctx, user, request),
        (b"genpass", []) => genpass(ctx, PASSWORD_BITS),
        (b"genpass", [bits]) => genpass(ctx, parse_bits(bits)?),
        (b"getuser", [name]) => show::getuser(ctx, name),
        (b"help", []) => help::reply_help(ctx.reply, catalog::spec(catalog::id("acl"))),
        (b"list", []) => show::list(ctx),
        (b"load", []) => change::load(ctx),
        (b"log", []) => show::log(ctx, show::LOG_SHOWN),
        (b"log", [word]) => show::log_or_reset(ctx, word),
        (b"save", []) => change::save(ctx),
        (b"setuser", [name, rules @ ..]) => change::setuser(ctx, name, rules),
        (b"users", []) => show::users(ctx),
        (b"whoami", []) => {
            ctx.reply.bulk(ctx.client.access.user().name());
            Ok(())
        }
        _ => Err(help::unknown_subcommand("ACL", args[1])),
    }
}

fn parse_bits(text: &[u8]) -> Result<usize, CommandError> {
    let bits = resp::parse_i64(text).ok_or(CommandError::NOT_INTEGER)?;
    let bits = Some(bits).filter(|bits| (1..=PASSWORD_MAX_BITS).contains(bits));
    bits.and_then(|bits| usize::try_from(bits).ok()).ok_or(CommandError::text(
        "ERR ACL GENPASS argument must be the number of bits for the output password, a positive number up to 4096",
    ))
}

fn genpass(ctx: &mut Context<'_, '_>, bits: usize) -> Outcome {
    let digits = bits.div_ceil(HEX_DIGIT_BITS);
    let mut bytes = vec![0; digits.div_ceil(2)];
    if !ctx.shared.host.fill_unguessable(&mut bytes) {
        return Err(CommandError::text("ERR there is no source of randomness here"));
    }
    let mut password = base16ct::lower::encode_string(&bytes);
    password.truncate(digits);
    ctx.reply.bulk(password.as_bytes());
    Ok(())
}

fn dryrun(ctx: &mut Context<'_, '_>, name: &[u8], request: &[&[u8]]) -> Outcome {
    let Some(user) = pending_users::user(ctx, name) else {
        let shown = quoted(name, usize::MAX);
        return Err(CommandError::owned(format!("ERR User '{shown}' not found")));
    };
    let command = request.first().copied().unwrap_or_default();
    let spec = catalog::lookup_request(request).filter(|spec| !spec.is_container() || request.len() == 1);
    let Some(spec) = spec else {
        let shown = quoted(command, usize::MAX);
        return Err(CommandError::owned(format!("ERR Command '{shown}' not found")));
    };
    if !spec.accepts(request.len()) {
        return Err(CommandError::owned(format!(
            "ERR wrong number of arguments for '{}' command",
            spec.name
        )));
    }
    match user.check(spec, request) {
        Ok(_) => ctx.reply.ok(),
        Err(denial) => ctx.reply.bulk(denial.text(true).as_bytes()),
    }
    Ok(())
}
