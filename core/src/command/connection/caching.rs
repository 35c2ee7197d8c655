//! CLIENT TRACKING and what belongs to it: being told what a cache must forget.

use std::collections::BTreeSet;

use crate::command::args::{integer, is_option, quoted};
use crate::command::{CommandError, Context, Outcome};
use crate::server::hub::{Mode, Tracking};
use crate::server::outbox::Action;
use crate::server::peers::Topic;
use crate::sorted;

pub(super) fn caching(ctx: &mut Context<'_, '_>, word: &[u8]) -> Outcome {
    let Some(tracking) = &mut ctx.client.tracking else {
        return Err(CommandError::text(
            "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT mode enabled",
        ));
    };
    if is_option(word, "YES") {
        if tracking.mode != Mode::OptIn {
            return Err(CommandError::text(
                "ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.",
            ));
        }
        tracking.caching = Some(true);
    } else if is_option(word, "NO") {
        if tracking.mode != Mode::OptOut {
            return Err(CommandError::text(
                "ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.",
            ));
        }
        tracking.caching = Some(false);
    } else {
        return Err(CommandError::SYNTAX);
    }
    ctx.reply.ok();
    Ok(())
}

pub(super) fn getredir(ctx: &mut Context<'_, '_>) -> Outcome {
    ctx.reply.integer(redirect_of(ctx.client.tracking.as_deref()));
    Ok(())
}

/// The options of CLIENT TRACKING.
#[derive(Default)]
struct Options<'a> {
    redirect: Option<u64>,
    prefixes: Vec<&'a [u8]>,
    broadcast: bool,
    opt_in: bool,
    opt_out: bool,
    no_loop: bool,
}

