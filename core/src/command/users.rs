//! Users in the store, where they last: a hash of the database [`CATALOG`], whose fields are the names of users and whose values
//! are their rules ([`User::quoted_rules`]).
//!
//! The default user is in it once it was changed by ACL. Until then it follows `requirepass` alone. Beside it stands the hash of
//! the `requirepass` that its rules know of: an operator who starts the server with another one gets in with that.

use std::sync::Arc;

use super::CommandError;
use super::definitions::{Definition, Definitions};
use crate::acl::{Change, DEFAULT_USER, Password, User, is_name};
use crate::engine::{Engine, EngineError, Txn};
use crate::server::{Server, Settings, Shared};

type Result<T> = std::result::Result<T, CommandError>;

/// The users of a store.
pub(super) const USERS: Definitions = Definitions::of("user", b"users");

/// The field that holds the hash of `requirepass`. No user has a name with a space.
const PASSWORD_FIELD: &[u8] = b" requirepass";

/// A user of the store, for a change: the default user of a new server is there, too. `requirepass` is the one in force.
///
/// # Errors
/// The engine's, or the rules are not of this version.
pub(super) fn read(
    txn: &mut Txn<'_>,
    settings: &Settings,
    requirepass: &str,
    name: &[u8],
) -> Result<Option<User>> {
    match USERS.get(txn, name)? {
        Some(rules) => User::from_rules(name, &rules).map(Some).map_err(|error| {
            let name = String::from_utf8_lossy(name);
            CommandError::owned(format!("ERR the rules of user '{name}' cannot be read: {error}"))
        }),
        None => Ok((name == DEFAULT_USER).then(|| standard_user(settings, requirepass))),
    }
}

/// Whether the default user is in the store.
pub(super) fn has_default(txn: &mut Txn<'_>) -> Result<bool> {
    USERS.contains(txn, DEFAULT_USER)
}

/// Writes users; `requirepass` is the one in force.
pub(super) fn write(txn: &mut Txn<'_>, users: &[&User], requirepass: &str) -> Result<()> {
    let mark = mark_of(requirepass);
    let rules: Vec<Vec<u8>> = users.iter().map(|user| user.quoted_rules()).collect();
    let fields = users.iter().map(|user| user.name()).zip(rules.iter().map(Vec::as_slice));
    let mut pairs: Vec<&[u8]> = fields.flat_map(|(name, rules)| [name, rules]).collect();
    if users.iter().any(|user| user.name() == DEFAULT_USER) {
        pairs.extend([PASSWORD_FIELD, mark.as_bytes()]);
    }
    USERS.set(txn, &pairs)
}

/// Removes users; returns how many there were.
pub(super) fn delete(txn: &mut Txn<'_>, names: &[&[u8]]) -> Result<u64> {
    let names: Vec<&[u8]> = names.iter().copied().filter(|name| is_name(name)).collect();
    USERS.remove(txn, &names)
}

/// Makes these all users.
pub(super) fn replace(txn: &mut Txn<'_>, users: &[Arc<User>], requirepass: &str) -> Result<()> {
    USERS.clear(txn)?;
    let users: Vec<&User> = users.iter().map(Arc::as_ref).collect();
    write(txn, &users, requirepass)
}

/// The default user of a server whose users nobody has changed.
pub(super) fn standard_user(settings: &Settings, requirepass: &str) -> User {
    User::standard(settings.get("default-user").as_deref() != Some("off"), requirepass.as_bytes())
}

fn mark_of(requirepass: &str) -> String {
    if requirepass.is_empty() { String::new() } else { Password::of(requirepass.as_bytes()).hex() }
}

/// What [`restore`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// The users whose rules this version cannot read. They are off.
    pub unreadable: Vec<Vec<u8>>,
    /// Whether somebody can log in: else the server is of no use.
    pub is_reachable: bool,
}

