//! The check of one request, and its proof.

use std::sync::Arc;

use super::denial::{Denial, Missing, Reason};
use super::registry::Registry;
use super::user::User;
use crate::catalog::CommandSpec;

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
    /// Whether the user is none of the registry's: no change there concerns it.
    is_owner: bool,
}

impl Access {
    /// That of a connection which is this user.
    pub fn of(user: Arc<User>, registry: &Registry) -> Access {
        // Not known yet, so the first request looks.
        let mut access = Access { user, generation: 0, is_unrestricted: false, is_owner: false };
        access.refresh(registry);
        access
    }

    /// That of a connection of the store's owner ([`Registry::trust_all`]).
    pub fn of_owner(registry: &Registry) -> Access {
        let user = Arc::new(User::standard(true, b""));
        Access { user, generation: registry.generation(), is_unrestricted: true, is_owner: true }
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
        if self.is_owner {
            self.generation = generation;
            return true;
        }
        match registry.user(self.user.name()) {
            Some(user) => {
                let is_unrestricted = user.is_unrestricted();
                *self = Access { is_unrestricted, user, generation, is_owner: false };
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
        if self.is_owner || self.is_fresh(registry) {
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
