//! Users as the running transaction sees them: those of the server, with the changes that the transaction has made.

use std::sync::Arc;

use super::Context;
use crate::acl::{Change, DEFAULT_USER, User};
use crate::sorted;

/// A user.
pub(super) fn user(ctx: &Context<'_, '_>, name: &[u8]) -> Option<Arc<User>> {
    for change in ctx.outbox.changes_of_users().rev() {
        match change {
            Change::Set(user) if user.name() == name => return Some(user.clone()),
            Change::Set(_) => {}
            Change::Delete(names) if names.iter().any(|gone| gone == name) => return None,
            Change::Delete(_) => {}
            Change::Replace(all) => {
                let found = all.iter().find(|user| user.name() == name).cloned();
                // Without a word about the default user it stays.
                return if name == DEFAULT_USER {
                    found.or_else(|| ctx.shared.acl.user(name))
                } else {
                    found
                };
            }
        }
    }
    ctx.shared.acl.user(name)
}

/// All users in the order of their names.
pub(super) fn users(ctx: &Context<'_, '_>) -> Vec<Arc<User>> {
    let mut names = sorted::set(ctx.shared.acl.users().iter().map(|user| user.name().to_vec()));
    for change in ctx.outbox.changes_of_users() {
        match change {
            Change::Set(user) => names.extend([user.name().to_vec()]),
            Change::Replace(all) => names.extend(all.iter().map(|user| user.name().to_vec())),
            Change::Delete(_) => {}
        }
    }
    names.iter().filter_map(|name| user(ctx, name)).collect()
}
