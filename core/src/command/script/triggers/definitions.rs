//! The triggers in the store, where they last: a hash of the database [`CATALOG`]. Its fields are the names of triggers, its values
//! what stands behind the name in TRIGGER CREATE, and the user: `ON create,delete PREFIX "item:" IF hash CALL f BY default`.

use std::sync::Arc;

use crate::command::args::{is_option, quoted};
use crate::command::{CommandError, Context, Outcome};
use crate::data::hash::{self, ListpackLimits};
use crate::engine::{CATALOG, Engine, EngineError, Kind, Overlay, Scope, Txn};
use crate::resp::{quote, split_line};
use crate::server::Server;
use crate::server::outbox::Action;
use crate::server::scripts::{self, LibrarySet};
use crate::server::triggers::{Change, Events, Trigger, TriggerCounts, TriggerSet};

type Result<T> = std::result::Result<T, CommandError>;

/// The key of the hash.
const KEY: &[u8] = b"triggers";

/// A small encoding would be no use: nobody asks for it.
const LIMITS: ListpackLimits = ListpackLimits { entries: u64::MAX, value_bytes: u64::MAX };

/// The triggers as the running transaction sees them: those of the server, with the changes that the transaction has made.
pub(super) fn present(ctx: &Context<'_, '_>) -> Arc<TriggerSet> {
    let mut set = ctx.shared.triggers.present();
    for change in ctx.outbox.changes_of_triggers() {
        Arc::make_mut(&mut set).apply(change);
    }
    set
}

/// Reads a definition: the words behind the name. `BY user` is only in those of the store.
///
/// # Errors
/// What is wrong with it.
pub(super) fn parse(name: &[u8], words: &[&[u8]]) -> Result<Trigger> {
    let [on, events, prefix_word, prefix, rest @ ..] = words else { return Err(CommandError::SYNTAX) };
    if !is_option(on, "ON") || !is_option(prefix_word, "PREFIX") {
        return Err(CommandError::SYNTAX);
    }
    let events = Events::parse(events).ok_or(CommandError::text(
        "ERR the events of a trigger are create, change, delete, expire or all, with commas between them",
    ))?;
    let (kind, rest) = match rest {
        [word, kind, rest @ ..] if is_option(word, "IF") => {
            let kind = kind_named(kind).ok_or(CommandError::text(
                "ERR a trigger may be for keys of one type: string, list, set, zset, hash or stream",
            ))?;
            (Some(kind), rest)
        }
        rest => (None, rest),
    };
    let (function, definer) = match rest {
        [call, function] if is_option(call, "CALL") => (*function, &b""[..]),
        [call, function, by, definer] if is_option(call, "CALL") && is_option(by, "BY") => {
            (*function, *definer)
        }
        _ => return Err(CommandError::SYNTAX),
    };
    Ok(Trigger {
        name: name.into(),
        events,
        prefix: (*prefix).into(),
        kind,
        function: function.into(),
        definer: definer.into(),
        counts: TriggerCounts::default(),
    })
}

fn kind_named(name: &[u8]) -> Option<Kind> {
    let kinds = [Kind::String, Kind::List, Kind::Set, Kind::SortedSet, Kind::Hash, Kind::Stream];
    kinds.into_iter().find(|kind| name.eq_ignore_ascii_case(kind.name().as_bytes()))
}

fn text_of(trigger: &Trigger) -> String {
    let kind = trigger.kind.map_or_else(String::new, |kind| format!(" IF {}", kind.name()));
    format!(
        "ON {} PREFIX {}{kind} CALL {} BY {}",
        trigger.events.text(),
        quote(&trigger.prefix),
        quote(&trigger.function),
        quote(&trigger.definer)
    )
}

/// Whether the store has a trigger of this name. Its key is locked from then on.
pub(super) fn is_stored(txn: &mut Txn<'_>, name: &[u8]) -> Result<bool> {
    Ok(hash::root(txn, CATALOG, KEY)?.is_some() && txn.sub_contains(CATALOG, KEY, name)?)
}

