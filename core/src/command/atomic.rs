//! Several steps that happen all or not at all.

use super::{CommandError, Context};

/// Runs `act`, and undoes all that it did if it fails, in a MULTI or a script as well.
///
/// # Errors
/// Those of `act`.
pub(super) fn atomically<'c, 'e, R>(
    ctx: &mut Context<'c, 'e>,
    act: impl FnOnce(&mut Context<'c, 'e>) -> Result<R, CommandError>,
) -> Result<R, CommandError> {
    or_undone(ctx, act)
}

/// The same for errors of any type.
///
/// # Errors
/// Those of `act`.
pub(super) fn or_undone<'c, 'e, R, E>(
    ctx: &mut Context<'c, 'e>,
    act: impl FnOnce(&mut Context<'c, 'e>) -> Result<R, E>,
) -> Result<R, E> {
    // Alone it is undone with its transaction.
    if ctx.later.is_some() {
        return act(ctx);
    }
    let (savepoint, mark) = (ctx.txn.savepoint(), ctx.outbox.mark());
    let outcome = act(ctx);
    if outcome.is_err() {
        ctx.txn.rollback_to(&savepoint);
        ctx.outbox.go_back(mark);
        ctx.sql.went_back();
    }
    ctx.txn.release(savepoint);
    outcome
}
