//! What a transaction wants of others, as values, until its commit.
//!
//! A handler acts on nobody: it puts an [`Action`] into the [`Outbox`]. The executor carries the actions out in their order
//! once the transaction is committed, or drops them with it. So a run can be thrown away and repeated without a trace.

use super::Effect;
use super::crons;
use super::hub::notify::{self, MISS};
use super::hub::{Pause, TopicKind, Tracking, Unblock};
use super::scan_positions::Position;
use super::scripts;
use super::settings::Accepted;
use super::triggers;
use crate::acl::{Change, Context, Denial};
use crate::engine::Db;
use crate::resp::Protocol;
use crate::script::Level;

/// One thing that a transaction wants of others.
#[derive(Debug)]
pub enum Action {
    /// Publish an event of the keyspace.
    Notify {
        /// Its name.
        event: &'static str,
        /// The database of the key.
        db: Db,
        /// The key.
        key: Vec<u8>,
    },
    /// Send a message to the listeners of a channel; a shard channel with [`TopicKind::Shard`].
    Publish {
        /// Channel or shard channel.
        kind: TopicKind,
        /// Its name.
        channel: Vec<u8>,
        /// The message.
        message: Vec<u8>,
    },
    /// Add the connection to the listeners of a topic.
    Subscribe(TopicKind, Vec<u8>),
    /// Take it from them.
    Unsubscribe(TopicKind, Vec<u8>),
    /// Show the connection all requests.
    Monitor,
    /// Begin, or change, tracking for the connection.
    Track(Box<Tracking>),
    /// End it.
    Untrack,
    /// Send the connection its messages in this protocol.
    Protocol(Protocol),
    /// Close other connections, by their CLIENT IDs.
    Kill(Vec<u64>),
    /// Pause clients.
    Pause(Pause),
    /// End the pause.
    Unpause,
    /// End the wait of a blocked connection.
    Unblock(u64, Unblock),
    /// Change settings.
    Settings(Accepted),
    /// Collect expired keys by themselves, or leave that (DEBUG SET-ACTIVE-EXPIRE).
    ExpireActively(bool),
    /// Set the counters of INFO to zero.
    ResetStatistics,
    /// Empty the slow log.
    ResetSlowLog,
    /// Forget the latency events with these names.
    ResetLatency(Vec<&'static str>),
    /// The store was saved at this unix time in milliseconds, with so many of the counted changes.
    Saved {
        /// Changes that had been counted before.
        changes: u64,
        /// The time.
        now_ms: u64,
    },
    /// Forget what ACL LOG shows.
    ForgetDenials,
    /// Change users.
    Users(Change),
    /// Note that something was denied to the connection, which is shown as CLIENT INFO shows it. It happens even if the
    /// transaction does not.
    Denied(Box<Denial>, Context, Vec<u8>),
    /// Forget the scripts of EVAL.
    ForgetScripts,
    /// Change the libraries of functions.
    Libraries(scripts::Change),
    /// Change the triggers.
    Triggers(triggers::Change),
    /// Change the crons.
    Crons(crons::Change),
    /// So many rows of a cursor of FT.AGGREGATE have been read.
    PassRows(u64, usize),
    /// Forget what CRON LOG shows.
    ForgetCronFailures,
    /// Write into the log of the host.
    Log(Level, Vec<u8>),
    /// Show the monitors a line. It happens even if the transaction does not.
    ShowMonitors(Vec<u8>),
    /// Remember where a walk by HSCAN and its like goes on.
    KeepPosition(Position),
}

impl Action {
    /// Whether it changes what other processes of the same store keep as well.
    pub(crate) fn changes_definitions(&self) -> bool {
        matches!(self, Action::Users(_) | Action::Libraries(_) | Action::Triggers(_) | Action::Crons(_))
    }
}

/// The actions of one transaction in their order, and what the host is to do.
#[derive(Debug, Default)]
pub struct Outbox {
    /// The classes of events that are kept, as [`notify`]'s bits; 0 where nobody could hear of any.
    classes: u32,
    actions: Vec<Action>,
    effects: Vec<Effect>,
}

impl Outbox {
    /// Forgets everything; events of these classes are kept from now on.
    #[inline]
    pub(crate) fn begin(&mut self, classes: u32) {
        self.classes = if notify::is_heard(classes) { classes } else { 0 };
        self.actions.clear();
        self.effects.clear();
    }

    /// Adds an action.
    pub fn push(&mut self, action: Action) {
        self.actions.push(action);
    }

    /// Bytes that one more action takes, its own aside: many when the list has to grow.
    pub fn growth_bytes(&self) -> u64 {
        let is_full = self.actions.len() == self.actions.capacity();
        if is_full { 2 * self.actions.capacity() as u64 * size_of::<Action>() as u64 } else { 0 }
    }