impl<'a> Options<'a> {
    fn parse(ctx: &Context<'_, '_>, args: &[&'a [u8]]) -> Result<Options<'a>, CommandError> {
        let mut options = Options::default();
        let mut rest = args;
        while let [word, after @ ..] = rest {
            rest = after;
            match after {
                [id, after @ ..] if is_option(word, "REDIRECT") => {
                    if options.redirect.is_some() {
                        return Err(CommandError::text(
                            "ERR A client can only redirect to a single other client",
                        ));
                    }
                    let id = integer(id)?;
                    let known =
                        u64::try_from(id).ok().filter(|id| ctx.shared.clients.lock().contains_key(id));
                    options.redirect = Some(known.ok_or(CommandError::text(
                        "ERR The client ID you want redirect to does not exist",
                    ))?);
                    rest = after;
                }
                [prefix, after @ ..] if is_option(word, "PREFIX") => {
                    options.prefixes.push(prefix);
                    rest = after;
                }
                _ if is_option(word, "BCAST") => options.broadcast = true,
                _ if is_option(word, "OPTIN") => options.opt_in = true,
                _ if is_option(word, "OPTOUT") => options.opt_out = true,
                _ if is_option(word, "NOLOOP") => options.no_loop = true,
                _ => return Err(CommandError::SYNTAX),
            }
        }
        Ok(options)
    }

    fn mode(&self) -> Mode {
        match (self.broadcast, self.opt_in, self.opt_out) {
            (true, ..) => Mode::Broadcast,
            (_, true, _) => Mode::OptIn,
            (_, _, true) => Mode::OptOut,
            _ => Mode::All,
        }
    }

    fn check(&self, present: Option<&Tracking>) -> Outcome {
        if !self.broadcast && !self.prefixes.is_empty() {
            return Err(CommandError::text("ERR PREFIX option requires BCAST mode to be enabled"));
        }
        if present.is_some_and(|present| (present.mode == Mode::Broadcast) != self.broadcast) {
            return Err(CommandError::text(
                "ERR You can't switch BCAST mode on/off before disabling tracking for this client, and then \
                     re-enabling it with a different mode.",
            ));
        }
        if self.broadcast && (self.opt_in || self.opt_out) {
            return Err(CommandError::text("ERR OPTIN and OPTOUT are not compatible with BCAST"));
        }
        if self.opt_in && self.opt_out {
            return Err(CommandError::text("ERR You can't specify both OPTIN mode and OPTOUT mode"));
        }
        let switches = |present: &Tracking| {
            (self.opt_in && present.mode == Mode::OptOut) || (self.opt_out && present.mode == Mode::OptIn)
        };
        if present.is_some_and(switches) {
            return Err(CommandError::text(
                "ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and then \
                 re-enabling it with a different mode.",
            ));
        }
        self.check_prefixes(present)
    }

    /// A change below two prefixes of one client would be told twice.
    fn check_prefixes(&self, present: Option<&Tracking>) -> Outcome {
        let overlap = |left: &[u8], right: &[u8]| left.starts_with(right) || right.starts_with(left);
        for (number, prefix) in self.prefixes.iter().enumerate() {
            let existing = present.into_iter().flat_map(|present| &present.prefixes);
            if let Some(other) =
                existing.filter(|other| other.as_slice() != *prefix).find(|other| overlap(other, prefix))
            {
                return Err(overlapping(prefix, "an existing", other));
            }
            if let Some(other) = self.prefixes.iter().skip(number + 1).find(|other| overlap(other, prefix)) {
                return Err(overlapping(prefix, "another provided", other));
            }
        }
        Ok(())
    }
}

fn overlapping(prefix: &[u8], which: &str, other: &[u8]) -> CommandError {
    let (prefix, other) = (quoted(prefix, usize::MAX), quoted(other, usize::MAX));
    CommandError::owned(format!(
        "ERR Prefix '{prefix}' overlaps with {which} prefix '{other}'. Prefixes for a single client must not overlap."
    ))
}

pub(super) fn tracking(ctx: &mut Context<'_, '_>, args: &[&[u8]]) -> Outcome {
    let options = Options::parse(ctx, args.get(3..).unwrap_or_default())?;
    if is_option(args[2], "ON") {
        options.check(ctx.client.tracking.as_deref())?;
        ctx.be_heard(&[Topic::AllKeys])?;
        let mut prefixes: BTreeSet<Vec<u8>> =
            sorted::set(options.prefixes.iter().map(|prefix| prefix.to_vec()));
        if let Some(present) = &ctx.client.tracking {
            prefixes.extend(present.prefixes.iter().cloned());
        }
        let mode = options.mode();
        if mode == Mode::Broadcast && prefixes.is_empty() {
            prefixes.insert(Vec::new());
        }
        let tracking =
            Tracking { mode, no_loop: options.no_loop, redirect: options.redirect, prefixes, caching: None };
        let tracking = Box::new(tracking);
        ctx.outbox.push(Action::Track(tracking.clone()));
        ctx.client.tracking = Some(tracking);
    } else if is_option(args[2], "OFF") {
        ctx.outbox.push(Action::Untrack);
        ctx.client.tracking = None;
    } else {
        return Err(CommandError::SYNTAX);
    }
    ctx.reply.ok();
    Ok(())
}

pub(super) fn trackinginfo(ctx: &mut Context<'_, '_>) -> Outcome {
    let tracking = ctx.client.tracking.as_deref();
    let gone = |redirect: u64| !ctx.shared.clients.lock().contains_key(&redirect);
    let mut words = vec!["on"];
    match tracking {
        None => words = vec!["off"],
        Some(tracking) => {
            match tracking.mode {
                Mode::All => {}
                Mode::Broadcast => words.push("bcast"),
                Mode::OptIn => {
                    words.push("optin");
                    if tracking.caching == Some(true) {
                        words.push("caching-yes");
                    }
                }
                Mode::OptOut => {
                    words.push("optout");
                    if tracking.caching == Some(false) {
                        words.push("caching-no");
                    }
                }
            }
            if tracking.no_loop {
                words.push("noloop");
            }
            if tracking.redirect.is_some_and(gone) {
                words.push("broken_redirect");
            }
        }
    }
    let reply = &mut *ctx.reply;
    reply.map(3);
    reply.bulk(b"flags");
    reply.set(words.len());
    words.iter().for_each(|word| reply.bulk(word.as_bytes()));
    reply.bulk(b"redirect");
    reply.integer(redirect_of(tracking));
    reply.bulk(b"prefixes");
    let prefixes: Vec<&Vec<u8>> = tracking.into_iter().flat_map(|tracking| &tracking.prefixes).collect();
    reply.array(prefixes.len());
    prefixes.iter().for_each(|prefix| reply.bulk(prefix));
    Ok(())
}

/// The connection that gets the invalidations: -1 without tracking, 0 for the connection itself.
pub(super) fn redirect_of(tracking: Option<&Tracking>) -> i64 {
    tracking.map_or(-1, |tracking| i64::try_from(tracking.redirect.unwrap_or(0)).unwrap_or(i64::MAX))
}
