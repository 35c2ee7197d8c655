//! Which requests may run: known, of the right arity, from a connection that may, and with memory for what they need.
//!
//! Every request passes here, whether a connection sent it, EXEC runs it, or another command calls it. The proof is an
//! [`Admitted`], which nothing else can make and without which no handler runs. It has the [`Permit`] that only the check of
//! the access control lists makes.

use super::CommandError;
use super::args::quoted;
use crate::acl::{Denial, Permit};
use crate::catalog::{self, Categories, CommandId, CommandSpec, Flags};
use crate::server::{Client, Shared};

/// In error texts, arguments of unknown commands are cut to this many bytes, as in Redis.
const QUOTED_ARGUMENT_BYTES: usize = 128;

/// A request that may run.
#[derive(Clone, Copy, Debug)]
pub struct Admitted<'a> {
    permit: Permit,
    args: &'a [&'a [u8]],
}

impl<'a> Admitted<'a> {
    /// Its row; of a subcommand, the subcommand's.
    #[inline]
    pub fn spec(&self) -> &'static CommandSpec {
        self.permit.spec()
    }

    /// The proof that its user may run it.
    pub fn permit(&self) -> Permit {
        self.permit
    }

    /// Its arguments, the name first.
    pub fn args(&self) -> &'a [&'a [u8]] {
        self.args
    }
}

/// Where a request comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The connection sent it.
    Connection,
    /// The connection sent it into an open MULTI.
    Queue,
    /// A command that is running calls it (a script, SQL, a trigger).
    Nested,
    /// The same, of a script that may go on though memory is short.
    NestedAnyway,
    /// A statement of SQL calls a function of a library, which a script could not.
    Function,
}

fn is_nested(origin: Origin) -> bool {
    matches!(origin, Origin::Nested | Origin::NestedAnyway | Origin::Function)
}

/// The row of a request.
///
/// # Errors
/// Redis' texts for a command or a subcommand that there is not.
#[inline]
pub fn find(args: &[&[u8]]) -> Result<&'static CommandSpec, CommandError> {
    let name = args.first().copied().unwrap_or_default();
    let spec = catalog::lookup_meant(args).ok_or_else(|| unknown_command(name, args))?;
    match args.get(1) {
        Some(sub) if spec.is_container() => {
            catalog::lookup_sub(spec, sub).ok_or_else(|| unknown_subcommand(spec, sub))
        }
        _ => Ok(spec),
    }
}

/// Lets a request of this row run. `make_room` is called before memory is looked at, once it is known that the client may ask
/// for this at all.
///
/// # Errors
/// Why it may not, in Redis' words.
#[inline]
pub fn admit<'a>(
    shared: &Shared,
    client: &Client,
    spec: &'static CommandSpec,
    args: &'a [&'a [u8]],
    origin: Origin,
    make_room: impl FnOnce(),
) -> Result<Admitted<'a>, CommandError> {
    if !spec.accepts(args.len()) {
        return Err(wrong_arity(spec));
    }
    if spec.is(Flags::PROTECTED) {
        check_protected(shared, client, spec)?;
    }
    if !spec.is(Flags::NO_AUTH) && client.must_authenticate(shared) {
        return Err(CommandError::text("NOAUTH Authentication required."));
    }
    if is_nested(origin) && origin != Origin::Function && spec.is(Flags::NOSCRIPT) {
        return Err(CommandError::text("ERR This Redis command is not allowed from script"));
    }
    let checked = client.access.check(&shared.acl, spec, args);
    let permit = checked.map_err(|denial| denied(spec, origin, denial))?;
    let bounds = shared.settings.bounds();
    if bounds.is_read_only && spec.is(Flags::WRITE) {
        return Err(CommandError::READ_ONLY);
    }
    let name_max_bytes = bounds.name_max_bytes;
    if name_max_bytes != usize::MAX && args.iter().any(|argument| argument.len() > name_max_bytes) {
        check_names(spec, args, name_max_bytes)?;
    }
    make_room();
    check_memory(shared, spec, origin)?;
    if client.is_listening() && !spec.is(Flags::WHILE_SUBSCRIBED) {
        return Err(only_listens(spec));
    }
    if shared.loading.restricts() {
        check_restrictions(shared, spec, origin)?;
    }
    Ok(Admitted { permit, args })
}

