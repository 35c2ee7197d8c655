//! Channels, patterns and shard channels, and who is subscribed to them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use parking_lot::Mutex;

use super::Inbox;
use crate::acl::User;
use crate::glob::Glob;
use crate::resp::{Protocol, Reply};

/// What a connection can be subscribed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TopicKind {
    /// A channel, by name.
    Channel,
    /// All channels whose names match.
    Pattern,
    /// A channel of SPUBLISH; on one node only its name space differs.
    Shard,
}

/// One of them, with its name or pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Topic<'t> {
    /// What it is.
    pub kind: TopicKind,
    /// Name or pattern.
    pub name: &'t [u8],
}

/// What one connection is subscribed to.
#[derive(Clone, Debug, Default)]
pub struct Subscriptions {
    /// Channels.
    pub channels: BTreeSet<Vec<u8>>,
    /// Patterns.
    pub patterns: BTreeSet<Vec<u8>>,
    /// Shard channels.
    pub shards: BTreeSet<Vec<u8>>,
}

impl Subscriptions {
    /// Those of one kind.
    pub fn of(&mut self, kind: TopicKind) -> &mut BTreeSet<Vec<u8>> {
        match kind {
            TopicKind::Channel => &mut self.channels,
            TopicKind::Pattern => &mut self.patterns,
            TopicKind::Shard => &mut self.shards,
        }
    }

    /// The number that a reply about a topic of this kind ends with.
    pub fn count_for(&self, kind: TopicKind) -> usize {
        match kind {
            TopicKind::Channel | TopicKind::Pattern => self.channels.len() + self.patterns.len(),
            TopicKind::Shard => self.shards.len(),
        }
    }

    /// How many messages the connection gets of one message to a channel.
    pub fn copies(&self, kind: TopicKind, channel: &[u8]) -> u64 {
        match kind {
            TopicKind::Shard => u64::from(self.shards.contains(channel)),
            TopicKind::Channel | TopicKind::Pattern => {
                let matching = self.patterns.iter().filter(|pattern| Glob::new(pattern).matches(channel));
                u64::from(self.channels.contains(channel)) + matching.count() as u64
            }
        }
    }

    /// Bytes of memory that they take, about: the table of all listeners has each name as well, and a node for this one.
    pub fn memory_bytes(&self) -> u64 {
        const BESIDES_BYTES: usize = 256;
        let all = self.channels.iter().chain(&self.patterns).chain(&self.shards);
        all.map(|name| (BESIDES_BYTES + 2 * name.len()) as u64).sum()
    }

    /// Whether a user may listen to all of them.
    pub fn are_allowed(&self, user: &User) -> bool {
        user.is_unrestricted()
            || self.channels.iter().chain(&self.shards).all(|name| user.may_listen(name, false))
                && self.patterns.iter().all(|pattern| user.may_listen(pattern, true))
    }

    /// All of them.
    pub fn count(&self) -> usize {
        self.channels.len() + self.patterns.len() + self.shards.len()
    }
}

type Listeners = BTreeMap<u64, Arc<Inbox>>;

/// Who is subscribed to what.
#[derive(Debug, Default)]
pub struct PubSub(Mutex<Tables>);

#[derive(Debug, Default)]
struct Tables {
    channels: HashMap<Box<[u8]>, Listeners>,
    patterns: BTreeMap<Box<[u8]>, Listeners>,
    shards: HashMap<Box<[u8]>, Listeners>,
}

impl Tables {
    /// The shard channels, or else the channels.
    fn channels_of(&self, kind: TopicKind) -> &HashMap<Box<[u8]>, Listeners> {
        if kind == TopicKind::Shard { &self.shards } else { &self.channels }
    }
}

impl PubSub {
    /// Adds a connection to the listeners of a topic.
    pub fn subscribe(&self, topic: Topic<'_>, inbox: &Arc<Inbox>) {
        let mut tables = self.0.lock();
        let listeners = match topic.kind {
            TopicKind::Channel => tables.channels.entry(topic.name.into()).or_default(),
            TopicKind::Pattern => tables.patterns.entry(topic.name.into()).or_default(),
            TopicKind::Shard => tables.shards.entry(topic.name.into()).or_default(),
        };
        listeners.insert(inbox.id(), inbox.clone());
    }

    /// Takes a connection from the listeners of a topic.
    pub fn unsubscribe(&self, topic: Topic<'_>, id: u64) {
        let mut tables = self.0.lock();
        match topic.kind {
            TopicKind::Channel => forget(tables.channels.get_mut(topic.name), id)
                .then(|| tables.channels.remove(topic.name))
                .map(drop),
            TopicKind::Pattern => forget(tables.patterns.get_mut(topic.name), id)
                .then(|| tables.patterns.remove(topic.name))
                .map(drop),
            TopicKind::Shard => forget(tables.shards.get_mut(topic.name), id)
                .then(|| tables.shards.remove(topic.name))
                .map(drop),
        };
    }

