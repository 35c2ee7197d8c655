//! What calls the functions of libraries by itself: triggers and crons. A library does not go while one of its functions is called.

use super::definer::SHOWN_BYTES;
use super::{crons, libraries, triggers};
use crate::command::args::quoted;
use crate::command::{CommandError, Context, Outcome};
use crate::server::scripts::{Change, LibrarySet};

/// Looks whether every trigger and every cron still has its function once the libraries are these. A function that is missing
/// already is not looked for.
///
/// # Errors
/// One would lose its function.
pub(super) fn check_functions(ctx: &Context<'_, '_>, after: &LibrarySet) -> Outcome {
    let before = libraries::present(ctx);
    let check = |noun: &str, name: &[u8], function: &[u8]| {
        if before.function(function).is_none() || after.function(function).is_some() {
            return Ok(());
        }
        let (function, name) = (quoted(function, SHOWN_BYTES), quoted(name, SHOWN_BYTES));
        Err(CommandError::owned(format!(
            "ERR {noun} '{name}' calls function '{function}'; drop the {noun} first"
        )))
    };
    let triggers = triggers::present(ctx);
    triggers.triggers().try_for_each(|trigger| check("trigger", &trigger.name, &trigger.function))?;
    crons::present(ctx).values().try_for_each(|cron| check("cron", &cron.name, &cron.function))
}

/// The same for a change of these libraries.
///
/// # Errors
/// As for [`check_functions`].
pub(super) fn check_change(ctx: &Context<'_, '_>, set: &LibrarySet, change: &Change) -> Outcome {
    if triggers::present(ctx).is_empty() && crons::present(ctx).is_empty() {
        return Ok(());
    }
    let mut after = set.clone();
    after.apply(change);
    check_functions(ctx, &after)
}
