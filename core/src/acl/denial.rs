//! What a user lacks for a request, and how it is told.

use crate::limits::DENIED_NAME_MAX_BYTES;

/// What a user lacks for a request; of several the last in this order is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Missing {
    Command,
    Key,
    Channel,
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