    /// Takes connections from the listeners of everything. Looks at every topic there is, so it is for many at once.
    pub fn forget(&self, ids: &BTreeSet<u64>) {
        let is_heard = |listeners: &mut Listeners| {
            listeners.retain(|id, _| !ids.contains(id));
            !listeners.is_empty()
        };
        let mut tables = self.0.lock();
        tables.channels.retain(|_, listeners| is_heard(listeners));
        tables.patterns.retain(|_, listeners| is_heard(listeners));
        tables.shards.retain(|_, listeners| is_heard(listeners));
    }

    /// The connections that listen to something that they may not: asked of each with its CLIENT ID.
    pub fn listeners_without(&self, may_listen: &dyn Fn(u64, TopicKind, &[u8]) -> bool) -> Vec<u64> {
        let tables = self.0.lock();
        let channels = tables.channels.iter().map(|topic| (TopicKind::Channel, topic));
        let patterns = tables.patterns.iter().map(|topic| (TopicKind::Pattern, topic));
        let shards = tables.shards.iter().map(|topic| (TopicKind::Shard, topic));
        let mut found = BTreeSet::new();
        for (kind, (name, listeners)) in channels.chain(patterns).chain(shards) {
            found.extend(listeners.keys().filter(|id| !may_listen(**id, kind, name)));
        }
        found.into_iter().collect()
    }

    /// In how many forms a message to a channel is made, at most: one for each topic and protocol.
    pub fn forms(&self, channel: &[u8]) -> usize {
        let tables = self.0.lock();
        let patterns = tables.patterns.keys().filter(|pattern| Glob::new(pattern).matches(channel));
        2 * (usize::from(tables.channels.contains_key(channel)) + patterns.count())
    }

    /// Sends a message to all listeners of a channel and of the patterns that match it; returns how many there were.
    pub fn publish(&self, channel: &[u8], message: &[u8]) -> u64 {
        let tables = self.0.lock();
        let mut count = 0;
        if let Some(listeners) = tables.channels.get(channel) {
            count += send(listeners, &[b"message", channel, message]);
        }
        for (pattern, listeners) in &tables.patterns {
            if Glob::new(pattern).matches(channel) {
                count += send(listeners, &[b"pmessage", pattern, channel, message]);
            }
        }
        count
    }

    /// Sends a message to all listeners of a shard channel; returns how many there were.
    pub fn publish_to_shard(&self, channel: &[u8], message: &[u8]) -> u64 {
        let tables = self.0.lock();
        tables.shards.get(channel).map_or(0, |listeners| send(listeners, &[b"smessage", channel, message]))
    }

    /// Shows the channels of a kind that have listeners and match.
    pub fn channels(&self, kind: TopicKind, matching: Option<&[u8]>, show: &mut dyn FnMut(&[u8])) {
        let tables = self.0.lock();
        for channel in tables.channels_of(kind).keys() {
            if matching.is_none_or(|pattern| Glob::new(pattern).matches(channel)) {
                show(channel);
            }
        }
    }

    /// How many listeners a message to a channel has, those of patterns included and one connection left out.
    pub fn audience(&self, kind: TopicKind, channel: &[u8], except: u64) -> u64 {
        let tables = self.0.lock();
        let others =
            |listeners: &Listeners| listeners.len() as u64 - u64::from(listeners.contains_key(&except));
        let mut count = tables.channels_of(kind).get(channel).map_or(0, others);
        if kind != TopicKind::Shard {
            let matching = tables.patterns.iter().filter(|(pattern, _)| Glob::new(pattern).matches(channel));
            count += matching.map(|(_, listeners)| others(listeners)).sum::<u64>();
        }
        count
    }

    /// Number of listeners of a channel, those of patterns not counted.
    pub fn listeners(&self, kind: TopicKind, channel: &[u8]) -> usize {
        let tables = self.0.lock();
        tables.channels_of(kind).get(channel).map_or(0, Listeners::len)
    }

    /// Whether a topic has listeners.
    pub fn has(&self, topic: Topic<'_>) -> bool {
        let tables = self.0.lock();
        match topic.kind {
            TopicKind::Pattern => tables.patterns.contains_key(topic.name),
            kind => tables.channels_of(kind).contains_key(topic.name),
        }
    }

    /// Number of channels, patterns and shard channels that have listeners.
    pub fn counts(&self) -> (usize, usize, usize) {
        let tables = self.0.lock();
        (tables.channels.len(), tables.patterns.len(), tables.shards.len())
    }
}

/// Removes a listener; true if the topic has lost its last one.
fn forget(listeners: Option<&mut Listeners>, id: u64) -> bool {
    listeners.is_some_and(|listeners| {
        listeners.remove(&id);
        listeners.is_empty()
    })
}

/// Sends a message, encoded once for each protocol; returns the number of listeners.
fn send(listeners: &Listeners, parts: &[&[u8]]) -> u64 {
    let mut encoded: [Option<Arc<[u8]>>; 2] = [None, None];
    for inbox in listeners.values() {
        let protocol = inbox.protocol();
        let place = if protocol == Protocol::Resp2 { &mut encoded[0] } else { &mut encoded[1] };
        let message = place.get_or_insert_with(|| {
            let mut reply = Reply::new(protocol);
            reply.push(parts.len());
            parts.iter().for_each(|part| reply.bulk(part));
            reply.as_bytes().into()
        });
        inbox.push(message.clone());
    }
    listeners.len() as u64
}
