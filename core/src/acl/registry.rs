//! The users of one server as its connections see them. What lasts is in the store, whose commits change this.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::RwLock;

use super::denial_log::DenialLog;
use super::user::{DEFAULT_USER, User};
use crate::sorted;

type Users = BTreeMap<Box<[u8]>, Arc<User>>;

/// A change of users that was committed.
#[derive(Clone, Debug)]
pub enum Change {
    /// A user is new or has changed.
    Set(Arc<User>),
    /// Users are gone.
    Delete(Vec<Vec<u8>>),
    /// These are all users.
    Replace(Vec<Arc<User>>),
}

/// All users by name. Invariant: the default user is among them.
#[derive(Debug)]
pub struct Registry {
    users: RwLock<Users>,
    /// Grows with every change.
    generation: AtomicU64,
    needs_login: AtomicBool,
    is_complete: AtomicBool,
    is_trusting: AtomicBool,
    /// What was denied.
    pub log: DenialLog,
}

impl Registry {
    /// A registry with the default user only.
    pub fn new(default_user: User) -> Registry {
        let registry = Registry {
            users: RwLock::default(),
            generation: AtomicU64::new(0),
            needs_login: AtomicBool::new(false),
            is_complete: AtomicBool::new(true),
            is_trusting: AtomicBool::new(false),
            log: DenialLog::default(),
        };
        registry.apply(&Change::Replace(vec![Arc::new(default_user)]));
        registry
    }

    /// A number that grows with every change.
    #[inline]
    pub fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Whether a connection must log in before it does anything: the default user needs a password or is off.
    #[inline]
    pub fn needs_login(&self) -> bool {
        self.needs_login.load(Ordering::Acquire)
    }

    /// Whether all users are known: false while the store in which they are is being read.
    pub fn is_complete(&self) -> bool {
        self.is_complete.load(Ordering::Acquire)
    }

    /// Says whether all users are known.
    pub fn set_complete(&self, is_complete: bool) {
        self.is_complete.store(is_complete, Ordering::Release);
    }

    /// Whether every connection is its owner's, who may do everything, whatever the users are.
    pub fn trusts_all(&self) -> bool {
        self.is_trusting.load(Ordering::Acquire)
    }

    /// Says so, for a home whose connections come from the program that has the store. To be called before there is one.
    pub fn trust_all(&self) {
        self.is_trusting.store(true, Ordering::Release);
        self.needs_login.store(false, Ordering::Release);
    }

    /// Carries a change out.
    pub fn apply(&self, change: &Change) {
        let mut users = self.users.write();
        match change {
            Change::Set(user) => {
                users.insert(user.name().into(), user.clone());
            }
            Change::Delete(names) => {
                for name in names.iter().filter(|name| name.as_slice() != DEFAULT_USER) {
                    users.remove(name.as_slice());
                }
            }
            Change::Replace(all) => {
                let before = users.remove(DEFAULT_USER);
                *users = sorted::map(all.iter().map(|user| (user.name().into(), user.clone())));
                let default_user = || before.unwrap_or_else(|| Arc::new(User::standard(true, b"")));
                users.entry(DEFAULT_USER.into()).or_insert_with(default_user);
            }
        }
        if let Some(user) = users.get(DEFAULT_USER) {
            let is_open = self.trusts_all() || (user.is_on() && user.needs_no_password());
            self.needs_login.store(!is_open, Ordering::Release);
        }
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    /// A user.
    pub fn user(&self, name: &[u8]) -> Option<Arc<User>> {
        self.users.read().get(name).cloned()
    }

    /// The default user.
    pub fn default_user(&self) -> Arc<User> {
        // Invariant: there is one.
        self.user(DEFAULT_USER).unwrap_or_else(|| Arc::new(User::new(DEFAULT_USER, false)))
    }

    /// All users in the order of their names.
    pub fn users(&self) -> Vec<Arc<User>> {
        self.users.read().values().cloned().collect()
    }
}
