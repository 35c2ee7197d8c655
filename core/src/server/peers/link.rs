//! One link: what the peer wants to hear, and what is to be sent to it.

use std::collections::{BTreeSet, HashSet};
use std::task::Waker;

use super::message::{Message, Topic};
use super::wire;
use crate::engine::Db;
use crate::glob::Glob;
use crate::limits::PEER_QUEUE_MAX_BYTES;
use crate::server::hub::TopicKind;

/// A peer that has said nothing for so many looks is taken for gone.
const SILENT_LOOKS_MAX: u32 = 4;

/// The link to a peer.
pub(super) struct Link {
    /// Tells it from other links, earlier and later ones.
    pub(super) generation: u64,
    /// For how many looks nothing has come from the peer.
    pub(super) silent_looks: u32,
    waker: Waker,
    outgoing: Vec<u8>,
    /// Whether so much has gathered that the link must end.
    is_full: bool,
    /// The last mark that the peer has heard; None before the first.
    pub(super) heard: Option<u64>,
    /// The changes of databases that the peer has told of so far, until its first mark.
    pub(super) begun_with: Option<BTreeSet<u64>>,
    keys: HashSet<(Db, Vec<u8>)>,
    hears_of_all_keys: bool,
    channels: HashSet<Vec<u8>>,
    patterns: BTreeSet<Vec<u8>>,
    shards: HashSet<Vec<u8>>,
    events: u32,
}

impl Drop for Link {
    /// The host's task that sends over it looks once more, and finds that it has ended ([`super::Peers::take_outgoing`]).
    fn drop(&mut self) {
        self.waker.wake_by_ref();
    }
}

impl Link {
    pub(super) fn new(generation: u64, waker: Waker) -> Link {
        Link {
            generation,
            silent_looks: 0,
            waker,
            outgoing: Vec::new(),
            is_full: false,
            heard: None,
            begun_with: Some(BTreeSet::new()),
            keys: HashSet::new(),
            hears_of_all_keys: false,
            channels: HashSet::new(),
            patterns: BTreeSet::new(),
            shards: HashSet::new(),
            events: 0,
        }
    }

    /// Asks the peer whether it is alive, and ends the link if it has not answered for long: the network may swallow everything.
    pub(super) fn look_for_life(&mut self, marks: u64) {
        self.silent_looks += 1;
        if self.silent_looks > SILENT_LOOKS_MAX {
            self.is_full = true;
        }
        self.say(&Message::Mark(marks));
    }

    /// Has a message sent.
    pub(super) fn say(&mut self, message: &Message) {
        if self.outgoing.len() > PEER_QUEUE_MAX_BYTES {
            // A peer that misses a message is better told so by the end of the link.
            (self.is_full, self.outgoing) = (true, Vec::new());
        }
        if !self.is_full {
            wire::encode(message, &mut self.outgoing);
        }
        self.waker.wake_by_ref();
    }

    /// What is to be sent; None if the link must end.
    pub(super) fn take_outgoing(&mut self) -> Option<Vec<u8>> {
        if self.is_full { None } else { Some(std::mem::take(&mut self.outgoing)) }
    }

    pub(super) fn want(&mut self, topic: Topic) {
        match topic {
            Topic::Key(db, key) => drop(self.keys.insert((db, key))),
            Topic::AllKeys => self.hears_of_all_keys = true,
            Topic::Channel(TopicKind::Channel, name) => drop(self.channels.insert(name)),
            Topic::Channel(TopicKind::Pattern, name) => drop(self.patterns.insert(name)),
            Topic::Channel(TopicKind::Shard, name) => drop(self.shards.insert(name)),
            Topic::Events(classes) => self.events = classes,
        }
    }

    pub(super) fn unwant(&mut self, topic: &Topic) {
        match topic {
            Topic::Key(db, key) => drop(self.keys.remove(&(*db, key.clone()))),
            Topic::AllKeys => self.hears_of_all_keys = false,
            Topic::Channel(TopicKind::Channel, name) => drop(self.channels.remove(name)),
            Topic::Channel(TopicKind::Pattern, name) => drop(self.patterns.remove(name)),
            Topic::Channel(TopicKind::Shard, name) => drop(self.shards.remove(name)),
            Topic::Events(_) => self.events = 0,
        }
    }

    /// Whether it wants to hear of any commits.
    pub(super) fn hears_of_keys(&self) -> bool {
        self.hears_of_all_keys || !self.keys.is_empty()
    }

    /// Whether it wants to hear of commits that change this key.
    pub(super) fn hears_of_key(&self, db: Db, key: &[u8]) -> bool {
        self.hears_of_all_keys || !self.keys.is_empty() && self.keys.contains(&(db, key.to_vec()))
    }

    /// Whether somebody there listens to a channel.
    pub(super) fn listens(&self, kind: TopicKind, channel: &[u8]) -> bool {
        match kind {
            TopicKind::Shard => self.shards.contains(channel),
            TopicKind::Channel | TopicKind::Pattern => {
                self.channels.contains(channel)
                    || self.patterns.iter().any(|pattern| Glob::new(pattern).matches(channel))
            }
        }
    }

    /// The classes of events that it wants.
    pub(super) fn events(&self) -> u32 {
        self.events
    }
}