/// A request that was admitted and has begun: it goes on.
pub(crate) fn go_on<'a>(permit: Permit, args: &'a [&'a [u8]]) -> Admitted<'a> {
    Admitted { permit, args }
}

/// The error of a request that its user may not run.
#[cold]
fn denied(spec: &CommandSpec, origin: Origin, denial: Box<Denial>) -> CommandError {
    // Redis looks for this first.
    if origin == Origin::Queue && spec.is(Flags::NO_MULTI) {
        return CommandError::text("ERR Command not allowed inside a transaction");
    }
    denial.into()
}

/// Refuses what has to wait until the store is read, or until no script keeps the server busy.
#[cold]
fn check_restrictions(shared: &Shared, spec: &CommandSpec, origin: Origin) -> Result<(), CommandError> {
    if shared.loading.is_on() && !may_run_while_loading(shared, spec) {
        return Err(CommandError::text("LOADING Redis is loading the dataset in memory"));
    }
    match shared.loading.busy_text() {
        // The script itself, and those that run beside it, go on.
        Some(text) if !is_nested(origin) && !spec.is(Flags::ALLOW_BUSY) => Err(CommandError::text(text)),
        _ => Ok(()),
    }
}

/// Operators look at a server that is being read, and may give it up.
const OF_LOADING: [CommandId; 2] = [catalog::id("info"), catalog::id("shutdown")];

/// Whether a command runs while the store is being read. As long as the users in it are not known either, an operator's
/// commands do not: the default user may turn out to be a stranger.
fn may_run_while_loading(shared: &Shared, spec: &CommandSpec) -> bool {
    let is_for_operators = spec.categories.contains(Categories::DANGEROUS) && !OF_LOADING.contains(&spec.id);
    spec.is(Flags::LOADING) && (shared.acl.is_complete() || !is_for_operators)
}

/// Refuses what may need more of what is short.
#[inline]
fn check_memory(shared: &Shared, spec: &CommandSpec, origin: Origin) -> Result<(), CommandError> {
    let Some(text) = shared.shortage_text() else { return Ok(()) };
    if origin == Origin::NestedAnyway {
        return Ok(());
    }
    // What is queued stays in memory though it may write nothing, and so does a name.
    let is_queued = origin == Origin::Queue && spec.waits_for_exec() && shared.lacks_memory();
    let keeps_name = spec.is(Flags::KEEPS_NAMES) && shared.is_short_of_memory();
    if spec.is(Flags::DENYOOM) || is_queued || keeps_name { Err(CommandError::text(text)) } else { Ok(()) }
}

/// Commands that could harm the server are off unless its configuration, or the configuration for connections of the
/// same machine, says otherwise.
fn check_protected(shared: &Shared, client: &Client, spec: &CommandSpec) -> Result<(), CommandError> {
    let name = spec.container().unwrap_or(spec).name;
    let setting = format!("enable-{name}-command");
    let is_allowed = match shared.settings.get(&setting).as_deref() {
        Some("yes") => true,
        Some("local") => client.card.lock().is_local(),
        _ => false,
    };
    if is_allowed {
        return Ok(());
    }
    Err(CommandError::owned(format!(
        "ERR {} command not allowed. If the {setting} option is set to \"local\", you can run it from a local \
         connection, otherwise you need to set this option in the configuration file, and then restart the server.",
        name.to_ascii_uppercase()
    )))
}

/// Refuses a name (key, member, field, channel) of more than `name_max_bytes`, in a home where memory is little: values and
/// messages are in memory once, names several times while a request runs, and in the keydir for good.
#[cold]
fn check_names(spec: &CommandSpec, args: &[&[u8]], name_max_bytes: usize) -> Result<(), CommandError> {
    // A request whose keys cannot be found is refused by its handler, whatever else it has.
    let keys = spec.keys.positions(args).unwrap_or_default();
    let is_name = |at: usize| keys.contains(&at) || !spec.is_value(at);
    let too_long = |(at, argument): &(usize, &&[u8])| argument.len() > name_max_bytes && is_name(*at);
    match args.iter().enumerate().find(too_long) {
        None => Ok(()),
        Some((at, argument)) => Err(CommandError::owned(format!(
            "ERR argument {at} of '{}' has {} bytes; only values may have more than {name_max_bytes} here",
            spec.name,
            argument.len()
        ))),
    }
}

#[cold]
fn wrong_arity(spec: &CommandSpec) -> CommandError {
    CommandError::owned(format!("ERR wrong number of arguments for '{}' command", spec.name))
}

#[cold]
fn only_listens(spec: &CommandSpec) -> CommandError {
    CommandError::owned(format!(
        "ERR Can't execute '{}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this \
         context",
        spec.name
    ))
}

#[cold]
fn unknown_command(name: &[u8], args: &[&[u8]]) -> CommandError {
    let mut text =
        format!("ERR unknown command '{}', with args beginning with: ", quoted(name, QUOTED_ARGUMENT_BYTES));
    let mut used = 0;
    for argument in args.iter().skip(1) {
        if used >= QUOTED_ARGUMENT_BYTES {
            break;
        }
        let shown = quoted(argument, QUOTED_ARGUMENT_BYTES - used);
        used += shown.len() + 3;
        text.push_str(&format!("'{shown}' "));
    }
    CommandError::owned(text)
}

#[cold]
fn unknown_subcommand(spec: &CommandSpec, sub: &[u8]) -> CommandError {
    let shown = quoted(sub, QUOTED_ARGUMENT_BYTES);
    let container = spec.name.to_ascii_uppercase();
    CommandError::owned(format!("ERR unknown subcommand '{shown}'. Try {container} HELP."))
}