/// Takes the users over that are in a store which was just opened, before anybody connects. Users of a file replace them; a
/// default user that the file does not name follows the settings.
///
/// # Errors
/// The engine's.
pub fn restore<E: Engine>(
    server: &Server<E>,
    of_file: Option<Vec<Arc<User>>>,
    now_ms: u64,
) -> std::result::Result<Restored, EngineError> {
    let (acl, settings) = (&server.shared.acl, &server.shared.settings);
    let before = acl.default_user();
    let mut restored = Restored::default();
    let requirepass = settings.get("requirepass").unwrap_or_default();
    let users = USERS.transact(&server.engine, now_ms, |txn| match of_file.clone() {
        Some(mut users) => {
            if !users.iter().any(|user| user.name() == DEFAULT_USER) {
                users.push(Arc::new(standard_user(settings, &requirepass)));
            }
            let kept = USERS.all(txn)?;
            let is_kept = |user: &Arc<User>| kept.contains(&(user.name().to_vec(), user.quoted_rules()));
            // The hash of `requirepass` stands beside them.
            if kept.len() != users.len() + 1 || !users.iter().all(is_kept) {
                replace(txn, &users, &requirepass)?;
            }
            Ok(users)
        }
        None => {
            restored = Restored::default();
            of_store(txn, settings, &mut restored)
        }
    })?;
    acl.apply(&Change::Replace(users));
    acl.set_complete(true);
    restored.is_reachable = acl.users().iter().any(|user| user.is_on());
    if acl.default_user() != before {
        // Connections that came before the users were known have rights that were never given.
        let ids: Vec<u64> = server.shared.clients.lock().keys().copied().collect();
        server.shared.kill(&ids);
    }
    Ok(restored)
}

/// Takes over what other processes have made of the users. Nothing is written, whatever `requirepass` says here.
pub(super) fn take_over(shared: &Shared, stored: &[Definition]) {
    let requirepass = shared.settings.get("requirepass").unwrap_or_default();
    let mut users = Vec::new();
    for (name, rules) in stored.iter().filter(|(name, _)| name != PASSWORD_FIELD) {
        // One that this version cannot read is off.
        let mut user = User::from_rules(name, rules).unwrap_or_else(|_| User::new(name, false));
        if name == DEFAULT_USER {
            fit_default(&mut user, &shared.settings, &requirepass, mark_in(stored));
        }
        users.push(Arc::new(user));
    }
    if !users.iter().any(|user| user.name() == DEFAULT_USER) {
        users.push(shared.acl.default_user());
    }
    let present = shared.acl.users();
    let is_present = |user: &Arc<User>| present.iter().any(|other| other == user);
    if users.len() != present.len() || !users.iter().all(is_present) {
        shared.change_users(&Change::Replace(users));
    }
}

/// The hash of the `requirepass` that the rules of the default user know of.
fn mark_in(stored: &[Definition]) -> Option<&[u8]> {
    stored.iter().find(|(name, _)| name == PASSWORD_FIELD).map(|(_, mark)| mark.as_slice())
}

/// Gives the default user of the store what the settings say otherwise.
fn fit_default(user: &mut User, settings: &Settings, requirepass: &str, mark: Option<&[u8]>) {
    if !requirepass.is_empty() && mark != Some(mark_of(requirepass).as_bytes()) {
        user.set_password(requirepass.as_bytes());
    }
    if settings.get("default-user").as_deref() == Some("off") {
        user.turn_off();
    }
}

fn of_store(txn: &mut Txn<'_>, settings: &Settings, restored: &mut Restored) -> Result<Vec<Arc<User>>> {
    let fields = USERS.all(txn)?;
    let requirepass = settings.get("requirepass").unwrap_or_default();
    let mark = mark_in(&fields);
    let mut users = Vec::new();
    for (name, rules) in fields.iter().filter(|(name, _)| name != PASSWORD_FIELD) {
        let mut user = User::from_rules(name, rules).unwrap_or_else(|_| {
            restored.unreadable.push(name.clone());
            User::new(name, false)
        });
        if name == DEFAULT_USER {
            let stored = user.clone();
            fit_default(&mut user, settings, &requirepass, mark);
            if user != stored && !restored.unreadable.contains(name) {
                write(txn, &[&user], &requirepass)?;
            }
        }
        users.push(Arc::new(user));
    }
    if !users.iter().any(|user| user.name() == DEFAULT_USER) {
        users.push(Arc::new(standard_user(settings, &requirepass)));
    }
    Ok(users)
}
