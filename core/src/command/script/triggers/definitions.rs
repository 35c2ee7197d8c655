//! The triggers in the store, where they last: a hash of the database [`CATALOG`]. Its fields are the names of triggers, its values
//! what stands behind the name in TRIGGER CREATE, and the user: `ON create,delete PREFIX "item:" IF hash CALL f BY default`.

use std::sync::Arc;

use crate::command::args::is_option;
use crate::command::definitions::{Definition, Definitions, Unreadable};
use crate::command::{CommandError, Context, Outcome};
use crate::engine::{Engine, EngineError, Kind};
use crate::resp::quote;
use crate::server::outbox::Action;
use crate::server::triggers::{Change, Events, Trigger, TriggerCounts, TriggerSet};
use crate::server::{Server, Shared};

type Result<T> = std::result::Result<T, CommandError>;

pub(in crate::command) const TRIGGERS: Definitions = Definitions::of("trigger", b"triggers");

/// The triggers as the running transaction sees them: those of the server, with the changes that the transaction has made.
pub(in crate::command::script) fn present(ctx: &Context<'_, '_>) -> Arc<TriggerSet> {
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
            let kind = Kind::named(kind).ok_or(CommandError::text(
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

/// Makes a trigger part of the transaction.
pub(super) fn add(ctx: &mut Context<'_, '_>, trigger: Trigger) -> Outcome {
    TRIGGERS.set(ctx.txn, &[&trigger.name, text_of(&trigger).as_bytes()])?;
    ctx.outbox.push(Action::Triggers(Change::Set(Arc::new(trigger))));
    Ok(())
}

/// Takes a trigger away.
///
/// # Errors
/// There is none of this name; or the engine's.
pub(super) fn remove(ctx: &mut Context<'_, '_>, name: &[u8]) -> Outcome {
    TRIGGERS.remove_known(ctx.txn, name)?;
    ctx.outbox.push(Action::Triggers(Change::Drop(name.into())));
    Ok(())
}

/// Takes the triggers over that are in a store which was just opened.
///
/// # Errors
/// The engine's.
pub fn restore<E: Engine>(
    server: &Server<E>,
    now_ms: u64,
) -> std::result::Result<Vec<Unreadable>, EngineError> {
    TRIGGERS.restore(&server.engine, now_ms, |name, words| {
        let change = Change::Set(Arc::new(parse(name, words)?));
        server.shared.triggers.apply(&server.shared.hub.interest, &change);
        Ok(())
    })
}

/// Takes over what other processes have made of the triggers. One that stays as it is keeps its counts.
pub(in crate::command) fn take_over(shared: &Shared, stored: &[Definition]) {
    let (triggers, interest) = (&shared.triggers, &shared.hub.interest);
    let present = triggers.present();
    let mut kept = Vec::new();
    TRIGGERS.take_each(stored, |name, words| {
        let trigger = parse(name, words)?;
        if !present.trigger(name).is_some_and(|known| known.is_like(&trigger)) {
            triggers.apply(interest, &Change::Set(Arc::new(trigger)));
        }
        kept.push(name.to_vec());
        Ok(())
    });
    for trigger in present.triggers() {
        if !kept.iter().any(|name| **name == *trigger.name) {
            triggers.apply(interest, &Change::Drop(trigger.name.clone()));
        }
    }
}
