//! What processes that serve the same store have to say to each other.

use super::forward::{Forward, Forwarded};
use crate::engine::Db;
use crate::server::hub::TopicKind;

/// What a process wants to hear of.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Topic {
    /// Commits that change a key.
    Key(Db, Vec<u8>),
    /// Commits that change any key: a client has a cache.
    AllKeys,
    /// Messages to a channel, or to those that match.
    Channel(TopicKind, Vec<u8>),
    /// Events of the keyspace of these classes ([`super::hub::notify`]).
    Events(u32),
}

/// What a process asks its peers to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Question {
    /// Doubt which space each database shows, until [`Message::Certain`].
    Doubt,
    /// Read the definitions of the catalog.
    ReadDefinitions,
}

/// What processes tell each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    Want(Topic),
    Unwant(Topic),
    /// Asks for [`Message::Heard`]; with the first one of a link all is said that was said before.
    Mark(u64),
    Heard(u64),
    Changed(Db, Vec<u8>),
    /// Databases were emptied or swapped.
    AllChanged,
    Published(TopicKind, Vec<u8>, Vec<u8>),
    Asked(u64, Question),
    Done(u64),
    /// What was asked under this number is over, so there is nothing more to doubt.
    Certain(u64),
    /// Something of the host's own, that may be lost.
    Advice(Vec<u8>),
    /// To be run for a client of the sender; what became of it is asked for under this number.
    Forward(u64, Forward),
    Forwarded(u64, Forwarded),
}
