//! The crons in the store, where they last: names, and what stands behind the name in CRON CREATE, with the database and the user:
//! `EVERY 60000 CALL f IN 0 BY default`.

use std::sync::Arc;

use crate::command::args::{integer, is_option};
use crate::command::definitions::{Definition, Definitions, Unreadable};
use crate::command::{CommandError, Context, Outcome};
use crate::engine::{Db, Engine, EngineError};
use crate::limits::CRON_INTERVAL_MAX_MS;
use crate::resp::quote;
use crate::server::crons::{Change, Cron, CronSet};
use crate::server::outbox::Action;
use crate::server::{Server, Shared};

type Result<T> = std::result::Result<T, CommandError>;

pub(in crate::command) const CRONS: Definitions = Definitions::of("cron", b"crons");

/// The crons as the running transaction sees them: those of the server, with the changes that the transaction has made.
pub(in crate::command::script) fn present(ctx: &Context<'_, '_>) -> CronSet {
    let mut set = ctx.shared.crons.present();
    ctx.outbox.changes_of_crons().for_each(|change| change.apply(&mut set));
    set
}

/// Reads a definition: the words behind the name. `IN database BY user` is only in those of the store.
///
/// # Errors
/// What is wrong with it.
fn parse(name: &[u8], words: &[&[u8]], of_request: Option<(Db, &[u8])>) -> Result<Cron> {
    let [every, interval, call, function, rest @ ..] = words else { return Err(CommandError::SYNTAX) };
    if !is_option(every, "EVERY") || !is_option(call, "CALL") {
        return Err(CommandError::SYNTAX);
    }
    let interval_ms = u64::try_from(integer(interval)?).unwrap_or(0);
    if !(1..=CRON_INTERVAL_MAX_MS).contains(&interval_ms) {
        return Err(CommandError::owned(format!(
            "ERR the interval of a cron is 1 to {CRON_INTERVAL_MAX_MS} milliseconds"
        )));
    }
    let (db, definer) = match (rest, of_request) {
        ([], Some(own)) => own,
        ([word, db, by, definer], None) if is_option(word, "IN") && is_option(by, "BY") => {
            (Db::try_from(integer(db)?).map_err(|_| CommandError::SYNTAX)?, *definer)
        }
        _ => return Err(CommandError::SYNTAX),
    };
    let (name, function, definer) = (name.into(), (*function).into(), definer.into());
    Ok(Cron { name, every_ms: interval_ms, db, function, definer })
}

/// The cron that a request of this database and user defines.
///
/// # Errors
/// What is wrong with it.
pub(super) fn parse_request(name: &[u8], words: &[&[u8]], db: Db, user: &[u8]) -> Result<Cron> {
    parse(name, words, Some((db, user)))
}

fn text_of(cron: &Cron) -> String {
    format!(
        "EVERY {} CALL {} IN {} BY {}",
        cron.every_ms,
        quote(&cron.function),
        cron.db,
        quote(&cron.definer)
    )
}

/// Makes a cron part of the transaction.
pub(super) fn add(ctx: &mut Context<'_, '_>, cron: Cron) -> Outcome {
    CRONS.set(ctx.txn, &[&cron.name, text_of(&cron).as_bytes()])?;
    ctx.outbox.push(Action::Crons(Change::Set(Arc::new(cron))));
    Ok(())
}

/// Takes a cron away.
///
/// # Errors
/// There is none of this name; or the engine's.
pub(super) fn remove(ctx: &mut Context<'_, '_>, name: &[u8]) -> Outcome {
    CRONS.remove_known(ctx.txn, name)?;
    ctx.outbox.push(Action::Crons(Change::Drop(name.into())));
    Ok(())
}

/// Takes the crons over that are in a store which was just opened.
///
/// # Errors
/// The engine's.
pub fn restore<E: Engine>(
    server: &Server<E>,
    now_ms: u64,
) -> std::result::Result<Vec<Unreadable>, EngineError> {
    CRONS.restore(&server.engine, now_ms, |name, words| {
        let cron = parse(name, words, None)?;
        server.shared.crons.apply(&Change::Set(Arc::new(cron)), now_ms);
        Ok(())
    })
}

/// Takes over what other processes have made of the crons. One that stays as it is keeps its times and counts.
pub(in crate::command) fn take_over(shared: &Shared, stored: &[Definition], now_ms: u64) {
    let crons = &shared.crons;
    let present = crons.present();
    let mut kept = Vec::new();
    CRONS.take_each(stored, |name, words| {
        let cron = parse(name, words, None)?;
        if !present.get(name).is_some_and(|known| **known == cron) {
            crons.apply(&Change::Set(Arc::new(cron)), now_ms);
        }
        kept.push(name.to_vec());
        Ok(())
    });
    for name in present.keys() {
        if !kept.iter().any(|other| **other == **name) {
            crons.apply(&Change::Drop(name.clone()), now_ms);
        }
    }
}