    /// Adds something for the host, which does it after the replies.
    pub fn effect(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// Whether any events are kept.
    #[inline]
    pub fn keeps_events(&self) -> bool {
        self.classes != 0
    }

    /// Whether events of one of these classes are kept.
    #[inline]
    pub fn wants(&self, classes: u32) -> bool {
        self.classes & classes != 0
    }

    /// Notes an event of the keyspace, if it is of a class that somebody could hear of.
    #[inline]
    pub fn note(&mut self, class: u32, event: &'static str, db: Db, key: &[u8]) {
        if self.classes & class != 0 {
            self.actions.push(Action::Notify { event, db, key: key.to_vec() });
        }
    }

    /// Whether an action is like this.
    pub fn has(&self, is_like: &dyn Fn(&Action) -> bool) -> bool {
        self.actions.iter().any(is_like)
    }

    /// The text that a setting will have, if an action changes it.
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.actions.iter().rev().find_map(|action| match action {
            Action::Settings(accepted) => accepted.get(name),
            _ => None,
        })
    }

    /// The changes of users, in their order.
    pub fn changes_of_users(&self) -> impl DoubleEndedIterator<Item = &Change> {
        self.actions.iter().filter_map(|action| match action {
            Action::Users(change) => Some(change),
            _ => None,
        })
    }

    /// The changes of libraries, in their order.
    pub fn changes_of_libraries(&self) -> impl Iterator<Item = &scripts::Change> {
        self.actions.iter().filter_map(|action| match action {
            Action::Libraries(change) => Some(change),
            _ => None,
        })
    }

    /// The changes of triggers, in their order.
    pub fn changes_of_triggers(&self) -> impl Iterator<Item = &triggers::Change> {
        self.actions.iter().filter_map(|action| match action {
            Action::Triggers(change) => Some(change),
            _ => None,
        })
    }

    /// How many rows of a cursor of FT.AGGREGATE have been read.
    pub fn passed_rows(&self, cursor: u64) -> usize {
        let passed = self.actions.iter().filter_map(|action| match action {
            Action::PassRows(id, count) if *id == cursor => Some(*count),
            _ => None,
        });
        passed.sum()
    }

    /// The changes of crons, in their order.
    pub fn changes_of_crons(&self) -> impl Iterator<Item = &crons::Change> {
        self.actions.iter().filter_map(|action| match action {
            Action::Crons(change) => Some(change),
            _ => None,
        })
    }

    /// A point to go back to.
    pub fn mark(&self) -> OutboxMark {
        OutboxMark { actions: self.actions.len(), effects: self.effects.len() }
    }

    /// Drops what came behind a mark, but for what was denied.
    pub fn go_back(&mut self, mark: OutboxMark) {
        let mut number = 0;
        self.actions.retain(|action| {
            number += 1;
            number <= mark.actions || matches!(action, Action::Denied(..) | Action::ShowMonitors(_))
        });
        self.effects.truncate(mark.effects);
    }

    /// Drops the events with this name.
    pub(crate) fn drop_event(&mut self, name: &str) {
        self.actions.retain(|action| !matches!(action, Action::Notify { event, .. } if *event == name));
    }

    /// Drops all but the events of reads, and what was denied: nothing else has happened.
    pub(crate) fn keep_reads(&mut self) {
        self.actions.retain(|action| match action {
            Action::Notify { event, .. } => *event == MISS,
            Action::Denied(..) | Action::ShowMonitors(_) => true,
            _ => false,
        });
        self.effects.clear();
    }

    /// Whether there is no action.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    /// Takes the actions out; their classes of events go with them.
    pub(crate) fn take(&mut self) -> Actions {
        Actions { classes: self.classes, actions: std::mem::take(&mut self.actions) }
    }

    /// Takes actions back whose transaction was not committed.
    pub(crate) fn put_back(&mut self, actions: Actions) {
        self.actions = actions.actions;
    }

    /// Moves what the host is to do.
    pub(crate) fn take_effects(&mut self, effects: &mut Vec<Effect>) {
        effects.append(&mut self.effects);
    }
}

/// A place in an outbox ([`Outbox::mark`]).
#[derive(Clone, Copy, Debug)]
pub struct OutboxMark {
    actions: usize,
    effects: usize,
}

/// Actions whose transaction has been committed.
#[derive(Debug, Default)]
pub struct Actions {
    classes: u32,
    actions: Vec<Action>,
}

impl Actions {
    /// The classes of events that were kept.
    pub(crate) fn classes(&self) -> u32 {
        self.classes
    }
}

impl IntoIterator for Actions {
    type Item = Action;
    type IntoIter = std::vec::IntoIter<Action>;

    fn into_iter(self) -> Self::IntoIter {
        self.actions.into_iter()
    }
}
