//! The types of connections that CLIENT LIST and CLIENT KILL select by.

use crate::command::CommandError;
use crate::command::args::{is_option, quoted};
use crate::server::ClientCard;

/// The type of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClientType {
    /// An ordinary connection; monitors are as well.
    Normal,
    /// One that is subscribed to something.
    PubSub,
    /// A replica, or the primary; there are none.
    Replication,
}

impl ClientType {
    /// Reads the name of a type.
    pub(super) fn parse(name: &[u8]) -> Result<ClientType, CommandError> {
        if is_option(name, "NORMAL") {
            return Ok(ClientType::Normal);
        }
        if is_option(name, "PUBSUB") {
            return Ok(ClientType::PubSub);
        }
        if ["MASTER", "REPLICA", "SLAVE"].iter().any(|other| is_option(name, other)) {
            return Ok(ClientType::Replication);
        }
        let shown = quoted(name, usize::MAX);
        Err(CommandError::owned(format!("ERR Unknown client type '{shown}'")))
    }

    /// The type of a connection.
    pub(super) fn of(card: &ClientCard) -> ClientType {
        if card.subscribed == (0, 0, 0) { ClientType::Normal } else { ClientType::PubSub }
    }
}
