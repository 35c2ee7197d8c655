//! A function that the store calls by itself, for a trigger or a cron: it runs with the rights of the user that made the definition.

use super::job::{Job, What};
use super::{libraries, run};
use crate::acl::Access;
use crate::command::args::quoted;
use crate::command::{CommandError, Context, pending_users};
use crate::engine::{Db, Drafts, EngineError};
use crate::resp::Protocol;
use crate::script::ScriptFlags;

/// Names and keys in texts are cut to so many bytes.
pub(super) const SHOWN_BYTES: usize = 128;

/// What calls a function.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Caller {
    Trigger,
    Cron,
}

impl Caller {
    /// The noun in texts.
    fn noun(self) -> &'static str {
        match self {
            Caller::Trigger => "trigger",
            Caller::Cron => "cron",
        }
    }
}

/// A definition that calls a function.
#[derive(Clone, Copy)]
pub(super) struct Definition<'d> {
    pub caller: Caller,
    pub name: &'d [u8],
    pub function: &'d [u8],
    pub definer: &'d [u8],
}

/// What the function gets.
pub(super) struct OwnCall<'c> {
    /// The database in which its commands run.
    pub db: Db,
    /// How FUNCTION STATS shows the call.
    pub request: &'c [&'c [u8]],
    pub keys: &'c [&'c [u8]],
    pub arguments: &'c [&'c [u8]],
}

/// Looks whether a definition that calls this function may join the `count` of its kind that there are.
///
/// # Errors
/// There is no such function, or as many definitions of this kind as there may be.
pub(super) fn check_joins(
    ctx: &Context<'_, '_>,
    caller: Caller,
    function: &[u8],
    (count, most): (usize, usize),
) -> Result<(), CommandError> {
    if libraries::present(ctx).function(function).is_none() {
        return Err(libraries::FUNCTION_NOT_FOUND);
    }
    if count >= most {
        let noun = caller.noun();
        return Err(CommandError::owned(format!("ERR there are {most} {noun}s already")));
    }
    Ok(())
}

impl Definition<'_> {
    /// The error of a definition whose function cannot run.
    pub fn cannot_run(self, reason: &str) -> CommandError {
        let (noun, name) = (self.caller.noun(), quoted(self.name, SHOWN_BYTES));
        CommandError::owned(format!("ERR {noun} '{name}' cannot run: {reason}"))
    }

    /// Calls the function. The error that it raised or returned, if it did; what it wrote before is part of the transaction.
    ///
    /// # Errors
    /// It could not run, or was ended from outside.
    pub fn call(
        self,
        ctx: &mut Context<'_, '_>,
        call: &OwnCall<'_>,
    ) -> Result<Option<CommandError>, CommandError> {
        let access = self.access(ctx)?;
        let set = libraries::present(ctx);
        let Some((library, function)) = set.function(self.function) else {
            let (noun, name) = (self.caller.noun(), quoted(self.function, SHOWN_BYTES));
            let reason = format!("function '{name}' is missing; load its library or drop the {noun}");
            return Err(self.cannot_run(&reason));
        };
        let is_trigger = self.caller == Caller::Trigger;
        if !is_trigger {
            run::check_flags(ctx, Some(function.flags), false)?;
        }
        let job = Job {
            engine: &library.engine,
            what: What::Function(library, function),
            request: call.request,
            keys: call.keys,
            arguments: call.arguments,
            reads: function.flags.has(ScriptFlags::NO_WRITES),
            // A trigger is part of a write that was let in; and what frees memory must not need any.
            ignores_memory: is_trigger || function.flags.has(ScriptFlags::ALLOW_OOM),
        };
        let mut reply = ctx.reply.beside();
        reply.set_protocol(Protocol::Resp2);
        let own_access = std::mem::replace(&mut ctx.client.access, access);
        // What the function reads, the connection has not read.
        let own_tracking = ctx.client.tracking.take();
        let own_db = std::mem::replace(&mut ctx.client.db, call.db);
        let drafts = Drafts::new();
        let mut inner = ctx.inner(Some(&mut reply), &drafts);
        inner.in_trigger |= is_trigger;
        let outcome = run::run(&mut inner, &job);
        ctx.client.access = own_access;
        ctx.client.tracking = own_tracking;
        ctx.client.db = own_db;
        outcome?;
        if reply.is_cut() {
            return Err(self.cannot_run("the reply of its function does not fit into memory"));
        }
        if reply.has_stored() {
            return Ok(None);
        }
        let line = reply.as_bytes().strip_prefix(b"-");
        Ok(line.map(|line| {
            let text = line.strip_suffix(b"\r\n").unwrap_or(line);
            EngineError::Refused(String::from_utf8_lossy(text).into_owned()).into()
        }))
    }

    /// The rights of the user that made the definition.
    fn access(self, ctx: &Context<'_, '_>) -> Result<Access, CommandError> {
        let acl = &ctx.shared.acl;
        let own = &ctx.client.access;
        let changes_users = ctx.outbox.changes_of_users().next().is_some();
        if !changes_users && own.is_fresh(acl) && own.user().name() == self.definer && own.user().is_on() {
            return Ok(own.clone());
        }
        match pending_users::user(ctx, self.definer) {
            Some(user) if user.is_on() => Ok(Access::of(user, acl)),
            found => {
                let name = quoted(self.definer, SHOWN_BYTES);
                let state = if found.is_some() { "off" } else { "gone" };
                Err(self.cannot_run(&format!("user '{name}', which made it, is {state}")))
            }
        }
    }
}
