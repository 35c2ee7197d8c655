//! Notifications of events in the keyspace: classes, the letters of `notify-keyspace-events`, and events on their way.

use super::Hub;
use crate::engine::{Db, Turn, Txn};

/// `K`: published by key.
pub const KEYSPACE: u32 = 1;
/// `E`: published by event.
pub const KEYEVENT: u32 = 1 << 1;
/// `g`: commands of no type (DEL, EXPIRE, RENAME …).
pub const GENERIC: u32 = 1 << 2;
/// `$`: strings.
pub const STRING: u32 = 1 << 3;
/// `l`: lists.
pub const LIST: u32 = 1 << 4;
/// `s`: sets.
pub const SET: u32 = 1 << 5;
/// `h`: hashes.
pub const HASH: u32 = 1 << 6;
/// `z`: sorted sets.
pub const SORTED_SET: u32 = 1 << 7;
/// `x`: keys whose time has come.
pub const EXPIRED: u32 = 1 << 8;
/// `e`: keys evicted for want of memory; there are none.
pub const EVICTED: u32 = 1 << 9;
/// `t`: streams.
pub const STREAM: u32 = 1 << 10;
/// `m`: reads of keys that are not there.
pub const KEY_MISS: u32 = 1 << 11;
/// `d`: types of modules; there are none.
pub const MODULE: u32 = 1 << 12;
/// `n`: keys that are new.
pub const NEW: u32 = 1 << 13;

/// `A`: all but misses and new keys.
const ALL: u32 = GENERIC | STRING | LIST | SET | HASH | SORTED_SET | EXPIRED | EVICTED | STREAM | MODULE;

/// The event of a read of a key that is not there.
const MISS: &str = "keymiss";

/// The letters in the order in which Redis shows them.
const LETTERS: &[(char, u32)] = &[
    ('g', GENERIC),
    ('$', STRING),
    ('l', LIST),
    ('s', SET),
    ('h', HASH),
    ('z', SORTED_SET),
    ('x', EXPIRED),
    ('e', EVICTED),
    ('t', STREAM),
    ('d', MODULE),
    ('n', NEW),
];

/// The classes that a text of letters stands for; None if a letter is unknown.
pub fn parse(text: &str) -> Option<u32> {
    text.chars().try_fold(0, |classes, letter| {
        let class = match letter {
            'A' => ALL,
            'K' => KEYSPACE,
            'E' => KEYEVENT,
            'm' => KEY_MISS,
            other => LETTERS.iter().find(|(letter, _)| *letter == other)?.1,
        };
        Some(classes | class)
    })
}

/// The text as CONFIG GET shows it: `A` hides `n`, though it does not stand for it.
pub fn shown(text: &str) -> String {
    match parse(text) {
        Some(classes) if classes & ALL == ALL => format(classes & !NEW),
        _ => text.to_owned(),
    }
}

/// The letters of classes.
pub fn format(classes: u32) -> String {
    let mut text = String::new();
    if classes & ALL == ALL {
        text.push('A');
        if classes & NEW != 0 {
            text.push('n');
        }
    } else {
        text.extend(LETTERS.iter().filter(|(_, class)| classes & class != 0).map(|(letter, _)| letter));
    }
    let rest = [('K', KEYSPACE), ('E', KEYEVENT), ('m', KEY_MISS)];
    text.extend(rest.iter().filter(|(_, class)| classes & class != 0).map(|(letter, _)| letter));
    text
}

/// Whether anything is published with these classes.
pub fn is_heard(classes: u32) -> bool {
    classes & (KEYSPACE | KEYEVENT) != 0 && classes & !(KEYSPACE | KEYEVENT) != 0
}

/// Events of one command, or of one MULTI, until it has been committed.
#[derive(Debug, Default)]
pub struct Events {
    classes: u32,
    events: Vec<(&'static str, Db, Vec<u8>)>,
}

impl Events {
    /// Forgets everything; events of these classes are kept from now on.
    pub fn begin(&mut self, classes: u32) {
        self.classes = if is_heard(classes) { classes } else { 0 };
        self.events.clear();
    }

    /// Notes an event, if anybody could hear of it.
    #[inline]
    pub fn add(&mut self, class: u32, event: &'static str, db: Db, key: &[u8]) {
        if self.classes & class != 0 {
            self.events.push((event, db, key.to_vec()));
        }
    }

    /// Whether events of one of these classes are kept.
    #[inline]
    pub fn wants(&self, classes: u32) -> bool {
        self.classes & classes != 0
    }

    /// Whether any events are kept.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.classes != 0
    }

    /// Notes what became of keys in the transaction since the last time: those that expired and those that are new.
    /// With a key, only as long as it is the one that this is about.
    pub fn take_turns(&mut self, txn: &mut Txn<'_>, key: Option<&[u8]>) {
        txn.take_turns(key, &mut |turn, db, key| match turn {
            Turn::Expired => self.add(EXPIRED, "expired", db, key),
            Turn::Appeared => self.add(NEW, "new", db, key),
        });
    }

    /// Notes that the running command has read these keys, which matters for those that are not there. If not all, the
    /// one it read last had a wrong type and ended the command.
    pub fn note_reads(&mut self, txn: &mut Txn<'_>, db: Db, keys: &[&[u8]], all: bool) {
        if self.wants(KEY_MISS) {
            for key in keys {
                if !all && txn.was_asked_last(db, key) {
                    break;
                }
                self.take_turns(txn, Some(key));
                if txn.is_missing(db, key) {
                    self.add(KEY_MISS, MISS, db, key);
                }
            }
        }
    }

    /// Forgets all but the reads: nothing else has happened.
    pub fn keep_reads(&mut self) {
        self.events.retain(|(event, ..)| *event == MISS);
    }

    /// Publishes what was noted.
    #[inline]
    pub fn publish(&mut self, hub: &Hub) {
        if self.is_on() {
            self.publish_all(hub);
        }
    }

    #[cold]
    fn publish_all(&mut self, hub: &Hub) {
        let classes = self.classes;
        for (event, db, key) in self.events.drain(..) {
            publish(hub, classes, event, db, &key);
        }
    }
}

/// Publishes one event.
pub fn publish(hub: &Hub, classes: u32, event: &str, db: Db, key: &[u8]) {
    if classes & KEYSPACE != 0 {
        let mut channel = format!("__keyspace@{db}__:").into_bytes();
        channel.extend_from_slice(key);
        hub.pubsub.publish(&channel, event.as_bytes());
    }
    if classes & KEYEVENT != 0 {
        hub.pubsub.publish(format!("__keyevent@{db}__:{event}").as_bytes(), key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_come_back_in_redis_order() {
        for (given, shown) in [
            ("", ""),
            ("KEA", "AKE"),
            ("AKEmn", "AnKEm"),
            ("Ex", "xE"),
            ("zhK", "hzK"),
            ("g$lshzxetdK", "AK"),
        ] {
            assert_eq!(parse(given).map(format).as_deref(), Some(shown), "{given}");
        }
        assert_eq!(parse("Kq"), None);
        assert_eq!((shown("AnKEm"), shown("nKE")), ("AKEm".to_owned(), "nKE".to_owned()));
        assert!(!is_heard(KEYSPACE) && !is_heard(GENERIC) && is_heard(KEYEVENT | GENERIC));
    }
}