/// Makes a trigger part of the transaction.
pub(super) fn add(ctx: &mut Context<'_, '_>, trigger: Trigger) -> Outcome {
    let root = hash::root(ctx.txn, CATALOG, KEY)?;
    let text = text_of(&trigger);
    hash::set(ctx.txn, (CATALOG, KEY), root.as_ref(), &[&trigger.name, text.as_bytes()], || LIMITS)?;
    ctx.outbox.push(Action::Triggers(Change::Set(Arc::new(trigger))));
    Ok(())
}

/// Takes a trigger away.
pub(super) fn remove(ctx: &mut Context<'_, '_>, name: &[u8]) -> Outcome {
    if hash::root(ctx.txn, CATALOG, KEY)?.is_some() {
        hash::remove(ctx.txn, CATALOG, KEY, &[name])?;
    }
    ctx.outbox.push(Action::Triggers(Change::Drop(name.into())));
    Ok(())
}

/// Looks whether every trigger still has its function once the libraries are these. A function that is missing already is not
/// looked for.
///
/// # Errors
/// One would lose its function.
pub(in crate::command::script) fn check_functions(ctx: &Context<'_, '_>, after: &LibrarySet) -> Outcome {
    let before = super::super::libraries::present(ctx);
    for trigger in present(ctx).triggers() {
        if before.function(&trigger.function).is_some() && after.function(&trigger.function).is_none() {
            let (function, name) = (quoted(&trigger.function, 128), quoted(&trigger.name, 128));
            return Err(CommandError::owned(format!(
                "ERR trigger '{name}' calls function '{function}'; drop the trigger first"
            )));
        }
    }
    Ok(())
}

/// The same for a change of these libraries.
///
/// # Errors
/// As for [`check_functions`].
pub(in crate::command::script) fn check_change(
    ctx: &Context<'_, '_>,
    set: &LibrarySet,
    change: &scripts::Change,
) -> Outcome {
    if present(ctx).is_empty() {
        return Ok(());
    }
    let mut after = set.clone();
    after.apply(change);
    check_functions(ctx, &after)
}

/// A trigger of the store that this version cannot read. It stays in the store.
pub type Unreadable = Vec<u8>;

/// Takes the triggers over that are in a store which was just opened; those that cannot be read are told.
///
/// # Errors
/// The engine's.
pub fn restore<E: Engine>(
    server: &Server<E>,
    now_ms: u64,
) -> std::result::Result<Vec<Unreadable>, EngineError> {
    let mut snapshot = server.engine.begin(Scope::Keys(&[KEY]))?;
    let mut overlay = Overlay::new();
    let mut txn = Txn::new(&mut snapshot, &mut overlay, now_ms);
    let stored = read_all(&mut txn).map_err(|error| match error {
        CommandError::Engine(error) => error,
        other => EngineError::Damaged(other.reply_text().into_owned()),
    })?;
    drop(snapshot);
    let mut unreadable = Vec::new();
    for (name, text) in stored {
        let words = split_line(&text).unwrap_or_default();
        let words: Vec<&[u8]> = words.iter().map(Vec::as_slice).collect();
        match parse(&name, &words) {
            Ok(trigger) => {
                let change = Change::Set(Arc::new(trigger));
                server.shared.triggers.apply(&server.shared.hub.interest, &change);
            }
            Err(_) => unreadable.push(name),
        }
    }
    Ok(unreadable)
}

fn read_all(txn: &mut Txn<'_>) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
    let mut all = Vec::new();
    if hash::root(txn, CATALOG, KEY)?.is_some() {
        for rank in 0..txn.sub_len(CATALOG, KEY)? {
            if let Some(name) = txn.sub_select(CATALOG, KEY, rank)? {
                let text = txn.sub_value(CATALOG, KEY, &name)?.unwrap_or_default();
                all.push((name, text));
            }
        }
    }
    Ok(all)
}
