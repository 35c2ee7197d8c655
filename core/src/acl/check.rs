//! The check of one request, and its proof.

use std::sync::Arc;

use super::registry::Registry;
use super::user::User;
use crate::catalog::CommandSpec;
use crate::limits::DENIED_NAME_MAX_BYTES;

/// What a user lacks for a request; of several the last in this order is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Missing {
    Command,
    Key,
    Channel,
}

/// The proof that a request of this row was checked and is allowed. Only the check makes one:
///
/// ```compile_fail,E0451
/// # use edgecask_core::{acl::Permit, catalog};
/// let forged = Permit { spec: catalog::spec(catalog::id("flushall")) };
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Permit {
    spec: &'static CommandSpec,
}

impl Permit {
    /// The row of the request; of a subcommand, the subcommand's.
    #[inline]
    pub fn spec(&self) -> &'static CommandSpec {
        self.spec
    }
}

/// Who a connection is, and what that user may do as far as the connection knows.
#[derive(Clone, Debug)]
pub struct Access {
    user: Arc<User>,
    /// That of the registry when the user was last looked up.
    generation: u64,
    /// What the user says of itself, here so that a request finds it beside the generation.
    is_unrestricted: bool,
}

impl Access {
    /// That of a connection which is this user.
    pub fn of(user: Arc<User>, registry: &Registry) -> Access {
        // Not known yet, so the first request looks.
        let mut access = Access { user, generation: 0, is_unrestricted: false };
        access.refresh(registry);
        access
    }

    /// The user, as it was when the connection last looked.
    pub fn user(&self) -> &Arc<User> {
        &self.user
    }

    /// Whether no user has changed since it was looked up.
    #[inline]
    pub fn is_fresh(&self, registry: &Registry) -> bool {
        self.generation == registry.generation()
    }

    /// Looks the user up again; false if it is gone.
    pub fn refresh(&mut self, registry: &Registry) -> bool {
        let generation = registry.generation();
        match registry.user(self.user.name()) {
            Some(user) => {
                *self = Access { is_unrestricted: user.is_unrestricted(), user, generation };
                true
            }
            None => false,
        }
    }

    /// Checks a request.
    ///
    /// # Errors
    /// What the user lacks.
    #[inline]
    pub fn check(
        &self,
        registry: &Registry,
        spec: &'static CommandSpec,
        args: &[&[u8]],
    ) -> Result<Permit, Box<Denial>> {
        if self.is_unrestricted && self.is_fresh(registry) {
            return Ok(Permit { spec });
        }
        self.check_in_full(registry, spec, args)
    }

    #[inline(never)]
    fn check_in_full(
        &self,
        registry: &Registry,
        spec: &'static CommandSpec,
        args: &[&[u8]],
    ) -> Result<Permit, Box<Denial>> {
        if self.is_fresh(registry) {
            return self.user.check(spec, args);
        }
        match registry.user(self.user.name()) {
            Some(user) => user.check(spec, args),
            // Its connections are about to be closed.
            None => Err(Denial::new(self.user.name(), Reason::Command, spec.name.as_bytes()).into()),
        }
    }
}

impl User {
    /// Checks a request.
    ///
    /// # Errors
    /// What the user lacks.
    pub fn check(&self, spec: &'static CommandSpec, args: &[&[u8]]) -> Result<Permit, Box<Denial>> {
        let Some((missing, at)) = self.missing(spec, args) else { return Ok(Permit { spec }) };
        let argument = args.get(at).copied().unwrap_or_default();
        Err(Box::new(match missing {
            Missing::Command => Denial::new(self.name(), Reason::Command, spec.name.as_bytes()),
            Missing::Key => Denial::new(self.name(), Reason::Key, argument),
            Missing::Channel => Denial::new(self.name(), Reason::Channel, argument),
        }))
    }
}

/// Why something is denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The command.
    Command,
    /// A key.
    Key,
    /// A channel.
    Channel,
    /// A login.
    Login,
}

impl Reason {
    /// The word of ACL LOG.
    pub fn word(self) -> &'static str {
        match self {
            Reason::Command => "command",
            Reason::Key => "key",
            Reason::Channel => "channel",
            Reason::Login => "auth",
        }
    }
}

/// Something that a user may not do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    /// The user.
    pub user: Box<[u8]>,
    /// What is denied.
    pub reason: Reason,
    /// The command, key or channel; of a login the command that tried it.
    pub object: Box<[u8]>,
}

impl Denial {
    /// One about this object. Of long names the beginning is kept.
    pub fn new(user: &[u8], reason: Reason, object: &[u8]) -> Denial {
        let cut = |name: &[u8]| name.get(..DENIED_NAME_MAX_BYTES).unwrap_or(name).into();
        Denial { user: cut(user), reason, object: cut(object) }
    }

    /// The text for the client, without error code; with `names` it names keys and channels.
    pub fn text(&self, names: bool) -> String {
        let user = String::from_utf8_lossy(&self.user);
        let object = String::from_utf8_lossy(&self.object);
        match (self.reason, names) {
            (Reason::Command, _) => format!("User {user} has no permissions to run the '{object}' command"),
            (Reason::Key, true) => format!("User {user} has no permissions to access the '{object}' key"),
            (Reason::Key, false) => "No permissions to access a key".to_owned(),
            (Reason::Channel, true) => {
                format!("User {user} has no permissions to access the '{object}' channel")
            }
            (Reason::Channel, false) => "No permissions to access a channel".to_owned(),
            (Reason::Login, _) => "invalid username-password pair or user is disabled.".to_owned(),
        }
    }
}
